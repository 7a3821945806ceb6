"""Desk: the teacher's class, her key to it, and her actions.

The key is kept in her browser and session, never in a link. Each action applies to the class as she saw it, so the
second of a double click, or of two windows, does nothing.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from pages.drawing.state.choice import Choice
from pages.school.classroom.door import BusyError, address_of, starts
from pages.school.classroom.phases import Phase
from pages.school.classroom.questions import Shown, Told
from pages.school.classroom.store import ClassState, TooManyError, UnavailableError, UnknownClassError, store
from pages.screen.link import select

#: Session state: keys of this browser's classes by code; codes to forget; the error of the last action, and its time;
#: the version of a class that goes on with another input.
KEYS, FORGOTTEN, PROBLEM, ACTED = "class.keys", "class.forgotten", "class.problem", "class.acted"
LED_TO = "class.led_to"  # session state: where she last led her class to
ANEW = "class.anew"
INPUT = ("input", "model", "sentence", "drawing", "picture")  # of a Choice
HURRY = 0.6  # seconds within which a second act is the same click
TASK = "task"  # in a plan: what the link of its homework opens


def plan_of(choice: Choice, task: Choice | None = None) -> str:
    """What a class is about, as the store keeps it: a link to the current choice, without her display settings.

    task: what the link of its homework opens; it stays when the class goes on with another input.
    """
    about = choice.with_(edits=(), goal=None, of_class=None, role=None, question=None, big=False)
    homework = {TASK: urlencode(task.to_link())} if task else {}
    return urlencode(about.with_(tab=None, stage=None).to_link() | homework)


def _opened(link: str) -> Choice:
    return Choice.from_link(dict(parse_qsl(link, keep_blank_values=True)))[0]


@dataclass(frozen=True)
class Desk:
    """A teacher's class, as of the start of this script run."""

    room: ClassState
    key: str

    @property
    def code(self) -> str:
        return self.room.code

    @property
    def pass_(self) -> str:
        """Code and key, for opening the class on another device."""
        return f"{self.code}-{self.key}"

    def about(self, now: Choice) -> Choice:
        """The reader's choice, with the class's lesson and input."""
        own = {name: getattr(now, name) for name in ("lang", "big", "of_class", "role")}
        return _opened(self.room.plan).with_(**own)

    @property
    def task(self) -> Choice | None:
        """What the link of the homework opens that was chosen before the class; None without one."""
        link = dict(parse_qsl(self.room.plan)).get(TASK)
        return _opened(link) if link else None

    def differs(self, now: Choice) -> bool:
        """Whether the reader has since chosen another input."""
        about = self.about(now)
        return any(getattr(about, name) != getattr(now, name) for name in INPUT)

    # -- what she does, from callbacks -----------------------------------------------------------------------------

    def go(self, to: Phase) -> None:
        """Go on to a phase. Ending, which was confirmed, and reopening are never taken for half of a double click."""
        if not _in_a_hurry() or Phase.ENDED in (self.room.phase, to):
            with _or_say_why():
                store().advance(self.code, self.key, self.room.version, to)

    def ask(self, place: int, shown: Shown, told: Told) -> None:
        """Ask a question of this plan. place: its index in the lesson."""
        if not _in_a_hurry():
            with _or_say_why():
                store().ask(self.code, self.key, self.room.version, place, shown, told, self.room.plan)
                st.session_state.pop(LED_TO, None)

    def count_down(self, seconds: int) -> None:
        """Close the vote by itself after so many seconds."""
        with _or_say_why():
            store().count_down(self.code, self.key, self.room.version, seconds)

    def pause(self, paused: bool) -> None:
        """Let the phones say “look up front”, or continue."""
        with _or_say_why():
            store().pause(self.code, self.key, self.room.version, paused)

    def anew(self, own: Choice) -> "Desk":
        """The same desk, about the reader's own input."""
        about = own.with_(lesson=self.about(own).lesson)
        return replace(self, room=replace(self.room, plan=plan_of(about, self.task)))

    def go_on(self, own: Choice) -> None:
        """Continue with the reader's own input: in the lobby at once, later with the next question."""
        if self.room.phase is not Phase.LOBBY:
            st.session_state[ANEW] = self.room.version
            return
        with _or_say_why():
            store().plan(self.code, self.key, self.anew(own).room.plan)

    def add(self, lesson: str) -> None:
        """Go on with a lesson, as its code, that begins with the questions of this class."""
        with _or_say_why():
            store().plan(self.code, self.key, plan_of(_opened(self.room.plan).with_(lesson=lesson), self.task))

    def end(self) -> None:
        """Delete the class and all answers."""
        with _or_say_why():
            store().end(self.code, self.key)
            forget(self.code)


def begin(about: Choice, task: Choice | None) -> None:
    """Start a class (callback) and go to the projector. task: see `plan_of`."""
    with _or_say_why():
        if starts.wait(address()):
            raise BusyError
        code, key = store().create(plan_of(about, task))
        keep(code, key)
        select(of_class=code, big=True)


def address() -> str:
    """This visitor's address: see `address_of`."""
    return address_of(st.context.ip_address or "", st.context.headers.get("X-Forwarded-For", ""))


def come_back(pass_: str) -> None:
    """Open a class with what `Desk.pass_` gave on another device."""
    code, _, key = pass_.strip().partition("-")
    with _or_say_why(unknown="no_such_key"):
        store().of_teacher(code.upper(), key)
        keep(code.upper(), key)
        select(of_class=code.upper())


def own() -> dict[str, str]:
    """Code -> key of the classes that are this browser's."""
    return st.session_state.get(KEYS, {})


def keep(code: str, key: str) -> None:
    st.session_state[KEYS] = own() | {code: key}


def hear(held: Mapping[str, str]) -> None:
    """Take over the keys that the browser has stored."""
    gone = st.session_state.get(FORGOTTEN, ())
    st.session_state[KEYS] = {code: key for code, key in held.items() if code not in gone} | own()


def forget(code: str) -> None:
    """Forget a deleted class."""
    st.session_state[KEYS] = {one: key for one, key in own().items() if one != code}
    st.session_state[FORGOTTEN] = [*st.session_state.get(FORGOTTEN, ()), code]


def desk(code: str | None) -> Desk | None:
    """The desk of this class, if it is hers; forgets the key of a deleted one. Raises UnavailableError."""
    if code is None or (key := own().get(code)) is None:
        return None
    try:
        room = store().of_teacher(code, key)
    except UnknownClassError:
        forget(code)
        return None
    return Desk(room, key)


@contextmanager
def _or_say_why(unknown: str = "gone") -> Iterator[None]:
    """Catch errors of this block and keep a message about them."""
    try:
        yield
    except UnavailableError:
        st.session_state[PROBLEM] = "unavailable"
    except UnknownClassError:
        st.session_state[PROBLEM] = unknown
    except (BusyError, TooManyError):
        st.session_state[PROBLEM] = "full"


def _in_a_hurry() -> bool:
    """Whether this is the second half of a double click, or a key held down."""
    now, last = time.monotonic(), st.session_state.get(ACTED, 0.0)
    st.session_state[ACTED] = now
    return now - last < HURRY
