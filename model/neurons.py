"""Neurons of a feed-forward network: the activation function, and the words to which output vectors point."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from model.activations import ACTIVATIONS
from model.embedding import TokenEmbedding
from model.encoder import Encoder

BEGINS = "Ġ▁"  # signs that begin a word in some vocabularies


def pushes(network: Encoder, layer: int, neuron: int | Sequence[int]) -> np.ndarray:
    """Product of a neuron's output vector with each word or class: w · E[word], w the neuron's row of W₂.

    For words, E is the embedding matrix, which is also the last matrix of the masked-word head, or E W_E if its rows
    are narrower. For images it is the matrix of the classifier, which they need, or the mean of two. Later layers and
    the head transform the output vector, so this is a tendency, not an effect.

    Returns:
        `(word or class,)` float32; of several neurons `(neuron, word or class)`.

    Source: Geva et al. 2021, "Transformer Feed-Forward Layers Are Key-Value Memories", section 4.
    """
    value = network.layers[layer].ffn.W_2.weight.T[neuron]
    if network.config.layer_scale:
        value = value * network.layers[layer].scale_2.scale
    with torch.inference_mode():
        if not isinstance(network.embedding, TokenEmbedding):
            return (value @ _classifier(network).T).numpy()
        if network.embedding.W_E is not None:
            value = value @ network.embedding.W_E.weight
        return (value @ network.embedding.E.weight.T).numpy()


def scripts(names: Iterable[str]) -> frozenset[bool]:
    """Of the words among an input's tokens, whether their letters are ASCII: both, if some are and some are not."""
    words = [name for name in names if name[:1] + name[-1:] != "[]" and any(map(str.isalpha, name.lstrip(BEGINS)))]
    return frozenset(map(_in_ascii, words)) or frozenset([True])


def _in_ascii(word: str) -> bool:
    return all(letter.isascii() for letter in word.lstrip(BEGINS) if letter.isalpha())


def pointed_to(scores: np.ndarray, names: Sequence[str], written: Collection[bool] | None, most: int = 3) -> list[int]:
    """Indices of the whole words to which a neuron points most, of those in the `scripts` of the input; None: of any
    names, as for classes.

    scores: from `pushes`, (word or class,); negated for where it points away from. names: their words or classes.
    """
    ranked = (i for i in np.argsort(-scores, kind="stable").tolist() if scores[i] > 0 and i < len(names))
    if written is not None:
        ranked = (i for i in ranked if is_word(names[i]) and _in_ascii(names[i]) in written)
    return [*islice(ranked, most)]


def is_word(piece: str) -> bool:
    """Whether a piece of the vocabulary is a word: letters only, and at least two if they are ASCII."""
    letters = piece.lstrip(BEGINS)
    return letters.isalpha() and (len(letters) > 1 or not letters.isascii())


def _classifier(network: Encoder) -> Tensor:
    """The matrix (class, d_model) of a classifier, or the mean of two whose outputs are averaged.

    If a second one reads the mean of the patches, that of the one which reads [CLS].
    """
    if network.config.distillation_head:
        return (network.cls_logits.weight + network.distillation_logits.weight) / 2
    return network.cls_logits.weight if network.config.patch_head == "beside" else network.logits.weight


@lru_cache(256)
def activation_curve(activation: str, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Points (x, act(x)) of an activation over [low, high], at least from −3 to 3.

    They are dense enough that measured pairs lie on the line through them.
    """
    low, high = min(-3.0, low), max(3.0, high)
    points = np.linspace(low, high, int(12 * (high - low)))
    u = torch.from_numpy(points)
    return points, ACTIVATIONS[activation].module()(u).numpy()
