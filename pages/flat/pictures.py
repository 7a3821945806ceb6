"""A drawing as one token: its answer with noise on attention, what a head makes of it, and the same in patches."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from model import Trace, analysis
from pages.attention.overlay import over_one
from pages.drawing.figures import ACCENT, Axis, Figure, drawing, role_colours, token_at
from pages.drawing.figures.base import frame, tint
from pages.drawing.figures.curves import BLUE, ORANGE, grouped_bars
from pages.drawing.figures.equations import html_math, plain_math
from pages.drawing.figures.matrices import Matrix, abreast
from pages.drawing.figures.theme import scaled
from pages.drawing.picture import Numbers, Open, Picture, touched
from pages.drawing.place import Place
from pages.drawing.text import plain, t, texts_of
from pages.drawing.text.numbers import decimal, percent, two, unsigned

ATTENTION = "layers.0.attention."
#: What is drawn of each head, in the order of computation.
DRAWN = ("Q", "K", "scaled", "weights", "V", "heads")
#: What each head passes on unchanged, where no change sits on it.
PASSES = (ATTENTION + "weights", ATTENTION + "heads")
#: What is disturbed, each with noise of this strength, in every layer: nothing; what makes scores; what a weight of 1
#: passes on.
CALM, *SCORED, _ = DISTURBED = ("none", "Q", "K", "scaled", "V")
NOISE = 5.0
PARITY = ("even", "odd")  # the classes of one token; of patches, every second digit belongs to each
KINDS = ("one_token", "patches")  # how the drawing is read
NARROW = 8  # cells, as wide as a column of numbers is
HIGH, ROWS = 228, 180  # pixels: drawings and bars; a row for each head
PATCHES = Place(layer=1, head=1)  # where [CLS] attends to strokes
text, word = texts_of("flat")


def as_one(run: Trace, place: Place, answer: str, p: float, accuracy: float, now: int = 0) -> Picture:
    """The whole drawing as one token, in a frame of the colour of its bars.

    answer, p: a class and its probability. accuracy: the share of new digits that this network reads right. now: which
    of DISTURBED has noise.
    """
    assert run.picture is not None
    said = text("read_one_token", **_says(run, answer, p, now), right=percent(accuracy))
    weights = ATTENTION + "weights"
    return Picture(_framed(drawing(run.picture), run.picture.shape, BLUE), said, shares=[weights], every_head=True)


def in_patches(
    patches: Trace, ink: bytes, answer: str, p: float, accuracy: float, now: int = 0, unchanged: bool = False
) -> Picture:
    """The same drawing in patches, under the weights of [CLS] in a head that looks at strokes; a click opens that map.

    ink: the drawing, as a link holds it. answer, p, accuracy, now: as for `as_one`. unchanged: whether it leaves out
    the reader's changes.
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
    figure = _framed(seen.drawn(), (side, side), ORANGE)
    for trace in figure.data:
        if trace["type"] == "heatmap":
            trace["showscale"] = False
    said = text("read_patches", n=n, where=PATCHES.where(), **_says(patches, answer, p, now), right=percent(accuracy))
    return Picture(
        figure,
        f"{said} {text('read_unchanged')}" if unchanged else said,
        shape=(n, n),
        picks=lambda row, column: Open("attention", there | {"token": token_at(row, column, side, front)}),
        fixed=True,
    )


def _says(run: Trace, answer: str, p: float, now: int) -> dict[str, str]:
    """The class, its probability, and what has noise, since the line on top is of the run without it."""
    part = _called(run).get(DISTURBED[now])
    return {"named": word("noisy" if part else "calm", answer=answer, part=part), "p": decimal(p)}


def _called(run: Trace) -> dict[str, str]:
    """What each part of attention that may have noise is called."""
    return {
        name: word(f"noise_{name}", symbol=plain_math(run.graph[ATTENTION + name].symbol)) for name in DISTURBED[1:]
    }


def _above(p: float) -> str:
    """A probability above its bar."""
    return decimal(p) if p >= 1e-4 else "≈ 0"


def _framed(figure: Figure, shape: Sequence[int], colour: str) -> Figure:
    """The drawing in a frame. shape: rows and columns, of its units."""
    figure.layout["height"] = HIGH
    figure.layout["meta"] = {}  # as high as that, however high the window
    figure.layout["shapes"] = [frame(0, 0, shape[0] - 1, shape[1] - 1, colour, 4), *figure.layout["shapes"]]
    return figure


def with_noise(run: Trace, place: Place, answer: str, p: np.ndarray, now: int) -> Picture:
    """The probability of a class, of one token and of patches, calm and with noise on each part of attention. A
    click puts the noise there.

    answer: the class. p: (2, len(DISTURBED)), of either. now: which of these is on the screen.
    """
    series = {word(f"of_{kind}", answer=answer): own for kind, own in zip(KINDS, p, strict=True)}
    written = np.vectorize(lambda one: float(analysis.decimal(one)))(p)  # so that readers subtract the same
    moved = np.abs(written - written[:, :1])[:, 1:]
    (*flat, value), (*cut, value_cut) = moved.tolist()  # by noise on what makes scores, and on values
    said = {"answer": answer, "change": unsigned(max(flat)), "value": unsigned(value), "cut": unsigned(value_cut)}
    said |= {"noise": f"{NOISE:g}", "low": decimal(min(cut)), "high": decimal(max(cut))}
    sentence = text("read_with_noise_V" if DISTURBED[now] == "V" else "read_with_noise", **said)
    if touched(run, place.head, shares=PASSES, every_head=True):
        sentence = t("change.no_law")
    names = Axis(word("noise"), [word("no_noise"), *_called(run).values()])
    figure = grouped_bars(
        series, names, word("axis_p", answer=answer), [BLUE, ORANGE], value_range=(0, 1.18), number=_above
    )
    for bars in figure.data:
        bars["textfont"] = {"size": scaled(11)}
    chosen = {"type": "rect", "yref": "paper", "x0": now - 0.5, "x1": now + 0.5, "y0": 0, "y1": 1, "layer": "below"}
    figure.layout["shapes"] = [chosen | {"fillcolor": tint(ACCENT, 0.15), "line": {"width": 0}}]
    figure.layout["height"] = scaled(HIGH)
    figure.tell(fills=True)
    return Picture(
        figure,
        sentence,
        table=pd.DataFrame(dict(series), index=names.labels),
        picks=lambda _, bar: {"tab": "noise", "stage": DISTURBED[bar]},
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
        figure = abreast(matrices, Axis("", heads), None, height=scaled(ROWS))
        return figure.tell(fills=True)

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
