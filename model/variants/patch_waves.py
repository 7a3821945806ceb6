"""Sinusoidal positions of patches, in two directions.

The first half of each vector encodes the patch's column, the second its row; in each half, sines come first, then
cosines. [CLS], in front, gets zeros.

Source: He et al. 2022, "Masked Autoencoders Are Scalable Vision Learners", appendix A.1; in the order of their code.
"""

import torch
from torch import Tensor

BASE = 10_000.0
ROUNDING = 1e-4


def patch_waves(side: int, d_model: int) -> Tensor:
    """(1 + side², d_model), for pictures of side × side patches, row by row. d_model is a multiple of 4."""
    quarter = d_model // 4
    speeds = BASE ** -(torch.arange(quarter, dtype=torch.float64) / quarter)
    row, column = torch.meshgrid(*[torch.arange(side, dtype=torch.float64)] * 2, indexing="ij")
    angles = [place.reshape(-1, 1) * speeds for place in (column, row)]
    waves = torch.cat([wave(angle) for angle in angles for wave in (torch.sin, torch.cos)], dim=1)
    return torch.cat([torch.zeros(1, d_model, dtype=torch.float64), waves]).float()


def are_waves(table: Tensor, side: int) -> bool:
    """Whether a position table holds these waves."""
    width = table.shape[-1]
    if table.shape != (1 + side**2, width) or width % 4:
        return False
    return torch.allclose(table, patch_waves(side, width), atol=ROUNDING)
