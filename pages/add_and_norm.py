"""Add & Norm: what a sub-layer found joins what was there; LayerNorm brings every vector to a common scale."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.analysis import cosine_similarity
from model.encoder import EncoderLayer
from pages.ui.differences import Difference, of_both
from pages.ui.figures import ADDED, AFTER, BEFORE, Axis, grouped_bars, outlines, spreads
from pages.ui.link import select
from pages.ui.numbers import written
from pages.ui.pickers import either
from pages.ui.sections.cell_map import cell_maps
from pages.ui.tables import draw_table
from pages.ui.text import plain, t, texts_of
from pages.ui.view import View

AFTER_SUM = r"\operatorname{LayerNorm}\bigl(X + \operatorname{Sublayer}(X)\bigr)"
BEFORE_SUBLAYER = r"X + \operatorname{Sublayer}\bigl(\operatorname{LayerNorm}(X)\bigr)"
text, word = texts_of("add_and_norm")

view = View("add_and_norm")
tokens, token, d_model = view.trace.tokens, view.token, view.trace.config.d_model
sublayers = view.trace.graph.sublayers(view.choice.layer)
sub = sublayers[min(view.choice.sublayer, len(sublayers)) - 1]
epsilon = view.pipeline.network.get_submodule(sub.norm).eps


def maps() -> None:
    """Every quantity on the way, one below the other, and the arithmetic of the chosen cell."""
    # In order of computation, wherever LayerNorm stands.
    steps = [sub.before, *[sub.norm] * sub.norm_first, sub.output, sub.sum, *[sub.norm] * (not sub.norm_first)]
    # One range of colours for all maps, so that they can be compared; the few largest values saturate.
    limit = float(np.quantile(np.abs([view.shown(key) for key in steps]), 0.995))
    before, found, total = (view.trace[key] for key in (sub.before, sub.output, sub.sum))
    component = view.choice.component
    if component is None or component >= d_model:  # chosen where vectors are wider
        component = int(np.abs(total[token]).argmax())
    cell = token, component
    x, o = (round(float(values[cell]), 4) for values in (before, found))
    added = {"x": f"{x:.4f}", "o": f"({written(f'{o:.4f}')})" if o < 0 else f"{o:.4f}", "sum": f"{x + o:.4f}"}
    spread, push = view.trace[sub.norm_reads].std(axis=1), pushes()
    typical = np.median(push[np.isfinite(push)]) if np.isfinite(push).any() else 0.0
    said = {
        sub.before: text("read_input", limit=f"{limit:.2f}"),
        sub.output: text(f"read_output_{sub.name}", share=f"{typical:.0%}"),
        sub.sum: text("read_add", token=tokens[token], component=cell[1] + 1, **added),
        sub.norm: text("read_norm", low=f"{spread.min():.3f}", high=f"{spread.max():.3f}", unit=unit(view.trace)),
    }
    titles = {sub.before: "was_there", sub.output: f"found_{sub.name}", sub.sum: "the_sum", sub.norm: "normed"}
    low = int(min(230, 60 + 10 * len(tokens)) * view.font_size / 12)
    looks = [{"title": word(titles[key]), "height": low, "strongest": limit} for key in steps]
    cell_maps(view, steps, [said[key] for key in steps], looks, stacked=True)


def three_lengths(run: Trace) -> np.ndarray:
    """How long what was there, what was found and their sum are: (3, token)."""
    return np.stack([np.linalg.norm(run[key], axis=1) for key in (sub.before, sub.output, sub.sum)])


def pushes() -> np.ndarray:
    """What was found, as a multiple of what was there: (token,); NaN where nothing was, as of a removed token."""
    before, found, _ = three_lengths(view.trace)
    return np.divide(found, before, out=np.full_like(before, np.nan), where=before > 0)


def bars_of_each(
    name: str,
    title: str,
    of: Callable[[Trace], np.ndarray],
    kinds: Sequence[str],
    colours: Sequence[str],
    sentence: str,
    law_of: Sequence[str] = (),
    **look: object,
) -> None:
    """Bars for each token: what `of` makes of a run, (kind, token); of two runs both, or by how much they differ."""
    drawn, there = view.compared(of, ("", "token")), view.marked(of, ("", "token"))
    names, axis = [word(kind) for kind in kinds], view.token_axis("axis.token")
    series = dict(zip(names, drawn, strict=True))
    view.picture(
        name,
        grouped_bars(series, axis, word(title), colours, there=there, font_size=view.font_size, **look),
        sentence + view.which_is_which(),
        on_pick=lambda _, place: select(token=place),
        still=there is not None,
        difference=Difference(drawn, (Axis("", names), axis), upwards=True),
        law_of=law_of,
    )


def lengths_picture() -> None:
    lengths = dict(zip(("in", "found", "sum"), three_lengths(view.trace), strict=True))
    moved = int(np.nan_to_num(pushes()).argmax())
    said = (
        text("read_lengths_none")
        if not lengths["found"].any()
        else text(
            "read_lengths_story" if view.story else "read_lengths",
            token=tokens[moved],
            found=f"{lengths['found'][moved]:.2f}",
            before=f"{lengths['in'][moved]:.2f}",
            sum=f"{lengths['sum'][moved]:.2f}",
        )
    )
    kinds = [f"length_{name}" for name in lengths]
    bars_of_each("lengths", "axis_length", three_lengths, kinds, (BEFORE, ADDED, AFTER), said, law_of=[sub.sum])


def two_cosines(run: Trace) -> np.ndarray:
    """How much what was found, and what is handed on, points where what was there pointed: (2, token)."""
    pairs = ((run[sub.before][:, None], run[key][:, None]) for key in (sub.output, sub.after))
    return np.stack([cosine_similarity(one, later)[:, 0, 0] for one, later in pairs])


def cosines_picture() -> None:
    """Each token's vector with the same token's vector later, not with every other one."""
    aligned, kept = two_cosines(view.trace)[:, token]
    kind = "same" if aligned > 0.25 else "against" if aligned < -0.25 else "new"
    if not min(three_lengths(view.trace)[:2, token]):
        kind = "none"
    said = text(f"read_cosines_{kind}", token=tokens[token], found=f"{aligned:.2f}", after=f"{kept:.2f}")
    after = "cosine_after_add" if sub.norm_first else "cosine_after"
    kinds, ends = ("cosine_found", after), None if view.differs else (-1, 1)
    bars_of_each("cosines", "axis_cosine", two_cosines, kinds, (ADDED, AFTER), said, value_range=ends)


def values_pictures() -> None:
    """LayerNorm: the values that go in and come out, of every token and of the selected one."""
    entered, normed = view.trace[sub.norm_reads], view.trace[sub.norm]
    mean, deviation = entered.mean(axis=1), entered.std(axis=1)
    drawn = [view.shown(key) for key in (sub.norm_reads, sub.norm)]
    both, share = [word("before"), word("after")], [0.05, 0.25, 0.5, 0.75, 0.95]
    columns = st.columns([1, 1])
    with columns[0]:
        view.picture(
            "spreads",
            spreads(
                dict(zip(both, drawn, strict=True)),
                view.token_axis("axis.token"),
                word("axis_value"),
                (BEFORE, AFTER),
                font_size=view.font_size,
            ),
            text("read_spreads", low=f"{mean.min():.3f}", high=f"{mean.max():.3f}"),
            table=pd.DataFrame(
                np.quantile(np.concatenate(drawn), share, axis=1).T,
                index=[f"{when} · {name}" for when in both for name in view.named],
                columns=[f"{part:.0%}" for part in share],
            ),
            difference=Difference(
                np.stack(drawn),
                (Axis("", both), view.token_axis("axis.token"), Axis(plain("axis.d_model"))),
                upwards=True,
            ),
        )
    with columns[1]:
        learned = view.pipeline.network.get_submodule(sub.norm)
        same = bool((learned.weight == 1).all() and (learned.bias == 0).all())
        three = {word(name): of(view.trace)[token] for name, of in THROUGH.items()}
        there = {word(name): view.there(of, ("token", "d_model")) for name, of in THROUGH.items()}
        other = {name: run[token] for name, run in there.items() if run is not None and np.isfinite(run[token]).all()}
        view.picture(
            "histogram",
            outlines(
                three,
                word("axis_value"),
                word("axis_count", d_model=d_model),
                (BEFORE, ADDED, AFTER),
                before=other,
                font_size=view.font_size,
            ),
            text(
                "read_histogram",
                token=tokens[token],
                mean=f"{mean[token]:.3f}",
                deviation=f"{deviation[token]:.3f}",
                unit=f"{standardised(view.trace)[token].std():.4f}",
                after_mean=f"{normed[token].mean():.3f}",
                after_deviation=f"{normed[token].std():.3f}",
            )
            + " "
            + text("shape_same" if same else "shape_may_change")
            + view.which_is_which(token),
            table=of_both(
                pd.DataFrame(three, index=range(1, d_model + 1)),
                pd.DataFrame(other, index=range(1, d_model + 1)) if other else None,
            ),
            still=True,
            law_of=[sub.norm],
        )
    with view.more():
        moments()
        sigma = float(deviation[token])
        theirs, ours = f"{sigma + epsilon:.6f}", f"{np.sqrt(deviation[token] ** 2 + epsilon):.6f}"
        small = {"epsilon": f"{epsilon:g}", "root": f"{np.sqrt(epsilon):.1g}"}
        st.markdown(text("hand_note", **small, sigma=f"{sigma:.6f}", theirs=theirs, ours=ours))


def standardised(run: Trace) -> np.ndarray:
    """What LayerNorm reads with mean 0 and variance 1, before γ and β: (token, d_model)."""
    values = run[sub.norm_reads]
    return (values - values.mean(axis=1, keepdims=True)) / np.sqrt(values.var(axis=1, keepdims=True) + epsilon)


def unit(run: Trace) -> str:
    """The standard deviations that LayerNorm gives the rows before γ and β: "1", or from where to where they reach.

    A row that is nearly constant stays below 1 because of ε, and one of zeros, as of a removed token, at 0.
    """
    low, high = (f"{value:.3f}" for value in np.quantile(standardised(run).std(axis=1), [0, 1]))
    return "1" if low == high == "1.000" else word("from_to", low=low, high=high)


#: The values on their way through LayerNorm, of a run: (token, d_model) each.
THROUGH = {"before": lambda run: run[sub.norm_reads], "normalised": standardised, "after": lambda run: run[sub.norm]}


def moments() -> None:
    """Mean and standard deviation of every token, before, in between and after."""
    least, most = (f"{value:.6f}" for value in np.quantile(standardised(view.trace).std(axis=1), [0, 1]))
    st.markdown(text("statistics", d_model=d_model, least=least, most=most))
    columns: dict[str, object] = {plain("axis.token"): tokens}
    for name, of in THROUGH.items():
        values = of(view.trace)
        for symbol, moment in (("μ", values.mean(axis=1)), ("σ", values.std(axis=1))):
            columns[f"{symbol} {word(f'column_{name}')}"] = np.where(np.abs(moment) < 5e-5, 0, moment)  # never −0.0000
    four = {name: st.column_config.NumberColumn(format="%.4f") for name in list(columns)[1:]}
    table = pd.DataFrame(columns)
    draw_table(table, "add_and_norm.statistics", column_config=four, hide_index=True, height=300)


if view.choice.at_least("formula"):
    view.equation(BEFORE_SUBLAYER if sub.norm_first else AFTER_SUM)
with st.container(horizontal=True, vertical_alignment="bottom"):
    names = [word(f"place_{each.name}") for each in sublayers]
    either("sublayer", word("place"), range(1, len(sublayers) + 1), names, sublayers.index(sub) + 1)
    panel = "story" if view.story else view.panel("maps", "ways", "values")
match panel:
    case "story":
        lengths_picture()
        view.tell(t("change.no_law") if view.touched(sub.sum) else text("story_add"), text("story_norm"))
    case "maps":
        maps()
    case "ways":
        columns = st.columns([1, 1])
        with columns[0]:
            lengths_picture()
        with columns[1]:
            cosines_picture()
    case "values":
        values_pictures()

view.close(EncoderLayer)
