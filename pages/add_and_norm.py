"""Add & Norm: what a sub-layer found joins what was there; LayerNorm brings every vector to a common scale."""

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import cosine_similarity
from model.encoder import EncoderLayer
from pages.ui.figures import ADDED, AFTER, BEFORE, grouped_bars, outlines, spreads
from pages.ui.link import select
from pages.ui.pickers import either
from pages.ui.sections.cell_map import cell_maps
from pages.ui.text import plain, t
from pages.ui.view import View

AFTER_SUM = r"\operatorname{LayerNorm}\bigl(X + \operatorname{Sublayer}(X)\bigr)"
BEFORE_SUBLAYER = r"X + \operatorname{Sublayer}\bigl(\operatorname{LayerNorm}(X)\bigr)"


def text(name: str, **values: object) -> str:
    return t(f"add_and_norm.{name}", **values)


def word(name: str, **values: object) -> str:
    return plain(f"add_and_norm.{name}", **values)


def choose_token(_height: int, place: int) -> None:
    select(token=place)


def maps() -> None:
    """Every quantity on the way, one below the other, and the arithmetic of the chosen cell."""
    cell = token, view.choice.component if view.choice.component is not None else int(np.abs(total[token]).argmax())
    said = {
        sub.before: text("read_input", limit=f"{limit:.2f}"),
        sub.output: text(f"read_output_{sub.name}", share=f"{np.mean(lengths['found'] / lengths['in']):.0%}"),
        sub.sum: text(
            "read_add",
            token=tokens[token],
            component=cell[1] + 1,
            **{name: number(values[cell]) for name, values in (("x", before), ("o", found), ("sum", total))},
        ),
        sub.norm: text("read_norm", low=f"{entered.std(axis=1).min():.3f}", high=f"{entered.std(axis=1).max():.3f}"),
    }
    titles = {sub.before: "was_there", sub.output: f"found_{sub.name}", sub.sum: "the_sum", sub.norm: "normed"}
    looks = [{"title": word(titles[key]), "height": low, "strongest": limit} for key in steps]
    cell_maps(view, steps, [said[key] for key in steps], looks, stacked=True)


def number(value: float) -> str:
    return f"{value:.4f}".replace("-", "−")


def lengths_picture() -> None:
    moved = int((lengths["found"] / lengths["in"]).argmax())
    view.picture(
        "lengths",
        grouped_bars(
            {word(f"length_{name}"): values for name, values in lengths.items()},
            view.tokens("axis.token"),
            word("axis_length"),
            (BEFORE, ADDED, AFTER),
            font_size=view.font_size,
        ),
        text(
            "read_lengths_story" if view.story else "read_lengths",
            token=tokens[moved],
            found=f"{lengths['found'][moved]:.2f}",
            before=f"{lengths['in'][moved]:.2f}",
            sum=f"{lengths['sum'][moved]:.2f}",
        ),
        on_pick=choose_token,
    )


def cosines_picture() -> None:
    """Each token's vector with the same token's vector later, not with every other one."""
    pairs = {
        word(f"cosine_{name}"): cosine_similarity(before[:, None], later[:, None])[:, 0, 0]
        for name, later in (("found", found), ("after", handed_on))
    }
    aligned, kept = (values[token] for values in pairs.values())
    kind = "same" if aligned > 0.25 else "against" if aligned < -0.25 else "new"
    view.picture(
        "cosines",
        grouped_bars(
            pairs,
            view.tokens("axis.token"),
            word("axis_cosine"),
            (ADDED, AFTER),
            value_range=(-1, 1),
            font_size=view.font_size,
        ),
        text(f"read_cosines_{kind}", token=tokens[token], found=f"{aligned:.2f}", after=f"{kept:.2f}"),
        on_pick=choose_token,
    )


