"""Pipelines: a reader for the input and a network, together from input to Trace."""

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

MOST_SOURCES = 24_000_000  # bytes of other inputs' runs cached for patches: nine of our text model with 15 tokens
MOST_INSIDE = 64_000_000  # bytes kept inside the layers of a run; larger runs recompute them on request
MOST_CHARACTERS = 2000  # of a sentence, more if the model reads more; the rest is cut off before tokenization
OF_A_PIECE = 20  # characters; few pieces are longer
#: A word of letters, digits and combining accents. Chinese characters are never part of one.
WORD = re.compile(r"(?:[^\W\u3400-\u9fff]|[\u0300-\u036f])+")
SPECIAL = re.compile(r"\[(PAD|UNK|CLS|SEP|MASK)\]")
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

#: Source runs of patches, shared by all pipelines, since users try many edits with one source. The latest run is kept
#: whatever its size.
_sources: LRUCache[Hashable, Recording] = LRUCache(MOST_SOURCES, getsizeof=lambda run: min(run.nbytes, MOST_SOURCES))
_sources_lock = Lock()


def forget_sources() -> None:
    """Drop the cached source runs of patches, and their networks."""
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
    """An input as tensors for the network and as tokens for people."""

    tensor: Tensor
    tokens: list[str]
    ids: list[int]
    notes: tuple[Note, ...] = ()
    segments: tuple[int, ...] = ()  # sentence of each token, if the network has segments

    @property
    def inputs(self) -> tuple[Tensor | None, ...]:
        """The network's arguments."""
        return (self.tensor, None, torch.tensor([self.segments])) if self.segments else (self.tensor,)


class Reader(Protocol):
    """Turns an input into a Reading, and logits into guesses."""

    vocabulary: Sequence[str]  # words of the ids and of masked-word logits; empty for pictures
    labels: tuple[str, ...]  # classes of a classifier's logits; else empty

    def read(self, x: object) -> Reading: ...

    def guesses(self, logits: Tensor, reading: Reading) -> tuple[Guess, ...]: ...

    def examples(self) -> Iterable[object]:
        """Inputs for the mean of a quantity; may be empty."""


def plain(x: object) -> object:
    """Convert ids of one sentence in any form to a tuple; return anything else unchanged."""
    ids = x["input_ids"] if isinstance(x, Mapping) and "input_ids" in x else x
    ids = ids.tolist() if hasattr(ids, "tolist") else ids
    if isinstance(ids, tuple | list) and len(ids) == 1 and isinstance(ids[0], tuple | list):
        ids = ids[0]
    return tuple(ids) if isinstance(ids, tuple | list) else x


