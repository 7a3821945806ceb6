"""The same words in another order: how each word's vectors change through the encoder."""

from collections.abc import Sequence

import numpy as np

from model.analysis import cosine_similarity
from model.edits import Edit
from model.graph import Graph
from model.measures.comparison import Pair
from model.trace import Trace


def without_positions(graph: Graph) -> tuple[Edit, ...]:
    """The edits that remove all information about word order from an encoder."""
    layers = "layers.{l}.attention."
    if graph.config.positions != "rotary":
        places = (Edit("embedding.positions", "zero"),) if graph.config.places_added else ()
        distances = (Edit(f"{layers}relative", "zero"),) if graph.config.by_distance else ()
        return *places, *distances, *(Edit(f"{layers}{name}", "zero") for name in graph.config.distance_terms)
    windows = (Edit(f"{layers}masked", "unmasked"),) if graph.config.local else ()
    return Edit(f"{layers}Q_rotated", "bypass"), Edit(f"{layers}K_rotated", "bypass"), *windows


def same_words(one: Sequence[str], other: Sequence[str]) -> list[Pair] | None:
    """Position of each token in the other list; None unless both hold the same tokens.

    Repeated tokens are paired in order.
    """
    if sorted(one) != sorted(other):
        return None
    left = {token: [place for place, name in enumerate(other) if name == token] for token in set(other)}
    return [Pair(place, left[token].pop(0), True) for place, token in enumerate(one)]


def likeness(one: Trace, other: Trace, pairs: Sequence[Pair]) -> np.ndarray:
    """Cosine of each word's two vectors, (2 + layers, token): as embedding, with position, after each layer."""
    here, there = [pair.one for pair in pairs], [pair.other for pair in pairs]
    steps = [(run["embedding.tokens"], *run.states()) for run in (one, other)]
    return np.array(
        [
            [cosine_similarity(a[[i]], b[[j]])[0, 0] for i, j in zip(here, there, strict=True)]
            for a, b in zip(*steps, strict=True)
        ]
    )
