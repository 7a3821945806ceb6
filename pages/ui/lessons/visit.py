"""What a visitor has guessed on the pages, of each input: it stays in his session, and is gone with it."""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from cachetools.keys import hashkey

from model import WeightsError
from pages.ui.lessons.asking import Asking, new_record, truth_for
from pages.ui.lessons.case import Case
from pages.ui.lessons.rows import BESIDES, STORY, Question, following
from pages.ui.lessons.truths import clear_truth
from pages.ui.runs import pipelines
from pages.ui.server.cache import digest
from pages.ui.state.choice import Choice
from pages.ui.state.link import chosen, select
from pages.ui.text import class_label
from pages.ui.view import View

#: In the session: of each input its records, which questions were asked, in order, and whether each was found; and
#: those that came again, each with the page on which it did, and how many had been asked by then.
GUESSED = "guessed"
#: In the session: how many questions there were.
TURN = "guessed.turn"
BETWEEN_RETURNS = 3  # questions between one that comes again and the next one that does
MOST_INPUTS = 20  # of which guesses are kept
#: All that is asked on pages, in their order.
QUESTIONS = {question.key: question for questions in (*STORY.values(), BESIDES.values()) for question in questions}


def asked_here(view: View, page: str, case: Case, goes_to: Collection[str] = ()) -> Asking | None:
    """What the story of a page asks of a run: the first of its questions whose answer is clear, and was not seen on
    another page. goes_to: what of the place of the question is chosen, once that is answered.
    """
    elsewhere = [question for name in view.choice.seen if name != page for question in STORY.get(name, ())]
    for question in STORY.get(page, ()):
        if question not in elsewhere and (asking := _of(view, question, case, page, goes_to=goes_to)):
            return asking
    return None


def asked_besides(first: Asking, page: str) -> Asking | None:
    """What the story of a page asks besides, where that is clear: of the layer and head on the screen, or of those in
    which it is clearest. first: what it has asked already.
    """
    question = BESIDES.get(page)
    if question is None or question is first.question:
        return None
    any_head = replace(first.case, layer=None, head=None)
    return _of(first.view, question, first.case) or _of(first.view, question, any_head)


def once_more(view: View, page: str, case: Case) -> Asking | None:
    """What was asked of this input on another page, and missed, once others have been asked since: each of them once,
    and not on the next pages after another.
    """
    kept = _kept(view)
    came: dict[str, tuple[str, int]] = kept["again"]
    key = next((key for key, (where, _) in came.items() if where == page), None)
    if key is None:
        pages = len({key for key, _ in kept["done"]})
        due = following(list(QUESTIONS), [(key, found or key in came) for key, found in kept["done"]])
        asked_here = QUESTIONS.get(due) in (*STORY.get(page, ()), BESIDES.get(page))
        early = any(pages - at < BETWEEN_RETURNS for _, at in came.values())
        if due not in [key for key, _ in kept["done"]] or asked_here or early:
            return None
        came[due], key = (page, pages), due
    return _of(view, QUESTIONS[key], case, again=1)


def is_open(asking: Asking, page: str) -> bool:
    """Whether the answer of what a page asks is still to be found: where the address does not say that it was seen. The
    browser's way back leads there, and its way on to the answer, with the guess.
    """
    return page not in asking.view.choice.seen


def is_asked_at_home(choice: Choice) -> bool:
    """Whether the story of Home still asks what the network answers to a drawing: then nobody else may say it."""
    if choice.at_least("numbers") or "home" in choice.seen or choice.edits or choice.twin or pipelines.compares(choice):
        return False
    try:
        pipeline, trace = pipelines.pipeline(choice.pipeline), pipelines.run(choice.pipeline, choice.subject)
    except WeightsError:  # whoever says the answer says so
        return False
    case = Case(pipeline, trace, 0, [class_label(label) for label in pipeline.reader.labels])
    return any(clear_truth(question, case) for question in STORY["home"])


def ask_anew(page: str) -> None:
    """From a click: ask again what was seen."""
    select(seen=tuple(name for name in chosen().seen if name != page))


def _of(
    view: View,
    question: Question,
    case: Case,
    page: str | None = None,
    again: int = 0,
    goes_to: Collection[str] = (),
) -> Asking | None:
    if (truth := truth_for(view, question, case)) is None:
        return None
    kept = _kept(view)
    where = question.key, digest(view.subject), case.token, case.layer, case.head, case.step, again
    if where not in kept["records"]:
        st.session_state[TURN] = turn = st.session_state.get(TURN, 0) + 1
        kept["records"][where] = new_record(turn)
    place = {name: truth.place[name] for name in goes_to if name in truth.place}
    after = partial(_over, kept["done"], question.key, page, place)
    return Asking(view, question, case, truth, kept["records"][where], after)


def _over(done: list[tuple[str, bool]], key: str, page: str | None, place: Mapping[str, int], found: bool) -> None:
    """An answer is shown: from now on this page shows it, at its place, and so does its link."""
    if not done or done[-1][0] != key:  # else it was answered, taken back, and is answered again
        done.append((key, found))
    if page and page not in (seen := chosen().seen):
        select(seen=(*seen, page), **place)


def _kept(view: View) -> dict[str, Any]:
    """What is kept of the input on the screen."""
    inputs: dict[Hashable, dict[str, Any]] = st.session_state.setdefault(GUESSED, {})
    given = hashkey(view.choice.pipeline, digest(view.given))
    kept = inputs.pop(given, None) or {"records": {}, "done": [], "again": {}}
    inputs[given] = kept  # as the last
    for oldest in list(inputs)[:-MOST_INPUTS]:
        del inputs[oldest]
    return kept
