"""The whole network at a glance: as a drawing, as small pictures of its tensors, and as a table of shapes."""

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace, WeightsError
from model.analysis import FAR_OUT
from model.translator import Task, TranslationTrace
from pages.ui.components.diagram import Box, diagram, show
from pages.ui.components.tables import markdown_table
from pages.ui.figures import INK, Axis, Thumbnail, drawing, role_colours, thumbnails
from pages.ui.figures.equations import html_math, plain_math
from pages.ui.figures.theme import mode
from pages.ui.frame.navigation import go_to
from pages.ui.frame.pickers import bound
from pages.ui.runs import pipelines
from pages.ui.runs.doubt import hedge
from pages.ui.runs.measure import Measure, widest
from pages.ui.sections.answers import probabilities
from pages.ui.sections.far_out import far_out
from pages.ui.sections.shared_weights import shared_weights
from pages.ui.state import sketch
from pages.ui.state.choice import OUR_TRANSLATOR
from pages.ui.state.link import select
from pages.ui.text import class_label, literal, plain, t
from pages.ui.text.numbers import decimal
from pages.ui.view import View, shape

ATTENTION = "layers.{l}.attention."


def whole(view: View, place: int) -> None:
    """The network as a drawing; a box that is clicked opens its page. A sentence may have the decoder beside it."""
    trace, layer = view.trace, view.choice.layer
    if trace.picture is None and _decoder_switch(view):
        translator = view.choice.translator
        sentence, _, unread = pipelines.read_by(translator, view.given)
        pipelines.explain_input(translator, unread)
        edits = () if view.shows in ("original", "other") else view.choice.edits
        translated = pipelines.changed(translator, Task(sentence, view.choice.into), edits)
        trace, guess = translated, translated.translation
        layer = min(layer, trace.graph.layers() - 1)  # another encoder may have more
    else:
        guess = ""
        if "logits" in trace:
            p = probabilities(trace, place)
            guess = f"{view.output_names[int(p.argmax())]}: {decimal(p.max())}"
    drawn_of(view, trace, layer, guess)


def drawn_of(view: View, trace: Trace, layer: int, guess: str = "") -> None:
    """The network of a run as a drawing, and what stands below it. guess: its answer."""
    words = {"layer": layer + 1, "N": trace.graph.layers(), "n": len(trace.tokens)}
    drawn = diagram(trace, layer, guess)
    box = show(drawn, role_colours(), plain("diagram.label", **words), key=f"{view.name}.diagram")
    if box:
        if box.sublayer:
            select(sublayer=box.sublayer)
        if box.page == "translation":
            select(panel="inside", block=block_of(box))
        if box.page == view.name:
            select(depth="numbers")  # where its parts are
        go_to(box.page)
    st.caption(" ".join([t("home.diagram_help", **words), *shared_weights(trace.config)]))
    if isinstance(trace, TranslationTrace):
        right = {"m": len(trace.target_tokens), "M": trace.graph.layers("decoder."), "layer": layer + 1}
        st.caption(t("home.decoder_help", **right))
        if view.choice.translator == OUR_TRANSLATOR and (view.choice.paper or view.choice.checkpoint):
            st.caption(t("translation.trained_here"))


def _decoder_switch(view: View) -> bool:
    """Whether the reader wants to see the decoder as well."""
    look = bound("home.decoder", view.choice.decoder, lambda decoder: select(decoder=decoder))
    st.toggle(plain("home.decoder"), **look)
    return view.choice.decoder


def block_of(box: Box) -> str:
    """The part of the page of translations on which a box of the decoder is shown."""
    _, *path = box.name.split(".")
    if len(path) == 2:
        return path[0]
    return {"linear": "next", "answer": "next", "layers": "cross"}.get(path[-1], "embedding")


def tensors(view: View) -> None:
    """The real tensors on the way as small pictures, line by line, and what two of them say."""
    trace = view.trace
    stream = trace.graph.stream(view.choice.layer)
    attention = view.key(ATTENTION)
    lines = (
        [trace.graph.embedded],
        [attention + role for role in "QKV"],
        [attention + name for name in ("scores", "weights", "heads")],
        [stream[1]],
        [view.key("layers.{l}.ffn.activation")],
        [trace.graph.Z],
    )
    grid: list[list[Thumbnail]] = []
    table, clipped = [], []
    for line in lines:
        grid.append([])
        for key in line:
            values = view.measure(key).less_nothing().values
            symbol = "Z" if key == trace.graph.Z else trace.graph[key].symbol
            scale = "positive" if trace.graph[key].scale == "share" and not view.differs else "signed"
            colour = role_colours().get(symbol, INK[mode()])
            title = f"<b>{html_math(symbol)}</b>  {shape(values)}"
            far = far_out(view, key, values)
            grid[-1].append(Thumbnail(title, values, view.named, scale, colour, far and far.usual))
            clipped += [plain_math(symbol)] if far else []
            table.append((plain_math(symbol), shape(values), values.min(), values.mean(), values.max()))
    names = [plain(f"home.column_{name}") for name in ("symbol", "shape", "smallest", "mean", "largest")]
    weights = trace[attention + "weights"][view.choice.head]
    fired = view.value("layers.{l}.ffn.activation") > 0
    query, key = np.unravel_index(weights.argmax(), weights.shape)
    sentence = t(
        "home.read_thumbnails" if len(trace.tokens) > 1 else "home.read_single",
        where=view.where(),
        query=trace.tokens[query],
        key=trace.tokens[key],
        value=f"{weights[query, key]:.2f}",
        fired=f"{fired.mean():.0%}",
        cells=f"{fired.size:,}",
    )
    figure = thumbnails(grid)
    table = pd.DataFrame(table, columns=names).set_index(names[0])
    shows = widest(named_measure(view, key) for line in lines for key in line)
    view.picture("thumbnails", figure, sentence, table=table, shows=shows)
    st.caption(t("home.thumbnails_differ" if view.differs else "home.thumbnails_help"))
    if clipped:
        st.caption(t("home.thumbnails_far", names=plain("common.comma").join(clipped), times=f"{FAR_OUT:g}"))


