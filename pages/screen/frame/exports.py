"""Downloads: tables, pictures and whole runs as files."""

import csv as written
import html
import io
import re
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from pandas.api.types import is_numeric_dtype
from plotly.basedatatypes import BasePlotlyType

from model import Trace
from pages.drawing.figures import Figure
from pages.drawing.figures.equations import html_math, in_one_line, in_words
from pages.drawing.state.link_values import EDITS
from pages.drawing.text import plain

#: The ground of pictures in each theme, whose words are dark or light.
GROUND = {"light": "#ffffff", "dark": "#0f1420"}
INK_ON = {"light": "#172033", "dark": "#e8edf6"}
MOST_TYPED = 120  # characters of an address that somebody would type from paper
#: Signs that begin a formula in spreadsheets, as OWASP lists them.
LIVE = "=+@-"
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def figure_table(drawn: Figure) -> pd.DataFrame:
    """The numbers of a picture with the names on its axes.

    A heatmap gives its cells; bars and lines over common places, a column for each series; anything else, a row with
    both numbers for each point.
    """
    figure = drawn.checked()
    cells = next((trace for trace in figure.data if trace.type == "heatmap"), None)
    if cells is not None:
        z, every = np.asarray(cells.z), figure.layout.meta or {}
        if "rows" in every:  # the axes show only some names
            return pd.DataFrame(z, index=every["rows"], columns=every["columns"])
        sides = zip(z.shape, (figure.layout.yaxis.ticktext, figure.layout.xaxis.ticktext), strict=True)
        rows, columns = (_unescape(names) or range(1, count + 1) for count, names in sides)
        return pd.DataFrame(z, index=rows, columns=columns)
    series = dict(_series(figure))
    if all(values.index.is_unique for values in series.values()):
        across = figure.layout.yaxis if _lies(figure.data[0]) else figure.layout.xaxis
        table = pd.concat(series, axis=1)
        names = dict(zip(across.tickvals or (), _unescape(across.ticktext) or (), strict=False))
        table.index = [names.get(place, place) for place in table.index]  # last, as names may repeat
        return table
    named = {name: values.rename("y").rename_axis("x").reset_index() for name, values in series.items()}
    return pd.concat(named, names=["series", None]).reset_index("series")


def _series(figure: go.Figure) -> Iterator[tuple[str, pd.Series]]:
    """The series of a picture: name, and values over places. Leaves out marks that only take clicks."""
    for number, trace in enumerate(figure.data, 1):
        if getattr(trace.marker, "opacity", None) == 0 or getattr(trace, "mode", None) == "text":
            continue
        name = trace.name or f"value {number}"
        if trace.name and trace.showlegend is False:  # the same series in another run
            name += f" · {plain('change.other_run')}"
        x, y = np.asarray(trace.x), np.asarray(trace.y)
        places, values = (y, x) if _lies(trace) else (x, y)
        yield name, pd.Series(values, places)


def _lies(trace: BasePlotlyType) -> bool:
    """Whether the trace has horizontal bars: values run along x."""
    return trace.type == "bar" and trace.orientation == "h"


def _unescape(labels: Sequence[str] | None) -> list[str] | None:
    return [html.unescape(text) for text in labels] if labels is not None else None


def csv(table: pd.DataFrame, about: str = "") -> bytes:
    """A table that spreadsheets open with Chinese intact (UTF-8 with a byte order mark). about: a first line.

    No word acts as a formula, whatever a link or checkpoint holds: the first line is one cell, words are quoted, so
    that no comma or semicolon splits them, and words that begin like formulas get an apostrophe.
    """
    file = io.StringIO()
    if about:
        first = f"# {' '.join(about.split())}"
        written.writer(file, quoting=written.QUOTE_ALL, lineterminator="\n").writerow([first])
    harmless = table.apply(lambda column: column if is_numeric_dtype(column) else column.map(_harmless))
    both = {"index": _harmless, "columns": _harmless}
    harmless.rename(**both).rename_axis(**both).to_csv(file, quoting=written.QUOTE_NONNUMERIC)
    return file.getvalue().encode("utf-8-sig")


def _harmless(cell: object) -> object:
    """The cell; words that begin like a formula with an apostrophe in front, so that spreadsheets do not compute them.

    Skips invisible signs at the beginning, as some spreadsheets do; a wide ＝ counts as =.
    """
    if not isinstance(cell, str) or NUMBER.fullmatch(cell):
        return cell
    first = next((sign for sign in cell if unicodedata.category(sign)[0] not in "CZ"), "")
    live = unicodedata.normalize("NFKC", first) in tuple(LIVE) or cell[:1] in ("\t", "\r", "\n")
    return f"'{cell}" if live else cell


@dataclass(frozen=True)
class Taken:
    """A picture of a page, as downloads need it.

    where: its layer and head. runs: phrases that name the other run. sentence: what it says, without marks. equation:
    LaTeX, or "".
    """

    title: str
    figure: Figure
    make_table: Callable[[], pd.DataFrame]
    where: str
    runs: Sequence[str]
    sentence: str
    equation: str

    def in_html(self) -> str:
        """The equation as HTML without own fonts; "" without one."""
        return typeset(self.equation)


def typeset(latex: str) -> str:
    return f'<p class="equation">{html_math(in_words(in_one_line(latex)))}</p>' if latex else ""