def values_pictures() -> None:
    """LayerNorm: the values that go in and come out, of every token and of the selected one."""
    mean, deviation = entered.mean(axis=1, keepdims=True), entered.std(axis=1, keepdims=True)
    standard = (entered - mean) / np.sqrt(deviation**2 + epsilon)
    columns = view.columns([1, 1])
    with columns[0]:
        share = [0.05, 0.25, 0.5, 0.75, 0.95]
        view.picture(
            "spreads",
            spreads(
                {word("before"): entered, word("after"): normed},
                view.tokens("axis.token"),
                word("axis_value"),
                (BEFORE, AFTER),
                font_size=view.font_size,
            ),
            text("read_spreads", low=f"{mean.min():.3f}", high=f"{mean.max():.3f}"),
            table=pd.DataFrame(
                np.quantile(np.concatenate([entered, normed]), share, axis=1).T,
                index=[f"{word(when)} · {name}" for when in ("before", "after") for name in tokens],
                columns=[f"{part:.0%}" for part in share],
            ),
        )
    with columns[1]:
        three = {"before": entered[token], "normalised": standard[token], "after": normed[token]}
        view.picture(
            "histogram",
            outlines(
                {word(name): values for name, values in three.items()},
                word("axis_value"),
                word("axis_count", d_model=d_model),
                (BEFORE, ADDED, AFTER),
                font_size=view.font_size,
            ),
            text(
                "read_histogram",
                token=tokens[token],
                mean=f"{mean[token, 0]:.3f}",
                deviation=f"{deviation[token, 0]:.3f}",
                after_mean=f"{normed[token].mean():.3f}",
                after_deviation=f"{normed[token].std():.3f}",
            ),
            table=pd.DataFrame({word(name): values for name, values in three.items()}, index=range(1, d_model + 1)),
        )
    with view.more():
        moments(standard)
        sigma, divisor = float(deviation[token, 0]), float(np.sqrt(deviation[token, 0] ** 2 + epsilon))
        theirs, ours = f"{sigma + epsilon:.6f}", f"{divisor:.6f}"
        st.markdown(text("hand_note", epsilon=f"{epsilon:g}", sigma=f"{sigma:.6f}", theirs=theirs, ours=ours))


def moments(standard: np.ndarray) -> None:
    """Mean and standard deviation of every token, before, in between and after."""
    st.markdown(text("statistics", d_model=d_model))
    columns: dict[str, object] = {plain("axis.token"): tokens}
    for name, values in (("before", entered), ("normalised", standard), ("after", normed)):
        for symbol, moment in (("μ", values.mean(axis=1)), ("σ", values.std(axis=1))):
            columns[f"{symbol} {word(f'column_{name}')}"] = np.where(np.abs(moment) < 5e-5, 0, moment)  # never −0.0000
    four = {name: st.column_config.NumberColumn(format="%.4f") for name in list(columns)[1:]}
    table = pd.DataFrame(columns)
    st.dataframe(table, key="add_and_norm.statistics", column_config=four, hide_index=True, height=300)


view = View("add_and_norm")
tokens, token, d_model = view.trace.tokens, view.token, view.trace.config.d_model
sublayers = view.trace.graph.sublayers(view.choice.layer)
sub = sublayers[min(view.choice.sublayer, len(sublayers)) - 1]
# In order of computation, wherever LayerNorm stands.
steps = [sub.before, *[sub.norm] * sub.norm_first, sub.output, sub.sum, *[sub.norm] * (not sub.norm_first)]
before, found, total, entered, normed, handed_on = (
    view.trace[key] for key in (sub.before, sub.output, sub.sum, sub.norm_reads, sub.norm, sub.after)
)
epsilon = view.pipeline.network.get_submodule(sub.norm).eps
# One range of colours for all maps, so that they can be compared; the few largest values saturate.
limit = float(np.quantile(np.abs([before, found, total, normed]), 0.995))
lengths = {name: np.linalg.norm(x, axis=1) for name, x in (("in", before), ("found", found), ("sum", total))}
low = int(min(230, 60 + 10 * len(tokens)) * view.font_size / 12)

if view.choice.at_least("formula"):
    view.equation(BEFORE_SUBLAYER if sub.norm_first else AFTER_SUM)
with st.container(horizontal=True, vertical_alignment="bottom"):
    places = [str(place) for place in range(1, len(sublayers) + 1)]
    names = [word(f"place_{each.name}") for each in sublayers]
    either("sublayer", word("place"), range(1, len(sublayers) + 1), names, sublayers.index(sub) + 1)
    panel = "story" if view.story else view.panel("maps", "ways", "values")
match panel:
    case "story":
        lengths_picture()
        view.tell(text("story_add"), text("story_norm"))
    case "maps":
        maps()
    case "ways":
        columns = view.columns([1, 1])
        with columns[0]:
            lengths_picture()
        with columns[1]:
            cosines_picture()
    case "values":
        values_pictures()

view.close(EncoderLayer)
