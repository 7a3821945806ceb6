"""What only a drawing has: how it is prepared, attention laid over it, and what its patches know of their places.

Each function draws one part of a page, and nothing where the input is no drawing cut into patches.
"""

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import cosine_similarity, rollout
from model.digits import BOX, SIZE
from pages.ui import digits, session
from pages.ui.figures import Axis, drawing, heatmap, over_drawing, over_drawings, tiles
from pages.ui.text import plain, t
from pages.ui.view import View, shape

EQUATIONS = {
    "mean": r"\bar A^{(l)}_{i\,\cdot} = \tfrac1h \textstyle\sum_{\text{heads}} A^{(l)}_{i\,\cdot}",
    "rollout": r"R^{(l)} = \left(\tfrac12 \bar A^{(l)} + \tfrac12 I\right) R^{(l-1)}",
}
INKED = 0.5  # a patch holds ink where one of its pixels is at least this bright


def first_query(view: View) -> int:
    """The token that looks, before anybody chose one: [CLS], whose vector the answer is read from; else the second."""
    return 0 if view.choice.input == "digit" else 1


def how_it_is_prepared(view: View) -> None:
    """Tokens: from what was drawn to the rows that enter the encoder, a small picture for each step."""
    if view.choice.input != "digit":
        return
    config = view.trace.config
    size, side = config.patch_size, config.patches_per_side
    steps = digits.steps(view.choice.drawing)
    raw, cropped, scaled = steps.raw, steps.cropped, steps.scaled
    image, patches = _image(view), _patches(view)
    top, left = np.flatnonzero(raw.any(1))[0], np.flatnonzero(raw.any(0))[0]
    box = (top, left, top + cropped.shape[0], left + cropped.shape[1])
    centre = [float((image.sum(1 - axis) * np.arange(SIZE)).sum() / image.sum()) for axis in (0, 1)]
    small = {"font_size": view.font_size, "height": 230}
    wide = small | {"square": False, "height": round(230 * view.font_size / 12)}
    dimension = Axis(plain("axis.d_model"))

    pictures = (
        (
            "raw",
            raw,
            drawing(raw, box=box, **small),
            {"share": f"{(raw > 0).mean():.0%}", "height": cropped.shape[0], "width": cropped.shape[1]},
        ),
        (
            "scaled",
            scaled,
            drawing(scaled, **small),
            {"before": shape(cropped), "after": shape(scaled), "box": BOX},
        ),
        (
            "centred",
            image,
            drawing(image, cross=(centre[0], centre[1]), **small),
            {"size": SIZE, "row": f"{centre[0]:.1f}", "column": f"{centre[1]:.1f}"},
        ),
        (
            "cut",
            image.reshape(side, size, side, size).swapaxes(1, 2),
            drawing(image, cut=size, **small),
            {"side": side, "size": size, "patches": len(patches), "inked": int(_inked(view).sum())},
        ),
        (
            "rows",
            patches,
            heatmap(
                patches, Axis(plain("patches.axis_patch")), Axis(plain("tokens.axis_pixel")), scale="share", **wide
            ),
            {"patches": len(patches), "pixels": size * size},
        ),
        (
            "projected",
            view.trace["embedding.tokens"],
            heatmap(view.trace["embedding.tokens"], Axis(plain("axis.token")), dimension, **wide),
            {"pixels": size * size, "d_model": config.d_model, "tokens": len(view.trace.tokens)},
        ),
    )
    st.subheader(plain("patches.prepared"), anchor=False)
    st.markdown(t("patches.prepared_intro"))
    for row in (pictures[:3], pictures[3:]):
        for column, (name, values, figure, numbers) in zip(st.columns(3), row, strict=True):
            with column:
                table = pd.DataFrame(values if values.ndim == 2 else image)
                sentence = t(f"patches.read_{name}", **numbers)
                title = plain(f"patches.{name}")
                view.picture(f"prepared_{name}", figure, sentence, title=title, values=values, table=table)


