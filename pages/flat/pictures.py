"""A drawing as one token: its answer with noise on attention, what a head makes of it, and the same in patches."""

import math

import numpy as np
import pandas as pd

from model import Trace
from pages.attention.overlay import over_one
from pages.drawing.figures import Axis, Figure, drawing, role_colours, token_at
from pages.drawing.figures.base import frame
from pages.drawing.figures.curves import BLUE, ORANGE, grouped_bars
from pages.drawing.figures.equations import html_math, plain_math
from pages.drawing.figures.matrices import Matrix, abreast
from pages.drawing.figures.theme import big, scaled
from pages.drawing.picture import Numbers, Open, Picture, touched
from pages.drawing.pictures.band import room_of
from pages.drawing.place import Place
from pages.drawing.text import plain, t, texts_of
from pages.drawing.text.numbers import decimal, percent, two, unsigned

ATTENTION = "layers.0.attention."
#: What is drawn of each head, in the order of computation.
DRAWN = ("Q", "K", "scaled", "weights", "V", "heads")
#: What each head passes on unchanged, where no change sits on it.
PASSES = (ATTENTION + "weights", ATTENTION + "heads")
#: What is disturbed, each with noise of this strength, in every layer; of the last alone a weight of 1 makes something.
DISTURBED = ("Q", "K", "scaled", "V")
SCORED = DISTURBED[:-1]
NOISE = 5.0
BESIDE = 0.5  # of the page's width, that it has
KINDS = ("one_token", "patches")  # how the drawing is read
NARROW = 8  # cells, as wide as a column of numbers is
LARGE, SMALL, HIGH, LOW = 410, 170, 275, 240  # pixels: bars, what is read, each picture, a drawing in a presentation
PATCHES = Place(layer=1, head=1)  # where [CLS] attends to strokes
text, word = texts_of("flat")


def as_read(run: Trace, place: Place, accuracy: float) -> Picture:
    """The drawing as a network reads it: whole, or cut, in a frame of the colour of its bars.

    accuracy: the share of new digits that this network reads right.
    """
    assert run.picture is not None and run.patches is not None
    n, whole, (rows, columns) = len(run.tokens), len(run.patches) == 1, run.picture.shape
    figure = drawing(run.picture, cut=None if whole else math.isqrt(run.patches.shape[1]), height=SMALL)
    colour, kind = (BLUE, "one_token") if whole else (ORANGE, "patches")
    figure.layout["shapes"] = [*figure.layout["shapes"], frame(0, 0, rows - 1, columns - 1, colour, 4)]
    for side in ("xaxis", "yaxis"):
        figure.layout[side] |= {"showticklabels": False}
    said, weights = (
        text("read_one_token" if whole else "read_in_patches", n=n, right=percent(accuracy)),
        ATTENTION + "weights",
    )
    return Picture(figure, said, title=word(kind), shape=(n, n), shares=[weights], every_head=True, fixed=True)


def with_noise(run: Trace, place: Place, moved: np.ndarray) -> Picture:
    """How far noise on attention moves the probability of an odd digit, of one token and of patches. A click opens the
    heads with it.

    moved: (2, len(SCORED)), of either.
    """
    symbols = {name: plain_math(run.graph[ATTENTION + name].symbol) for name in SCORED}
    series = {word(f"of_{kind}"): own for kind, own in zip(KINDS, moved, strict=True)}
    flat, low, high = moved[0].max(), decimal(moved[1].min()), decimal(moved[1].max())
    change = unsigned(float(flat)) if flat else "0"
    sentence = text("read_with_noise", change=change, noise=f"{NOISE:g}", low=low, high=high)
    if touched(run, place.head, shares=PASSES, every_head=True):
        sentence = t("change.no_law")
    names = Axis(word("noise"), [word(f"noise_{name}", symbol=one) for name, one in symbols.items()])
    figure = grouped_bars(series, names, word("axis_moved"), [BLUE, ORANGE], value_range=(0, 1.15 if big() else 1.08))
    for bars, own in zip(figure.data, moved, strict=True):
        bars |= {"text": [decimal(one) for one in own], "textposition": "outside"}
    figure.layout["height"] = scaled(LARGE)
    figure.tell(fills=room_of(sentence, BESIDE))
    return Picture(
        figure,
        sentence,
        table=pd.DataFrame(dict(series), index=names.labels),
        picks=lambda _, bar: {"tab": "attention", "stage": SCORED[bar]},
    )


