"""Layers that share their weights: each computes for itself, with the numbers of the first of its group.

Source: Lan et al. 2020, "ALBERT: A Lite BERT for Self-supervised Learning of Language Representations", section 3.1.
"""

from torch import nn


def set_of(layer: int, layers: int, groups: int) -> int:
    """Which set of weights a layer computes with, from 0: its group's, or its own where there are no groups."""
    return layer // (layers // groups) if groups else layer


def share(layers: nn.ModuleList, groups: int) -> None:
    """Give each layer the weights of the first of its group. No groups: each keeps its own.

    The modules stay apart, so that each layer's quantities have a place of their own, and edits reach one layer.
    """
    first: dict[int, nn.Module] = {}
    for number, layer in enumerate(layers):
        of_group = first.setdefault(set_of(number, len(layers), groups), layer)
        for name, theirs in of_group.named_modules():
            for parameter in dict(theirs.named_parameters(recurse=False)):
                setattr(layer.get_submodule(name), parameter, getattr(theirs, parameter))
