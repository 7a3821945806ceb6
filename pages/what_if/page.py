"""The laboratory: change anything inside, and see what it does to the answer."""

from functools import partial

import numpy as np
import streamlit as st

from model import Edit
from model.changes import bind
from model.measures.judged import KEYS, said_by
from model.measures.sweep import effects
from pages.answer.judged import asked_of, draw, named
from pages.drawing.page import Page, Tabs
from pages.drawing.pictures.answers import probabilities
from pages.drawing.pictures.hidden_words import asked_place
from pages.drawing.pictures.shared_weights import shared_weights
from pages.drawing.screen import Screen
from pages.drawing.state.choice import MEASURES
from pages.drawing.text.numbers import decimal, signed
from pages.screen.frame.changes_bar import edit_in_words
from pages.screen.frame.changes_strip import changes_strip
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either
from pages.screen.sections.guesses import guesses
from pages.screen.sections.sentence_vector import cosine_now, is_headless, no_head
from pages.what_if import changes
from pages.what_if.another import another_input
from pages.what_if.experiment import Experiment, at_hidden_word, text, word

#: Each tab with the kinds of changes that it has maps of.
PARTS = {
    "heads": {"heads": changes.heads, "inside": changes.inside_attention},
    "ffn": {"neurons": changes.neurons, "sublayer": changes.feed_forward},
    "residuals": {"residuals": changes.residuals},
    "input": {"tokens": changes.tokens, "places": changes.positions, "patching": another_input},
}
GUESSES = 150  # pixels of their bars in a presentation; more or less as there is room
#: Each kind was a tab of its own.
FORMER = {kind: {"tab": tab, "block": kind} for tab, kinds in PARTS.items() for kind in kinds if kind not in PARTS}


def chips(screen: Screen) -> bool:
    return screen.run.picture is None and not at_hidden_word(screen)


def tabs(screen: Screen) -> Tabs:
    if "logits" not in screen.run and screen.run.config.head not in KEYS and not is_headless(screen):
        return {"": without_head}
    return {tab: partial(room, tab=tab) for tab in PARTS}


def above(screen: Screen, pen: Pen) -> None:
    if said := shared_weights(screen.run.config, "changed"):
        st.caption(" ".join(said))


def without_head(screen: Screen, pen: Pen) -> None:
    no_head(screen)
    made(screen)


def made(screen: Screen) -> None:
    """The changes that are made; a presentation has them above the page, where all see them."""
    if not screen.choice.big:
        changes_strip(screen)


def room(screen: Screen, pen: Pen, tab: str) -> None:
    """A kind of changes with what each does; beside it the answer."""
    judges = screen.run.config.head in KEYS
    with pen.controls:
        kind = which_kind(tab, screen.choice.block)
    if is_headless(screen):
        lab, truth = Experiment.on_vector(screen, pen), None
    elif judges:
        lab, truth = Experiment.on_judged(screen, pen, asked_of(screen)), None
    else:
        place, hidden = asked_place(screen)
        lab, truth = Experiment.on(screen, pen, place), hidden.get(place)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        PARTS[tab][kind](lab)
        made(screen)
    with right:
        if lab.vector:
            no_head(screen)
            cosine_now(screen, lab.vector.way)
        elif judges:
            watched(screen, pen)
        else:
            answer(lab, truth)
        idle(screen)


def which_kind(tab: str, chosen: str | None) -> str:
    """Buttons for the kinds of changes in a tab, where there are several; returns the one that was chosen."""
    first, *others = PARTS[tab]
    if not others:
        return first
    words = [word(f"kind_{kind}") for kind in PARTS[tab]]
    return either(
        "block", word("kind"), list(PARTS[tab]), words, chosen, label_visibility="collapsed", key=f"block.{tab}"
    )


def watched(screen: Screen, pen: Pen) -> None:
    """What such a head says, in which a click chooses the number to watch; and that number, before and now."""
    cell = asked_of(screen)
    draw(screen, pen, cell)
    head, runs = screen.run.config.head, (screen.run, screen.original)
    now, before = (float(said_by(head, run[KEYS[head]])[cell]) for run in runs)
    metric(screen, named(screen, cell), decimal(now), round(now - before, 5))
    st.caption(text("watched"))


def metric(screen: Screen, label: str, value: str, moved: float) -> None:
    """A number now, with its change. moved: rounded, since what is less comes of rounding."""
    look = {"delta": signed(moved)} if screen.run.edits else {}
    arrow = "up" if moved > 0 else "down" if moved < 0 else "off"
    st.metric(label, value, delta_color="off", delta_arrow=arrow, **look)


def idle(screen: Screen) -> None:
    """Which changes can do nothing here, and why."""
    for edit, why in screen.run.idle.items():
        where = edit_in_words(edit, screen.run.graph, screen.run.tokens)
        st.info(text("idle", what=word(f"idle_{why}"), where=where), icon=":material/do_not_disturb_on:")


def answer(lab: Experiment, truth: int | None) -> None:
    """The guesses now, with where each was before, and what is measured of them.

    A click on two bars chooses the number to watch.
    """
    screen, of, against = lab.screen, lab.of, lab.against

    def watch(output: int) -> dict[str, object]:
        return {"output": output, "against": against if output == of else of, "measure": "lead"}

    most = 5 if screen.run.picture is None or screen.choice.big else 10
    height = GUESSES if screen.choice.big else None
    guesses(screen, lab.pen, "guesses", lab.place, watch, truth, most=most, height=height)
    words = [word(f"measure_{name}") for name in MEASURES]
    either("measure", word("measure"), MEASURES, words, lab.measure)
    if lab.measure == "lead":
        lead(lab)
    else:
        p, before = (probabilities(run, lab.place) for run in (screen.run, screen.original))
        moved = round(float(np.abs(p - before).sum() / 2), 5)  # what is less comes of rounding
        if screen.run.edits:
            st.metric(word("moved"), decimal(moved))
        st.caption(text("click_bars"))


def lead(lab: Experiment) -> None:
    """How far the one leads the other, before and now."""
    of, against = lab.names
    before, now = lab.lead(lab.screen.original), lab.lead(lab.screen.run)
    metric(lab.screen, word("lead", of=of, against=against), signed(now), round(now - before, 4))
    st.caption(text("click_bars"))


PAGE = Page(
    name="what_if",
    group="beside",
    tabs=tabs,
    former=FORMER,
    chips=chips,
    above=above,
    places_changes=True,
    code=lambda screen: (Edit, bind, effects),
)
