"""Where attention goes, layer by layer: to words, or to tokens that many lean on for no reason ("attention sinks")."""

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from model.training.observe import Attended, kinds

FEWEST = 30  # sentences that a word must stand in to be compared


@dataclass(frozen=True)
class Shares:
    """One layer's attention from all tokens but the special ones, mean over heads: shares of 1.

    `even…` is what the same tokens would get from attention that looks everywhere alike.
    """

    special: float
    even_special: float
    punctuation: float
    even_punctuation: float
    sharpness: float  # mean of each row's largest weight
    word: str  # the word that is furthest above even attention, of those in FEWEST sentences or more
    to_word: float  # its share, mean over the sentences that it stands in
    even_word: float


def shares(seen: list[Attended]) -> list[Shares]:
    """One row for each layer."""
    layers = len(seen[0].weights)
    total, queries = {name: np.zeros(layers + 1) for name in ("special", "punctuation", "sharpness")}, 0
    columns: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(layers + 1))
    sentences: Counter[str] = Counter()
    for one in seen:
        looks = kinds(one.queries) != "special"
        if not looks.any():
            continue
        even = one.visible / one.visible.sum(1, keepdims=True)
        # The layers' mean over heads, and even attention as one layer more: (layer + 1, query, key).
        weights = np.concatenate([one.weights.mean(1), even[None]])[:, looks]
        kind = kinds(one.keys)
        for name in ("special", "punctuation"):
            total[name] += weights[..., kind == name].sum((1, 2))
        total["sharpness"][:-1] += one.weights[:, :, looks].max(-1).mean(1).sum(-1)
        queries += looks.sum()
        received = weights.mean(1)
        words = {key for key, what in zip(one.keys, kind, strict=True) if what == "word"}
        for word in words:
            columns[word] += received[:, [key == word for key in one.keys]].sum(-1)
        sentences.update(words)
    means = {word: columns[word] / count for word, count in sentences.items() if count >= FEWEST}
    rows = []
    for layer in range(layers):
        mean = {name: float(values[layer] / queries) for name, values in total.items()}
        even = {name: float(values[-1] / queries) for name, values in total.items()}
        word = max(means, key=lambda word: means[word][layer] - means[word][-1], default="")
        to_word, even_word = (means[word][layer], means[word][-1]) if word else (0.0, 0.0)
        rows.append(
            Shares(
                mean["special"],
                even["special"],
                mean["punctuation"],
                even["punctuation"],
                mean["sharpness"],
                word,
                float(to_word),
                float(even_word),
            )
        )
    return rows
