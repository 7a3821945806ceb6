"""Networks without numbers: of every shape, and of any size."""

from dataclasses import replace

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from model.config import EncoderConfig
from model.heads import network_for


class WithoutNumbers(TorchFunctionMode):
    """Weights are made on the meta device: they have a shape and no numbers, and so nothing is drawn for them.

    Only weights, since arithmetic on that device (the table of positions) would load a compiler of 800 modules.
    """

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.empty:
            return torch.empty(*args, **(kwargs or {}) | {"device": "meta"})
        if function is nn.init.normal_:
            return kwargs["tensor"]
        return function(*args, **kwargs or {})


def real_parameters(config: EncoderConfig) -> int:
    """sum(p.numel()) over the real network, built without allocating its weights."""
    if config.positions == "sinusoidal":
        config = replace(config, max_len=1)  # a table of any length: it holds no parameters
    with WithoutNumbers():
        network = network_for(config)
    return sum(parameter.numel() for parameter in network.parameters())
