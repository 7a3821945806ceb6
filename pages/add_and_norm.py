"""Add & Norm: what a sub-layer found joins what was there; LayerNorm brings every vector to a common scale."""

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.analysis import cosine_similarity
from model.encoder import EncoderLayer
from pages.ui.differences import Difference, of_both
from pages.ui.figures import ADDED, AFTER, BEFORE, Axis, grouped_bars, outlines, spreads
from pages.ui.link import select
from pages.ui.pickers import either
from pages.ui.sections.cell_map import cell_maps
from pages.ui.text import plain, texts_of
from pages.ui.view import View

AFTER_SUM = r"\operatorname{LayerNorm}\bigl(X + \operatorname{Sublayer}(X)\bigr)"
BEFORE_SUBLAYER = r"X + \operatorname{Sublayer}\bigl(\operatorname{LayerNorm}(X)\bigr)"
text, word = texts_of("add_and_norm")


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


def three_lengths(run: Trace) -> np.ndarray:
    """How long what was there, what was found and their sum are: (3, token)."""
    return np.stack([np.linalg.norm(run[key], axis=1) for key in (sub.before, sub.output, sub.sum)])


def lengths_picture() -> None:
    drawn, names = view.compared(three_lengths, ("", "token")), [word(f"length_{name}") for name in lengths]
    there = view.marked(three_lengths, ("", "token"))
    moved = int((lengths["found"] / lengths["in"]).argmax())
    view.picture(
        "lengths",
        grouped_bars(
            dict(zip(names, drawn, strict=True)),
            view.tokens("axis.token"),
            word("axis_length"),
            (BEFORE, ADDED, AFTER),
            there=there,
            font_size=view.font_size,
        ),
        text(
            "read_lengths_story" if view.story else "read_lengths",
            token=tokens[moved],
            found=f"{lengths['found'][moved]:.2f}",
            before=f"{lengths['in'][moved]:.2f}",
            sum=f"{lengths['sum'][moved]:.2f}",
        )
        + view.which_is_which(),
        on_pick=choose_token,
        still=there is not None,
        difference=Difference(drawn, (Axis("", names), view.tokens("axis.token")), upwards=True),
    )


def two_cosines(run: Trace) -> np.ndarray:
    """How much what was found, and what is handed on, points where what was there pointed: (2, token)."""
    pairs = ((run[sub.before][:, None], run[key][:, None]) for key in (sub.output, sub.after))
    return np.stack([cosine_similarity(one, later)[:, 0, 0] for one, later in pairs])


def cosines_picture() -> None:
    """Each token's vector with the same token's vector later, not with every other one."""
    drawn, names = view.compared(two_cosines, ("", "token")), [word(f"cosine_{name}") for name in ("found", "after")]
    there = view.marked(two_cosines, ("", "token"))
    aligned, kept = two_cosines(view.trace)[:, token]
    kind = "same" if aligned > 0.25 else "against" if aligned < -0.25 else "new"
    view.picture(
        "cosines",
        grouped_bars(
            dict(zip(names, drawn, strict=True)),
            view.tokens("axis.token"),
            word("axis_cosine"),
            (ADDED, AFTER),
            there=there,
            value_range=None if view.differs else (-1, 1),
            font_size=view.font_size,
        ),
        text(f"read_cosines_{kind}", token=tokens[token], found=f"{aligned:.2f}", after=f"{kept:.2f}")
        + view.which_is_which(),
        on_pick=choose_token,
        still=there is not None,
        difference=Difference(drawn, (Axis("", names), view.tokens("axis.token")), upwards=True),
    )


def values_pictures() -> None:
    """LayerNorm: the values that go in and come out, of every token and of the selected one."""
    mean, deviation = entered.mean(axis=1, keepdims=True), entered.std(axis=1, keepdims=True)
    standard = standardised(view.trace)
    drawn = [view.shown(key) for key in (sub.norm_reads, sub.norm)]
    columns = view.columns([1, 1])
    with columns[0]:
        share = [0.05, 0.25, 0.5, 0.75, 0.95]
        view.picture(
            "spreads",
            spreads(
                {word("before"): drawn[0], word("after"): drawn[1]},
                view.tokens("axis.token"),
                word("axis_value"),
                (BEFORE, AFTER),
                font_size=view.font_size,
            ),
            text("read_spreads", low=f"{mean.min():.3f}", high=f"{mean.max():.3f}"),
            table=pd.DataFrame(
                np.quantile(np.concatenate(drawn), share, axis=1).T,
                index=[f"{word(when)} · {name}" for when in ("before", "after") for name in tokens],
                columns=[f"{part:.0%}" for part in share],
            ),
            difference=Difference(
                np.stack(drawn),
                (Axis("", [word("before"), word("after")]), view.tokens("axis.token"), Axis(plain("axis.d_model"))),
                upwards=True,
            ),
        )
    with columns[1]:
        three = {"before": entered[token], "normalised": standard[token], "after": normed[token]}
        makes = (lambda run: run[sub.norm_reads], standardised, lambda run: run[sub.norm])
        there = [view.there(of, ("token", "d_model")) for of in makes]
        found = [run[token] for run in there if run is not None and np.isfinite(run[token]).all()]
        other = {word(name): values for name, values in zip(three, found, strict=False)}
        view.picture(
            "histogram",
            outlines(
                {word(name): values for name, values in three.items()},
                word("axis_value"),
                word("axis_count", d_model=d_model),
                (BEFORE, ADDED, AFTER),
                before=other,
                font_size=view.font_size,
            ),
            text(
                "read_histogram",
                token=tokens[token],
                mean=f"{mean[token, 0]:.3f}",
                deviation=f"{deviation[token, 0]:.3f}",
                after_mean=f"{normed[token].mean():.3f}",
                after_deviation=f"{normed[token].std():.3f}",
            )
            + view.which_is_which(),
            table=of_both(
                pd.DataFrame({word(name): values for name, values in three.items()}, index=range(1, d_model + 1)),
                pd.DataFrame(other, index=range(1, d_model + 1)) if other else None,
            ),
            still=True,
        )
    with view.more():
        moments(standard)
        sigma, divisor = float(deviation[token, 0]), float(np.sqrt(deviation[token, 0] ** 2 + epsilon))
        theirs, ours = f"{sigma + epsilon:.6f}", f"{divisor:.6f}"
        st.markdown(text("hand_note", epsilon=f"{epsilon:g}", sigma=f"{sigma:.6f}", theirs=theirs, ours=ours))


def standardised(run: Trace) -> np.ndarray:
    """What LayerNorm reads with mean 0 and variance 1, before γ and β: (token, d_model)."""
    values = run[sub.norm_reads]
    return (values - values.mean(axis=1, keepdims=True)) / np.sqrt(values.var(axis=1, keepdims=True) + epsilon)


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
before, found, total, entered, normed = (
    view.trace[key] for key in (sub.before, sub.output, sub.sum, sub.norm_reads, sub.norm)
)
epsilon = view.pipeline.network.get_submodule(sub.norm).eps
# One range of colours for all maps, so that they can be compared; the few largest values saturate.
limit = float(np.quantile(np.abs([view.shown(key) for key in steps]), 0.995))
lengths = dict(zip(("in", "found", "sum"), three_lengths(view.trace), strict=True))
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
