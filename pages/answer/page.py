"""Answer: what the encoder would put in place of a hidden word, or which class it reads in a drawing."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from model import Trace
from model.analysis import spelled, units, whole_words
from pages.answer.judged import judged
from pages.answer.learned import how_it_learned
from pages.answer.pictures import Hidden, every_place
from pages.answer.prediction import prediction
from pages.answer.vector import EQUATION, tabs_of
from pages.drawing.cache import once_a_run
from pages.drawing.page import Page, Tabs
from pages.drawing.picture import says_words
from pages.drawing.pictures.answers import probabilities
from pages.drawing.pictures.hidden_words import asked_place
from pages.drawing.pictures.shared_weights import shared_weights
from pages.drawing.screen import Screen
from pages.drawing.text import literal, texts_of
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import bound
from pages.screen.link import select

text, word = texts_of("answer")


HEADLESS = ("none", "vector")
FORMER = {"wrote": {"tab": None, "stage": "answer"}}


def purpose_of(screen: Screen) -> str:
    if screen.run.config.head in HEADLESS:
        return "answer.purpose_vector"
    return "answer.purpose" if "logits" in screen.run else f"judged.purpose_{screen.run.config.head}"


def equation_of(screen: Screen) -> str:
    """The comparison with every output, and what becomes of it: the last two rows of all; of vectors their cosine."""
    if screen.run.config.head in HEADLESS:
        return EQUATION
    return r" \qquad ".join(row.equation for row in list(screen.run.graph)[-2:])


def usual(screen: Screen, names: Sequence[str]) -> str:
    """The tab before one is chosen: beside another input, how alike they are."""
    return "alike" if "alike" in names and screen.other_input else names[0]


def tabs(screen: Screen) -> Tabs:
    if screen.run.config.head in HEADLESS:
        return tabs_of(screen)
    if "logits" not in screen.run:
        return {"": judged_and_trained}
    tabs = {"all": predicted}
    if says_words(screen.run):
        tabs["places"] = at_every_place
    return tabs | ({"learned": how_it_learned} if screen.choice.input == "digit" else {})


def which_words(screen: Screen, pen: Pen) -> None:
    """Whether several words are hidden, and how much of a word."""
    if says_words(screen.run):
        several = bound("answer.several", screen.choice.several, lambda on: select(several=on))
        st.toggle(word("several"), **several)
        part_of_word(screen, asked_place(screen)[1])


def part_of_word(screen: Screen, found: Hidden) -> None:
    """Of a hidden word of several pieces: hide all of it, or one piece."""
    typed = screen.typed.tokens
    words = [places for places in whole_words(typed) if set(places) & found.keys()]
    if len(words) != 1 or len(words[0]) == 1 or None in found.values():
        return
    (pieces,) = words
    parts = {part[0]: part for part in units(typed) if part[0] in pieces}
    if len(parts) == 1:
        return
    whole = 0  # the place of [CLS], which is no piece of a word
    names = {whole: word("whole_word", pieces=len(pieces))}
    names |= {first: literal(spelled([typed[place] for place in part])) for first, part in parts.items()}

    def choose(first: int) -> None:
        select(hidden=tuple(parts.get(first, pieces)), token=first or pieces[0], output=None)

    hidden = next((first for first, part in parts.items() if set(part) == found.keys()), whole)
    look = bound("answer.part", hidden, choose, anew=True)
    st.segmented_control(word("part"), list(names), format_func=names.__getitem__, required=True, **look)


def asked_logit(screen: Screen) -> tuple[tuple[int, int], Hidden]:
    """The place, of words, and the output that are asked about; the likeliest where nobody chose one. And the hidden
    places with the words that stood there.
    """
    asked, hidden = asked_place(screen)
    if says_words(screen.run) and screen.choice.token is not None:
        asked = screen.at.token
    likeliest = int(probabilities(screen.run, asked).argmax())
    return (asked, likeliest if screen.choice.output is None else screen.choice.output), hidden


def predicted(screen: Screen, pen: Pen) -> None:
    logit, hidden = asked_logit(screen)
    prediction(screen, pen, logit, hidden)
    trained_on(screen)


def at_every_place(screen: Screen, pen: Pen) -> None:
    logit, hidden = asked_logit(screen)
    pen.show("every_place", partial(every_place, logit=logit, hidden=hidden))


def judged_and_trained(screen: Screen, pen: Pen) -> None:
    judged(screen, pen)
    trained_on(screen)


def trained_on(screen: Screen) -> None:
    if screen.choice.big or screen.choice.learning is not None:  # then it was not trained to its end
        return
    size = f"{weights(screen.run):,}"
    name = "checkpoint" if screen.choice.checkpoint else screen.pipeline.name
    said = [text(f"trained_{name}", size=size), *shared_weights(screen.run.config, "counted")]
    st.caption(" ".join(said))


@once_a_run
def weights(run: Trace) -> int:
    """How many there are in the network."""
    return sum(weight.numel() for weight in run.network.parameters())


PAGE = Page(
    name="answer",
    tabs=tabs,
    usual=usual,
    former=FORMER,
    chips=lambda screen: False,
    equation=equation_of,
    purpose=purpose_of,
    controls=which_words,
    code=lambda screen: (type(screen.pipeline.network),),
)
