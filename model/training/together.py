"""Several processes that train one network: each reads batches of its own, and all take the same steps.

    torchrun --nproc-per-node 2 -m model.training …

A small network on few cores gains more from two processes with a core each than from one process with two threads.
Started alone, a process is the only one, and nothing here does anything.
"""

import os
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, distributed, nn


def meet() -> None:
    """Find the others, if torchrun started several."""
    if int(os.environ.get("WORLD_SIZE", 1)) > 1 and not distributed.is_initialized():
        distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")


def count() -> int:
    return distributed.get_world_size() if distributed.is_initialized() else 1


def number() -> int:
    """Which of them this is, from 0. The first measures and writes files."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def total(here: float) -> float:
    """The sum of what each has."""
    return float(_added(torch.tensor([here], dtype=torch.float64))[0])


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Give each the mean of all gradients. All must have worked at the same parameters."""
    if count() > 1:
        _put(_added(_flat(gradients := _gradients(parameters))) / count(), gradients)


def share_out(tensors: list[Tensor], work: Callable[[Tensor], Tensor]) -> None:
    """Put `work` of each tensor in its place; each process does every so many, and all get all."""
    for i, tensor in enumerate(tensors):
        tensor.copy_(work(tensor)) if i % count() == number() else tensor.zero_()
    if count() > 1 and tensors:
        _put(_added(_flat(tensors)), tensors)


def _gradients(parameters: Iterable[nn.Parameter]) -> list[Tensor]:
    return [parameter.grad for parameter in parameters if parameter.grad is not None]


def _flat(tensors: list[Tensor]) -> Tensor:
    return torch.cat([tensor.flatten() for tensor in tensors])


def _added(flat: Tensor) -> Tensor:
    if distributed.is_initialized():
        distributed.all_reduce(flat)
    return flat


def _put(flat: Tensor, tensors: list[Tensor]) -> None:
    for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors]), strict=True):
        tensor.copy_(part.view_as(tensor))
