"""What is drawn beside a question: a page's own picture of this very run, covered as far as it would answer.

Before the answer is shown, what is covered is not in the figure at all, neither as a number nor in a hover. No
Streamlit here.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model import Edit
from model.analysis import cosine_similarity, placed
from model.measures.order import without_positions
from model.measures.sweep import sweep
from model.translator import TranslationTrace
from pages.drawing.figures import (
    ACCENT,
    AFTER,
    BEFORE,
    Axis,
    Figure,
    bars_with_numbers,
    drawing,
    figure_of,
    frame,
    grouped_bars,
    guessed,
    over_drawing,
    tiles,
)
from pages.drawing.figures.base import TO_THE_NEAREST, grid, label, outline, unseen, words_at
from pages.drawing.figures.matrices import heatmap_parts
from pages.drawing.figures.theme import SMALL, font_size, scaled
from pages.drawing.text import catalogue, language, plain
from pages.drawing.text.numbers import percent, written
from pages.school.questions.case import OWN, Case, Guess, Truth, short, unscaled

ROOM = 540  # pixels for all pictures of a question, so that they end on the first screen
A_BAR = 30  # pixels of a bar
A_TITLE = 56  # of a title above a second picture, with the gap before it
A_ROW = 34  # of a map, at most
MOST_NUMBERED = 22  # rows and columns of a map whose cells have numbers
WIDE = 204  # columns times the size of their letters, beyond which a score has no decimals
LEAST_NUMBER = 0.1  # that a cell of weights says
MOST_WORDS = 8  # that the network may answer
COMPONENTS = 8  # of vectors, whose numbers are shown
GUESSES = 5  # of the network, after each layer
CHIPS = 3
STRONGEST = 99  # per cent of activations that are weaker than the strongest colour
PLAIN = 0.2  # mean weight of all heads from which on they agree on a word
COVERED = "?"
PLACE = re.compile("\\d+|head|layer|头|层")  # in a teacher's words
#: From which on no token may look at those behind it, in all layers.
CAUSAL = Edit("layers.{l}.attention.masked", "causal")


@dataclass(frozen=True)
class Look:
    """A question as it stands now. row: by which texts call it. guess: of the reader, or the chips that he has given so
    far. shown: whether the answer is.
    """

    row: str
    gesture: str
    case: Case
    truth: Truth
    guess: Guess | None = None
    shown: bool = False

    @property
    def layer(self) -> int:
        """The layer that it is about; where it names none, that of the case, or of its pair."""
        return self._of("layer")

    def _of(self, name: str) -> int:
        for value in (self.truth.place.get(name), getattr(self.case, name), getattr(self.case.pair, name, 0)):
            if value is not None:
                return value
        return 0

    @property
    def asks_which_head(self) -> bool:
        """Whether the answer to a teacher's own question names a layer or a head, or has the number of its place."""
        named = PLACE.findall(f"{self.truth.answer}".lower())
        return self.row == OWN and any(not one.isdecimal() or int(one) - 1 in self.where for one in named)

    @property
    def token(self) -> int:
        return self.truth.place.get("token", self.case.token)

    @property
    def where(self) -> tuple[int, int]:
        return self.layer, self._of("head")

    def of_head(self, name: str, *edits: Edit) -> np.ndarray:
        """A quantity of attention in this layer and head, in a run with these changes, if there are."""
        key, trace = f"layers.{self.layer}.attention.{name}", self.case.trace
        values = sweep(self.case.pipeline, trace, [[*edits]], [key])[key][0] if edits else trace[key]
        return np.broadcast_to(values, (self.case.trace.config.heads, *values.shape[-2:]))[self.where[1]]


@dataclass(frozen=True)
class Drawn:
    """A picture. title: what it shows. of: its layer and head, from 0, −1 where it is of none. taps: whether its marks
    carry the place of an option, so that a click on one is a guess.
    """

    title: str
    figure: Figure
    of: tuple[int, int] = (-1, -1)
    taps: bool = False


#: A page's picture: of a question as it stands, so many pixels high.
Picture = Callable[[Look, int], Drawn]


