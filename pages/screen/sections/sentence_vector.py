"""Where a network has no head: what its vectors say of the whole sentence, and which heads move that."""

from collections.abc import Callable, Hashable, Mapping

import numpy as np
import streamlit as st

from model.measures.alike import CLS, MEAN, Cosine, cosine, moved_by_heads, vector_of
from model.variants.pooled import Pooled
from pages.drawing.cache import kept, missing
from pages.drawing.pictures.vectors import heads_that_turn, text_of
from pages.drawing.screen import Screen
from pages.drawing.state.choice import OUR_TRANSLATOR
from pages.drawing.text import plain, t
from pages.drawing.text.numbers import percent
from pages.screen.frame.changes_bar import toggled
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either
from pages.screen.sections.patience import patience, waits


def of_input(screen: Screen, name: str) -> str:
    """The key of a text that speaks of the sentence, or, of a picture, that of its counterpart."""
    return text_of(screen.run, name)


def is_headless(screen: Screen) -> bool:
    """Whether the answer is a vector: of somebody's trained network without a head."""
    return screen.choice.checkpoint and screen.run.config.head in ("none", "vector")


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
    if "makers" in ways_of(screen):  # the vector is the answer
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


def ways_of(screen: Screen) -> Mapping[str, Pooled | None]:
    """How all rows of Z become one vector: as the makers of the network do it; the two usual ways where that is not
    known.
    """
    if screen.run.graph.vector:
        return {"vector": None}
    pooled = screen.pipeline.pooled
    if pooled and pooled.computed:
        return {"makers": pooled}
    return {"mean": MEAN} | ({} if only_a_mean(screen) else {"cls": CLS})


def only_a_mean(screen: Screen) -> bool:
    """Whether there is no [CLS], whose row could stand for all."""
    return not screen.run.config.cls_token if screen.run.picture is not None else "[CLS]" not in screen.run.tokens


def head_laboratory(screen: Screen, pen: Pen) -> None:
    """Each head off by itself: how far the sentence vector turns. A click switches the head off, or on again."""
    no_head(screen)
    if not screen.choice.checkpoint:
        return
    ways, pooling = ways_of(screen), screen.choice.stage
    if len(ways) > 1:
        names = [plain(f"sentence_vector.{name}") for name in ways]
        look = {"label_visibility": "collapsed"}
        pooling = either("stage", plain("sentence_vector.axis"), list(ways), names, pooling, **look)
    way = ways.get(pooling or "", next(iter(ways.values())))
    runs = screen.run.graph.layers() * screen.run.config.heads
    wanted = missing(_moved, screen, way, None)
    if wanted and waits(screen.run.config, len(screen.run.tokens), runs, wanted):
        return
    with patience(screen.run.config, len(screen.run.tokens), runs) as progress:
        moved = _moved(screen, way, progress)
    pen.show("moved", heads_that_turn(screen.run, moved, toggled, with_other=screen.pair is not None))
    if screen.pair:
        found = cosine(*(vector_of(run, way) for run in screen.pair))
        st.markdown(t("sentence_vector.now_pair", cosine=f"{found.value:.4f}"))
        st.latex(worked_out(found))
    elif screen.run.edits:
        now = cosine(*(vector_of(run, way) for run in (screen.original, screen.run)))
        st.markdown(t("sentence_vector.now", cosine=f"{now.value:.4f}"))
        st.latex(worked_out(now))


def _of_moved(screen: Screen, way: Pooled | None, _: object) -> tuple[Hashable, ...]:
    other = screen.pair and (screen.choice.other_subject, screen.shows, screen.made.edits)
    return screen.choice.pipeline, screen.subject, way, other


@kept(64, _of_moved)
def _moved(screen: Screen, way: Pooled | None, progress: Callable[[float], None]) -> np.ndarray:
    """How far each head by itself turns the vector of the unchanged run, or moves its cosine with the other input's."""
    other = next((run for run in screen.pair or () if run is not screen.run), None)
    return moved_by_heads(screen.pipeline, screen.original, way, progress, other)


def worked_out(found: Cosine) -> str:
    """The cosine with its numbers, which give the result for the digits that are shown."""
    dot, u, v = round(found.dot, 4), round(found.u, 4), round(found.v, 4)
    value = Cosine(dot, u, v).value
    return rf"\cos = \frac{{u \cdot v}}{{|u|\,|v|}} = \frac{{{dot:.4f}}}{{{u:.4f} \cdot {v:.4f}}} = {value:.4f}"
