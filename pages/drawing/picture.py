"""A picture, made by a plain function of a run and a place. No Streamlit here, so a notebook draws the same.

    picture = attention_map(load("text")("i love you"), Place(layer=2, head=3, token=2))
    picture.drawn(), picture.says()

`Pen.show` draws it on a page. Where the reader compares two runs, it calls the function again for the other run, and
`figure` draws the numbers of both, or their difference.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from model import Trace
from model.analysis import pca, placed
from model.edits import row_of
from model.operations import Quantity
from model.translator import TranslationTrace
from pages.drawing.at_once import AtOnce
from pages.drawing.figures import Axis, Figure
from pages.drawing.figures.matrices import cover
from pages.drawing.place import Place
from pages.drawing.text import class_label, plain, t
from pages.drawing.text.numbers import furthest, signed

# -- what pictures ask of a run --------------------------------------------------------------------


def kind_of(run: Trace) -> str:
    """What the tokens are: "words", patches of a "drawing", or a "single" token."""
    if len(run.tokens) == 1:
        return "single"
    return "words" if run.picture is None else "drawing"


def says_words(run: Trace) -> bool:
    """Whether the network answers with a word, not a class."""
    return "logits" in run and "word" in run.axes("logits")


def outputs_of(run: Trace) -> Sequence[str]:
    """What each logit stands for: the words of the vocabulary, or the classes."""
    return run.outputs if says_words(run) else [class_label(label) for label in run.outputs]


def names_of(run: Trace, key: str) -> tuple[Sequence[str] | None, ...]:
    """The names of the places along each axis of a quantity; None where they are counted.

    A row in a decoder is a step, named after the piece that it reads and the piece that it writes: "love → 爱".
    """
    names: list[Sequence[str] | None] = list(run.names(key))
    if isinstance(run, TranslationTrace) and key.startswith("decoder."):
        steps = [f"{read} → {written}" for read, written in zip(run.target_tokens, run.written, strict=True)]
        names = [steps if kind in ("query", "target") else own for kind, own in zip(run.axes(key), names, strict=True)]
    return tuple(names)


def token_axis(run: Trace, title: str) -> Axis:
    """An axis of the tokens of a run."""
    return Axis(title, run.tokens, range(len(run.tokens)))


def told_where(run: Trace, token: int, said: str) -> str:
    """A sentence that begins with the token at which the answer is read, if it is a word: "At ‘[MASK]’: …"."""
    if not says_words(run):
        return said[:1].upper() + said[1:]
    return t("without.read_at", token=placed(run.tokens)[token]) + said[:1].lower() + said[1:]


def touched(run: Trace, head: int, *equations: str, shares: Sequence[str] = (), every_head: bool = False) -> bool:
    """Whether one of the reader's changes breaks what a sentence relies on, so that the sentence may be false.

    equations: quantities that the sentence takes to follow their equations. shares: quantities of which it only assumes
    that a mask hides, or that rows sum to 1. Both are keys of the trace, or rows of the graph, which stand for all
    layers. Changes of other heads do not count, unless the sentence is about every_head.
    """
    return any(
        edit.key in (quantity.key, quantity.row)
        and {quantity.key, quantity.row} & {*equations, *(() if row_of(edit.operation).lawful else shares)}
        for edit in run.edits
        if every_head or edit.head in (None, head)
        for quantity in run.graph
    )


def carriers(run: Trace, layers: int) -> list[str]:
    """The quantities that rollout assumes unchanged in the first layers: values, outputs of heads, sums, norms."""
    subs = [sub for layer in range(layers) for sub in run.graph.sublayers(layer)]
    carried = [
        sub.prefix + name for sub in subs if sub.name == "attention" for name in ("V", "heads", "concat", "output")
    ]
    return [*carried, *(key for sub in subs for key in (sub.sum, sub.norm) if key)]


# -- numbers ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbers:
    """The numbers that a picture draws: of one run, of two runs, or the difference of two.

    array: all that the picture takes from the run. kinds: the graph's names of its axes; along axes of tokens, another
    input's numbers move to the places of their counterparts. part: chooses, after the comparison, what is drawn, and
    its axes. token: the token that the numbers are about, if it is one. axes: one for each side of `array`. upwards:
    drawn as heights, not in colours. end: the value of the strongest colour. which: the places, where `part` chose the
    largest. called: the name of these numbers in a sentence, if the picture has several. other: the other run's
    numbers, where both are drawn. differs: `array` holds differences, NaN where a token has no counterpart. alone:
    `token` has none. code: what gives the array in a notebook: `trace["layers.2.attention.weights"][3]`.
    """

    array: np.ndarray
    kinds: Sequence[str] = ()
    part: "Callable[[Numbers], Numbers] | None" = None
    token: int | None = None
    axes: Sequence[Axis] = ()
    upwards: bool = False
    end: float = 0.0
    which: Sequence[int] = ()
    called: str = ""
    other: np.ndarray | None = None
    differs: bool = False
    alone: bool = False
    code: str = ""

    @classmethod
    def of(cls, run: Trace, key: str, head: int | None = None, **more: Any) -> Self:
        """A recorded quantity, or one head of it if it has heads and `head` is given."""
        value, kinds, code = run[key], run.axes(key), f'trace["{key}"]'
        if head is not None and kinds[0] == "head":
            value, kinds, code = value[head], kinds[1:], f"{code}[{head}]"
        return cls(value, kinds, code=code, **more)

    def __getitem__(self, part: Any) -> Self:
        """The same part of `array` and `other`."""
        return replace(self, array=self.array[part], other=None if self.other is None else self.other[part])

    def flat(self, sides: int) -> Self:
        """A copy with the first `sides` axes merged into one."""
        rest = self.array.shape[sides:]
        other = None if self.other is None else self.other.reshape(-1, *rest)
        return replace(self, array=self.array.reshape(-1, *rest), other=other)

    def on(self, *axes: Axis, upwards: bool = False) -> Self:
        """A copy on these axes."""
        return replace(self, axes=axes, upwards=upwards)

    def less(self, there: np.ndarray) -> Self:
        """The difference from another run's numbers."""
        with np.errstate(invalid="ignore"):  # hidden in both runs: −∞ less −∞
            return replace(self, array=self.array - there, differs=True)

    @property
    def drawn(self) -> "Numbers":
        """What `part` chooses to draw; without one, all."""
        return replace(self.part(self), part=None) if self.part else self

    def named(self, names: Sequence[str]) -> Self:
        """A copy with other names for the tokens along the axes."""
        return replace(self, axes=[axis.named(names) for axis in self.axes])

    @property
    def look(self) -> dict[str, Any]:
        """Arguments for figures that can show two runs."""
        return {"differs": self.differs, "there": self.other}

    def scale(self, usual: str) -> str:
        """The colour scale: "signed" for differences, whatever the quantity."""
        return "signed" if self.differs else usual

    def less_nothing(self) -> Self:
        """A copy with 0 where a token has no counterpart, for pictures that cannot leave a gap."""
        if not self.differs:
            return self
        return replace(self, array=np.nan_to_num(self.array, nan=0.0, posinf=np.inf, neginf=-np.inf))

    @property
    def largest(self) -> float:
        """The largest absolute value that is finite."""
        return float(np.max(np.abs(self.array), where=np.isfinite(self.array), initial=0))

    def in_words(self, shows: str) -> str:
        """The sentence of a difference: what the signs mean, and where it is largest. shows: one of `choice.SHOWN`."""
        if np.isnan(self.array).all():
            return t("change.read_nothing")
        place, size = _strongest(self.array)
        if not size:
            hidden = int(np.isinf(self.array).sum())
            return t("change.read_hidden", hidden=hidden) if hidden else t("change.read_same")
        sign = plain("change.sign_height" if self.upwards else "change.sign_colour")
        where = " · ".join(filter(None, (self.called, place_in_words(self.axes, place))))
        said = t("change.largest", place=where, value=furthest(self._known, signed))
        return f"{t(f'change.read_{shows}', sign=sign)} {said}"

    def of_the_other(self) -> str:
        """The sentence of the other input's picture: which number is the largest."""
        place, _ = _strongest(self.array)
        return t("compare.read_there", place=place_in_words(self.axes, place), value=furthest(self._known))

    @property
    def _known(self) -> np.ndarray:
        """The numbers, NaN where they are infinite."""
        return np.where(np.isfinite(self.array), self.array, np.nan)


