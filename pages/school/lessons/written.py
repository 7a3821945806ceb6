"""A lesson as a code for a link, validated when read.

It is compressed JSON: {"title": "…", "questions": […]}. A question is one of ours, {"ask": "fit"}, or the teacher's
own, {"text": "…", "gesture": "tap", "options": ["…", "…"], "answer": "…", "why": "…"}; "number" and "slide" have
"from", "to" and "near" instead of options. Both may have "minutes" and a "place", a page and its choice as in a link:
"attention?layer=3&head=7". One of ours with a "text" is asked in these words. Independent of Streamlit.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from model.analysis import HAIR
from model.errors import ReasonedError
from pages.drawing.state import sketch
from pages.drawing.state.choice import FIELDS, PIPELINES, Choice, renamed
from pages.drawing.state.link_values import MOST_CODE
from pages.school.lessons.lesson import Lesson
from pages.school.questions import QUESTIONS
from pages.school.questions.case import OWN as OWN  # name of a teacher's lesson in texts
from pages.school.questions.case import Truth, is_right, step_of
from pages.school.questions.question import Own, Question
from pages.screen.frame import contents

MOST_TEXT = 40_000  # characters of a lesson as JSON
MOST_QUESTIONS, MOST_MINUTES = 30, 90
MOST_TITLE, MOST_WORDS = 80, 600  # characters of a title, of a text
MOST_ASK, MOST_WHY = 200, 240  # width of a question, and of its explanation, on a projector
OPTIONS = 2, 12  # least and most
MOST_OPTION = 48  # width of an option: one projector line beside a picture
FEW, SHORT = 6, 16  # up to FEW options may be that wide; more of them at most SHORT
MOST_NUMBER = 1e9
#: How a question of a teacher's can be answered.
OWN_GESTURES = ("tap", "number", "slide")
NAMES = {"ask", "text", "gesture", "options", "from", "to", "answer", "near", "why", "minutes", "place"}
#: Former keys of questions that were merged into others.
FORMER = {
    former: kept
    for kept, old in {
        "weights": "beans brings", "residual": "sum", "places": "seat twin", "word": "race", "root": "single alone",
        "blur": "favourites", "thinks": "ffn", "bare": "beside", "causal": "ahead seen", "once": "first",
        "digit": "cut learns", "gathered": "empty", "heads": "even hard", "fit": "reason", "back": "random",
        "layer": "author",
    }.items()
    for former in old.split()
}  # fmt: skip
#: Values of a link that belong to no place: language and display, the run, class and lesson.
NO_PLACE = {"lang", "big", "symbols", "lesson", "question", "goal", "class", "role"}
NO_PLACE |= {"input", "model", "s", "ink", "picture", "into", "forced", "beam", "other", "other_ink", "other_picture"}
PLACES = {field.name for field in FIELDS} - NO_PLACE
#: Additional values of a place for a question in her own words: its input.
INPUT = {"input", "s", "ink"}
#: Pages that can be shown.
VIEWS = tuple(name for name in contents.NAMES if name not in ("lesson", "class"))


class LessonError(ReasonedError):
    """A lesson that cannot be read or made.

    `reason`: "file"; "long", "title" or "questions" (`values`: `most`); "question" or "place" (`number`, from 1);
    "words" (`number`, `most`); of her own question "options" (`number`, `least`, `most`, `long`), "span" or "answer"
    (`number`); "empty", if a question without words was added.
    """


def lesson_to_text(lesson: Lesson) -> str:
    """A lesson as JSON."""
    questions = [_written(question) for question in lesson.questions]
    return json.dumps({"title": lesson.title, "questions": questions}, ensure_ascii=False, separators=(",", ":"))


def lesson_from_text(text: str) -> Lesson:
    """The lesson from JSON. Raises LessonError."""
    if len(text) > MOST_TEXT:
        raise LessonError("long", most=MOST_TEXT)
    try:
        held = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LessonError("file") from error
    if not isinstance(held, dict) or not held.keys() <= {"title", "questions"}:
        raise LessonError("file")
    title, rows = held.get("title", ""), held.get("questions")
    if not _is_text(title, MOST_TEXT, least=0):
        raise LessonError("file")
    if len(title) > MOST_TITLE:
        raise LessonError("title", most=MOST_TITLE)
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_QUESTIONS:
        raise LessonError("questions", most=MOST_QUESTIONS)
    return own_lesson([_read(row, number) for number, row in enumerate(rows, 1)], title)


def own_lesson(questions: list[Question], title: str = "") -> Lesson:
    """A teacher's lesson, in which each question has a key of its own."""
    rows = [question.row for question in questions]
    times = [rows[: place + 1].count(row) for place, row in enumerate(rows)]
    keys = [f"{row}.{time}" if time > 1 else row for row, time in zip(rows, times, strict=True)]
    return Lesson(OWN, tuple(replace(one, key=key) for one, key in zip(questions, keys, strict=True)), title=title)


