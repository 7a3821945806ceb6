"""Pictures beside a question: the page's own picture of this run, with the answer covered.

Before the answer is shown, covered numbers are not in the figure at all, not even in a hover. No Streamlit here.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from model import Edit
from model.analysis import cosine_similarity, placed
from model.measures.sweep import sweep
from model.translator import TranslationTrace
from pages.drawing.figures import (
    ACCENT,
    AFTER,
    BEFORE,
    BLUE,
    GREY,
    Axis,
    Figure,
    bars_with_numbers,
    drawing,
    figure_of,
    frame,
    grouped_bars,
    guessed,
    heatmap,
    over_drawing,
    tiles,
)
from pages.drawing.figures.base import TO_THE_NEAREST, cover_bars, grid, label, outline, question_marks, unseen
from pages.drawing.figures.matrices import heatmap_parts
from pages.drawing.figures.theme import SMALL, font_size, scaled
from pages.drawing.picture import Numbers, Picture
from pages.drawing.pictures.quantity_map import quantity_map
from pages.drawing.place import Place
from pages.drawing.text import catalogue, language, plain
from pages.drawing.text.numbers import two, written
from pages.school.questions.case import OWN, Case, Guess, Truth, short, unscaled

ROOM = 540  # pixels for all pictures of a question, so that they fit on the first screen
A_BAR = 30  # pixels of a bar
A_TITLE = 56  # of a title above a second picture, with the gap before it
A_ROW = 34  # of a map, at most
SMALLEST = 0.6  # times the size of letters, of numbers in its cells
MOST_WORDS = 8  # that the network may answer
COMPONENTS = 8  # of vectors, whose numbers are shown
NARROWEST = 0.04  # of the axis: the frame round a guess
GUESSES = 5  # of the network, after each layer
CHIPS = 3
STRONGEST = 99  # per cent of activations that are weaker than the strongest colour
PLAIN = 0.2  # mean weight of all heads from which on they agree on a word
PLACE = re.compile("\\d+|·|head|layer|头|层")  # in a teacher's words
#: A head and a layer by their numbers, in a teacher's words.
A_HEAD = re.compile(r"(?:head|头)\s*(\d+)|第\s*(\d+)\s*个?头|·(\d+)")
A_LAYER = re.compile(r"layer\s*(\d+)|第\s*(\d+)\s*层|(\d+)·")
COUNT, WHICH = re.compile("how many|how often|几|多少"), re.compile("which|what|where|哪|第几|什么")
WHICH_HEAD = re.compile("(which|what) (head|layer)|第几个?[头层]|哪.{0,2}[头层]")
#: From which on no token may look at those behind it, in all layers.
CAUSAL = Edit("layers.{l}.attention.masked", "causal")


@dataclass(frozen=True)
class Look:
    """A question in its current state. row: name of its texts. guess: the reader's, or the chips given so far. shown:
    whether the answer is shown.
    """

    row: str
    gesture: str
    case: Case
    truth: Truth
    guess: Guess | None = None
    shown: bool = False

    @property
    def layer(self) -> int:
        """The layer asked about; by default that of the case, or of its pair."""
        return self._of("layer")

    def _of(self, name: str) -> int:
        for value in (self.truth.place.get(name), getattr(self.case, name), getattr(self.case.pair, name, 0)):
            if value is not None:
                return value
        return 0

    @property
    def asks_which_head(self) -> bool:
        """Whether the answer to a teacher's own question names a layer or head, or is its number and no count."""
        named = PLACE.findall(f"{self.truth.answer}".lower())
        ask = self.truth.ask.lower()
        counts, sure = COUNT.search(ask) and not WHICH.search(ask), WHICH_HEAD.search(ask)
        is_place = (not one.isdecimal() or sure or (not counts and int(one) - 1 in self.where) for one in named)
        return self.row == OWN and any(is_place)

    @property
    def right_head(self) -> tuple[int, int] | None:
        """The head that a teacher's right answer names, in the layer that it, her question, or else her place names."""
        answer, ask = f"{self.truth.answer}".lower(), self.truth.ask.lower()
        layer, head = A_LAYER.search(answer) or A_LAYER.search(ask), A_HEAD.search(answer)
        if head is None:
            return None
        at = int(layer[layer.lastindex or 0]) - 1 if layer else self.layer, int(head[head.lastindex or 0]) - 1
        most = self.case.trace.graph.layers(), self.case.trace.config.heads
        return at if all(0 <= one < end for one, end in zip(at, most, strict=True)) else None

    @property
    def right_tokens(self) -> list[int]:
        """The tokens that a teacher's right answer names: “the” is each “the (2)”."""
        answers = [part.strip() for part in f"{self.truth.answer}".split("||")]
        names = placed(self.case.tokens)
        return [i for i, name in enumerate(names) if name in answers or name.partition(" (")[0] in answers]

    @property
    def token(self) -> int:
        return self.truth.place.get("token", self.case.token)

    @property
    def where(self) -> tuple[int, int]:
        return self.layer, self._of("head")

    def of_head(self, name: str, *edits: Edit) -> np.ndarray:
        """An attention quantity in this layer and head, in a run with these edits, if any."""
        key, trace = f"layers.{self.layer}.attention.{name}", self.case.trace
        values = sweep(self.case.pipeline, trace, [[*edits]], [key])[key][0] if edits else trace[key]
        return np.broadcast_to(values, (self.case.trace.config.heads, *values.shape[-2:]))[self.where[1]]


