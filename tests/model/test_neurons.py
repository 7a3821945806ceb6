"""What is said of feed-forward networks: position by position, and what a neuron's output vector points to."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from model.measures.neurons import positionwise, pushes
from tests.networks import pipeline, trace_of, untrained


@pytest.mark.parametrize("name", ["000", "001", "004", "pre-norm words", "pre-norm patches"])
def test_the_ffn_needs_no_neighbours_and_attention_does(name: str) -> None:
    layer, trace = untrained(name).network.layers[1], trace_of(name)
    attention, ffn = trace.graph.sublayers(1)
    test = positionwise(layer, trace[attention.reads], trace[ffn.reads], seed=3)
    np.testing.assert_allclose(test.shuffled, trace[ffn.output][test.order], atol=1e-5)
    assert sorted(test.order) == list(range(len(trace.tokens)))
    assert test.shuffle_gap < 1e-5 and test.ffn_gaps.max() < 1e-5
    assert test.attention_gaps.min() > 1e-3


def test_a_network_that_mixes_positions_passes_the_shuffle_but_not_the_test_alone() -> None:
    class Mixing(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + x.mean(dim=1, keepdim=True)

    layer = SimpleNamespace(ffn=Mixing(), attention=lambda x, _memory: x)
    x = np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32)
    test = positionwise(layer, x, x)
    assert test.shuffle_gap < 1e-5
    assert test.ffn_gaps.min() > 1e-2
    assert test.attention_gaps.max() == 0


def test_a_network_that_knows_places_fails_the_shuffle() -> None:
    places = torch.arange(6.0)[None, :, None]
    layer = SimpleNamespace(ffn=lambda x: x + places[:, : x.size(1)], attention=lambda x, _memory: x)
    x = np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32)
    assert positionwise(layer, x, x).shuffle_gap >= 1


@pytest.mark.parametrize("name", ["000", "003", "trained text"])
def test_pushes_are_the_change_of_the_logits_when_the_output_vector_is_added(name: str) -> None:
    network = pipeline(name).network
    neuron = 5
    last = network.logits
    z = torch.randn(1, network.config.d_model, generator=torch.Generator().manual_seed(1))
    value = torch.zeros(1, network.config.d_ff)
    value[0, neuron] = 1
    ffn = network.layers[0].ffn
    written = ffn.W_2(value) - ffn.W_2.bias  # what the neuron adds when its activation is 1
    change = (last(z + written) - last(z))[0]
    np.testing.assert_allclose(pushes(network, 0, neuron), change.detach().numpy(), atol=1e-4)
