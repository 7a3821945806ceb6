"""Recorded values as tables labelled with tokens, for a notebook or a terminal."""

import html
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

MOST_SIDE = 60  # most rows and columns displayed
ABOVE, BELOW = "31, 119, 180", "214, 39, 40"  # colours (red, green, blue) of numbers above and below 0


def to_frame(
    value: np.ndarray, axes: Sequence[str], names: Sequence[Sequence[str] | None], at: Mapping[str, int]
) -> pd.DataFrame:
    """A value, indexed by `at`, as a table: its last remaining axis as columns, the others as rows.

    names: labels along each axis, or None to number it. Raises ValueError for an unknown axis, IndexError for an index
    out of range.
    """
    if strange := set(at) - set(axes):
        raise ValueError(f"there is no axis {', '.join(sorted(strange))}: there are {', '.join(axes)}")
    for axis, size in zip(axes, value.shape, strict=True):
        place = at.get(axis, 0)
        if isinstance(place, bool) or not hasattr(place, "__index__") or not -size <= place < size:
            raise IndexError(f"there is no {axis} {place!r}: there are {size}, counted from 0")
    value = value[tuple(at.get(axis, slice(None)) for axis in axes)]
    left = [(axis, along) for axis, along in zip(axes, names, strict=True) if axis not in at]
    sides = [
        pd.Index([f"{place} {name}" for place, name in enumerate(along)] if along else range(size), name=axis)
        for (axis, along), size in zip(left, value.shape, strict=True)
    ]
    if len(sides) < 2:
        return pd.DataFrame({"value": np.atleast_1d(value)}, index=sides[0] if sides else None)
    *rows, columns = sides
    index = rows[0] if len(rows) == 1 else pd.MultiIndex.from_product(rows)
    return pd.DataFrame(value.reshape(len(index), len(columns)), index, columns)


class Shown:
    """A table for display: coloured in a notebook, plain in a terminal; `frame` has full precision."""

    def __init__(self, frame: pd.DataFrame, title: str) -> None:
        self.frame, self.title = frame, title

    def __repr__(self) -> str:
        whole = "display.max_rows", MOST_SIDE, "display.max_columns", MOST_SIDE // 2, "display.expand_frame_repr", False
        with pd.option_context(*whole):
            return f"{self.title}\n{self.frame.round(2)}"

    def _repr_html_(self) -> str:
        seen = self.frame.iloc[: MOST_SIDE + 1, : MOST_SIDE + 1]  # one more, so that pandas shows …
        most = float(np.nanmax(np.abs(seen.where(np.isfinite(seen))), initial=1e-9))

        def colour(number: float) -> str:
            strength = abs(number) / most if np.isfinite(number) else 0
            return f"background-color: rgba({ABOVE if number > 0 else BELOW}, {strength:.2f})"

        styled = seen.style.map(colour).format(precision=2).set_caption(html.escape(self.title))
        for axis in (0, 1):  # pandas does not escape labels, and a token may be "<script>"
            styled.format_index(lambda name: html.escape(str(name)), axis=axis)
        return styled.to_html(max_rows=MOST_SIDE, max_columns=MOST_SIDE)
