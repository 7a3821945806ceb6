"""Phones of a worker whose store does not respond."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pages.school.classroom import hall as halls
from pages.school.classroom.hall import Hall
from pages.school.classroom.store import Ballot, Store, UnavailableError


class Stuck(Store):
    """A store whose database hangs."""

    def vote_all(self, ballots: object) -> list:
        time.sleep(0.5)
        return []

    snapshot = vote_all


async def ask(hall: Hall) -> None:
    async with hall.open():
        began = time.monotonic()
        votes = [hall.vote(Ballot("AAAAAA", 1, 1, str(place), "1", 2)) for place in range(8)]
        entering = [hall.enter(letter * 6, "", letter) for letter in "ABCDEFGH"]
        found = await asyncio.gather(*votes, *entering, return_exceptions=True)
        assert {type(one) for one in found} == {UnavailableError} and time.monotonic() - began < 5


def test_who_waits_for_a_store_that_does_not_answer_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halls, "ANSWER", 0.1)
    store = Stuck(f"sqlite:///{tmp_path / 'classes.sqlite'}")
    with ThreadPoolExecutor(1) as apart:  # a browser's tests leave their loop running in this one
        apart.submit(asyncio.run, ask(Hall(lambda: store))).result()
