"""How numbers are written everywhere: −0.5 with a minus sign, 9 × 10⁻⁵, not 9e-05."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from model import analysis
from model.analysis import HAIR, fixed, winners

NUMBER = re.compile(r"([+-]?)([\d.,]*\d)(?:e([+-]?)0*(\d+))?( ?%)?")
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def written(text: str) -> str:
    """A number that Python formatted, as people write it; any other text unchanged."""
    if not (parts := NUMBER.fullmatch(text)):
        return text
    sign, digits, below, power, share = (part or "" for part in parts.groups())
    if power.strip("0"):
        digits += f" × 10{below.replace('-', '⁻').replace('+', '')}{power.translate(RAISED)}"
    sign = sign.replace("-", "−") if digits.strip("0.,") else ""  # −0.00 is 0.00
    return sign + digits + share.strip()


def four_decimals(values: np.ndarray) -> list[str]:
    """Many numbers in four decimals, each as `written` writes it; NaN as ""."""
    nudged = np.asarray(values, float) + np.where(np.asarray(values) < 0, -HAIR, HAIR)  # as `fixed` does
    text = "\n".join([f"{value:.4f}" for value in nudged.tolist()])
    for python, people in (("-inf", "−∞"), ("nan", ""), ("-0.0000", "0.0000"), ("-", "−")):
        text = text.replace(python, people)
    return text.split("\n")


def two(value: float) -> str:
    """A number in two decimals."""
    return written(fixed(value))


def gives(made: float, value: float) -> str:
    """What comes of numbers as they are written: with ≈, where it is written otherwise than they have it."""
    return f"{'=' if two(made) == two(value) else '≈'} {two(value)}"


def three(value: float) -> str:
    """A number in three decimals."""
    return written(fixed(value, 3))


@dataclass(frozen=True)
class First:
    """The largest of some values as they are written. In a text it stands as its value, or as its name.

    place: its index. value: as written. ties: how many values are written alike, itself included. of: how many values
    there are. tie: the text for a tie. If there is a tie, or only one value, the sentence that would name the winner is
    replaced by one that says so.
    """

    place: int
    value: str
    ties: int
    of: int
    name: str | None = None
    tie: str = "tied"

    def __str__(self) -> str:
        return self.value if self.name is None else self.name

    @property
    def ahead(self) -> bool:
        """Whether it is larger than all others."""
        return self.ties == 1 < self.of

    def named(self, names: Sequence[str]) -> "First":
        """A copy that stands in a text as its name, not its value."""
        return replace(self, name=names[self.place])


def first(values: ArrayLike, shown: Callable[[float], str] = two, *, among: Sequence[int] | None = None) -> First:
    """The largest of some values; its place is an index into the flattened array. shown: how values are written.

    among: the places that take part; all, if left out. NaN takes no part.
    """
    values = np.ravel(values)
    places = np.arange(values.size) if among is None else np.asarray(among)
    places = places[~np.isnan(values[places])]
    best = winners(values[places], shown)
    return First(int(places[best[0]]), shown(float(values[places[best[0]]])), len(best), len(places))


def furthest(values: ArrayLike, shown: Callable[[float], str] = two, *, among: Sequence[int] | None = None) -> First:
    """Like `first`, for the value furthest from 0; "±0.5" where both signs tie."""
    values = np.ravel(values)
    found = first(np.abs(values), lambda size: shown(size).removeprefix("+"), among=among)
    places = range(values.size) if among is None else among
    like = [values[place] for place in places if shown(abs(values[place])).removeprefix("+") == found.value]
    both = min(like) < 0 < max(like)
    value = f"±{found.value}" if both else shown(float(values[found.place]))
    return replace(found, value=value, tie="tied_far")


def last(values: ArrayLike, shown: Callable[[float], str] = two) -> First:
    """Like `first`, for the smallest value."""
    return replace(first(-np.asarray(values), lambda value: shown(-value)), tie="tied_last")


def signed(value: float) -> str:
    """A difference: "+0.41", "−0.0032", "0"."""
    if not value:
        return "0"
    return written("+" * bool(value > 0) + fixed(value) if abs(value) >= 0.1 else f"{value:+.2g}")


def unsigned(value: float) -> str:
    """The same digits for a number that is no difference: "0.41", "−0.0032"."""
    return signed(value).removeprefix("+")


def percent(p: float) -> str:
    """A share in percent, as short as it stays true: "41%", "99.7%", "> 99.9%", "0.4%", "< 0.1%", "0%"."""
    most = 0.995 - HAIR <= p <= 1 - 1e-6  # float32 hardly tells larger ones from 1
    if most and p >= 0.9995:
        return "> 99.9%"
    if 0 < p < 0.001:
        return "< 0.1%"
    return written(f"{fixed(100 * p, 1 if most or 0 < p < 0.1 else 0)}%")


def percents(shares: Iterable[float]) -> list[str]:
    """Shares in percent, rounded by `whole`."""
    return [in_percent(share) for share in whole(shares)]


def summands(values: Iterable[float]) -> list[str]:
    """Numbers with a sign in two decimals; as written, they add up to their sum."""
    return [written(f"{hundredths / 100:+.2f}") if hundredths else "0.00" for hundredths in whole(values)]


def in_percent(value: float, places: int = 0) -> str:
    return written(f"{fixed(value, places)}%")


def whole(shares: Iterable[float]) -> np.ndarray:
    """Shares in whole percent whose sum is the rounded sum: those with the largest remainders are rounded up."""
    exact = 100 * np.array([*shares], float)
    whole = np.floor(exact)
    up = (whole - exact).argsort(kind="stable")[: round(float(fixed(exact.sum(), 0)) - whole.sum())]
    whole[up] += 1
    return whole


def bound(value: float) -> str:
    """An end of a scale or an interval, with no more decimals than it has: 0, 1, −2.5, 12,000."""
    return written(f"{round(value, 2):,.10g}")


def decimal(probability: float) -> str:
    """A probability as short as it stays true: 0.41, 0.0002, 0.9996, 0.99997, 8 × 10⁻⁵."""
    return written(analysis.decimal(probability))
