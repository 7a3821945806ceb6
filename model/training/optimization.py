"""What every recipe shares: the device, the precision, the learning rate, the optimizers, and one step."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import nn

from model.training.muon import Muon


def device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def half_precision(where: torch.device) -> AbstractContextManager:
    """Products in bfloat16, sums in float32; everything in float32 on a processor that could only imitate bfloat16."""
    precision = fast_precision(where)
    return torch.autocast(where.type, dtype=torch.bfloat16, enabled=precision is torch.bfloat16)


def fast_precision(where: torch.device) -> torch.dtype:
    """Of products: bfloat16, or float32 where that could only be imitated."""
    imitated = where.type == "cpu" and not torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return torch.float32 if imitated else torch.bfloat16


def compiled(function: Callable[..., Any], where: torch.device) -> Callable[..., Any]:
    """The function, compiled for batches of any shape where that pays: on a processor.

    For a graphics card (H100, torch 2.11) it compiled for three minutes and then failed.
    """
    return torch.compile(function, dynamic=True, disable=where.type != "cpu")


def learning_rate(done: float, warmup: float = 0.01, decay: float = 0.2) -> float:
    """Share of the peak rate when `done` (0 to 1) of the training is over: up, level, down to zero.

    The level part does not depend on the total, so a run can be resumed with a larger one.
    """
    if done < warmup:
        return done / warmup
    return min(1.0, max(0.0, 1 - done) / decay)


def optimizers_for(network: nn.Module, rate: float, memory: float = 0.98) -> list[torch.optim.Optimizer]:
    """Muon (Jordan et al. 2024) for the matrices inside the layers, AdamW for all the rest.

    memory: of AdamW's mean of squared gradients (β₂).
    """
    matrices, rest = [], []
    for name, parameter in network.named_parameters():
        inside = "layers" in name.split(".") and parameter.dim() == 2
        (matrices if inside else rest).append(parameter)
    return [
        Muon(matrices, rate, decay=0.05, precision=fast_precision(rest[0].device)),
        torch.optim.AdamW(rest, lr=rate, betas=(0.9, memory), weight_decay=0.01),
    ]


def take_step(network: nn.Module, optimizers: list[torch.optim.Optimizer], rate: float) -> None:
    """One step down the gradients, which are cut to length 1 and then forgotten. Stops where they are not finite."""
    nn.utils.clip_grad_norm_(network.parameters(), 1.0, error_if_nonfinite=True)
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
