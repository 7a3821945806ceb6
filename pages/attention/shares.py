"""What heads attend by, as shares: tokens' own words, their positions, or what earlier attention brought there."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from model import Trace
from model.measures.origins import KINDS, of_reads, shares
from pages.drawing.cache import once_a_run
from pages.drawing.figures import ACCENT, AFTER, GREY, Axis, Figure, stacks
from pages.drawing.picture import Numbers, Picture, of_both
from pages.drawing.place import Place
from pages.drawing.text import plain, texts_of
from pages.drawing.text.numbers import first, in_percent, percents, whole

BROUGHT = "#4fa392"  # the colour of what attention brought
text, word = texts_of("origins")


@once_a_run
def of_heads(run: Trace) -> np.ndarray:
    """The shares of all heads of the encoder: (layer, head, kind)."""
    known = of_reads(run)
    layers, heads = range(run.graph.layers()), range(run.config.heads)
    of = [[shares(run, run.graph.sublayers(layer)[0], head, known) for head in heads] for layer in layers]
    return np.array([[[*one.values()] for one in row] for row in of])


def heads_by_origin(run: Trace, place: Place) -> Picture:
    """Each head as a bar of its shares; below it another run's."""
    every = of_heads(run)
    heads = list(np.ndindex(every.shape[:2]))
    rows, own = every.reshape(-1, len(KINDS)), own_kind(run)
    seen = np.array([whole(row) for row in rows])  # as written
    most = {kind: first(seen[:, KINDS.index(kind)], in_percent) for kind in ("word", "place")}
    said = {f"{kind}_head": place.where(heads[one.place]) for kind, one in most.items()} | most
    told = [text(f"read_{own}", **said), *[text("read_negative")] * bool((seen < 0).any())]
    if len(every) > 1:
        ends = zip(*(percents(layer.mean(axis=0)) for layer in (every[0], every[-1])), strict=True)
        told.insert(0, text("read_ends", shares=_named([f"{low} → {high}" for low, high in ends][:-1], own)))
    sentence = " ".join(told)
    columns = [word(f"column_{own if kind == 'word' else kind}") for kind in KINDS]

    def draw(drawn: Numbers) -> Figure:
        figure = stacks(
            every,
            Axis.titled(plain("axis.head"), every.shape[1]),
            Axis.titled(plain("axis.layer"), every.shape[0]),
            dict(zip(columns, (ACCENT, AFTER, BROUGHT, GREY), strict=True)),
            np.array([percents(row) for row in rows]).reshape(every.shape),
            hover=[f"{place.where(at)}: {in_words(row, own)}" for at, row in zip(heads, rows, strict=True)],
            chosen=(place.layer, place.head),
            there=None if drawn.other is None else drawn.other.reshape(every.shape),
        )
        return figure.tell(fills=True)

    def table(drawn: Numbers) -> pd.DataFrame:
        names = [f"{layer + 1}·{head + 1}" for layer, head in heads]
        tables = [None if one is None else pd.DataFrame(one, names, columns) for one in (rows, drawn.other)]
        return of_both(*tables).iloc[np.argsort(-rows[:, 1], kind="stable")]

    return Picture(
        draw,
        sentence,
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
    return _named(percents(row), own)


def _named(shares: Sequence[str], own: str) -> str:
    """Shares with the names of the first KINDS."""
    return plain("common.comma").join(
        word(f"share_{kind}", share=share) for kind, share in zip([own, *KINDS[1:]], shares, strict=False)
    )


def own_kind(trace: Trace) -> str:
    return "word" if trace.picture is None else "patch"
