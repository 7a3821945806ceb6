"""`make class PHONES="40 200"`: so many phones hear questions and vote, beside visitors who click through the app."""

import asyncio
import random
import time
from dataclasses import dataclass, field

import numpy as np

from pages.school.classroom.door import MOST_OF_ADDRESS
from pages.school.classroom.phases import Phase
from pages.school.classroom.store import Store
from tests.classroom.phone import Phone
from tests.classroom.server import Server
from tests.school.classroom.asked import EXAMPLES

WITHIN = 10  # seconds in which all vote
TURN = WITHIN + 2  # seconds of a question
COME = 50  # phones that come in at once


@dataclass
class Answered:
    """What a class of phones felt.

    votes: seconds of each until it was acknowledged. reached: seconds from an act of the teacher's until each phone
    heard of it. kept: votes that the store holds at the end; sent: those that were acknowledged.
    """

    votes: list[float] = field(default_factory=list)
    reached: list[float] = field(default_factory=list)
    sent: int = 0
    kept: int = 0

    def percentile(self, percent: int, of: list[float]) -> float:
        """Milliseconds."""
        return float(np.percentile(of, percent)) * 1e3 if of else float("nan")


class Answering:
    """A class of phones on a server, which its teacher asks one question after the other."""

    def __init__(self, server: Server, store: Store, number: int) -> None:
        self.store, self.answered = store, Answered()
        self.code, self.key = store.create()
        sources = (f"127.0.0.{2 + place // MOST_OF_ADDRESS}" for place in range(number))
        self.phones = [Phone(server.address, self.code, source) for source in sources]

    async def come(self) -> None:
        for first in range(0, len(self.phones), COME):
            await asyncio.gather(*(phone.come() for phone in self.phones[first : first + COME]))

    async def leave(self) -> None:
        await asyncio.gather(*(phone.leave() for phone in self.phones))
        await asyncio.to_thread(self.store.end, self.code, self.key)

    async def answer(self, until: float, dice: random.Random) -> Answered:
        """Questions until then, each opened, answered by all within WITHIN seconds, and closed."""
        example = EXAMPLES["tap"]
        room = await asyncio.to_thread(self.store.of_teacher, self.code, self.key)
        while time.monotonic() + TURN < until:
            about = room.version, 0, example.shown, example.truth
            room = await asyncio.to_thread(self.store.ask, self.code, self.key, *about)
            for phase in (Phase.OPEN, Phase.CLOSED):
                since = time.monotonic()
                room = await asyncio.to_thread(self.store.advance, self.code, self.key, room.version, phase)
                told = {"number": room.number, "phase": phase}
                waits = [phone.wait(lambda says, told=told: told.items() <= says.items()) for phone in self.phones]
                self.answered.reached += [when - since for when in await asyncio.gather(*waits)]
                if phase is Phase.OPEN:
                    await asyncio.gather(*(self._vote(phone, dice) for phone in self.phones))
        asked = await asyncio.to_thread(self.store.asked, self.code, self.key)
        self.answered.kept = sum(len(votes) for one in asked for votes in one.votes.values())
        return self.answered

    async def _vote(self, phone: Phone, dice: random.Random) -> None:
        await asyncio.sleep(dice.uniform(0, WITHIN))
        since = time.monotonic()
        status = await phone.vote(dice.choice("01"), sure=dice.randint(1, 3))
        if status == (200, "kept"):
            self.answered.sent += 1
            self.answered.votes.append(time.monotonic() - since)
