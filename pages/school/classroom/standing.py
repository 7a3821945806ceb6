"""GET /live/CODE/standing: how a class stands, for the teacher's windows and for who follows her. They are no phones.

Many ask, every second or two: a worker looks once in HALF_A_SECOND for all of them. They show the class's ticket in
`t`: else who guesses at codes would learn here which of them is one.
"""

import secrets
from threading import Lock

from cachetools import TTLCache, cached
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pages.school.classroom.store import UnavailableError, is_code, store

HALF_A_SECOND = 0.5
FRESH = {"Cache-Control": "no-store"}


def standing(request: Request) -> Response:
    """version and led, which grow with what the teacher does; how many have answered; how many phones are there."""
    code = request.path_params["code"]
    try:
        found = _look(code) if is_code(code) else None
    except UnavailableError:
        return Response(status_code=503, headers=FRESH)
    if found is None or not secrets.compare_digest(found[0].encode(), request.query_params.get("t", "").encode()):
        return Response(status_code=404, headers=FRESH)
    return JSONResponse(found[1], headers=FRESH)


@cached(TTLCache(1000, HALF_A_SECOND), lock=Lock())
def _look(code: str) -> tuple[str, dict[str, int]] | None:
    found = store().standing([code]).get(code)
    if found is None:
        return None
    answered, there = store().count(code)
    return found[2], {"version": found[0], "led": found[1], "answered": answered, "there": there}
