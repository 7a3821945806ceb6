"""What every page is made of: the stage strip, pictures with their reading sentence, arithmetic, code, downloads."""

import html
import inspect
import io
from collections.abc import Callable, Hashable, Sequence
from functools import cache

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from model import Trace
from model.analysis import Terms
from model.stages import Stage, stage_of
from pages.ui import figures, session
from pages.ui.frame import PAGES, Choice, choice, page_link
from pages.ui.glossary import glossary_button
from pages.ui.text import literal, plain, t

#: English words in equations, shown in the reader's language.
EQUATION_WORDS = ("may look at", "otherwise", "learned")


def shape(values: np.ndarray) -> str:
    """(8, 12, 12) as people write it: 8 × 12 × 12."""
    return " × ".join(str(side) for side in values.shape)


class View:
    """One page on the screen: opened with its name, filled with pictures, closed with code and downloads.

    `choice` is what the reader chose, `trace` the run of that input. Nothing here runs the network
    again when only the layer or the head changes.
    """

    def __init__(self, name: str, equation: str | None = None) -> None:
        self.name = name
        self.choice: Choice = choice()
        self._strip_place = st.container()
        self.trace: Trace = session.trace(self.choice)
        self.choice = self.choice.fitted(self.trace.config, len(self.trace.tokens))
        self._run = self.choice.pipeline, tuple(self.trace.ids) or self.choice.subject
        with self._strip_place:
            self._strip()
        self.mode = st.context.theme.type or "light"
        with st.sidebar:
            glossary_button(self.trace, self.mode)
        self.font_size = 18 if self.choice.big else 12
        self._pictures: dict[str, tuple[str, go.Figure, pd.DataFrame | None]] = {}
        if self.choice.pipeline == "untrained":
            st.warning(t("untrained.banner"), icon=":material/shuffle:")
        st.header(plain(f"{name}.title"), anchor=False)
        st.markdown(t(f"{name}.purpose"))
        if equation and self.choice.at_least("formula"):
            self.equation(equation)

    def follow(self, pipeline: str, subject: Hashable) -> Trace:
        """Make the rest of the page, and its downloads, about another run than the reader's input."""
        self._run = pipeline, subject
        self.trace = session.run(pipeline, subject)
        return self.trace

    # -- what was chosen, ready to use -------------------------------------------------------------

    def key(self, stage: str) -> str:
        """The trace key of a STAGES key in the chosen layer."""
        return self.choice.at(stage)

    def value(self, stage: str) -> np.ndarray:
        """The recorded value of a STAGES key in the chosen layer (all heads)."""
        return self.trace[self.key(stage)]

    def token_names(self) -> list[str]:
        """The tokens as labels; where a token occurs twice the axes keep them apart by place."""
        return list(self.trace.tokens)

    def tokens(self, title: str) -> figures.Axis:
        """An axis of tokens; `title` is a text key such as "axis.query"."""
        return figures.Axis(plain(title), self.token_names())

    def where(self) -> str:
        """ "layer 2, head 3" in the reader's language."""
        return plain("common.where", layer=self.choice.layer + 1, head=self.choice.head + 1)

    def columns(self, widths: Sequence[int], **look: object) -> list:
        """Columns side by side; one below the other where everything is large."""
        return [st.container() for _ in widths] if self.choice.big else st.columns(widths, **look)

    # -- parts of a page ---------------------------------------------------------------------------

    def equation(self, latex: str) -> None:
        for words in EQUATION_WORDS:
            latex = latex.replace(words, plain(f"equation.{words.replace(' ', '_')}"))
        st.latex(figures.coloured(latex, self.mode))

    def picture(
        self,
        name: str,
        figure: go.Figure,
        sentence: str,
        *,
        stage: str | None = None,
        table: pd.DataFrame | None = None,
        on_pick: Callable[[int, int], None] | None = None,
        title: str | None = None,
        equation: str | None = None,
        values: np.ndarray | None = None,
    ) -> None:
        """A figure under its title, shape and equation, and over its reading sentence.

        name: unique on the page; its title is the text "{page}.{name}" unless `title` (plain text) is given. sentence:
        Markdown, what the picture says in words (it is also the picture's text alternative). stage: the STAGES key
        it shows. equation: LaTeX in place of that row's own. values: what has the shape to print, where no stage says
        it. table: the numbers for the CSV. on_pick(row, column): called when a cell is clicked.
        """
        row = stage_of(self.key(stage)) if stage else None
        heading = f"**{literal(title) if title else plain(f'{self.name}.{name}')}**"
        shown = self._one_head(stage) if stage else values
        if shown is not None:
            heading += f"&ensp;:gray[{shape(shown)}]"
        st.markdown(heading)
        if (row or equation) and self.choice.at_least("formula"):
            self.equation(equation or row.equation)
        extra: dict = {}
        widget = f"{self.name}.{name}"
        if on_pick:
            extra = {"on_select": lambda: _picked(widget, on_pick), "selection_mode": "points"}
        st.plotly_chart(
            figure,
            key=widget,
            width="stretch",
            config={
                "displaylogo": False,
                "displayModeBar": "hover",
                "modeBarButtons": [["toImage"]],
                "toImageButtonOptions": {"format": "svg", "filename": f"glass-encoder-{self.name}-{name}"},
            },
            **extra,
        )
        st.markdown(sentence)
        self._pictures[name] = (title or plain(f"{self.name}.{name}"), figure, table)

    def _one_head(self, stage: str) -> np.ndarray:
        value = self.value(stage)
        axes = self.trace.axes(self.key(stage))
        return value[self.choice.head] if axes[0] == "head" else value

    def by_hand(self, title: str | None = None):
        """The box for arithmetic: open from the depth "numbers" on."""
        return st.expander(
            title or plain("common.by_hand"), expanded=self.choice.at_least("numbers"), icon=":material/calculate:"
        )

    def close(self, *code: object) -> None:
        """The end of a page: the source of the modules that made it, downloads, and the standing warning."""
        if code:
            with st.expander(plain("common.code"), expanded=self.choice.at_least("code"), icon=":material/code:"):
                for thing in code:
                    st.code(source(thing), language="python")
        with st.expander(plain("common.downloads"), icon=":material/download:"):
            self._downloads()
        st.caption(t("common.not_explanation"))
        # What a click will call keeps this object alive in the visitor's session, but needs none of its numbers.
        del self.trace, self._pictures

    def _downloads(self) -> None:
        names = {title: name for name, (title, _, _) in self._pictures.items()}
        columns = st.columns([2, 1, 1, 1], vertical_alignment="bottom")
        with columns[0]:
            wanted = st.selectbox(plain("common.which_picture"), list(names), key=f"{self.name}.download")
        if wanted in names:
            _, figure, table = self._pictures[names[wanted]]
            file = f"glass-encoder-{self.name}-{names[wanted]}"
            with columns[1]:
                st.download_button(
                    "CSV",
                    lambda: csv(figure_table(figure) if table is None else table),
                    f"{file}.csv",
                    "text/csv",
                    on_click="ignore",
                )
            with columns[2]:
                st.download_button("HTML", lambda: standalone(figure), f"{file}.html", "text/html", on_click="ignore")
        with columns[3]:
            run = self._run  # done again when asked for: a trace kept for the button would stay as long as the visitor
            st.download_button(
                plain("common.npz"), lambda: npz(session.run(*run)), "glass-encoder-trace.npz", on_click="ignore"
            )
        st.caption(t("common.downloads_help"))

    def _strip(self) -> None:
        """The stage strip: every page with the shape of its tensor for this very input; the current one is lit."""
        with st.container(horizontal=True, gap="small", key="strip"):
            for row in PAGES:
                label = plain(f"{row.name}.short")
                if row.shape_of and self.choice.at(row.shape_of) in self.trace:
                    label += f"  \n:small[:gray[{shape(self.trace[self.choice.at(row.shape_of)])}]]"
                page_link(row.name, label, row.icon)