def attention_over_drawing(view: View, query: int) -> None:
    """Attention: what `query` looks at, laid over the drawing: one head, all heads of all layers, layers, rollout."""
    if view.choice.input != "digit":
        return
    config, tokens = view.trace.config, view.trace.tokens
    layer, head, side = view.choice.layer, view.choice.head, config.patches_per_side
    image, inked = _image(view), _inked(view)
    weights = np.stack([view.trace[f"layers.{i}.attention.weights"][:, query] for i in range(config.layers)])
    row = weights[layer, head]

    st.subheader(plain("patches.over"), anchor=False)
    st.markdown(t("patches.over_intro"))
    st.session_state["attention.from"] = query
    st.selectbox(
        plain("attention.hand_query"),
        range(len(tokens)),
        format_func=tokens.__getitem__,
        key="attention.from",
        on_change=lambda: st.session_state.update(query=st.session_state["attention.from"]),
        width=240,
    )

    def look_from(row: int, column: int) -> None:
        st.session_state["query"] = 0 if column < 0 else 1 + row * side + column

    def choose_head(row: int, column: int) -> None:
        st.session_state["layer"], st.session_state["head"] = row + 1, column + 1

    columns = st.columns([5, 6])
    with columns[0]:
        best = 1 + int(row[1:].argmax())
        kept = "patches.kept_by_itself" if query == 0 else "patches.kept_by_cls"
        sentence = t(
            "patches.read_over",
            query=tokens[query],
            where=view.where(),
            best=tokens[best],
            value=f"{row[best]:.3f}",
            patches=f"{row[1:].sum():.3f}",
        )
        sentence += " " + t(kept, value=f"{row[0]:.3f}")
        sentence += " " + t(
            "patches.read_ink",
            inked=inked.sum(),
            ink=f"{row[1:][inked].sum():.0%}",
            even=f"{inked.sum() / len(row):.0%}",
        )
        view.picture(
            "over",
            over_drawing(image, row, tokens, query, plain("attention.weight"), font_size=view.font_size, height=430),
            sentence,
            title=plain("patches.over_one"),
            equation=r"A_{i\,\cdot}",
            values=row,
            table=pd.DataFrame({plain("attention.weight"): row}, index=tokens),
            on_pick=look_from,
        )
    with columns[1]:
        places = np.unravel_index(weights[:, :, 1:].argmax(), weights[:, :, 1:].shape)
        most = {"where": plain("common.where", layer=places[0] + 1, head=places[1] + 1), "best": tokens[1 + places[2]]}
        names = [
            [plain("common.where", layer=i + 1, head=j + 1) for j in range(config.heads)] for i in range(config.layers)
        ]
        view.picture(
            "over_heads",
            over_drawings(
                image,
                weights[:, :, 1:].reshape(config.layers, config.heads, side, side),
                Axis(plain("heads.axis_layer"), [str(i + 1) for i in range(config.layers)]),
                Axis(plain("heads.axis_head"), [str(i + 1) for i in range(config.heads)]),
                chosen=(layer, head),
                hover=[
                    f"{names[i][j]} · {_most(weights[i, j], tokens)}"
                    for i in range(config.layers)
                    for j in range(config.heads)
                ],
                font_size=view.font_size,
                height=500,
            ),
            t("patches.read_heads", query=tokens[query], value=f"{weights[:, :, 1:].max():.3f}", **most),
            title=plain("patches.over_heads"),
            values=weights,
            table=pd.DataFrame(weights.reshape(-1, len(tokens)), index=np.ravel(names), columns=tokens),
            on_pick=choose_head,
        )

    steps = [plain("patches.after_layer", layer=i + 1) for i in range(config.layers)]
    every = np.stack([view.trace[f"layers.{i}.attention.weights"] for i in range(config.layers)])
    for name, rows in (("mean", weights.mean(axis=1)), ("rollout", rollout(every)[:, query])):
        last = rows[-1]
        best = 1 + int(last[1:].argmax())
        sentence = t(
            "patches.read_rollout_cls" if name == "rollout" and query == 0 else f"patches.read_{name}",
            query=tokens[query],
            layer=config.layers,
            best=tokens[best],
            value=f"{last[best]:.3f}",
            own=f"{last[query]:.3f}",
            cls=f"{last[0]:.3f}",
            patches=f"{last[1:].sum():.3f}",
        )
        view.picture(
            f"over_{name}",
            over_drawings(
                image,
                rows[None, :, 1:].reshape(1, config.layers, side, side),
                Axis(""),
                Axis("", steps),
                hover=[f"{step} · {_most(values, tokens)}" for step, values in zip(steps, rows, strict=True)],
                font_size=view.font_size,
                height=240,
            ),
            sentence,
            title=plain(f"patches.over_{name}"),
            equation=EQUATIONS[name],
            values=rows,
            table=pd.DataFrame(rows, index=steps, columns=tokens),
        )


def patch_pair(view: View, query: int, key: int) -> None:
    """By hand on Attention: the pixels of the two tokens, side by side."""
    if view.choice.input != "digit":
        return
    tokens, size = view.trace.tokens, view.trace.config.patch_size
    chosen = [i for i in (query, key) if i > 0]
    if chosen:
        patches = _patches(view)[[i - 1 for i in chosen]].reshape(1, -1, size, size)
        names = [tokens[i] for i in chosen]
        figure = tiles(patches, Axis(""), Axis("", names), hover=names, font_size=view.font_size, height=150)
        figure.update_layout(width=110 * len(chosen) + 20).update_traces(showscale=False, selector={"type": "heatmap"})
        st.plotly_chart(figure, key="attention.pair", width="content", config={"displayModeBar": False})
    if len(chosen) < 2:
        st.caption(t("patches.cls_has_no_pixels"))


