"""What a picture shows, of one run or of two."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from model.analysis import pca
from pages.ui.figures import Axis
from pages.ui.text import plain, t
from pages.ui.text.numbers import signed


@dataclass(frozen=True)
class Measure:
    """What a picture shows: numbers of one run; of two, beside each other; or of one run less those of another.

    values: what is drawn. other: the same of the other run, each token in its counterpart's place, where both are
    drawn. differs: whether `values` are differences, which have a sign; NaN (nothing stands in a token's place) and
    infinite numbers are none. The rest is for the sentence below the picture. axes: one for each side of `values`.
    upwards: drawn as heights and depths; else in two colours. alone: nothing stands in the place of its token there.
    """

    values: np.ndarray
    other: np.ndarray | None = None
    differs: bool = False
    axes: Sequence[Axis] = ()
    upwards: bool = False
    alone: bool = False

    def __getitem__(self, part: Any) -> Self:
        """The same part of both."""
        return replace(self, values=self.values[part], other=None if self.other is None else self.other[part])

    def on(self, *axes: Axis, upwards: bool = False) -> Self:
        """As it is drawn, on these axes."""
        return replace(self, axes=axes, upwards=upwards)

    @property
    def look(self) -> dict[str, Any]:
        """What figures that can show two runs are told."""
        return {"differs": self.differs, "there": self.other}

    def scale(self, usual: str) -> str:
        """The scale of colours: differences have a sign, whatever the quantity."""
        return "signed" if self.differs else usual

    def less_nothing(self) -> Self:
        """With 0 where no token of the other input stands in the place, for pictures that cannot leave a gap."""
        if not self.differs:
            return self
        return replace(self, values=np.nan_to_num(self.values, nan=0.0, posinf=np.inf, neginf=-np.inf))

    @property
    def largest(self) -> float:
        """The largest difference there is."""
        return float(np.max(np.abs(self.values), where=np.isfinite(self.values), initial=0))

    def in_words(self, shows: str) -> str:
        """Of a difference, which sign means what, and where the two runs differ most. shows: one of `choice.SHOWN`."""
        if np.isnan(self.values).all():
            return t("change.read_nothing")
        apart = np.where(np.isfinite(self.values), np.abs(self.values), 0)
        place = np.unravel_index(apart.argmax(), apart.shape)
        if not apart[place]:
            hidden = int(np.isinf(self.values).sum())
            return t("change.read_hidden", hidden=hidden) if hidden else t("change.read_same")
        sign = plain("change.sign_height" if self.upwards else "change.sign_colour")
        where, value = place_in_words(self.axes, place), signed(float(self.values[place]))
        return t(f"change.read_{shows}", sign=sign, place=where, value=value)


def widest(measures: Iterable[Measure]) -> Measure:
    """Of what one picture shows together, that with the largest difference."""
    return max(measures, key=lambda measure: measure.largest)


def place_in_words(axes: Sequence[Axis], place: Sequence[int]) -> str:
    """ "it → animal": a place by its names along the axes; an axis with neither title nor names is left out."""
    names = [
        axis.labels[i] if axis.labels else f"{axis.title} {i + 1}"
        for axis, i in zip(axes, place, strict=True)
        if axis.title or axis.labels
    ]
    return " → ".join(filter(None, names))


def of_both(table: pd.DataFrame, other: pd.DataFrame | None) -> pd.DataFrame:
    """The numbers of a picture that shows two runs: those of the second in columns of their own."""
    return table if other is None else pd.concat([table, other.add_suffix(f" · {plain('change.other_run')}")], axis=1)


def one_plane(*clouds: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Vectors (…, d) of several runs in the plane in which they differ most: (…, 2) each, and the shares of variance.

    Where a vector is NaN, so is its point.
    """
    vectors = np.concatenate([cloud.reshape(-1, cloud.shape[-1]) for cloud in clouds])
    known = np.isfinite(vectors).all(axis=1)
    points = np.full((len(vectors), 2), np.nan, np.float32)
    points[known], shares = pca(vectors[known])
    ends = np.cumsum([cloud[..., 0].size for cloud in clouds])[:-1]
    parts = zip(np.split(points, ends), clouds, strict=True)
    return [part.reshape(*cloud.shape[:-1], 2) for part, cloud in parts], shares