#: Draws a page's picture for a question in its current state.
Draws = Callable[[Look], Picture]


def pictures(draws: Draws | None, bars: bool, look: Look) -> list[Picture]:
    """The page's picture, and below it, once the answer is shown, a bar chart if there is one. The page's picture keeps
    its height.
    """
    below = answer_bars(look) if bars else None
    kept = below.drawn().layout["height"] + A_TITLE if below else 0
    room = ROOM if font_size() <= SMALL else scaled(ROOM / 2)
    above = [] if draws is None else [_as_high(draws(look), room - kept, kept)]
    return [*above, *([below] if below and look.shown else [])]


def _as_high(picture: Picture, most: int, kept: int) -> Picture:
    """Draw a picture as high as its rows need, at most `most` pixels; `kept` are left below it."""
    figure = picture.drawn().tell(below=kept)
    rows = len(picture.parts[0].drawn.array) if picture.parts else most
    figure.layout["height"] = min(most, scaled(70 + A_ROW * rows) + 60)
    if figure.layout.get("meta", {}).get("large"):
        figure.tell(numbers=SMALLEST)
        figure.layout["yaxis"].pop("scaleanchor", None)  # its cells fill the column
    return picture.with_(figure=figure)


def title_of(name: str, **values: object) -> str:
    return plain(f"tour.{name}", **values)


# -- bars ----------------------------------------------------------------------------------------------------------


def answer_bars(look: Look, covered: Sequence[int] = ()) -> Picture:
    """The truth's bars, with the reader's guess dashed. covered: bars to guess."""
    truth = look.truth
    keys, values = [name for name, _ in truth.bars], np.array([value for _, value in truth.bars], np.float64)
    ours, known = [f"lesson.{look.row}.bar_{name}" for name in keys], catalogue(language())
    names = [plain(one, **truth.in_words) if one in known else key for one, key in zip(ours, keys, strict=True)]
    most = 1.0 if values.min() >= 0 and values.max() <= 1 else 0.0
    marks = _marked(look, values, keys, most)
    if look.guess is not None:
        if look.gesture in ("slide", "number") and truth.answer in values:
            marks["guesses"] = [([*values].index(truth.answer), float(look.guess))]  # type: ignore[arg-type]
        elif look.gesture == "tap" and look.guess in keys and (names == keys or not truth.literal):
            place = keys.index(str(look.guess))
            names[place] = plain("common.and_more", name=names[place], more=plain("lesson.yours"))
    whole = 100 if look.gesture == "chips" else 1  # chips are in hundredths
    counts = look.gesture == "number" and bool((values == values.round()).all())
    numbers = [f"{value:.0f}" if counts else written(short(value / whole)) for _, value in truth.bars]
    figure = bars_with_numbers(
        values, names, numbers, **marks, most=most, height=scaled(A_BAR * len(names)) + 16, covered=covered
    )
    named = f"lesson.{look.row}.axis"
    title = plain(named if named in known else f"lesson.{look.row}.short", **truth.in_words)
    return Picture(figure, "", Numbers(values), title=title[:1].upper() + title[1:])


