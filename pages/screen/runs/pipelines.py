"""Pipelines and traces kept between reruns, for all visitors."""

import gc
from collections.abc import Hashable, Iterable
from functools import partial
from threading import Condition, Lock
from time import monotonic
from typing import Any, overload

import streamlit as st
import torch
from cachetools import cached
from cachetools.keys import hashkey

from model import CheckpointError, Edit, InputError, Pipeline, Trace, WeightsError, deadline, load
from model.checkpoints.hub import MOST_NAMED, memory
from model.config import PRESETS, EncoderConfig
from model.loading import let_go, untrained
from model.measures import learning
from model.measures.cost import recorded_bytes
from model.measures.gradients import twin
from model.pipeline import Reader, Reading, TextReader
from model.translator import Task, TranslationTrace, Translator
from pages.drawing.cache import forget, kept, traces_up_to
from pages.drawing.state import sketch
from pages.drawing.state.choice import AFTER, TRANSLATOR, TWIN, Choice
from pages.drawing.state.offered import by_visitors, folder_state, offered, withdraw
from pages.drawing.text import listed, plain, t
from pages.server import in_flight
from pages.server.memory import give_back

FIRST_SENTENCE = "i love you ."  # replaces a visitor's first sentence if it cannot be read
_files: dict[str, Hashable] = {}  # offered checkpoint -> state of its files when a run last looked
MOST_PIECES = 400  # of a sentence, even if a network reads more: a page's time and memory grow with their square
MOST_BYTES = 160_000_000  # of traces: one of 15 tokens (2.7 MB) for each of sixty visitors


class _Networks(dict[Hashable, Pipeline]):
    """Pipelines by name; for those that visitors added, also the time of the last request."""

    def __init__(self) -> None:
        self._asked: dict[str, float] = {}
        self._one_at_a_time = Lock()

    def __getitem__(self, key: Hashable) -> Pipeline:
        network = super().__getitem__(key)
        name = _of(key)
        if name in self._asked:
            self._asked[name] = monotonic()
        return network

    def make_room(self, name: str) -> None:
        """Before loading a visitor's checkpoint, drop the least recently used ones until all take at most MOST_NAMED
        bytes together.
        """
        with self._one_at_a_time:
            self._asked[name] = monotonic()
            folders = offered()
            asked = sorted((one for one in self._asked if one in folders), key=self._asked.__getitem__)
            gone = []
            while len(asked) > 1 and memory(str(folders[one]) for one in asked) > MOST_NAMED:
                gone.append(asked.pop(0))
            self._asked = {one: self._asked[one] for one in asked}
        if gone:
            _let_go(gone)


def _of(key: Hashable) -> str:
    """The checkpoint's name in the key of one of its pipelines."""
    assert isinstance(key, tuple)
    name: str = key[0]
    return name.removesuffix(TWIN).removesuffix(TRANSLATOR)


_networks = _Networks()


