"""Properties counted on real modules, the untrained pipeline, and impossible configurations."""

import numpy as np
import pytest
import torch

from model.config import EncoderConfig
from model.loading import load, untrained
from model.measures.cost import parameters, total
from model.measures.properties import layer_properties
from model.unallocated import real_parameters
from tests.networks import COVER, trace_of
from tests.refusals import refused


def test_the_largest_network_is_counted_without_memory() -> None:
    huge = EncoderConfig(16_384, 128, 96, 65_536, vocab_size=500_000, max_len=1_000_000)  # 1.3 TB of weights
    assert real_parameters(huge) == total(parameters(huge)).number > 3e11


@pytest.mark.parametrize("name", COVER)
def test_the_properties_of_lecture_note_004_hold_in_each_layer(name: str) -> None:
    trace = trace_of(name)
    for layer in range(trace.config.layers):
        found = layer_properties(trace, layer)
        assert found.shape_in == found.shape_out == trace.stream(0)[0].shape
        assert found.smallest_sum == pytest.approx(1, abs=1e-5) and found.largest_sum == pytest.approx(1, abs=1e-5)
        head, i, j = found.gap_at
        A = trace[f"layers.{layer}.attention.weights"]
        largest = A[head, i, j] - A[head, j, i]
        assert (np.abs(A - A.swapaxes(1, 2)) <= largest).all()
        assert (largest > 0) == (A.shape[-1] > 1)


# The paper's base size with random weights.


def test_untrained_is_the_papers_base_size_without_an_answer() -> None:
    pipeline = untrained()
    config = pipeline.config
    assert (config.d_model, config.layers, config.heads, config.d_ff) == (512, 6, 8, 2048)
    assert config.vocab_size == len(pipeline.reader.vocabulary) == load("text").config.vocab_size
    trace = pipeline("the cat sat on the [MASK] .")
    assert trace.tokens == load("text")("the cat sat on the [MASK] .").tokens
    assert trace.answer == ()
    assert "logits" not in trace
    assert trace.Z.shape == (len(trace.tokens), 512)
    assert len(pipeline("cat " * 100).tokens) == 64


def test_untrained_is_the_same_each_time_and_leaves_the_dice_alone() -> None:
    torch.manual_seed(7)
    first = torch.rand(1)
    torch.manual_seed(7)
    again = untrained.__wrapped__()
    assert torch.equal(torch.rand(1), first)
    assert untrained() is untrained()
    sentence = "i love you ."
    np.testing.assert_array_equal(again(sentence).Z, untrained()(sentence).Z)


# Settings.


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"heads": 7}, "heads_do_not_divide"),
        ({"d_model": 511, "heads": 7}, "odd_d_model"),
        ({"layers": 0}, "not_positive"),
        ({"channels": 0}, "not_positive"),
        ({"image_size": 0}, "not_positive"),
        ({"image_size": 28, "patch_size": 5}, "patches_do_not_fit"),
        ({"input": "flat", "channels": 3}, "flat_has_one_channel"),
        ({"input": "patches", "head": "masked-word"}, "masked_word_needs_words"),
        ({"input": "flat", "head": "masked-word"}, "masked_word_needs_words"),
        ({"head": "classifier"}, "no_classes"),
    ],
)
def test_a_setting_that_no_encoder_can_have(settings: dict, reason: str) -> None:
    with refused(reason):
        EncoderConfig(**settings)
