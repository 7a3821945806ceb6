"""Lessons in links: reading returns what was written, and invalid codes are refused."""

import base64
import json
import random
import re
import tracemalloc
import zlib
from dataclasses import replace

import pytest

from pages.drawing.state.choice import Choice
from pages.drawing.text import LANGUAGES, catalogue
from pages.school.lessons.wording import shortened
from pages.school.lessons.written import (
    MOST_QUESTIONS,
    MOST_TEXT,
    OWN,
    VIEWS,
    LessonError,
    lesson_from_code,
    lesson_from_text,
    lesson_to_code,
    lesson_to_text,
    opened_at,
    own_lesson,
    place_of,
)
from pages.school.questions import QUESTIONS
from pages.school.questions.case import is_right
from pages.school.questions.question import Own, Question, clear_truth

TAPPED = Question(OWN, None, "tap", 0.0, 4, own=Own("Wer? “谁”", "$x$", ("it", "猫"), answer="猫"))
COUNTED = Question(OWN, None, "number", 0.0, 2, place="heads?layer=2", own=Own("n?", span=(0, 10), answer=3, near=1))
SLID = Question(OWN, None, "slide", 0.0, 1, own=Own("p?", span=(-1.0, 1.0)))
IN_HER_WORDS = replace(QUESTIONS["fit"], place="attention?layer=3&head=7&stage=scores", own=Own("{query}?"), minutes=9)


def test_a_teachers_lesson_comes_back_as_it_was_and_asks_one_of_ours_twice() -> None:
    lesson = own_lesson([TAPPED, QUESTIONS["fit"], COUNTED, SLID, IN_HER_WORDS], "第一课 & <b>")
    for read in (lesson_from_text(lesson_to_text(lesson)), lesson_from_code(lesson_to_code(lesson))):
        assert read == lesson
    assert lesson.keys == ["own", "fit", "own.2", "own.3", "fit.2"] and lesson["fit.2"].row == "fit"
    choice, problems = Choice.from_link(Choice(lesson=lesson_to_code(lesson)).to_link())
    assert not problems and choice.lesson and lesson_from_code(choice.lesson) == lesson


def test_what_a_teacher_set_down_is_right_and_where_she_did_not_every_guess_is() -> None:
    case = None  # no run is needed
    truth = clear_truth(TAPPED, case)  # type: ignore[arg-type]
    assert truth and is_right("tap", "猫", truth) and not is_right("tap", "it", truth)
    truth = clear_truth(COUNTED, case)  # type: ignore[arg-type]
    assert truth and is_right("number", 4, truth) and not is_right("number", 5, truth)
    truth = clear_truth(SLID, case)  # type: ignore[arg-type]
    assert truth and is_right("slide", 0.3, truth)


@pytest.mark.parametrize(
    ("span", "answer", "near", "guess", "right"),
    [
        ((0, 2000), 1234.5, 0, 1235.0, True), ((0, 2000), 1234.5, 0, 1234.0, False), ((0, 1), 0.333, 0, 0.33, True),
        ((0, 1), 0.35, 0.1, 0.45, True), ((0, 1), 0.35, 0.1, 0.46, False), ((0, 20), 12.34, 0, 12.3, True),
    ],
)  # fmt: skip
def test_a_slid_answer_is_compared_as_it_is_written(
    span: tuple[float, float], answer: float, near: float, guess: float, right: bool
) -> None:
    (question,) = lesson_from_text(
        row(**OWN_SLIDE | {"from": span[0], "to": span[1], "answer": answer, "near": near})
    ).questions
    truth = clear_truth(question, None)  # type: ignore[arg-type]
    assert truth and is_right("slide", guess, truth) == right


def test_a_view_is_what_is_chosen_but_for_the_input_if_that_is_not_wanted_too() -> None:
    choice = Choice(lang="zh", sentence="i love you", layer=2, head=6, token=1, as_="row", lesson="heads")
    assert place_of("attention", choice) == "attention?layer=3&head=7&token=2&as=row"
    seen = {"layer": 2, "head": 6, "token": 1, "as_": "row"}
    assert opened_at(place_of("attention", choice)) == ("attention", seen) and opened_at("home?") == ("home", {})
    for page in VIEWS:
        assert opened_at(place_of(page, Choice())) == (page, {"layer": 0, "head": 0})
        of_run = {"layer": 0, "head": 0, "input": "sentence", "sentence": "", "hidden": None}
        assert opened_at(place_of(page, Choice(), of_input=True)) == (page, of_run)


def row(**values: object) -> str:
    return json.dumps({"questions": [values]})


