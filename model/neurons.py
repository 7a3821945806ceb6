"""What a neuron of a feed-forward network does: the activation function, and what its output vector points to."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from model.activations import ACTIVATIONS
from model.embedding import TokenEmbedding
from model.encoder import Encoder


def pushes(network: Encoder, layer: int, neuron: int | Sequence[int]) -> np.ndarray:
    """How far a neuron's output vector points to each word or class: w · E[word], w the neuron's row of W₂.

    For words E is the embedding matrix, which is also the last matrix of the masked-word head; where its rows are
    narrow, E W_E. For images it is the classifier's matrix, or the mean of two; they need one. Later layers and the
    head transform what is written, so this is a tendency, not an effect.

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


def pointed_to(scores: np.ndarray, names: Sequence[str], ascii_only: bool | None, most: int = 3) -> tuple[str, ...]:
    """The whole words that a neuron points to most, of ASCII or of other letters; None: whatever they are, as classes.

    scores: as `pushes` finds them, (word or class,); names: what each stands for.
    """
    ranked = (i for i in np.argsort(-scores, kind="stable").tolist() if scores[i] > 0 and i < len(names))
    if ascii_only is None:
        return tuple(names[i] for i in islice(ranked, most))
    fits = (name for name in map(names.__getitem__, ranked) if name.isascii() == ascii_only and name[:2] != "##")
    words = (name for name in fits if name[:1] + name[-1:] != "[]" and any(map(str.isalpha, name)))
    return tuple(islice(words, most))


def _classifier(network: Encoder) -> Tensor:
    """The matrix of a classifier (class, d_model); of two the mean, since y is the mean of what they
    say; where one of two reads the mean of the patches, that which reads [CLS].
    """
    if network.config.distillation_head:
        return (network.cls_logits.weight + network.distillation_logits.weight) / 2
    return network.cls_logits.weight if network.config.patch_head == "beside" else network.logits.weight


@lru_cache(256)
def activation_curve(activation: str, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """The line of an activation over [low, high], at least from −3 to 3: (points, values).

    So many points that a measured pair lies on the line that joins them.
    """
    low, high = min(-3.0, low), max(3.0, high)
    points = np.linspace(low, high, int(12 * (high - low)))
    u = torch.from_numpy(points)
    return points, ACTIVATIONS[activation].module()(u).numpy()
