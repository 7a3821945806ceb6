"""State of a class for the teacher's windows and her followers.

Many ask every second or two, so a worker queries the store once in HALF_A_SECOND for all of them. Requests carry the
class's ticket, so that nobody can test guessed codes here.
"""

import secrets
from threading import Lock

from cachetools import TTLCache, cached

from pages.school.classroom.store import is_code, store

HALF_A_SECOND = 0.5


def standing_of(code: str, ticket: str) -> dict[str, int] | None:
    """Version and led (counters of the teacher's acts), number of answers, number of phones.

    None if there is no such class, or the ticket is wrong. May raise UnavailableError.
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
