"""`python -m tests.fuzz_links`: links from their grammar, opened on their pages; others, damaged, read and written.

The grammar is that of Choice: for each of its fields values as a link holds them, and values that nobody can have
chosen (too long, empty, of another kind, with separators within). Nothing may end a visit, nor take longer than MOST
seconds of the processor. The tests take a fixed part of both.
"""

import argparse
import re
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from urllib.parse import parse_qsl, quote, urlencode

import numpy as np

from model import Edit
from model.config import DECODER, PRESETS
from model.edits import OPERATIONS, operations_at
from model.examples import READY
from model.graph import graph
from pages.ui.frame.frame import PAGES
from pages.ui.state import choice, pictures, sketch
from pages.ui.state.choice import FIELDS, Choice, Field
from pages.ui.state.goal import GOAL
from pages.ui.state.link_values import DRAWING, EDITS, HIDDEN, IDS, NAME, PLACE, TEXT
from pages.ui.state.offered import offered
from pages.ui.text import LANGUAGES, catalogue
from tests.pages.opening import at_page, turn_to

MOST = 5.0
VISIT = 10  # after each so many links, the visitor goes on to another page
Link = dict[str, str]
GRAPHS = (graph(PRESETS["text"], DECODER), graph(PRESETS["text"]), graph(PRESETS["digits"]), graph(PRESETS["flat"]))
ODD = """i|我|😀😀|the [MASK] [MASK] .|[PAD] [CLS] [SEP] [UNK]|the cat 😀 sat|<b>x</b> $x$ `y` :z: [u](v)|a,=1+1;x
é ﬁ Ⅷ ½ ％７Ｅ～＝|a\u202eb\u0000c\ufeff\u200b|\ta\rb"""
SENTENCES = [*READY["en"], *READY["zh"], *re.split(r"\||\n", ODD), ODD, "", " ", "word " * 80, "我" * 400]
NUMBERS = [str(number) for number in (*range(5), 7, 8, 12, 64, 100, 256, 1000, 1024, 16_384, 999_999, 1_000_000)]
AMOUNTS = [*map(str, (0, 1, -1, 0.5, 2, 3.25, -100, 100, 1e-3, 1e-300, -0.0, 10_000, 999_999))]
GOALS = ["first.3.0a1b2c.在", "first.1.0a1b2c.a.b", "oneway.90.5"]
NO_AMOUNTS = ["nan", "inf", "-inf", "1e999", "1_0", "٣"]
#: What an address, a part of a value or an escape could stumble on.
PIECES = """~|~~|.|..|_|%|%7E|%25|%257E|%00|%ff|%ed%a0%80|+|-|0|-1|٣|１|none|true|True|own|{l}|{|é|我|\u202e|\u0000
text.|ink.|picture.|source.text.|norm~patch~source.text.|value.1e3|from_token.1|layers.|decoder.| ||\U0010ffff"""
LONG = [*(one * 401 for one in "a~._"), "a" * 8001, "9" * 5000, "1." * 4000]
SIGNS = [*re.split(r"\||\n", PIECES), *NO_AMOUNTS, *LONG]
#: What stands in place of what went wrong: nobody should ever read it.
EXCUSES = [catalogue(name)[f"error.{key}"] for name in LANGUAGES for key in ("unexpected", "link_unread")]


@cache
def words() -> list[str]:
    """All that the grammar may call by a word: what choice.py names, pictures, offered networks, and some numbers."""
    named = re.findall(r'"([\w.]+)"', Path(choice.__file__).read_text("utf-8"))
    return sorted({*named, *PRESETS, *pictures.PICTURES, *offered(), "true", "false", *NUMBERS})


@cache
def names(field: str) -> list[str]:
    """What pages call their parts and quantities."""
    if field == "panel":
        return [key.split(".panel_")[1] for key in catalogue("en") if ".panel_" in key]
    if field == "block":
        return ["embedding", "attention", "cross", "ffn", "next"]
    return sorted({quantity.key.rpartition(".")[2] for graph in GRAPHS for quantity in graph}) + words()


@cache
def allowed(field: Field) -> list[str]:
    """The words that this field takes."""

    def takes(word: str) -> bool:
        try:
            field.kind.read(word)
        except ValueError:
            return False
        return True

    return list(filter(takes, words()))


def ink(dice: Random) -> bytes:
    """A drawing: an example, an empty or full pad, or what no hand has drawn."""
    scribble = np.random.default_rng(dice.randrange(100)).integers(0, 4, (sketch.SIDE, sketch.SIDE))
    return dice.choice([sketch.example(dice.randrange(10)), bytes(3136), b"\xff" * 3136, sketch.pack(scribble)])


def place(dice: Random) -> int:
    return dice.choice([0, 0, 1, 2, 3, 5, 7, dice.randrange(70), dice.randrange(1100), 999_998])


def edit(dice: Random) -> Edit:
    """A change that mostly fits the run of some network; what its operation has no use for it mostly lacks."""
    where = dice.choice(GRAPHS)
    quantity = dice.choice(list(where))
    key = dice.choice([quantity.key, quantity.row])
    operation = dice.choice(list(operations_at(where, key) if dice.random() < 0.95 else OPERATIONS) or ["zero"])
    row = OPERATIONS[operation]
    sources = [*SENTENCES, *map(pictures.ready, pictures.READY), sketch.ink(sketch.example(3)), ink(dice), b""]
    fields = [*row.needs, *(name for name in row.takes if dice.random() < 0.7)]
    fields += [name for name in row.narrowed_by if dice.random() < 0.3]
    if dice.random() < 0.05:
        fields.append(dice.choice(["value", "source", "seed", "head", "token", "neuron", "from_looked_at"]))
    values: dict[str, object] = {name: place(dice) for name in fields}
    some = {"value": float(dice.choice([*AMOUNTS, "1", "2", "3"])), "source": dice.choice(sources)}
    return Edit(key, operation, **values | {name: value for name, value in some.items() if name in fields})


