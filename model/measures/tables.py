"""Measured tables about parts of networks: the role of each attention head, and the contexts of each neuron.

`python -m model.training evaluate` writes the tables: ours beside the weights, a checkpoint's into a folder of our own.
They hold the weights' SHA-256; a table made from other weights is ignored.
"""

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from model import files
from model.checkpoints.folder import Folder
from model.files import WEIGHTS, WeightsError, intact

HEADS, NEURONS = "heads.json", "neurons.npz"
#: The weight files that determine a pipeline's heads.
MADE_FROM = {"text": ("text.safetensors",), "translation": ("text.safetensors", "translation.safetensors")}
#: The two heads (layer, head, from 0) of our text encoder that were trained on a treebank: model/training/grammar.
TAUGHT: dict[tuple[int, int], Literal["up", "down"]] = {(3, 0): "up", (3, 1): "down"}
THIRDS = ("high", "middle", "low")
LEVELS = {"top": 3, "middle": 2, "low": 2}  # number of contexts kept for each neuron
OFTEN, ABOVE = 1 / 3, 0.1  # least share of a role, and how far it stands above its baseline
Language = Literal["all", "en", "zh"]
T = TypeVar("T")


@dataclass(frozen=True)
class Example:
    """An example in the corpus: `weight` is what token `query` gives to token `key`."""

    text: str  # the sentence as typed; of a translation, its source
    queries: tuple[str, ...]
    keys: tuple[str, ...]  # the same tokens; in cross-attention the source's
    query: int
    key: int
    weight: float


@dataclass(frozen=True)
class Role:
    """A role that holds in a `share` of the `count` places where it applies, `margin` above its baseline.

    name: "next", "previous", "itself", "same" (the same piece elsewhere), "word" (the rest of its word), "relation",
    "delimiter" ([CLS], [SEP]; in the decoder the language), "punctuation", "broad" (spread over at least half of the
    tokens); in cross-attention also "aligned" (the source of the piece just read) and "aligned_next" (of the piece
    written next). A relation has its name in Universal Dependencies, and a direction: "to_head" if the dependent is the
    query, "to_dependent" if its head is. How roles are measured and chosen: model/training/roles.py.
    """

    name: str
    share: float
    margin: float
    count: int
    relation: str | None = None
    direction: Literal["to_head", "to_dependent"] | None = None
    examples: dict[str, tuple[Example, ...]] = field(default_factory=dict)  # by thirds of strength: high, middle, low
    others: tuple["Role", ...] = ()  # its other roles, highest above baseline first; without examples

    @property
    def clear(self) -> bool:
        """Whether the head has this role, as `stands_out` says."""
        return stands_out(self.share, self.share - self.margin)


def stands_out(share: float, baseline: float) -> bool:
    """Whether a head does something often enough to be named by it: in a third of its places, and clearly above what
    chance or a fixed distance gives.
    """
    return share >= OFTEN and share - baseline >= ABOVE


@dataclass(frozen=True)
class Striking:
    """A picture worth showing first: a sentence in which this head's `query` attends to its `key`. Layer, head
    from 0.
    """

    language: str
    text: str
    layer: int
    head: int
    query: int
    key: int
    weight: float
    role: Role


class HeadRoles:
    """The measured roles of all heads of a pipeline."""

    def __init__(self, table: dict) -> None:
        self._table = table
        #: Weight files -> SHA-256.
        self.made_from: dict[str, str] = table["weights"]
        #: "all", and the languages of the corpus that the network knows.
        self.languages: tuple[Language, ...] = tuple(next(iter(table["heads"].values()))[0])

    @cached_property
    def encoder(self) -> "HeadRoles":
        """The roles without those of a decoder's heads."""
        heads = {path: row for path, row in self._table["heads"].items() if path.startswith("layers.")}
        return HeadRoles({**self._table, "heads": heads})

    def of(self, layer: int, head: int, language: Language = "all") -> Role:
        """The role of an encoder's head (layer and head from 0), in one language or all."""
        return self.at(f"layers.{layer}.attention", head, language)

    def at(self, path: str, head: int, language: Language = "all") -> Role:
        """The role of a head of any attention: "layers.2.attention", "decoder.layers.0.cross". Raises KeyError if
        unknown.
        """
        return self._role(self._table["heads"][path][head][language])

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """(path of the attention, head) for each measured head."""
        return ((path, head) for path, heads in self._table["heads"].items() for head in range(len(heads)))

    @cached_property
    def striking(self) -> tuple[Striking, ...]:
        """Pictures of the encoder's heads, the most striking first, both languages."""
        return tuple(Striking(**one, role=self.of(one["layer"], one["head"])) for one in self._table["striking"])

    def first(self, language: str) -> Striking | None:
        """The picture to show first: of a head that follows grammar, preferring frequent and strong ones; if there is
        none, the most striking one.
        """
        own = [picture for picture in self.striking if picture.language == language]
        grammar = [picture for picture in own if picture.role.relation and picture.role.clear]
        return max(grammar, key=lambda one: one.weight * one.role.share) if grammar else next(iter(own), None)

    def _role(self, row: dict) -> Role:
        examples = {third: tuple(map(self._example, some)) for third, some in row.get("examples", {}).items()}
        others = tuple(self._role(other) for other in row.get("others", ()))
        return Role(**{**row, "examples": examples, "others": others})

    def _example(self, row: Sequence) -> Example:
        number, query, key, weight = row
        sentence = self._table["sentences"][number]
        keys = tuple(sentence["keys"])
        return Example(sentence["text"], tuple(sentence.get("queries", keys)), keys, query, key, weight)


