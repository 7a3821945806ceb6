"""The lesson of a link, and the run that a question is about."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from model import Pipeline
from model.measures.telling import telling_word
from model.pipeline import Reading
from model.translator import Task
from pages.drawing.cache import kept
from pages.drawing.masks import with_words_hidden
from pages.drawing.picture import kind_of, outputs_of, says_words
from pages.drawing.screen import Screen, usual_token
from pages.drawing.state import sketch
from pages.drawing.state.choice import Choice
from pages.drawing.state.first_sight import first_picture
from pages.drawing.text import LANGUAGES, class_label, language, t
from pages.school.lessons.lesson import LESSONS, TOUR, Lesson
from pages.school.lessons.wording import left_out, title_of
from pages.school.lessons.written import (
    OWN,
    LessonError,
    is_read,
    lesson_from_code,
    lesson_to_code,
    opened_at,
    own_lesson,
)
from pages.school.questions.case import Case, Truth
from pages.school.questions.heads import MOST_TOGETHER
from pages.school.questions.question import Question, clear_truth, truth_of
from pages.school.study.lesson import STUDY
from pages.school.tour.station import EXAMPLE
from pages.screen.runs import pipelines

#: Questions about the network's answer, read at a fixed token, whichever token a place names.
OF_THE_ANSWER = {"word", "places", "digit", "bare", "causal", "heads", "thinks", "layer", "gathered"}


def lesson_of(choice: Choice, usual: Lesson) -> tuple[Lesson, LessonError | None]:
    """The lesson of a link; else `usual`, and the error if the link's lesson cannot be read."""
    if choice.lesson is None:
        return usual, None
    ours = {TOUR.name: TOUR, STUDY.name: STUDY} | LESSONS
    if choice.lesson in ours:
        return ours[choice.lesson], None
    try:
        return lesson_from_code(choice.lesson), None
    except LessonError as error:
        return usual, error


def unasked(question: Question) -> str:
    """Why no class is asked a teacher's question, as the name of a text: it does not fit on a projector, or nobody can
    be told whether he is right; "" if it can be asked.
    """
    own = question.own
    if own is None:
        return ""
    bare = question.measure is None and own.answer is None
    return "too_long" if not is_read(own) else "no_answer_marked" if bare else ""


def with_new(screen: Screen, lesson: Lesson, choice: Choice) -> tuple[str, int, list[Question]]:
    """The code of a class's lesson with the questions behind it that only the teacher's own lesson has and that can be
    asked here, how many they are, and those that cannot. May raise LessonError.
    """
    known = [(one.row, one.place, one.own) for one in lesson.questions]
    own, _ = lesson_of(choice, lesson)
    new = [one for one in own.questions if (one.row, one.place, one.own) not in known]
    if own.name != OWN or lesson.twice:
        return "", 0, []
    added = [one for one in new if not unasked(one) and truth_here(screen, one)]
    code = lesson_to_code(own_lesson([*lesson.questions, *added], title_of(lesson))) if added else ""
    if code:
        lesson_from_code(code)
    return code, len(added), [one for one in new if one not in added]


def with_a_gap(pipeline: Pipeline, choice: Choice, typed: Reading) -> tuple[int, ...] | None:
    """Ids of a sentence for questions: with the reader's masks, or if there are none, with the telling word masked."""
    return with_words_hidden(pipeline, _with_a_gap(pipeline, choice, typed), typed)


def as_asked(choice: Choice) -> Choice:
    """The choice whose input and hidden words the question of a link reads; without one, of the lesson's first."""
    lesson, _ = lesson_of(choice, TOUR)
    question = next((one for one in lesson.questions if one.key == choice.question), lesson.questions[0])
    return read_by(question, choice)


def read_by(question: Question, choice: Choice) -> Choice:
    """The choice whose input and hidden words a question reads; a translator reads what is hidden."""
    if question.run == "translation":
        return choice.with_(hidden=())
    if question.measure is None:
        return _of_place(choice, opened_at(question.place)[1] if question.place else {})
    return gapped(choice)


def gapped(choice: Choice) -> Choice:
    """The choice with the words hidden that a lesson hides."""
    return _with_a_gap(pipelines.pipeline(choice.pipeline), choice, pipelines.read(choice)[1])


def _with_a_gap(pipeline: Pipeline, choice: Choice, typed: Reading) -> Choice:
    if choice.hidden is None and typed.ids and "[MASK]" not in typed.tokens:
        word = _telling_word(pipeline, tuple(typed.ids))
        choice = choice.with_(hidden=() if word is None else (word,))
    return choice