@cache
def source(thing: object) -> str:
    """The source of a class or function, read from its file once."""
    return inspect.getsource(thing)


def _picked(widget: str, on_pick: Callable[[int, int], None]) -> None:
    """Hand a clicked cell on. A second click on the same cell deselects it, and is no news."""
    points = st.session_state[widget].selection.points
    if points:
        on_pick(int(points[0]["y"]), int(points[0]["x"]))


def pick(name: str, label: str, options: Sequence[str], default: int = 0, numbered: bool = True) -> int:
    """A select box over places (tokens, neurons, …) that keeps its place across pages; returns the index.

    Its session key is `name`: a click on a picture may set it too. Options that read alike stay apart while they
    are `numbered`.
    """
    place = st.session_state.get(name)
    if not isinstance(place, int) or not 0 <= place < len(options):
        place = min(default, len(options) - 1)
    # Said anew in each run: the browser knows only the wording, and would go on sending that of another sentence.
    st.session_state[name] = place
    return st.selectbox(
        label,
        range(len(options)),
        format_func=lambda i: f"{i + 1} · {options[i]}" if numbered else options[i],
        key=name,
        persist_state="session",
    )


def pick_number(name: str, label: str, count: int, default: int = 0) -> int:
    """A number box over `count` places that have no names and are counted from 0 (dimensions); kept across pages."""
    if not 0 <= st.session_state.get(name, -1) < count:
        st.session_state[name] = min(default, count - 1)
    return st.number_input(label, 0, count - 1, key=name, persist_state="session")