@dataclass(frozen=True)
class Context:
    """A place in the corpus that activates a neuron."""

    tokens: tuple[str, ...]  # the whole sentence
    place: int
    activation: float

    def around(self, most: int = 4) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
        """The piece, and at most so many pieces before and after it."""
        left, right = self.tokens[max(0, self.place - most) : self.place], self.tokens[self.place + 1 :][:most]
        return left, self.tokens[self.place], right


@dataclass(frozen=True)
class NeuronContexts:
    """Contexts of a neuron. `active`: share of the corpus's pieces with an activation above 0.

    `top`: the strongest places, each in another sentence; `middle`: at the median of its positive activations; `low`:
    at their lowest tenth. A rarely active neuron has fewer, or none.
    """

    active: float
    top: tuple[Context, ...]
    middle: tuple[Context, ...]
    low: tuple[Context, ...]


@dataclass(frozen=True)
class Home:
    """Folder of a network's tables, and the weights they must be made from: file -> SHA-256."""

    folder: Path
    weights: Mapping[str, str]

    @property
    def mark(self) -> str:
        """The weights' hashes as one text."""
        return "+".join(self.weights.values())


@cache
def fingerprint(path: Path, _state: Hashable = None) -> str:
    """The SHA-256 of a file, in hexadecimal; cached, by `state` if given."""
    return files.fingerprint(path)


def kept() -> Path:
    """The folder for tables of checkpoints, whose own folders are never written to."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "glass-encoder"


def home(name: str) -> Home | None:
    """The tables' folder for "text", "translation" or a checkpoint's folder; None for other networks.

    A checkpoint's is found by its weights, wherever it is. Raises CheckpointError for a damaged folder.
    """
    if name in MADE_FROM:
        paths = [WEIGHTS / file for file in MADE_FROM[name]]
        return (
            Home(WEIGHTS, {path.name: fingerprint(path) for path in paths}) if all(p.exists() for p in paths) else None
        )
    if not (Path(name) / "config.json").exists():
        return None
    folder = Folder(Path(name))
    found = {file: path.resolve() for file in folder.weight_files() if (path := folder.file(file))}
    weights = {file: fingerprint(path, files.state(path)) for file, path in found.items()}
    return Home(kept() / hashlib.sha256("".join(weights.values()).encode()).hexdigest()[:16], weights)


def head_roles(name: str = "text") -> HeadRoles | None:
    """The head table of "text", "translation" (which has text's encoder), or a checkpoint's folder.

    None if there is no table for these weights. Raises WeightsError for a table of ours that is "damaged", or whose
    .sha256 is "missing".
    """
    if (found := _table(name, HEADS, _read_heads)) is None:
        return None
    where, roles = found
    if not where.weights.items() <= roles.made_from.items():
        return None
    return roles if name == "translation" else roles.encoder


def neuron_contexts(name: str, layer: int, neuron: int) -> NeuronContexts | None:
    """Contexts of a neuron of the encoder of "text" and "translation", or of a checkpoint's folder.

    Layer and neuron from 0. None and WeightsError as in `head_roles`; IndexError for a neuron beyond the table.
    """
    if (found := _table("text" if name == "translation" else name, NEURONS, _read_neurons)) is None:
        return None
    where, table = found
    if str(table["weights"]) != where.mark:
        return None
    contexts = []
    for place, activation in zip(table["places"][layer, neuron], table["activations"][layer, neuron], strict=True):
        sentence = np.searchsorted(table["starts"], place, side="right") - 1
        start, end = table["starts"][sentence : sentence + 2]
        tokens = tuple(map(str, table["vocabulary"][table["pieces"][start:end]]))
        contexts.append(Context(tokens, int(place - start), float(activation)))
    ends = np.cumsum([0, *LEVELS.values()])
    levels = [
        tuple(context for context in contexts[start:end] if context.activation > 0) for start, end in pairwise(ends)
    ]
    return NeuronContexts(float(table["active"][layer, neuron]), *levels)


def _table(name: str, file: str, read: Callable[[Path], T]) -> tuple[Home, T] | None:
    """A network's table, parsed by `read`, with its home; None if there is none.

    A damaged table of a checkpoint counts as missing, so that it is made again.
    """
    if name not in MADE_FROM and not kept().is_dir():
        return None  # without computing the SHA-256 of large weights
    where = home(name)
    if where is None or not (where.folder / file).exists():
        return None
    try:
        return where, read(where.folder / file)
    except WeightsError:
        if name in MADE_FROM:
            raise
        return None


@cache
def _read_heads(path: Path) -> HeadRoles:
    try:
        roles = HeadRoles(json.loads(intact(path).read_text(encoding="utf-8")))
        for attention, head in roles:  # parse each row once, so that none fails later
            for language in roles.languages:
                roles.at(attention, head, language)
        _ = roles.striking, roles.made_from.items()
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise WeightsError("damaged", HEADS) from error
    return roles


@cache
def _read_neurons(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(intact(path), allow_pickle=False) as file:
            names = ("weights", "vocabulary", "pieces", "starts", "active", "places", "activations")
            table = {name: file[name] for name in names}
        fits = (
            table["places"].shape == table["activations"].shape == (*table["active"].shape, sum(LEVELS.values()))
            and table["starts"][-1] == len(table["pieces"])
            and table["places"].max() < len(table["pieces"])
            and table["pieces"].max() < len(table["vocabulary"])
        )
    except (OSError, ValueError, KeyError, IndexError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise WeightsError("damaged", NEURONS) from error
    if not fits:
        raise WeightsError("damaged", NEURONS)
    return table