def _marked(look: Look, values: np.ndarray, keys: Sequence[str], most: float) -> dict[str, Any]:
    """Once shown, the answer's bar alone in the network's colour, or the last where none is the answer, which compares
    them; and a dashed frame round the bar of another guess. most: as for `bars_with_numbers`.
    """
    if not look.shown:
        return {}
    numbers, answer = [*values.tolist()], look.truth.answer
    if look.gesture in ("slide", "number") and answer in numbers:
        answer = keys[numbers.index(answer)]
    elif look.gesture in ("tap", "same") and answer not in keys and look.row != OWN:
        answer = keys[-1]
    least = NARROWEST * max(most, float(values.max()))
    mistaken = look.guess in keys and look.guess != look.truth.answer
    places = [keys.index(str(look.guess))] if mistaken else []
    return {
        "colours": [BLUE if key == answer or answer not in keys else GREY for key in keys],
        "guesses": [(place, max(float(values[place]), least)) for place in places],
    }


def last_bar_covered(look: Look) -> Picture:
    """The truth's bars; the last is covered until the answer is shown."""
    return answer_bars(look, [] if look.shown else [len(look.truth.bars) - 1])


def offered(case: Case) -> list[str]:
    """The likeliest answers, by their spelling, so that their order does not tell which is likeliest."""
    return sorted(case.names[i] for i in np.argsort(-case.shares(case.trace["logits"]))[:MOST_WORDS])


def words_to_choose(look: Look) -> Picture:
    """The likeliest answers to choose from, each with a covered bar; once shown, with their probabilities."""
    if look.shown:
        return answer_words(look)
    names = offered(look.case)
    rows = range(len(names))
    values = np.full(len(names), np.nan)
    figure = bars_with_numbers(values, names, [""] * len(names), most=1.0, covered=rows)
    places = [(0.5, row) for row in rows]
    figure.data[0]["hoverinfo"] = "skip"  # where all are covered, no bar of its own answers the mouse
    figure.data.append(unseen(places, customdata=[[row] for row in rows], text=[label(name) for name in names]))
    figure.layout |= TO_THE_NEAREST
    return Picture(figure, "", Numbers(values), title_of("offered"), picks=lambda option: {"option": option})


def answer_words(look: Look) -> Picture:
    """The likeliest answers; all are covered until the answer is shown."""
    case = look.case
    shares = case.shares(case.trace["logits"])
    order = [int(i) for i in np.argsort(-shares)[:MOST_WORDS]]
    if look.shown and look.guess is not None and look.guess in case.names:
        order += [i for i in [list(case.names).index(str(look.guess))] if i not in order]
    names = [case.names[i] for i in order]
    if not look.shown:
        names = [""] * len(names)
    elif look.guess in names:
        place = names.index(str(look.guess))
        names[place] = plain("common.and_more", name=names[place], more=plain("lesson.yours"))
    values = shares[order]
    numbers = [written(short(float(value))) for value in values]
    covered = () if look.shown else range(len(names))
    marks = _marked(look, values, [case.names[i] for i in order], 1.0)
    figure = bars_with_numbers(values, names, numbers, **marks, most=1.0, covered=covered)
    return Picture(figure, "", Numbers(values), title_of("answer"))


def weights_undivided(look: Look) -> Picture:
    """The row of weights with ÷ √d_k; once shown, also without it, and with ÷ d_k."""
    row = look.of_head("weights")[look.token].astype(np.float64)
    others = [unscaled(look.case.trace, *look.where, look.token, by) for by in (1.0, look.case.trace.config.d_k)]
    bare, flat = others if look.shown else np.full((2, len(row)), np.nan)
    titles = [plain(f"lesson.root.bar_{name}") for name, _ in look.truth.bars]
    series = dict(zip(titles, (row, bare, flat), strict=True))
    key = look.truth.place["key"]
    guess = (1, key, float(look.guess)) if look.shown and look.guess is not None else None  # type: ignore[arg-type]
    names, colours = Axis("", look.case.tokens), (AFTER, ACCENT, BEFORE)
    figure = grouped_bars(series, names, "", colours, guess=guess)
    figure.data += [] if look.shown else [question_marks([(key, 0.05)])]
    figure.layout["yaxis"]["range"] = [0, 1.08]
    title = title_of("row", token=placed(look.case.tokens)[look.token])
    return Picture(figure, "", title=title, of_head=look.where)


