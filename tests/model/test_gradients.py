"""Gradients equal those of the network's own forward pass; without residual connections they pass sub-layers only."""

from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch

from model import examples, load
from model.measures.gradients import TOKENS, gradient_lengths, gradients, integrated_gradients, untrained
from model.trace import hooked
from tests.model.families import saved_t5
from tests.networks import pipeline, trace_of

NAMES = ["trained text", "pre-norm patches"]


@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_says_how_the_answer_moves_with_what_is_read(name: str) -> None:
    network, trace = deepcopy(pipeline(name).network).double(), trace_of(name)
    states = torch.tensor(trace.states(), dtype=torch.float64)
    words = network.config.head == "masked-word"

    def log_p(layer: int, x: torch.Tensor) -> torch.Tensor:
        for block in network.layers[layer:]:
            x = block(x)
        Z = network.norm(x)
        return network.read_out(Z[:, 1] if words else Z)[0].log_softmax(-1).max()

    def length(layer: int, x: torch.Tensor) -> float:
        x = x[None].clone().requires_grad_()
        (gradient,) = torch.autograd.grad(log_p(layer, x), x)
        return float(gradient.norm())

    found = gradient_lengths(network, states[0].numpy(), 1)
    assert found[0] == pytest.approx(length(0, states[0]) / length(len(network.layers), states[-1]), rel=1e-3)
    assert found[-1] == 1


@pytest.mark.parametrize("name", NAMES)
def test_with_silent_sublayers_the_sums_alone_pass_the_gradient_on(name: str) -> None:
    network = untrained(pipeline(name).config)
    with torch.no_grad():
        for layer in network.layers:
            layer.attention.W_O.weight.zero_(), layer.ffn.W_2.weight.zero_()
    X_0 = trace_of(name).states()[0]
    assert gradient_lengths(network, X_0, 1).min() > 0.1
    assert not gradient_lengths(network, X_0, 1, residual=False)[:-1].any()


@pytest.mark.parametrize(("name", "x"), [("text", "the cat sat on the [MASK] ."), ("digits", examples.digits()[3])])
def test_without_the_sums_attention_spreads_the_gradient_once_and_layernorm_keeps_the_rest(
    name: str, x: object
) -> None:
    network, X_0 = untrained(load(name).config), load(name)(x).states()[0]
    n = len(X_0)
    *before, last, _ = gradient_lengths(network, X_0, 1, residual=False)
    assert last == pytest.approx(n**-0.5, rel=0.4) and min(before) > last / 2
    keys = [f"layers.{layer}.attention.weights" for layer in range(len(network.layers))]
    with hooked(network, dict.fromkeys(keys, lambda A: torch.eye(n).expand_as(A)), gradients=True):
        assert gradient_lengths(network, X_0, 1, residual=False).min() > 0.4, "where no token looks at another"
    for layer in network.layers:
        layer.norm_1 = layer.norm_2 = torch.nn.Identity()
    assert gradient_lengths(network, X_0, 1, residual=False)[0] < 1e-3


def test_without_training_a_network_is_the_same_each_time_and_nobody_elses_dice_are_thrown() -> None:
    config = load("digits").config
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    one, two = untrained(config), untrained(config)
    assert torch.rand(1) == expected
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    X_0 = np.zeros((3, config.d_model), np.float32) + np.eye(3, config.d_model, dtype=np.float32)
    np.testing.assert_array_equal(gradient_lengths(one, X_0), gradient_lengths(two, X_0))


WRONG = {
    "no quantity is called": {"keys": ["layers.9.ffn.output"]},
    "did you mean 'love'": {"of": "lovee"},
    "there is no None": {"of": None},
    "say of which": {"token": None},
    "there is no token 99: there are 5": {"token": 99},
}


@pytest.mark.parametrize("says", WRONG)
def test_a_gradient_that_cannot_be_asked_for_says_why(says: str) -> None:
    asked = {"keys": ["layers.0.ffn.output"], "of": "love", "token": 2} | WRONG[says]
    with pytest.raises(ValueError, match=says):
        gradients(load("text"), "i love you", **asked)


def test_of_a_vector_a_function_says_which_number_is_meant(tmp_path: Path) -> None:
    encoder = load(saved_t5(tmp_path / "t5"))
    with pytest.raises(ValueError, match="of=lambda vectors"):
        gradients(encoder, "the cat sat", [TOKENS], 3)
    found = gradients(encoder, "the cat sat", [TOKENS], lambda vectors: vectors[:, 0, 3])[TOKENS]
    assert found.any()
    with pytest.raises(ValueError, match="baseline"):
        integrated_gradients(encoder, "the cat sat", lambda vectors: vectors[:, 0, 3])
