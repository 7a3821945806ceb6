"""Muon (Jordan et al. 2024): momentum whose steps are made orthogonal, for the matrices inside the layers.

As torch.optim.Muon, but for the precision of its products (torch's are always in bfloat16, and on a processor that can
only imitate it they take forty times as long) and for taking all matrices of one shape together, since a graphics card
would otherwise wait for two thousand small products at each step.
"""

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

# Of the quintic polynomial: steep at 0, so that small singular values come near 1 in few steps.
A, B, C = 3.4445, -4.7750, 2.0315


def orthogonal(matrices: Tensor, precision: torch.dtype, steps: int = 5) -> Tensor:
    """Matrices (…, row, column), all singular values brought near 1 (0.7 to 1.2) by Newton and Schulz's iteration."""
    wide = matrices if matrices.size(-2) <= matrices.size(-1) else matrices.mT
    X = (wide / wide.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)).to(precision)
    for _ in range(steps):
        square = X @ X.mT
        X = A * X + (B * square + C * square @ square) @ X
    return (X if wide is matrices else X.mT).to(matrices.dtype)


class Muon(torch.optim.Optimizer):
    """rate: as for AdamW, whose steps these match in size. memory: of the mean of gradients. precision: of products."""

    def __init__(
        self,
        matrices: Iterable[nn.Parameter],
        rate: float,
        decay: float,
        precision: torch.dtype = torch.float32,
        memory: float = 0.95,
    ) -> None:
        super().__init__(matrices, {"lr": rate, "decay": decay, "memory": memory})
        self.precision = precision

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]  # nobody hands it a closure
        for group in self.param_groups:
            of_shape: dict[torch.Size, list[nn.Parameter]] = {}
            for matrix in group["params"]:
                if matrix.grad is not None:
                    of_shape.setdefault(matrix.shape, []).append(matrix)
            for shape, matrices in of_shape.items():
                ahead = torch.stack([self._direction(matrix, group["memory"]) for matrix in matrices])
                length = group["lr"] * 0.2 * math.sqrt(max(shape))
                for matrix, direction in zip(matrices, orthogonal(ahead, self.precision), strict=True):
                    matrix.mul_(1 - group["lr"] * group["decay"]).sub_(direction, alpha=length)

    def _direction(self, matrix: nn.Parameter, memory: float) -> Tensor:
        """Where Nesterov's momentum points."""
        state = self.state[matrix]
        if not state:
            state["momentum_buffer"] = torch.zeros_like(matrix)
        mean = state["momentum_buffer"].lerp_(matrix.grad, 1 - memory)
        return matrix.grad.lerp(mean, memory)