def deviations(look: Look) -> Picture:
    """Spread of the token's numbers after each layer, in powers of ten; once shown, also without LayerNorm."""
    spread = look.case.without("norm")[:, :, look.token].std(axis=-1)
    now, bare = spread if look.shown else (spread[0], np.full_like(spread[0], np.nan))
    series = {plain("lesson.norm.bar_with"): now, plain("lesson.norm.bar_without"): bare}
    layers = Axis(title_of("after_layer"), [str(layer + 1) for layer in range(len(now))])
    least, most = 10 ** np.floor(np.log10(np.nanmin([now, bare]) / 2)), 2 * np.nanmax([now, bare])
    covered = [(layer + 0.19, 1.3 * least) for layer in range(len(now))]
    figure = grouped_bars(series, layers, "", (AFTER, ACCENT))
    figure.data += [] if look.shown else [question_marks(covered)]
    figure.layout["yaxis"] |= {"type": "log", "range": [*np.log10([least, most])], "dtick": 1, "tickformat": ",~g"}
    return Picture(figure, "", title=title_of("deviations", token=placed(look.case.tokens)[look.token]))


# -- maps ----------------------------------------------------------------------------------------------------------


def _map(title: str, values: np.ndarray, rows: Axis, columns: Axis, scale: str = "share") -> Picture:
    """A map of numbers that no page has, drawn in the pages' style."""
    corner = (plain("axis.corner") if rows.title else "") if columns.labels else None

    def draw(drawn: Numbers) -> Figure:
        figure = heatmap(drawn.array, *drawn.axes, scale=scale, square=False, corner=corner)
        return figure.tell(large=corner is not None)

    return Picture(draw, "", Numbers(values, axes=(rows, columns)), title=title)


def _recorded(look: Look, key: str, name: str, of: tuple[int, int] | None = None, **more: Any) -> Picture:
    """A page's map of a recorded quantity without a chosen cell. name: of its title; more: for `quantity_map`."""
    picture = quantity_map(look.case.trace, Place(*of or ()), key, "", outlined=False, title=title_of(name), **more)
    return picture.with_(of_head=of, written=None, picks=None)


def _row(*corners: int, width: float = 3) -> dict:
    """A frame around cells of a row. Its centre is on no column, whose label would be highlighted as chosen."""
    top, left, bottom, right = map(float, corners)
    return frame(top, left, bottom, right + 0.01, width=width)


def row_of(name: str, *, covers: str = "row") -> Draws:
    """A map of the question's head, "weights" or "scores", with a row covered: the token's, or the "key"'s; "" covers
    none. Cells of the row can be clicked if the answer is a token.
    """

    def draw(look: Look) -> Picture:
        tokens = look.case.tokens
        row = look.truth.place.get("key", 0) if covers == "key" else look.token
        key = f"layers.{look.layer}.attention.{name}"
        picture = _recorded(look, key, name, look.where, large=True)
        if look.shown or not covers:
            return picture.framed(_answer_frames(look, row))
        options: list[int] = []
        if look.gesture in ("tap", "chips"):
            places = {name: place for place, name in enumerate(look.truth.options)}
            options = [places.get(name, -1) for name in placed(tokens)]
        chips = look.guess if look.gesture == "chips" and isinstance(look.guess, list) else []
        return picture.covered(row, signs=["●" * count for count in chips], options=options)

    return draw


def _answer_frames(look: Look, row: int) -> list[dict]:
    """A frame around the row, and around the cells of answer and guess; for a teacher's own question of the answer."""
    n, truth = len(look.case.tokens), look.truth
    frames = [_row(row, 0, row, n - 1, width=1.5)]
    if look.row == OWN:
        return frames + [outline(row, place) for place in look.right_tokens]
    if truth.place and len(truth.options) == n and look.gesture == "tap":
        return frames + _answered(look, row, truth.options)
    column = truth.place.get("token" if row == truth.place.get("key") else "key")
    given = look.guess if look.shown and isinstance(look.guess, list) else []
    frames += [guessed(row, place, row, place) for place, chips in enumerate(given) if chips and place != column]
    return frames if column is None else [*frames, outline(row, column)]


def _answered(look: Look, row: int, names: Sequence[str]) -> list[dict]:
    """A frame around the answer's cell and a dashed one around another guess. names: of the row's cells."""
    places = [names.index(one) for one in (look.truth.answer, look.guess) if one in names]
    return [*(guessed(row, place, row, place) for place in places[1:] if place != places[0]), outline(row, places[0])]