def lesson_to_code(lesson: Lesson) -> str:
    """A lesson as a code for a link. Raises LessonError if it is too long."""
    code = sketch.to_code(lesson_to_text(lesson).encode())
    if len(code) > MOST_CODE:
        raise LessonError("long", most=MOST_CODE)
    return code


def lesson_from_code(code: str) -> Lesson:
    """The lesson from a code. Raises LessonError."""
    try:
        text = sketch.bytes_of(code, 4 * MOST_TEXT).decode()
    except ValueError as error:
        raise LessonError("file") from error
    return lesson_from_text(text)


# -- places --------------------------------------------------------------------------------------------------------


def place_of(page: str, choice: Choice, *, of_input: bool = False) -> str:
    """A place: a page with the current choice, for any input, or of this one."""
    names = PLACES | INPUT if of_input and choice.input in PIPELINES else PLACES
    return f"{page}?{urlencode({name: value for name, value in choice.to_link().items() if name in names})}"


def opened_at(place: str, *, of_input: bool = True) -> tuple[str, dict[str, Any]]:
    """The page of a place, and the values of a Choice in it; with an input, also which words are masked, even if none.
    of_input: whether an input is allowed. Raises LessonError.
    """
    page, _, query = place.partition("?")
    try:
        held = renamed(dict(parse_qsl(query, True, strict_parsing=bool(query), max_num_fields=len(FIELDS))))
    except ValueError as error:
        raise LessonError("place") from error
    if page not in VIEWS or not held.keys() <= (PLACES | INPUT if of_input else PLACES):
        raise LessonError("place")
    choice, problems = Choice.from_link(held)
    if any(problem.name not in ("layer", "head") or not problem.value.isdigit() for problem in problems):
        raise LessonError("place")  # layer or head missing here may exist in another network
    paths = {field.name: field.path.partition(".")[0] for field in FIELDS}
    named = [*held, *["hidden"] * bool(held.keys() & INPUT)]
    return page, {paths[name]: getattr(choice, paths[name]) for name in named}


# -- questions -----------------------------------------------------------------------------------------------------


def _written(question: Question) -> dict[str, Any]:
    row: dict[str, Any] = {"ask": question.row} if question.measure else {}
    if own := question.own:
        row["text"] = own.ask
        if not question.measure:
            row["gesture"] = question.gesture
            row |= {"options": list(own.options)} if own.options else {"from": own.span[0], "to": own.span[1]}
            row |= {} if own.answer is None else {"answer": own.answer}
            row |= {"near": own.near} if own.near else {}
        row |= {"why": own.why} if own.why else {}
    row |= {"place": question.place} if question.place else {}
    return row | {"minutes": question.minutes}


