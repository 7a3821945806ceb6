"""What pages work out once for all visitors."""

from collections.abc import Callable, Hashable, Sequence
from threading import Condition
from typing import TypeVar

import numpy as np
import streamlit as st
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from model import Edit, Trace
from model.analysis import mean_cosine, nearest_rows
from model.measures.fillers import FilledUp, fill_up
from model.measures.gradients import gradient_lengths, untrained
from model.measures.without import Answers, Fate, answers, fates
from model.neurons import pointed_to as pointed
from model.neurons import pushes
from model.pipeline import SPECIAL_TOKENS
from pages.drawing.cache import digest, of_networks
from pages.drawing.figures.notation import symbols
from pages.drawing.figures.theme import font_size, mode
from pages.drawing.picture import one_plane
from pages.drawing.text import language
from pages.screen.runs import pipelines

T = TypeVar("T")


def once_a_look(most: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """A decorator that keeps the latest `most` results for all visitors, of the same arguments, which are hashable,
    in each language, on each ground, in letters of each size and in the symbols of each note.
    """

    def key(*arguments: Hashable) -> tuple:
        return hashkey(language(), mode(), font_size(), symbols(), *arguments)

    return cached(LRUCache(most), key, condition=Condition())


@st.cache_data(max_entries=500, show_spinner=False)
def neighbours(name: str, piece: int) -> tuple[list[str], np.ndarray, float]:
    """The pieces whose rows of E point most nearly the same way, their cosines, and the mean cosine to all pieces."""
    owner = pipelines.pipeline(name)
    E, vocabulary = owner.network.embedding.E.weight.numpy(), owner.reader.vocabulary
    special = [number for number, shown in enumerate(vocabulary) if shown in SPECIAL_TOKENS]
    best, cosines = nearest_rows(E, piece, leave_out=special)
    return [vocabulary[i] for i in best], cosines, mean_cosine(E, piece)


@st.cache_data(max_entries=256, show_spinner=False)
def pushed(pipeline: str, layer: int, neuron: int) -> np.ndarray:
    """What `neurons.pushes` finds of one neuron."""
    return pushes(pipelines.pipeline(pipeline).network, layer, neuron)


@of_networks
@cached(LRUCache(2000), condition=Condition())  # asked for several neurons a page: Streamlit's own would take longer
def pointed_to(name: str, layer: int, neuron: int, ascii_only: bool | None) -> tuple[str, ...]:
    """The whole words to which a neuron points most, in ASCII or in other letters; None: the classes."""
    reader = pipelines.pipeline(name).reader
    names = reader.labels if ascii_only is None else reader.vocabulary
    return pointed(pushed(name, layer, neuron), names, ascii_only)


def known_by(trace: Trace) -> tuple:
    """What decides a run, given its pipeline: what went in, and the edits on the way."""
    return trace[trace.graph.embedded].tobytes(), trace.edits


@st.cache_data(max_entries=1000, show_spinner=False)
def plane(*runs: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The states of some runs in one plane: (1 + layers, token, 2) each, and each direction's share of variance."""
    return one_plane(*runs)


@of_networks
@cached(LRUCache(200), key=lambda name, subject, edits: hashkey(name, digest(subject), edits), condition=Condition())
def without_parts(name: str, subject: Hashable, edits: tuple[Edit, ...]) -> dict[str, Fate]:
    """What `measures.without.fates` finds of an input."""
    return fates(pipelines.pipeline(name), subject, edits)


@of_networks
@cached(
    LRUCache(200),
    key=lambda name, subject, rows, token: hashkey(name, digest(subject), rows, token),
    condition=Condition(),
)
def answered(name: str, subject: Hashable, rows: tuple[tuple[Edit, ...], ...], token: int) -> Answers:
    """What `measures.without.answers` finds of an input."""
    return answers(pipelines.pipeline(name), subject, rows, token)


@of_networks
@cached(LRUCache(200), key=lambda name, ids, token: hashkey(name, tuple(ids), token), condition=Condition())
def filled_up(name: str, ids: Sequence[int], token: int) -> FilledUp:
    """What `measures.fillers.fill_up` finds of a sentence."""
    return fill_up(pipelines.pipeline(name), ids, token)


@st.cache_data(max_entries=64, show_spinner=False)
def disturbed(ink: bytes, keys: tuple[str, ...], noise: float, edits: tuple[Edit, ...]) -> np.ndarray:
    """The answer of the network of one token with noise on each of these quantities in turn: (key, class).

    edits: the reader's changes, which the run without noise has, too.
    """
    runs = [pipelines.pipeline("flat")(ink, [*edits, Edit(key, "noise", noise)]) for key in keys]
    return np.array([run.answer[0].probabilities for run in runs], dtype=np.float32)


@st.cache_data(max_entries=256, show_spinner=False)
def gradients(name: str, X_0: np.ndarray, token: int) -> np.ndarray:
    """(trained or untrained, with or without the sums, 1 + layers): see `gradient_lengths`. name: of the pipeline."""
    trained = pipelines.pipeline(name).network
    return np.stack(
        [
            [gradient_lengths(network, X_0, token, residual) for residual in (True, False)]
            for network in (trained, untrained(trained.config))
        ]
    )
