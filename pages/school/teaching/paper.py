"""A lesson on paper: a sheet of questions for the class, with the answers of this run behind folds."""

import html
import io
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

import numpy as np
import streamlit as st
from PIL import Image

from model.analysis import as_read
from pages.drawing.figures import Figure, theme
from pages.drawing.screen import Screen
from pages.drawing.text import plain, t, texts_of, unmarked
from pages.drawing.text.numbers import bound
from pages.school.lessons.lesson import Lesson
from pages.school.lessons.wording import answer_in_words, asked, called, options, otherwise, title_of
from pages.school.questions.case import Case, Truth
from pages.school.questions.pictures import Look, answer_bars, of_place
from pages.school.questions.question import Question
from pages.school.teaching.asked import about, why
from pages.school.teaching.cases import hidden_in, truth_here
from pages.screen.components.handout import handout
from pages.screen.frame import exports
from pages.screen.frame.pen import Pen
from pages.screen.frame.share import address

BLANK = " ______"
text, word = texts_of("paper")


@dataclass(frozen=True)
class OnPaper:
    """A question on paper.

    reads: the input. equation: LaTeX. picture: key of the picture it is about. ask: the question, if not in the title.
    options: to tick; without them, there is space to write. shows: key of the picture with the answer. says: the answer
    in sentences. Any of them may be empty.
    """

    title: str
    reads: str
    equation: str
    ask: str
    options: Sequence[str]
    picture: str
    shows: str
    says: Sequence[str]


def as_html(
    title: str,
    about: str,
    address: str,
    questions: Sequence[OnPaper],
    words: Mapping[str, str],
    *,
    seen: str = "",
) -> str:
    """A sheet of questions, with answers behind folds on a page of their own; open folds are printed.

    title: of the lesson. seen: the drawing it is about, as a data URL. Pictures and `words` are as in
    `exports.handout`, with "answers" and "print" in addition.
    """
    asked, answers = "", ""
    for number, question in enumerate(questions, 1):
        name = f"{number}. {html.escape(question.title)}"
        ticked = "".join(f"<li>{html.escape(option)}</li>" for option in question.options)
        room = f'<ul class="tick">{ticked}</ul>' if ticked else '<div class="lines"></div>'
        reads = f'<p class="small">{html.escape(question.reads)}</p>' if question.reads else ""
        asked += f'<section class="asked"><h2>{name}</h2>{reads}{exports.picture_of(question.picture)}'
        ask = f"<p>{html.escape(question.ask)}</p>" if question.ask else ""
        asked += f"{exports.typeset(question.equation)}{ask}{room}</section>"
        said = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in question.says)
        answers += f"<details><summary>{name}</summary>{exports.picture_of(question.shows)}{said}</details>"
    look = f'<img src="{html.escape(seen)}" alt="" style="height: 30mm">' if seen else ""
    top = f"<h1>{html.escape(title)}</h1>{exports.about_line(about)}{look}"
    below = f'<section class="answers"><h1>{html.escape(words["answers"])}</h1>'
    below += f'<p class="small screen">{html.escape(words["print"])}</p>{answers}</section>'
    return exports.on_sheet(f"{title} · {about}", top + asked + below, address, words)


def on_paper(screen: Screen, pen: Pen, lesson: Lesson) -> None:
    """Collapsed by default: the button that saves the sheet."""
    with st.expander(word("title"), icon=":material/print:", key="lesson.paper", on_change="rerun") as box:
        if not box.open:
            return
        st.markdown(text("how"))
        with theme.on_paper():
            saved, pictures = sheet(screen, lesson)
        if not saved:
            st.info(text("nothing"))
            return
        handout(word("save"), saved, f"{pen.file_name(title_of(lesson))}.html", pictures, key="lesson.sheet")


def sheet(screen: Screen, lesson: Lesson) -> tuple[str, dict[str, Figure]]:
    """HTML of a lesson about the page's input, without unclear questions, and its pictures by key. Empty if none is
    clear.
    """
    questions: list[OnPaper] = []
    pictures: dict[str, Figure] = {}
    secret = hidden_in(screen) and any(one.row == "word" and truth_here(screen, one) for one in lesson.questions)
    for question in lesson.questions:
        if question.run == "translation" and secret:  # its picture would give the word away
            continue
        if here := truth_here(screen, question):
            one, drawn = _question(screen, question, *here)
            questions.append(one)
            pictures |= drawn
    if not questions:
        return "", {}
    words = {name: word(name) for name in ("answers", "print")}
    words["language"] = screen.choice.lang
    there = address(urljoin(st.context.url or "", "lesson"), screen.choice.with_(question=None, of_class=None))
    seen = _drawing(screen.seen) if screen.seen is not None else ""
    about = f"{plain('lesson.reads')} {as_read(screen.run.tokens)}" if hidden_in(screen) else screen.about()
    return as_html(title_of(lesson), about, there, questions, words, seen=seen), pictures


def _question(screen: Screen, question: Question, case: Case, truth: Truth) -> tuple[OnPaper, dict[str, Figure]]:
    """A question on paper, and its answer's picture by key; for a teacher's own, the page's, also with the answer
    covered.
    """
    key, says = f"paper.{question.key}", [why(question, truth)]
    asks, look = (Look(question.row, question.gesture, case, truth, shown=shown) for shown in (False, True))
    ask = unmarked(asked(question, truth))
    row = question.equation.replace("{l}", "0")  # the same in each layer
    if question.measure:
        figures = {key: answer_bars(look).drawn()}
        says.append(unmarked(otherwise(question, truth)))
    else:
        covered, whole = ([one.drawn() for one in of_place(question.place, at)][:1] for at in (asks, look))
        figures = dict(zip((f"{key}.asked", key), covered + whole, strict=False))
        if truth.answer is not None:
            says.insert(0, unmarked(t("lesson.own_answer", answer=answer_in_words(truth))))
    if question.gesture in ("slide", "number"):
        low, high = map(bound, truth.span)
        ticks = [word("between", low=low, high=high) + BLANK]
    else:
        ticks = [name + BLANK if question.gesture == "chips" else f"☐ {name}" for name in options(truth)]
    words = f"{plain('lesson.reads')} {as_read(case.tokens)}" if case.trace.ids else ""  # a drawing stands above
    one = OnPaper(
        title=called(question) if question.measure else ask,
        reads=" · ".join(filter(None, (about(screen, question, case, truth), words))),
        equation=case.trace.graph[row].equation if row in case.trace.graph else "",
        ask=ask if question.measure else "",
        options=ticks,
        picture=f"{key}.asked" if f"{key}.asked" in figures else "",
        shows=key if key in figures else "",
        says=[sentence for sentence in says if sentence],
    )
    return one, figures


def _drawing(seen: np.ndarray) -> str:
    """A picture, (height, width) or (height, width, 3) in [0, 1], as a data URL: dark ink on paper."""
    file = io.BytesIO()
    pixels = 1 - seen if seen.ndim == 2 else seen
    Image.fromarray((255 * np.clip(pixels, 0, 1)).round().astype(np.uint8)).save(file, "PNG")
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
