"""What a token looks at, laid over the picture that the patches were cut from: one head, all heads, all layers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.analysis import rollout
from model.digits import FAINTEST, hold_ink
from pages.ui.components.chart import chart
from pages.ui.figures import Axis, colour_tiles, over_drawing, over_drawings, tiles, token_at
from pages.ui.figures.equations import MEAN_WEIGHTS, ROLLOUT
from pages.ui.sections.at_once import patches_at_once
from pages.ui.state.link import select
from pages.ui.text import plain, t
from pages.ui.text.numbers import written
from pages.ui.view import View


def inked(view: View) -> np.ndarray | None:
    """Which patches hold ink; None where the input is no drawing."""
    patches, seen = view.trace.patches, view.seen
    return None if patches is None or seen is None or seen.ndim == 3 else hold_ink(patches)


def over_one(view: View, key: str) -> None:
    """The selected token's row of weights over the drawing. A click on a patch, or on [CLS], selects it."""
    tokens, side, front = view.trace.tokens, view.trace.config.patches_per_side, view.trace.config.tokens_in_front
    row, weights = view.trace[key][view.choice.head, view.token], view.measure(key).less_nothing()
    shown = weights[view.token]
    drawn = shown.values
    best = front + int(row[front:].argmax())
    ink = inked(view)
    said = t(
        "overlay.read_one",
        query=tokens[view.token],
        where=view.where(),
        best=tokens[best],
        value=f"{row[best]:.3f}",
        patches=f"{row[front:].sum():.3f}",
    )
    if front:
        said += " " + t("overlay.by_itself" if view.token == 0 else "overlay.by_cls", value=f"{row[0]:.3f}")
    if placeless := list(view.trace.config.placeless):
        said += " " + t("overlay.by_registers", value=f"{row[placeless].sum():.3f}")
    if ink is not None:
        share, even = f"{row[front:][ink].sum():.0%}", f"{ink.sum() / len(row):.0%}"
        said += " " + t("overlay.read_ink", inked=ink.sum(), ink=share, even=even, least=FAINTEST)

    def look_from(row: int, column: int) -> None:
        select(token=token_at(row, column, side, front))

    title = plain("attention.weight")
    look = {
        "front": front,
        "differs": shown.differs,
        "height": 285 if view.choice.big else 420,
    }  # both end on the first screen
    view.picture(
        "weights",
        over_drawing(view.seen, drawn, tokens, view.token, title, **look),
        said,
        quantity=view.trace.quantity(key),
        values=drawn,
        table=pd.DataFrame(weights.values, index=tokens, columns=tokens),
        on_pick=look_from,
        shows=shown.on(Axis("", tokens)),
        at_once=patches_at_once(view, key),
    )
    place = divmod(max(view.token - front, 0), side)
    view.moves(place, (side, side), look_from)


def over_heads(view: View) -> None:
    """What the selected token looks at in every head of every layer."""
    config, tokens, side = view.trace.config, view.trace.tokens, view.trace.config.patches_per_side
    front = config.tokens_in_front
    weights = every_weight(view.trace)[:, :, view.token]
    measure = view.measure(every_weight, ("", "", "query", "key"))[:, :, view.token]
    drawn = measure.values
    heads = [*np.ndindex(weights.shape[:2])]
    names = [plain("common.where", layer=i + 1, head=j + 1) for i, j in heads]
    place = np.unravel_index(weights[:, :, front:].argmax(), weights[:, :, front:].shape)

    view.picture(
        "over_heads",
        over_drawings(
            view.seen,
            drawn[:, :, front:].reshape(config.layers, config.heads, side, side),
            Axis.counted(plain("overlay.axis_layer"), config.layers),
            Axis.counted(plain("overlay.axis_head"), config.heads),
            chosen=(view.choice.layer, view.choice.head),
            differs=measure.differs,
            hover=[f"{name} · {_most(drawn[head], tokens, front)}" for name, head in zip(names, heads, strict=True)],
            height=500 if config.layers <= 6 else 640,
        ),
        t(
            "overlay.read_heads",
            query=tokens[view.token],
            value=f"{weights[:, :, front:].max():.3f}",
            where=plain("common.where", layer=place[0] + 1, head=place[1] + 1),
            best=tokens[front + place[2]],
        ),
        title=plain("overlay.heads"),
        values=drawn,
        table=pd.DataFrame(drawn.reshape(-1, len(tokens)), index=names, columns=tokens),
        on_pick=lambda row, column: select(layer=row, head=column),
        shows=replace(measure, values=drawn.reshape(-1, len(tokens))).on(Axis("", names), Axis("", tokens)),
    )


