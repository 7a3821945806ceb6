"""Results that pages compute once for all visitors."""

from collections.abc import Hashable, Sequence

import numpy as np

from model import Edit
from model.analysis import nearest_rows
from model.measures.fillers import FilledUp, fill_up
from model.measures.gradients import gradient_lengths, untrained
from model.measures.merges import Pair, learned_merges
from model.measures.without import Answers, Fate, answers, fates
from model.neurons import is_word, pushes
from model.neurons import pointed_to as pointed
from model.pipeline import SPECIAL_TOKENS
from pages.drawing.cache import kept
from pages.drawing.picture import one_plane
from pages.screen.runs import pipelines


@kept(500)
def neighbours(name: str, piece: int, most: int = 6) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The pieces with the most similar rows of E (for a word only words of its script, for special tokens none); their
    cosines; and the rows of the piece and of these, (1 + most, features).
    """
    owner = pipelines.pipeline(name)
    E, vocabulary = owner.network.embedding.E.weight.numpy(), owner.reader.vocabulary
    special = [number for number, shown in enumerate(vocabulary) if shown in SPECIAL_TOKENS]
    best, cosines = nearest_rows(E, piece, most=40 * most, leave_out=special)
    own = vocabulary[piece]
    fits = [
        own not in SPECIAL_TOKENS and (not is_word(own) or (is_word(shown) and shown.isascii() == own.isascii()))
        for shown in map(vocabulary.__getitem__, best)
    ]
    some = np.flatnonzero(fits)[:most]
    return [vocabulary[i] for i in best[some]], cosines[some], E[[piece, *best[some]]]


@kept(8)
def merges_of(name: str) -> tuple[list[Pair], int]:
    """The merges that byte-pair encoding learns from the ASCII words of a vocabulary, and how many words there are."""
    words = [shown for shown in pipelines.pipeline(name).reader.vocabulary if is_word(shown) and shown.isascii()]
    return learned_merges(words, 1000), len(words)


@kept(256)
def pushed(pipeline: str, layer: int, neuron: int) -> np.ndarray:
    """`neurons.pushes` of one neuron."""
    return pushes(pipelines.pipeline(pipeline).network, layer, neuron)


@kept(2000)
def pointed_to(
    name: str, layer: int, neuron: int, written: frozenset[bool] | None, most: int = 3, sign: int = 1
) -> list[int]:
    """Indices of the whole words to which a neuron points most, in the input's scripts; written=None: of the classes.

    sign: −1 for those away from which it points.
    """
    reader = pipelines.pipeline(name).reader
    names = reader.labels if written is None else reader.vocabulary
    return pointed(sign * pushed(name, layer, neuron), names, written, most)


@kept(1000)
def plane(*runs: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The states of some runs in one plane: (1 + layers, token, 2) each, and the shares of variance."""
    return one_plane(*runs)


@kept(200)
def without_parts(name: str, subject: Hashable, edits: tuple[Edit, ...]) -> dict[str, Fate]:
    """`measures.without.fates` of an input."""
    return fates(pipelines.pipeline(name), subject, edits)


@kept(200)
def answered(name: str, subject: Hashable, rows: tuple[tuple[Edit, ...], ...], token: int) -> Answers:
    """`measures.without.answers` of an input."""
    return answers(pipelines.pipeline(name), subject, rows, token)


@kept(200)
def filled_up(name: str, ids: Sequence[int], token: int) -> FilledUp:
    """`measures.fillers.fill_up` of a sentence."""
    return fill_up(pipelines.pipeline(name), ids, token)


@kept(256)
def gradients(name: str, X_0: np.ndarray, token: int) -> np.ndarray:
    """`gradient_lengths` of a pipeline before training: (with or without residual sums, 1 + layers)."""
    network = untrained(pipelines.pipeline(name).network.config)
    return np.stack([gradient_lengths(network, X_0, token, residual) for residual in (True, False)])