def named_measure(view: View, key: str) -> Measure:
    """A quantity, its symbol in the names of its rows."""
    symbol, last = plain_math(view.trace.graph[key].symbol), view.trace.axes(key)[-1]
    rows = Axis("", [f"{symbol}: {token}" for token in view.named])
    columns = Axis("", view.named) if last == "key" else Axis(plain(f"axis.{last}"))
    return view.measure(key).less_nothing().on(rows, columns)


def side_by_side(view: View) -> None:
    """The same block for a sentence and for a drawing: both inputs, then every quantity's shape in one table.

    One of them is what is on the screen, the other what was read last.
    """
    st.markdown(t("home.side_by_side_purpose"))
    earlier, kind = st.session_state["last_good"], view.choice.pipeline
    sentence = view.given if view.trace.ids else earlier.get("text", pipelines.FIRST_SENTENCE)
    ink = earlier.get("digits") or earlier.get("flat") or sketch.ink(sketch.example())
    if kind in ("digits", "flat"):
        ink = view.given
    try:
        sentence, _, unread = pipelines.read_by("text", sentence)
        pipelines.explain_input("text", unread)
        words = pipelines.run("text", sentence)
        digit = view.trace if kind == "digits" else pipelines.run("digits", ink)
    except WeightsError as error:
        pipelines.explain_weights(error, st.warning)
        return
    n, m = len(words.tokens), len(digit.tokens)
    left, right = st.columns([1, 1], gap="large")
    with left:
        st.markdown(f"**{plain('home.words', n=n)}**")
        st.markdown(" ".join(f":gray-background[{literal(token)}]" for token in words.tokens))
        st.markdown(t("home.words_answer"))
        if view.choice.paper or view.choice.checkpoint:
            st.caption(t("home.words_ours"))
        guess = digit.answer[0]
        figure = drawing(digit.picture, cut=digit.config.patch_size)
        said = {"best": class_label(guess.best), "share": decimal(max(guess.probabilities))}
        view.picture("patches", figure, f"{hedge('digits', ink)} {t('home.digit_answer', **said)}".strip(), still=True)
    with right:
        with st.container(key="working.shapes"):  # as narrow as the tables of an arithmetic
            st.markdown(shapes(words, digit))
        st.markdown(t("home.read_side_by_side", n=n, n2=f"{n * n:,}", m=m, m2=f"{m * m:,}"))


#: Axes in the letters of the notes.
LETTERS = {
    **dict.fromkeys(("token", "query", "key"), "n"),
    "head": "h",
    "d_k": "d_k",
    "d_E": "d_E",
    "d_model": "d_{model}",
    "d_ff": "d_{ff}",
    "word": r"\lvert V \rvert",
    "class": r"\text{classes}",
}


def shapes(words: Trace, digit: Trace) -> str:
    """A table of every quantity around and in one layer: symbol, axes in letters, and the shapes of both runs."""
    columns, rows = [plain(f"home.column_{name}") for name in ("symbol", "letters", "words", "digit")], []
    sizes = ([run.graph.layers(), run.config.heads, len(run.tokens)] for run in (words, digit))
    for letter, one, other in zip("Nhn", *sizes, strict=True):
        rows.append((f"${letter}$", plain(f"home.row_{letter}"), str(one), str(other)))
    for key in dict.fromkeys([*words, *digit]):
        runs = [run for run in (words, digit) if key in run]
        if runs[0].graph[key].layer in (None, 0):
            letters = " / ".join(dict.fromkeys(in_letters(run.axes(key)) for run in runs))
            both = [shape(run[key]) if key in run else "" for run in (words, digit)]
            rows.append((f"${runs[0].graph[key].symbol}$", letters, *both))
    return markdown_table(columns, rows, ":--|:--|--:|--:")


def in_letters(axes: tuple[str, ...]) -> str:
    return "$" + r" \times ".join(LETTERS[axis] for axis in axes) + "$"