def over_layers(view: View) -> None:
    """Layer by layer: the mean of the heads, and rollout, which traces it back to the input."""
    config, tokens, side, query = view.trace.config, view.trace.tokens, view.trace.config.patches_per_side, view.token
    front = config.tokens_in_front
    steps = [plain("overlay.after_layer", layer=i + 1) for i in range(config.layers)]
    makes = {
        "mean": (lambda run: every_weight(run).mean(axis=1), MEAN_WEIGHTS),
        "rollout": (lambda run: rollout(every_weight(run)), ROLLOUT),
    }
    for name, (of, equation) in makes.items():
        last, measure = of(view.trace)[-1, query], view.measure(of, ("", "query", "key"))[:, query]
        rows = measure.values
        # Of rollout a patch's own place is told by itself: the shares in the sentence add up to 1.
        told = np.where(np.arange(len(tokens)) == query, 0, last) if name == "rollout" else last
        best = front + int(told[front:].argmax())
        view.picture(
            f"over_{name}",
            over_drawings(
                view.seen,
                rows[None, :, front:].reshape(1, config.layers, side, side),
                Axis(""),
                Axis("", steps),
                differs=measure.differs,
                hover=[f"{step} · {_most(values, tokens, front)}" for step, values in zip(steps, rows, strict=True)],
                height=240,
            ),
            t(
                _key_of(name, query, front),
                query=tokens[query],
                layer=config.layers,
                best=tokens[best],
                value=f"{last[best]:.3f}",
                own=f"{last[query]:.3f}",
                cls=f"{last[0]:.3f}",
                patches=f"{told[front:].sum():.3f}",
            ),
            title=plain(f"overlay.{name}"),
            equation=equation,
            values=rows,
            table=pd.DataFrame(rows, index=steps, columns=tokens),
            shows=measure.on(Axis("", steps), Axis("", tokens)),
            law_of=["layers.{l}.attention.weights"],
        )


def _key_of(name: str, query: int, front: int) -> str:
    """The key of what is said of the mean or the rollout of a row; [CLS] is told only where it is another token."""
    if name == "rollout":
        return "overlay.read_rollout_cls" if query < front or not front else "overlay.read_rollout"
    return "overlay.read_mean" if front else "overlay.read_mean_patches"


def patch_pair(view: View, query: int, key: int) -> None:
    """The pixels of the two tokens that meet in a score, side by side."""
    tokens, front = view.trace.tokens, view.trace.config.tokens_in_front
    shown = [place for place in (query, key) if place >= front]
    if shown:
        pixels = pieces_of(view)[[place - front for place in shown]][None]
        names = [tokens[place] for place in shown]
        draw = colour_tiles if pixels.ndim == 5 else tiles
        figure = draw(pixels, Axis(""), Axis("", names), hover=names, height=150)
        figure.layout["width"] = 110 * len(shown) + 20
        for trace in figure.data:
            if trace["type"] == "heatmap":
                trace["showscale"] = False
        chart(figure, "attention.pair", alt=" · ".join(names))
    if len(shown) < 2:
        st.caption(t("overlay.cls_has_no_pixels"))


def pieces_of(view: View) -> np.ndarray:
    """The patches as they look: (patch, size, size), or (patch, size, size, 3) in colour."""
    seen, size, side = view.seen, view.trace.config.patch_size, view.trace.config.patches_per_side
    assert seen is not None  # a picture
    return seen.reshape(side, size, side, size, *seen.shape[2:]).swapaxes(1, 2).reshape(-1, size, size, *seen.shape[2:])


def every_weight(run: Trace) -> np.ndarray:
    return run.over_layers("attention.weights")


def _most(row: np.ndarray, tokens: list[str], front: int) -> str:
    """Where most of a row goes among the patches, and what [CLS] gets: "r3c4 0.312 · [CLS] 0.004"."""
    best = front + int(np.abs(row[front:]).argmax())
    said = f"{tokens[best]} {written(f'{row[best]:.3f}')}"
    return f"{said} · {tokens[0]} {written(f'{row[0]:.3f}')}" if front else said
