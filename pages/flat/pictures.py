"""A drawing as one token: what attention makes of it in each head, and beside it the same drawing in patches."""

import pandas as pd

from model import Trace
from pages.attention.overlay import over_one
from pages.drawing.figures import Axis, Figure, drawing, role_colours, token_at
from pages.drawing.figures.equations import html_math, plain_math
from pages.drawing.figures.matrices import Matrix, abreast
from pages.drawing.figures.theme import big, scaled
from pages.drawing.picture import Numbers, Open, Picture, touched
from pages.drawing.pictures.band import room_of
from pages.drawing.place import Place
from pages.drawing.text import plain, t, texts_of

ATTENTION = "layers.0.attention."
#: What is drawn of each head, in the order of computation.
DRAWN = ("Q", "K", "scaled", "weights", "V", "heads")
#: What each head passes on unchanged, where no change sits on it.
PASSES = (ATTENTION + "weights", ATTENTION + "heads")
BESIDE = 0.5  # of the page's width, that it has
NARROW = 8  # cells, as wide as a column of numbers is
HIGH, LOW = 275, 170  # pixels: each picture, and a drawing in a presentation
PATCHES = Place(layer=1, head=1)  # where [CLS] attends to strokes
text, word = texts_of("flat")


def one_token(run: Trace, place: Place) -> Picture:
    """What is read, whole."""
    assert run.picture is not None
    n, said = len(run.tokens), text("read_one_token", pixels=run.picture.size)
    return Picture(
        drawing(run.picture, height=170 if big() else HIGH), said, title=word("one_token"), shape=(n, n), fixed=True
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
        text("read_patches", n=n, where=PATCHES.where()),
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

    sentence = text("read_attention", low=f"{scaled_scores.min():.2f}", high=f"{scaled_scores.max():.2f}")
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
