"""Layers that share weights: each layer computes with the weights of the first of its group.

Source: Lan et al. 2020, "ALBERT: A Lite BERT for Self-supervised Learning of Language Representations", section 3.1.
"""

from torch import nn


def set_of(layer: int, layers: int, groups: int) -> int:
    """Index of the weights of a layer, from 0: its group, or its own without groups."""
    return layer // (layers // groups) if groups else layer


def share(layers: nn.ModuleList, groups: int) -> None:
    """Give each layer the weights of the first of its group; without groups, change nothing.

    The modules stay separate, so that each layer's quantities have their own keys and edits affect one layer.
    """
    first: dict[int, nn.Module] = {}
    for number, layer in enumerate(layers):
        of_group = first.setdefault(set_of(number, len(layers), groups), layer)
        for name, theirs in of_group.named_modules():
            for parameter in dict(theirs.named_parameters(recurse=False)):
                setattr(layer.get_submodule(name), parameter, getattr(theirs, parameter))
