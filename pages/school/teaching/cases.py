"""Which lesson a link holds, and which run a question of it is about."""

from dataclasses import replace

from model.translator import Task
from pages.school.lessons.asking import truth_for
from pages.school.lessons.case import Case, Truth
from pages.school.lessons.rows import ENCODER, LESSONS, Lesson, Question
from pages.school.lessons.written import LessonError, lesson_from_code, opened_at
from pages.ui.page import Page
from pages.ui.runs import pipelines
from pages.ui.sections.writing import best_aligned
from pages.ui.state.choice import Choice


def lesson_of(choice: Choice) -> tuple[Lesson, LessonError | None]:
    """The lesson of a link, or ours and why it is not the one that the link holds."""
    if choice.lesson and choice.lesson not in LESSONS:
        try:
            return lesson_from_code(choice.lesson), None
        except LessonError as error:
            return ENCODER, error
    return LESSONS.get(choice.lesson or "", ENCODER), None


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
        return replace(page.case, **there)
    return page.case


def truth_here(page: Page, question: Question) -> tuple[Case, Truth] | None:
    """The run that a question is about, and its true answer; None where that is not clear."""
    case = case_of(page, question)
    truth = truth_for(page, question, case) if case else None
    return None if case is None or truth is None else (case, truth)
