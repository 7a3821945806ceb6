"""What every page is made of: strip, selected token, title, pictures with their reading sentence, and downloads."""

import inspect
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from functools import cache, cached_property, partial

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace, WeightsError
from model.graph import Quantity
from model.hugging_face.images import CheckpointImageReader
from model.pipeline import Reading
from pages.ui import exports, figures, session
from pages.ui.cache import once_a_run
from pages.ui.changes_bar import changes_bar, compare_bar, edit_in_words, shown_switch
from pages.ui.choice import Choice
from pages.ui.components.chart import chart
from pages.ui.components.keys import listen
from pages.ui.components.strip import Stop, strip
from pages.ui.differences import Difference
from pages.ui.figures import Figure
from pages.ui.first_sight import first_place
from pages.ui.frame import PAGES, choice, go_to, open_with, page_link, url_path
from pages.ui.glossary import open_glossary
from pages.ui.link import chosen, select
from pages.ui.masks import as_the_reader_hid
from pages.ui.memory import give_back
from pages.ui.pickers import bound, told_apart
from pages.ui.runs import DIFFERENCES, Runs
from pages.ui.share import open_share
from pages.ui.sidebar import OVER, SHARE_ICON, opener
from pages.ui.text import class_label, joined, literal, plain, t, unmarked
from pages.ui.text.formulas import in_words

#: Arrow keys -> by how many rows and columns they move.
ARROWS = {"ArrowUp": (-1, 0), "ArrowDown": (1, 0), "ArrowLeft": (0, -1), "ArrowRight": (0, 1)}
#: Pages whose story asks one thing of words and another of a picture.
ASKING_OTHERWISE = {"tokens", "queries_keys_values", "layers"}
MOST_CHIPS = 24  # tokens that stand as words under the strip; of more, one is chosen from a list


def shape(values: np.ndarray) -> str:
    """(8, 12, 12) as people write it: 8 × 12 × 12."""
    return " × ".join(str(side) for side in values.shape)


def the_readers_own(_: Choice) -> None:
    """What most pages are about."""


@once_a_run
def stage_shapes(run: Trace) -> dict[str, str]:
    """The shape of what each page of the strip is about, by the page's name; it is the same in every layer."""
    keys = {row.name: row.shape_of.replace("{l}", "0") for row in PAGES if row.shape_of}
    return {name: shape(run[key]) for name, key in keys.items() if key in run}


