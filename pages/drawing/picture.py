"""A picture: a plain function of a run and a place makes it. No Streamlit here, so a notebook draws the same.

    picture = attention_map(load("text")("i love you"), Place(layer=2, head=3, token=2))
    picture.drawn(), picture.says()

A page draws it (`Pen.show`). Where the reader compares two runs it calls the function once more, for the other run,
and draws the numbers of both, or those of the one less those of the other, with the same `figure`.
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
    """What the tokens are: "words", the patches of a "drawing", or a "single" one that is all there is."""
    if len(run.tokens) == 1:
        return "single"
    return "words" if run.picture is None else "drawing"


def says_words(run: Trace) -> bool:
    """Whether the network answers with a word, and not with a class."""
    return "logits" in run and "word" in run.axes("logits")


def outputs_of(run: Trace) -> Sequence[str]:
    """What each logit stands for: the words of the vocabulary, or the classes."""
    return run.outputs if says_words(run) else [class_label(label) for label in run.outputs]


def names_of(run: Trace, key: str) -> tuple[Sequence[str] | None, ...]:
    """What the places along each axis of a quantity are called; None where they are counted.

    Of a decoder's rows both the piece that they read and the one that they write: a row is a step.
    """
    names: list[Sequence[str] | None] = list(run.names(key))
    if isinstance(run, TranslationTrace) and key.startswith("decoder."):
        steps = [f"{read} → {written}" for read, written in zip(run.target_tokens, run.written, strict=True)]
        names = [steps if kind in ("query", "target") else own for kind, own in zip(run.axes(key), names, strict=True)]
    return tuple(names)


def token_axis(run: Trace, title: str) -> Axis:
    """An axis of the tokens of a run. title: as it stands there."""
    return Axis(title, run.tokens, range(len(run.tokens)))


def told_where(run: Trace, token: int, said: str) -> str:
    """A sentence with the token at which the answer is read, where there is one for each: "At ‘[MASK]’: …"."""
    if not says_words(run):
        return said[:1].upper() + said[1:]
    return t("without.read_at", token=placed(run.tokens)[token]) + said[:1].lower() + said[1:]


def touched(run: Trace, head: int, *equations: str, shares: Sequence[str] = (), every_head: bool = False) -> bool:
    """Whether a change sits on what is relied on, so that what is usually said need not be true.

    equations: quantities that are to be what their equations make of what they read. shares: those of which it is
    enough that a mask is a mask, and weights are shares that sum to 1. Keys of the trace, or rows of the graph, which
    stand for all layers. A change of another head alone is none, unless what is said is said of every_head.
    """
    return any(
        edit.key in (quantity.key, quantity.row)
        and {quantity.key, quantity.row} & {*equations, *(() if row_of(edit.operation).lawful else shares)}
        for edit in run.edits
        if every_head or edit.head in (None, head)
        for quantity in run.graph
    )


def carriers(run: Trace, layers: int) -> list[str]:
    """What rollout takes for granted in the first layers: values that weights carry on, and sums that keep the rest."""
    subs = [sub for layer in range(layers) for sub in run.graph.sublayers(layer)]
    carried = [
        sub.prefix + name for sub in subs if sub.name == "attention" for name in ("V", "heads", "concat", "output")
    ]
    return [*carried, *(key for sub in subs for key in (sub.sum, sub.norm) if key)]


# -- numbers ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbers:
    """What a picture draws: numbers of one run; of two, beside each other; or of one run less those of another.

    array: all that the function takes of its run. kinds: its axes, as the graph calls them: along those of tokens,
    another input's numbers are put in the places of their counterparts. part: what is drawn of them, on which axes;
    it is given the numbers as they are compared. token: the one that they are about, if one. axes: one for each side of
    `array`. upwards: drawn as heights and depths; else in two colours. end: the value of the strongest colour. which:
    where `part` chooses what is largest, the places that it chose. called: which of several they are, in a sentence.
    other: the same of the other run, where both are drawn. differs: `array` holds differences, which have a sign; NaN
    (nothing stands in a token's place) and infinite numbers are none. alone: nothing stands in the place of the token.
    code: what gives the array in a notebook, if it was recorded: `trace["layers.2.attention.weights"][3]`.
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
        """A recorded value; of one with heads that of a head, unless none is given."""
        value, kinds, code = run[key], run.axes(key), f'trace["{key}"]'
        if head is not None and kinds[0] == "head":
            value, kinds, code = value[head], kinds[1:], f"{code}[{head}]"
        return cls(value, kinds, code=code, **more)

    def __getitem__(self, part: Any) -> Self:
        """The same part of both."""
        return replace(self, array=self.array[part], other=None if self.other is None else self.other[part])

    def flat(self, sides: int) -> Self:
        """With so many of the first axes in one."""
        rest = self.array.shape[sides:]
        other = None if self.other is None else self.other.reshape(-1, *rest)
        return replace(self, array=self.array.reshape(-1, *rest), other=other)

    def on(self, *axes: Axis, upwards: bool = False) -> Self:
        """As they are drawn, on these axes."""
        return replace(self, axes=axes, upwards=upwards)

    def less(self, there: np.ndarray) -> Self:
        """By how much they differ from the numbers of another run."""
        with np.errstate(invalid="ignore"):  # hidden in both runs: −∞ less −∞
            return replace(self, array=self.array - there, differs=True)

    @property
    def drawn(self) -> "Numbers":
        """What is drawn of them."""
        return replace(self.part(self), part=None) if self.part else self

    def named(self, names: Sequence[str]) -> Self:
        """With other names of the tokens along their axes."""
        return replace(self, axes=[axis.named(names) for axis in self.axes])

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
        return replace(self, array=np.nan_to_num(self.array, nan=0.0, posinf=np.inf, neginf=-np.inf))

    @property
    def largest(self) -> float:
        """The largest size there is."""
        return float(np.max(np.abs(self.array), where=np.isfinite(self.array), initial=0))

    def in_words(self, shows: str) -> str:
        """Of a difference, which sign means what, and where the two runs differ most. shows: one of `choice.SHOWN`."""
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
        """Of the other input's numbers, which is the largest."""
        place, _ = _strongest(self.array)
        return t("compare.read_there", place=place_in_words(self.axes, place), value=furthest(self._known))

    @property
    def _known(self) -> np.ndarray:
        """The numbers, NaN where they are infinite."""
        return np.where(np.isfinite(self.array), self.array, np.nan)


def _strongest(array: np.ndarray) -> tuple[tuple[int, ...], float]:
    """Where the finite number of the largest size stands, and that size."""
    sizes = np.where(np.isfinite(array), np.abs(array), 0)
    place = np.unravel_index(sizes.argmax(), sizes.shape)
    return tuple(int(i) for i in place), float(sizes[place])


def place_in_words(axes: Sequence[Axis], place: Sequence[int]) -> str:
    """ "it → animal", "layer 6 → it": a place by its names along the axes; one without title and names is left out."""

    def name(axis: Axis, i: int) -> str:
        said = placed(axis.labels)[i] if axis.labels else str(i + 1)
        numbered = all(label.isdigit() for label in axis.labels or ())  # as layers are, which "6" alone would not say
        return f"{axis.title} {said}".strip() if numbered else said

    names = (name(axis, i) for axis, i in zip(axes, place, strict=True) if axis.title or axis.labels)
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


def sizes(shape: Sequence[int]) -> str:
    """(8, 12, 12) as people write it: 8 × 12 × 12."""
    return " × ".join(str(side) for side in shape)


# -- pictures --------------------------------------------------------------------------------------


class Open(NamedTuple):
    """What a click does that leads to another page: its name, and what is chosen there."""

    page: str
    values: Mapping[str, object]


Picks = Callable[..., "Mapping[str, object] | Open | None"]


def picks_from(which: Sequence[int], choose: Callable[[int], Mapping[str, object]]) -> Picks:
    """What a click on a bar chooses, where the bars are of these places. It keeps no run."""
    return lambda bar, _: choose(which[bar])


class Moves(NamedTuple):
    """The cell that Shift and an arrow move: (row, column), of how many, and what of Choice another cell is."""

    cell: tuple[int, int]
    sizes: tuple[int, ...]
    choose: Callable[[int, int], Mapping[str, object]]


@dataclass(frozen=True)
class Picture:
    """A figure with what it says, shows and leads to.

    figure: of the `numbers` as they are drawn, one after the other; where no run is compared, the figure itself.
    sentence: Markdown, what the picture says in words (it is also its text alternative), or what says it of the
    numbers. title: where the text
    "{page}.{name}" is not meant. quantity: what it shows, with its equation, unless that is the page's; equation: LaTeX
    in its place, or "". shape: of the numbers, to print. table: for the CSV, where the figure does not hold them; of
    the numbers as they are drawn, when it is asked for.
    two: how two runs are drawn: "less", by how much they differ; "beside", the same, or both in one figure where the
    reader wants them beside each other; "over", always both.
    reads: keys of quantities of whose equations the sentence speaks: where the reader changed one, it is left out.
    shares: keys, beside `quantity`, of which it takes no more than `touched` says. every_head: it speaks of all heads,
    whichever is chosen. fixed: no change of the run moves it, so that it needs not say which run it shows.
    picks(row, column): what of Choice is set when a cell or a bar is clicked; where marks are no cells but carry
    numbers (customdata lists), of those; picks_of: what makes it of the numbers as they are drawn. of_head: the layer
    and head shown, where those are not the chosen ones. at_once: how the browser draws one run for another place by
    itself. written: what stands below it in place of the sentence, which is then only read aloud; a comparison always
    stands there.
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
        """All its numbers, as they are compared."""
        return (self.numbers,) if isinstance(self.numbers, Numbers) else tuple(self.numbers)

    @property
    def code(self) -> str:
        """What gives the recorded numbers behind it in a notebook, a line for each quantity."""
        read = [*([self.quantity.key] if self.quantity and self.quantity.traced else []), *(self.shares or self.reads)]
        of_parts = [part.code for part in self.parts if part.code]
        return "\n".join(dict.fromkeys(of_parts or map(_code_of, read)))

    def drawn(self, *numbers: Numbers) -> Figure:
        """The figure of its own numbers, or of such as they are compared."""
        return self.figure if isinstance(self.figure, Figure) else self.figure(*self._or_own(numbers))

    def says(self, *numbers: Numbers) -> str:
        """The sentence, of the same."""
        return self.sentence if isinstance(self.sentence, str) else self.sentence(*self._or_own(numbers))

    def tabled(self, *numbers: Numbers) -> pd.DataFrame | None:
        """The numbers as a table; None where they are those of the figure."""
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
        """A copy of a map in which cells of a row say nothing: there stands a question mark, or another of the `signs`.

        Neither figure nor sentence, table or scale knows their numbers. options: of each column what a click there
        picks, −1 where it picks nothing.
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
        """A copy of whose figure something more is drawn."""

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
    """What gives a quantity in a notebook, or a row of the graph, which stands for all layers."""
    return f'[trace[f"{key}"] for l in range(trace.config.layers)]' if "{l}" in key else f'trace["{key}"]'


#: What makes a picture.
Make = Callable[[Trace, Place], Picture]
