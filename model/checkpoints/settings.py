"""Numbers in config.json that several families use. Raise CheckpointError for a wrong type or a value out of bounds."""

from collections.abc import Mapping
from typing import Any

from model.checkpoints.errors import setting_error

MOST = 65_536  # positions, and rows of a table


def whole(folder: str, theirs: Mapping[str, Any], name: str, usual: int, least: float = 1) -> int:
    """A whole-number setting; `usual` if there is none."""
    value = usual if theirs.get(name) is None else theirs[name]
    if type(value) is not int or not least <= value <= MOST:
        raise setting_error("size", folder, name, value)
    return value


def base_of(folder: str, name: str, value: object) -> float:
    """Base of the rotation frequencies (rotary positions)."""
    if isinstance(value, bool) or not isinstance(value, float | int) or not 1 < value < 1e12:
        raise setting_error("size", folder, name, value)
    return float(value)
