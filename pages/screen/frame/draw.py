"""Draw a page from top to bottom: strip of changes, title, tabs and controls, the open tab, downloads."""

from collections.abc import Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model import WeightsError
from model.analysis import placed
from model.deadline import OverdueError
from pages.drawing.figures.notation import write_as
from pages.drawing.figures.theme import draw_on, mode
from pages.drawing.page import Page, School
from pages.drawing.screen import Screen, open_screen
from pages.drawing.state.choice import WITH_OTHER, Choice
from pages.drawing.text import class_label, plain, t, unmarked
from pages.drawing.text.numbers import decimal, first
from pages.screen.components.handout import handout
from pages.screen.components.keys import listen
from pages.screen.components.thumbnails import thumbnails
from pages.screen.frame import exports
from pages.screen.frame.changes_bar import edit_in_words
from pages.screen.frame.changes_strip import changes_strip
from pages.screen.frame.contents import pages
from pages.screen.frame.drawer import OVER
from pages.screen.frame.glossary import open_glossary
from pages.screen.frame.line import READ
from pages.screen.frame.navigation import open_with, page_link
from pages.screen.frame.note_code import beside_notes
from pages.screen.frame.pen import ARROWS, Pen, equation, go_on
from pages.screen.frame.pickers import bound, pick
from pages.screen.frame.places import MOST_BUTTONS, choose
from pages.screen.frame.share import address, open_share
from pages.screen.link import select
from pages.screen.runs import pipelines
from pages.screen.runs.doubt import verdict
from pages.server import in_flight
from pages.server.memory import give_back


def draw(page: Page, choice: Choice, school: School) -> None:
    """Draw a page for a choice. Raises WeightsError."""
    if instead := page.former.get(choice.tab or ""):
        instead = {"tab": instead} if isinstance(instead, str) else instead
        select(**instead)
        choice = choice.with_(**instead)
    if page.begins:
        page, choice = page.begins(page, choice)
    draw_on(st.context.theme.type or "light", big=choice.big)
    write_as(choice.symbols)
    opened = _opened(page, choice)
    if opened.own.large:  # free its memory after drawing
        in_flight.at_end(give_back)
    _said_of_the_input(opened)
    if choice.pipeline == "untrained" and (opened.made is opened.own or page.places_changes):
        st.warning(t("untrained.banner"), icon=":material/shuffle:")
    if choice.big or not page.places_changes:
        changes_strip(opened, always=page.places_changes)
    law = page.equation(opened)
    if page.title:
        page.title(opened)
    # A presentation has the equation above the map, and no title.
    beside = st.container() if page.title or choice.big else _title(page, opened, law)
    screen = page.about(opened, choice) if page.about else opened
    if READ in st.session_state and not page.asks:  # the verdict would tell the answer
        drawn = choice.with_(input=page.name) if page.draws else choice
        with st.session_state[READ]:
            verdict(drawn.pipeline, drawn.subject, bool(opened.made.edits or screen.run.edits))
    if screen.run is not opened.run:
        _say_misfit(screen)
    if opened.shows in WITH_OTHER and screen.shows not in WITH_OTHER:
        st.caption(t("change.no_other"))
    pen = Pen(page, screen, law)
    school.under_title(screen, pen)
    match st.session_state.pop(OVER, None):
        case "glossary":
            open_glossary(screen.run)
        case "share":
            open_share(choice)  # with the changes that wait
    _turn_by_key(page, screen, pen)
    _fill(page, screen, pen, beside)
    if page.ends and not choice.big:  # projectors need no code or downloads
        _end(page, screen, pen, school)
    listen(pen.keys, pen.station, *((_said_of_the_place(page, screen, pen), _answer(screen)) if page.ends else ()))


def _opened(page: Page, choice: Choice) -> Screen:
    """The screen of a choice; if its weights cannot be read and the page takes any input, of a readable one."""
    try:
        return open_screen(choice, page.reads, page.elsewhere, pipelines)
    except (WeightsError, OverdueError) as error:
        if not page.any_input or isinstance(error, OverdueError):
            raise
        pipelines.explain_weights(error)
        return open_screen(pipelines.readable(choice), page.reads, page.elsewhere, pipelines)


# -- above the page ----------------------------------------------------------------------------------------------------


def _said_of_the_input(screen: Screen) -> None:
    """Say what could not be read or does not fit."""
    pipelines.explain_input(screen.network, screen.unread, screen.typed)
    _say_misfit(screen)
    if screen.other_unread:
        st.warning(t("error.other_unread"), icon=":material/edit_off:")


