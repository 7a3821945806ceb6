"""What heads attend by, as shares: tokens' own words, their positions, or what earlier attention brought there."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from model import Trace
from model.measures.origins import KINDS, of_reads, shares
from pages.drawing.cache import once_a_run
from pages.drawing.figures import Axis, Figure, scatter
from pages.drawing.picture import Numbers, Picture, of_both
from pages.drawing.place import Place
from pages.drawing.text import plain, texts_of
from pages.drawing.text.numbers import first, in_percent, percents, whole

text, word = texts_of("origins")


@once_a_run
def of_heads(run: Trace) -> np.ndarray:
    """The shares of all heads of the encoder: (layer, head, kind)."""
    known = of_reads(run)
    layers, heads = range(run.graph.layers()), range(run.config.heads)
    of = [[shares(run, run.graph.sublayers(layer)[0], head, known) for head in heads] for layer in layers]
    return np.array([[[*one.values()] for one in row] for row in of])


def heads_by_origin(run: Trace, place: Place) -> Picture:
    """The heads as points; another run's hollow."""
    rows, layers, heads = of_heads(run).reshape(-1, len(KINDS)), run.config.layers, run.config.heads
    places = [(int(layer), int(head)) for layer, head in np.ndindex(layers, heads)]
    names = [f"{layer + 1}·{head + 1}" for layer, head in places]
    seen = np.array([whole(row) for row in rows])  # as written
    most = {kind: first(seen[:, KINDS.index(kind)], in_percent) for kind in ("word", "place")}
    said = {f"{kind}_head": names[one.place] for kind, one in most.items()} | most
    own, ahead = own_kind(run), [one.place for one in most.values() if one.ahead]
    told = [text(f"read_{own}", **said), *[text("read_rest")] * bool(rows[:, 2].any())]

    def draw(drawn: Numbers) -> Figure:
        return scatter(
            rows[:, 1],
            rows[:, 0],
            (word("axis_place"), word(f"axis_{own}")),
            np.repeat(np.arange(layers), heads),
            Axis.counted(plain("heads.axis_layer"), layers),
            [f"{place.where(at)}: {in_words(row, own)}" for at, row in zip(places, rows, strict=True)],
            names=[name if i // heads == place.layer or i in ahead else "" for i, name in enumerate(names)],
            chosen=place.layer * heads + place.head,
            numbers=places,
            before=None if drawn.other is None else drawn.other[:, [1, 0]],
        )

    def table(drawn: Numbers) -> pd.DataFrame:
        columns = [word(f"column_{own if kind == 'word' else kind}") for kind in KINDS]
        tables = [None if one is None else pd.DataFrame(one, names, columns) for one in (rows, drawn.other)]
        return of_both(*tables).iloc[np.argsort(-rows[:, 1], kind="stable")]

    return Picture(
        draw,
        " ".join(told),
        Numbers(rows),
        title=word("title"),
        table=table,
        two="over",
        picks=lambda layer, head: {"layer": layer, "head": head},
        reads=[f"layers.{{l}}.attention.{name}" for name in ("weights", "heads")],
        shares=["layers.{l}.attention.masked"],
        every_head=True,
    )


def in_words(row: Sequence[float], own: str) -> str:
    """ "word 4%, place 114%, …": the shares of KINDS."""
    kinds = [own, *KINDS[1:]]
    return plain("common.comma").join(
        word(f"share_{kind}", share=share) for kind, share in zip(kinds, percents(row), strict=True)
    )


def own_kind(trace: Trace) -> str:
    return "word" if trace.picture is None else "patch"
