"""A run on another device equals that on the processor; measurements of it are computed on the processor.

The device is pretended (see card.py): no CUDA operation is tested here.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch

from model import Edit, EditError, Pipeline, Trace, load
from model.by_hand import by_hand
from model.measures.gradients import input_x_gradient
from model.sweep import sweep
from tests.edited import KINDS, every_edit, pair_of
from tests.model.card import Card, OnCard
from tests.networks import COVER, example, pipeline


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # inference mode does not support tensor subclasses
    monkeypatch.setattr(torch, "inference_mode", lambda on=True: torch.set_grad_enabled(not on))
    with Card():
        yield


@pytest.mark.parametrize("name", COVER)
def test_a_card_records_what_the_processor_does(name: str) -> None:
    own, x = pipeline(name), example(name)
    there = own.to("card")
    here, run = own(x), there(x)
    assert all(isinstance(run._values[key], OnCard) for key in run)
    for key in (quantity.key for quantity in run.graph if quantity.key in run):  # also asides
        np.testing.assert_array_equal(run[key], here[key], key)
    assert run.answer == here.answer
    assert run.network is there.network


@pytest.mark.parametrize("name", KINDS[:3])
def test_every_edit_does_there_what_it_does_here(name: str) -> None:
    own, (x, other) = pipeline(name), pair_of(name)
    there, every = own.to("card"), list(every_edit(own, other))
    for edit in Random(1).sample(every, len(every) // 10):
        try:
            here = own(x, edit)
        except EditError as error:
            with pytest.raises(EditError, match=re.escape(str(error))):
                there(x, edit)
            continue
        run = there(x, edit)
        np.testing.assert_array_equal(run[[*run][-1]], here[[*here][-1]], str(edit))
        assert run.idle == here.idle


def test_many_inputs_a_large_one_and_a_file_are_read_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, texts, cut = load("text"), ["i love you .", "the cat sat ."], Edit("layers.0.attention.heads", "zero", head=1)
    there = own.to("card")
    for edits, keep in (((), ["logits"]), ((), None), (cut, None)):
        for here, run in zip(own.batch(texts, edits, keep=keep), there.batch(texts, edits, keep=keep), strict=True):
            np.testing.assert_array_equal(run["logits"], here["logits"])
    monkeypatch.setattr("model.pipeline.MOST_INSIDE", 1)
    large = there(texts[0])
    assert large.large
    key = "layers.1.attention.scores"
    np.testing.assert_array_equal(large[key], own(texts[0])[key])
    large.save(tmp_path / "run")
    np.testing.assert_array_equal(Trace.load(tmp_path / "run")[key], large[key])


def test_what_is_measured_of_a_run_there_is_measured_here() -> None:
    own, x, cut = load("text"), "i [MASK] you .", Edit("layers.0.attention.heads", "zero", head=1)
    there = own.to("card")

    def measured(of: Pipeline) -> list[np.ndarray]:
        run = of(x)
        shares = input_x_gradient(of, run, run.answer[0].best, token=2)
        worked = by_hand(run.network, run, "layers.0.attention.scores", (1, 2, 3))
        return [sweep(of, run, [cut])["logits"], shares, np.float64(worked.value)]

    for here, run in zip(measured(own), measured(there), strict=True):
        np.testing.assert_array_equal(run, here)


def test_what_runs_there_may_compute_with_other_numbers() -> None:
    both = load("text").to("card").to(torch.float64)
    assert (both.device.type, both("i love you .")["logits"].dtype) == ("card", np.float64)