class View(Runs):
    """One page on the screen: opened with its name, filled with pictures, closed with code and downloads.

    `choice` is what the reader chose, fitted to `trace`, the run of that input. Nothing here runs the network again
    when only the place changes.
    """

    def __init__(
        self,
        name: str,
        equation: str | None = None,
        *,
        rows: Sequence[str] = (),
        chips: bool = True,
        any_input: bool = False,
        hides: Callable[[Choice, Reading], Hashable | None] = as_the_reader_hid,
        about: Callable[[Choice], tuple[str, Hashable] | None] = the_readers_own,
    ) -> None:
        """equation: the page's, in LaTeX; or `rows` of the graph, whose equations stand in its place. any_input: where
        the weights that read the reader's input are damaged, the page has something to say of another one. hides: what
        the page is about instead of the reader's input as it was read, so that only that is run. about: the pipeline
        and the subject of the run that the page will `follow`, where that is not the reader's own.

        Raises WeightsError.
        """
        self.name = name
        self.choice = choice()
        strip_place = st.container()
        try:
            own, made, rival = self._open(hides, about)
        except WeightsError as error:
            if not any_input:
                with strip_place:
                    self._strip(shapes=False)
                raise
            session.explain_weights(error)
            self.choice = session.readable(self.choice)
            own, made, rival = self._open(hides, about)
        with strip_place:
            self._strip()
        self.mode = st.context.theme.type or "light"
        match st.session_state.pop(OVER, None):
            case "glossary":
                open_glossary(self._explained(), self.mode)
            case "share":
                open_share(choice())  # as the address has it, with what waits for another input
        self.font_size = 18 if self.choice.big else 12
        #: Title, figure, what makes the table of its numbers, of which layer and head it is, and of which runs.
        self._pictures: dict[str, tuple[str, Figure, Callable[[], pd.DataFrame], str, list[str]]] = {}
        self._keys: dict[str, Callable[[], None]] = {}
        for arrow, (down, across) in ARROWS.items():
            field, count = ("layer", self.trace.config.layers) if down else ("head", self.trace.config.heads)
            self.on_key(arrow, partial(go_on, field, down or across, count))
        if self.choice.pipeline == "untrained" and about is the_readers_own:
            st.warning(t("untrained.banner"), icon=":material/shuffle:")
        if chips:
            self._chips()
            if self.choice.hidden and self.kind == "words" and not self.hides:
                st.caption(t("common.all_seen"))
        if made.edits or self.waiting or rival:
            with st.container(border=True, horizontal=True, vertical_alignment="center", key="changes"):
                changes_bar(self.choice, made, self.waiting)
                if rival:
                    compare_bar(own, rival, session.read(self.choice)[1].tokens)
                if made.edits or rival:
                    shown_switch(self.ways, self.shows, compared=rival is not None)
        if rows:
            equation = r" \qquad ".join(self.trace.graph[self.key(row)].equation for row in rows)
        self._equation = equation or ""
        self._title(equation)

    # -- what was chosen, ready to use -------------------------------------------------------------

    @property
    def kind(self) -> str:
        """What the tokens are: "words", the patches of a "drawing", or a "single" one that is all there is."""
        if len(self.trace.tokens) == 1:
            return "single"
        return "words" if self.trace.picture is None else "drawing"

    @cached_property
    def seen(self) -> np.ndarray | None:
        """The input as it looks, (height, width) or (height, width, 3) in [0, 1]; None for words."""
        picture, reader = self.trace.picture, self.pipeline.reader
        return reader.shown(picture) if isinstance(reader, CheckpointImageReader) and picture is not None else picture

    @property
    def token(self) -> int:
        """The selected token, the same on every page: the reader's, else one that is worth looking at."""
        return self.usual_token if self.choice.token is None else self.choice.token

    def place(self, key: str) -> int:
        """The selected place along the tokens of a quantity, for scores and weights of those that look."""
        return self.token

    def _explained(self) -> Trace:
        """The run whose symbols the glossary lists."""
        return self.trace

    def names(self, key: str) -> tuple[Sequence[str] | None, ...]:
        """What the places along each axis of a quantity are called in pictures; None where they are counted."""
        return tuple(self.named if names is self.trace.tokens else names for names in self.trace.names(key))

    @cached_property
    def usual_token(self) -> int:
        """The token selected before anybody chose: a hidden word; the word that looks, in a sentence that visitors see
        first; else the first word. Of a drawing, [CLS].
        """
        tokens = self.trace.tokens
        if self.trace.picture is not None:
            return 0
        if "[MASK]" in tokens:
            return tokens.index("[MASK]")
        return min(first_place(self.choice.sentence) or 1, len(tokens) - 1)

    def token_axis(self, title: str) -> figures.Axis:
        """An axis of tokens; `title` is a text key such as "axis.query"."""
        return figures.Axis(plain(title), self.named)

    def where(self, of: tuple[int, int] | None = None) -> str:
        """ "layer 2, head 3" in the reader's language: those that he chose, or another layer and head."""
        layer, head = of or (self.choice.layer, self.choice.head)
        return plain("common.where", layer=layer + 1, head=head + 1)

    def head_line(self, of: tuple[int, int] | None = None) -> None:
        """Say above a presentation of which layer and head the page is: those that the reader chose, or others."""
        if self.choice.big:
            self._head_line.markdown(f":gray[{self.where(of)}]", width="content")

    def panel(self, *names: str) -> str:
        """A row of buttons for the page's parts, of which one is on the screen; returns its name.

        Their words are the texts "{page}.panel_{name}".
        """
        chosen = self.choice.panel if self.choice.panel in names else names[0]
        words = {name: plain(f"{self.name}.panel_{name}") for name in names}
        look = bound(f"{self.name}.panel", chosen, lambda name: select(panel=name))
        look |= {"label_visibility": "collapsed", "required": True, "wrap": True}
        st.pills(plain("common.parts"), names, format_func=words.__getitem__, **look)
        return chosen

    def on_key(self, key: str, action: Callable[[], None]) -> None:
        """Let a key do something on this page: "1", "Shift+ArrowUp", …"""
        self._keys[key] = action

    def moves(self, place: tuple[int, int], sizes: tuple[int, int], choose: Callable[[int, int], None]) -> None:
        """Let Shift and an arrow move the chosen cell: `choose` gets the next row and column. sizes: of the map."""
        for arrow, by in ARROWS.items():
            going = zip(place, by, sizes, strict=True)
            self.on_key(f"Shift+{arrow}", partial(choose, *(min(max(at + step, 0), n - 1) for at, step, n in going)))

    # -- parts of a page ---------------------------------------------------------------------------

    def equation(self, latex: str, **look: object) -> None:
        """An equation, or several with \\qquad between: on a narrow screen below each other."""
        one, *others = self.in_words(latex).split(r" \qquad ")
        if not others:
            st.latex(one, **look)
            return
        with st.container(horizontal=True, horizontal_alignment="center", vertical_alignment="center", gap="small"):
            for part in (one, *others):
                st.latex(part, width="content")

    def in_words(self, latex: str) -> str:
        """An equation with its words in the reader's language, and with Q, K and V in their colours."""
        return figures.coloured(in_words(latex), self.mode)

    def picture(
        self,
        name: str,
        figure: Figure,
        sentence: str,
        *,
        quantity: Quantity | None = None,
        values: np.ndarray | None = None,
        table: pd.DataFrame | Callable[[], pd.DataFrame] | None = None,
        on_pick: Callable[..., None] | None = None,
        title: str | None = None,
        equation: str | None = None,
        difference: Difference | None = None,
        still: bool = False,
        law_of: Sequence[str] = (),
        of_head: tuple[int, int] | None = None,
    ) -> None:
        """A figure under its title, shape and equation, and over its reading sentence. A story shows one, untitled.

        name: unique on the page; its title is the text "{page}.{name}" unless `title` (plain text) is given. sentence:
        Markdown, what the picture says in words (it is also the picture's text alternative). quantity: what it shows,
        with its equation, unless that is the page's; equation: LaTeX in its place. values: what has the shape to print.
        table: the numbers for the CSV, or what makes them when they are asked for, where the figure does not hold them.
        on_pick(row, column): called when a cell or a bar is clicked; where the marks are no cells but carry numbers
        (customdata lists), it gets those. difference: what is drawn, of a picture that shows the difference of two runs
        when the reader wants that; its sentence then says so. still: no change moves this picture, or it shows both
        runs; of any other it is said which one it shows. law_of: the keys of quantities, beside `quantity`, of whose
        equations the sentence speaks: where the reader changed one of them, it would not be true. of_head: the layer
        and the head that it shows, where those are not the chosen ones.
        """
        if self.touched(*law_of, *([quantity.key] if quantity else [])):
            sentence = t("change.no_law")
        title = title or plain(f"{self.name}.{name}")
        if self.differs and difference:
            title, sentence = plain("change.title", title=title), difference.in_words(self.shows)
        if quantity and not equation and quantity.equation not in self._equation:
            equation = quantity.numbered(quantity.equation)  # as in the arithmetic
        if not self.story:
            size = "" if values is None else f"&ensp;:gray[{shape(values)}]"
            heading = f"**{literal(title)}**{size}"
            if equation and self.choice.at_least("formula"):
                with st.container(horizontal=True, vertical_alignment="center", key=f"heading.{self.name}.{name}"):
                    st.markdown(heading, width="content")
                    self.equation(equation, width="content")
            else:
                st.markdown(heading)
        ended = title if title.endswith(("?", "？")) else title + plain("common.full_stop")
        chart(
            figure,
            f"{self.name}.{name}",
            alt=joined(f"{ended} {unmarked(sentence)}"),
            file=self.file_name(self.name, title, self.where(of_head)),
            on_pick=on_pick,
        )
        st.markdown(joined(sentence))
        if not still and not (self.differs and difference):
            self.note_run()
        if table is None:
            table = partial(exports.figure_table, figure)
        make_table = table if callable(table) else lambda: table
        runs = self._compared_with("less" if self.differs and difference else "other" if still else None)
        self._pictures[name] = (title, figure, make_table, self.where(of_head), runs)
        if of_head:
            self.head_line(of_head)

    def note_run(self) -> None:
        """Where a difference, or two runs, are wanted: that this here is of one."""
        if self.differs or self.shows == "beside":
            st.caption(t(f"change.only_{self.shows}"))

    def more(self):
        """A box, closed at first, for what does not fit on two screens."""
        return st.expander(plain("common.more"), icon=":material/unfold_more:")

    def tell(self, *sentences: str) -> None:
        """The end of a story: at most three sentences, and the way on to the next page."""
        if sentences:
            st.markdown("\n\n".join(sentences))
        if not self.choice.big:
            self._way_on(self._question)

    def way_to(self, name: str, label: str, **values: object) -> None:
        """A button that chooses these values (names as in Choice) and opens another page with them."""
        look = {"icon": ":material/arrow_forward:", "type": "tertiary", "key": f"{self.name}.way"}
        st.button(label, on_click=open_with, args=(name,), kwargs=values, **look)

    def _question(self, page: str) -> str:
        """What a page asks in the story, of the reader's words or of his picture."""
        drawing = "_drawing" if page in ASKING_OTHERWISE and self.trace.picture is not None else ""
        return plain(f"{page}.question{drawing}")

    def _way_on(self, named: Callable[[str], str]) -> None:
        """The link to the page that comes next in the story, if there is one, by what that is `named`.

        Whoever has come to the end begins again, with an input of his own.
        """
        way = [row.name for row in PAGES if row.reads(self.trace)] + ["home"]
        if self.name in way:
            following = way[way.index(self.name) + 1]
            label = plain("common.next", question=named(following)) if following != "home" else plain("common.again")
            page_link(following, f"**{label}**", ":material/arrow_forward:")

    def close(self, *code: object) -> None:
        """The end of a page: the source of the modules that made it, and downloads."""
        if not self.story:
            if code:
                open_first = self.choice.at_least("code")
                modules = {"key": f"{self.name}.code.{open_first}", "expanded": open_first, "on_change": "rerun"}
                with st.expander(plain("common.code"), icon=":material/code:", **modules) as box:
                    for thing in code if box.open else ():
                        st.code(source(thing), language="python")
            downloads = {"key": f"{self.name}.downloads", "on_change": "rerun"}
            with st.expander(plain("common.downloads"), icon=":material/download:", **downloads) as box:
                if box.open:  # most readers take nothing along: what nobody asked for is not sent
                    self._downloads()
        listen(self._keys)
        # What a click will call keeps this object alive in the visitor's session, but needs none of its numbers.
        large = self.trace.large
        del self.trace, self._pictures
        for run in ("original", "other", "seen"):
            self.__dict__.pop(run, None)
        if large:  # so are the arrays of its pictures
            give_back()

    # -- above the page ----------------------------------------------------------------------------

    def _strip(self, shapes: bool = True) -> None:
        """The stage strip, one row: every stage with the shape of its tensor for this very input, then the menus."""
        rows = [row for row in PAGES if not shapes or row.reads(self.trace)]
        under = stage_shapes(self.trace) if shapes and not self.choice.big else {}
        groups: dict[str, list[Stop]] = {"stage": [], "try": [], "learn": []}
        for row in rows:
            path = url_path(row.name)
            if row.group != "stage":
                stop = Stop(path, plain(f"{row.name}.title"), icon=row.icon)
            else:
                stop = Stop(path, plain(f"{row.name}.short"), under.get(row.name, ""))
            groups[row.group].append(stop)
        stages, menus = groups.pop("stage"), {plain(f"frame.{group}"): stops for group, stops in groups.items()}
        with st.container(horizontal=True, vertical_alignment="center") if self.choice.big else nullcontext():
            wanted = strip(plain("frame.strip"), stages, menus, url_path(self.name))
            if self.choice.big:  # the sidebar is away until surroundings.js lays it over the page
                self._head_line = st.empty()
                self.head_line()
                tune = {"icon": ":material/tune:", "help": plain("frame.controls_big")}
                leave = {"on_click": select, "kwargs": {"big": False}, "help": plain("frame.leave_big")}
                st.button(plain("frame.controls"), key="controls_big", **tune)
                opener("share", SHARE_ICON, key="share_big", width="content")
                st.button(plain("frame.leave"), icon=":material/close_fullscreen:", key="leave_big", **leave)
        if wanted is not None:
            go_to(wanted or "home")

    def _chips(self) -> None:
        """The tokens, one of them selected: the same on every page."""
        tokens = self.trace.tokens
        if len(tokens) == 1:
            return
        places = range(len(tokens))
        look = bound("chips", self.token, lambda token: select(token=token), anew=True, among=places)
        look |= {"label_visibility": "collapsed"}
        label = plain("common.selected_token")
        if len(tokens) <= MOST_CHIPS:
            st.pills(label, places, format_func=told_apart(tokens).__getitem__, **look)
        else:
            st.selectbox(label, places, format_func=lambda i: f"{i + 1} · {tokens[i]}", width=240, **look)

    def _title(self, equation: str | None) -> None:
        """In the story the page's question; else its name and purpose, from Formula on with its equation beside them.

        In a presentation the strip says where one is, and the picture comes at once; the way on stands at the question,
        since a picture that fills the screen leaves no room for it below.
        """
        if self.story:
            with st.container(horizontal=self.choice.big, vertical_alignment="center"):
                st.subheader(self._question(self.name), anchor=False)
                if self.choice.big:
                    self._way_on(lambda page: plain(f"{page}.short"))
        elif not self.choice.big:
            with st.container(horizontal=True, vertical_alignment="center"):  # one below the other where it is narrow
                with st.container(width="stretch"):
                    st.subheader(plain(f"{self.name}.title"), anchor=False)
                    st.markdown(t(f"{self.name}.purpose"))
                if equation and self.choice.at_least("formula"):
                    self.equation(equation, width="content")

    # -- what one takes along ----------------------------------------------------------------------

    def about(self) -> str:
        """What the files of this page are about: "i love you ."."""
        return str(self.given) if self.trace.ids else plain(f"sidebar.input_{self.choice.input}")

    def file_name(self, *parts: str) -> str:
        """The name of a file: what is in it, whether the run was changed, and whose it is."""
        changed = [plain("change.shown_changed")] if self.trace.edits else []
        return exports.file_name(*parts, *changed, self.about())

    def _changes(self) -> list[str]:
        """What was changed in the run on the screen, in one sentence; nothing in one that is as it was."""
        made = [edit_in_words(edit, self.trace.graph, self.trace.tokens) for edit in self.trace.edits]
        return [plain("change.made", changes=" + ".join(made))] if made else []

    def _compared_with(self, how: str | None) -> list[str]:
        """Which run the numbers of a picture are compared with, in a phrase; nothing where it shows one run.

        how: "less", of a difference, or "other", where the numbers of both may stand.
        """
        if how is None or self.shows not in (*DIFFERENCES, "beside"):
            return []
        if self.shows == "difference":
            run = plain("change.unchanged")
        elif self.trace.ids:
            run = self.choice.other or ""
        elif self.other and self.other.answer and self.trace.answer:
            there, here = (class_label(run.answer[0].best) for run in (self.other, self.trace))
            run = plain("compare.drawings", there=there, here=here)
        else:
            run = plain("change.another")
        return [plain(f"change.{how}_run_named", run=run)]

    def _downloads(self) -> None:
        names = {title: name for name, (title, *_) in self._pictures.items()}
        choose, csv, page, npz = st.columns([2, 1, 1, 1], vertical_alignment="bottom")
        look = {"on_click": "ignore"}  # what is taken along changes nothing on the page
        wanted = choose.selectbox(plain("common.which_picture"), list(names), key=f"{self.name}.download")
        if wanted in names:
            _, figure, make_table, where, runs = self._pictures[names[wanted]]
            file = self.file_name(self.name, wanted, where)
            about = " · ".join((plain(f"{self.name}.title"), wanted, where, *runs, *self._changes(), self.about()))
            with csv:
                st.download_button("CSV", lambda: exports.csv(make_table(), about), f"{file}.csv", "text/csv", **look)
            with page:
                make = partial(exports.standalone, figure, about, self.mode)
                st.download_button("HTML", make, f"{file}.html", "text/html", **look)
        run, edits = self._run, self.trace.edits  # done again when asked for: a trace kept would stay with the visitor
        with npz:
            file = f"{self.file_name('trace')}.npz"
            st.download_button(plain("common.npz"), lambda: exports.npz(session.run(*run, edits)), file, **look)
        st.caption(t("common.downloads_help"))


@cache
def source(thing: object) -> str:
    """The source of a class or function, read from its file once."""
    return inspect.getsource(thing)


def go_on(field: str, by: int, count: int, usual: int = 0) -> None:
    """Go to another of `count` places, from where the reader is by now: keys are faster than pages.

    field: of Choice. usual: the place where he is while he has chosen none.
    """
    now = getattr(chosen(), field)
    now = usual if now is None else min(now, count - 1)
    select(**{field: min(max(now + by, 0), count - 1)})
