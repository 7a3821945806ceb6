"""A question of a lesson for a class: what phones show, in both languages, and separately its answer."""

import re
from collections.abc import Callable, Mapping
from typing import cast

from model.analysis import placed
from pages.drawing.screen import Screen
from pages.drawing.text import LANGUAGES, plain, speaking, t, unmarked
from pages.drawing.text.numbers import written
from pages.school.classroom.questions import Shown, Told
from pages.school.lessons import wording
from pages.school.lessons.wording import asked, options
from pages.school.lessons.written import opened_at
from pages.school.questions.case import Case, Truth, short
from pages.school.questions.pictures import Look, of_place, run_says
from pages.school.questions.question import Own, Question
from pages.school.study.lesson import ROW

MOST_WITH_CHIPS = 12  # names that fit on a phone without scrolling; with more tokens, the last name stands for the rest
SURELY = 3  # the strongest ones, always included
UNLIKELY = re.compile(r"(\[(CLS|SEP)\]|\W)( \(\d+\))?")  # tokens that are no words
OTHERS = "…"
SHARES = "attention", "heads", "answer"  # pages whose picture holds shares: weights, probabilities
QUOTED = re.compile(r"[“\"「『‘']([^“”\"「」『』‘’']+)[”\"」』’']")


def for_phones(
    question: Question, truth: Truth, in_language: Callable[[], tuple[Truth, str]], reads: str, see: str
) -> tuple[Shown, Told]:
    """The question for phones, and its answer.

    in_language: the same truth in the current language (classes have other names), and the title of its picture, or "".
    reads: the input as the network reads it, "" for a drawing. see: where it can be tried, an address below the app's.
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
    """Indices of the tokens with chips of their own, in order; [] if all have them.

    They are the strongest, then words, of which one that is repeated is an option at each of its places. The rest
    together must get less than the strongest.
    """
    shares, names = truth.answer, truth.options
    if len(shares) <= MOST_WITH_CHIPS:
        return []
    strongest = sorted(range(len(shares)), key=shares.__getitem__, reverse=True)
    words = sorted(strongest[SURELY:], key=lambda place: bool(UNLIKELY.fullmatch(names[place])))
    for order in (strongest[:SURELY] + words, strongest):
        kept = order[: MOST_WITH_CHIPS - 1]
        if sum(shares) - sum(shares[place] for place in kept) < shares[strongest[0]]:
            break
    return sorted(kept)


def about(screen: Screen, question: Question, case: Case, truth: Truth) -> str:
    """Title of the page's picture for a teacher's own question, with layer and head; "" if there is none."""
    if question.measure is not None:
        return ""
    drawn = of_place(question.place, Look(question.row, question.gesture, case, truth))
    return next(
        (" · ".join(filter(None, (one.title or "", screen.at.where(one.of_head or (-1, -1))))) for one in drawn), ""
    )


def not_the_runs(question: Question, case: Case) -> str:
    """A warning if a teacher's right answer is not the strongest in the picture of its place, or another number than
    there, or not in it; else "".
    """
    own = question.own
    if question.measure or own is None or own.answer is None:
        return ""
    named = run_says(question.place, case)
    if not isinstance(own.answer, str):
        answer, of = written(short(own.answer)), _number_of(question, own, case, named)
        if of is None:
            return t("class.unchecked", answer=answer)
        is_so = written(short(named[of]))
        return t("class.not_the_runs_number", answer=answer, name=of, there=is_so) if is_so != answer else ""
    answer = wording.local(own.answer)
    meant = [name for name in named if answer in (name, name.partition(" (")[0])]  # “the” also means each “the (2)”
    first, own_one = (max(names, key=named.__getitem__, default="") for names in (named, meant))
    if not meant:
        return t("class.unchecked", answer=answer)
    if named[own_one] >= named[first]:
        return ""
    there = {name: written(short(named[one])) for name, one in (("most", first), ("own", own_one))}
    return t("class.not_the_runs", answer=answer, first=first, **there) if there["most"] != there["own"] else ""


def _number_of(question: Question, own: Own, case: Case, named: Mapping[str, float]) -> str | None:
    """Whose share a teacher asks for with a slider: of the one that she quotes, of the cell where she stands, or of the
    first answer. None if that is not plain.
    """
    if question.gesture != "slide" or own.span[1] > 1 or not named:
        return None
    page, place = opened_at(question.place)
    if page not in SHARES:
        return None
    row = {placed(case.tokens)[case.token]} if page != "answer" else set()
    quoted = [name for name in dict.fromkeys(QUOTED.findall(own.ask)) if name in named.keys() - row]
    if quoted or page == "answer":
        return quoted[0] if quoted else max(named, key=named.__getitem__)
    return dict(enumerate(named)).get(place.get("key", -1))


def why(question: Question, truth: Truth) -> str:
    """The explanation after the answer, without markup."""
    return unmarked(wording.why(question, truth))
