"""Pages queue for a bounded number of slots and release them at the end."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import pytest

from model import deadline
from model.deadline import OverdueError
from pages.server import in_flight
from pages.server.in_flight import CrowdedError

MB = 1_000_000


@pytest.fixture(autouse=True)
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_flight, "RUNS", 1)
    monkeypatch.setattr(in_flight, "small", in_flight.Room(100 * MB))
    monkeypatch.setattr(in_flight, "LARGE", 2000 * MB)


class Inside:
    """A page that holds its slot until `leave`."""

    def __init__(self, megabytes: int) -> None:
        self.entered, self._leave = Event(), Event()
        self.thread = Thread(target=self._draw, args=(megabytes,))
        self.thread.start()

    def _draw(self, megabytes: int) -> None:
        with in_flight.page():
            in_flight.make_room(megabytes * MB)
            self.entered.set()
            self._leave.wait(30)

    def leave(self) -> None:
        self._leave.set()
        self.thread.join()


def test_what_pages_hold_together_stays_bounded_and_who_came_first_goes_first() -> None:
    first, second = Inside(60), Inside(40)
    assert first.entered.wait(5) and second.entered.wait(5)
    large = Inside(90)
    assert not large.entered.wait(0.1)
    small = Inside(10)
    second.leave()
    assert not small.entered.wait(0.1), "there would be room, but somebody came before"
    first.leave()
    assert large.entered.wait(5) and small.entered.wait(5)
    large.leave()
    small.leave()
    alone = Inside(1000)
    assert alone.entered.wait(5), "what is larger than all the room is let in alone"
    alone.leave()


def test_sixty_who_type_at_once_are_all_answered_though_each_takes_three_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(in_flight, "monotonic", lambda: now)
    monkeypatch.setattr(in_flight, "LOOK", 0.001)

    def compute(_: int) -> None:
        nonlocal now
        with in_flight.page():
            in_flight.make_room(100 * MB)
            time.sleep(0.005)
            now += 3

    with ThreadPoolExecutor(60) as visitors:
        list(visitors.map(compute, range(60)))
    assert now == 180


def test_short_input_overtakes_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_flight, "large", in_flight.Room(100 * MB))
    monkeypatch.setattr(in_flight, "LARGE", 50 * MB)
    long, longer, short = Inside(60), Inside(60), Inside(40)
    assert long.entered.wait(5) and short.entered.wait(5)
    assert not longer.entered.wait(0.05)
    for page in (long, longer, short):
        page.leave()


def test_a_page_with_a_short_and_a_long_input_needs_room_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_flight, "large", in_flight.Room(100 * MB))
    monkeypatch.setattr(in_flight, "LARGE", 50 * MB)
    monkeypatch.setattr(in_flight, "LONGEST_WAIT", 0.05)
    long, short = Inside(60), Inside(30)
    assert long.entered.wait(5) and short.entered.wait(5)
    with in_flight.page():
        in_flight.make_room(30 * MB)
        with pytest.raises(CrowdedError):
            in_flight.make_room(60 * MB)
    for page in (long, short):
        page.leave()


def test_a_page_that_has_room_does_not_wait_for_more() -> None:
    other = Inside(60)
    assert other.entered.wait(5)
    with in_flight.page():
        in_flight.make_room(40 * MB)
        with in_flight.page():  # a part of it
            in_flight.make_room(90 * MB)
    other.leave()


def test_who_waits_too_long_is_told_so_and_leaves_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_flight, "LONGEST_WAIT", 0.05)
    first = Inside(60)
    assert first.entered.wait(5)
    with in_flight.page(), pytest.raises(CrowdedError):
        in_flight.make_room(90 * MB)
    second = Inside(40)
    assert second.entered.wait(5), "nobody stands in the line any more"
    first.leave()
    second.leave()


def test_who_waits_is_told_his_place_and_may_give_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_flight, "LOOK", 0.02)
    first, second, told = Inside(60), Inside(40), list[int]()
    assert first.entered.wait(5) and second.entered.wait(5)

    def tell(before: int) -> None:
        told.append(before)
        second.leave()
        if before == 1:
            raise InterruptedError

    with in_flight.page(tell), pytest.raises(InterruptedError):
        in_flight.make_room(90 * MB)
    assert told == [2, 1]
    third = Inside(40)
    assert third.entered.wait(5), "nobody stands in the line any more"
    for page in (first, third):
        page.leave()


def test_waiting_does_not_count_as_computing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_flight, "MOST_SECONDS", 0.3)
    first = Inside(60)
    assert first.entered.wait(5)

    def wait() -> float:
        with in_flight.page():
            in_flight.make_room(90 * MB)
            return deadline.left()

    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(wait)
        time.sleep(0.5)
        first.leave()
        assert 0.1 < waiting.result(5) <= 0.3


def test_a_page_that_fails_gives_its_room_back_and_does_what_was_to_be_done() -> None:
    done: list[str] = []
    with pytest.raises(OverdueError), in_flight.page():
        in_flight.at_end(lambda: done.append("let go"))
        in_flight.make_room(90 * MB)
        raise OverdueError
    assert done == ["let go"]
    after = Inside(90)
    assert after.entered.wait(5)
    after.leave()
