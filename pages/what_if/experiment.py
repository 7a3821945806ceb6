"""An experiment: what each of many changes does to the answer, or to one number of it, and whether that is much."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from model import Edit, EditError, Pipeline, Trace
from model.edits import head_off
from model.measures import alike, judged
from model.measures.alike import vector_of
from model.measures.sweep import effects
from model.variants.pooled import Pooled
from pages.drawing.cache import kept, missing
from pages.drawing.figures import GREY, INK, Axis, heatmap, on_screen, theme
from pages.drawing.figures.base import Figure
from pages.drawing.figures.theme import scaled
from pages.drawing.masks import guesses_words
from pages.drawing.picture import Picture, says_words
from pages.drawing.pictures.answers import probabilities
from pages.drawing.screen import Screen
from pages.drawing.text import plain, t, texts_of
from pages.drawing.text.numbers import decimal, furthest, signed, two
from pages.screen.frame.changes_bar import toggled
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import pick
from pages.screen.sections.patience import patience, takes_long, waits
from pages.screen.sections.sentence_vector import ways_of

#: What a row of changes is about, in the words of the page: (row, column) -> "layer 4, head 3".
Where = Callable[[int, int], str]
#: A figure, and which cell a click on it means.
Over = tuple[Figure, Callable[[int, int], tuple[int, int]]]
#: One output, another that it leads, and the place at which the answer is read.
Number = tuple[int, int, int]
#: The least that has the strongest colour, so that what does next to nothing is never bright: a tenth of the
#: probability, and the change of a lead that, of two answers, moves as much (at most a quarter of it).
LEAST = {"moved": 0.1, "lead": 0.4, "judged": 0.1, "cosine": 0.1, "turned": 0.1}
WITHOUT_SIGN = ("moved", "turned")
ROUNDING = 1e-6  # of float32, for numbers of 1: what is below moved nothing
SURE = 0.95  # probability of an answer from which hardly any goes elsewhere
NOBODY = -1  # leads or is led: the number is of one output by itself
ROW = 44  # pixels, of a map of changes
LOWEST = 224  # pixels of it in a presentation, where it leaves room for what a click does
text, word = texts_of("what_if")


@dataclass(frozen=True)
class Vector:
    """The cosine of the one vector of an input with that of another; or how far it turns.

    way: how it is made. other: the other vector, float32, as bytes, so that a measured effect can be kept for it.
    """

    way: Pooled | None
    other: bytes | None = None


@dataclass(frozen=True)
class Experiment:
    """What changes do to the answer at one place: how much of the probability they move, or, if the reader wants to see
    that, how far the logit of `of` leads that of `against`.
    """

    screen: Screen
    pen: Pen
    place: int  # the token at which the answer is read; 0 for a classifier
    of: int
    against: int
    vector: Vector | None = None

    @classmethod
    def on(cls, screen: Screen, pen: Pen, place: int) -> "Experiment":
        """On the two outputs that the reader chose; else the two that are likeliest in the unchanged run."""
        return cls(screen, pen, place, *_asked(screen, place))

    @classmethod
    def on_judged(cls, screen: Screen, pen: Pen, cell: tuple[int, ...]) -> "Experiment":
        """On one number of an answer that is no word and no one class."""
        head = screen.run.config.head
        place = cell[0] if head == "tags" else cell[1] if head == "span" else 0
        return cls(screen, pen, place, cell[1] if head == "tags" else cell[0], NOBODY)

    @classmethod
    def on_vector(cls, screen: Screen, pen: Pen) -> "Experiment":
        """On the one vector of a network without a head, and its cosine with that of the other input, if any."""
        way = next(iter(ways_of(screen).values()))
        there = next((run for run in screen.pair or () if run is not screen.run), None)
        other = None if there is None else vector_of(there, way).astype(np.float32).tobytes()
        return cls(screen, pen, screen.at.token, NOBODY, NOBODY, Vector(way, other))

    @property
    def names(self) -> tuple[str, str]:
        names = self.screen.outputs
        return names[self.of], names[self.against]

    @property
    def logit(self) -> float:
        """The size of the largest logit: a lead is rounded as that is."""
        return float(np.abs(self.screen.original["logits"]).max())

    @property
    def measure(self) -> str:
        """One of `choice.MEASURES`: the lead if the reader chose that, or whose it is, or if the answer is so sure that
        its probability hardly moves. "judged" of what is no word and no one class; of a vector "cosine" or "turned".
        """
        choice = self.screen.choice
        if self.vector:
            return "turned" if self.vector.other is None else "cosine"
        if self.against == NOBODY:
            return "judged"
        sure = probabilities(self.screen.original, self.place).max() > SURE
        return choice.measure or ("lead" if sure or choice.against is not None else "moved")

    @property
    def measured(self) -> str:
        """What is measured, in words."""
        pair = dict(zip(("of", "against"), self.names, strict=True)) if self.measure == "lead" else {}
        return word(f"number_{self.measure}", **pair)

    def told(self, value: float) -> str:
        """A measured effect in words: "0.44", or, of the lead, "+2.75"."""
        return decimal(value) if self.measure in WITHOUT_SIGN else signed(value)

    @property
    def number(self) -> Number | Vector:
        return self.vector or (self.of, self.against, self.place)

    def lead(self, trace: Trace) -> float:
        logits = np.atleast_2d(trace["logits"])[self.place]
        return float(logits[self.of] - logits[self.against])

    def waits(self, edits: Sequence[Edit]) -> bool:
        """Whether these changes take long and are not worked out yet; draws the button that does."""
        wanted = missing(_changes, self.screen.pipeline, self.screen.subject, tuple(edits), self.number, None)
        return bool(wanted) and waits(self.screen.run.config, len(self.screen.run.tokens), len(edits), wanted)

    def changes(self, edits: Sequence[Edit]) -> np.ndarray:
        """What is measured of each edit alone; NaN where it cannot be made there."""
        with patience(self.screen.run.config, len(self.screen.run.tokens), len(edits)) as progress:
            lead, moved = _changes(self.screen.pipeline, self.screen.subject, tuple(edits), self.number, progress)
        return moved if self.measure == "moved" else lead


def _asked(screen: Screen, place: int) -> tuple[int, int]:
    """An output, and the one that it leads."""
    first, second = (int(i) for i in np.argsort(-probabilities(screen.original, place))[:2])
    of, against = first if screen.choice.output is None else screen.choice.output, screen.choice.against
    if against is None or against == of:
        against = second if of == first else first
    return of, against


def moved_by_heads(screen: Screen, place: int) -> np.ndarray | None:
    """(layer, head): how much of the probability at a place each head moves, switched off alone, as the map has it.

    NaN where it cannot be. None where it would take long and nobody has asked for the map yet.
    """
    of, against = _asked(screen, place)
    config = screen.run.config
    edits = tuple(head_off(layer, head) for layer in range(config.layers) for head in range(config.heads))
    asked = screen.pipeline, screen.subject, edits, (of, against, place), lambda share: None
    if takes_long(config, len(screen.run.tokens), len(edits)) and missing(_changes, *asked):
        return None
    return _changes(*asked)[1].reshape(config.layers, config.heads)


def cell_of(head: str, number: Number) -> tuple[int, ...]:
    """The cell of an answer that is no word and no one class: a label; token and class; bound and token."""
    of, _, place = number
    return {"tags": (place, of), "span": (of, place)}.get(head, (of,))


@kept(256, lambda *arguments: arguments[:-1])
def _changes(
    pipeline: Pipeline,
    subject: Hashable,
    edits: tuple[Edit, ...],
    number: Number | Vector,
    progress: Callable[[float], None],
) -> np.ndarray:
    """(2, edit): the change of the lead, and the probability moved."""
    rows = [(edit,) for edit in edits]
    try:
        return _measured(pipeline, subject, rows, number, progress)
    except EditError:  # one of them; which, the others do not tell
        return np.concatenate([_of_one(pipeline, subject, row, number) for row in rows], axis=1)


def _of_one(pipeline: Pipeline, subject: Hashable, row: tuple[Edit, ...], number: Number | Vector) -> np.ndarray:
    try:
        return _measured(pipeline, subject, [row], number)
    except EditError:
        return np.full((2, 1), np.nan, np.float32)


def _measured(
    pipeline: Pipeline,
    subject: Hashable,
    rows: Sequence[tuple[Edit, ...]],
    number: Number | Vector,
    progress: Callable[[float], None] | None = None,
) -> np.ndarray:
    if isinstance(number, Vector):
        other = None if number.other is None else np.frombuffer(number.other, np.float32)
        found = alike.moved(pipeline, subject, rows, number.way, other, progress)
        return np.stack([found, np.abs(found)])
    if number[1] == NOBODY:
        before, after = judged.effects(pipeline, subject, rows, cell_of(pipeline.config.head, number), progress)
        return np.stack([after - before, np.abs(after - before)]).astype(np.float32)
    answers = effects(pipeline, subject, rows, *number, progress=progress)
    return np.stack([answers.change, answers.moved]).astype(np.float32)


def effect_map(
    lab: Experiment,
    name: str,
    rows: Axis,
    columns: Axis,
    edits: Sequence[Sequence[Edit | None]],
    where: Where,
    places: Callable[[int, int], dict[str, object]] = lambda row, column: {},
    over: Callable[[np.ndarray, Sequence[tuple[int, int]]], Over] | None = None,
) -> None:
    """A cell for each change: what is measured of it alone. A click makes it (×), another takes it back.

    edits: (row, column), None where there is none. where: the name of a cell.
    places: what else of the choice a click sets. over: draws the effects, with the cells of the changes made, in
    another way than as a map.
    """
    cells = {edit: (row, column) for row, line in enumerate(edits) for column, edit in enumerate(line) if edit}
    values = np.full((len(edits), len(edits[0])), np.nan, np.float32)
    waiting = lab.waits(list(cells))
    if not waiting:
        for cell, effect in zip(cells.values(), lab.changes(list(cells)), strict=True):
            values[cell] = effect
    if not waiting and not np.isfinite(values).any():
        st.info(text("nothing_fits"), icon=":material/block:")
        return
    on = [cells[edit] for edit in lab.screen.choice.edits if edit in cells]
    size = np.where(np.isfinite(values), np.abs(values), -1)
    strongest = tuple(int(i) for i in np.unravel_index(size.argmax(), values.shape))
    lit = on[-1] if on else None if waiting else strongest
    figure, cell_at = (
        over(values, on) if over else (as_map(lab, values, rows, columns, lit, on), lambda row, column: (row, column))
    )

    def change(*clicked: int) -> dict[str, object]:
        row, column = cell_at(*clicked)
        edit = edits[row][column]
        return {} if edit is None else {"edits": toggled(edit), **places(row, column)}

    if waiting:
        said = text("read_not_yet")
        grey = {"z": np.zeros_like(values), "colorscale": [[0, GREY], [1, GREY]], "opacity": 0.3, "showscale": False}
        if not over:  # cells to click, that say nothing yet
            figure.data[0] |= grey
    elif np.abs(np.nan_to_num(values)).max() < ROUNDING * (lab.logit if lab.measure == "lead" else 1):
        said = text("read_no_effect", number=lab.measured)
    else:
        what = word(f"effect_{lab.measure}")
        said = text("read_map", effect=what, where=where(*strongest), value=furthest(values, lab.told))
        said += hardly(lab, values)
        if lab.measure not in WITHOUT_SIGN and not over:
            said += " " + t("change.sign_colour")
    off = name == "heads" and all(edit.operation == "zero" for edit in cells)
    said += " " + text("click_heads" if off else "click")
    said += f" {text('direct')}" if off and lab.measure == "lead" else ""
    if theme.big():
        figure.layout["height"] = LOWEST
        figure.tell(ends=True, first=True)  # however much stands above it
    title, shape = word(name, number=lab.measured), () if over else values.shape
    lab.pen.show(name, Picture(figure, said, title=title, picks=change, fixed=True, shape=shape))


def as_map(
    lab: Experiment,
    values: np.ndarray,
    rows: Axis,
    columns: Axis,
    lit: tuple[int, int] | None,
    on: Sequence[tuple[int, int]],
) -> Figure:
    """The effects as a heatmap with numbers in its cells, and a cross on each change that is made."""
    scale = "positive" if lab.measure in WITHOUT_SIGN else "signed"
    most, high = limit(lab, values), on_screen(max(230, 90 + scaled(ROW * len(values))))
    figure = heatmap(
        values, rows, columns, scale=scale, limit=most, cell=lit, clickable=True, square=False, height=high
    )
    # On a light ground, so that it is seen on every colour; in a corner, beside the number.
    cross = {"text": "×", "font": {"size": scaled(18), "color": INK["light"]}, "showarrow": False, "borderpad": 0}
    cross |= {"bgcolor": "#ffffffcc", "height": scaled(13), "xanchor": "right", "yanchor": "top"}
    figure.layout["annotations"] = [cross | {"x": column + 0.5, "y": row - 0.5} for row, column in on]
    if most == LEAST[lab.measure]:
        figure.data[0]["colorbar"]["ticktext"][-1] += word("legend")
    return figure.tell(numbers=True, desk=round(1.4 * high))


def limit(lab: Experiment, values: np.ndarray) -> float:
    """The effect with the strongest colour: the largest, but at least one of `LEAST`."""
    return max(LEAST[lab.measure], float(np.nan_to_num(np.abs(values)).max()))


def hardly(lab: Experiment, values: np.ndarray) -> str:
    """A sentence more where no change alone moves anything worth speaking of; else none."""
    most = float(np.nanmax(values)) if lab.measure == "moved" else np.inf
    if most < LEAST["moved"] and guesses_words(lab.screen.pipeline) and not at_hidden_word(lab.screen):
        return " " + text("read_hardly_seen")
    return " " + text("read_hardly") if two(most) == two(0) else ""  # as in the cells


def at_hidden_word(screen: Screen) -> bool:
    """Whether the answer is read at a hidden word, whatever token is selected."""
    return says_words(screen.run) and "[MASK]" in screen.run.tokens


def which_token(screen: Screen) -> None:
    """A box for the selected token, where the page has none."""
    if at_hidden_word(screen) or screen.run.picture is not None:
        with st.container(width=280):
            pick("token", plain("common.selected_token"), screen.run.tokens, screen.at.token)
