"""`make class` and `make soak`: a class clicks through the app on this machine; prints response times and costs.

Visitors are web sockets on 127.0.0.1, without browsers. Each has its own sentence, waits between clicks as people do,
and clicks again only after the last answer. A response time runs from a click to the last message of its answer.
"""

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import psutil

from tests.classroom.hostile import hostile
from tests.classroom.server import Server, serve
from tests.classroom.visitor import Visitor

MOST_VISITORS, MOST_SECONDS = 200, 4 * 3600
WALK = ("attention", "heads", "layers", "answer")
WORDS = (
    "animal bird boat bridge cat child city cold dog door friend garden green happy horse house large little man "
    "market morning mountain music night old open park quiet river road school sea small street summer table teacher "
    "tired train tree village walk warm water white window winter woman young"
)


@dataclass
class Place:
    """Pages among which visitors click."""

    name: str
    pages: tuple[str, ...]


@dataclass
class Felt:
    """Response times and costs of one class."""

    clicks: list[tuple[str, float]]  # (kind, seconds); kinds: "choice", "sentence", "page"
    cpu: float  # seconds of the server per run
    bytes: float  # per run
    memory: float  # MB, of the largest worker
    lost: int  # broken connections
    charts: int  # most on a page
    generator: float  # share of one core that the visitors used; near 1, they are the bottleneck

    def percentile(self, percent: int, done: str | None = None) -> float:
        """Milliseconds, of all clicks or those of one kind; NaN if there were none."""
        seconds = [second for what, second in self.clicks if done in (None, what)]
        return float(np.percentile(seconds, percent)) * 1e3 if seconds else float("nan")


def sentence(dice: random.Random) -> str:
    """Twelve words in random order."""
    return f"the {' '.join(dice.sample(WORDS.split(), 11))} ."


async def click(visitor: Visitor, place: Place, dice: random.Random) -> tuple[str, float]:
    """Do one thing; returns its kind and seconds. Usually another head, layer or, on pages without heads, tab."""
    rows = {"head": 10, "layer": 5} if "head" in visitor.widgets else {f"{visitor.path}.tabs": 15}
    likely = {**rows, "s": 2, "": 3 if len(place.pages) > 1 else 0}
    key = dice.choices([*likely], [*likely.values()])[0]
    if key == "":
        return "page", await visitor.go(dice.choice([page for page in place.pages if page != visitor.path]))
    if key == "s":
        return "sentence", await visitor.set(s=sentence(dice))
    others = [option for option in visitor.options(key) if option != visitor.value(key)]
    return "choice", await visitor.set(**{key: dice.choice(others)})


async def come(server: Server, place: Place, dice: random.Random) -> Visitor:
    visitor = Visitor(server.address)
    await visitor.open(dice.choice(place.pages), urlencode({"s": sentence(dice)}))
    return visitor


async def keep_clicking(
    visitor: Visitor, place: Place, think: float, until: float, dice: random.Random
) -> list[tuple[str, float]]:
    clicks, charts = [], 0
    await asyncio.sleep(dice.uniform(0, think))
    while time.monotonic() < until:
        clicks.append(await click(visitor, place, dice))
        charts = max(charts, visitor.charts)
        await asyncio.sleep(dice.uniform(0.5, 1.5) * think)
    visitor.charts = charts
    return clicks


async def classroom(server: Server, place: Place, number: int, think: float, seconds: float) -> Felt:
    """Let `number` visitors come, click for some seconds, and leave."""
    async with first_visitor(server, place):
        dice = [random.Random(seed) for seed in range(number)]
        visitors = []
        for one in dice:  # one by one: how long a class takes to arrive is measured elsewhere
            visitors.append(await come(server, place, one))
        runs, received = sum(one.runs for one in visitors), sum(one.bytes for one in visitors)
        cpu, own = server.cpu(), time.process_time()
        start = time.monotonic()
        until = start + seconds
        tasks = [keep_clicking(one, place, think, until, its) for one, its in zip(visitors, dice, strict=True)]
        clicks = await asyncio.gather(*tasks)
        runs = max(1, sum(one.runs for one in visitors) - runs)
        felt = Felt(
            clicks=[one for some in clicks for one in some],
            cpu=(server.cpu() - cpu) / runs,
            bytes=(sum(one.bytes for one in visitors) - received) / runs,
            memory=server.memory(),
            lost=sum(one.lost for one in visitors),
            charts=max(one.charts for one in visitors),
            generator=(time.process_time() - own) / (time.monotonic() - start),
        )
        for one in visitors:
            await one.close()
    return felt


@asynccontextmanager
async def first_visitor(server: Server, place: Place) -> Iterator[None]:
    """Open each page on each worker first, so that nobody waits for what is loaded only once."""
    early = []
    for _ in server.workers():
        visitor = await come(server, place, random.Random(-1))
        for page in place.pages[1:] and place.pages:
            if page != visitor.path:
                await visitor.go(page)
        early.append(visitor)
    yield
    for visitor in early:
        await visitor.close()


