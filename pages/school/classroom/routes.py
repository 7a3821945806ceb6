"""Routes for phones, on any worker: GET /join, the page; GET /live/CODE, the class's state as server-sent events; GET
/live/CODE/now, the same once; POST /live/CODE/vote; GET /live/CODE/standing, for pages of the app.

A phone sends its number in `d`. `now` gives a number to a phone without one, which it needs to listen or vote.
"""

import json
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pages.school.classroom import join
from pages.school.classroom.door import BusyError, address_of
from pages.school.classroom.hall import Gathering, Hall
from pages.school.classroom.standing import standing_of
from pages.school.classroom.store import Ballot, UnavailableError, Verdict, is_code

MOST_BODY = 4096  # bytes of a vote
PING = 15  # seconds; a phone reconnects after three times as long without an event
AGAIN = 1000, 3000  # milliseconds after which phones reconnect, spread out
STATUS = {
    Verdict.KEPT: 200,
    Verdict.CLOSED: 409,
    Verdict.UNKNOWN: 404,
    Verdict.IMPOSSIBLE: 422,
    Verdict.FULL: 507,
}
VIEW = re.compile(r"[a-z_]{1,24}(\.[a-z0-9_.]{1,24})?")  # a page, or a station of the tour
FRESH = {"Cache-Control": "no-store"}


def routes(hall: Hall, base: str = "") -> list[Route]:
    """base: path below which the app is served."""
    base = f"/{base.strip('/')}".rstrip("/")

    def route(path: str, answer: Callable[[Hall, Request], Awaitable[Response]], method: str = "GET") -> Route:
        async def endpoint(request: Request) -> Response:
            return await answer(hall, request)

        return Route(base + path, endpoint, methods=[method])

    return [
        Route(f"{base}/join", join.page),
        route("/live/{code}", live),
        route("/live/{code}/now", now),
        route("/live/{code}/vote", vote, "POST"),
        route("/live/{code}/standing", standing),
    ]


async def live(hall: Hall, request: Request) -> Response:
    """Event stream of the state; the event “gone” when the class is deleted."""
    found, device = await _entered(hall, request), _device(request)
    if isinstance(found, Response):
        return found
    if not found.has_let_in(device):
        return _said("stranger", 403)
    if hall.is_full(found):
        return _said("busy", 503)

    async def events() -> AsyncIterator[ServerSentEvent]:
        again = random.randint(*AGAIN)
        async for said in hall.listen(found, device):
            yield ServerSentEvent(event="gone", data="") if said is None else ServerSentEvent(said, retry=again)

    return EventSourceResponse(events(), ping=PING, ping_message_factory=lambda: ServerSentEvent("", event="ping"))


async def now(hall: Hall, request: Request) -> Response:
    """The current state; for a phone without a number of this class, with a new one as `device`."""
    found, device = await _entered(hall, request), _device(request)
    if isinstance(found, Response) or found.said is None:
        return found if isinstance(found, Response) else _said("unknown", 404)
    said = found.said
    if not found.has_let_in(device):
        try:
            device = await hall.let_in(found, _address(request))
        except BusyError:
            return _said("busy", 503)
        said = f'{said[:-1]},"device":"{device}"}}'
    else:  # phones with a new number do not count yet: most will listen, perhaps to another worker
        found.heard[device] = None
    return Response(said, headers=FRESH, media_type="application/json")


async def vote(hall: Hall, request: Request) -> Response:
    """Keep a vote: {"n": question, "r": round, "guess": …, "sure": 1 to 3, or 0 if not said}. Answers once it is
    stored.
    """
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        return _said("impossible", 415)  # what other sites could send in a visitor's name
    try:
        body = await _body(request)
    except ClientDisconnect:
        return _said("busy", 503)
    if body is None:
        return _said("impossible", 413)
    try:
        says = json.loads(body)
        ballot = Ballot(_code(request), int(says["n"]), int(says["r"]), _device(request), says["guess"], says["sure"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return _said("impossible", 400)
    if not (0 < ballot.number < 10_000 and 0 < ballot.round < 10):
        return _said("impossible", 400)
    found = await _entered(hall, request)
    if isinstance(found, Response):
        return found
    if not found.has_let_in(ballot.device):
        return _said("stranger", 403)
    try:
        verdict = await hall.vote(ballot)
    except UnavailableError:
        return _said("busy", 503)
    return _said(verdict, STATUS[verdict])


async def standing(hall: Hall, request: Request) -> Response:
    """State of the class for the teacher and her followers. A phone that follows stays in the class."""
    try:
        said = await run_in_threadpool(standing_of, _code(request), request.query_params.get("t", ""))
    except UnavailableError:
        return _said("busy", 503)
    if said is None:
        return _said("unknown", 404)
    if device := _device(request):
        found = await _entered(hall, request)
        if isinstance(found, Response):
            return found
        if found.has_let_in(device):
            found.heard[device] = None
            if VIEW.fullmatch(view := request.query_params.get("v", "")):
                await hall.note_opened(found, _code(request), device, view)
    return JSONResponse(said, headers=FRESH)


async def _entered(hall: Hall, request: Request) -> Gathering | Response:
    """The class that a phone asks for, or the response that refuses it."""
    try:
        found = await hall.enter(_code(request), _device(request), _address(request))
    except UnavailableError:
        return _said("busy", 503)
    except BusyError:
        return _said("slow", 429)
    return _said("unknown", 404) if found is None else found


async def _body(request: Request) -> bytes | None:
    """The body; None if too large for a vote."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BODY:
            return None
    return body


def _said(verdict: str, status: int) -> Response:
    return JSONResponse({"verdict": verdict}, status, headers=FRESH)


def _code(request: Request) -> str:
    code = request.path_params["code"].upper()
    return code if is_code(code) else ""


def _device(request: Request) -> str:
    return request.query_params.get("d", "")[:32]


def _address(request: Request) -> str:
    return address_of(request.client.host if request.client else "", request.headers.get("x-forwarded-for", ""))
