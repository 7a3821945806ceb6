"""neurons.npz: which pieces, in which contexts, fire each neuron of an encoder of sentences.

What a neuron writes is not in it: that follows from the weights alone (neurons.pushes).
"""

import numpy as np

from model.files import seal
from model.measures.tables import LEVELS, NEURONS, Home
from model.training.observe import SPECIAL

LOW = 0.9  # of a neuron's positive activations are stronger than its "low" contexts


def strongest(activation: np.ndarray, sentence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of a neuron's top, middle and low contexts, and how many places it is active at, for all neurons.

    Args:
        activation: `(place, neuron)`.
        sentence: the number of each place's sentence, `(place,)`.

    Returns:
        Places `(neuron, 7)`, -1 where there are not enough, and counts `(neuron,)`. The top ones are the strongest
        places of their sentences, so that one sentence does not fill them all.
    """
    count = (activation > 0).sum(0)
    order = np.argsort(-activation, axis=0, kind="stable")
    places = np.full((activation.shape[1], sum(LEVELS.values())), -1)
    top, middle, low = LEVELS.values()
    for neuron, active in enumerate(count):
        ranked = order[:active, neuron]
        _, first = np.unique(sentence[ranked[: 50 * top]], return_index=True)
        best = ranked[np.sort(first)[:top]]
        rest = np.setdiff1d(np.arange(active), np.flatnonzero(np.isin(ranked, best)))
        places[neuron, : len(best)] = best
        if len(rest) >= middle + low:
            for start, some, share in ((top, middle, 0.5), (top + middle, low, LOW)):
                at = min(int(share * len(rest)), len(rest) - some)
                places[neuron, start : start + some] = ranked[rest[at : at + some]]
    return places, count


def write_neurons(tokens: list[list[str]], activations: np.ndarray, home: Home) -> np.ndarray:
    """Write the table of the sentences' neurons. Returns the share of pieces at which each is active (layer, d_ff).

    Args:
        tokens: of each sentence, special ones included.
        activations: `(token, layer, d_ff)`, all sentences one after the other.
        home: where the pages look for it.
    """
    flat = [token for sentence in tokens for token in sentence]
    sentence = np.repeat(np.arange(len(tokens)), list(map(len, tokens)))
    words = np.flatnonzero([token not in SPECIAL for token in flat])
    vocabulary, pieces = np.unique(flat, return_inverse=True)
    if len(flat) > np.iinfo(np.uint16).max:
        raise ValueError(f"{len(flat)} tokens are more than the table can count")
    places, counts, values = [], [], []
    for layer in range(activations.shape[1]):
        activation = activations[words, layer].astype(np.float32)
        found, count = strongest(activation, sentence[words])
        some = found >= 0
        value = np.take_along_axis(activation.T, found.clip(min=0), axis=1)
        places.append(np.where(some, words[found.clip(min=0)], 0))
        values.append(np.where(some, value, 0))
        counts.append(count)
    active = np.array(counts) / len(words)
    home.folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        home.folder / NEURONS,
        weights=np.array(home.mark),
        vocabulary=vocabulary,
        pieces=pieces.astype(np.uint16),
        starts=np.cumsum([0, *map(len, tokens)]).astype(np.uint16),
        active=active.astype(np.float16),
        places=np.array(places).astype(np.uint16),
        activations=np.array(values).astype(np.float16),
    )
    seal(home.folder / NEURONS)
    return active