def _read(row: object, number: int) -> Question:
    """One question. Raises LessonError with its number."""
    wrong = LessonError("question", number=number)
    if not isinstance(row, dict) or not row.keys() <= NAMES:
        raise wrong
    words, why, place = (row.get(name, "") for name in ("text", "why", "place"))
    if not (_is_text(words, MOST_TEXT, least=0) and _is_text(why, MOST_TEXT, least=0) and isinstance(place, str)):
        raise wrong
    if max(len(words), len(why)) > MOST_WORDS:
        raise LessonError("words", number=number, most=MOST_WORDS)
    if place:
        try:
            opened_at(place, of_input="ask" not in row)
        except LessonError as error:
            raise LessonError("place", number=number) from error
    if "ask" in row:
        question = QUESTIONS.get(FORMER.get(row["ask"], row["ask"])) if isinstance(row["ask"], str) else None
        if question is None or row.keys() & {"gesture", "options", "from", "to", "answer", "near"}:
            raise wrong
        own = Own(words, why) if words else None
        question = replace(question, place=place, own=own)
    else:
        question = _own(row, words, why, place, number)
    minutes = row.get("minutes", question.minutes)
    if not _is_number(minutes, 1, MOST_MINUTES) or minutes != int(minutes):
        raise wrong
    return replace(question, minutes=int(minutes))


def _own(row: Mapping[str, Any], words: str, why: str, place: str, number: int) -> Question:
    """A question of the teacher's own. Raises LessonError."""
    gesture, answer = row.get("gesture"), row.get("answer")
    others = {"from", "to", "near"} if gesture == "tap" else {"options"}
    if not words or gesture not in OWN_GESTURES or row.keys() & others:
        raise LessonError("question", number=number)
    if gesture == "tap":
        options: Any = row.get("options")
        there = isinstance(options, list) and all(_is_text(option, MOST_WORDS) for option in options)
        if not there or not OPTIONS[0] <= len(options) <= OPTIONS[1] or len(set(options)) < len(options):
            raise LessonError("options", number=number, least=OPTIONS[0], most=OPTIONS[1], long=SHORT)
        if max(map(width, options)) > (MOST_OPTION if len(options) <= FEW else SHORT):
            raise LessonError("options", number=number, least=OPTIONS[0], most=FEW, long=MOST_OPTION)
        if answer is not None and answer not in options:
            raise LessonError("answer", number=number)
        own = Own(words, why, tuple(options), answer=answer)
    else:
        low, high, near = row.get("from", 0), row.get("to", 1), row.get("near", 0)
        bounds = all(_is_number(value, -MOST_NUMBER, MOST_NUMBER) for value in (low, high, near))
        whole = gesture != "number" or (bounds and low == int(low) and high == int(high))
        if not bounds or not low < high or near < 0 or not whole:
            raise LessonError("span", number=number)
        if answer is not None and not _is_number(answer, low, high):
            raise LessonError("answer", number=number)
        own = Own(words, why, span=(low, high), answer=answer, near=near)
        if answer is not None and not _can_be_given(own, 1 if gesture == "number" else step_of(own.span)):
            raise LessonError("answer", number=number)
    return Question(OWN, None, gesture, 0.0, 3, place=place, own=own)


def _can_be_given(own: Own, step: float) -> bool:
    """Whether a number one of these steps from the least is right."""
    (low, high), truth = own.span, Truth(own.answer, 0.0, {}, (), {}, near=own.near)
    below = low + (own.answer - low + HAIR) // step * step  # type: ignore[operator]
    return any(is_right("number", guess, truth) for guess in (below, below + step) if guess <= high + HAIR)


def is_read(own: Own) -> bool:
    """Whether a teacher's words fit on a projector in letters readable from the last row."""
    return width(own.ask) <= MOST_ASK and width(own.why) <= MOST_WHY


def width(words: str) -> int:
    """Width of a text: Chinese characters count twice; of two languages, the wider one."""
    return max(sum(1 if sign.isascii() else 2 for sign in part.strip()) for part in words.split("||"))


def _is_text(value: object, most: int, least: int = 1) -> bool:
    """Whether it is a displayable text of such a length: lone surrogates are not displayable."""
    if not isinstance(value, str) or value.encode(errors="replace").decode() != value:
        return False
    return least <= len(value.strip()) <= len(value) <= most


def _is_number(value: object, least: float, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most  # NaN is not
