"""How much of the gradient of an answer reaches each layer, with the residual connections and without them."""

import numpy as np
import torch
from torch import Tensor

from model.config import EncoderConfig
from model.encoder import Encoder, EncoderLayer
from model.heads import network_for


def untrained(config: EncoderConfig) -> Encoder:
    """A network of these sizes as training would begin with it; the same at every call."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return network_for(config).eval()


def gradient_lengths(network: Encoder, X_0: np.ndarray, token: int = 0, residual: bool = True) -> np.ndarray:
    """How long the gradient of log p is at what each layer reads, as a multiple of how long it is at Z: (1 + layers,).

    X_0: (token, d_model), what the first layer reads. p is the probability of the network's first answer: at `token`,
    or, of a classifier, of the whole input. residual False: every sum X + Sublayer(X) is Sublayer(X) alone, so that
    the gradient has no way but through the sub-layers; the weights are the same.

    Source: lecture notes 000 and 004 (a residual connection lets gradients through); He et al. 2016, "Identity Mappings
    in Deep Residual Networks".
    """
    states = [torch.tensor(X_0)[None].requires_grad_()]
    for layer in network.layers:
        states.append(layer(states[-1]) if residual else _without_residual(layer, states[-1]))
    Z = network.norm(states[-1])
    logits = network.read_out(Z[:, token] if network.config.head == "masked-word" else Z)[0]
    gradients = torch.autograd.grad(logits.log_softmax(-1).max(), states)
    lengths = torch.stack([gradient.norm() for gradient in gradients])
    return (lengths / lengths[-1]).numpy()


def _without_residual(layer: EncoderLayer, x: Tensor) -> Tensor:
    """What a layer would make of x (batch, token, d_model) if its sums left out what was there."""
    if layer.norm_first:
        z = layer.norm_1(x)
        return layer.ffn(layer.norm_2(layer.attention(z, z)))
    return layer.norm_2(layer.ffn(layer.norm_1(layer.attention(x, x))))
