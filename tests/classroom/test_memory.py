"""Requests for memory over the web socket cost little of the 900 MB that a worker may use."""

import asyncio

import pytest

from pages.drawing.text import catalogue
from tests.classroom import flood
from tests.classroom.flood import MEGABYTE
from tests.classroom.server import Server
from tests.classroom.visitor import Visitor, visit


async def before(server: Server) -> float:
    """Memory of a worker that has drawn a page and the box for links."""
    await flood.paste(server, 3, 100)
    return server.memory()


@pytest.mark.parametrize(("sockets", "megabytes"), [(8, 190), (300, 1)])
def test_messages_that_do_not_end_are_refused_or_cut_off(server: Server, sockets: int, megabytes: int) -> None:
    start = visit(before(server))
    assert visit(flood.hold(server, sockets, megabytes * MEGABYTE - 1)) < start + 200


def test_what_was_pasted_leaves_little_behind(server: Server) -> None:
    start = visit(before(server))
    assert visit(flood.paste(server, 60, 900_000)) < start + 150


@pytest.mark.parametrize(("visitors", "files", "megabytes"), [(1, 20, 30), (40, 1, 12)])
def test_files_that_nobody_reads_leave_little_behind(server: Server, visitors: int, files: int, megabytes: int) -> None:
    start = visit(before(server))
    assert visit(flood.send(server, visitors, files, megabytes * MEGABYTE)) < start + 250
    assert server.memory() < start + 150


def test_files_without_an_end_are_cut_off(server: Server) -> None:
    start = visit(before(server))
    assert visit(flood.send_without_end(server, 40, 30 * MEGABYTE)) < start + 250


async def paste_links(server: Server) -> bytes:
    """Messages to a teacher who pastes a hundred long links."""
    visitor = Visitor(server.address, listen=True)
    await visitor.open("lesson", "lang=en")
    await visitor.unfold("lesson.teachers")
    await visitor.unfold("lesson.homework")
    links = "\n".join(f"学生 {n}: http://localhost:8501/attention?s={'a+' * 400}" for n in range(100))
    await visitor.set(**{"homework.pasted": links})
    await visitor.press("homework.check")
    await visitor.close()
    return b"".join(visitor.heard)


def test_a_hundred_links_are_read_while_others_hold_all_that_they_may(server: Server) -> None:
    async def meanwhile() -> bytes:
        holding = asyncio.create_task(flood.hold(server, 200, MEGABYTE - 1))
        await asyncio.sleep(0.5)
        shown = await paste_links(server)
        await holding
        return shown

    assert catalogue("en")["homework.reached"].format(reached=0, all=100).encode() in visit(meanwhile())
