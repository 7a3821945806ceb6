"""What a feed-forward network does: each position for itself, and each neuron a memory."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.activations import ACTIVATIONS
from model.embedding import TokenEmbedding
from model.encoder import Encoder, EncoderLayer


@dataclass(frozen=True)
class Positionwise:
    """What happened when positions changed places, and when each position had the sub-layer to itself."""

    order: np.ndarray  # (token,): the shuffled input has row order[i] of X' at place i
    shuffled: np.ndarray  # (token, d_model): the FFN of the shuffled rows
    shuffle_gap: float  # the largest |FFN(shuffled X') − shuffled FFN(X')|
    ffn_gaps: np.ndarray  # (token,): the largest |FFN of the row alone − its row of FFN(X')|
    attention_gaps: np.ndarray  # (token,): the same of the attention before it, on X


def positionwise(layer: EncoderLayer, X: np.ndarray, X_ffn: np.ndarray, seed: int = 0) -> Positionwise:
    """Shuffle the rows that a layer's FFN reads, and feed them one by one; the attention as the counter-example.

    Shuffling alone proves little: attention without a mask passes that test too. Only a position-wise
    network gives each row the same output when all the others are gone.

    Args:
        layer: the layer; it is not changed.
        X: what its attention reads, `(token, d_model)`.
        X_ffn: what its FFN reads, `(token, d_model)`.
        seed: of the shuffle.

    Source: "applied to each position separately and identically", Vaswani et al. 2017, section 3.3.
    """
    order = np.random.default_rng(seed).permutation(len(X_ffn))
    # Copies, since torch wants memory that it may write to.
    x, x_ffn = torch.from_numpy(X.copy()), torch.from_numpy(X_ffn.copy())
    with torch.inference_mode():
        together = layer.ffn(x_ffn[None])[0]
        shuffled = layer.ffn(x_ffn[order][None])[0]
        alone = layer.ffn(x_ffn[:, None])[:, 0]  # a batch of sequences of length one
        attention_together = layer.attention(x[None], x[None])[0]
        attention_alone = layer.attention(x[:, None], x[:, None])[:, 0]
    return Positionwise(
        order,
        shuffled.numpy(),
        float((shuffled - together[order]).abs().max()),
        (alone - together).abs().amax(dim=1).numpy(),
        (attention_alone - attention_together).abs().amax(dim=1).numpy(),
    )


def pushes(network: Encoder, layer: int, neuron: int) -> np.ndarray:
    """How far a neuron's output vector points to each word or class: w · E[word], w the neuron's row of W₂.

    For words E is the embedding matrix, which is also the last matrix of the masked-word head; where its rows are
    narrow, E W_E. For images it is the classifier's matrix, or the mean of two; they need one. Later layers and the
    head transform what is written, so this is a tendency, not an effect.

    Returns:
        `(word or class,)` float32.

    Source: Geva et al. 2021, "Transformer Feed-Forward Layers Are Key-Value Memories", section 4.
    """
    value = network.layers[layer].ffn.W_2.weight[:, neuron]
    if network.config.layer_scale:
        value = value * network.layers[layer].scale_2.scale
    with torch.inference_mode():
        if not isinstance(network.embedding, TokenEmbedding):
            return (_classifier(network) @ value).numpy()
        if network.embedding.W_E is not None:
            value = value @ network.embedding.W_E.weight
        return (network.embedding.E.weight @ value).numpy()


def _classifier(network: Encoder) -> Tensor:
    """The matrix of a classifier (class, d_model); of two the mean, since y is the mean of what they
    say; where one of two reads the mean of the patches, that which reads [CLS].
    """
    if network.config.distillation_head:
        return (network.cls_logits.weight + network.distillation_logits.weight) / 2
    return network.cls_logits.weight if network.config.patch_head == "beside" else network.logits.weight


def activation_curve(activation: str, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """The line of an activation over [low, high], at least from −3 to 3: (points, values).

    So many points that a measured pair lies on the line that joins them.
    """
    low, high = min(-3.0, low), max(3.0, high)
    points = np.linspace(low, high, int(12 * (high - low)))
    u = torch.from_numpy(points)
    return points, ACTIVATIONS[activation].module()(u).numpy()
