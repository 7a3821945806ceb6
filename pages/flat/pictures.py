"""Attention of one token to itself: queries, keys, values and what becomes of them, a row for each head."""

import pandas as pd

from model import Trace
from pages.drawing.figures import Axis, Figure, Thumbnail, drawing, role_colours, thumbnails
from pages.drawing.figures.equations import html_math, plain_math
from pages.drawing.picture import Numbers, Picture, touched
from pages.drawing.pictures.band import room_of
from pages.drawing.place import Place
from pages.drawing.text import plain, t, texts_of

ATTENTION = "layers.0.attention."
#: What is drawn of each head, row by row.
DRAWN = ("Q", "K", "V"), ("scaled", "weights", "heads")
#: What each head passes on unchanged, where no change sits on it.
PASSES = (ATTENTION + "weights", ATTENTION + "heads")
BESIDE = 0.55  # of the page's width, that it has
text, word = texts_of("flat")


def drawn(run: Trace, place: Place) -> Picture:
    """What is read, whole."""
    assert run.picture is not None
    said = text("read_drawing", pixels=run.picture.size)
    return Picture(drawing(run.picture, height=130), said, title=word("drawing"), shape=run.picture.shape, fixed=True)


def of_one(run: Trace, place: Place) -> Picture:
    """All heads in one picture."""
    every = [name for row in DRAWN for name in row]
    scaled, values = run[ATTENTION + "scaled"], run[ATTENTION + "V"]
    heads = [plain("heads.head", head=head + 1) for head in range(len(values))]
    said = {"heads": len(values), "d_k": values.shape[-1], "low": f"{scaled.min():.2f}", "high": f"{scaled.max():.2f}"}

    def of(name: str) -> Numbers:
        symbol = plain_math(run.graph[ATTENTION + name].symbol)
        side = Axis(plain("axis.d_k") if run[ATTENTION + name].shape[-1] > 1 else "")
        rows = Axis("", [f"{symbol}: {head}" for head in heads])
        return Numbers.of(run, ATTENTION + name, part=lambda whole: whole.less_nothing()[:, 0].on(rows, side))

    def small(name: str, drawn: Numbers) -> Thumbnail:
        """A row for each head of one quantity."""
        scale = "share" if name == "weights" and not drawn.differs else "signed"
        title = html_math(run.graph[ATTENTION + name].symbol)
        return Thumbnail(title, drawn.array, heads, scale, colour=role_colours().get(name))

    passes = not touched(run, place.head, *PASSES, every_head=True)
    sentence = text("read_attention", **said) if passes else t("change.no_law")

    def draw(*drawn: Numbers) -> Figure:
        tile = {name: small(name, own) for name, own in zip(every, drawn, strict=True)}
        figure = thumbnails([[tile[name] for name in row] for row in DRAWN])
        figure.layout["meta"] = {"fills": room_of(sentence, BESIDE)}
        return figure

    def table(*drawn: Numbers) -> pd.DataFrame:
        return pd.DataFrame(drawn[every.index("V")].array, index=heads, columns=range(1, values.shape[-1] + 1))

    return Picture(
        draw,
        sentence,
        [of(name) for name in every],
        shape=values.shape,
        table=table,
    )