def _say_misfit(screen: Screen) -> None:
    """Say if some of the reader's changes are left out."""
    if screen.misfit:
        st.warning(t("error.edits"), icon=":material/healing:")


def _purpose(page: Page, screen: Screen) -> str:
    return t(page.purpose_of(screen))


def _title(page: Page, screen: Screen, law: str) -> DeltaGenerator:
    """Name and purpose, with the page's equation beside them; return the container for `Page.above`."""
    row = st.container(horizontal=True, vertical_alignment="center", key="page_title")
    with row:
        with st.container(width="stretch"):
            st.subheader(plain(f"{page.name}.title"), anchor=False)
            st.markdown(_purpose(page, screen))
        if law:
            equation(law, width="content")
    return st.container() if law and page.above else row


# -- tabs and controls -------------------------------------------------------------------------------------------------


def _fill(page: Page, screen: Screen, pen: Pen, beside: DeltaGenerator) -> None:
    """Draw the page's own parts. beside: the container for `Page.above`."""
    tabs = page.tabs(screen)
    if alone := tabs.get(""):
        alone(screen, pen)
        return
    if page.above:
        with beside:
            page.above(screen, pen)
    with st.container(key="controls", horizontal=True, vertical_alignment="center"):  # one row on wide screens
        pen.controls = st.container(horizontal=True, vertical_alignment="center")
        with pen.controls:
            tab = _choose_tab(page, screen, [*tabs])
            if page.controls:
                page.controls(screen, pen)
        pen.places = st.container(horizontal=True, vertical_alignment="center", gap="medium", key="place_row")
        with pen.places:
            _choose_place(page, screen)
    tabs[tab](screen, pen)


def _choose_tab(page: Page, screen: Screen, names: Sequence[str]) -> str:
    """A row of buttons for the page's tabs; return the name of the open one."""
    if len(names) == 1:
        return names[0]
    tab = screen.choice.tab
    chosen = tab if tab in names and tab else page.usual(screen, names)
    words = {name: plain(f"{page.name}.tab_{name}") for name in names if name not in page.quiet or name == chosen}
    look = bound(f"{page.name}.tabs", chosen, lambda name: select(tab=name))
    look |= {"label_visibility": "collapsed", "required": True, "wrap": True}
    st.pills(plain("common.tabs"), list(words), format_func=words.__getitem__, **look)
    return chosen


def _choose_place(page: Page, screen: Screen) -> None:
    """Pickers for layer and head, where they change what is shown, and for the selected token."""
    big, heeds = screen.choice.big, page.heeds(screen.choice)
    for name, most in screen.sizes.items():
        if name not in heeds:
            continue
        if name == "head" and page.head_maps and not screen.two.differs and most <= MOST_BUTTONS and not big:
            with st.container(key="head_maps", width="content"):
                choose(name, most)
            thumbnails("either.head", screen.run, screen.at.layer)
        else:
            choose(name, most, brief=big)
    if page.heeds_token(screen) and len(screen.run.tokens) > 1 and not big:  # a click on a row chooses it
        pick("token", plain("common.selected_token"), screen.run.tokens, screen.at.token, width=170, key=None)


def _turn_by_key(page: Page, screen: Screen, pen: Pen) -> None:
    """Let arrows choose layer and head; in a presentation, let PageDown and PageUp, sent by presenters' remotes, turn
    pages.
    """
    heeds = page.heeds(screen.choice)
    for arrow, (down, across) in ARROWS.items():
        field, *count = ("layer", screen.sizes["layer"]) if down else screen.across
        if field in heeds or field == "step":
            pen.on_key(arrow, partial(go_on, field, down or across, *count))
    way = _way(screen)
    if screen.choice.big and page.name in way:
        before, after = way[: way.index(page.name)], way[way.index(page.name) + 1 :]
        for key, nearest in (("PageUp", before[-1:]), ("PageDown", after[:1])):
            for there in nearest:
                pen.on_key(key, partial(open_with, there))


def _said_of_the_place(page: Page, screen: Screen, pen: Pen) -> str:
    """The place on the screen, for screen readers and the slim line; on Home with layer and head, without pickers."""
    at, tokens = screen.at, screen.run.tokens
    where = pen.where((at.layer, at.head) if page.name == "home" else None)
    return " · ".join(filter(None, (where, placed(tokens)[at.token] if len(tokens) > 1 else "")))


