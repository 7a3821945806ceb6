"""`make soak HOSTILE=1`: visitors who ask for the most that a link can ask for, without a pause.

Their links have long sentences, vectors patched from other sentences, a second input, our encoder or the paper's base
size, the translator; some visitors type a megabyte. Every sentence is new, so no cache helps. A few ordinary visitors
are measured among them. Meanwhile others ask for memory: see flood.py.
"""

import asyncio
import random
import time
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlencode

import numpy as np

from model import Edit
from pages.drawing.state.link_values import EDITS, MOST_EDITS
from pages.drawing.text import catalogue
from tests.classroom import flood
from tests.classroom.flood import MEGABYTE
from tests.classroom.server import Server
from tests.classroom.visitor import Visitor

PAGES = ("", "attention", "heads", "add_and_norm", "layers", "answer", "what_if", "translation", "translation")
WORDS = "a an the I we he it they is was sat ran saw got dog cat man boy day sun sea car old big red and but in on at"
QUANTITIES = ("attention.heads", "ffn.output", "attention.V")
LENGTH, LAYERS = 60, 6
ORDINARY = 3  # ordinary visitors
SETTLED = 10  # seconds after the last visitor has left
REFUSALS = {catalogue("en")[key] for key in ("error.overdue", "error.crowded")}


@dataclass
class Felt:
    """Waiting times in seconds, and refusals."""

    waits: list[float] = field(default_factory=list)
    refused: int = 0  # answers that said "too long" or "no room"
    gave_up: int = 0  # visitors without an answer

    def __str__(self) -> str:
        p50, p95, longest = np.percentile(self.waits, [50, 95, 100])
        return (
            f"{len(self.waits)} answers (p50 {p50:.1f} s, p95 {p95:.1f} s, longest {longest:.1f} s), of which "
            f"{self.refused} said that it takes too long; {self.gave_up} gave up"
        )


def sentence(dice: random.Random, length: int = LENGTH) -> str:
    return f"{' '.join(dice.choices(WORDS.split(), k=length))} ."


def link(dice: random.Random) -> str:
    """The query of a hostile visit."""
    taken = [
        Edit(
            f"layers.{dice.randrange(LAYERS)}.{dice.choice(QUANTITIES)}",
            "patch",
            token=dice.randrange(LENGTH),
            from_token=dice.randrange(LENGTH),
            source=sentence(dice),
        )
        for _ in range(MOST_EDITS)
    ]
    values = {
        "s": sentence(dice),
        "other": sentence(dice),
        "model": dice.choice(("trained", "paper")),
        "edits": EDITS.write(tuple(taken)),
        "shown": dice.choice(("changed", "beside", "against")),
    }
    return urlencode(values)


async def keep_coming(server: Server, until: float, dice: random.Random, strange: bool, felt: Felt) -> None:
    """One seat: a visitor opens a link, chooses a layer or types a long text, and leaves; then the next comes."""
    while time.monotonic() < until:
        visitor = Visitor(server.address)
        page, query = "attention", urlencode({"s": sentence(dice, 12)})
        if strange:
            page, query = dice.choice(PAGES), link(dice)
        try:
            second = partial(dice.choice((another_layer, a_long_text)) if strange else another_layer, visitor, dice)
            for step in (partial(visitor.open, page, query), second):
                felt.waits.append(await step())
                felt.refused += bool(REFUSALS & set(visitor.alerts))
                if not strange:
                    await asyncio.sleep(2)
        except TimeoutError:
            felt.gave_up += 1
        await visitor.close()


async def another_layer(visitor: Visitor, dice: random.Random) -> float:
    if "layer" in visitor.widgets:
        return await visitor.set(layer=dice.randrange(1, LAYERS + 1))
    return await visitor.again()


async def a_long_text(visitor: Visitor, dice: random.Random) -> float:
    """Type as much as fits into one message; the network reads only its beginning."""
    return await visitor.set(s=sentence(dice, 200_000)[: MEGABYTE - 100_000])


async def ask_for_memory(server: Server, until: float) -> None:
    """Send endless messages, the longest accepted ones, the same as texts, and files."""
    while time.monotonic() < until:
        await flood.hold(server, 20, 190 * MEGABYTE)
        await flood.hold(server, 300, MEGABYTE - 1)
        await flood.paste(server, 20, 22 * MEGABYTE)
        await flood.paste(server, 20, MEGABYTE - 100_000)
        await flood.send(server, 1, 10, 30 * MEGABYTE)
        await flood.send(server, 20, 1, 30 * MEGABYTE)


async def hostile(server: Server, seats: int, seconds: float) -> None:
    """Print the peak memory, the memory after the visits, and the waiting times."""
    print(f"{seats} hostile seats and {ORDINARY} others, {seconds:g} s", flush=True)
    strange, others, memory = Felt(), Felt(), []

    async def watch() -> None:
        while True:
            memory.append(server.memory())
            await asyncio.sleep(0.1)

    watching = asyncio.create_task(watch())
    until = time.monotonic() + seconds
    visits = [keep_coming(server, until, random.Random(seat), True, strange) for seat in range(seats)]
    visits += [keep_coming(server, until, random.Random(-1 - seat), False, others) for seat in range(ORDINARY)]
    await asyncio.gather(ask_for_memory(server, until), *visits)
    await asyncio.sleep(SETTLED)
    watching.cancel()
    print(f"most {max(memory):.0f} MB, {SETTLED} s after the last visit {memory[-1]:.0f} MB")
    print(f"hostile: {strange}\nothers: {others}")
