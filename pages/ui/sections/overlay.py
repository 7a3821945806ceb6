"""What a token looks at, laid over the drawing that the patches were cut from: one head, all heads, all layers."""

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import rollout
from pages.ui.figures import Axis, over_drawing, over_drawings, tiles
from pages.ui.link import select
from pages.ui.text import plain, t
from pages.ui.view import View

EQUATIONS = {
    "mean": r"\bar A^{(l)}_{i\,\cdot} = \tfrac1h \textstyle\sum_{\text{heads}} A^{(l)}_{i\,\cdot}",
    "rollout": r"R^{(l)} = \left(\tfrac12 \bar A^{(l)} + \tfrac12 I\right) R^{(l-1)}",
}
INKED = 0.5  # a patch holds ink where one of its pixels is at least this bright


def inked(view: View) -> np.ndarray:
    """Which patches hold ink."""
    patches = view.trace.patches
    assert patches is not None  # a drawing
    return patches.max(axis=1) >= INKED


def over_one(view: View, key: str) -> None:
    """The selected token's row of weights over the drawing. A click on a patch, or on [CLS], selects it."""
    tokens, side = view.trace.tokens, view.trace.config.patches_per_side
    weights = view.trace[key][view.choice.head]
    row = weights[view.token]
    best = 1 + int(row[1:].argmax())
    ink = inked(view)
    if view.story:
        share = f"{row[best]:.0%}"
        said = t("attention.read_story", query=tokens[view.token], key=tokens[best], share=share)
    else:
        said = t(
            "overlay.read_one",
            query=tokens[view.token],
            where=view.where(),
            best=tokens[best],
            value=f"{row[best]:.3f}",
            patches=f"{row[1:].sum():.3f}",
        )
        said += " " + t("overlay.by_itself" if view.token == 0 else "overlay.by_cls", value=f"{row[0]:.3f}")
        share, even = f"{row[1:][ink].sum():.0%}", f"{ink.sum() / len(row):.0%}"
        said += " " + t("overlay.read_ink", inked=ink.sum(), ink=share, even=even)

    def look_from(row: int, column: int) -> None:
        select(token=0 if column < 0 else 1 + row * side + column)

    title = plain("attention.weight")
    look = {"font_size": view.font_size, "height": 285 if view.choice.big else 420}  # both end on the first screen
    view.picture(
        "weights",
        over_drawing(view.trace.picture, row, tokens, view.token, title, **look),
        said,
        quantity=view.trace.quantity(key),
        values=row,
        table=pd.DataFrame(weights, index=tokens, columns=tokens),
        on_pick=look_from,
    )
    place = divmod(max(view.token - 1, 0), side)
    view.moves(place, (side, side), look_from)


def over_heads(view: View, row: str) -> None:
    """What the selected token looks at in every head of every layer. row: of the graph, for the weights."""
    config, tokens, side = view.trace.config, view.trace.tokens, view.trace.config.patches_per_side
    weights = _every_layer(view, row)[:, :, view.token]
    heads = [(i, j) for i in range(config.layers) for j in range(config.heads)]
    names = [plain("common.where", layer=i + 1, head=j + 1) for i, j in heads]
    place = np.unravel_index(weights[:, :, 1:].argmax(), weights[:, :, 1:].shape)

    def choose(row: int, column: int) -> None:
        select(layer=row, head=column)

    view.picture(
        "over_heads",
        over_drawings(
            view.trace.picture,
            weights[:, :, 1:].reshape(config.layers, config.heads, side, side),
            Axis(plain("overlay.axis_layer"), [str(i + 1) for i in range(config.layers)]),
            Axis(plain("overlay.axis_head"), [str(i + 1) for i in range(config.heads)]),
            chosen=(view.choice.layer, view.choice.head),
            hover=[f"{name} · {_most(weights[head], tokens)}" for name, head in zip(names, heads, strict=True)],
            font_size=view.font_size,
            height=500,
        ),
        t(
            "overlay.read_heads",
            query=tokens[view.token],
            value=f"{weights[:, :, 1:].max():.3f}",
            where=plain("common.where", layer=place[0] + 1, head=place[1] + 1),
            best=tokens[1 + place[2]],
        ),
        title=plain("overlay.heads"),
        values=weights,
        table=pd.DataFrame(weights.reshape(-1, len(tokens)), index=names, columns=tokens),
        on_pick=choose,
    )


def over_layers(view: View, row: str) -> None:
    """Layer by layer: the mean of the heads, and rollout, which traces it back to the input."""
    config, tokens, side, query = view.trace.config, view.trace.tokens, view.trace.config.patches_per_side, view.token
    every = _every_layer(view, row)
    steps = [plain("overlay.after_layer", layer=i + 1) for i in range(config.layers)]
    for name, rows in (("mean", every.mean(axis=1)[:, query]), ("rollout", rollout(every)[:, query])):
        last = rows[-1]
        best = 1 + int(last[1:].argmax())
        view.picture(
            f"over_{name}",
            over_drawings(
                view.trace.picture,
                rows[None, :, 1:].reshape(1, config.layers, side, side),
                Axis(""),
                Axis("", steps),
                hover=[f"{step} · {_most(values, tokens)}" for step, values in zip(steps, rows, strict=True)],
                font_size=view.font_size,
                height=240,
            ),
            t(
                "overlay.read_rollout_cls" if name == "rollout" and query == 0 else f"overlay.read_{name}",
                query=tokens[query],
                layer=config.layers,
                best=tokens[best],
                value=f"{last[best]:.3f}",
                own=f"{last[query]:.3f}",
                cls=f"{last[0]:.3f}",
                patches=f"{last[1:].sum():.3f}",
            ),
            title=plain(f"overlay.{name}"),
            equation=EQUATIONS[name],
            values=rows,
            table=pd.DataFrame(rows, index=steps, columns=tokens),
        )


def patch_pair(view: View, query: int, key: int) -> None:
    """The pixels of the two tokens that meet in a score, side by side."""
    tokens, size, patches = view.trace.tokens, view.trace.config.patch_size, view.trace.patches
    assert patches is not None  # a drawing
    shown = [place for place in (query, key) if place > 0]
    if shown:
        pixels = patches[[place - 1 for place in shown]].reshape(1, -1, size, size)
        names = [tokens[place] for place in shown]
        figure = tiles(pixels, Axis(""), Axis("", names), hover=names, font_size=view.font_size, height=150)
        figure.update_layout(width=110 * len(shown) + 20).update_traces(showscale=False, selector={"type": "heatmap"})
        st.plotly_chart(figure, key="attention.pair", width="content", config={"displayModeBar": False})
    if len(shown) < 2:
        st.caption(t("overlay.cls_has_no_pixels"))


def _every_layer(view: View, row: str) -> np.ndarray:
    """The weights of all layers: (layer, head, query, key)."""
    keys = [quantity.key for quantity in view.trace.graph if quantity.row == row]
    return np.stack([view.trace[key] for key in keys])


def _most(row: np.ndarray, tokens: list[str]) -> str:
    """Where most of a row goes among the patches, and what [CLS] gets: "r3c4 0.312 · [CLS] 0.004"."""
    best = 1 + int(row[1:].argmax())
    return f"{tokens[best]} {row[best]:.3f} · {tokens[0]} {row[0]:.3f}"