def _strongest(array: np.ndarray) -> tuple[tuple[int, ...], float]:
    """The place of the largest finite absolute value, and that value."""
    sizes = np.where(np.isfinite(array), np.abs(array), 0)
    place = np.unravel_index(sizes.argmax(), sizes.shape)
    return tuple(int(i) for i in place), float(sizes[place])


def place_in_words(axes: Sequence[Axis], place: Sequence[int]) -> str:
    """ "it → animal", "layer 6 → it": a place in words; an axis without title and names is left out."""

    def name(axis: Axis, i: int) -> str:
        said = placed(axis.labels)[i] if axis.labels else str(i + 1)
        numbered = all(label.isdigit() for label in axis.labels or ())  # "6" alone would not say "layer"
        return f"{axis.title} {said}".strip() if numbered else said

    names = (name(axis, i) for axis, i in zip(axes, place, strict=True) if axis.title or axis.labels)
    return " → ".join(filter(None, names))


def of_both(table: pd.DataFrame, other: pd.DataFrame | None) -> pd.DataFrame:
    """A table of two runs: the other run's numbers in columns of their own."""
    return table if other is None else pd.concat([table, other.add_suffix(f" · {plain('change.other_run')}")], axis=1)


def one_plane(*clouds: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Vectors (…, d) of several runs in the plane in which they vary most: (…, 2) each, and the shares of variance.

    A NaN vector gives a NaN point.
    """
    vectors = np.concatenate([cloud.reshape(-1, cloud.shape[-1]) for cloud in clouds])
    known = np.isfinite(vectors).all(axis=1)
    points = np.full((len(vectors), 2), np.nan, np.float32)
    points[known], shares = pca(vectors[known])
    ends = np.cumsum([cloud[..., 0].size for cloud in clouds])[:-1]
    parts = zip(np.split(points, ends), clouds, strict=True)
    return [part.reshape(*cloud.shape[:-1], 2) for part, cloud in parts], shares


def sizes(shape: Sequence[int]) -> str:
    """(8, 12, 12) as people write it: 8 × 12 × 12."""
    return " × ".join(str(side) for side in shape)


# -- pictures --------------------------------------------------------------------------------------


class Open(NamedTuple):
    """A click that opens another page: the page's name, and what is chosen there."""

    page: str
    values: Mapping[str, object]


Picks = Callable[..., "Mapping[str, object] | Open | None"]


def picks_from(which: Sequence[int], choose: Callable[[int], Mapping[str, object]]) -> Picks:
    """A `Picks` for bars of these places. It holds no run."""
    return lambda bar, _: choose(which[bar])


class Moves(NamedTuple):
    """How Shift and an arrow move the cell: (row, column), how many of each, and a cell -> values of Choice."""

    cell: tuple[int, int]
    sizes: tuple[int, ...]
    choose: Callable[[int, int], Mapping[str, object]]


@dataclass(frozen=True)
class Picture:
    """A figure with its sentence, its numbers and its clicks.

    figure: the figure, or a function that draws it from the `numbers`, one argument each, after the comparison.
    sentence: what the picture says, as Markdown, also its text alternative; or a function of the same numbers. title:
    in place of the text "{page}.{name}". quantity: the quantity shown; its equation is printed unless the page has it.
    equation: LaTeX in its place, or "" for none. shape: of the numbers, to print. table: for the CSV, where the figure
    does not hold the numbers; or a function of them.
    two: how two runs are drawn: "less", as their difference; "beside", the same, or both in one figure where the
    reader chose "beside"; "over", always both.
    reads: keys of quantities whose equation the sentence states as fact; if a change breaks one, another sentence says
    so. shares: keys, with that of `quantity`, that only need be masks, or rows that sum to 1 (see `touched`).
    every_head: the sentence is about all heads. fixed: no change moves the picture, so it need not name its run.
    picks(row, column): the values of Choice that a click on a cell or bar sets; it gets the marks' customdata lists
    instead, where they carry some. picks_of: makes `picks` from the drawn numbers. of_head: the layer and head shown,
    if not the chosen ones. at_once: how the browser draws one run for another place. written: the text below the
    figure in place of the sentence, which is then only read aloud; a comparison is always written.
    """

    figure: Figure | Callable[..., Figure]
    sentence: str | Callable[..., str]
    numbers: Numbers | Sequence[Numbers] = ()
    title: str | None = None
    quantity: Quantity | None = None
    equation: str | None = None
    shape: Sequence[int] = ()
    table: pd.DataFrame | Callable[..., pd.DataFrame] | None = None
    two: str = "less"
    reads: Sequence[str] = ()
    shares: Sequence[str] = ()
    every_head: bool = False
    fixed: bool = False
    picks: Picks | None = None
    picks_of: Callable[..., Picks] | None = None
    moves: Moves | None = None
    of_head: tuple[int, int] | None = None
    at_once: Callable[[], AtOnce | None] | None = None
    written: str | None = None

    @property
    def parts(self) -> tuple[Numbers, ...]:
        """All its numbers, before `part` chooses."""
        return (self.numbers,) if isinstance(self.numbers, Numbers) else tuple(self.numbers)

    @property
    def code(self) -> str:
        """Python that gives the recorded numbers in a notebook, one line a quantity."""
        read = [*([self.quantity.key] if self.quantity and self.quantity.traced else []), *(self.shares or self.reads)]
        of_parts = [part.code for part in self.parts if part.code]
        return "\n".join(dict.fromkeys(of_parts or map(_code_of, read)))

    def drawn(self, *numbers: Numbers) -> Figure:
        """The figure of its own numbers, or of these."""
        return self.figure if isinstance(self.figure, Figure) else self.figure(*self._or_own(numbers))

    def says(self, *numbers: Numbers) -> str:
        """The sentence of its own numbers, or of these."""
        return self.sentence if isinstance(self.sentence, str) else self.sentence(*self._or_own(numbers))

    def tabled(self, *numbers: Numbers) -> pd.DataFrame | None:
        """The numbers as a table; None where the figure holds them."""
        return self.table(*self._or_own(numbers)) if callable(self.table) else self.table

    def framed(self, frames: Sequence[dict]) -> Self:
        """A copy with frames over its figure."""
        return self._over(lambda figure: figure.layout.update(shapes=[*figure.layout.get("shapes", ()), *frames]))

    def covered(
        self,
        row: int,
        columns: Sequence[int] | None = None,
        *,
        signs: Sequence[str] = (),
        options: Sequence[int] = (),
    ) -> Self:
        """A copy of a map that hides cells of a row behind question marks, or behind `signs`.

        Figure, sentence, table and colour scale lose their numbers. columns: all, if left out. options: the option that
        a click on each column picks, −1 for none.
        """
        (whole,) = (part.drawn for part in self.parts)
        hidden = [*range(whole.array.shape[1])] if columns is None else columns
        array = np.array(whole.array, np.float32)
        array[row, hidden] = np.nan
        covers = partial(cover, row=row, columns=hidden, signs=signs, options=options)
        picks = (lambda option: {"option": option}) if any(option >= 0 for option in options) else None
        bare: dict[str, Any] = dict.fromkeys(("written", "table", "moves", "at_once")) | {
            "sentence": "",
            "picks": picks,
        }
        return self.with_(numbers=replace(whole, array=array, end=0.0), **bare)._over(covers)

    def _over(self, draw: Callable[[Figure], object]) -> Self:
        """A copy whose figure is passed to `draw`."""

        def drawn(*numbers: Numbers) -> Figure:
            figure = self.drawn(*numbers)
            draw(figure)
            return figure

        return self.with_(figure=drawn)

    def _or_own(self, numbers: Sequence[Numbers]) -> Sequence[Numbers]:
        return numbers or [part.drawn for part in self.parts]

    def with_(self, **changes: Any) -> Self:
        """A copy with these values changed."""
        return replace(self, **changes)


def _code_of(key: str) -> str:
    """Python that gives a quantity in a notebook; for a row of the graph, one of each layer."""
    return f'[trace[f"{key}"] for l in range(trace.config.layers)]' if "{l}" in key else f'trace["{key}"]'


#: A function that makes a picture.
Make = Callable[[Trace, Place], Picture]
