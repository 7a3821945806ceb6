"""Which lesson a link holds, and which run a question of it is about."""

from dataclasses import replace
from functools import lru_cache

from model import Pipeline
from model.pipeline import Reading
from model.telling import telling_word
from model.translator import Task
from pages.school.lessons.asking import truth_for
from pages.school.lessons.case import Case, Truth
from pages.school.lessons.rows import ENCODER, LESSONS, Lesson, Question
from pages.school.lessons.written import LessonError, lesson_from_code, opened_at
from pages.ui.page import Page
from pages.ui.runs import pipelines
from pages.ui.runs.masks import with_words_hidden
from pages.ui.sections.writing import best_aligned
from pages.ui.server.cache import of_networks
from pages.ui.state.choice import LANGUAGES, Choice
from pages.ui.state.first_sight import first_picture


def lesson_of(choice: Choice) -> tuple[Lesson, LessonError | None]:
    """The lesson of a link, or ours and why it is not the one that the link holds."""
    if choice.lesson and choice.lesson not in LESSONS:
        try:
            return lesson_from_code(choice.lesson), None
        except LessonError as error:
            return ENCODER, error
    return LESSONS.get(choice.lesson or "", ENCODER), None


def with_a_gap(choice: Choice, typed: Reading) -> tuple[int, ...] | None:
    """A sentence as questions read it: with the reader's hidden words; where there are none, with the telling one."""
    pipeline = pipelines.pipeline(choice.pipeline)
    if choice.hidden is None and typed.ids and "[MASK]" not in typed.tokens:
        word = _telling_word(pipeline, tuple(typed.ids))
        choice = choice.with_(hidden=() if word is None else (word,))
    return with_words_hidden(choice, typed)


@of_networks
@lru_cache(maxsize=1000)
def _telling_word(pipeline: Pipeline, ids: tuple[int, ...]) -> int | None:
    """Found once for all visitors; in what visitors see first, the word that is hidden there."""
    for first in filter(None, map(first_picture, LANGUAGES)) if pipeline.name == "text" else ():
        if tuple(pipeline.reader.read(first.text).ids) == ids:
            return first.query
    return telling_word(pipeline, pipeline(ids))


def usual_case(page: Page) -> Case:
    """What questions are about where they name no place: of an answer, a hidden token, or where the answer is read."""
    answers = "logits" in page.trace
    hidden = [place for place, name in enumerate(page.tokens) if name == "[MASK]"]
    token = page.token if page.token in hidden or not hidden else hidden[0]
    token = 0 if page.trace.picture is not None or (answers and not page.says_words) else token
    return Case(page.pipeline, page.trace, token, page.output_names if answers else ())


def case_of(page: Page, question: Question) -> Case | None:
    """The run that a question is about, and where; None where there is no such run."""
    if question.run == "translation":
        if page.choice.input != "sentence":
            return None
        name, translator = page.choice.translator, pipelines.translator(page.choice)
        sentence, _, _ = pipelines.read_by(name, page.given)
        run = pipelines.run(name, Task(sentence, page.choice.into))
        return Case(translator, run, 0, translator.target_vocabulary, *best_aligned(run, name))
    if question.place and question.measure:
        _, values = opened_at(question.place)
        at = {"layer": page.config.layers, "head": page.config.heads, "token": len(page.tokens)}
        there = {name: values[name] for name, most in at.items() if (values.get(name, most)) < most}
        return replace(usual_case(page), **there)
    return usual_case(page)


def truth_here(page: Page, question: Question) -> tuple[Case, Truth] | None:
    """The run that a question is about, and its true answer; None where that is not clear."""
    case = case_of(page, question)
    truth = truth_for(page, question, case) if case else None
    return None if case is None or truth is None else (case, truth)
