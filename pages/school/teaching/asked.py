"""A question of a lesson as a class gets it: what phones show, in both languages, and apart from it what is true."""

import re
from collections.abc import Callable
from typing import cast

from pages.drawing.screen import Screen
from pages.drawing.text import LANGUAGES, plain, speaking, t, unmarked
from pages.drawing.text.numbers import written
from pages.school.classroom.questions import Shown, Told
from pages.school.lessons import wording
from pages.school.lessons.wording import asked, options
from pages.school.questions.case import Case, Truth, short
from pages.school.questions.pictures import Look, of_place, run_says
from pages.school.questions.question import Question
from pages.school.study.lesson import ROW

MOST_WITH_CHIPS = 12  # names that a phone shows without being scrolled; of more tokens, the last name is for the others
SURELY = 3  # of them, the strongest
UNLIKELY = re.compile(r" \(\d+\)$|^\[(CLS|SEP)\]$|^\W$")  # names that stand more than once, and what is no word
OTHERS = "…"


def for_phones(
    question: Question, truth: Truth, in_language: Callable[[], tuple[Truth, str]], reads: str, see: str
) -> tuple[Shown, Told]:
    """What phones are shown of a question, and what is true.

    in_language: the same truth in the language that is spoken, where classes have other names, and of which picture it
    is asked, "" for none. reads: the input as the network reads it, "" for a drawing. see: where it can be tried, an
    address below the app's.
    """
    ask, pictures, reason, names = {}, {}, {}, {}
    kept = _kept(truth) if question.gesture == "chips" else []
    for language in LANGUAGES:
        with speaking(language):
            there, pictures[language] = in_language()
            ask[language] = unmarked(asked(question, there))
            reason[language], names[language] = why(question, there), list(options(there))
            if kept:
                names[language] = [*(names[language][place] for place in kept), plain("class.others")]
    shown: dict[str, object] = {"key": question.key, "gesture": question.gesture, "ask": ask}
    if any(pictures.values()):
        shown["about"] = pictures
    if reads:
        shown["reads"] = reads
    if truth.options:
        shown |= {"options": [*(truth.options[place] for place in kept), OTHERS] if kept else [*truth.options]}
        shown["names"] = names
    if question.row == ROW:
        shown["study"] = True
    if question.gesture in ("slide", "number"):
        shown["span"] = [float(end) for end in truth.span]
    answer = truth.answer
    if question.gesture == "chips":
        shares = [answer[place] for place in kept]
        answer = [float(f"{share:.6g}") for share in ([*shares, sum(answer) - sum(shares)] if kept else answer)]
    true = Told(answer=answer, near=float(truth.near), why=reason, see=see)
    if question.measure is None:
        true["own"] = True
    return cast(Shown, shown), true


def _kept(truth: Truth) -> list[int]:
    """Of many tokens, the places of those that get chips of their own, in their order; [] where all do: the strongest,
    and then the words that a class may name, which stand once. None of the others together may be the answer.
    """
    shares, names = truth.answer, truth.options
    if len(shares) <= MOST_WITH_CHIPS:
        return []
    strongest = sorted(range(len(shares)), key=shares.__getitem__, reverse=True)
    words = sorted(strongest[SURELY:], key=lambda place: bool(UNLIKELY.search(names[place])))
    for order in (strongest[:SURELY] + words, strongest):
        kept = order[: MOST_WITH_CHIPS - 1]
        if sum(shares) - sum(shares[place] for place in kept) < shares[strongest[0]]:
            break
    return sorted(kept)


def about(screen: Screen, question: Question, case: Case, truth: Truth) -> str:
    """Of which picture of a page a teacher's own question is, with layer and head; nothing where it has none."""
    if question.measure is not None:
        return ""
    drawn = of_place(question.place, Look(question.row, question.gesture, case, truth))
    return next(
        (" · ".join(filter(None, (one.title or "", screen.at.where(one.of_head or (-1, -1))))) for one in drawn), ""
    )


def not_the_runs(question: Question, case: Case) -> str:
    """That a teacher's right answer is not what has most in the picture of its place; nothing where it is, or where the
    picture does not name it.
    """
    own = question.own
    if question.measure or own is None or not isinstance(own.answer, str):
        return ""
    named, answer = run_says(question.place, case), wording.local(own.answer)
    meant = [name for name in named if answer in (name, name.partition(" (")[0])]  # “the”, where it stands twice, too
    first, own_one = (max(names, key=named.__getitem__, default="") for names in (named, meant))
    if not meant or named[own_one] >= named[first]:
        return ""
    there = {name: written(short(named[one])) for name, one in (("most", first), ("own", own_one))}
    return t("class.not_the_runs", answer=answer, first=first, **there) if there["most"] != there["own"] else ""


def why(question: Question, truth: Truth) -> str:
    """What is said after the answer, without marks."""
    return unmarked(wording.why(question, truth))
