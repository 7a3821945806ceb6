"""The calibrated lens is closer to the network's answer, and belongs to the weights it was fitted to."""

import numpy as np
import pytest

from model import WeightsError, load
from model.measures import lens
from model.measures.lens import calibrated

SENTENCES = (
    "the animal did not cross the [MASK] because it was too tired .",
    "she gave the dog a [MASK] .",
    "今天天气很[MASK]。",
    "我在学校[MASK]书。",
)


def test_after_each_layer_it_is_nearer_to_the_networks_own_answer() -> None:
    pipeline, maps = load("text"), calibrated()
    assert maps is not None
    apart = np.zeros((2, pipeline.config.layers))
    for sentence in SENTENCES:
        trace = pipeline(sentence)
        for token in range(1, len(trace.tokens) - 1):
            raw, read = (pipeline.read_layers(trace, token, by).astype(np.float64) for by in (None, maps))
            np.testing.assert_array_equal(read[-1], raw[-1])
            apart += [(each[-1] * np.log(each[-1] / each[:-1])).sum(axis=-1) for each in (raw, read)]
    assert (apart[1] < apart[0]).all()
    assert all(
        one["calibrated"][figure] < one["raw"][figure]
        for one in maps.measured
        for figure in ("cross_entropy", "divergence")
    ), "on held-out sentences, too"


def test_of_other_weights_there_is_none_and_a_damaged_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lens, "fingerprint", lambda path: "of others")
    assert calibrated.__wrapped__() is None
    monkeypatch.setattr(lens, "FILE", "digits.safetensors")  # a file without lenses
    with pytest.raises(WeightsError):
        calibrated.__wrapped__()