def numbers(table: pd.DataFrame, key: str, decimals: int = 4, **look: object) -> None:
    """A table on the screen, its numbers with that many decimals. (A pandas Styler would take ten times as long.)"""
    column = st.column_config.NumberColumn(format=f"%.{decimals}f")
    numeric = table.select_dtypes("number").columns
    st.dataframe(table, key=key, column_config={str(name): column for name in numeric}, **look)


def terms_table(terms: Terms, title: str, names: Sequence[str], factors: tuple[str, str]) -> pd.DataFrame:
    """The arithmetic of x · w + b, one product a row, then the rest, b and the sum. title, names: of the places."""
    x, w = factors
    names, sums = list(names), [terms.bias, terms.total]
    if terms.others:
        names.append(plain("queries_keys_values.rest", others=terms.others))
        sums.insert(0, terms.rest)
    names += ["b", plain("queries_keys_values.sum")]
    blank = [np.nan] * len(sums)
    # Column by column: of rows pandas would have to find out the types, in six times as long.
    table = {title: names, x: [*terms.x, *blank], w: [*terms.w, *blank], f"{x} · {w}": [*terms.products, *sums]}
    return pd.DataFrame(table, index=range(1, len(names) + 1))


def show_terms(table: pd.DataFrame, key: str, decimals: int = 5) -> None:
    """A `terms_table` on the screen, in full; a blank (not "None") where there is no factor."""
    numbers = table.columns[1:]
    written = {name: ["" if np.isnan(value) else f"{value:.{decimals}f}" for value in table[name]] for name in numbers}
    written = pd.DataFrame({table.columns[0]: table.iloc[:, 0]} | written)
    right = {name: st.column_config.TextColumn(alignment="right") for name in numbers}
    st.dataframe(written, key=key, hide_index=True, height="content", column_config=right)


def quoted(token: str) -> str:
    """A token inside a sentence: ‘it’, shown literally."""
    return f"‘{literal(token)}’"


def _unescape(labels: Sequence[str] | None) -> list[str] | None:
    return [html.unescape(text) for text in labels] if labels is not None else None


def figure_table(figure: go.Figure) -> pd.DataFrame:
    """The numbers of a heatmap with the names on its axes."""
    z = next((trace.z for trace in figure.data if trace.type == "heatmap"), None)
    if z is None:
        return pd.DataFrame({trace.name or "value": np.asarray(trace.y) for trace in figure.data})
    rows, columns = figure.layout.yaxis.ticktext, figure.layout.xaxis.ticktext
    return pd.DataFrame(np.asarray(z), index=_unescape(rows), columns=_unescape(columns))


def csv(table: pd.DataFrame) -> bytes:
    """A table that spreadsheets open with Chinese intact (UTF-8 with its mark)."""
    return table.to_csv().encode("utf-8-sig")


def standalone(figure: go.Figure) -> str:
    """The figure as one HTML file that opens offline."""
    figure = go.Figure(figure).update_layout(paper_bgcolor="white", plot_bgcolor="white")
    return figure.to_html(include_plotlyjs=True)


def npz(trace: Trace) -> bytes:
    """The whole run: one array under each key of the trace, and the tokens."""
    file = io.BytesIO()
    np.savez_compressed(file, tokens=np.array(trace.tokens), **{key: trace[key] for key in trace})
    return file.getvalue()


def stage_row(key: str) -> Stage:
    """The row of STAGES for a key that is known to have one."""
    row = stage_of(key)
    if row is None:
        raise KeyError(key)
    return row
