"""The teacher's desk: her class, the key that makes it hers, and what she does with it.

The key stays in her browser, in the session, and nowhere in a link. Whatever she does is done to the class as it was
when she saw it: of a double click, and of two windows, the second act does nothing.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from pages.drawing.state.choice import Choice
from pages.school.classroom.door import BusyError, address_of, starts
from pages.school.classroom.phases import Phase
from pages.school.classroom.questions import Shown, Told
from pages.school.classroom.store import ClassState, TooManyError, UnavailableError, UnknownClassError, store
from pages.screen.link import select

#: In the session: code -> key of the classes that are this browser's; those that it shall forget; why an act failed;
#: and when the last one was done.
KEYS, FORGOTTEN, PROBLEM, ACTED = "class.keys", "class.forgotten", "class.problem", "class.acted"
INPUT = ("input", "model", "sentence", "drawing", "picture")  # of a Choice
HURRY = 0.6  # seconds within which a second act is the same click


def plan_of(choice: Choice) -> str:
    """What a class is about, as the store keeps it: the link to what is on the screen, but for her own look at it."""
    about = choice.with_(edits=(), goal=None, of_class=None, role=None, question=None, big=False)
    return urlencode(about.with_(tab=None, stage=None).to_link())


@dataclass(frozen=True)
class Desk:
    """Her class, as it stood when this run began."""

    room: ClassState
    key: str

    @property
    def code(self) -> str:
        return self.room.code

    @property
    def pass_(self) -> str:
        """What opens the class on another device."""
        return f"{self.code}-{self.key}"

    def about(self, now: Choice) -> Choice:
        """The reader's choice, with the lesson and the input that the class is about."""
        about, _ = Choice.from_link(dict(parse_qsl(self.room.plan, keep_blank_values=True)))
        return about.with_(**{name: getattr(now, name) for name in ("lang", "big", "of_class", "role")})

    def differs(self, now: Choice) -> bool:
        """Whether the reader has by now chosen another input."""
        about = self.about(now)
        return any(getattr(about, name) != getattr(now, name) for name in INPUT)

    # -- what she does, from callbacks -----------------------------------------------------------------------------

    def go(self, to: Phase) -> None:
        """On to a phase. What was asked for once more, and the way back, are no second half of a click."""
        if not _in_a_hurry() or Phase.ENDED in (self.room.phase, to):
            with _or_say_why():
                store().advance(self.code, self.key, self.room.version, to)

    def ask(self, place: int, shown: Shown, told: Told) -> None:
        """Ask a question. place: in the lesson."""
        if not _in_a_hurry():
            with _or_say_why():
                store().ask(self.code, self.key, self.room.version, place, shown, told)

    def count_down(self, seconds: int) -> None:
        """Let the vote close by itself after so long."""
        with _or_say_why():
            store().count_down(self.code, self.key, self.room.version, seconds)

    def pause(self, paused: bool) -> None:
        """Let the phones say “look up front”, or go on."""
        with _or_say_why():
            store().pause(self.code, self.key, self.room.version, paused)

    def replan(self, about: Choice) -> None:
        """Go on about something else."""
        with _or_say_why():
            store().plan(self.code, self.key, plan_of(about))

    def end(self) -> None:
        """Delete the class and all that was answered."""
        with _or_say_why():
            store().end(self.code, self.key)
            forget(self.code)


def begin(about: Choice) -> None:
    """Start a class, from a callback; it goes to the projector at once."""
    with _or_say_why():
        if starts.wait(address()):
            raise BusyError
        code, key = store().create(plan_of(about))
        keep(code, key)
        select(of_class=code, big=True)


def address() -> str:
    """Where this visitor is. See `address_of`."""
    return address_of(st.context.ip_address or "", st.context.headers.get("X-Forwarded-For", ""))


def come_back(pass_: str) -> None:
    """Open a class by what `Desk.pass_` gave on another device."""
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
    """What the browser had kept of earlier visits."""
    gone = st.session_state.get(FORGOTTEN, ())
    st.session_state[KEYS] = {code: key for code, key in held.items() if code not in gone} | own()


def forget(code: str) -> None:
    """Let go of a class that is no more."""
    st.session_state[KEYS] = {one: key for one, key in own().items() if one != code}
    st.session_state[FORGOTTEN] = [*st.session_state.get(FORGOTTEN, ()), code]


def desk(code: str | None) -> Desk | None:
    """The class of this code, if it is hers; the key of one that was deleted is let go. Raises UnavailableError."""
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
    """Do what stands in this block as far as it can be done, and keep what to say instead of the rest."""
    try:
        yield
    except UnavailableError:
        st.session_state[PROBLEM] = "unavailable"
    except UnknownClassError:
        st.session_state[PROBLEM] = unknown
    except (BusyError, TooManyError):
        st.session_state[PROBLEM] = "full"


def _in_a_hurry() -> bool:
    """Whether this is the second half of a double click, or a key that is held."""
    now, last = time.monotonic(), st.session_state.get(ACTED, 0.0)
    st.session_state[ACTED] = now
    return now - last < HURRY
