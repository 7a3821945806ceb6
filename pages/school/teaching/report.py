"""What is left of a class: how many gave each answer, in totals only. It is the teacher's, and is kept nowhere."""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from pages.school.classroom.store import Asked
from pages.school.classroom.tally import bars, sure_and_wrong, tallies
from pages.school.teaching.lecture import Lecture
from pages.school.teaching.pictures import answer_is, answer_of, names_of, said_of_sure
from pages.ui.frame import exports
from pages.ui.text import language, plain, texts_of, unmarked
from pages.ui.text.numbers import percent

text, word = texts_of("class")
STYLE = """
body { font: 16px/1.45 'Source Sans', 'Noto Sans CJK SC', 'Microsoft YaHei', sans-serif; max-width: 46rem;
  margin: 2rem auto; padding: 0 1rem; color: #172033 }
section { border-top: 1px solid #dbe0e8; padding: .6rem 0 1rem; break-inside: avoid }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
td, th { padding: .15rem .5rem; text-align: left; font-weight: inherit; vertical-align: middle }
td.bar { width: 40% } td.bar i { display: block; height: .7rem; background: #0072B2 }
td.bar i.first { background: #8a8f98 }
.right { font-weight: 700 } small { color: #5a6474 }
"""


@dataclass(frozen=True)
class Line:
    """One answer in the report: what it is called, whether it is right, and how many gave it in each vote (of chips:
    how many each token got, on average).
    """

    answer: str
    right: bool
    counts: Mapping[int, float]


def lines(asked: Asked) -> list[Line]:
    """What was answered to a question."""
    shown, truth = asked.shown, asked.truth
    if shown["gesture"] == "chips":
        means = {number: one.mean for number, one in tallies(asked).items()}
        names, most = shown["names"][language()], max(truth["answer"])
        return [
            Line(name, truth["answer"][i] == most, {number: float(mean[i]) for number, mean in means.items()})
            for i, name in enumerate(names)
        ]
    found = bars(shown, truth, asked.votes)
    return [Line(name, bar.right, bar.counts) for name, bar in zip(names_of(shown, found), found, strict=True)]


def offer(lecture: Lecture) -> None:
    """Draw the button that hands the report over."""
    name = f"{exports.file_name('class', lecture.desk.code)}.html"
    look = {"on_click": "ignore", "icon": ":material/download:", "key": "class.report.html"}
    st.download_button(word("report_html"), as_html(lecture.asked, lecture.about), name, "text/html", **look)


def as_html(asked: Sequence[Asked], about: str) -> str:
    """The report as a page that opens without a network and prints on paper."""
    title = html.escape(f"{word('report')} · {about}")
    body = "".join(map(_section, asked))
    return (
        f'<!doctype html><html lang="{language()}"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"<h1>{html.escape(word('report'))}</h1><p>{html.escape(about)}</p><p><small>{html.escape(word('report_is'))}"
        f"</small></p>{body}"
    )


def _section(asked: Asked) -> str:
    shown, truth = asked.shown, asked.truth
    parts = [f"<h2>{asked.number}. {html.escape(shown['ask'][language()])}</h2>"]
    if reads := shown.get("reads"):
        parts.append(f"<p>{html.escape(plain('lesson.reads'))} <b>{html.escape(reads)}</b></p>")
    votes = tallies(asked)
    for number, one in votes.items():
        said = word(
            "report_vote", vote=word(f"vote_{number}"), right=one.rights, share=percent(one.right), all=one.answers
        )
        parts.append(f"<p>{html.escape(said)}</p>")
    if not votes:
        parts.append(f"<p>{html.escape(word('nobody'))}</p>")
    elif sure := said_of_sure(shown, votes[max(votes)], sure_and_wrong(bars(shown, truth, asked.votes))):
        parts.append(f"<p>{html.escape(unmarked(sure))}</p>")
    of = {number: one.answers for number, one in votes.items()} if shown["gesture"] != "chips" else {}
    parts += ["<table>", *_rows(lines(asked), list(votes), of), "</table>"]
    parts.append(f"<p><b>{html.escape(word(answer_is(truth), answer=answer_of(shown, truth)))}</b> ")
    parts.append(f"{html.escape(truth.get('why', {}).get(language(), ''))}</p>")
    return f"<section>{''.join(parts)}</section>"


def _rows(found: Sequence[Line], votes: Sequence[int], of: Mapping[int, int]) -> Iterator[str]:
    """of: how many answered in each vote, where a count is a share of them."""
    most = max((count for line in found for count in line.counts.values()), default=0) or 1
    for line in found:
        widths = [(number, line.counts.get(number, 0)) for number in votes]
        drawn = ""
        for number, count in widths:
            kind = ' class="first"' if number < max(votes) else ""
            drawn += f'<i{kind} style="width:{100 * count / most:.1f}%"></i>'
        shares = {number: f" · {percent(count / of[number])}" for number, count in widths if number in of}
        counts = " → ".join(f"{count:.0f}{shares.get(number, '')}" for number, count in widths)
        mark = "✓ " if line.right else ""
        style = ' class="right"' if line.right else ""
        yield f'<tr{style}><td>{mark}{html.escape(line.answer)}</td><td class="bar">{drawn}</td><td>{counts}</td></tr>'