#: The style of hand-outs on the screen and on A4.
SHEET = """body { font: 12pt/1.45 "Source Sans 3", sans-serif; color: #172033; background: #fff;
  max-width: 180mm; margin: 12mm auto; padding: 0 5mm }
:lang(en) body { font-family: "Source Sans 3", "Segoe UI", "Helvetica Neue", Arial, sans-serif }
h1 { font-size: 20pt; margin: 0 } h2 { font-size: 13pt; margin: 0 } .about { color: #556; margin: 0 0 6mm }
figure { margin: 0 0 8mm; break-inside: avoid } img { max-width: 100%; max-height: 150mm }
.equation { font: italic 13pt "STIX Two Text", "Times New Roman", serif; text-align: center }
.lines { height: 10.6mm; margin-top: 10.6mm; border: solid #99a; border-width: .4mm 0 }
summary { cursor: pointer; color: #0b5394 } .again { overflow-wrap: anywhere } @page { size: A4; margin: 14mm }
.asked { break-inside: avoid; margin: 0 0 7mm } .asked img { max-height: 110mm }
.asked p, .answers p { margin: 1.5mm 0 }
.tick { columns: 3 14em; margin: 1mm 0; list-style: none } .small { color: #556; font-size: 10pt }
.answers { break-before: page } .answers details { break-inside: avoid; margin: 0 0 4mm }
@media print { body { margin: 0; max-width: none } a { color: inherit }
  .screen, .answers details:not([open]), .answers:not(:has([open])) { display: none } }"""


def handout(
    title: str,
    question: str,
    equation: str,
    about: str,
    address: str,
    pictures: Mapping[str, Taken],
    words: Mapping[str, str],
) -> str:
    """A sheet for a class: each picture with its equation, lines to write on, and its sentence, folded away.

    equation: of the page, as LaTeX, or "". pictures: by key. Each <img> has the source `picture:KEY`, which the
    browser replaces by the picture as drawn. words: "language", "see", "says", in the reader's language.
    """
    figures = "".join(
        f"<figure><h2>{html.escape(taken.title)}</h2>{picture_of(key)}{taken.in_html()}"
        f'<p>{html.escape(words["see"])}</p><div class="lines"></div>'
        f"<details><summary>{html.escape(words['says'])}</summary><p>{html.escape(taken.sentence)}</p></details></figure>"
        for key, taken in pictures.items()
    )
    top = f"<h1>{html.escape(question)}</h1>{about_line(f'{title} · {about}')}{typeset(equation)}"
    return on_sheet(f"{title} · {about}", top + figures, address, words)


def picture_of(key: str) -> str:
    """The <img> that the browser fills with the picture of this key; "" for no key."""
    return f'<img src="picture:{html.escape(key)}" alt="">' if key else ""


def again(address: str) -> str:
    """A link back to the app; addresses too long to type are not printed."""
    link, screen = html.escape(address), " screen" * (len(address) > MOST_TYPED)
    words = html.escape(plain("common.handout_again"))
    return f'<p class="again{screen}">{words} <a href="{link}">{link}</a></p>'


def about_line(about: str) -> str:
    """What a sheet is about, and today's date."""
    return f'<p class="about">{html.escape(about)} · {time.strftime("%Y-%m-%d")}</p>'


def on_sheet(title: str, body: str, address: str, words: Mapping[str, str]) -> str:
    """A page for the screen and for A4 that fetches nothing and ends with a link back to the app."""
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{SHEET}</style>'
    page = f"<head>{head}</head><body>{body}{again(address)}</body>"
    return f'<!doctype html><html lang="{words["language"]}">{page}</html>'


def standalone(taken: Taken, about: str, mode: str) -> str:
    """A picture as one HTML file that opens offline, with title, equation and sentence; its camera saves an SVG.

    mode: the theme that the figure was drawn for, "light" or "dark".
    """
    ground = GROUND[mode]
    template = "plotly_dark" if mode == "dark" else "plotly"
    figure = taken.figure.checked().update_layout(template=template, paper_bgcolor=ground, plot_bgcolor=ground)
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}
    page = figure.to_html(include_plotlyjs=True, config=config)
    look = f"body {{ background: {ground}; color: {INK_ON[mode]}; font: 16px/1.5 sans-serif; margin: 24px }}"
    head = f"<head><title>{html.escape(about)}</title><style>{look} .equation {{ font: italic 1.2em serif }}</style>"
    above = f'<h1>{html.escape(taken.title)}</h1><p class="about">{html.escape(about)}</p>{taken.in_html()}'
    below = f'<p class="says">{html.escape(taken.sentence)}</p>'
    start, body, rest = page.replace("<head>", head, 1).partition("<body>")
    return f"{start}{body}{above}{rest.replace('</body>', f'{below}</body>')}"


def npz(trace: Trace) -> bytes:
    """The whole run: an array for each key of the trace, the tokens, and the changes as in a link.

    A translation has the target's tokens, too.
    """
    file = io.BytesIO()
    names = {name: np.array(getattr(trace, name)) for name in ("tokens", "target_tokens") if hasattr(trace, name)}
    edits = np.array(EDITS.write(trace.edits))
    np.savez_compressed(file, edits=edits, **names, **{key: trace[key] for key in trace})
    return file.getvalue()


def file_name(*parts: str) -> str:
    """A file name for every system, from words in any language: "glass-encoder-attention-我爱你-layer-3"."""
    words = (re.sub(r"[^\w]+", "-", part).strip("-_") for part in parts)
    return "-".join(["glass-encoder", *filter(None, words)])[:120]