class TextReader:
    """Reads sentences: at most `max_len` WordPiece tokens, with [CLS] and [SEP]."""

    vocabulary: Sequence[str]
    labels: tuple[str, ...] = ()
    space = ""  # space in the tokenizer's own vocabulary, if displayed differently

    def __init__(self, tokenizer: Tokenizer, max_len: int) -> None:
        self.tokenizer = tokenizer
        self.max_len = max_len
        self.most = max(MOST_CHARACTERS, OF_A_PIECE * max_len)  # characters
        self.vocabulary = [word for word, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]

    def read(self, x: object) -> Reading:
        """x: a sentence; or ids with [CLS] and [SEP], as in an earlier Reading: a tuple, list or tensor, or the mapping
        with "input_ids" that a tokenizer of transformers gives.

        Raises InputError for a sentence without anything readable, TypeError for other types, ValueError for ids that
        are unknown, none, or too many.
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
        if symbols := [symbol for symbol in dict.fromkeys(unknown) if symbol != "[UNK]"]:  # typed, it is itself
            notes.append(Note("unknown", {"symbols": symbols}))
        if len(ids) > self.max_len or len(x) > self.most:
            notes.append(Note("truncated", {"most": self.max_len, "rest": max(0, len(ids) - self.max_len)}))
            cut = [self.vocabulary[i] for i in ids[self.max_len - 1 :]]
            ids = [*ids[: self.max_len - 1], ids[-1]]
            if lost := cut.count("[MASK]") + x[self.most :].count("[MASK]"):
                notes.append(Note("mask_cut", {"count": lost}))
        return replace(self.reading(ids), notes=tuple(notes))

    def _checked(self, ids: Sequence[Any]) -> list[int]:
        """The same ids, validated. Raises TypeError and ValueError as `read`."""
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
        """The pieces of a word; [UNK] for unknown characters."""
        tokens = self.reading(self.encode(word).ids).tokens
        return [token for token in tokens if token not in ("[CLS]", "[SEP]")]

    def looked_up(self, word: str) -> list[list[str]]:
        """The lookups of WordPiece: for each piece of a word, the prefixes tried, from the longest to the one in the
        vocabulary. Empty for unknown characters or another tokenization algorithm.

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
        """(typed, read) for each word that normalization changes: ("Café", "cafe"), ("ＡＩ", "ai").

        Omits words that look the same: Korean syllables are decomposed into their letters.
        """
        normalizer = self.tokenizer.normalizer
        text = SPECIAL.sub(" ", text[: self.most])
        words = WORD.findall(text) if normalizer else []
        # Spaces around Chinese characters only mark token boundaries.
        read = {word: normalizer.normalize_str(word).strip(" ▁").replace(" ", "") for word in words}
        return [(word, plain) for word, plain in read.items() if normalize("NFC", plain) != normalize("NFC", word)]

    def sentences(self, text: str) -> tuple[str, ...]:
        """A text split as the tokenizer takes it: one sentence or a pair."""
        return (text,)

    def encode(self, text: str) -> Encoding:
        """Tokenize a text."""
        first, *second = self.sentences(text)
        return self.tokenizer.encode(first, second[0] if second else None)

    def reading(self, ids: Sequence[int]) -> Reading:
        """The Reading of these ids."""
        return Reading(torch.tensor([ids]), [self.vocabulary[i] for i in ids], list(ids))

    def hide(self, ids: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
        """The ids with [MASK] at these positions, for `read`."""
        mask = self.vocabulary.index("[MASK]")
        return tuple(mask if place in places else i for place, i in enumerate(ids))

    def guesses(self, logits: Tensor, reading: Reading) -> tuple[Guess, ...]:
        """The ten best words for each [MASK], or without one, for each token."""
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
    """An input as an array of numbers. Raises InputError("not_an_image") if it is not one."""
    try:
        array = np.asarray(x)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError("not_an_image") from error
    if array.dtype.kind not in "biuf":
        raise InputError("not_an_image", kind=str(array.dtype))
    return array


class ImageReader:
    """Reads drawings: (28, 28) floats in [0, 1] with bright ink, or 784 bytes."""

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
    """Reader and network: call it with an input to get the run as a Trace. Safe to share among threads."""

    def __init__(self, name: str, network: Encoder, reader: Reader, measured: dict[str, float] | None = None) -> None:
        self.name = name
        self.config = network.config
        self.graph = graph_of(network)
        self.network = network.eval().requires_grad_(False)
        self.reader = reader
        self.measured = measured or {}
        #: Device of the runs: see `to`.
        self.device = torch.device("cpu")
        #: Why the answer it was trained for is not computed, if so.
        self.unanswered: ReasonedError | None = None
        #: How sentence vectors are pooled, if the checkpoint says so.
        self.pooled: Pooled | None = None
        #: The cached run of another input, for patches.
        self.source = cached(_sources, key=partial(hashkey, ref(self)), lock=_sources_lock)(lambda x: self.run_of(x))

    @property
    def outputs(self) -> Sequence[str]:
        """The words or classes of its logits."""
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
        """A copy with another dtype (torch.float64, torch.bfloat16, …; traces give bfloat16 as float32) or device
        ("cuda").

        Only runs are computed on the device; recorded values stay there until read. `network` stays on the CPU, where
        measures, sweeps and arithmetic by hand are computed.

        Raises ValueError for a device that this machine lacks, TypeError for anything else.
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
        """The network on the device of the runs."""
        return self.network if self.device.type == "cpu" else deepcopy(self.network).to(self.device)

    def _there(self, inputs: Iterable[Tensor | None]) -> tuple[Tensor | None, ...]:
        """The network's arguments on the device of the runs."""
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
        """The Trace of each input, in order. They are computed in batches; each is as if computed alone.

        inputs: a list; or a generator, whose traces are yielded a few batches at a time to save memory. keep: the keys
        whose values the traces hold, so that thousands fit into memory; default all.

        Raises the errors of a single input, with a note which one it was, and KeyError for a key that is not recorded.
        """
        wanted = None if keep is None else self._recorded(keep)
        if isinstance(inputs, str | bytes):
            raise TypeError(f"a batch is a list of inputs; this is one {type(inputs).__name__}")
        traces = self._each(inputs, as_edits(edits), wanted)
        return traces if isinstance(inputs, Iterator) else list(traces)

    def _each(self, inputs: Iterable[object], edits: tuple[Edit, ...], keep: list[str] | None) -> Iterator[Trace]:
        """Yield the Trace of each input; inputs of a generator are read a few batches at a time."""
        # Sorting several batches by length saves padding, but only partial traces leave enough memory for it.
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
        """The Reading of an input (or of its Trace), and the network's arguments."""
        reading = self.reader.read(x.subject if isinstance(x, Trace) else x)
        return reading, self._given(reading)

    def _given(self, reading: Reading) -> tuple[Tensor | None, ...]:
        """The network's arguments, pictures in its dtype."""
        kind = next(self.network.parameters()).dtype
        return tuple(x if x is None or not x.is_floating_point() else x.to(kind) for x in reading.inputs)

    def run_of(self, x: object) -> Recording:
        """The recorded run of an input, as tensors with the batch in front."""
        return record(self.network, *self.inputs(x)[1], most=MOST_INSIDE)[1]

    @cached_property
    def means(self) -> dict[str, Tensor]:
        """The mean of each quantity over the reader's readable examples, with the batch in front.

        For pictures, each token has its own mean. Sentences differ in length, so the mean is also over tokens and has
        one row for all; scores and weights have none.
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
                    if "token" in parts:  # a classifier's logits have no token axis
                        token = parts.index("token")
                        many, value = value.size(token), value.sum(token, keepdim=True)
                counts[key] = counts.get(key, 0) + many
                sums[key] = sums.get(key, 0) + value
        return {key: total / counts[key] for key, total in sums.items()}

    def _examples(self) -> Iterator[Mapping[str, Tensor]]:
        for x in self.reader.examples():
            with suppress(InputError):  # the vocabulary may lack all its words
                yield self.run_of(x)

    def _run(self, changes: list[Change], *inputs: Tensor | None) -> tuple[Tensor, Recording, dict[Edit, str]]:
        """The output, all values, and edits without effect. Raises EditError if a number overflows."""
        unmoved: dict[Change, str] = {}
        edits = watched(changes, self.graph, unmoved)
        check = check_finite if changes else None
        output, values = record(self._runner, *self._there(inputs), edits=edits, most=MOST_INSIDE, check=check)
        values.network = self.network
        return output, values, idle(changes, unmoved, self.graph, values)

    def _run_together(
        self, readings: Sequence[Reading], edits: tuple[Edit, ...], keep: list[str] | None
    ) -> Iterator[tuple[Tensor, Recording | Kept, dict[Edit, str]]]:
        """The results of `_run` for each input, computed as one batch. keep: the keys to keep; None: all."""
        lengths = [len(reading.tokens) for reading in readings]
        changes = [bind(edits, self.around(reading)) for reading in readings]
        unmoved: list[dict[Change, str]] = [{} for _ in readings]
        each = [watched(own, self.graph, those) for own, those in zip(changes, unmoved, strict=True)]
        given = self._there(together([self._given(reading) for reading in readings]))
        *_, last = recorded(self._runner)
        if keep is not None and not edits:  # record only `keep`, to save memory
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
        """Logit lens: the head's answer at `token` after each layer, as if that layer were the last.

        lens: maps the states before the head reads them; default none.

        Returns probabilities (1 + layers, word) or (1 + layers, class), float32. Row 0 reads the embedding; the last
        row is the network's own answer. A classifier ignores `token`.
        Source: "the logit lens", nostalgebraist 2020.
        """
        logits = torch.tensor(trace["logits"])  # the recorded answer, with edits after the layers
        if self.config.head == "masked-word":
            logits = logits[token]
        states = trace.states()[:-1]
        states = states if lens is None else lens(states)
        return np.concatenate([self.read_states(states, token), logits.softmax(-1).numpy()[None]])

    @torch.inference_mode()
    def read_states(self, states: np.ndarray, token: int = 0) -> np.ndarray:
        """The head's answer at `token` for each of the states (state, token, d_model), as if it were the last layer's.

        Returns probabilities as `read_layers`: (state, word) or (state, class), float32.
        """
        Z = self.network.norm(torch.from_numpy(states).to(next(self.network.parameters())))
        return self.network.read_out(Z[:, token] if self.config.head == "masked-word" else Z).softmax(-1).numpy()


def _device(name: torch.device | str) -> torch.device:
    """The torch device. Raises ValueError or TypeError as `Pipeline.to`."""
    try:
        torch.zeros(1, device=name).cpu()
    except (RuntimeError, AssertionError) as error:  # AssertionError if torch was built without it
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
        # Position 0 of a target is its language.
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
