"""What a neuron's output vector points to."""

import numpy as np
import pytest
import torch

from model.neurons import pointed_to, pushes
from tests.networks import pipeline


@pytest.mark.parametrize("name", ["000", "003", "trained text"])
def test_pushes_are_the_change_of_the_logits_when_the_output_vector_is_added(name: str) -> None:
    network = pipeline(name).network
    neuron = 5
    last = network.logits
    z = torch.randn(1, network.config.d_model, generator=torch.Generator().manual_seed(1))
    value = torch.zeros(1, network.config.d_ff)
    value[0, neuron] = 1
    ffn = network.layers[0].ffn
    written = ffn.W_2(value) - ffn.W_2.bias  # output per unit of activation
    change = (last(z + written) - last(z))[0]
    np.testing.assert_allclose(pushes(network, 0, neuron), change.detach().numpy(), atol=1e-4)


def test_no_letter_number_or_part_of_a_word_names_a_neuron() -> None:
    names = ["##s", "c", "1st", "[MASK]", "Ġs", "Ġthe", "▁cat", "的"]
    assert pointed_to(np.arange(8, 0, -1), names, {True, False}, len(names)) == [5, 6, 7]
