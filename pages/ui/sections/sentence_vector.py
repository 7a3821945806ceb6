"""Where a network has no head: what its vectors say of the whole sentence, and which heads move that."""

from collections.abc import Callable
from functools import partial
from threading import Condition

import numpy as np
import streamlit as st
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from model.analysis import largest_terms
from model.by_hand import terms_table
from model.measures.sentence import MAKERS, POOLINGS, VECTOR, Cosine, cosine, moved_by_heads, read_for, sentence_vector
from pages.ui.components.arithmetic import arithmetic
from pages.ui.frame.changes_bar import other_input, toggled
from pages.ui.frame.pickers import either
from pages.ui.sections.patience import patience, waits
from pages.ui.sections.vectors import as_makers, heads_that_turn, probe_looks, text_of, vectors
from pages.ui.sections.working import MOST, terms
from pages.ui.server.cache import digest, of_networks
from pages.ui.state.choice import OUR_TRANSLATOR
from pages.ui.text import plain, t
from pages.ui.text.numbers import percent
from pages.ui.view import View


def of_input(view: View, name: str) -> str:
    """The key of a text that speaks of the sentence, or, of a picture, that of its counterpart."""
    return text_of(view.trace, name)


def vector_by(view: View) -> str:
    """What makes the one vector of a picture: "cls", "projection" or "probe"."""
    if not view.config.cls_token:
        return "probe"
    return "projection" if view.config.projection else "cls"


def no_head(view: View) -> None:
    """Why there is no answer."""
    if why_not := view.pipeline.unanswered:
        st.info(t(f"error.checkpoint_{why_not.reason}", **why_not.values), icon=":material/lightbulb:")
        return
    if view.config.head == "vector":
        st.info(t(f"sentence_vector.one_{vector_by(view)}"), icon=":material/lightbulb:")
        return
    if view.config.head != "none":
        st.info(t("sentence_vector.elsewhere"), icon=":material/lightbulb:")
        return
    if view.choice.translator != OUR_TRANSLATOR:
        st.info(t("sentence_vector.of_translator"), icon=":material/translate:")
        return
    why = "sentence_vector.no_head_no_cls" if only_a_mean(view) else of_input(view, "no_head")
    said = t(why if view.choice.checkpoint else "untrained.no_answer")
    if hidden := view.config.hidden_in_training:
        said += " " + t("sentence_vector.hidden_in_training", share=percent(hidden))
    st.info(said, icon=":material/lightbulb:")


def instead_of_an_answer(view: View) -> None:
    """Why there is no answer; of a trained checkpoint the sentence vector, and how near another sentence's is."""
    no_head(view)
    if not view.choice.checkpoint:
        return
    plainly = [pooling for pooling in ways_of(view) if pooling != MAKERS]
    view.show("vector", partial(vectors, plainly=plainly, more=makers_way(view)))
    if MAKERS in ways_of(view):
        makers_vector(view)
    if "pool.probe" in view.trace:
        view.show("probe", partial(probe_looks, seen=view.seen))
    other_input(view.choice, view.name)
    if view.other_input is None:
        st.caption(t(of_input(view, "ask")))
        return
    for pooling, name in ways_of(view).items():
        read_of = (read_for(run, pooling) for run in (view.trace, view.other_input))
        u, v = (sentence_vector(value, pooling, view.pipeline.pooled) for value in read_of)
        found = cosine(u, v)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(t("sentence_vector.alike", name=name, cosine=f"{found.value:.4f}"), width="content")
            st.latex(worked_out(found), width="content")
    pooled = view.pipeline.pooled
    known = len(plainly) == 1 or (pooled and (pooled.pooling in POOLINGS or pooled.computed))
    st.caption(t("sentence_vector.means_known" if known else "sentence_vector.means"))


def ways_of(view: View) -> dict[str, str]:
    """The ways in which all rows of Z become one vector, with what they are called: the makers' own is among them where
    it is another than a mean or a row, and known.
    """
    poolings: tuple[str, ...] = (VECTOR,) if view.trace.graph.vector else POOLINGS
    if only_a_mean(view):
        poolings = tuple(pooling for pooling in poolings if pooling != "cls")
    ways, pooled = {pooling: plain(f"sentence_vector.{pooling}") for pooling in poolings}, view.pipeline.pooled
    if pooled and pooled.computed and (pooled.dense or pooled.pooling not in POOLINGS):
        ways[MAKERS] = plain("sentence_vector.makers")
    return ways


