"""Snapshots of learning digits: of one network, the last being the shipped one."""

import numpy as np
import pytest
import torch

from model import Pipeline, examples, load
from model.config import PRESETS
from model.heads import network_for
from model.loading import reader_for
from model.measures import learning

FOUR = examples.digits()[4]


def test_the_last_snapshot_is_the_shipped_network_and_the_first_knows_nothing() -> None:
    assert learning.after(learning.SNAPSHOTS - 1) is load("digits")
    first, *_, last = learning.snapshots()
    assert (first.step, last.accuracy) == (0, load("digits").measured["validation_accuracy"])
    shares = [one.accuracy for one in learning.snapshots()]
    assert shares[0] < 0.25 and shares[-1] == max(shares) > 0.99


def test_each_snapshot_reads_the_examples_about_as_well_as_it_says() -> None:
    """On the examples, each snapshot's accuracy is within 0.2 of the one in its file."""
    truth = [int(np.argmax(load("digits")(one).answer[0].probabilities)) for one in examples.digits()]
    for number, snapshot in enumerate(learning.snapshots()):
        read = [int(np.argmax(learning.after(number)(one).answer[0].probabilities)) for one in examples.digits()]
        assert abs(np.mean(np.equal(read, truth)) - snapshot.accuracy) <= 0.2, snapshot


def test_a_network_that_looks_at_all_alike_gives_ink_its_even_share() -> None:
    network = network_for(PRESETS["digits"])
    with torch.no_grad():
        for layer in network.layers:
            layer.attention.W_Q.weight.zero_()
            layer.attention.W_Q.bias.zero_()
    trace = Pipeline("even", network, reader_for(PRESETS["digits"]))(FOUR)
    inked = sum(patch.max() >= 0.05 for patch in trace.patches)
    assert learning.even_share(trace) == pytest.approx(inked / 50)
    assert learning.on_ink(trace) == pytest.approx([inked / 50] * 5)