def pictures(picture: Picture | None, bars: bool, look: Look) -> list[Drawn]:
    """The page's picture; below it, once the answer is shown, the figures of the truth as bars, if there are. The
    picture has the same height before and after.
    """
    below = answer_bars(look) if bars else None
    room = ROOM if font_size() <= SMALL else scaled(ROOM / 2)
    height = room - (below.figure.layout["height"] + A_TITLE if below else 0)
    above = [] if picture is None else [picture(look, height)]
    return [*above, *([below] if below and look.shown else [])]


def title_of(name: str, **values: object) -> str:
    return plain(f"tour.{name}", **values)


# -- bars ----------------------------------------------------------------------------------------------------------


def answer_bars(look: Look) -> Drawn:
    """The figures of the truth as bars, the reader's guess dashed."""
    truth = look.truth
    keys, values = [name for name, _ in truth.bars], np.array([value for _, value in truth.bars], np.float64)
    ours, known = [f"lesson.{look.row}.bar_{name}" for name in keys], catalogue(language())
    names = [plain(one, **truth.in_words) if one in known else key for one, key in zip(ours, keys, strict=True)]
    guesses: list[tuple[int, float]] = []
    if look.guess is not None:
        if look.gesture in ("slide", "number") and truth.answer in values:
            guesses = [([*values].index(truth.answer), float(look.guess))]  # type: ignore[arg-type]
        elif look.gesture == "tap" and look.guess in keys and (names == keys or not truth.literal):
            place = keys.index(str(look.guess))
            names[place] = f"{names[place]} ({plain('lesson.yours')})"
    most = 1.0 if values.min() >= 0 and values.max() <= 1 else 0.0
    chips = look.gesture == "chips"
    numbers = [percent(value / 100) if chips else written(short(value)) for _, value in truth.bars]
    figure = bars_with_numbers(
        values, names, numbers, guesses=guesses, most=most, height=scaled(A_BAR * len(names)) + 16
    )
    named = f"lesson.{look.row}.axis"
    title = plain(named if named in known else f"lesson.{look.row}.short", **truth.in_words)
    return Drawn(title[:1].upper() + title[1:], figure)


def answer_words(look: Look, height: int) -> Drawn:
    """The likeliest answers; before the answer is shown, without the name of the first, or, of few, of any."""
    case = look.case
    shares = case.shares(case.trace["logits"])
    order = [int(i) for i in np.argsort(-shares)[:MOST_WORDS]]
    if look.shown and look.guess is not None and look.guess in case.names:
        order += [i for i in [list(case.names).index(str(look.guess))] if i not in order]
    names = [case.names[i] for i in order]
    if not look.shown:
        names = [COVERED] * len(names) if look.truth.options else [COVERED, *names[1:]]
    elif look.guess in names:
        names[names.index(str(look.guess))] += f" ({plain('lesson.yours')})"
    values = shares[order]
    numbers = [written(short(float(value))) for value in values]
    figure = bars_with_numbers(values, names, numbers, most=1.0, height=min(height, scaled(46 * len(names))))
    return Drawn(title_of("answer"), figure)


def weights_undivided(look: Look, height: int) -> Drawn:
    """The row of weights with the division by √d_k, and, once it is shown, without, and divided by d_k itself."""
    row = look.of_head("weights")[look.token].astype(np.float64)
    others = [unscaled(look.case.trace, *look.where, look.token, by) for by in (1.0, look.case.trace.config.d_k)]
    bare, flat = others if look.shown else np.full((2, len(row)), np.nan)
    titles = [plain(f"lesson.root.bar_{name}") for name, _ in look.truth.bars]
    series = dict(zip(titles, (row, bare, flat), strict=True))
    key = look.truth.place["key"]
    guess = (1, key, float(look.guess)) if look.shown and look.guess is not None else None  # type: ignore[arg-type]
    names, colours = Axis("", look.case.tokens), (AFTER, ACCENT, BEFORE)
    figure = _bars_with_marks(look, series, names, colours, height, [(key, 0.05)], guess=guess)
    figure.layout["yaxis"]["range"] = [0, 1.08]
    return Drawn(title_of("row", token=placed(look.case.tokens)[look.token]), figure, look.where)


