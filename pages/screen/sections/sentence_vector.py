"""Where a network has no head: what its vectors say of the whole sentence, and which heads move that."""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from model.analysis import largest_terms
from model.measures.sentence import MAKERS, POOLINGS, VECTOR, Cosine, cosine, moved_by_heads, read_for, sentence_vector
from model.operations.working import terms_table
from pages.drawing.cache import kept, missing
from pages.drawing.pictures.vectors import as_makers, heads_that_turn, probe_looks, text_of, vectors
from pages.drawing.screen import Screen
from pages.drawing.state.choice import OUR_TRANSLATOR
from pages.drawing.text import plain, t
from pages.drawing.text.numbers import percent
from pages.screen.components.arithmetic import arithmetic
from pages.screen.frame.changes_bar import other_input, toggled
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either
from pages.screen.sections.patience import patience, waits
from pages.screen.sections.working import MOST, terms


def of_input(screen: Screen, name: str) -> str:
    """The key of a text that speaks of the sentence, or, of a picture, that of its counterpart."""
    return text_of(screen.run, name)


def vector_by(screen: Screen) -> str:
    """What makes the one vector of a picture: "cls", "projection" or "probe"."""
    if not screen.run.config.cls_token:
        return "probe"
    return "projection" if screen.run.config.projection else "cls"


def no_head(screen: Screen) -> None:
    """Why there is no answer."""
    if why_not := screen.pipeline.unanswered:
        st.info(t(f"error.checkpoint_{why_not.reason}", **why_not.values), icon=":material/lightbulb:")
        return
    if screen.run.config.head == "vector":
        st.info(t(f"sentence_vector.one_{vector_by(screen)}"), icon=":material/lightbulb:")
        return
    if screen.run.config.head != "none":
        st.info(t("sentence_vector.elsewhere"), icon=":material/lightbulb:")
        return
    if screen.choice.translator != OUR_TRANSLATOR:
        st.info(t("sentence_vector.of_translator"), icon=":material/translate:")
        return
    why = "sentence_vector.no_head_no_cls" if only_a_mean(screen) else of_input(screen, "no_head")
    said = t(why if screen.choice.checkpoint else "untrained.no_answer")
    if hidden := screen.run.config.hidden_in_training:
        said += " " + t("sentence_vector.hidden_in_training", share=percent(hidden))
    st.info(said, icon=":material/lightbulb:")


def instead_of_an_answer(screen: Screen, pen: Pen) -> None:
    """Why there is no answer; of a trained checkpoint the sentence vector, and how near another sentence's is."""
    no_head(screen)
    if not screen.choice.checkpoint:
        return
    plainly = [pooling for pooling in ways_of(screen) if pooling != MAKERS]
    pen.show("vector", partial(vectors, plainly=plainly, more=makers_way(screen)))
    if MAKERS in ways_of(screen):
        makers_vector(screen, pen)
    if "pool.probe" in screen.run:
        pen.show("probe", partial(probe_looks, seen=screen.seen))
    other_input(screen.choice, pen.name)
    if screen.other_input is None:
        st.caption(t(of_input(screen, "ask")))
        return
    for pooling, name in ways_of(screen).items():
        read_of = (read_for(run, pooling) for run in (screen.run, screen.other_input))
        u, v = (sentence_vector(value, pooling, screen.pipeline.pooled) for value in read_of)
        found = cosine(u, v)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(t("sentence_vector.alike", name=name, cosine=f"{found.value:.4f}"), width="content")
            st.latex(worked_out(found), width="content")
    pooled = screen.pipeline.pooled
    known = len(plainly) == 1 or (pooled and (pooled.pooling in POOLINGS or pooled.computed))
    st.caption(t("sentence_vector.means_known" if known else "sentence_vector.means"))


def ways_of(screen: Screen) -> dict[str, str]:
    """The ways in which all rows of Z become one vector, with what they are called: the makers' own is among them where
    it is another than a mean or a row, and known.
    """
    poolings: tuple[str, ...] = (VECTOR,) if screen.run.graph.vector else POOLINGS
    if only_a_mean(screen):
        poolings = tuple(pooling for pooling in poolings if pooling != "cls")
    ways, pooled = {pooling: plain(f"sentence_vector.{pooling}") for pooling in poolings}, screen.pipeline.pooled
    if pooled and pooled.computed and (pooled.dense or pooled.pooling not in POOLINGS):
        ways[MAKERS] = plain("sentence_vector.makers")
    return ways


