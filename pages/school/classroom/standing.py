"""How a class stands, for the teacher's windows and for who follows her.

Many ask, every second or two: a worker looks once in HALF_A_SECOND for all of them. They show the class's ticket: else
who guesses at codes would learn here which of them is one.
"""

import secrets
from threading import Lock

from cachetools import TTLCache, cached

from pages.school.classroom.store import is_code, store

HALF_A_SECOND = 0.5


def standing_of(code: str, ticket: str) -> dict[str, int] | None:
    """version and led, which grow with what the teacher does; how many have answered; how many phones are there.

    None where there is no such class, or this is not its ticket. May raise UnavailableError.
    """
    found = _look(code) if is_code(code) else None
    if found is None or not secrets.compare_digest(found[0].encode(), ticket.encode()):
        return None
    return found[1]


@cached(TTLCache(1000, HALF_A_SECOND), lock=Lock())
def _look(code: str) -> tuple[str, dict[str, int]] | None:
    found = store().standing([code]).get(code)
    if found is None:
        return None
    answered, there = store().count(code)
    return found[2], {"version": found[0], "led": found[1], "answered": answered, "there": there}