OWN_TAP = {"text": "?", "gesture": "tap", "options": ["a", "b"]}
OWN_NUMBER = {"text": "?", "gesture": "number"}
OWN_SLIDE = {"text": "?", "gesture": "slide"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "file"), ("[" * 30_000, "file"), ('{"questions": 1e999}', "questions"),
        ('{"more": 1, "questions": []}', "file"),
        (json.dumps({"title": "x" * 81, "questions": [{"ask": "fit"}]}), "title"), ('{"questions": []}', "questions"),
        (json.dumps({"questions": [{"ask": "fit"}] * (MOST_QUESTIONS + 1)}), "questions"),
        ("x" * (MOST_TEXT + 1), "long"),
        ('{"title": "\\ud800", "questions": [{"ask": "fit"}]}', "file"), ('{"questions": ["fit"]}', "question"),
        (row(), "question"), (row(ask="no_such"), "question"), (row(ask=["fit"]), "question"),
        (row(ask="fit", options=["a", "b"]), "question"), (row(ask="fit", minutes=True), "question"),
        (row(ask="fit", text="x" * 601), "words"), (row(ask="fit", place=3), "question"),
        (row(ask="fit", place="https://elsewhere.example/attention"), "place"),
        (row(ask="fit", place="attention?layer=x"), "question"), (row(ask="fit", place="home?class=ABCDEF"), "place"),
        (row(text="?"), "question"), (row(text="", gesture="tap", options=["a", "b"]), "question"),
        (row(text="?", gesture="word"), "question"), (row(text="?", gesture="tap"), "options"),
        (row(**OWN_TAP | {"options": ["a", "a"]}), "options"), (row(**OWN_TAP | {"options": "ab"}), "options"),
        (row(**OWN_TAP | {"options": ["a", "头" * 25]}), "options"),
        (row(**OWN_TAP | {"options": [*"abcdef", "b" * 17]}), "options"),
        (row(**OWN_TAP, answer=["a"]), "answer"), (row(**OWN_TAP, near=1), "question"),
        (row(**OWN_NUMBER, answer=0.5), "answer"), (row(**OWN_SLIDE, answer=0.005), "answer"),
        (row(**OWN_SLIDE, to=10, answer=5.55, near=0.04), "answer"),
        (row(**OWN_NUMBER, **{"from": 2, "to": 1}), "span"), (row(**OWN_NUMBER, to=10**400), "span"),
        ('{"questions": [{"text": "?", "gesture": "slide", "from": NaN}]}', "span"),
    ],
)  # fmt: skip
def test_a_text_that_is_no_lesson_says_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(LessonError) as refused:
        lesson_from_text(text)
    assert refused.value.reason == reason or (refused.value.reason, reason) == ("place", "question")
    for language in LANGUAGES:
        said = catalogue(language)[f"lesson.error.{refused.value.reason}"]
        assert set(re.findall(r"\{(\w+)\}", said)) <= refused.value.values.keys()


def packed(data: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(data, 9)).decode().rstrip("=")


@pytest.mark.parametrize("code", ["", "encodr", packed(b"\xff")])
def test_a_code_that_is_no_lesson_is_refused(code: str) -> None:
    with pytest.raises(LessonError):
        lesson_from_code(code)


def test_a_code_that_would_unpack_to_gigabytes_takes_little_room() -> None:
    code = packed(b" " * 50_000_000)
    tracemalloc.start()
    with pytest.raises(LessonError):
        lesson_from_code(code)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5_000_000


def test_a_lesson_too_long_for_a_link_is_refused() -> None:
    signs = random.Random(0)
    words = ("".join(chr(signs.randrange(0x4E00, 0x9FA5)) for _ in range(500)) for _ in range(10))
    long = own_lesson([replace(TAPPED, own=Own(ask, "", ("a", "b"))) for ask in words])
    with pytest.raises(LessonError) as refused:
        lesson_to_code(long)
    assert refused.value.reason == "long"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("What do the 17 weights in the row of “the animal” add up to?", "What do the 17 weights in the row of…"),
        ("Where do most weights of “the old animal” go in a layer?", "Where do most weights of “the old…”"),
        ("第三层里的哪个头" * 4 + "读“前一个词元的词元？", "第三层里的哪个头" * 4 + "读“前一个词元…”"),
        ("x" * 50, "x" * 39 + "…"),
    ],
)
def test_what_stands_for_a_long_question_ends_with_a_word_and_closes_its_quotation_marks(words: str, said: str) -> None:
    assert shortened(words) == said
