"""Links from their grammar, as a page may have written them or as nobody can have: for tests of reading and opening.

The grammar is that of Choice: for each of its fields values as a link holds them, and values that nobody can have
chosen (too long, empty, of another kind, with separators within).
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from urllib.parse import parse_qsl, quote, urlencode

import numpy as np
from hypothesis import strategies as st

from model import Edit
from model.activations import OF_LAYERS
from model.config import DECODER, PRESETS
from model.edits import OPERATIONS, operations_at
from model.examples import READY
from model.graph import graph
from model.pipeline import MOST_CHARACTERS
from pages.drawing.state import choice, images, sketch
from pages.drawing.state.choice import FIELDS, Choice, Field
from pages.drawing.state.goal import GOAL
from pages.drawing.state.link_values import DRAWING, EDITS, HIDDEN, IDS, NAME, PLACE, TEXT
from pages.drawing.state.offered import offered
from pages.drawing.text import LANGUAGES, catalogue
from pages.screen.frame import contents

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
#: What people write, and what a link, a chart or an escape could stumble on.
TYPED = st.text(max_size=MOST_CHARACTERS) | st.text("我爱你。😀 &%#+=~.?/\\;<b>$`\n[MASK]%25%7E~~", max_size=60)


@cache
def words() -> list[str]:
    """All that the grammar may call by a word: what choice.py names, pictures, offered networks, and some numbers."""
    named = re.findall(r'"([\w.]+)"', Path(choice.__file__).read_text("utf-8"))
    return sorted({*named, *PRESETS, *images.PICTURES, *offered(), *OF_LAYERS, "true", "false", *NUMBERS})


@cache
def names(field: str) -> list[str]:
    """What pages call their parts and quantities."""
    if field == "tab":
        return [key.split(".tab_")[1] for key in catalogue("en") if ".tab_" in key]
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
    sources = [*SENTENCES, *map(images.ready, images.READY), sketch.ink(sketch.example(3)), ink(dice), b""]
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
        several = ".".join(str(dice.randrange(1, 12)) for _ in range(dice.randrange(6)))
        return several or ("none" if field.kind is HIDDEN else "7")
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


@st.composite
def any_choice(draw: st.DrawFn) -> Choice:
    """One that a link of the grammar leads to; where texts are chosen, any that people may type."""
    choice, _ = Choice.from_link(grown(Random(draw(st.integers()))))
    if choice.input != "sentence":
        return choice
    edits = (replace(edit, source=draw(TYPED)) if isinstance(edit.source, str) else edit for edit in choice.edits)
    return replace(choice, sentence=draw(TYPED), other=draw(st.none() | TYPED), edits=tuple(edits))


choices = any_choice()


# -- every tab ---------------------------------------------------------------------------------------------------------

PAGES = contents.NAMES
WORDS_ONLY = {row.name for row in contents.pages() if row.words_only}
#: The tabs of each page, by the words that they have.
TABS = {
    name: [key.rpartition("tab_")[2] for key in catalogue("en") if key.startswith(f"{name}.tab_")] or [""]
    for name in PAGES
}
CAT, DOG = "the cat [MASK] the dog .", "the dog [MASK] the small cat ."
#: Each operation on a run, at least once.
CHANGES = (
    "layers.2.attention.heads~zero~head.2",
    "layers.{l}.attention.output~scale~value.2.0",
    "layers.2.ffn.activation~set~value.-3.5~neuron.8",
    "embedding.sum~noise~value.0.5~seed.3",
    "layers.1.attention.heads~mean~head.5",
    f"layers.1.norm_2~patch~token.3~source.text.{DOG}~from_token.3",
    "embedding.tokens~swap~token.3~from_token.6",
    "embedding.sum~remove~token.3",
    "layers.{l}.attention.scaled~unscaled",
    "layers.{l}.attention.output~unmixed",
    "layers.2.attention.scaled~temperature~value.0.3",
    "layers.2.attention.weights~hard~head.2",
    "layers.2.attention.weights~even",
    "layers.{l}.attention.masked~causal",
    "layers.2.attention.masked~window~value.1.0",
    "layers.2.attention.masked~special",
    "layers.{l}.attention.masked~hide~token.6~looked_at.3",
    "embedding.positions~shuffle~seed.1",
    "embedding.positions~shift~value.3.0",
    "layers.2.add_1~without",
    "layers.2.norm_1~bypass",
    "decoder.layers.{l}.attention.masked~unmasked",
    "embedding.positions~sinusoidal",
)
#: How the runs of a page are shown: side by side; one less the other; and the changed one alone. Each tab has two ways,
#: and the tabs take turns.
WAYS = (("beside", "beside"), ("difference", "against"), ("", "changed"))


def _covering() -> Iterator[tuple[str, Link]]:
    """Each tab in two ways, in languages, layers, heads and changes that take turns; drawings in between."""
    tabs = enumerate((page, tab) for page in PAGES for tab in TABS[page])
    rows = [
        (page, tab, shown)
        for number, (page, tab) in tabs
        for way in (number, number + 1)
        if (shown := WAYS[way % 3][number // 3 % 2])
    ]
    for turn, (page, tab, shown) in enumerate(rows):
        place = {"layer": str(1 + turn % 5), "head": str(1 + turn % 4), "token": "3", "key": "2", "component": "6"}
        link = {"lang": tuple(LANGUAGES)[turn % 2], "tab": tab, **place, "part": "4", "neuron": "8"}
        drawn = turn % 4 == 3 and page not in WORDS_ONLY
        link |= {"input": "digit", "ink": sketch.to_code(sketch.example(turn % 10))} if drawn else {"s": CAT}
        if shown in ("changed", "difference"):
            link["edits"] = CHANGES[turn % len(CHANGES)]
        else:
            link |= {"other_ink": sketch.to_code(sketch.example(3))} if drawn else {"other": DOG}
        yield page, {name: value for name, value in (link | {"shown": shown}).items() if value}


LINKS = list(_covering())
