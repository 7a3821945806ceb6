"""One way to write numbers wherever they stand: −0.5 with a minus sign, 9 × 10⁻⁵ and not 9e-05."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from model import analysis
from model.analysis import winners

NUMBER = re.compile(r"([+-]?)([\d.,]*\d)(?:e([+-]?)0*(\d+))?( ?%)?")
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def written(text: str) -> str:
    """What Python's formats make of a number, as people write it; any other text stays as it is."""
    if not (parts := NUMBER.fullmatch(text)):
        return text
    sign, digits, below, power, share = (part or "" for part in parts.groups())
    if power.strip("0"):
        digits += f" × 10{below.replace('-', '⁻').replace('+', '')}{power.translate(RAISED)}"
    sign = sign.replace("-", "−") if digits.strip("0.,") else ""  # what is shown as nothing is not below it
    return sign + digits + share.strip()


def four_decimals(values: np.ndarray) -> list[str]:
    """Many numbers in four decimals, as `written` writes each; nothing where there is no number."""
    text = "\n".join([f"{value:.4f}" for value in values.tolist()])
    for python, people in (("-inf", "−∞"), ("nan", ""), ("-0.0000", "0.0000"), ("-", "−")):
        text = text.replace(python, people)
    return text.split("\n")


def two(value: float) -> str:
    """A number in two decimals."""
    return written(f"{value:.2f}")


def less(value: float, part: float) -> str:
    """What is left of a number without a part of it, as who subtracts what `two` writes of both finds it."""
    return two(round(value, 2) - round(part, 2))


def three(value: float) -> str:
    """A number in three decimals."""
    return written(f"{value:.3f}")


@dataclass(frozen=True)
class First:
    """Which of some values is the largest, as a reader sees them. Filled into a text it is its value, or its name.

    place: where it stands. value: as it is written. ties: how many are written so, itself among them. of: how many
    values there are. tie: the text that says that others tie with it. Where they do, or there is no other, the sentence
    of a text in which it would stand says that instead, so that no text names a winner where none is.
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
        """Whether one is the largest."""
        return self.ties == 1 < self.of

    def named(self, names: Sequence[str]) -> "First":
        """To stand in a text by its name, not by its value."""
        return replace(self, name=names[self.place])


def first(values: ArrayLike, shown: Callable[[float], str] = two, *, among: Sequence[int] | None = None) -> First:
    """The largest of some values; of an array of several axes its place is flat. shown: how they are written.

    among: the places that take part; all, if left out. What is NaN takes no part.
    """
    values = np.ravel(values)
    places = np.arange(values.size) if among is None else np.asarray(among)
    places = places[~np.isnan(values[places])]
    best = winners(values[places], shown)
    return First(int(places[best[0]]), shown(float(values[places[best[0]]])), len(best), len(places))


def furthest(values: ArrayLike, shown: Callable[[float], str] = two, *, among: Sequence[int] | None = None) -> First:
    """The same of the one that is furthest from 0, on either side."""
    values = np.ravel(values)
    found = first(np.abs(values), lambda size: shown(size).removeprefix("+"), among=among)
    places = range(values.size) if among is None else among
    like = [values[place] for place in places if shown(abs(values[place])).removeprefix("+") == found.value]
    both = min(like) < 0 < max(like)
    value = f"±{found.value}" if both else shown(float(values[found.place]))
    return replace(found, value=value, tie="tied_far")


def last(values: ArrayLike, shown: Callable[[float], str] = two) -> First:
    """The same of the smallest."""
    return replace(first(-np.asarray(values), lambda value: shown(-value)), tie="tied_last")


def signed(value: float) -> str:
    """By how much something differs: "+0.41", "−0.0032"; nothing is 0, without a sign."""
    return written(f"{value:+.2f}" if abs(value) >= 0.1 else f"{value:+.2g}") if value else "0"


def unsigned(value: float) -> str:
    """The same of a number that is no difference: "0.41", "−0.0032"."""
    return signed(value).removeprefix("+")


def percent(p: float) -> str:
    """A share in percent, as short as it stays true: "41%", "99.7%", "> 99.9%", "0.4%", "< 0.1%", "0%"."""
    if p > 1 - 1e-6:  # which numbers of 32 bits hardly tell from 1
        return f"{p:.0%}"
    if p >= 0.9995:
        return "> 99.9%"
    if 0 < p < 0.001:
        return "< 0.1%"
    return written(f"{p:.1%}" if p >= 0.995 or 0 < p < 0.1 else f"{p:.0%}")


def percents(shares: Iterable[float]) -> list[str]:
    """Shares in percent, as `whole` has them."""
    return [in_percent(share) for share in whole(shares)]


def summands(values: Iterable[float]) -> list[str]:
    """Numbers with a sign in two decimals, which add up to their sum as they are written."""
    return [written(f"{hundredths / 100:+.2f}") if hundredths else "0.00" for hundredths in whole(values)]


def in_percent(whole: float) -> str:
    return written(f"{whole:.0f}%")


def whole(shares: Iterable[float]) -> np.ndarray:
    """Shares in whole percent that add up to what the shares add up to: those with the largest rests are rounded up."""
    exact = 100 * np.array([*shares], float)
    whole = np.floor(exact)
    up = (whole - exact).argsort(kind="stable")[: round(float(exact.sum() - whole.sum()))]
    whole[up] += 1
    return whole


def decimal(probability: float) -> str:
    """A probability as short as it stays true: 0.41, 0.0002, 0.9996, 0.99997, 8 × 10⁻⁵."""
    return written(analysis.decimal(probability))
