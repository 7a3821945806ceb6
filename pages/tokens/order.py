"""Two sentences of the same words: what differs on each page, and that without positions nothing does."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from model import InputError, Trace
from model.order import difference, likeness, same_words, without_positions
from pages.ui.components.tables import draw_table
from pages.ui.figures import Axis, lines
from pages.ui.figures.equations import plain_math
from pages.ui.frame.line import afresh
from pages.ui.runs import pipelines
from pages.ui.state.link import select
from pages.ui.text import plain, t
from pages.ui.text.numbers import written
from pages.ui.view import View

PAIRS = {
    "en": (
        ("the dog chased the cat .", "the cat chased the dog ."),
        ("the man ate the apple .", "the apple ate the man ."),
    ),
    "zh": (("我爱你。", "你爱我。"), ("我吃苹果。", "苹果吃我。")),
}
MOST_LINES = 3  # words with a line of their own
#: Page -> what of it is compared.
COMPARED = {
    "tokens": "embedding.sum",
    "queries_keys_values": "layers.{l}.attention.Q",
    "attention": "layers.{l}.attention.weights",
    "heads": "layers.{l}.attention.output",
    "feed_forward": "layers.{l}.ffn.activation",
    "answer": "logits",
}


def order_matters(view: View) -> None:
    """The reader's sentence and the one it is compared with, if they hold the same words; else an example."""
    ready = [pair for pair in PAIRS["zh"] + PAIRS["en"] if words_are_the_same(view, *pair)]
    pair = chosen_pair(view, ready)
    if pair is None:
        st.info(t("order.none"), icon=":material/shuffle:")
        return
    one, other = pair
    with st.container(horizontal=True, vertical_alignment="center"):
        for number, pair in enumerate(ready):
            kind = "primary" if pair == (one, other) else "secondary"
            st.button(" ↔ ".join(pair), key=f"order.{number}", type=kind, on_click=show_pair, args=pair)
    name = view.choice.pipeline
    here, there = pipelines.run(name, one), pipelines.run(name, other)
    none = without_positions(pipelines.pipeline(name).graph)
    bare = pipelines.run(name, one, none), pipelines.run(name, other, none)
    pairs = same_words(here.tokens, there.tokens)
    assert pairs  # such were chosen
    left, right = st.columns([3, 2], gap="medium")
    with left:
        draw(view, here, likeness(here, there, pairs), likeness(*bare, pairs))
    with right:
        rows = []
        compared = {**COMPARED, "tokens": here.graph.embedded}
        if here.config.positions == "rotary":
            compared["queries_keys_values"] = "layers.{l}.attention.Q_rotated"
        for page, key in ((page, view.key(row)) for page, row in compared.items()):
            if key in here:
                gaps = (written(f"{difference(*runs, pairs, key):.2g}") for runs in ((here, there), bare))
                rows.append((plain(f"{page}.short"), plain_math(here.graph[key].symbol), *gaps))
        names = [plain(f"order.column_{name}") for name in ("page", "quantity", "with", "without")]
        st.markdown(f"**{plain('order.on_each_page')}**")
        draw_table(pd.DataFrame(rows, columns=names), "order.pages", hide_index=True)
        st.markdown(t(f"order.read_pages{places_in(here)}", layer=view.choice.layer + 1))
        st.button(
            plain("order.compare"),
            icon=":material/compare_arrows:",
            key="order.compare",
            on_click=show_pair,
            args=(one, other),
            kwargs={"shown": "against"},
        )


def places_in(trace: Trace) -> str:
    """What a text ends with that says where order comes from, where no place is added."""
    if trace.config.places_added:
        return ""
    apart = "_told_apart" if trace.config.distance_terms else "_distances"
    return "_turned" if trace.config.positions == "rotary" else apart


def chosen_pair(view: View, ready: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """The reader's two sentences, if they hold the same words; else an example, if there is one."""
    own, other = view.choice.sentence, view.choice.other or ""
    if own != other and words_are_the_same(view, own, other):
        return own, other
    return next((pair for pair in ready if pair in PAIRS.get(view.choice.lang, ())), ready[0] if ready else None)


def words_are_the_same(view: View, one: str, other: str) -> bool:
    """Whether two sentences are read as the same tokens: not every tokenizer cuts a word alike wherever it stands."""
    try:
        tokens = [view.pipeline.reader.read(sentence).tokens for sentence in (one, other)]
    except InputError:
        return False
    return same_words(*tokens) is not None


def show_pair(one: str, other: str, shown: str = "changed") -> None:
    select(sentence=one, other=other, shown=shown, token=None, key=None, **afresh())


def draw(view: View, here: Trace, cosines: np.ndarray, bare: np.ndarray) -> None:
    """How alike each word stays to itself: the words that change most, and, without positions, all of them."""
    words = [place for place, token in enumerate(here.tokens) if token not in ("[CLS]", "[SEP]")]
    moved = sorted(words, key=lambda place: cosines[-1, place])[:MOST_LINES]
    steps = [
        plain("order.word"),
        plain("order.place" if here.config.places_added else "order.not_placed"),
        *(str(layer + 1) for layer in range(len(cosines) - 2)),
    ]
    names = [here.tokens[place] for place in moved]
    names.insert(1, plain("order.without"))
    first, lowest = moved[0], bare[:, words].min(axis=1)
    series = np.insert(cosines[:, moved].T, 1, lowest, axis=0)
    view.picture(
        "order",
        lines(series, names, Axis(plain("order.axis"), steps), plain("order.cosine")),
        t(
            f"order.read{places_in(here)}",
            token=here.tokens[first],
            start=f"{cosines[1, first]:.3f}",
            end=f"{cosines[-1, first]:.3f}",
            layers=len(cosines) - 2,
            bare=f"{lowest.min():.6f}",
        ),
        title=plain("order.title"),
        table=pd.DataFrame(series.T, index=steps, columns=names),
        still=True,
    )
