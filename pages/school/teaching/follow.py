"""Follow me: who has the app open with a class in his link sees what the teacher looks at, or leaves her view."""

import time
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from pages.school.classroom.door import CrowdedError, door
from pages.school.classroom.phases import Phase
from pages.school.classroom.store import Room, Store, UnavailableError, UnknownClassError, store
from pages.school.teaching import desk
from pages.ui.components.kept import kept
from pages.ui.components.live import LATER, live
from pages.ui.frame.contents import PAGES
from pages.ui.frame.navigation import BACK, OPEN
from pages.ui.state.choice import FIELDS, Choice
from pages.ui.state.link import select
from pages.ui.text import texts_of

#: In the session: where a teacher last led to; which of her views a member has seen, the code of his class, and
#: whether it is asked now.
LED_TO, SEEN, MEMBER_OF, ASKS = "class.led_to", "class.seen", "class.member_of", "class.asks"
LONGEST_WAIT = 1.0  # seconds for which a page waits until its code may be looked up
#: What stays each reader's own.
OWN = {"lang", "big", "of_class", "role"}
text, word = texts_of("class")


def beside(page: str) -> None:
    """What a class adds to each page: the teacher's switch, or a member's. page: its name."""
    choice: Choice = st.session_state["choice"]
    code = choice.of_class
    st.session_state[BACK] = st.session_state[ASKS] = None
    if code is None:
        return
    st.empty()  # what a fragment alone would be the first to draw, Streamlit draws nowhere else
    if page != "class":  # which draws it itself
        kept(desk.own(), st.session_state.get(desk.FORGOTTEN, ()), desk.hear)
        st.session_state[BACK] = "class" if code in desk.own() else None
    try:
        if key := desk.own().get(code):
            _lead(store(), code, key, page, choice)
        elif page != "class":
            _follow(store(), code)
    except (CrowdedError, UnavailableError, UnknownClassError):
        st.caption(text("not_there"))


def _lead(classes: Store, code: str, key: str, page: str, choice: Choice) -> None:
    """The teacher's switch; while it is on, her view is what the class follows."""
    leads = st.toggle(word("lead"), key="class.leads", help=word("lead_help"), persist_state="session")
    if page == "class":  # members stay where they were led before
        return
    (path,) = (row.path for row in PAGES if row.name == page)
    own = {field.name for field in FIELDS if field.path in OWN}
    link = {name: value for name, value in choice.to_link().items() if name not in own}
    where = f"{path}?{urlencode(link)}" if leads else ""
    if st.session_state.get(LED_TO, (code, "")) != (code, where):
        classes.lead(code, key, where)
        st.session_state[LED_TO] = code, where


def _follow(classes: Store, code: str) -> None:
    """A member's switch; while it is on, what the teacher looks at comes here, too."""
    room = room_of(classes, code)
    if "class.follows" not in st.session_state:
        st.session_state["class.follows"] = True
    if not st.toggle(word("follow", code=code), key="class.follows", persist_state="session"):
        return
    st.session_state[ASKS] = room.phase in (Phase.QUESTION, Phase.OPEN)
    st.caption(text("led" if room.lead else "not_led"))
    live(code, room.ticket, room.version, st.session_state.get(SEEN, 0), every=LATER, on_moved=_go_there)


def asked_now() -> None:
    """To a member who follows, while a question can be read or answered: the way to it."""
    if st.session_state.get(ASKS):
        code = st.session_state["choice"].of_class
        st.link_button(word("asks_now"), f"join?c={code}", type="primary", icon=":material/how_to_vote:")


def room_of(classes: Store, code: str) -> Room:
    """The class of this code. Who opens links to many classes that do not exist waits, as who tries codes on a phone.

    Raises UnknownClassError, CrowdedError.
    """
    known = st.session_state.get(MEMBER_OF) == code
    address = desk.address()
    if not known:
        if (seconds := door.wait(address)) > LONGEST_WAIT:
            raise CrowdedError
        time.sleep(seconds)
    if (room := classes.room(code)) is None:
        raise UnknownClassError
    if not known:
        door.was_right(address)
        st.session_state[MEMBER_OF] = code
    return room


def _go_there() -> None:
    """From a callback: look at what the teacher looks at."""
    code = st.session_state["choice"].of_class
    try:
        room = store().room(code) if code else None
    except UnavailableError:
        return
    if room is None or room.led == st.session_state.get(SEEN, 0):
        return
    st.session_state[SEEN] = room.led
    path, _, query = room.lead.partition("?")
    pages = [row.name for row in PAGES if row.path == path]
    if not room.lead or not pages:
        return
    there, _ = Choice.from_link(dict(parse_qsl(query, keep_blank_values=True)))
    names = {field.path.partition(".")[0] for field in FIELDS} - OWN
    if there.goal is None:  # a task that a member has begun stays his
        names.remove("goal")
    select(**{name: getattr(there, name) for name in names})
    st.session_state[OPEN] = pages[0]