def written_well(field: Field, dice: Random) -> str:
    """A value as a link may hold it."""
    if field.kind is EDITS:
        return EDITS.write([edit(dice) for _ in range(dice.choice([1, 1, 1, 2, 3, 16]))])
    if field.kind is TEXT:
        return dice.choice(SENTENCES)
    if field.kind is DRAWING:
        return sketch.to_code(ink(dice))
    if field.kind is NAME:
        return dice.choice(names(field.name))
    if field.kind is PLACE:
        return PLACE.write(place(dice))
    if field.kind in (HIDDEN, IDS):
        return ".".join(str(dice.randrange(1, 12)) for _ in range(dice.randrange(1, 6)))
    if field.kind is GOAL:
        return dice.choice(GOALS)
    return dice.choice(allowed(field))


def written_wrong(field: Field, dice: Random) -> str:
    """A value that nobody can have chosen, or hardly: something odd instead of it, in it, or of another kind."""
    return damaged(written_well(dice.choice(FIELDS) if dice.random() < 0.2 else field, dice), dice)


def damaged(text: str, dice: Random) -> str:
    """The text with something taken away, doubled, put in between, escaped, or changed."""
    parts = re.split(r"([~._])", text)
    which, sign = dice.randrange(len(parts)), dice.choice(SIGNS)
    start, end = sorted((dice.randrange(len(text) + 1), dice.randrange(len(text) + 1)))
    match dice.randrange(8):
        case 0:
            return sign
        case 1:
            parts[which] = sign
            return "".join(parts)
        case 2:
            parts[which] *= dice.choice([0, 2, 40, 401])
            return "".join(parts)[:20_000]
        case 3:
            return text[:start] + sign + text[end:]
        case 4:
            return text[:start] + text[end:]
        case 5:
            return text[:start] + quote(quote(text[start:end], safe=""), safe="") + text[end:]
        case 6:
            return text[:end] + text[start:]
        case _:
            return re.sub(r"\d", lambda _: str(dice.randrange(10)), text)


def grown(dice: Random) -> Link:
    """A link of the grammar: some values good, few of them wrong, for any input."""
    some = dice.choice([1, 3, 6, 12])
    chosen = [field for field in FIELDS if field.name in ("input", "s") or dice.random() < some / len(FIELDS)]
    if dice.random() < 0.4:
        chosen.append(next(field for field in FIELDS if field.name == "edits"))
    wrong = dice.choice([0.0, 0.1, 0.5])
    return {
        field.name: (written_wrong if dice.random() < wrong else written_well)(field, dice)
        for field in FIELDS
        if field in chosen
    }


def mutated(link: Link, dice: Random) -> Link:
    """The link with one to three of its values damaged, or under another's name."""
    made = dict(link)
    for _ in range(dice.randrange(1, 4)):
        name = dice.choice(list(made))
        text = made[name] if dice.random() < 0.9 else made.pop(name)
        made[name if dice.random() < 0.9 else dice.choice(FIELDS).name] = damaged(text, dice)
    return made


def addressed(link: Link) -> Link:
    """The link as it comes out of an address."""
    return dict(parse_qsl(urlencode(link), keep_blank_values=True))


def read_again(link: Link) -> None:
    """Read a link and write what it says: that must mean the same."""
    start = time.process_time()
    choice, problems = Choice.from_link(addressed(link))
    assert {problem.name for problem in problems} <= link.keys()
    assert Choice.from_link(addressed(choice.to_link())) == (choice, ())
    assert time.process_time() - start < MOST


def open_it(link: Link, *pages: str) -> None:
    """Open a link on a page, and from there other pages. Nothing may go wrong on any."""
    app = at_page(pages[0], **link)
    for page in pages:
        start = time.process_time()
        turn_to(app, page).run()
        seconds = time.process_time() - start
        wrong = [part.value for part in [*app.error, *app.warning] if part.value in EXCUSES]
        wrong += [part.value for part in app.exception]
        assert not wrong, f"on {page}: {wrong}"
        assert seconds < MOST, f"on {page}: {seconds:.1f} s"


def fuzz(pages: int, reads: int, seed: int) -> Iterator[tuple[str, str]]:
    """(address, what went wrong on it, if anything) of each link: first those that are opened, then those only read."""
    dice = Random(seed)
    shown = [row.name for row in PAGES]
    for number in range(pages + reads):
        page, link = shown[number % len(shown)], grown(dice)
        wrong = ""
        try:
            if number < pages:
                open_it(link, page, *[dice.choice(shown)] * (number % VISIT == 0))
            else:
                link = mutated(link, dice)
                read_again(link)
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        yield f"/{page}?{urlencode(link)}", wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000, help="links that are opened")
    parser.add_argument("--reads", type=int, default=100_000, help="damaged links that are read and written")
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args()
    bad = 0
    for address, wrong in fuzz(told.pages, told.reads, told.seed):
        if wrong:
            bad += 1
            print(address, wrong, sep="\n", flush=True)
    sys.exit(f"{told.pages} links opened, {told.reads} read and written: {bad} bad")


if __name__ == "__main__":
    main()
