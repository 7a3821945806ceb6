"""How a step of training is made: Muon as torch makes it, and several processes that take the steps of one."""

from pathlib import Path

import pytest
import torch
from torch import distributed, multiprocessing, nn

from model.training import optimization, together
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
    ours, theirs = (nn.Parameter(torch.ones(24, 60)) for _ in range(2))
    muon = Muon([ours], 0.01, decay=0.05, precision=precision)
    torchs = torch.optim.Muon([theirs], lr=0.01, weight_decay=0.05, adjust_lr_fn="match_rms_adamw")
    for _ in range(4):
        ours.grad = torch.randn(24, 60, generator=dice)
        theirs.grad = ours.grad.clone()
        muon.step()
        torchs.step()
    torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=0)  # bfloat16 holds three digits
    assert (ours - 1).abs().mean() > 4e-3


INPUTS = torch.randn(8, 6, generator=torch.Generator().manual_seed(1))


def learn(number: int, processes: int, folder: Path) -> None:
    """Three steps of a small network, of which this process sees every so many inputs; its weights go to a file."""
    torch.set_num_threads(1)
    if processes > 1:
        distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=number, world_size=processes)
    torch.manual_seed(0)
    network = nn.ModuleDict({"layers": nn.ModuleList([nn.Linear(6, 6), nn.Linear(6, 4)]), "idle": nn.Linear(2, 2)})
    optimizers = optimization.optimizers_for(network, 0.01)
    for _ in range(3):
        x = INPUTS[number::processes]
        for layer in network["layers"]:
            x = layer(x).tanh()
        x.square().mean().backward()
        optimization.take_step(network, optimizers, 0.01)
    assert together.total(len(x)) == len(INPUTS)
    torch.save(network.state_dict(), folder / f"{number} of {processes}")


def test_two_processes_take_the_steps_of_one(tmp_path: Path) -> None:
    learn(0, 1, tmp_path)
    multiprocessing.spawn(learn, (2, tmp_path), nprocs=2)
    alone, first, second = (torch.load(tmp_path / name) for name in ("0 of 1", "0 of 2", "1 of 2"))
    for key, expected in alone.items():
        assert torch.equal(first[key], second[key])
        torch.testing.assert_close(first[key], expected, atol=1e-5, rtol=0)
