"""What a visitor has guessed on the pages, of each input: it stays in his session, and is gone with it."""

from collections.abc import Callable, Collection, Hashable
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any

import streamlit as st
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from model import WeightsError
from pages.school.lessons.asking import Asking, Record, new_record, truth_for
from pages.school.lessons.case import Case
from pages.school.lessons.rows import BESIDES, STORY, Question, due
from pages.school.lessons.truths import MOST_BEANS, clear_truth, clearest_word
from pages.ui.runs import pipelines
from pages.ui.server.cache import digest, of_networks
from pages.ui.state.choice import Choice
from pages.ui.state.link import chosen, select
from pages.ui.text import class_label
from pages.ui.view import View

#: In the session: of each input its records; which questions were asked, in order, and whether each was found; of which
#: place it was asked, and whether it was skipped, without a guess; those that came again, each with the page on which
#: it did, and how many had been asked by then; and about which word a page asks where it chooses that itself.
GUESSED = "guessed"
#: In the session: how many questions there were.
TURN = "guessed.turn"
BETWEEN_RETURNS = 3  # questions between one that comes again and the next one that does
MOST_INPUTS = 20  # of which guesses are kept
#: All that is asked on pages, in their order.
QUESTIONS = {question.key: question for questions in (*STORY.values(), *BESIDES.values()) for question in questions}


def asked_here(view: View, page: str, case: Case) -> Asking | None:
    """What the story of a page asks of a run: the first of its questions whose answer is clear, and was not seen on
    another page.
    """
    elsewhere = [question for name in view.choice.seen if name != page for question in STORY.get(name, ())]
    for question in STORY.get(page, ()):
        if question not in elsewhere and (asking := _of(view, question, case, page)):
            return asking
    return None


def word_to_ask(view: View, page: str, find: Callable[[], int]) -> int:
    """The word about which the story of a page asks: found once for an input, so that it stays for another head."""
    words: dict[str, int] = _kept(view)["words"]
    if page not in words:
        words[page] = find()
    return words[page]


def another_word(view: View, page: str, but: Collection[int]) -> int | None:
    """The word that a story asks about where pages on the way to it tell the answer of those in `but`: that of which
    its question is clearest in the chosen head.
    """
    run = view.original
    if run.picture is not None or len(run.tokens) > MOST_BEANS:
        return None
    case = Case(view.pipeline, run, 0, layer=view.layer, head=view.head)
    known = hashkey(case.pipeline, digest(view.subject), view.layer, view.head)
    return _another_word(STORY[page][0], case, but, known)


@of_networks
@cached(LRUCache(1000), key=lambda question, _, but, known: hashkey(question.key, known, *but), lock=Lock())
def _another_word(question: Question, case: Case, but: Collection[int], known: Hashable) -> int | None:
    return clearest_word(question, case, but)


def asked_besides(view: View, page: str, case: Case, first: Question | None) -> Asking | None:
    """What the story of a page asks besides, where that is clear: of the layer and head on the screen, or of those in
    which it is clearest. first: what it has asked already.
    """
    any_head = replace(case, layer=None, head=None)
    for question in BESIDES.get(page, ()):
        if question is not first and (asking := _of(view, question, case) or _of(view, question, any_head)):
            return asking
    return None


def asked_alone(view: View, question: Question, case: Case) -> Asking | None:
    """A question at the head of one part of a page, in this visit: where it is clear, and no lesson is asking it."""
    asking = None if view.choice.question == question.key else _of(view, question, case)
    if asking is not None:
        asking.after = None  # nothing else goes by it
    return asking


def once_more(view: View, page: str, case: Case) -> Asking | None:
    """What was asked of this input on another page, and missed, once others have been asked since: each of them once,
    and not on the next pages after another; first of all what was skipped.
    """
    kept = _kept(view)
    came: dict[str, tuple[str, int]] = kept["again"]
    here = [key for key, (where, _) in came.items() if where == page]
    pages = len({key for key, _ in kept["done"]})
    if not here and not any(pages - at < BETWEEN_RETURNS for _, at in came.values()):
        own = {question.key for question in (*STORY.get(page, ()), *BESIDES.get(page, ()))}
        missed = [key for key in due(kept["done"]) if key not in came and key not in own]
        here = sorted(missed, key=lambda key: not kept["of"][key][1])
    for key in here:
        if asking := _of(view, QUESTIONS[key], replace(case, **kept["of"][key][0]), again=1):
            came.setdefault(key, (page, pages))
            return asking
    return None


def met(view: View) -> dict[str, bool]:
    """Which questions the pages have asked of this input, and whether each was found at last."""
    return dict(_kept(view)["done"])


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


def _of(view: View, question: Question, case: Case, page: str | None = None, again: int = 0) -> Asking | None:
    if (truth := truth_for(view, question, case)) is None:
        return None
    kept = _kept(view)
    where = question.key, digest(view.subject), case.token, case.layer, case.head, case.step, again
    if where not in kept["records"]:
        st.session_state[TURN] = turn = st.session_state.get(TURN, 0) + 1
        kept["records"][where] = new_record(turn)
    record, of = kept["records"][where], {name: getattr(case, name) for name in ("token", "layer", "head", "step")}
    after = partial(_over, kept, record, question.key, of, page)
    return Asking(view, question, case, truth, record, after)


def _over(
    kept: dict[str, Any], record: Record, key: str, of: dict[str, int | None], page: str | None, found: bool
) -> None:
    """An answer is shown: from now on this page shows it, and so does its link."""
    done = kept["done"]
    if not done or done[-1][0] != key:  # else it was answered, taken back, and is answered again
        done.append((key, found))
        kept["of"][key] = of, not record["guesses"]
    if page and page not in (seen := chosen().seen):
        select(seen=(*seen, page))


def _kept(view: View) -> dict[str, Any]:
    """What is kept of the input on the screen."""
    inputs: dict[Hashable, dict[str, Any]] = st.session_state.setdefault(GUESSED, {})
    given = hashkey(view.choice.pipeline, digest(view.given))
    kept = inputs.pop(given, None) or {"records": {}, "done": [], "of": {}, "again": {}, "words": {}}
    inputs[given] = kept  # as the last
    for oldest in list(inputs)[:-MOST_INPUTS]:
        del inputs[oldest]
    return kept