def row_behind(look: Look) -> Picture:
    """The weights of the head, with a frame around later tokens; once shown, the weights with the causal mask."""
    i, n = look.token, len(look.case.tokens)
    key = f"layers.{look.layer}.attention.weights"
    picture = _recorded(look, key, "masked" if look.shown else "weights", look.where, large=True)
    if look.shown:
        masked = np.where(np.tri(n), look.of_head("weights", CAUSAL), np.nan)
        picture = picture.with_(numbers=replace(picture.parts[0], array=masked))
    return picture.framed([_row(i, i + 1, i, n - 1)])


def heads_and_mean(look: Look) -> Picture:
    """The token's row in each head of the layer; once shown, their mean."""
    weights = look.case.trace[f"layers.{look.layer}.attention.weights"][:, look.token].astype(np.float64)
    names = [plain("change.head", number=head + 1) for head in range(len(weights))]
    values = np.vstack([weights, weights.mean(axis=0)])
    rows, columns = Axis("", [*names, title_of("mean")]), Axis("", look.case.tokens)
    title, last = title_of("row", token=placed(look.case.tokens)[look.token]), len(weights)
    picture = _map(title, values, rows, columns).with_(of_head=(look.layer, -1))
    return picture.framed([outline(last, int(values[-1].argmax()))]) if look.shown else picture.covered(last)


