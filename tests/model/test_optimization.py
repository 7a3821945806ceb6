"""How a step of training is made: Muon takes the steps of torch's."""

import pytest
import torch
from torch import nn

from model.training.muon import Muon


@pytest.mark.parametrize("precision", [torch.bfloat16, torch.float32])
def test_muon_takes_the_steps_of_torchs(precision: torch.dtype) -> None:
    dice = torch.Generator().manual_seed(0)
    shapes = [(24, 60), (24, 60), (60, 24), (24, 24)]
    ours, theirs = ([nn.Parameter(torch.ones(shape)) for shape in shapes] for _ in range(2))
    muon = Muon(ours, 0.01, decay=0.05, precision=precision)
    torchs = torch.optim.Muon(theirs, lr=0.01, weight_decay=0.05, adjust_lr_fn="match_rms_adamw")
    for step in range(4):
        for one, other in zip(ours, theirs, strict=True):
            one.grad = torch.randn(one.shape, generator=dice) * 10.0**-step
            other.grad = one.grad.clone()
        muon.step()
        torchs.step()
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, atol=2e-3, rtol=0)  # bfloat16 holds three digits
        assert (one - 1).abs().mean() > 4e-3
