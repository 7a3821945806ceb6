"""A page: opened with strip, selected token and title, filled by its class, closed with code and downloads."""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial

import streamlit as st

from model import Trace, WeightsError
from model.analysis import placed
from model.deadline import OverdueError
from pages.ui.components.handout import handout
from pages.ui.components.keys import listen
from pages.ui.components.thumbnails import thumbnails
from pages.ui.figures.theme import mode
from pages.ui.frame import exports
from pages.ui.frame.additions import School
from pages.ui.frame.changes_bar import changes_bar, compare_bar, edit_in_words, shown_switch, twin_bar
from pages.ui.frame.contents import PAGES
from pages.ui.frame.drawer import OVER
from pages.ui.frame.glossary import open_glossary
from pages.ui.frame.learned import learned_bar
from pages.ui.frame.line import READ
from pages.ui.frame.navigation import open_with, page_link
from pages.ui.frame.note_code import beside_notes
from pages.ui.frame.pickers import pick
from pages.ui.frame.places import MOST_BUTTONS, choose
from pages.ui.frame.share import address, open_share
from pages.ui.runs import pipelines
from pages.ui.runs.doubt import verdict
from pages.ui.runs.masks import with_words_hidden
from pages.ui.screen import Reads, Screen, open_screen
from pages.ui.server import in_flight
from pages.ui.server.memory import give_back
from pages.ui.state.choice import WITH_OTHER, Choice
from pages.ui.state.link import select
from pages.ui.text import plain, t, unmarked
from pages.ui.view import ARROWS, View, go_on

#: The parts of a page, by name, with what draws each.
Parts = Mapping[str, Callable[[], object]]


