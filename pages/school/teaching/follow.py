"""Follow me: readers with a class in their link see the teacher's view, or leave it."""

import html
import time
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from pages.drawing.screen import Screen
from pages.drawing.state.choice import FIELDS, Choice
from pages.drawing.text import texts_of
from pages.school.classroom.door import BusyError, door
from pages.school.classroom.phases import Phase
from pages.school.classroom.store import ClassState, Store, UnavailableError, UnknownClassError, store
from pages.school.teaching import desk
from pages.screen.components.kept import kept
from pages.screen.components.live import LATER, live
from pages.screen.frame.contents import NAMES, path_of
from pages.screen.frame.line import COVERS
from pages.screen.frame.navigation import OPEN, open_with
from pages.screen.frame.pen import Pen
from pages.screen.link import select

#: Session state: whether a teacher leads; the view that a member has seen, his class, and a message for him.
LEADS = "class.leads"
SEEN, MEMBER_OF, SAYS = "class.seen", "class.member_of", "class.says"
HERS = "class.hers"  # session state: whether the page was drawn for the class's teacher
GOES_ON = "class.goes_on"  # session state: whether the class has not ended
LONGEST_WAIT = 1.0  # seconds for which a page waits before its code is looked up
#: Values that stay each reader's own; a teacher's lesson contains its answers.
OWN = {"lang", "big", "of_class", "role", "lesson", "question"}
text, word = texts_of("class")


def beside(page: str) -> None:
    """Add to each page: for the teacher a switch to lead, for a member a switch to follow. page: its name."""
    choice: Choice = st.session_state["choice"]
    code = choice.of_class
    st.session_state[SAYS] = None
    if code is None:
        for known in (COVERS, GOES_ON):
            st.session_state.pop(known, None)
    if code is None or page == "class":  # members stay where they were led before
        return
    st.empty()  # what a fragment alone would be the first to draw, Streamlit draws nowhere else
    kept(desk.own(), st.session_state.get(desk.FORGOTTEN, ()), desk.hear)
    try:
        says = store().snapshot(code) or {}
        st.session_state[GOES_ON] = says.get("phase", Phase.ENDED) != Phase.ENDED
        drawn, st.session_state[COVERS] = st.session_state.get(COVERS, True), _is_to_be_asked(says)
        if drawn != st.session_state[COVERS]:
            st.rerun()
        if key := desk.own().get(code):
            if not st.session_state.get(HERS):  # her browser has said so since
                st.session_state[HERS] = True
                st.rerun()
            _lead(store(), code, key, page, choice)
        else:
            _follow(store(), code, ".".join(filter(None, (page, choice.question if page == "lesson" else None))))
    except (BusyError, UnavailableError, UnknownClassError):
        st.session_state[SAYS] = "not_there"


def goes_on(choice: Choice) -> bool:
    """Whether the reader's class has not ended, as far as is known."""
    return st.session_state.get(GOES_ON, choice.of_class is not None)


def _is_to_be_asked(says: Mapping[str, Any]) -> bool:
    """Whether a class is in the lobby, or asked for a masked word that is not revealed yet."""
    asked = says.get("question", {}).get("gesture") == "word" and "truth" not in says
    return asked or says.get("phase") == Phase.LOBBY


def _lead(classes: Store, code: str, key: str, page: str, choice: Choice) -> None:
    """While the teacher's switch is on, lead the class to her view; a new window of hers continues. The end gives out
    her homework.
    """
    if LEADS not in st.session_state and (room := classes.room(code)):
        by_class_page = room.phase is Phase.ENDED or room.lead.startswith(path_of("lesson"))  # to homework, to the tour
        st.session_state[LEADS] = bool(room.lead) and not by_class_page
    tells = page == "lesson"  # the tour shows answers that the class is still to be asked
    view = view_of(page, choice.with_(goal=None)) if st.session_state.get(LEADS) and not tells else ""
    if goes_on(choice):  # then phones keep the homework
        lead_to(classes, code, key, view)