def _answer(screen: Screen) -> str:
    """The answer at the selected token, "→ did 0.44", or else the first answer, "[MASK] → …".

    "" where the answer is no word or class, or the best ones tie.
    """
    guesses = {guess.token: guess for guess in reversed(screen.run.answer)}
    if not guesses or screen.run.config.head not in ("masked-word", "classifier", "tags"):
        return ""
    guess = guesses.get(screen.at.token, screen.run.answer[0])
    best = first(guess.probabilities, decimal)
    of = ""
    if guess.token is not None and guess.token != screen.at.token:
        of = f"{placed(screen.run.tokens)[guess.token]} "
    return f"{of}→ {class_label(guess.labels[best.place])} {best.value}" if best.ahead else ""


def _way(screen: Screen) -> list[str]:
    """The pages for this input, in the order of the story."""
    return [page.name for page in pages() if page.alone and page.speaks_of(screen.run)]


# -- at the end --------------------------------------------------------------------------------------------------------


def _end(page: Page, screen: Screen, pen: Pen, school: School) -> None:
    """The link to the next page, source code, and downloads, in one row while the boxes are closed."""
    with st.container(horizontal=True, vertical_alignment="center", key="page_end"):
        way = [*_way(screen), "home"]
        if page.name in way:
            following = way[way.index(page.name) + 1]
            label = (
                plain("common.again") if following == "home" else plain("common.next", page=plain(f"{following}.title"))
            )
            page_link(following, f"**{label}**", ":material/arrow_forward:")
        school.beside_way_on(screen, pen)
        if code := page.code(screen):
            look = {"icon": ":material/code:", "key": f"{page.name}.code", "on_change": "rerun"}
            with st.expander(plain("common.code"), **look) as box:
                for thing in code if box.open else ():
                    at, ours = screen.at, not screen.choice.checkpoint
                    beside_notes(thing, screen.run, at.layer, at.token, ours=ours)
        look = {"icon": ":material/download:", "key": f"{page.name}.downloads", "on_change": "rerun"}
        with st.expander(plain("common.downloads"), **look) as box:
            if box.open:  # nothing is sent unasked
                (page.downloads or partial(_downloads, page))(screen, pen)
        if page.attention:
            st.caption(t("common.not_explanation"), width="content")


def _downloads(page: Page, screen: Screen, pen: Pen) -> None:
    names = {taken.title: name for name, taken in pen.taken.items()}
    choose_one, csv, html, sheet, npz = st.columns([2, 1, 1, 1, 1], vertical_alignment="bottom")
    look = {"on_click": "ignore"}  # a download changes nothing on the page
    wanted = choose_one.selectbox(plain("common.which_picture"), list(names), key=f"{page.name}.download")
    if wanted in names:
        taken = pen.taken[names[wanted]]
        file = pen.file_name(page.name, wanted, taken.where)
        about = _about(screen, taken, plain(f"{page.name}.title"), wanted)
        with csv:
            make_csv = partial(lambda make_table: exports.csv(make_table(), about), taken.make_table)
            st.download_button("CSV", make_csv, f"{file}.csv", "text/csv", **look)
        with sheet:
            _handout(page, screen, pen)
        with html:
            make = partial(exports.standalone, taken, about, mode())
            st.download_button("HTML", make, f"{file}.html", "text/html", **look)
    with npz:
        pen.whole_run()
    st.caption(t("common.downloads_help"))


def _about(screen: Screen, taken: exports.Taken, *titles: str) -> str:
    """The first line of a file: picture, place, runs, changes and input."""
    made = [edit_in_words(edit, screen.run.graph, screen.run.tokens) for edit in screen.run.edits]
    changes = [plain("change.made", changes=" + ".join(made))] if made else []
    return " · ".join(filter(None, (*titles, taken.where, *taken.runs, *changes, screen.about())))


def _handout(page: Page, screen: Screen, pen: Pen) -> None:
    """A button that saves the page as a sheet for a class, with the pictures as drawn in the browser."""
    words = {name: plain(f"common.handout_{name}") for name in ("see", "says")}
    words["language"] = screen.choice.lang
    about = _about(screen, next(iter(pen.taken.values())))
    pictures = {f"{page.name}.{name}": taken for name, taken in pen.taken.items()}
    whole = address(st.context.url or "", screen.choice)
    named = plain(f"{page.name}.title"), unmarked(_purpose(page, screen)), page.equation(screen)
    html = exports.handout(*named, about, whole, pictures, words)
    handout(plain("common.handout"), html, f"{pen.file_name(page.name, plain('common.handout'))}.html")
