"""The lecture notes' code, on our weights and input, gives the same numbers, or the difference is stated."""

import numpy as np
import pytest
import torch

from model.config import PRESETS
from model.embedding import FlatEmbedding
from model.notes import BLOCKS, Block, blocks, note_002, whole_run
from tests.networks import example, pipeline, trace_of

RUNS = [
    (f"trained {name}", block)
    for name in ("text", "digits", "flat")
    for block in BLOCKS
    if block.reads in (None, PRESETS[name].input)
    and not (block.ours.__name__ == "TokenEmbedding" and name != "text")
    and not (block.ours.__name__ == "SinusoidalPositions" and name == "digits")
]


@pytest.mark.parametrize(("name", "block"), RUNS, ids=[f"{name} {block.key}" for name, block in RUNS])
def test_a_notes_code_and_ours_give_the_same_numbers(name: str, block: Block) -> None:
    """And the recorded numbers, if the block computes as the network was trained."""
    trace = trace_of(name)
    as_trained = block.activation in (None, trace.config.activation) and block.note not in ("001", "004")
    for layer in range(trace.config.layers):
        attention, ffn = trace.graph.sublayers(layer)
        found = {"MultiHeadAttention": attention.output, "FeedForward": ffn.output, "EncoderLayer": ffn.after}
        theirs, ours = block.run(trace, layer)
        assert theirs.shape == ours.shape and len(np.unique(ours)) > 1
        if block.key == "ClassifierNetwork_003":
            assert np.abs(theirs - ours).max() > 1e-3  # x + x, and no second norm, as the page says
        else:
            np.testing.assert_allclose(theirs, ours, atol=1e-5, rtol=1e-5)
        if as_trained and block.ours.__name__ in found:
            np.testing.assert_allclose(theirs, trace[found[block.ours.__name__]], atol=1e-4, rtol=1e-4)


@torch.inference_mode()
def test_note_003_by_its_words_is_our_network_of_one_token() -> None:
    trace = pipeline("trained flat")(example("trained flat"))
    network, x = trace.network, torch.tensor(trace.picture)[None]
    attention, ffn = (block for block in BLOCKS if block.key in ("MultiHeadAttention_002", "FeedForward_002"))
    x = network.embedding.W_E(x.view(1, 1, 784))
    x = note_002.PositionalEncoding(64)(x)
    x = network.layers[0].norm_1(x + torch.tensor(attention.run(trace, 0)[0]))  # adds the input, as the note says
    x = network.layers[0].norm_2(x + torch.tensor(ffn.run(trace, 0)[0]))  # and again after the FFN, as ours
    answer = network.logits(x.view(1, -1)).softmax(dim=1)[0].numpy()
    np.testing.assert_allclose(answer, trace.answer[0].probabilities, atol=1e-5)
    theirs, _ = blocks(type(network), trace.config)[0].run(trace, 0)
    assert np.abs(theirs - answer).max() > 1e-3


def test_the_run_that_closes_note_002() -> None:
    run = whole_run()
    assert run.printed == ["输入形状: torch.Size([2, 10])", "输出形状: torch.Size([2, 10, 512])"]
    assert run.gap < 1e-5 and run.rows[-1][:2] == ("Z", (2, 10, 512))


def test_each_note_has_code_beside_ours_and_none_where_it_does_not_fit() -> None:
    assert {block.note for block in BLOCKS} == {"000", "001", "002", "003", "004"}
    assert len({block.key for block in BLOCKS}) == len(BLOCKS)
    assert not blocks(type(pipeline("trained digits").network), PRESETS["digits"])
    assert not blocks(FlatEmbedding, PRESETS["flat"])