@cached(_networks, condition=Condition())  # Streamlit's cache is as slow as a widget
def pipeline(name: str) -> Pipeline:
    """A pipeline by name, loaded once for all visitors: a trained one, its untrained twin ("text-untrained": random
    weights, the same each time), "untrained" (the paper's base size), a snapshot of the digits' training
    ("digits-after-3"), or an offered checkpoint ("name"; of a translator the encoder, "name-translator" all).

    Raises WeightsError, or CheckpointError for a folder that cannot be read.
    """
    torch.set_num_threads(1)  # visitors share the cores; more threads slow small products
    with deadline.not_counted():
        folder = offered().get(name.removesuffix(TRANSLATOR))
        if folder is not None and not folder.is_dir():  # removed since the server started
            raise CheckpointError("no_folder", folder=folder.name)
        if folder is not None:
            _files.setdefault(name.removesuffix(TRANSLATOR), folder_state(folder))
        if by_visitors(name.removesuffix(TRANSLATOR)):
            if (size := memory([str(folder)])) > MOST_NAMED:
                raise CheckpointError("large", folder=name, size=size // 10**6, most=MOST_NAMED // 10**6)
            _networks.make_room(name.removesuffix(TRANSLATOR))
        if name.endswith(TWIN):
            trained = pipeline(name.removesuffix(TWIN))
            loaded = Pipeline(trained.name, twin(trained.config), trained.reader)
        elif AFTER in name and folder is None:
            loaded = learning.after(int(name.partition(AFTER)[2]))
        else:
            loaded = untrained() if name == "untrained" else load(str(folder.resolve()) if folder else name)
            if folder is not None and isinstance(loaded.reader, TextReader):
                loaded.reader.max_len = min(loaded.reader.max_len, MOST_PIECES)
            if isinstance(loaded, Translator) and name in offered():
                loaded = loaded.encoder
        # Networks stay: the garbage collector need not look at them again.
        give_back()
        gc.freeze()
    return loaded


def is_loaded(name: str) -> bool:
    """Whether a pipeline is in memory, or one of ours, which load at once."""
    return name.removesuffix(TRANSLATOR) not in offered() or pipeline.cache_key(name) in pipeline.cache


def follow_files() -> bool:
    """Forget checkpoints whose files have changed; return whether there were any. Call it first in a run.

    So no page mixes numbers of two networks. Checkpoints that visitors added and whose folder is gone are withdrawn.
    All results of other networks go, too; they are soon computed again.
    """
    now = {name: folder_state(folder) for name, folder in offered().items()}
    gone = [name for name, state in now.items() if state is None and by_visitors(name)]
    changed = gone + [name for name, state in now.items() if _files.setdefault(name, state) != state]
    if not changed:
        return False
    _files.update(now)
    _let_go(changed)
    for name in gone:
        withdraw(name)
    return True


def _let_go(names: Iterable[str]) -> None:
    """Forget offered checkpoints, and all results of all networks."""
    for name in names:
        for of in (name, name + TRANSLATOR, name + TWIN):
            pipeline.cache.pop(pipeline.cache_key(of), None)
        if name in offered():
            let_go(offered()[name])
    forget()
    gc.unfreeze()  # what goes may contain cycles
    give_back()
    gc.freeze()


def config(name: str) -> EncoderConfig:
    """The sizes of a pipeline, even if its weights cannot be read."""
    try:
        return pipeline(name).config
    except WeightsError:
        return PRESETS["004" if name == "untrained" else name.partition(AFTER)[0]]
    except CheckpointError:
        return PRESETS["text"]


def translator(choice: Choice) -> Translator:
    """The translator for this choice. Raises WeightsError or CheckpointError."""
    found = pipeline(choice.translator)
    assert isinstance(found, Translator)
    return found


def explain_checkpoint(error: CheckpointError) -> None:
    """Say why a folder cannot be read."""
    st.error(t(f"error.checkpoint.{error.reason}", **error.values), icon=":material/folder_off:")


def explain_weights(error: WeightsError) -> None:
    """Say which file is damaged, and how to restore it."""
    st.error(t(f"error.weights_{error.reason}", file=f"model/weights/{error.file}"), icon=":material/error:")


def readable(choice: Choice) -> Choice:
    """A copy with an input whose network can be read: a drawing, or else our first sentence."""
    drawing = sketch.example()
    for kind in ("digit", "flat"):
        instead = choice.with_(input=kind, drawing=drawing, learned=None, edits=())
        try:
            pipeline(instead.pipeline)
        except WeightsError:
            continue
        return instead
    return choice.with_(input="sentence", model="trained", sentence=FIRST_SENTENCE, edits=())


def _decides(name: str, subject: Hashable, edits: tuple[Edit, ...] = ()) -> tuple[Hashable, ...]:
    """The cache key of a run; for a picture read as one token with the token's name in the reader's language."""
    return hashkey(name, subject, edits, plain("label.image") if name.removesuffix(TWIN) == "flat" else None)


@overload
def run(name: str, subject: Task, edits: tuple[Edit, ...] = ()) -> TranslationTrace: ...
@overload
def run(name: str, subject: Hashable, edits: tuple[Edit, ...] = ()) -> Trace: ...
@traces_up_to(MOST_BYTES, key=_decides)
def run(name: str, subject: Hashable, edits: tuple[Edit, ...] = ()) -> Trace:
    """A traced run, cached: another layer or head needs no new one."""
    with in_flight.page():
        in_flight.make_room(max(_bytes(pipeline(name), one) for one in (subject, *_compared(name))))
        trace = pipeline(name)(subject, edits)
    if trace.tokens == ["image"]:
        trace.tokens = [plain("label.image")]
    return trace


def _compared(name: str) -> tuple[str, ...]:
    """The sentence to compare with, if any; it may be the longer one."""
    other, network = getattr(st.session_state.get("choice"), "other", None), pipeline(name)
    return (other,) if other and network.config.input == "words" and _reads(network.reader, other) else ()


def _bytes(network: Pipeline, subject: Hashable) -> int:
    """The approximate bytes that a run of this input records."""
    tokens = network.config.max_tokens
    if network.config.input == "words":
        tokens = len(network.reader.read(subject.sentence if isinstance(subject, Task) else subject).tokens)
    return recorded_bytes(network.config, network.graph.decoder, tokens)


def read(choice: Choice) -> tuple[Any, Reading, InputError | None]:
    """`read_by` for the reader's input."""
    return read_by(choice.pipeline, choice.subject)


def read_by(name: str, subject: Hashable) -> tuple[Any, Reading, InputError | None]:
    """The input, or the last one that this pipeline could read; how that is read; and why the input could not be.

    name: matters, as the pipelines that read and translate a sentence may have different tokenizers.
    """
    reader, last_good = pipeline(name).reader, st.session_state.setdefault("last_good", {})
    unread = None
    try:
        reading = _reading(name, subject) if isinstance(subject, str) else reader.read(subject)
    except InputError as error:
        unread = error
        subject = last_good.get(name) or next(filter(partial(_reads, reader), (FIRST_SENTENCE, *reader.vocabulary)))
        reading = reader.read(subject)
    last_good[name] = subject
    return subject, reading, unread


def explain_input(name: str, unread: InputError | None, reading: Reading | None = None) -> None:
    """Say why this pipeline could not read an input, if so; and show the notes of the reading."""
    if unread:
        theirs = "_theirs" if unread.reason == "unknown_only" and name.removesuffix(TRANSLATOR) in offered() else ""
        st.warning(t(f"error.input_{unread.reason}{theirs}"), icon=":material/edit_off:")
    for note in reading.notes if reading else ():
        values = {name: listed(v) if isinstance(v, list) else v for name, v in note.values.items()}
        st.info(t(f"note.{note.reason}", **values), icon=":material/info:")


@kept(1000)
def _reading(name: str, sentence: str) -> Reading:
    """How this pipeline reads a sentence, cached. Raises InputError."""
    return pipeline(name).reader.read(sentence)


def _reads(reader: Reader, subject: Hashable) -> bool:
    try:
        reader.read(subject)
    except InputError:
        return False
    return True
