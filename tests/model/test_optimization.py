"""How a step of training is made: Muon takes the steps of torch's."""

import pytest
import torch
from torch import nn

from model.training.muon import Muon, orthogonal


@pytest.mark.parametrize("shape", [(16, 16), (16, 40), (40, 16)])
def test_an_orthogonal_step_keeps_the_directions_and_makes_them_equally_long(shape: tuple[int, int]) -> None:
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    U, S, Vh = torch.linalg.svd(matrix, full_matrices=False)
    assert S.max() / S.min() > 2
    made = U.T @ orthogonal(matrix, torch.float32) @ Vh.T
    lengths = made.diagonal()
    assert lengths.min() > 0.6 and lengths.max() < 1.3
    torch.testing.assert_close(made, lengths.diag(), atol=1e-4, rtol=0)


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
