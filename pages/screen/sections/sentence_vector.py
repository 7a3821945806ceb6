"""Networks without an output head: their one vector of the input, and its cosine with another."""

from collections.abc import Mapping

import streamlit as st

from model.measures.alike import CLS, MEAN, Cosine, cosine, vector_of
from model.variants.pooled import Pooled
from pages.drawing.pictures.vectors import text_of
from pages.drawing.screen import Screen
from pages.drawing.state.choice import OUR_TRANSLATOR
from pages.drawing.text import t
from pages.drawing.text.numbers import percent


def of_input(screen: Screen, name: str) -> str:
    """The key of a text about the sentence, or of its counterpart about a picture."""
    return text_of(screen.run, name)


def is_headless(screen: Screen) -> bool:
    """Whether a checkpoint's answer is a vector, as it has no output head."""
    return screen.choice.checkpoint and screen.run.config.head in ("none", "vector")


def vector_by(screen: Screen) -> str:
    """How a picture's one vector is made: "cls", "projection" or "probe"."""
    if not screen.run.config.cls_token:
        return "probe"
    return "projection" if screen.run.config.projection else "cls"


def no_head(screen: Screen) -> None:
    """Say why there is no answer."""
    if why_not := screen.pipeline.unanswered:
        st.info(t(f"error.checkpoint.{why_not.reason}", **why_not.values), icon=":material/lightbulb:")
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
    """The ways from the rows of Z to one vector: the makers' own, or, if unknown, the two usual ones."""
    if screen.run.graph.vector:
        return {"vector": None}
    pooled = screen.pipeline.pooled
    if pooled and pooled.computed:
        return {"makers": pooled}
    return {"mean": MEAN} | ({} if only_a_mean(screen) else {"cls": CLS})


def only_a_mean(screen: Screen) -> bool:
    """Whether there is no [CLS], whose row could be the vector."""
    return not screen.run.config.cls_token if screen.run.picture is not None else "[CLS]" not in screen.run.tokens


def cosine_now(screen: Screen, way: Pooled | None) -> None:
    """Show the cosine with the other input's vector, or, in a changed run, with the unchanged run's."""
    if screen.pair is None and not screen.run.edits:
        return
    pair = screen.pair or (screen.original, screen.run)
    found = cosine(*(vector_of(run, way) for run in pair))
    name = "now_pair" if screen.pair else "now"
    st.markdown(t(f"sentence_vector.{name}", cosine=f"{found.value:.4f}"))
    st.latex(worked_out(found))


def worked_out(found: Cosine) -> str:
    """The equation of the cosine, whose rounded numbers give the result shown."""
    dot, u, v = round(found.dot, 4), round(found.u, 4), round(found.v, 4)
    value = Cosine(dot, u, v).value
    return rf"\cos = \frac{{u \cdot v}}{{|u|\,|v|}} = \frac{{{dot:.4f}}}{{{u:.4f} \cdot {v:.4f}}} = {value:.4f}"