def _bars_with_marks(
    look: Look, series: dict, names: Axis, colours: Sequence[str], height: int, covered: list, **more: Any
) -> Figure:
    """Bars side by side; where the answer is not shown, question marks at the places that are covered."""
    figure = grouped_bars(series, names, "", colours, **more)
    figure.layout["height"] = height
    if not look.shown:
        figure.data.append(_marks(covered))
    return figure


def deviations(look: Look, height: int) -> Drawn:
    """How far the token's numbers lie apart after each layer, in powers of ten; once it is shown, without LayerNorm."""
    spread = look.case.without("norm")[:, :, look.token].std(axis=-1)
    now, bare = spread if look.shown else (spread[0], np.full_like(spread[0], np.nan))
    series = {plain("lesson.norm.bar_with"): now, plain("lesson.norm.bar_without"): bare}
    layers = Axis(title_of("after_layer"), [str(layer + 1) for layer in range(len(now))])
    least, most = 10 ** np.floor(np.log10(np.nanmin([now, bare]) / 2)), 2 * np.nanmax([now, bare])
    covered = [(layer + 0.19, 1.3 * least) for layer in range(len(now))]
    figure = _bars_with_marks(look, series, layers, (AFTER, ACCENT), height, covered)
    figure.layout["yaxis"] |= {"type": "log", "range": [*np.log10([least, most])], "dtick": 1, "tickformat": ",~g"}
    return Drawn(title_of("deviations", token=placed(look.case.tokens)[look.token]), figure)


# -- maps ----------------------------------------------------------------------------------------------------------