def only_a_mean(view: View) -> bool:
    """Whether there is no [CLS], whose row could stand for all."""
    return not view.config.cls_token if view.trace.picture is not None else "[CLS]" not in view.trace.tokens


def makers_vector(view: View) -> None:
    """The vector as its makers make it, step by step, and the arithmetic of the largest number of its last Linear."""
    pooled = view.pipeline.pooled
    assert pooled is not None  # or there would be no such way
    view.show("makers", partial(as_makers, pooled=pooled))
    if not pooled.dense:
        return
    steps = pooled.steps(view.trace.Z)
    last = max(place for place, (name, _) in enumerate(steps) if name == "Dense")
    v, linear = steps[last - 1][1].astype(np.float64), pooled.dense[-1]
    found = v @ linear.W.astype(np.float64) + (0 if linear.b is None else linear.b)
    component = int(np.abs(found).argmax())
    bias = 0.0 if linear.b is None else float(linear.b[component])
    products = largest_terms(v, linear.W[:, component], bias, most=MOST)
    lines = terms(view, terms_table(products, "d_model", "v", "w", None if linear.b is None else products.bias))
    st.markdown(t("sentence_vector.hand_makers", component=component + 1, value=f"{products.total:.5f}"))
    arithmetic(lines, key="makers_by_hand")


def makers_way(view: View) -> list[str]:
    """Which of the two vectors the folder itself uses, and what comes behind it; nothing where it does not say."""
    if not (pooled := view.pipeline.pooled):
        return []
    known = pooled.pooling in POOLINGS
    name = plain(f"sentence_vector.{pooled.pooling}") if known else pooled.pooling
    said = [t("sentence_vector.uses" if known else "sentence_vector.uses_other", name=name)]
    if MAKERS in ways_of(view):
        return []  # they are drawn
    if "Dense" in pooled.more:
        said.append(t("sentence_vector.dense"))
    if "Normalize" in pooled.more:
        said.append(t("sentence_vector.normalize"))
    return said


def head_laboratory(view: View) -> None:
    """Each head off by itself: how far the sentence vector turns. A click switches the head off, or on again."""
    no_head(view)
    if not view.choice.checkpoint:
        return
    ways = ways_of(view)
    label = plain("sentence_vector.axis")
    pooling = either("stage", label, list(ways), [*ways.values()], view.choice.stage, label_visibility="collapsed")
    runs = view.trace.graph.layers() * view.trace.config.heads
    wanted = _moved.cache_key(view, pooling, None)
    if wanted not in _moved.cache and waits(view.trace.config, len(view.trace.tokens), runs, wanted):
        return
    with patience(view.trace.config, len(view.trace.tokens), runs) as progress:
        moved = _moved(view, pooling, progress)
    view.show("moved", heads_that_turn(view.trace, moved, toggled))
    if view.trace.edits:
        read_of = (read_for(run, pooling) for run in (view.original, view.trace))
        u, v = (sentence_vector(value, pooling, view.pipeline.pooled) for value in read_of)
        now = cosine(u, v)
        st.markdown(t("sentence_vector.now", cosine=f"{now.value:.4f}"))
        st.latex(worked_out(now))


@of_networks
@cached(
    LRUCache(64),
    key=lambda view, pooling, _: hashkey(view.choice.pipeline, digest(view.subject), pooling),
    condition=Condition(),
)
def _moved(view: View, pooling: str, progress: Callable[[float], None]) -> np.ndarray:
    """How far each head by itself turns the vector of the unchanged run."""
    return moved_by_heads(view.pipeline, view.original, pooling, progress)


def worked_out(found: Cosine) -> str:
    """The cosine with its numbers, which give the result for the digits that are shown."""
    dot, u, v = round(found.dot, 4), round(found.u, 4), round(found.v, 4)
    value = Cosine(dot, u, v).value
    return rf"\cos = \frac{{u \cdot v}}{{|u|\,|v|}} = \frac{{{dot:.4f}}}{{{u:.4f} \cdot {v:.4f}}} = {value:.4f}"
