"""A reader for the input, a network, and the way from one to a Trace."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf
from numbers import Integral
from threading import Lock
from typing import Any, ClassVar, Protocol, Self, overload
from unicodedata import normalize
from weakref import ref

import numpy as np
import torch
from cachetools import LRUCache, cached
from cachetools.keys import hashkey
from tokenizers import Encoding, Tokenizer
from tokenizers.models import WordPiece
from torch import Tensor

from model import examples
from model.batches import MOST_TOKENS, SORTED, alike, for_all, part, together
from model.changes import Change, bind, idle, watched
from model.config import EncoderConfig
from model.edits import PARTS, Edit, EditError, Surroundings, as_edits
from model.encoder import Encoder
from model.errors import ReasonedError, nearest
from model.saved import Kept
from model.sweep import sweep
from model.trace import Guess, Note, Recording, Trace, check_finite, graph_of, hooked, record, recorded
from model.variants.pooled import Pooled

MOST_SOURCES = 24_000_000  # bytes of other inputs' runs, kept for patches: nine of ours with 15 tokens
MOST_INSIDE = 64_000_000  # bytes inside the layers of a run; the inside of a larger one is computed when asked for
MOST_CHARACTERS = 2000  # of a sentence, or more where a model reads more: what is beyond is cut before it is even split
OF_A_PIECE = 20  # characters: hardly one is longer
#: Letters, digits, and accents that stand by themselves; Chinese characters are no part of the words beside them.
WORD = re.compile(r"(?:[^\W\u3400-\u9fff]|[\u0300-\u036f])+")
SPECIAL = re.compile(r"\[(PAD|UNK|CLS|SEP|MASK)\]")
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

#: Runs that patches come from, of all pipelines: people change many things with the same source. The latest is kept
#: whatever its size.
_sources: LRUCache[Hashable, Recording] = LRUCache(MOST_SOURCES, getsizeof=lambda run: min(run.nbytes, MOST_SOURCES))
_sources_lock = Lock()


def forget_sources() -> None:
    """Let go of the runs that patches came from, and of the networks that they were computed with."""
    with _sources_lock:
        _sources.clear()


class InputError(ReasonedError):
    """An input that cannot be read. `reason`: "empty", "unknown_only", "not_cut", "not_an_image", "not_from_0_to_1"."""

    sentences: ClassVar = {
        "empty": "the sentence is empty",
        "unknown_only": "the vocabulary has no piece for any of this: {symbols}",
        "not_cut": "the tokenizer fails on this sentence",
        "not_an_image": "this is no picture that this network reads: a file's bytes, or an array of its size",
        "not_from_0_to_1": (
            "this picture goes from {least:g} to {most:g}; from 0 to 1 is wanted, or in whole numbers (uint8) to 255"
        ),
    }


@dataclass(frozen=True)
class Reading:
    """An input as the network takes it, and as a person reads it."""

    tensor: Tensor
    tokens: list[str]
    ids: list[int]
    notes: tuple[Note, ...] = ()
    segments: tuple[int, ...] = ()  # which sentence each token belongs to, where the network tells two apart

    @property
    def inputs(self) -> tuple[Tensor | None, ...]:
        """What the network is called with."""
        return (self.tensor, None, torch.tensor([self.segments])) if self.segments else (self.tensor,)


class Reader(Protocol):
    """Turns an input into a Reading, and logits into guesses."""

    vocabulary: Sequence[str]  # the words that ids and masked-word logits stand for; of pictures none
    labels: tuple[str, ...]  # the classes that a classifier's logits stand for; none without one

    def read(self, x: object) -> Reading: ...

    def guesses(self, logits: Tensor, reading: Reading) -> tuple[Guess, ...]: ...

    def examples(self) -> Iterable[object]:
        """Inputs over which the mean of a quantity is taken; there may be none."""


def plain(x: object) -> object:
    """The ids of one sentence as a tuple, however they are given; anything else as it is."""
    ids = x["input_ids"] if isinstance(x, Mapping) and "input_ids" in x else x
    ids = ids.tolist() if hasattr(ids, "tolist") else ids
    if isinstance(ids, tuple | list) and len(ids) == 1 and isinstance(ids[0], tuple | list):
        ids = ids[0]
    return tuple(ids) if isinstance(ids, tuple | list) else x


class TextReader:
    """Sentences: WordPiece pieces between [CLS] and [SEP], at most `max_len` of them."""

    vocabulary: Sequence[str]
    labels: tuple[str, ...] = ()
    space = ""  # what its own list writes for a space, where the pieces are shown otherwise

    def __init__(self, tokenizer: Tokenizer, max_len: int) -> None:
        self.tokenizer = tokenizer
        self.max_len = max_len
        self.most = max(MOST_CHARACTERS, OF_A_PIECE * max_len)  # characters
        self.vocabulary = [word for word, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]

    def read(self, x: object) -> Reading:
        """x: a sentence; or ids as an earlier Reading has them ([CLS] and [SEP] included), in a tuple, a list or a
        tensor, or under "input_ids", as a tokenizer of transformers gives them.

        Raises InputError for a sentence in which nothing can be read, TypeError for what is neither, ValueError for ids
        that are not in the vocabulary, none, or too many.
        """
        if isinstance(x := plain(x), tuple):
            return self.reading(self._checked(x))
        if not isinstance(x, str):
            raise TypeError(f"a sentence is a str, or the ids of its pieces; this is a {type(x).__name__}")
        text = x[: self.most]
        sentences, encoding = self.sentences(text), self.encode(text)
        ids = encoding.ids
        names = [self.vocabulary[i] for i in ids]
        pieces = [i for i, name in enumerate(names[: self.max_len - 1]) if name not in ("[CLS]", "[SEP]")]
        unknown = [
            sentences[encoding.sequence_ids[i] or 0][slice(*encoding.offsets[i])] for i in pieces if names[i] == "[UNK]"
        ]
        if not pieces:
            raise InputError("empty")
        if len(unknown) == len(pieces):
            raise InputError("unknown_only", symbols=unknown)
        notes = []
        if unknown:
            notes.append(Note("unknown", {"symbols": list(dict.fromkeys(unknown))}))
        if len(ids) > self.max_len or len(x) > self.most:
            notes.append(Note("truncated", {"most": self.max_len, "rest": max(0, len(ids) - self.max_len)}))
            cut = [self.vocabulary[i] for i in ids[self.max_len - 1 :]]
            ids = [*ids[: self.max_len - 1], ids[-1]]
            if lost := cut.count("[MASK]") + x[self.most :].count("[MASK]"):
                notes.append(Note("mask_cut", {"count": lost}))
        return replace(self.reading(ids), notes=tuple(notes))

    def _checked(self, ids: Sequence[Any]) -> list[int]:
        """The same ids. Raises TypeError and ValueError: see `read`."""
        for i in ids:
            if not isinstance(i, Integral):
                raise TypeError(
                    f"a tuple or list is read as the ids of one sentence, which are whole numbers; in this one there "
                    f"is a {type(i).__name__}; several sentences are read with batch(…)"
                )
        if not 0 < len(ids) <= self.max_len or not all(0 <= i < len(self.vocabulary) for i in ids):
            raise ValueError(
                f"1 to {self.max_len} ids are read, each from 0 to {len(self.vocabulary) - 1}; these are {len(ids)}, "
                f"from {min(ids, default=None)} to {max(ids, default=None)}"
            )
        return [int(i) for i in ids]

    def pieces(self, word: str) -> list[str]:
        """What a word is cut into; [UNK] where its signs are unknown."""
        tokens = self.reading(self.encode(word).ids).tokens
        return [token for token in tokens if token not in ("[CLS]", "[SEP]")]

    def looked_up(self, word: str) -> list[list[str]]:
        """How WordPiece cuts a word: for each of its pieces the beginnings of what is left that it looked up, from the
        longest to the one that is in the vocabulary. Nothing where a sign is unknown, or another algorithm cuts.

        Source: Wu et al., Google's Neural Machine Translation System, 2016; the longest match first of BERT's code.
        """
        left, before, found = word, "", []
        if not isinstance(self.tokenizer.model, WordPiece):
            return []
        while left:
            tried = [before + left[:end] for end in range(len(left), 0, -1)]
            length = next((n for n, piece in enumerate(tried, 1) if self.tokenizer.token_to_id(piece) is not None), 0)
            if not length:
                return []
            found.append(tried[:length])
            left, before = left[len(left) + 1 - length :], self.tokenizer.model.continuing_subword_prefix
        return found

    def simplified(self, text: str) -> list[tuple[str, str]]:
        """Words that are read otherwise than they are typed, as both: ("Café", "cafe"), ("ＡＩ", "ai").

        Not those that look the same, in parts or whole: Korean syllables are read as their letters.
        """
        normalizer = self.tokenizer.normalizer
        text = SPECIAL.sub(" ", text[: self.most])
        words = WORD.findall(text) if normalizer else []
        # Spaces round Chinese characters are there to cut at: nothing is read otherwise.
        read = {word: normalizer.normalize_str(word).strip(" ▁").replace(" ", "") for word in words}
        return [(word, plain) for word, plain in read.items() if normalize("NFC", plain) != normalize("NFC", word)]

    def sentences(self, text: str) -> tuple[str, ...]:
        """A text as the tokenizer is given it."""
        return (text,)

    def encode(self, text: str) -> Encoding:
        """The pieces of a text."""
        first, *second = self.sentences(text)
        return self.tokenizer.encode(first, second[0] if second else None)

    def reading(self, ids: Sequence[int]) -> Reading:
        """Pieces by their ids, with their names."""
        return Reading(torch.tensor([ids]), [self.vocabulary[i] for i in ids], list(ids))

    def hide(self, ids: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
        """The ids with [MASK] at these places, ready to be read."""
        mask = self.vocabulary.index("[MASK]")
        return tuple(mask if place in places else i for place, i in enumerate(ids))

    def guesses(self, logits: Tensor, reading: Reading) -> tuple[Guess, ...]:
        """The ten best words for each [MASK]; without one, for each word as it stands."""
        hidden = [i for i, token in enumerate(reading.tokens) if token == "[MASK]"]
        asked = hidden or range(1, len(reading.tokens) - 1)
        return tuple(self.guess(logits[0, i], i) for i in asked)

    def guess(self, logits: Tensor, token: int | None = None, most: int = 10) -> Guess:
        """Logits over the vocabulary -> the `most` likeliest words, best first."""
        best = logits.softmax(-1).topk(most)
        return Guess(tuple(self.vocabulary[i] for i in best.indices), tuple(best.values.tolist()), token)

    def examples(self) -> Iterator[str]:
        for pair in examples.SENTENCES:
            yield from pair


def numbers_of(x: object) -> np.ndarray:
    """An input as an array of numbers. Raises InputError("not_an_image") for what is none."""
    try:
        array = np.asarray(x)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError("not_an_image") from error
    if array.dtype.kind not in "biuf":
        raise InputError("not_an_image", kind=str(array.dtype))
    return array


class ImageReader:
    """Drawings: a (28, 28) float array in [0, 1] with bright ink, or its 784 bytes."""

    vocabulary: Sequence[str] = ()

    def __init__(self, config: EncoderConfig, labels: Sequence[str]) -> None:
        self.config = config
        self.labels = tuple(labels)

    def read(self, x: object) -> Reading:
        side = self.config.image_size
        if isinstance(x, bytes) and len(x) == side * side:
            x = np.frombuffer(x, np.uint8).reshape(side, side).astype(np.float32) / 255
        image = numbers_of(x)
        image = image.astype(np.float32) / (255 if image.dtype == np.uint8 else 1)
        if image.shape != (side, side) or not np.isfinite(image).all() or image.min() < 0 or image.max() > 1:
            raise InputError("not_an_image", shape=image.shape)
        rows = range(1, self.config.patches_per_side + 1)
        places = [f"r{row}c{column}" for row in rows for column in rows]
        tokens = ["image"] if self.config.input == "flat" else ["[CLS]", *places]
        return Reading(torch.from_numpy(image.copy())[None], tokens, [])

    def guesses(self, logits: Tensor, reading: Reading) -> tuple[Guess, ...]:
        return (Guess.among(self.labels, logits[0]),)

    def examples(self) -> Iterable[np.ndarray]:
        return examples.digits() if self.config.image_size == 28 else ()


class Pipeline:
    """reader + network: call it with an input and get the whole run as a Trace. Safe to share among threads."""

    def __init__(self, name: str, network: Encoder, reader: Reader, measured: dict[str, float] | None = None) -> None:
        self.name = name
        self.config = network.config
        self.graph = graph_of(network)
        self.network = network.eval().requires_grad_(False)
        self.reader = reader
        self.measured = measured or {}
        #: Where runs are computed: see `to`.
        self.device = torch.device("cpu")
        #: Why nothing computes the answer that it was trained for, where that is so.
        self.unanswered: ReasonedError | None = None
        #: How its makers take all vectors as one, where their folder says so.
        self.pooled: Pooled | None = None
        #: What is recorded of another input, which a patch comes from.
        self.source = cached(_sources, key=partial(hashkey, ref(self)), lock=_sources_lock)(lambda x: self.run_of(x))

    @property
    def outputs(self) -> Sequence[str]:
        """The words or classes that its logits stand for."""
        return self.reader.vocabulary if self.config.head == "masked-word" else self.reader.labels

    def __repr__(self) -> str:
        """What it reads, its sizes, and what it answers."""
        c = self.config
        kinds = {"words": "sentences", "patches": "pictures", "flat": "pictures"}
        sizes = f"{c.layers} layers, {c.heads} heads, d_model {c.d_model}, d_ff {c.d_ff}"
        return f"{type(self).__name__} {self.name}: reads {kinds[c.input]}; {sizes}; head: {c.head}"

    def __call__(self, x: object, edits: Edit | Iterable[Edit] = ()) -> Trace:
        """Raises InputError for an input that cannot be read, EditError for an edit that does not fit."""
        edits = as_edits(edits)
        reading = self.reader.read(x)
        return self._of(x, reading, edits, *self._run(bind(edits, self.around(reading)), *self._given(reading)))

    def to(self, kind: torch.dtype | torch.device | str) -> Self:
        """A copy that computes with other numbers (torch.float64, torch.bfloat16, …; what bfloat16 finds is shown as
        float32), or elsewhere ("cuda").

        On a graphics card runs are computed, and what they record stays there until somebody asks for it. Measures,
        sweeps and arithmetic by hand are worked out on the processor, where `network` remains.

        Raises ValueError for a device that this machine does not have, TypeError for what is neither.
        """
        copy = type(self)(self.name, deepcopy(self.network), self.reader, self.measured)
        copy.unanswered, copy.pooled, copy.device = self.unanswered, self.pooled, self.device
        if isinstance(kind, torch.dtype):
            copy.network.to(kind)
        else:
            copy.device = _device(kind)
        return copy

    @cached_property
    def _runner(self) -> Encoder:
        """The network where runs are computed."""
        return self.network if self.device.type == "cpu" else deepcopy(self.network).to(self.device)

    def _there(self, inputs: Iterable[Tensor | None]) -> tuple[Tensor | None, ...]:
        """What the network is called with, where runs are computed."""
        return tuple(x if x is None else x.to(self.device) for x in inputs)

    @overload
    def batch(  # type: ignore[overload-overlap]
        self, inputs: Iterator[object], edits: Edit | Iterable[Edit] = (), *, keep: Iterable[str] | None = None
    ) -> Iterator[Trace]: ...
    @overload
    def batch(
        self, inputs: Iterable[object], edits: Edit | Iterable[Edit] = (), *, keep: Iterable[str] | None = None
    ) -> list[Trace]: ...
    def batch(
        self, inputs: Iterable[object], edits: Edit | Iterable[Edit] = (), *, keep: Iterable[str] | None = None
    ) -> Iterable[Trace]:
        """The Trace of each input, in their order: they are computed together, and each is as if it were alone.

        inputs: a list; or a generator, of which some batches at a time are read, computed and yielded, so that no more
        than these are in memory. keep: the keys whose values the traces hold, so that thousands of them fit into
        memory; all, if left out.

        Raises what an input alone raises, with a note of which it was, and KeyError for a key that is not recorded.
        """
        wanted = None if keep is None else self._recorded(keep)
        if isinstance(inputs, str | bytes):
            raise TypeError(f"a batch is a list of inputs; this is one {type(inputs).__name__}")
        traces = self._each(inputs, as_edits(edits), wanted)
        return traces if isinstance(inputs, Iterator) else list(traces)

    def _each(self, inputs: Iterable[object], edits: tuple[Edit, ...], keep: list[str] | None) -> Iterator[Trace]:
        """The Trace of each input; of a generator's inputs, one batch after the other."""
        # Those about as long fill each other up least, so several batches are sorted; but whole runs take much memory.
        most = MOST_TOKENS * (1 if keep is None else SORTED) if isinstance(inputs, Iterator) else inf
        read: list[tuple[object, Reading]] = []
        tokens = 0
        for number, x in enumerate(inputs):
            try:
                read.append((x, self.reader.read(x)))
            except (ValueError, TypeError) as error:
                error.add_note(f"It is about inputs[{number}].")
                raise
            tokens += len(read[-1][1].tokens)
            if tokens >= most:
                yield from self._together(read, edits, keep)
                read, tokens = [], 0
        yield from self._together(read, edits, keep)

    def _together(
        self, read: Sequence[tuple[object, Reading]], edits: tuple[Edit, ...], keep: list[str] | None
    ) -> list[Trace]:
        found: dict[int, Trace] = {}
        for places in alike([len(reading.tokens) for _, reading in read]):
            runs = self._run_together([read[i][1] for i in places], edits, keep)
            found |= {i: self._of(read[i][0], read[i][1], edits, *run) for i, run in zip(places, runs, strict=True)}
        return [found[i] for i in range(len(read))]

    def _recorded(self, keys: Iterable[str]) -> list[str]:
        known = recorded(self.network)
        wanted = list(keys)
        if unknown := [key for key in wanted if key not in known]:
            raise KeyError(
                f"{unknown[0]!r} is not recorded; did you mean {nearest(unknown[0], known, 'one of keys()')}?"
            )
        return wanted

    def _of(
        self,
        x: object,
        reading: Reading,
        edits: tuple[Edit, ...],
        output: Tensor,
        values: Recording | Kept,
        idle: dict[Edit, str],
    ) -> Trace:
        guesses = () if self.config.head in ("none", "vector") else self.reader.guesses(output.cpu(), reading)
        words = x if isinstance(x, str) else tuple(reading.ids)
        subject = words if self.config.input == "words" else reading.tensor[0].numpy()
        about = reading.notes, edits, idle, reading.segments, self.outputs
        trace = Trace(values, self.graph, subject, reading.tokens, reading.ids, guesses, *about)
        trace.pooled = self.pooled
        trace.logits_with = lambda rows, token: sweep(self, subject, [[*edits, *row] for row in rows], token=token)[
            "logits"
        ]
        return trace

    def around(self, reading: Reading) -> Surroundings:
        """What edits may ask about a run of this input."""
        return _Around(self, reading)

    def inputs(self, x: object) -> tuple[Reading, tuple[Tensor | None, ...]]:
        """An input (or a Trace of it) as it was read, and as what the network is called with."""
        reading = self.reader.read(x.subject if isinstance(x, Trace) else x)
        return reading, self._given(reading)

    def _given(self, reading: Reading) -> tuple[Tensor | None, ...]:
        """What the network is called with, a picture in its kind of numbers."""
        kind = next(self.network.parameters()).dtype
        return tuple(x if x is None or not x.is_floating_point() else x.to(kind) for x in reading.inputs)

    def run_of(self, x: object) -> Recording:
        """All that the network records of an input, as tensors with the batch in front."""
        return record(self.network, *self.inputs(x)[1], most=MOST_INSIDE)[1]

    @cached_property
    def means(self) -> dict[str, Tensor]:
        """The mean of each quantity over those of the reader's examples that can be read, with the batch in front.

        Sentences differ in length, so theirs is also the mean over their tokens, and has one row for all of them (and
        there is none of scores and weights); pictures have all their tokens in the same places, and so their mean.
        """
        sums: dict[str, Tensor] = {}
        counts: dict[str, int] = {}
        for values in self._examples():
            for key, value in values.items():
                axes, many = self.graph[key].axes, 1
                if self.config.input == "words":
                    if "key" in axes or "distance" in axes:
                        continue
                    parts = ["batch", *map(PARTS.get, axes)]
                    if "token" in parts:  # a classifier's answer has none
                        token = parts.index("token")
                        many, value = value.size(token), value.sum(token, keepdim=True)
                counts[key] = counts.get(key, 0) + many
                sums[key] = sums.get(key, 0) + value
        return {key: total / counts[key] for key, total in sums.items()}

    def _examples(self) -> Iterator[Mapping[str, Tensor]]:
        for x in self.reader.examples():
            with suppress(InputError):  # a vocabulary may have no word of it
                yield self.run_of(x)

    def _run(self, changes: list[Change], *inputs: Tensor | None) -> tuple[Tensor, Recording, dict[Edit, str]]:
        """The output, all values, and which edits could change nothing. Raises EditError for a number out of bounds."""
        unmoved: dict[Change, str] = {}
        edits = watched(changes, self.graph, unmoved)
        check = check_finite if changes else None
        output, values = record(self._runner, *self._there(inputs), edits=edits, most=MOST_INSIDE, check=check)
        values.network = self.network
        return output, values, idle(changes, unmoved, self.graph, values)

    def _run_together(
        self, readings: Sequence[Reading], edits: tuple[Edit, ...], keep: list[str] | None
    ) -> Iterator[tuple[Tensor, Recording | Kept, dict[Edit, str]]]:
        """What `_run` has of each input, all of them computed at once. keep: the keys that stay; None: all."""
        lengths = [len(reading.tokens) for reading in readings]
        changes = [bind(edits, self.around(reading)) for reading in readings]
        unmoved: list[dict[Change, str]] = [{} for _ in readings]
        each = [watched(own, self.graph, those) for own, those in zip(changes, unmoved, strict=True)]
        given = self._there(together([self._given(reading) for reading in readings]))
        *_, last = recorded(self._runner)
        if keep is not None and not edits:  # what nobody asked for is let go as it passes
            passed: dict[str, Tensor] = {}
            with hooked(self._runner, {key: partial(passed.__setitem__, key) for key in keep}):
                output = self._runner(*given)
            for row, n in enumerate(lengths):
                alone = {key: part(value, self.graph[key].axes, row, n).clone() for key, value in passed.items()}
                yield part(output, self.graph[last].axes, row, n), Kept(alone, edits), {}
            return
        output, values = record(
            self._runner,
            *given,
            edits=for_all(each, self.graph, lengths),
            most=MOST_INSIDE * len(readings),
            check=check_finite if edits else None,
        )
        values.network = self.network
        for row, n in enumerate(lengths):
            own = values.alone(row, n, each[row])
            answer = part(output, self.graph[last].axes, row, n)
            stays = own if keep is None else Kept({key: own[key] for key in keep}, edits)
            yield answer, stays, idle(changes[row], unmoved[row], self.graph, own)

    @torch.inference_mode()
    def read_layers(
        self, trace: Trace, token: int = 0, lens: Callable[[np.ndarray], np.ndarray] | None = None
    ) -> np.ndarray:
        """What the head would say at `token` after each layer, if that layer were the last.

        lens: maps each state before the head reads it; without one it is read as it stands.

        Returns probabilities (1 + layers, word) or (1 + layers, class), float32. Row 0 reads the embedding, before any
        layer; the last row is the network's own answer. A classifier reads its own tokens, whatever `token` says.
        Source: "the logit lens", nostalgebraist 2020.
        """
        logits = torch.tensor(trace["logits"])  # its own answer, whatever was changed behind the layers
        if self.config.head == "masked-word":
            logits = logits[token]
        states = trace.states()[:-1]
        states = states if lens is None else lens(states)
        return np.concatenate([self.read_states(states, token), logits.softmax(-1).numpy()[None]])

    @torch.inference_mode()
    def read_states(self, states: np.ndarray, token: int = 0) -> np.ndarray:
        """What the head would say at `token` of each of some states, (state, token, d_model), as if it were the last.

        Returns probabilities (state, word) or (state, class), float32, as in `read_layers`.
        """
        Z = self.network.norm(torch.from_numpy(states).to(next(self.network.parameters())))
        return self.network.read_out(Z[:, token] if self.config.head == "masked-word" else Z).softmax(-1).numpy()