def view_of(page: str, choice: Choice) -> str:
    """Link to a page with its choice, except values that stay each reader's own."""
    own = {field.name for field in FIELDS if field.path in OWN}
    return f"{path_of(page)}?{urlencode({name: value for name, value in choice.to_link().items() if name not in own})}"


def lead_to(classes: Store, code: str, key: str, where: str) -> None:
    """Lead the class to a view unless it is there already; "" stops leading."""
    if st.session_state.get(desk.LED_TO, (code, "")) != (code, where):
        classes.lead(code, key, where)
        st.session_state[desk.LED_TO] = code, where


def _follow(classes: Store, code: str, view: str) -> None:
    """A member's switch; while it is on, show the teacher's views. The member counts as present either way. view: his
    own.
    """
    room, led = room_of(classes, code), st.session_state.get(SEEN, 0)
    if room.phase is Phase.ENDED:
        st.session_state[SAYS] = "not_there"
    else:
        if "class.follows" not in st.session_state:
            st.session_state["class.follows"] = True
        if st.toggle(word("follow", code=code), key="class.follows", persist_state="session"):
            asks = room.phase in (Phase.QUESTION, Phase.OPEN)
            st.session_state[SAYS] = "asks_now" if asks else "led" if room.lead else None
        else:
            led = room.led
    live(code, room.ticket, room.version, led, every=LATER, follows=True, view=view, on_moved=_go_there)


def way_back(screen: Screen, pen: Pen) -> None:
    """For a teacher away from her class page, the way back, and her switch; for a member, the state of the class, and a
    link to an open question.
    """
    code = screen.choice.of_class
    st.session_state[HERS] = code in desk.own()
    if pen.name != "class" and code in desk.own():
        with st.container(horizontal=True, vertical_alignment="center", key="class_way"):
            if pen.name != "lesson":  # the tour shows answers that the class is still to be asked
                leads = st.session_state.get(LEADS, False)
                change = {"on_click": st.session_state.update, "args": ({LEADS: not leads},)}
                change["help"] = None if leads else word("lead_help")  # it would stay over the line
                look = "primary" if leads else "secondary"
                st.button(word("led_by_me" if leads else "lead"), key="lead", type=look, **change)
            st.button(word("to_class"), on_click=open_with, args=("class",), key="to_class")
        for key in ("b", "B", "Shift+B"):
            pen.on_key(key, partial(open_with, "class"))
    elif says := st.session_state.get(SAYS):
        said = html.escape(word(says))
        if says == "asks_now":  # Streamlit's own link would open one window after the other
            said = f'<a href="join?c={code}">{said}</a>'
        st.html(f'<div class="from_class">{said}</div>')


def room_of(classes: Store, code: str) -> ClassState:
    """State of the class. Waits after many wrong codes, like phones do. Raises UnknownClassError, BusyError."""
    known = st.session_state.get(MEMBER_OF) == code
    address = desk.address()
    if not known:
        if (seconds := door.wait(address)) > LONGEST_WAIT:
            raise BusyError
        time.sleep(seconds)
    if (room := classes.room(code)) is None:
        raise UnknownClassError
    if not known:
        door.was_right(address)
        st.session_state[MEMBER_OF] = code
    return room


def _go_there() -> None:
    """Callback: go to the teacher's view, if the member follows."""
    if not st.session_state.get("class.follows", True):
        return
    code = st.session_state["choice"].of_class
    try:
        room = store().room(code) if code else None
    except UnavailableError:
        return
    if room is None or room.led == st.session_state.get(SEEN, 0):
        return
    st.session_state[SEEN] = room.led
    path, _, query = room.lead.partition("?")
    pages = [name for name in NAMES if path_of(name) == path]
    if not room.lead or not pages:
        return
    there, _ = Choice.from_link(dict(parse_qsl(query, keep_blank_values=True)))
    names = {field.path.partition(".")[0] for field in FIELDS} - OWN
    if there.goal is None:  # a task that a member has begun stays his
        names.remove("goal")
    select(**{name: getattr(there, name) for name in names})
    st.session_state[OPEN] = pages[0]