def _map(
    values: np.ndarray,
    rows: Axis,
    columns: Axis,
    height: int,
    *,
    scale: str = "share",
    hidden: np.ndarray | None = None,
    options: np.ndarray | None = None,
    frames: Sequence[dict] = (),
    counts: np.ndarray | None = None,
    limit: float | None = None,
    numbered: bool = True,
) -> Figure:
    """A heatmap with its larger numbers in its cells. hidden: cells that say nothing, (row, column). options: of each
    cell the place of the option that a click on it means, −1 where it means none. counts: chips on covered cells.
    """
    values = np.array(values, np.float32)
    hidden = np.zeros(values.shape, bool) if hidden is None else hidden
    values[hidden] = np.nan
    row_height = min(scaled(A_ROW), height // (len(values) + 3))
    height = min(height, scaled(70) + row_height * len(values) + 60)
    traces, layout = heatmap_parts(
        values,
        rows,
        columns,
        scale=scale,
        square=False,
        height=height,
        limit=limit,
        gaps=values.shape[1] <= 64,
        corner=(plain("axis.corner") if rows.title else "") if columns.labels else None,
    )
    if numbered and max(values.shape) <= MOST_NUMBERED:
        digits = 2 if scale == "share" else int(values.shape[1] * font_size() <= WIDE)
        least = LEAST_NUMBER if scale == "share" else 0.0
        texts = [[_in_a_cell(v, digits) if np.isfinite(v) and abs(v) >= least else "" for v in row] for row in values]
        traces[0] |= {"text": texts, "texttemplate": "%{text}", "textfont": {"size": font_size()}}
    if hidden.any():
        cells = np.argwhere(hidden)
        if values.shape[1] <= 64:
            signs = [COVERED if counts is None or not counts[j] else "●" * int(counts[j]) for _, j in cells]
            traces.append(_marks(cells[:, ::-1], signs))
        layout["shapes"] = [_row(*cells.min(0), *cells.max(0)), *layout.get("shapes", ())]
    if options is not None and (options >= 0).any():
        cells = np.argwhere(options >= 0)
        names = [label(columns.labels[j]) if columns.labels else "" for _, j in cells]
        numbers = [[int(options[i, j])] for i, j in cells]
        traces.append(unseen(cells[:, ::-1], customdata=numbers, text=names))
        layout |= TO_THE_NEAREST
    layout["shapes"] = [*layout.get("shapes", ()), *frames]
    return figure_of(traces, layout)


def _row(*corners: int, width: float = 3) -> dict:
    """A frame round cells of a row. Its middle is on no column, whose name would else be marked as the chosen one."""
    top, left, bottom, right = map(float, corners)
    return frame(top, left, bottom, right + 0.01, width=width)


def _in_a_cell(value: float, digits: int) -> str:
    """A number; a share without a zero in front, since cells are narrow on a phone."""
    rounded = f"{round(float(value), digits) + 0.0:.{digits}f}"
    return written(rounded.removeprefix("0") if digits == 2 else rounded)


def _marks(points: np.ndarray | Sequence[tuple[float, float]], signs: Sequence[str] | None = None) -> dict:
    """Question marks where something is covered."""
    texts = [f"<b>{sign}</b>" for sign in signs or [COVERED] * len(points)]
    return words_at(points, texts, textfont={"color": ACCENT, "size": font_size() + 3}, showlegend=False)


def row_of(name: str, *, covers: str = "row") -> Picture:
    """A map of the head that the question is about, "weights" or "scores", in which a row is covered: that of
    the token, or of the "key"; or nothing, where `covers` is "". Cells of the row can be clicked where the question is
    answered by a token.
    """

    def draw(look: Look, height: int) -> Drawn:
        values, tokens = look.of_head(name), look.case.tokens
        n, asks = len(tokens), look.gesture in ("tap", "chips")
        row = look.truth.place.get("key", 0) if covers == "key" else look.token
        hidden = np.zeros((n, n), bool)
        hidden[row] = bool(covers) and not look.shown
        options = None
        if hidden.any() and asks:
            options = np.full((n, n), -1)
            places = {name: place for place, name in enumerate(look.truth.options)}
            options[row] = [places.get(name, -1) for name in placed(tokens)]
        frames = [] if hidden.any() else _answer_frames(look, row)
        chips = look.guess if look.gesture == "chips" and isinstance(look.guess, list) and not look.shown else None
        figure = _map(
            values, Axis(plain("axis.query"), tokens), Axis(plain("axis.key"), tokens), height,
            scale="share" if name == "weights" else "signed",
            hidden=hidden, options=options, frames=frames, counts=None if chips is None else np.array(chips),
        )  # fmt: skip
        return Drawn(title_of(name), figure, look.where, taps=options is not None and bool((options >= 0).any()))

    return draw


def _answer_frames(look: Look, row: int) -> list[dict]:
    """A frame round the row, and round the cells of the answer and of the guess; in a teacher's own question, round the
    row alone.
    """
    n, truth = len(look.case.tokens), look.truth
    frames = [_row(row, 0, row, n - 1, width=1.5)]
    if truth.place and len(truth.options) == n and look.gesture == "tap":
        return frames + _answered(look, row, truth.options)
    column = truth.place.get("token" if row == truth.place.get("key") else "key")
    given = look.guess if look.shown and isinstance(look.guess, list) else []
    frames += [guessed(row, place, row, place) for place, chips in enumerate(given) if chips and place != column]
    return frames if column is None else [*frames, outline(row, column)]


def _answered(look: Look, row: int, names: Sequence[str]) -> list[dict]:
    """A frame round the cell of the answer and, dashed, round that of another guess. names: of the cells of the row."""
    places = [names.index(one) for one in (look.truth.answer, look.guess) if one in names]
    return [*(guessed(row, place, row, place) for place in places[1:] if place != places[0]), outline(row, places[0])]


def row_behind(look: Look, height: int) -> Drawn:
    """The weights of the head, with a frame round what stands behind the token; once it is shown, those that the mask
    leaves.
    """
    i, n = look.token, len(look.case.tokens)
    weights, tokens = look.of_head("weights", *[CAUSAL] * look.shown), look.case.tokens
    if look.shown:
        weights = np.where(np.tri(n), weights, np.nan)
    rows, columns = (Axis(plain(f"axis.{name}"), tokens) for name in ("query", "key"))
    figure = _map(weights, rows, columns, height, frames=[_row(i, i + 1, i, n - 1)])
    return Drawn(title_of("masked" if look.shown else "weights"), figure, look.where)


def heads_and_mean(look: Look, height: int) -> Drawn:
    """The row of the token in each head of the layer; once it is shown, the mean of them."""
    weights = look.case.trace[f"layers.{look.layer}.attention.weights"][:, look.token].astype(np.float64)
    names = [plain("change.head", number=head + 1) for head in range(len(weights))]
    values = np.vstack([weights, weights.mean(axis=0)])
    hidden = np.zeros(values.shape, bool)
    hidden[-1] = not look.shown
    frames = [outline(len(weights), int(values[-1].argmax()))] if look.shown else []
    rows, columns = Axis("", [*names, title_of("mean")]), Axis("", look.case.tokens)
    figure = _map(values, rows, columns, height, hidden=hidden, frames=frames)
    title = title_of("row", token=placed(look.case.tokens)[look.token])
    return Drawn(title, figure, (look.layer, -1))


def values_mixed(look: Look, height: int) -> Drawn:
    """Some components of the values, each row with the weight that the token gives it, and their weighted sum; the one
    that is asked about is framed, in the sum covered.
    """
    weights, values, mixed = look.of_head("weights")[look.token], look.of_head("V"), look.of_head("heads")[look.token]
    column = int(look.truth.said["column"]) - 1  # type: ignore[call-overload]
    first = min(max(0, column - COMPONENTS // 2), max(0, len(mixed) - COMPONENTS))
    shown = np.vstack([values, mixed])[:, first : first + COMPONENTS]
    hidden = np.zeros(shown.shape, bool)
    hidden[-1, column - first] = not look.shown
    frames = [frame(0, column - first, len(values), column - first, width=2)]
    names = [f"{_in_a_cell(weight, 2)} · {name}" for weight, name in zip(weights, look.case.tokens, strict=True)]
    columns = Axis(plain("axis.d_k"), [str(first + place + 1) for place in range(shown.shape[1])])
    rows = Axis("", [*names, title_of("mixed")])
    figure = _map(shown, rows, columns, height, scale="signed", hidden=hidden, frames=frames)
    return Drawn(title_of("values", token=placed(look.case.tokens)[look.token]), figure, look.where)


def looked_at(look: Look, height: int) -> Drawn:
    """The drawing, cut into patches; once it is shown, below what [CLS] gives each, on average over the heads."""
    trace, tokens = look.case.trace, look.case.tokens
    if not look.shown or trace.picture is None:
        return drawn_digit(look, height)
    weights = trace.over_layers("attention.weights")[:, :, 0].mean(axis=(0, 1))
    title = title_of("row", token=tokens[0])
    return Drawn(title, over_drawing(trace.picture, weights, tokens, 0, title, height=height))


def every_head(look: Look, height: int) -> Drawn:
    """All heads of all layers as tiles, that of a teacher's own question outlined unless that is the answer; once it is
    shown how many matter, what is left of the answer without each.
    """
    case = look.case
    layers, heads = case.trace.graph.layers(), case.trace.config.heads
    rows = Axis("", [plain("change.layer", number=layer + 1) for layer in range(layers)])
    columns = Axis("", [plain("change.head", number=head + 1) for head in range(heads)])
    if not look.shown or look.row != "heads":
        weights, own = case.trace.over_layers("attention.weights"), look.row == OWN
        framed = own and (look.shown or not look.asks_which_head)
        figure = tiles(weights, rows, columns, chosen=look.where if framed else None, height=height)
        layer, head = look.where
        title = title_of("framed", layer=layer + 1, head=head + 1) if framed else title_of("every_head")
        return Drawn(title, figure)
    best = int(case.without_each[0].argmax())
    left = case.without_each[1:, best].reshape(layers, heads)
    first = case.without_each[1:].argmax(axis=1).reshape(layers, heads)
    frames = [outline(int(i), int(j)) for i, j in np.argwhere(first != best)]
    return Drawn(title_of("left"), _map(left, rows, columns, height, frames=frames))


def concatenated(look: Look, height: int) -> Drawn:
    """What the heads of the pair's layer found, side by side, each in its own places; then as W_O makes it."""
    trace, config, token = look.case.trace, look.case.trace.config, look.token
    prefix = f"layers.{look.layer}.attention."
    names = [plain("change.head", number=head + 1) for head in range(config.heads)]
    if look.shown:
        parts, total, last = trace[prefix + "contributions"][:, token], trace[prefix + "output"][token], "with_W_O"
    else:
        total, last = trace[prefix + "concat"][token], "side_by_side"
        own = np.arange(len(total)) // config.d_k == np.arange(config.heads)[:, None]
        parts = np.where(own, total, 0.0)
    rows, columns = Axis("", [*names, title_of("sum")]), Axis(plain("axis.d_model"))
    figure = _map(np.vstack([parts, total]), rows, columns, height, scale="signed", numbered=False)
    return Drawn(title_of(last), figure, (look.layer, -1))


def embedded(look: Look, height: int) -> Drawn:
    """X⁰, with a frame round the rows that the question names; where it is about positions, X⁰ without them, and once
    it is shown, the positions themselves.
    """
    trace, name = look.case.trace, "embedded"
    key = trace.graph.embedded
    if look.row in ("places", "bare") and trace.config.places_added:
        name = "waves" if look.shown else "bare"
        bare = sweep(look.case.pipeline, trace, [[*without_positions(trace.graph)]], [key])[key][0]
        values = trace["embedding.positions"] if look.shown else bare
    else:
        values = trace[key]
    named = {look.token, look.truth.place.get("key", look.token)}
    frames = [frame(i, 0.5, i, values.shape[1] + 0.5, width=2) for i in sorted(named)]
    rows, columns = Axis("", look.case.tokens), Axis(plain("axis.d_model"))
    figure = _map(values, rows, columns, height, scale="signed", frames=frames, numbered=False)
    return Drawn(title_of(name), figure)


def activations(look: Look, height: int) -> Drawn:
    """What the neurons of the feed-forward network answer to each token."""
    layer = look.truth.place.get("layer", look.case.layers[len(look.case.layers) // 2])
    values = look.case.trace[f"layers.{layer}.ffn.activation"]
    rows, columns = Axis("", look.case.tokens), Axis(plain("axis.d_ff"))
    limit = float(np.percentile(np.abs(values), STRONGEST)) or 1.0  # few neurons are far beyond all others
    figure = _map(values, rows, columns, height, scale="signed", numbered=False, limit=limit)
    return Drawn(title_of("activations"), figure, (layer, -1))


def cosines(look: Look, height: int) -> Drawn:
    """How alike each two tokens are after the last layer: with the residual connections, and without."""
    alike = np.stack([cosine_similarity(states) for states in look.case.without("residual")[:, -1]])
    if not look.shown:
        alike[1] = np.nan
    names = [plain(f"lesson.residual.bar_{name}") for name in ("with", "without")]
    figure = tiles(alike[None], Axis("", [""]), Axis("", names), scale="signed", limit=1.0, height=height, square=True)
    if not look.shown:
        figure.data.append(_marks([(1, 0)]))
        figure.layout["shapes"] = [outline(0, 1)]
    return Drawn(title_of("cosines"), figure)


def lens(look: Look, height: int) -> Drawn:
    """The network's first guesses after each layer; which word is the first is covered, where that is asked,
    in a teacher's own question all are."""
    case = look.case
    shares = case.pipeline.read_layers(case.trace, case.token).astype(np.float64)
    best = np.argsort(-shares, axis=1)[:, : min(GUESSES, shares.shape[1])]
    values = np.take_along_axis(shares, best, axis=1)
    covers = not look.shown and look.row in ("layer", OWN)
    taps = covers and look.row == "layer"
    hidden = 0 if not covers else 1 if taps else values.shape[1]
    names = [[COVERED] * hidden + [label(case.names[i]) for i in row[hidden:]] for row in best]
    rows = Axis(plain("tour.after_layer"), [str(layer) for layer in range(len(values))])
    columns = Axis(plain("tour.rank"), [str(rank + 1) for rank in range(values.shape[1])])
    frames = []
    if look.shown and look.row == "layer":
        frames = [outline(int(look.truth.answer), 0)]
        if look.guess is not None and look.guess != look.truth.answer:
            frames.insert(0, guessed(int(look.guess), 0, int(look.guess), 0))  # type: ignore[arg-type]
    traces, layout = heatmap_parts(values, rows, columns, scale="share", square=False, height=height)
    traces[0] |= {"text": names, "texttemplate": "%{text}<br>%{z:.2f}", "hovertemplate": "%{text}<extra></extra>"}
    if taps:
        cells = grid(len(values), 1)
        traces.append(unseen(cells, customdata=[[int(y)] for _, y in cells], text=[f"{y}" for _, y in cells.tolist()]))
        layout |= TO_THE_NEAREST
    layout["shapes"] = frames
    return Drawn(title_of("lens"), figure_of(traces, layout), taps=taps)


# -- drawings ------------------------------------------------------------------------------------------------------


def drawn_digit(look: Look, height: int) -> Drawn:
    """The drawing as the network is given it."""
    picture = look.case.trace.picture
    assert picture is not None
    grey = picture if picture.ndim == 2 else picture.mean(axis=0 if picture.shape[0] in (1, 3) else -1)
    config = look.case.trace.config
    cut = {"cut": config.patch_size} if look.row in ("looks", "gathered") and config.patch_size else {}
    figure = drawing(grey, **cut, height=max(height, 160))
    return Drawn(title_of("drawing"), figure)


# -- translations --------------------------------------------------------------------------------------------------


def word_read(trace: TranslationTrace, step: int) -> str:
    """The word of the source that all heads of all layers together read most in a step; "" where that is not plain."""
    words = [place for place, name in enumerate(trace.tokens) if name[:1].isalnum()]
    if not words or not trace.written[step][:1].isalnum():
        return ""
    together = trace.over_layers("cross.weights", "decoder.")[:, :, step].mean(axis=(0, 1))
    most = max(words, key=together.__getitem__)
    return trace.tokens[most] if together[most] >= PLAIN else ""


def cross_attention(look: Look, height: int) -> Drawn:
    """From which token of the source each step of the decoder takes how much; the step that is asked about is covered.

    Beside each other piece stands the word of the source that is read most for it: an alignment, by which a reader of
    one language can follow.
    """
    trace = look.case.trace
    assert isinstance(trace, TranslationTrace)
    layer, head = look.truth.place.get("layer", 0), look.truth.place.get("head", 0)
    step = look.truth.place.get("step")
    weights = trace[f"decoder.layers.{layer}.cross.weights"][head]
    covers = None if look.shown else step
    glosses = ["" if number == covers else word_read(trace, number) for number in range(len(trace.written))]
    rows = [f"{piece} ({gloss})" if gloss else piece for piece, gloss in zip(trace.written, glosses, strict=True)]
    hidden, options, frames = np.zeros(weights.shape, bool), None, []
    names = placed(trace.tokens)
    if step is not None and look.gesture == "tap":
        if look.shown:
            frames = _answered(look, step, names)
        else:
            hidden[step], options = True, np.full(weights.shape, -1)
            for place, name in enumerate(names):
                if name in look.truth.options:
                    options[step, place] = look.truth.options.index(name)
    figure = _map(
        weights, Axis("", rows), Axis("", trace.tokens), height, hidden=hidden, options=options, frames=frames
    )
    return Drawn(title_of("cross"), figure, (layer, head), taps=options is not None)


# -- where a teacher's own question is asked -----------------------------------------------------------------------

OF_PAGE: dict[str, Picture] = {
    "tokens": embedded, "queries_keys_values": row_of("scores"), "attention": row_of("weights"),
    "heads": every_head, "add_and_norm": cosines, "feed_forward": activations, "layers": lens, "answer": answer_words,
}  # fmt: skip


def run_says(place: str, case: Case) -> dict[str, float]:
    """What can be named in the picture of a page, with its number in this run: keys of a row, words of the answer."""
    page = place.partition("?")[0]
    if page in ("layers", "answer") and case.answers:
        return dict(zip(case.names, case.shares(case.trace["logits"]).tolist(), strict=True))
    if page not in ("attention", "queries_keys_values"):
        return {}
    look = Look(OWN, "tap", case, Truth(None, 0.0, {}, (), {}))
    row = look.of_head("weights" if page == "attention" else "scores")[look.token]
    return dict(zip(placed(case.tokens), row.tolist(), strict=True))


def of_place(place: str, look: Look) -> list[Drawn]:
    """The picture of the page that a teacher shows with a question of her own, if it has one here: what is asked of it
    is covered until the answer is shown.
    """
    page = place.partition("?")[0]
    if page not in OF_PAGE or (page in ("layers", "answer") and not look.case.answers):
        return []
    return pictures(OF_PAGE[page], False, look)
