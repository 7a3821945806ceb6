"""What the network reads in a drawing, and whether that can be trusted."""

import streamlit as st

from model import WeightsError
from model.doubt import doubt
from pages.ui import session
from pages.ui.text import class_label, plain, t


def doubt_about(ink: bytes) -> str | None:
    """Why an answer to this drawing is doubtful: it is "strange", or two digits are "close"; None where all is well.

    It is the digit network that is asked, whichever answers.
    """
    try:
        rule = doubt()
        return rule.about(session.run("digits", ink)) if rule else None
    except WeightsError:  # what lacks is named by `verdict`; the answer needs it not
        return None


def hedge(pipeline: str, ink: object) -> str:
    """The sentence that an answer needs where it is doubtful; of any other, and of a sentence, nothing."""
    if pipeline not in ("digits", "flat") or not isinstance(ink, bytes):
        return ""
    reason = doubt_about(ink)
    return "" if reason is None or (reason, pipeline) == ("close", "flat") else t(f"doubt.{reason}")


def verdict(pipeline: str, ink: bytes) -> None:
    """Under the pad: what the network reads, or that it is unsure; and why it never says more than 96 %."""
    try:
        (guess,) = session.run(pipeline, ink).answer
        doubt()
    except WeightsError as error:
        session.name(error)
        return
    said = {"label": class_label(guess.best), "probability": f"{max(guess.probabilities):.0%}"}
    unsure = hedge(pipeline, ink)
    words = f"{unsure} {t('doubt.forced', **said)}" if unsure else t("sidebar.verdict", **said)
    st.markdown(words, help=plain("doubt.smoothing") if pipeline == "digits" else None)