def values_mixed(look: Look) -> Picture:
    """Some components of the values, each row with its weight, and the weighted sum; the component asked about is
    framed, and covered in the sum.
    """
    weights, values, mixed = look.of_head("weights")[look.token], look.of_head("V"), look.of_head("heads")[look.token]
    column = int(look.truth.said["column"]) - 1  # type: ignore[call-overload]
    first = min(max(0, column - COMPONENTS // 2), max(0, len(mixed) - COMPONENTS))
    shown = np.vstack([values, mixed])[:, first : first + COMPONENTS]
    at, last = column - first, len(values)
    names = [f"{two(weight).lstrip('0')} · {name}" for weight, name in zip(weights, look.case.tokens, strict=True)]
    columns = Axis(plain("axis.d_k"), [str(first + place + 1) for place in range(shown.shape[1])])
    title = title_of("values", token=placed(look.case.tokens)[look.token])
    picture = _map(title, shown, Axis("", [*names, title_of("mixed")]), columns, "signed").with_(of_head=look.where)
    picture = picture.framed([frame(0, at, last, at, width=2)])
    return picture if look.shown else picture.covered(last, [at])


def looked_at(look: Look) -> Picture:
    """The drawing in patches; once shown, also the attention of [CLS] to each, mean over heads."""
    trace, tokens = look.case.trace, look.case.tokens
    if not look.shown or trace.picture is None:
        return drawn_digit(look)
    weights = trace.over_layers("attention.weights")[:, :, 0].mean(axis=(0, 1))
    title = title_of("row", token=tokens[0])
    return Picture(over_drawing(trace.picture, weights, tokens, 0, title), "", title=title)


def every_head(look: Look) -> Picture:
    """All heads of all layers as tiles; for a teacher's own question, that which it is about is outlined, or, if it is
    asked which one, once shown, that which the answer names. For a question how many heads matter, once shown: the
    answer's remaining probability without each.
    """
    case = look.case
    layers, heads = case.trace.graph.layers(), case.trace.config.heads
    rows = Axis("", [plain("change.layer", number=layer + 1) for layer in range(layers)])
    columns = Axis("", [plain("change.head", number=head + 1) for head in range(heads)])
    if not look.shown or look.row != "heads":
        weights, which = case.trace.over_layers("attention.weights"), look.asks_which_head
        framed = None if look.row != OWN or (which and not look.shown) else look.right_head if which else look.where
        figure = tiles(weights, rows, columns, chosen=framed)
        title = title_of("framed", layer=framed[0] + 1, head=framed[1] + 1) if framed else title_of("every_head")
        return Picture(figure, "", title=title)
    best = int(case.without_each[0].argmax())
    left = case.without_each[1:, best].reshape(layers, heads)
    first = case.without_each[1:].argmax(axis=1).reshape(layers, heads)
    frames = [outline(int(i), int(j)) for i, j in np.argwhere(first != best)]
    return _map(title_of("left"), left, rows, columns).framed(frames)


def concatenated(look: Look) -> Picture:
    """Outputs of the heads of the pair's layer, concatenated; then after W_O."""
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
    picture = _map(title_of(last), np.vstack([parts, total]), rows, columns, "signed")
    return picture.with_(of_head=(look.layer, -1))


def embedded(look: Look) -> Picture:
    """X⁰, with a frame around the rows in question; of a teacher's own, once shown, around those of the answer."""
    picture = _recorded(look, look.case.trace.graph.embedded, "embedded")
    width = picture.parts[0].drawn.array.shape[1]
    named = {look.token, look.truth.place.get("key", look.token)}
    if look.row == OWN:
        named = {*look.right_tokens} if look.shown else set()
    return picture.framed([frame(i, 0.5, i, width + 0.5, width=2) for i in sorted(named)])


def activations(look: Look) -> Picture:
    """Activations of the feed-forward network's neurons for each token."""
    layer = look.truth.place.get("layer", look.case.layers[len(look.case.layers) // 2])
    key = f"layers.{layer}.ffn.activation"
    limit = float(np.percentile(np.abs(look.case.trace[key]), STRONGEST))  # few neurons are far stronger than others
    return _recorded(look, key, "activations", (layer, -1), strongest=limit)


def cosines(look: Look) -> Picture:
    """Cosine of every two tokens after the last layer: with residual connections, and without."""
    alike = np.stack([cosine_similarity(states) for states in look.case.without("residual")[:, -1]])
    if not look.shown:
        alike[1] = np.nan
    names = [plain(f"lesson.residual.bar_{name}") for name in ("with", "without")]
    figure = tiles(alike[None], Axis("", [""]), Axis("", names), scale="signed", limit=1.0, square=True)
    if not look.shown:
        figure.data.append(question_marks([(1, 0)]))
        figure.layout["shapes"] = [outline(0, 1)]
    return Picture(figure, "", title=title_of("cosines"))


def lens(look: Look) -> Picture:
    """The network's first guesses after each layer.

    For a question after which layer one of them is first, the first guess is covered, and the others listed are only
    words that are never first, since those would give it away. For a teacher's own question all are covered.
    """
    case = look.case
    shares = case.pipeline.read_layers(case.trace, case.token).astype(np.float64)
    order = np.argsort(-shares, axis=1)
    covers = not look.shown and look.row in ("layer", OWN)
    taps = covers and look.row == "layer"
    if taps:
        never = order[~np.isin(order, order[:, 0])].reshape(len(order), -1)
        order = np.hstack([order[:, :1], never])
    best = order[:, :GUESSES]
    values = np.take_along_axis(shares, best, axis=1)
    hidden = 0 if not covers else 1 if taps else values.shape[1]
    values[:, :hidden] = np.nan
    names = [[""] * hidden + [label(case.names[i]) for i in row[hidden:]] for row in best]
    rows = Axis(plain("tour.after_layer"), [str(layer) for layer in range(len(values))])
    ranks = ["1"] + [""] * (values.shape[1] - 1) if taps else [str(rank + 1) for rank in range(values.shape[1])]
    columns = Axis(plain("tour.rank"), ranks)
    frames = []
    if look.shown and look.row == "layer":
        frames = [outline(int(look.truth.answer), 0)]
        if look.guess is not None and look.guess != look.truth.answer:
            frames.insert(0, guessed(int(look.guess), 0, int(look.guess), 0))  # type: ignore[arg-type]
    traces, layout = heatmap_parts(values, rows, columns, scale="share", square=False)
    traces[0] |= {"text": names, "texttemplate": "%{text}<br>%{z:.2f}", "hovertemplate": "%{text}<extra></extra>"}
    if hidden:
        sides = {"x": np.full(len(values), hidden), "base": -0.5, "y": np.arange(len(values))}
        look_of = {"orientation": "h", "width": 1, "showlegend": False, **cover_bars(len(values))}
        traces.append({"type": "bar", **sides, **look_of})
    if taps:
        cells = grid(len(values), 1)
        traces.append(unseen(cells, customdata=[[int(y)] for _, y in cells], text=[f"{y}" for _, y in cells.tolist()]))
        layout |= TO_THE_NEAREST
    layout["shapes"] = frames
    picks = (lambda option: {"option": option}) if taps else None
    return Picture(figure_of(traces, layout), "", title=title_of("lens_covered" if taps else "lens"), picks=picks)


# -- drawings ------------------------------------------------------------------------------------------------------


def drawn_digit(look: Look) -> Picture:
    """The drawing as the network gets it."""
    picture = look.case.trace.picture
    assert picture is not None
    grey = picture if picture.ndim == 2 else picture.mean(axis=0 if picture.shape[0] in (1, 3) else -1)
    config = look.case.trace.config
    cut = {"cut": config.patch_size} if look.row in ("looks", "gathered") and config.patch_size else {}
    return Picture(drawing(grey, **cut), "", title=title_of("drawing"))


# -- translations --------------------------------------------------------------------------------------------------


def word_read(trace: TranslationTrace, step: int) -> str:
    """The source word that all heads of all layers together attend to most in a step; "" if unclear."""
    words = [place for place, name in enumerate(trace.tokens) if name[:1].isalnum()]
    if not words or not trace.written[step][:1].isalnum():
        return ""
    together = trace.over_layers("cross.weights", "decoder.")[:, :, step].mean(axis=(0, 1))
    most = max(words, key=together.__getitem__)
    return trace.tokens[most] if together[most] >= PLAIN else ""


def cross_attention(look: Look) -> Picture:
    """Cross-attention of each decoder step to the source tokens; the step asked about is covered.

    Beside each other piece is the source word it attends to most: an alignment for readers of one language.
    """
    trace = look.case.trace
    assert isinstance(trace, TranslationTrace)
    layer, head = look.truth.place.get("layer", 0), look.truth.place.get("head", 0)
    step = look.truth.place.get("step")
    covers = None if look.shown else step
    glosses = ["" if number == covers else word_read(trace, number) for number in range(len(trace.written))]
    rows = [f"{piece} ({gloss})" if gloss else piece for piece, gloss in zip(trace.written, glosses, strict=True)]
    key = f"decoder.layers.{layer}.cross.weights"
    picture = _recorded(look, key, "cross", (layer, head), large=True)
    drawn = picture.parts[0].drawn
    picture = picture.with_(numbers=replace(drawn, axes=(Axis("", rows), drawn.axes[1])))
    if step is None or look.gesture != "tap":
        return picture
    names = placed(trace.tokens)
    if look.shown:
        return picture.framed(_answered(look, step, names))
    options = look.truth.options
    return picture.covered(step, options=[options.index(name) if name in options else -1 for name in names])


# -- where a teacher's own question is asked -----------------------------------------------------------------------

OF_PAGE: dict[str, Draws] = {
    "tokens": embedded, "queries_keys_values": row_of("scores"), "attention": row_of("weights"),
    "heads": every_head, "add_and_norm": cosines, "feed_forward": activations, "layers": lens, "answer": answer_words,
}  # fmt: skip
#: Those that show one row of a head.
OF_A_ROW = "queries_keys_values", "attention"
#: Those that show what the network answers.
OF_AN_ANSWER = "layers", "answer"


def run_says(place: str, case: Case) -> dict[str, float]:
    """Names in the picture of a page with their number in this run: keys of a row, words of the answer."""
    page = place.partition("?")[0]
    if page in OF_AN_ANSWER and case.answers:
        return dict(zip(case.names, case.shares(case.trace["logits"]).tolist(), strict=True))
    if page not in (*OF_A_ROW, "heads"):
        return {}
    look = Look(OWN, "tap", case, Truth(None, 0.0, {}, (), {}))
    row = look.of_head("scores" if page == "queries_keys_values" else "weights")[look.token]
    return dict(zip(placed(case.tokens), row.tolist(), strict=True))


def has_picture(place: str, case: Case) -> bool:
    """Whether a picture of the page stands beside a teacher's own question about this case."""
    page = place.partition("?")[0]
    return page in OF_PAGE and (case.answers or page not in OF_AN_ANSWER)


def of_place(place: str, look: Look) -> list[Picture]:
    """The picture of the page for a teacher's own question, if it has one; what is asked is covered until the answer is
    shown. Its title names the row that is asked.
    """
    page = place.partition("?")[0]
    if not has_picture(place, look.case):
        return []
    drawn = pictures(OF_PAGE[page], False, look)
    if page not in OF_A_ROW:
        return drawn
    row = plain("lesson.maker.row", token=placed(look.case.tokens)[look.token])
    return [one.with_(title=f"{one.title} · {row}") for one in drawn]
