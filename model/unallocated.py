"""Networks of any size without memory for their weights."""

from dataclasses import replace

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from model.config import EncoderConfig
from model.heads import network_for


class WithoutNumbers(TorchFunctionMode):
    """In this block, weights are created on the meta device: a shape without numbers, and no random initialization.

    Only weights, since arithmetic on that device (the position table) would import a compiler of 800 modules.
    """

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.empty:
            return torch.empty(*args, **(kwargs or {}) | {"device": "meta"})
        if function is nn.init.normal_:
            return kwargs["tensor"]
        return function(*args, **kwargs or {})


def real_parameters(config: EncoderConfig) -> int:
    """Number of parameters, counted on the network built without allocating its weights."""
    if config.positions == "sinusoidal":
        config = replace(config, max_len=1)  # the position table has no parameters
    with WithoutNumbers():
        network = network_for(config)
    return sum(parameter.numel() for parameter in network.parameters())