def report(args: argparse.Namespace) -> None:
    """Print the tables of `make class`: one per number of visitors, a row for each place."""
    workers = "one process" if args.workers is None else f"{args.workers} workers behind nginx"
    print(f"{workers} on {psutil.cpu_count()} cores, a click every {args.think:g} s, {args.seconds:g} s for each row")
    print("p50, p95 in ms: of all clicks; of choices of a head, layer or tab alone; of new sentences; of new pages\n")
    for number in args.visitors:
        names = [("four pages", WALK) if name == "walk" else (name, (name,)) for name in args.places]
        rows = [as_row(name, measure(Place(name, pages), number, args)) for name, pages in names]
        print(f"{number} visitors\n{pd.DataFrame(rows).to_string(index=False)}\n", flush=True)


def as_row(name: str, felt: Felt) -> dict[str, str]:
    return {
        "place": name,
        "clicks": f"{len(felt.clicks)}",
        "p50": f"{felt.percentile(50):.0f}",
        "p95": f"{felt.percentile(95):.0f}",
        "choice p95": f"{felt.percentile(95, 'choice'):.0f}",
        "sentence p95": f"{felt.percentile(95, 'sentence'):.0f}",
        "page p95": f"{felt.percentile(95, 'page'):.0f}",
        "CPU ms/run": f"{felt.cpu * 1e3:.0f}",
        "kB/run": f"{felt.bytes / 1e3:.0f}",
        "charts": f"{felt.charts}",
        "memory MB": f"{felt.memory:.0f}",
        "lost": f"{felt.lost}",
        "generator": f"{felt.generator:.0%}",
    }


def measure(place: Place, number: int, args: argparse.Namespace) -> Felt:
    """Measure a class on fresh servers."""
    with serve(workers=args.workers) as server:
        return asyncio.run(classroom(server, place, number, args.think, args.seconds))


async def stints(server: Server, place: Place, think: float, until: float, dice: random.Random) -> int:
    """One seat: visitors come, click for a while and leave, until time is up. Returns their number."""
    number = 0
    while time.monotonic() < until:
        visitor = await come(server, place, dice)
        await keep_clicking(visitor, place, think, min(until, time.monotonic() + dice.uniform(30, 120)), dice)
        await visitor.close()
        number += 1
    return number


async def soaked(server: Server, seats: int, think: float, seconds: float) -> None:
    """Print the memory twenty times while visitors come and go, then a summary."""
    place = Place("four pages", WALK)
    print(
        f"{seats} seats, a click every {think:g} s, visitors come and go, {seconds:g} s\n  minute  memory MB",
        flush=True,
    )
    async with first_visitor(server, place):
        print(f"{'empty':>8}  {server.memory():9.0f}", flush=True)
        start = time.monotonic()
        until = start + seconds
        visits = [
            asyncio.create_task(stints(server, place, think, until, random.Random(seat))) for seat in range(seats)
        ]
        memory = []
        for turn in range(1, 21):
            await asyncio.sleep(max(0, start + seconds * turn / 20 - time.monotonic()))
            memory.append(server.memory())
            print(f"{seconds * turn / 1200:8.1f}  {memory[-1]:9.0f}", flush=True)
        visitors = sum(await asyncio.gather(*visits))
    begin, half, end = memory[0], memory[9], memory[19]
    print(f"{visitors} visitors. Start {begin:.0f} MB, half {half:.0f} MB, end {end:.0f} MB ({end / half - 1:+.1%}).")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.classroom", description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    for what, visitors, think in (("class", [10, 30, 60, 100], 2), ("soak", [30], 5)):
        command = commands.add_parser(what)
        several = {"nargs": "+"} if what == "class" else {"nargs": 1}
        command.add_argument("--visitors", type=int, default=visitors, metavar="N", **several)
        command.add_argument("--workers", type=int, help="servers behind nginx; without it, one server and no nginx")
        command.add_argument("--think", type=float, default=think, help="seconds from an answer to the next click")
        command.add_argument(
            "--seconds", type=float, help="how long visitors click: 20, in a soak 3600, in a hostile one 60"
        )
    command = commands.choices["class"]
    command.add_argument("--places", nargs="+", default=["walk"], help="pages by name; “walk”: four pages in turn")
    commands.choices["soak"].add_argument(
        "--hostile", action="store_true", help="visitors who ask for the most that a link can ask for"
    )
    args = parser.parse_args()
    if args.seconds is None:
        args.seconds = 20 if args.what == "class" else 60 if args.hostile else 3600
    if not all(1 <= number <= MOST_VISITORS for number in args.visitors):
        sys.exit(f"A class has 1 to {MOST_VISITORS} visitors.")
    if not 1 <= args.seconds <= MOST_SECONDS:
        sys.exit(f"A class takes 1 to {MOST_SECONDS} seconds.")
    if args.what == "class":
        report(args)
    else:
        with serve(workers=args.workers) as server:
            if args.hostile:
                asyncio.run(hostile(server, args.visitors[0], args.seconds))
            else:
                asyncio.run(soaked(server, args.visitors[0], args.think, args.seconds))


if __name__ == "__main__":
    main()