class Page(View):
    """What a page's class says is what the page shows: its `parts` with their pictures.

    The page is named after its folder.
    """

    #: What stands beside the title: rows of the graph whose equations are put there, or an equation in LaTeX.
    rows: Sequence[str] = ()
    #: Names that tabs had in links of before -> the tab that shows it now, or all that is chosen instead.
    former: Mapping[str, str | Mapping[str, object]] = {}
    #: Whether the page has something to say where the weights that read the reader's input are damaged.
    any_input = False
    #: Whether the buttons of the heads show where each attends to.
    head_maps = False
    school: School  # set once by the frame

    def __init__(self, choice: Choice) -> None:
        if instead := self.former.get(choice.panel or ""):
            instead = {"panel": instead} if isinstance(instead, str) else instead
            select(**instead)
            choice = choice.with_(**instead)
        super().__init__(choice)
        #: What the reader chose, before it is fitted to a run.
        self.wanted = choice

    def __init_subclass__(cls) -> None:
        cls.name = cls.__module__.split(".")[-2]

    # -- what a page says of itself ----------------------------------------------------------------

    @property
    def title_equation(self) -> str:
        return ""

    @property
    def chips(self) -> bool:
        """Whether the tokens stand under the strip, to choose one."""
        return True

    #: What the page is about instead of the input as it was read. All pages are about one run, in which the reader's
    #: hidden words read [MASK].
    reads: Reads = staticmethod(with_words_hidden)

    def elsewhere(self, choice: Choice, given: Hashable) -> tuple[str, Hashable] | None:
        """The network and the input of the run that the page is about, where that is not the reader's own."""
        return None

    def about_what(self, screen: Screen) -> Screen:
        """The screen about that run."""
        return screen

    def above(self) -> None:
        """Draw what stands above all parts alike."""

    @abstractmethod
    def parts(self) -> Parts:
        """The parts of the page, one of which is on the screen.

        What their buttons say are the texts "{page}.panel_{name}"; a single part has no button.
        """

    def choose_part(self, names: Sequence[str]) -> str:
        """Draw the buttons of the parts, and what else stands in their `row`; returns the part to draw."""
        return self.panel(*names, usual=self.usual_part(names)) if len(names) > 1 else names[0]

    def usual_part(self, names: Sequence[str]) -> str:
        """The part that a link means which names none of these."""
        return names[0]

    def code(self) -> Sequence[object]:
        """The classes and functions that made what is shown; their source stands at the end of the page."""
        return ()

    # -- from top to bottom ------------------------------------------------------------------------

    def draw(self) -> None:
        """Draw the whole page. Raises WeightsError."""
        in_flight.at_end(self._let_go)
        if READ in st.session_state:
            with st.session_state[READ]:
                verdict(self.wanted.pipeline, self.wanted.subject)
        self._open()
        self.fill()
        self._close()

    def fill(self) -> None:
        """Draw all that is the page's own."""
        self.above()
        parts = self.parts()
        look = {"horizontal": True, "vertical_alignment": "center"} if self.choice.big else {}
        with st.container(key="controls", **look):  # in a presentation all in one row
            self.row = st.container(horizontal=True, vertical_alignment="center")
            with self.row:
                part = self.choose_part(list(parts))
            self.choose_place()
        parts[part]()

    @property
    def places(self) -> list[tuple[str, int]]:
        """What there is to choose of "layer" and "head", with how many there are."""
        sizes = (("layer", self.config.layers), ("head", self.config.heads))
        return [(name, most) for name, most in sizes if name in self.heeds]

    def choose_place(self) -> None:
        """Draw what chooses layer and head, where they change what is shown, and the selected token."""
        big = self.choice.big
        with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="place_row"):
            for name, most in self.places:
                if name == "head" and self.head_maps and not self.two.differs and most <= MOST_BUTTONS and not big:
                    with st.container(key="head_maps", width="content"):
                        choose(name, most)
                    thumbnails("either.head", self.trace, self.layer)
                else:
                    choose(name, most, brief=big)
            if self.chips and len(self.tokens) > 1 and not big:  # a click on a row chooses it
                pick("token", plain("common.selected_token"), self.tokens, self.token, width=200)
            self.choose_more()

    def choose_more(self) -> None:
        """Draw what else is chosen there."""

    def _open(self) -> None:
        """Put the runs there, and draw the title and the bar of changes."""
        try:
            opened = self._screen(self.wanted)
        except (WeightsError, OverdueError) as error:
            if not self.any_input or isinstance(error, OverdueError):
                raise
            pipelines.explain_weights(error)
            opened = self._screen(pipelines.readable(self.wanted))
        self.screen = opened
        own, made, rival = opened.own, opened.made, opened.other
        pipelines.explain_input(opened.choice.pipeline, opened.unread, opened.typed)
        if opened.misfit:
            st.warning(t("error.edits"), icon=":material/healing:")
        if opened.other_unread:
            st.warning(t("error.other_unread"), icon=":material/edit_off:")
        equations = [self.trace.graph[self.key(row)].equation for row in self.rows]
        self._equation = r" \qquad ".join(equations) or self.title_equation
        match st.session_state.pop(OVER, None):
            case "glossary":
                open_glossary(self.explained())
            case "share":
                open_share(self.wanted)  # as the address has it, with what waits for another input
        if self.choice.big:
            self._turn_by_key()
        if self.choice.pipeline == "untrained" and made is own:
            st.warning(t("untrained.banner"), icon=":material/shuffle:")
        if made.edits or opened.waiting or rival or self.choice.learning is not None:
            with st.container(border=True, horizontal=True, vertical_alignment="center", key="changes"):
                if self.choice.learning is not None:
                    learned_bar(self.choice.learning)
                changes_bar(self.choice, made, opened.waiting)
                if rival and self.choice.beside_twin:
                    twin_bar()
                elif rival:
                    as_typed = pipelines.run(self.choice.pipeline, self.choice.other_subject)
                    compare_bar(own, as_typed, pipelines.read(self.choice)[1].tokens)
                if made.edits or rival:
                    this_run = "changed" if rival is None else "trained" if self.choice.beside_twin else "this"
                    shown_switch(opened.ways, self.shows, this=this_run)
                if rival and self.choice.beside_twin:
                    st.caption(t("compare.twin_says"))
        self._title()
        self.school.under_title(self)
        self.screen = self.about_what(opened)
        if self.screen.misfit and self.screen is not opened:
            st.warning(t("error.edits"), icon=":material/healing:")
        if opened.shows in WITH_OTHER and self.shows not in WITH_OTHER:
            st.caption(t("change.no_other"))
        for arrow, (down, across) in ARROWS.items():
            by, (field, *count) = down or across, self.along[0 if down else 1]
            if field == "step" or field in self.heeds:
                self.on_key(arrow, partial(go_on, field, by, *count))

    def _screen(self, choice: Choice) -> Screen:
        return open_screen(choice, self.reads, self.elsewhere, pipelines)

    @property
    def along(self) -> Sequence[tuple]:
        """What the arrows choose, down and across: the field of Choice, of how many, and where one is at first."""
        return ("layer", self.config.layers), ("head", self.config.heads)

    def _close(self) -> None:
        """Draw the end of the page: the way on, the source of what made it, and downloads."""
        if not self.choice.big:  # on a projector nobody reads code or takes anything along
            with st.container(horizontal=True, vertical_alignment="center"):
                self._way_on(lambda page: plain(f"{page}.title"))
                self.school.beside_way_on(self)
            if code := self.code():
                look = {"icon": ":material/code:", "key": f"{self.name}.code", "on_change": "rerun"}
                with st.expander(plain("common.code"), **look) as box:
                    for thing in code if box.open else ():
                        beside_notes(thing, self.trace, self.layer, self.token, ours=not self.choice.checkpoint)
            look = {"icon": ":material/download:", "key": f"{self.name}.downloads", "on_change": "rerun"}
            with st.expander(plain("common.downloads"), **look) as box:
                if box.open:  # most readers take nothing along: what nobody asked for is not sent
                    self._downloads()
        token = placed(self.tokens)[self.token] if len(self.tokens) > 1 else ""
        listen(self._keys, said=" · ".join(filter(None, (self.is_about(), token))))

    def _let_go(self) -> None:
        """When the page has ended, however it ended: what a click will call may keep this object alive in the visitor's
        pipelines, but needs nothing of it.
        """
        large = "screen" in vars(self) and self.trace.large
        vars(self).clear()
        if large:  # so are the arrays of its pictures
            give_back()

    @property
    def purpose(self) -> str:
        """The key of the sentence that says what the page is for."""
        return f"{self.name}.purpose"

    def explained(self) -> Trace:
        """The run whose symbols the glossary lists."""
        return self.trace

    # -- the way on --------------------------------------------------------------------------------

    def _way(self) -> list[str]:
        """The pages that have something to say about this input, in the order of the story."""
        return [row.name for row in PAGES if row.alone and row.reads(self.trace)]

    def _turn_by_key(self) -> None:
        """In a presentation: let PageDown and PageUp, which a presenter's remote sends, go on and back."""
        way = self._way()
        if self.name in way:
            before, after = way[: way.index(self.name)], way[way.index(self.name) + 1 :]
            for key, nearest in (("PageUp", before[-1:]), ("PageDown", after[:1])):
                for there in nearest:
                    self.on_key(key, partial(open_with, there))

    def _way_on(self, named: Callable[[str], str], *, brief: bool = False) -> None:
        """The link to the page that comes next, if there is one, by what that is `named`; after the last one to Home.

        brief: the name alone, behind its arrow.
        """
        way = [*self._way(), "home"]
        if self.name in way:
            following = way[way.index(self.name) + 1]
            if brief:
                label = named(following)
            elif following != "home":
                label = plain("common.next", page=named(following))
            else:
                label = plain("common.again")
            page_link(following, f"**{label}**", ":material/arrow_forward:")

    # -- above the page ----------------------------------------------------------------------------

    def _title(self) -> None:
        """Name and purpose, with the page's equation beside them.

        In a presentation that stands in the row of the map, and the picture comes at once.
        """
        if self.choice.big:
            return
        with st.container(horizontal=True, vertical_alignment="center", key="page_title"):
            with st.container(width="stretch"):
                st.subheader(plain(f"{self.name}.title"), anchor=False)
                st.markdown(t(self.purpose))
            if self._equation:
                self.equation(self._equation, width="content")

    # -- what one takes along ----------------------------------------------------------------------

    def _changes(self) -> list[str]:
        """What was changed in the run on the screen, in one sentence; nothing in one that is as it was."""
        made = [edit_in_words(edit, self.trace.graph, self.trace.tokens) for edit in self.trace.edits]
        return [plain("change.made", changes=" + ".join(made))] if made else []

    def _downloads(self) -> None:
        names = {taken.title: name for name, taken in self._pictures.items()}
        choose, csv, page, sheet, npz = st.columns([2, 1, 1, 1, 1], vertical_alignment="bottom")
        look = {"on_click": "ignore"}  # what is taken along changes nothing on the page
        wanted = choose.selectbox(plain("common.which_picture"), list(names), key=f"{self.name}.download")
        if wanted in names:
            taken = self._pictures[names[wanted]]
            file = self.file_name(self.name, wanted, taken.where)
            whose = (plain(f"{self.name}.title"), wanted, taken.where, *taken.runs, *self._changes(), self.about())
            about = " · ".join(filter(None, whose))
            with csv:
                make_csv = partial(lambda make_table: exports.csv(make_table(), about), taken.make_table)
                st.download_button("CSV", make_csv, f"{file}.csv", "text/csv", **look)
            with sheet:
                self._handout()
            with page:
                make = partial(exports.standalone, taken, about, mode())
                st.download_button("HTML", make, f"{file}.html", "text/html", **look)
        run = (
            self.screen.network,
            self.subject,
            self.trace.edits,
        )  # done again when asked for: a trace kept would stay with the visitor
        with npz:
            file = f"{self.file_name('trace')}.npz"
            st.download_button(plain("common.npz"), lambda: exports.npz(pipelines.run(*run)), file, **look)
        st.caption(t("common.downloads_help"))

    def _handout(self) -> None:
        """A button that saves the page as a sheet for a class, with the pictures as the browser has drawn them."""
        words = {name: plain(f"common.handout_{name}") for name in ("see", "says")}
        words["language"] = self.choice.lang
        first = next(iter(self._pictures.values()))
        about = " · ".join(filter(None, (first.where, *first.runs, *self._changes(), self.about())))
        pictures = {f"{self.name}.{name}": taken for name, taken in self._pictures.items()}
        whole = address(st.context.url or "", self.choice)
        named = plain(f"{self.name}.title"), unmarked(t(self.purpose)), self._equation
        html = exports.handout(*named, about, whole, pictures, words)
        handout(plain("common.handout"), html, f"{self.file_name(self.name, plain('common.handout'))}.html")
