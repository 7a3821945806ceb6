"""What config.json says of the places of a GTE, as its makers wrote it.

Source: Zhang et al. 2024, "mGTE: Generalized Long-Context Text Representation and Reranking Models"; NTK-aware scaling,
which lets a network read further than it was trained: bloc97 2023, with the factor for all speeds of their code.
"""

from collections.abc import Mapping
from typing import Any

NTK = "ntk"


def older(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """How fast queries and keys turn, under the name of today; settings of today are left as they are."""
    if "rope_theta" not in theirs:
        return {}
    base, said = theirs["rope_theta"], theirs.get("rope_scaling")
    if said is None:
        return {"rope_parameters": {"rope_theta": base}}
    by = _factor(theirs)
    known = by is not None and isinstance(base, float | int)
    return {"rope_parameters": {"rope_theta": base * by} if known else {"rope_type": str(said)}}


def slower(theirs: Mapping[str, Any], d_k: int) -> float:
    """By what all speeds are divided beside that."""
    return (_factor(theirs) or 1.0) ** (2 / d_k)


def _factor(theirs: Mapping[str, Any]) -> float | None:
    """How many times as far as in training it reads; None where another way is asked for, or none."""
    said = theirs.get("rope_scaling")
    if not isinstance(said, dict) or said.get("type") != NTK or said.get("mixed_b"):
        return None
    factor = said.get("factor")
    return float(factor) if isinstance(factor, float | int) and 1 <= factor < 1000 else None