def only_a_mean(screen: Screen) -> bool:
    """Whether there is no [CLS], whose row could stand for all."""
    return not screen.run.config.cls_token if screen.run.picture is not None else "[CLS]" not in screen.run.tokens


def makers_vector(screen: Screen, pen: Pen) -> None:
    """The vector as its makers make it, step by step, and the arithmetic of the largest number of its last Linear."""
    pooled = screen.pipeline.pooled
    assert pooled is not None  # or there would be no such way
    pen.show("makers", partial(as_makers, pooled=pooled))
    if not pooled.dense:
        return
    steps = pooled.steps(screen.run.Z)
    last = max(place for place, (name, _) in enumerate(steps) if name == "Dense")
    v, linear = steps[last - 1][1].astype(np.float64), pooled.dense[-1]
    found = v @ linear.W.astype(np.float64) + (0 if linear.b is None else linear.b)
    component = int(np.abs(found).argmax())
    bias = 0.0 if linear.b is None else float(linear.b[component])
    products = largest_terms(v, linear.W[:, component], bias, most=MOST)
    lines = terms(screen, terms_table(products, "d_model", "v", "w", None if linear.b is None else products.bias))
    st.markdown(t("sentence_vector.hand_makers", component=component + 1, value=f"{products.total:.5f}"))
    arithmetic(lines, key="makers_by_hand")


def makers_way(screen: Screen) -> list[str]:
    """Which of the two vectors the folder itself uses, and what comes behind it; nothing where it does not say."""
    if not (pooled := screen.pipeline.pooled):
        return []
    known = pooled.pooling in POOLINGS
    name = plain(f"sentence_vector.{pooled.pooling}") if known else pooled.pooling
    said = [t("sentence_vector.uses" if known else "sentence_vector.uses_other", name=name)]
    if MAKERS in ways_of(screen):
        return []  # they are drawn
    if "Dense" in pooled.more:
        said.append(t("sentence_vector.dense"))
    if "Normalize" in pooled.more:
        said.append(t("sentence_vector.normalize"))
    return said


def head_laboratory(screen: Screen, pen: Pen) -> None:
    """Each head off by itself: how far the sentence vector turns. A click switches the head off, or on again."""
    no_head(screen)
    if not screen.choice.checkpoint:
        return
    ways, pooled = ways_of(screen), screen.pipeline.pooled
    own = MAKERS if MAKERS in ways else pooled and pooled.pooling
    ways = dict(sorted(ways.items(), key=lambda way: way[0] != own))  # the makers' own first
    label = plain("sentence_vector.axis")
    pooling = either("stage", label, list(ways), [*ways.values()], screen.choice.stage, label_visibility="collapsed")
    runs = screen.run.graph.layers() * screen.run.config.heads
    wanted = missing(_moved, screen, pooling, None)
    if wanted and waits(screen.run.config, len(screen.run.tokens), runs, wanted):
        return
    with patience(screen.run.config, len(screen.run.tokens), runs) as progress:
        moved = _moved(screen, pooling, progress)
    pen.show("moved", heads_that_turn(screen.run, moved, toggled))
    if screen.run.edits:
        read_of = (read_for(run, pooling) for run in (screen.original, screen.run))
        u, v = (sentence_vector(value, pooling, screen.pipeline.pooled) for value in read_of)
        now = cosine(u, v)
        st.markdown(t("sentence_vector.now", cosine=f"{now.value:.4f}"))
        st.latex(worked_out(now))


@kept(64, lambda screen, pooling, _: (screen.choice.pipeline, screen.subject, pooling))
def _moved(screen: Screen, pooling: str, progress: Callable[[float], None]) -> np.ndarray:
    """How far each head by itself turns the vector of the unchanged run."""
    return moved_by_heads(screen.pipeline, screen.original, pooling, progress)


def worked_out(found: Cosine) -> str:
    """The cosine with its numbers, which give the result for the digits that are shown."""
    dot, u, v = round(found.dot, 4), round(found.u, 4), round(found.v, 4)
    value = Cosine(dot, u, v).value
    return rf"\cos = \frac{{u \cdot v}}{{|u|\,|v|}} = \frac{{{dot:.4f}}}{{{u:.4f} \cdot {v:.4f}}} = {value:.4f}"