def _device(name: torch.device | str) -> torch.device:
    """Raises ValueError, or TypeError for what names none: see `Pipeline.to`."""
    try:
        torch.zeros(1, device=name).cpu()
    except (RuntimeError, AssertionError) as error:  # torch raises the latter where it was built without
        raise ValueError(f"no runs can be computed on {str(name)!r} here: {str(error).splitlines()[0]}") from error
    return torch.device(name)


@dataclass
class _Around:
    """What edits may ask about one run: see `model.edits.Surroundings`."""

    pipeline: Pipeline
    reading: Reading

    def __post_init__(self) -> None:
        self.graph = self.pipeline.graph
        places = tuple(i for i, token in enumerate(self.reading.tokens) if token in ("[CLS]", "[SEP]"))
        config = self.pipeline.config
        self.uncounted = tuple(place for place, i in enumerate(self.reading.ids) if i == config.uncounted)
        self.uncounted += tuple(config.placeless)
        # A target begins with its language.
        self.special: Mapping[str, tuple[int, ...]] = {"": places, "decoder.": (0,)}

    def other(self, source: Hashable) -> Mapping[str, Tensor]:
        try:
            return self.pipeline.source(source)
        except (ValueError, TypeError, IndexError) as error:
            raise EditError("source", why=getattr(error, "reason", "not_readable")) from error

    def mean(self) -> Mapping[str, Tensor]:
        if not self.pipeline.means:
            raise EditError("no_corpus")
        return self.pipeline.means

    def positions(self, key: str) -> Tensor:
        return self.pipeline.network.get_submodule(key).table