def _of_place(choice: Choice, values: Mapping[str, Any]) -> Choice:
    """The choice with the input of a place."""
    names = ("input", "sentence", "drawing", "hidden")
    return choice.with_(**{name: values[name] for name in names if name in values})


def hidden_in(screen: Screen) -> tuple[int, ...] | None:
    """Masked positions in addition to those written in the sentence, as in a Choice."""
    typed = screen.typed.tokens
    hidden = tuple(i for i, token in enumerate(screen.run.tokens) if token == "[MASK]" and typed[i] != token)
    return hidden or screen.choice.hidden


@kept(1000)
def _telling_word(pipeline: Pipeline, ids: tuple[int, ...]) -> int | None:
    """Computed once for all visitors; for the default sentence, another word than the one whose answer they
    have seen.
    """
    firsts = [*filter(None, map(first_picture, LANGUAGES))] if pipeline.name == "text" else []
    shown = [first.query for first in firsts if tuple(pipeline.reader.read(first.text).ids) == ids]
    return telling_word(pipeline, pipeline(ids), shown)


def usual_case(screen: Screen) -> Case:
    """The case for questions without a place: at a masked token, or where the answer is read."""
    run = screen.run
    answers = "logits" in run
    hidden = [place for place, name in enumerate(run.tokens) if name == "[MASK]"]
    token = screen.at.token if screen.at.token in hidden or not hidden else hidden[0]
    token = 0 if run.picture is not None or (answers and not says_words(run)) else token
    return Case(screen.pipeline, run, token, screen.outputs if answers else ())


def case_of(screen: Screen, question: Question) -> Case | None:
    """The case of a question; None if there is no such run."""
    if question.run == "translation":
        if screen.choice.input != "sentence":
            return None
        name, translator = screen.choice.translator, pipelines.translator(screen.choice)
        sentence, _, _ = pipelines.read_by(name, screen.given)
        run = pipelines.run(name, Task(sentence, screen.choice.into))
        return Case(translator, run, 0, translator.target_vocabulary)
    if question.run == "drawing" and kind_of(screen.run) == "words":
        digits, ink = pipelines.pipeline("digits"), sketch.ink(sketch.example(EXAMPLE))
        labels = [class_label(name) for name in digits.reader.labels]
        return Case(digits, pipelines.run("digits", ink), 0, labels)
    values = opened_at(question.place)[1] if question.place else {}
    case = usual_case(screen) if question.measure else _as_written(screen, values)
    at = {"layer": case.trace.config.layers, "head": case.trace.config.heads}
    if question.row not in OF_THE_ANSWER:
        at["token"] = len(case.tokens)
    return replace(case, **{name: values[name] for name, most in at.items() if values.get(name, most) < most})


def _as_written(screen: Screen, values: Mapping[str, Any]) -> Case:
    """The case of a question in a teacher's own words: her place's input, with exactly the words masked that she
    masked. values: of her place.
    """
    choice = _of_place(screen.choice, values)
    given, typed, _ = pipelines.read(choice)
    hidden = with_words_hidden(pipelines.pipeline(choice.pipeline), choice, typed)
    trace = pipelines.run(choice.pipeline, given if hidden is None else hidden)
    names_of = outputs_of(trace) if "logits" in trace else ()
    return Case(pipelines.pipeline(choice.pipeline), trace, usual_token(trace, choice.sentence), names_of)


def truth_here(screen: Screen, question: Question) -> tuple[Case, Truth] | None:
    """The case of a question and its true answer, computed once for all visitors; None if it is not clear. An answer
    set by a teacher needs no computing.
    """
    if (case := case_of(screen, question)) is None:
        return None
    if question.measure is None:
        truth = clear_truth(question, case)
    else:
        written = getattr(case.trace, "written_ids", None)  # of a translation
        where = (case.token, case.layer, case.head, case.step, written, language())
        truth = _truth(question, case, (case.pipeline, screen.subject, *where))
    return None if truth is None or truth.margin < question.least else (case, truth)


def not_asked(screen: Screen, questions: Iterable[Question]) -> str:
    """Names of our questions that are not asked here, with what each needs; "" if there are none."""
    if not (names := " · ".join(map(left_out, questions))):
        return ""
    case = usual_case(screen)
    long = not case.affords(len(case.every_head) + MOST_TOGETHER + 1)  # the most that any of them computes
    return t("lesson.left_out", names=names) + (f" {t('lesson.left_long')}" if long else "")


@kept(1000, lambda question, _, known: (question.row, known))
def _truth(question: Question, case: Case, known: Hashable) -> Truth | None:
    return truth_of(question, case)