def position_maps(view: View, token: int) -> None:
    """Tokens: how alike the learned positions of the patches are, as a map for each patch."""
    if view.choice.input != "digit":
        return
    side, names = view.trace.config.patches_per_side, view.trace.tokens[1:]
    table = session.pipeline(view.choice.pipeline).network.embedding.positions.table.numpy()[1:]
    alike = cosine_similarity(table)
    others = np.where(np.eye(len(names), dtype=bool), -np.inf, alike)
    place = np.argwhere(np.ones((side, side)))
    apart = np.abs(place[:, None] - place[None]).sum(-1)
    in_line = (place[:, None] == place[None]).any(-1) & (apart > 1)
    shown = max(token - 1, 0)
    nearest = int(others[shown].argmax())

    def choose(row: int, column: int) -> None:
        st.session_state["token"] = 1 + row * side + column

    figure = (
        tiles(
            alike.reshape(side, side, side, side),
            Axis(plain("tokens.axis_row"), [str(i + 1) for i in range(side)]),
            Axis(plain("tokens.axis_column"), [str(i + 1) for i in range(side)]),
            scale="signed",
            limit=1.0,
            chosen=divmod(shown, side),
            hover=[
                plain("patches.hover_position", patch=names[i], nearest=names[j], cosine=f"{others[i, j]:.2f}")
                for i, j in enumerate(others.argmax(axis=1))
            ],
            font_size=view.font_size,
            height=620,
        )
        .update_xaxes(constrain="domain")
        .update_yaxes(constrain="domain", scaleanchor="x")
    )
    view.picture(
        "position_maps",
        figure,
        t(
            "patches.read_positions",
            patch=names[shown],
            nearest=names[nearest],
            cosine=f"{others[shown, nearest]:.2f}",
            near=f"{alike[apart == 1].mean():.2f}",
            line=f"{alike[in_line].mean():.2f}",
            far=f"{alike[(apart > 1) & ~in_line].mean():.2f}",
        ),
        title=plain("patches.positions"),
        equation=r"\cos\left(E_{pos}[r,c],\; E_{pos}[r',c']\right)",
        values=alike.reshape(side, side, side, side),
        table=pd.DataFrame(alike, index=names, columns=names),
        on_pick=choose,
    )


def first_to_know(view: View) -> None:
    """Answer: what the classifier would say after each layer, and from which on the answer stands."""
    if view.choice.input != "digit":
        return
    probabilities = session.pipeline(view.choice.pipeline).read_layers(view.trace)  # (1 + layer, class)
    best, layers = probabilities.argmax(axis=1), view.trace.config.layers
    labels = view.trace.answer[0].labels
    since = layers - int((best[::-1] == best[-1]).argmin()) + 1 if (best != best[-1]).any() else 0
    steps = [plain("layers.step_0"), *(plain("layers.step", layer=i + 1) for i in range(layers))]
    before = labels[best[since - 1]] if since else ""
    known = t(
        "patches.known" if since else "patches.known_at_once", answer=labels[best[-1]], layer=since, before=before
    )
    view.picture(
        "first_to_know",
        heatmap(
            probabilities,
            Axis("", steps),
            Axis(plain("answer.axis_class"), labels),
            scale="share",
            square=False,
            font_size=view.font_size,
            height=270,
        ),
        t("patches.read_first_to_know", value=f"{probabilities[-1].max():.3f}") + " " + known,
        title=plain("patches.first_to_know"),
        equation=r"p^{(l)} = \operatorname{softmax}\left(X^{(l)}_{[\text{CLS}]} W + b\right)",
        values=probabilities,
    )


def _image(view: View) -> np.ndarray:
    """What the network reads: (28, 28) in [0, 1]."""
    side = view.trace.config.image_size
    return np.frombuffer(view.choice.ink, np.uint8).reshape(side, side).astype(np.float32) / 255


def _patches(view: View) -> np.ndarray:
    """The patches as rows: (patch, pixel), as the network projects them."""
    size, side = view.trace.config.patch_size, view.trace.config.patches_per_side
    return _image(view).reshape(side, size, side, size).swapaxes(1, 2).reshape(side * side, size * size)


def _inked(view: View) -> np.ndarray:
    """Which patches hold ink."""
    return _patches(view).max(axis=1) >= INKED


def _most(row: np.ndarray, tokens: list[str]) -> str:
    """Where most of a row goes among the patches, and what [CLS] gets: "r3c4 0.312 · [CLS] 0.004"."""
    best = 1 + int(row[1:].argmax())
    return f"{tokens[best]} {row[best]:.3f} · {tokens[0]} {row[0]:.3f}"
