"""The network's reading of a drawing, and whether to trust it."""

import streamlit as st

from model import WeightsError
from model.measures.doubt import doubt
from pages.drawing.text import class_label, joined, t
from pages.drawing.text.numbers import decimal, in_percent, percent
from pages.screen.runs import pipelines


def doubt_about(ink: bytes) -> str | None:
    """Why an answer to this drawing is doubtful, from `Doubt.about`; None if it is not.

    Always judged by the digit network, whichever network answers.
    """
    try:
        rule = doubt()
        return rule.about(pipelines.run("digits", ink)) if rule else None
    except WeightsError:  # `verdict` reports it
        return None


def hedge(pipeline: str, ink: object) -> str:
    """The warning for a doubtful answer to a drawing; else ""."""
    if pipeline not in ("digits", "flat") or not isinstance(ink, bytes):
        return ""
    reason = doubt_about(ink)
    return "" if reason is None or (reason, pipeline) == ("close", "flat") else t(f"doubt.{reason}")


def verdict(pipeline: str, ink: bytes, changed: bool) -> None:
    """Under the pad: what the unchanged network reads, or that it is unsure; and why it never says more than 96 %.

    changed: whether the reader has changed the network elsewhere.
    """
    try:
        (guess,) = pipelines.run(pipeline, ink).answer
        doubt()
    except WeightsError as error:
        pipelines.explain_weights(error)
        return
    p = max(guess.probabilities)
    said = {"label": class_label(guess.best), "probability": decimal(p)}
    unsure = "" if changed else hedge(pipeline, ink)
    reads = "sidebar.verdict_before" if changed else "doubt.forced" if unsure else "sidebar.verdict"
    st.markdown(
        joined(f"{unsure} {t(reads, **said)}".strip()),
        help=f"{t('doubt.smoothing')}\n\n{how_sure()}" if pipeline == "digits" else None,
    )


def how_sure() -> str:
    """How digits are told from other drawings, and the rate of errors; "" if no rule was measured."""
    try:
        rule = doubt()
    except WeightsError:
        return ""
    if rule is None:
        return ""
    kinds = ("printed_letters", "printed_lookalikes")
    letters, lookalikes = (percent(1 - rule.measured[kind]) for kind in kinds)  # not doubted
    digits = in_percent(100 * rule.measured["test_digits"], 1)
    return t("doubt.rule", digits=digits, letters=letters, lookalikes=lookalikes)
