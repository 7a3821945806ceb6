"""The report of a class: totals of each answer, to read and as a table. It goes to the teacher, stored nowhere."""

import html
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from urllib.parse import urljoin

import pandas as pd
import streamlit as st

from pages.drawing.figures import Figure, theme
from pages.drawing.text import language, plain, texts_of, unmarked
from pages.school.classroom.store import Asked
from pages.school.classroom.tally import tallies
from pages.school.questions.pictures import Look, of_place
from pages.school.teaching.lecture import Lecture
from pages.school.teaching.pictures import answer_of, answer_told, as_table, lines, said_of_right, said_of_sure
from pages.screen.components.handout import handout
from pages.screen.frame import exports
from pages.screen.frame.share import address

text, word = texts_of("class")
BUTTON = "class.report.html"  # key of its button, and with a question's number of its picture
PRINTED, WIDTH, HEIGHT = 15, 840, 332  # pixels: letters of a picture, which is printed smaller; its size, at least
A_ROW = 19  # pixels, at least, of a row whose name is a pixel larger than other letters
BARE: Mapping[str, Figure] = MappingProxyType({})
NAMED = 9.5  # pixels, 7 points: the least letters of a printed picture
NUMBERED = 0.72  # least size of numbers in cells, times that of letters
COLUMNS = "question", "vote", "given", "count", "share", "answer"  # of the table, after the number
STYLE = """
body { font: 16px/1.45 'Source Sans', system-ui, sans-serif; max-width: 46rem;
  margin: 2rem auto; padding: 0 1rem; color: #172033 }
section { border-top: 1px solid #dbe0e8; padding: .6rem 0 1rem; break-inside: avoid }
h2 { font-size: 1.3em; word-break: keep-all; overflow-wrap: anywhere; text-wrap: balance }
h2, section > p:not(:last-child) { break-inside: avoid; break-after: avoid }
img { --least: 0px; max-width: 100%; max-height: 24rem; break-inside: avoid }
table { break-inside: avoid; border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
td, th { padding: .15rem .5rem; text-align: left; font-weight: inherit; vertical-align: middle }
td.bar { width: 40% } td:last-child { white-space: nowrap } td.bar i { display: block; height: .7rem }
caption { text-align: left } caption i { display: inline-block; width: .7rem; height: .7rem }
i.vote { background: #E69F00 } i.first { background: #8a8f98 } i.own { background: #0072B2 }
.again { overflow-wrap: anywhere; font-size: .8rem } .right { font-weight: 700 } small { color: #5a6474 }
@page { size: A4; margin: 14mm }
@media print { body { font-size: 10pt; margin: 0; max-width: none; -webkit-print-color-adjust: exact }
  .screen { display: none } img { max-height: max(17rem, var(--least)) }
  section:not(:has(tr:nth-child(7))) img { max-height: max(26rem, var(--least)) }
  section:has(img) :is(td, th, p) { padding-block: 0; margin-block: .4em } }
"""


def offer(lecture: Lecture) -> None:
    """Draw the buttons that hand the report over, to read and as CSV."""
    name = exports.file_name("class", lecture.desk.code)
    choice = lecture.screen.choice.with_(of_class=None, lesson=lecture.screen.choice.lesson or lecture.lesson.name)
    there = address(urljoin(st.context.url or "", "lesson"), choice)
    with theme.on_paper(), theme.letters(PRINTED):
        pictures = _pictures(lecture)
    handout(
        word("report_html"), as_html(lecture.asked, lecture.about, there, pictures), f"{name}.html", pictures, BUTTON
    )
    look = {"on_click": "ignore", "icon": ":material/download:", "key": "class.csv"}
    st.download_button("CSV", exports.csv(as_rows(lecture.asked), lecture.about), f"{name}.csv", "text/csv", **look)


def _pictures(lecture: Lecture) -> dict[str, Figure]:
    """Pictures of pages for the teacher's own questions, by key."""
    pictures = {}
    for one in lecture.asked:
        question, case, truth = lecture.clear.get(one.place, (None, None, None))
        if question and case and truth and question.measure is None:
            look = Look(question.row, question.gesture, case, truth, shown=True)
            for drawn in of_place(question.place, look)[:1]:
                figure = pictures[f"{BUTTON}.{one.number}"] = drawn.drawn()
                margin = figure.layout["margin"]
                rows = len(figure.layout["yaxis"].get("ticktext", ()))
                high = A_ROW * rows + margin["t"] + margin["b"]
                figure.layout |= {"width": WIDTH, "height": max(HEIGHT, high)}
                if "numbers" in figure.layout.get("meta", {}):
                    figure.tell(numbers=NUMBERED, large=True)
    return pictures


def as_rows(asked: Sequence[Asked]) -> pd.DataFrame:
    """A row for each answer in each vote on a question; of chips, which nobody counts, the mean share of each token."""
    rows: list[tuple[object, ...]] = []
    for one in asked:
        votes, chips, ask = tallies(one), one.shown["gesture"] == "chips", one.shown["ask"][language()]
        true = answer_of(one.shown, one.truth)
        for line in lines(one, revealed=True):
            for number, tally in votes.items():
                given = line.counts.get(number, 0)
                share = given / 100 if chips else given / max(1, tally.answers)
                rows.append((one.number, ask, number, line.guess, None if chips else given, round(share, 4), true))
    columns = [plain("homework.column_number"), *(word(f"column_{name}") for name in COLUMNS)]
    table = pd.DataFrame(rows, columns=columns).set_index(columns[0])
    return table.astype({columns[4]: "Int64"})


def as_html(asked: Sequence[Asked], about: str, there: str, pictures: Mapping[str, Figure] = BARE) -> str:
    """The report as a page that opens offline and can be printed. there: the lesson's address. pictures: by key, those
    available.
    """
    title = html.escape(f"{word('report')} · {about}")
    return (
        f'<!doctype html><html lang="{language()}"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"<h1>{html.escape(word('report'))}</h1><p>{html.escape(about)}</p><p><small>{html.escape(word('report_is'))}"
        f"</small></p>{''.join(_section(one, pictures) for one in asked)}"
        f"{exports.again(there)}"
    )


def _section(asked: Asked, pictures: Mapping[str, Figure]) -> str:
    """One question: words, input, picture, share of right answers, all answers, and the true one."""
    shown, truth, votes = asked.shown, asked.truth, tallies(asked)
    reads = f"{plain('lesson.reads')} {shown['reads']}" if shown.get("reads") else ""
    says = [shown.get("about", {}).get(language(), ""), reads]
    says.append(unmarked(said_of_right(votes)) if votes else word("nobody"))
    key = f"{BUTTON}.{asked.number}"
    if sure := said_of_sure(asked, named=key not in pictures):  # as on the projector
        says.append(unmarked(sure))
    above = "".join(f"<p>{html.escape(one)}</p>" for one in says if one)
    answer = html.escape(unmarked(answer_told(shown, truth)))
    why = html.escape(truth.get("why", {}).get(language(), ""))
    title = f"<h2>{asked.number}. {html.escape(shown['ask'][language()])}</h2>"
    table = as_table(asked, revealed=True, whole=True)
    least = f"{NAMED / PRINTED * pictures[key].layout['height']:.0f}px" if key in pictures else ""
    seen = f'<img src="picture:{key}" alt="" style="--least: {least}">' if least else ""
    return f"<section>{title}{seen}{above}{table}<p><b>{answer}</b><br>{why}</p></section>"