def in_patches(patches: Trace, ink: bytes) -> Picture:
    """The same drawing in patches, under the weights of [CLS] in a head that looks at strokes; a click opens that map.

    ink: the drawing, as a link holds it.
    """
    seen = over_one(patches, PATCHES, f"layers.{PATCHES.layer}.attention.weights")
    n, side, front = len(patches.tokens), patches.config.patches_per_side, patches.config.tokens_in_front
    there = {
        "input": "digit",
        "drawing": ink,
        "tab": None,
        "layer": PATCHES.layer,
        "head": PATCHES.head,
    }
    figure = seen.drawn()
    figure.layout["height"] = scaled(LOW if big() else HIGH)
    for trace in figure.data:
        if trace["type"] == "heatmap":
            trace["showscale"] = False
    return Picture(
        figure,
        f"{text('read_cut', n=n)} {text('read_patches', where=PATCHES.where())}",
        title=word("patches"),
        shape=(n, n),
        picks=lambda row, column: Open("attention", there | {"token": token_at(row, column, side, front)}),
        fixed=True,
    )


def of_one(run: Trace, place: Place) -> Picture:
    """A row for each head: query and key, their one score, its softmax, the value, and what the head passes on."""
    scaled_scores, values = run[ATTENTION + "scaled"], run[ATTENTION + "V"]
    heads = [plain("heads.head", head=head + 1) for head in range(len(values))]

    def of(name: str) -> Numbers:
        symbol = plain_math(run.graph[ATTENTION + name].symbol)
        side = Axis(plain("axis.d_k") if run[ATTENTION + name].shape[-1] > 1 else "")
        rows = Axis("", [f"{symbol}: {head}" for head in heads])
        return Numbers.of(run, ATTENTION + name, part=lambda whole: whole.less_nothing()[:, 0].on(rows, side))

    def matrix(name: str, drawn: Numbers) -> Matrix:
        """A row for each head of one quantity."""
        symbol, single = run.graph[ATTENTION + name].symbol, drawn.array.shape[1] == 1
        role = role_colours().get(name)
        above = html_math(symbol)
        share = name == "weights" and not drawn.differs
        return Matrix(
            drawn.array,
            Axis(plain_math(symbol)),
            1.0 if share else drawn.largest or 1.0,
            NARROW if single else drawn.array.shape[1],
            scale="share" if share else "signed",
            symbol=f'<span style="color:{role}">{above}</span>' if role else above,
            digits=single,
        )

    sentence = text("read_attention", low=two(scaled_scores.min()), high=two(scaled_scores.max()))
    if touched(run, place.head, shares=PASSES, every_head=True):
        sentence = t("change.no_law")

    def draw(*drawn: Numbers) -> Figure:
        matrices = [matrix(name, own) for name, own in zip(DRAWN, drawn, strict=True)]
        figure = abreast(matrices, Axis("", heads), None, height=scaled(HIGH))
        return figure.tell(fills=room_of(sentence, BESIDE))

    def table(*drawn: Numbers) -> pd.DataFrame:
        return pd.DataFrame(drawn[DRAWN.index("V")].array, index=heads, columns=range(1, values.shape[-1] + 1))

    return Picture(
        draw,
        sentence,
        [of(name) for name in DRAWN],
        shape=values.shape,
        table=table,
        picks=lambda which, head, part: {"stage": DRAWN[which]},
    )
