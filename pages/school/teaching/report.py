"""What is left of a class: how many gave each answer, in totals only. It is the teacher's, and is kept nowhere."""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from pages.school.classroom.store import Asked, UnavailableError, UnknownClassError, store
from pages.school.classroom.tally import bars, sure_and_wrong, tallies
from pages.school.teaching.desk import Desk
from pages.school.teaching.lecture import Lecture
from pages.school.teaching.pictures import answer_is, answer_of, names_of, said_of_sure
from pages.ui.frame import exports
from pages.ui.text import language, plain, speaking, texts_of, unmarked
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
.right { font-weight: 700 } img { max-width: 100% } small { color: #5a6474 }
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


def keep(desk: Desk, question: int, pictures: list[str]) -> None:
    """Keep pictures for the report, from a callback."""
    if desk.keep_pictures(question, pictures):
        st.toast(word("picture_kept"), icon=":material/photo_camera:")


def offer(lecture: Lecture) -> None:
    """Draw the buttons that hand the report over. What was kept until then is in it, whichever window kept it."""
    asked, about, desk, spoken = list(lecture.asked), lecture.about, lecture.desk, language()

    def page() -> str:
        with speaking(spoken):
            try:
                return as_html(asked, about, store().pictures(desk.code, desk.key))
            except (UnavailableError, UnknownClassError):
                return as_html(asked, f"{about} · {word('unavailable')}", {})

    name = exports.file_name("class", desk.code)
    with st.container(horizontal=True):
        look = {"on_click": "ignore", "icon": ":material/download:"}
        st.download_button(word("report_html"), page, f"{name}.html", "text/html", key="class.report.html", **look)
        table = exports.csv(as_table(asked), about)
        st.download_button(word("report_csv"), table, f"{name}.csv", "text/csv", key="class.report.csv", **look)


def as_table(asked: Sequence[Asked]) -> pd.DataFrame:
    """A row for each answer to each question in each vote."""
    titles = [word(f"column_{name}") for name in ("number", "question", "vote", "answer", "right", "count", "all")]
    rows = []
    for one in asked:
        for number, given in sorted(one.votes.items()):
            for line in lines(one):
                said = line.answer, line.right, round(line.counts.get(number, 0), 1)
                rows.append((one.number, one.shown["ask"][language()], number, *said, len(given)))
    return pd.DataFrame(rows, columns=titles).set_index(titles[0])


def as_html(asked: Sequence[Asked], about: str, kept: Mapping[int, Sequence[str]]) -> str:
    """The report as a page that opens without a network and prints on paper. kept: pictures, by question."""
    title = html.escape(f"{word('report')} · {about}")
    body = "".join(_section(one, kept.get(one.number, ())) for one in asked)
    return (
        f'<!doctype html><html lang="{language()}"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"<h1>{html.escape(word('report'))}</h1><p>{html.escape(about)}</p><p><small>{html.escape(word('report_is'))}"
        f"</small></p>{body}"
    )


def _section(asked: Asked, pictures: Sequence[str]) -> str:
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
    parts += [f'<p><img alt="" src="{html.escape(one)}"></p>' for one in pictures]
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
