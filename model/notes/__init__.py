"""The lecture notes' own code beside ours: the same weights, the same input.

The code stands in note_000.py to note_004.py, under the notes' names and without their comments; of notes that have
formulas alone, these line by line. `BLOCKS` says what of it computes what a class of ours does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from model.config import PRESETS, EncoderConfig
from model.embedding import SinusoidalPositions, TokenEmbedding
from model.encoder import EncoderLayer
from model.heads import ClassifierNetwork, network_for
from model.notes import note_000, note_001, note_002, note_003, note_004
from model.sublayers import FeedForward, MultiHeadAttention
from model.trace import Trace, graph_of, record

#: Of some input, what the note's code puts out, and what ours does.
Pair = tuple[Tensor, Tensor]
Activation = Literal["relu", "gelu"]
#: What makes of our layer a function of the note's with its weights.
Theirs = Callable[[EncoderLayer, EncoderConfig], Callable[[Tensor], Tensor]]
#: What the notes call our parts.
NAMES_000 = {"W_1": "fc1", "W_2": "fc2"}
NAMES_002 = {
    "embedding": "embed", "E": "lut", "attention": "self_attn", "ffn": "feed_forward", "norm_1": "norm1",
    "norm_2": "norm2", "W_Q": "q_linear", "W_K": "k_linear", "W_V": "v_linear", "W_O": "out", "W_1": "linear1",
    "W_2": "linear2",
}  # fmt: skip


@dataclass(frozen=True)
class Block:
    """Code of a note, and the class of ours that does the same.

    `both` runs the two, of a run and a layer. `activation`: the note's, where it has one. `in_layer`: whether it stands
    in a layer. `reads`: of which kind of input alone it is the code.
    """

    note: str
    ours: type
    code: tuple[Callable[..., object], ...]
    both: Callable[[Trace, int], Pair]
    activation: str | None = None
    in_layer: bool = True
    reads: str | None = None

    @property
    def key(self) -> str:
        """What its texts are called."""
        return f"{self.ours.__name__}_{self.note}"

    def run(self, trace: Trace, layer: int) -> tuple[np.ndarray, np.ndarray]:
        """What the note's code and ours make of what the layer read, with its weights: (token, …) each.

        Ours is told to do what the note does otherwise on purpose: its activation, no biases, its ε.
        """
        with torch.inference_mode():
            theirs, ours = self.both(trace, layer)
        return theirs[0].numpy(), ours[0].numpy()


def blocks(ours: object, config: EncoderConfig) -> list[Block]:
    """What the notes have of a class of ours in such an encoder, in the order of the notes."""
    return [block for block in BLOCKS if block.ours is ours and block.reads in (None, config.input)]


def with_weights(make: Callable[[], nn.Module], state: Mapping[str, Tensor], names: Mapping[str, str]) -> nn.Module:
    """A module that has these weights, which it shares, under its own names; without dropout."""
    with torch.device("meta"):
        module = make()
    renamed = {".".join(names.get(part, part) for part in key.split(".")): value for key, value in state.items()}
    module.load_state_dict(renamed, assign=True)
    return module.eval()


def _layer(trace: Trace, layer: int, activation: Activation, biases: bool, eps: float) -> EncoderLayer:
    """Our layer, with the weights of this one, and with what a note decides otherwise."""
    config = replace(trace.config, activation=activation, norm_first=False, norm_eps=eps)
    state = trace.network.layers[layer].state_dict()
    if not biases:
        state |= {key: torch.zeros_like(b) for key, b in state.items() if key.startswith("attention.") and b.dim() == 1}
    return with_weights(lambda: EncoderLayer(config), state, {})


def _in_layer(
    part: str, theirs: Theirs, activation: Activation = "relu", biases: bool = True, eps: float = 1e-5
) -> Callable[[Trace, int], Pair]:
    """What runs a note's "attention", its "ffn" or its whole "layer" on what ours reads."""

    def both(trace: Trace, layer: int) -> Pair:
        noted = _layer(trace, layer, activation, biases, eps)
        attention, ffn = trace.graph.sublayers(layer)
        read = {"attention": attention.reads, "ffn": ffn.reads, "layer": attention.before}[part]
        x = torch.from_numpy(trace[read].copy())[None]
        run: dict[str, Callable[[Tensor], Tensor]]
        run = {"attention": lambda x: noted.attention(x, x), "ffn": noted.ffn, "layer": noted}
        return theirs(noted, trace.config)(x), run[part](x)

    return both


def _module(part: str, make: Callable[[EncoderConfig], nn.Module], names: Mapping[str, str], times: int = 1) -> Theirs:
    """A note's module with the weights of a part of our layer. times: how often it is given its input."""

    def theirs(layer: EncoderLayer, config: EncoderConfig) -> Callable[[Tensor], Tensor]:
        ours = layer if part == "layer" else layer.get_submodule(part)
        module = with_weights(lambda: make(config), ours.state_dict(), names)
        return lambda x: module(*[x] * times)

    return theirs


def _formulas_001(layer: EncoderLayer, config: EncoderConfig) -> Callable[[Tensor], Tensor]:
    attention, ffn = layer.attention, layer.ffn
    W_Q, W_K, W_V = ([*W.weight.chunk(config.heads)] for W in (attention.W_Q, attention.W_K, attention.W_V))
    W_1, b_1, W_2, b_2 = ffn.W_1.weight.T, ffn.W_1.bias, ffn.W_2.weight.T, ffn.W_2.bias
    norms = [layer.norm_1, layer.norm_2]
    return lambda X: note_001.encoder_layer(X, W_Q, W_K, W_V, attention.W_O.weight.T, W_1, b_1, W_2, b_2, norms)


def _formulas_004(layer: EncoderLayer, config: EncoderConfig) -> Callable[[Tensor], Tensor]:
    attention, ffn = layer.attention, layer.ffn
    W = [each.weight.T for each in (attention.W_Q, attention.W_K, attention.W_V, attention.W_O)]
    of_ffn = [ffn.W_1.weight.T, ffn.W_1.bias, ffn.W_2.weight.T, ffn.W_2.bias]
    norms = [[norm.weight, norm.bias] for norm in (layer.norm_1, layer.norm_2)]
    return lambda X: note_004.encoder_layer(X, config.heads, W, of_ffn, *norms)


def _looked_up(trace: Trace, _: int) -> Pair:
    config, embedding, ids = trace.config, trace.network.embedding, torch.tensor([trace.ids])
    names = {"weight": "lut.weight"}
    make = partial(note_002.Embeddings, config.d_model, config.vocab_size)
    return with_weights(make, embedding.E.state_dict(), names)(ids), embedding.look(ids)


def _placed(trace: Trace, _: int) -> Pair:
    x = torch.from_numpy(trace["embedding.tokens"].copy())[None]
    return note_002.PositionalEncoding(trace.config.d_model)(x), x + trace.network.embedding.positions(x.size(1))


def _classified(trace: Trace, _: int) -> Pair:
    """Note 003 from the drawing to the answer: what it does otherwise, it does by a slip."""
    network, config, image = trace.network, trace.config, torch.tensor(trace.picture)[None]
    layer, place = network.layers[0], note_002.PositionalEncoding(config.d_model)
    attention, ffn = (theirs(layer, config) for theirs in (_ATTENTION_002, _FFN_002))
    theirs = note_003.classify(
        image, network.embedding.W_E, place, lambda Q, K, V: attention(Q), layer.norm_1, ffn, network.logits
    )
    return theirs, network(image).softmax(dim=-1)


_ATTENTION_000 = _module("attention", lambda c: note_000.MultiHeadSelfAttention(c.d_model, c.heads), {})
_ATTENTION_002 = _module("attention", lambda c: note_002.MultiHeadAttention(c.heads, c.d_model), NAMES_002, times=3)
_FFN_000 = _module("ffn", lambda c: note_000.FeedForward(c.d_model, c.d_ff), NAMES_000)
_FFN_002 = _module("ffn", lambda c: note_002.FeedForward(c.d_model, c.d_ff), NAMES_002)
_LAYER_002 = _module("layer", lambda c: note_002.EncoderLayer(c.d_model, c.heads, c.d_ff), NAMES_002)
_FORMULAS_004 = note_004.LayerNorm, note_004.MultiHeadAttention, note_004.FFN, note_004.encoder_layer

BLOCKS: tuple[Block, ...] = (
    Block("002", TokenEmbedding, (note_002.Embeddings,), _looked_up, in_layer=False),
    Block("002", SinusoidalPositions, (note_002.PositionalEncoding,), _placed, in_layer=False),
    Block("000", MultiHeadAttention, (note_000.MultiHeadSelfAttention,), _in_layer("attention", _ATTENTION_000)),
    Block("002", MultiHeadAttention, (note_002.MultiHeadAttention,), _in_layer("attention", _ATTENTION_002)),
    Block("000", FeedForward, (note_000.FeedForward,), _in_layer("ffn", _FFN_000, "gelu"), "gelu"),
    Block("002", FeedForward, (note_002.FeedForward,), _in_layer("ffn", _FFN_002), "relu"),
    Block("001", EncoderLayer, (note_001.encoder_layer,), _in_layer("layer", _formulas_001, biases=False), "relu"),
    Block("002", EncoderLayer, (note_002.EncoderLayer,), _in_layer("layer", _LAYER_002), "relu"),
    Block("004", EncoderLayer, _FORMULAS_004, _in_layer("layer", _formulas_004, biases=False, eps=1e-6), "relu"),
    Block("003", ClassifierNetwork, (note_003.classify,), _classified, in_layer=False, reads="flat"),
)


@dataclass(frozen=True)
class WholeRun:
    """Note 002's last example run: what it prints, how far its encoder is from ours at most with the same weights on
    the same ids, and of each quantity of ours, recorded, its symbol (LaTeX), shape, smallest and largest value.
    """

    printed: list[str]
    gap: float
    rows: list[tuple[str, tuple[int, ...], float, float]]


def whole_run() -> WholeRun:
    """The encoder of note 002 and ours, with random weights, on a batch of two sentences of ten ids."""
    config = PRESETS["002"]
    with torch.random.fork_rng(devices=[]), torch.inference_mode():
        torch.manual_seed(0)
        printed = note_002.test()
        network = network_for(config).eval()
        ids = torch.randint(0, config.vocab_size, (2, 10))
        state = network.state_dict() | {"pe.pe": note_002.PositionalEncoding(config.d_model).pe}
        make = partial(note_002.Encoder, config.vocab_size, config.d_model, config.layers, config.heads)
        theirs = with_weights(make, state, NAMES_002)(ids, None)
        Z, values = record(network, ids)
    shown = [quantity for quantity in graph_of(network) if quantity.traced and quantity.layer in (None, 0)]
    recorded = [(quantity.symbol, values[quantity.key]) for quantity in shown]
    rows = [(symbol, tuple(value.shape), float(value.min()), float(value.max())) for symbol, value in recorded]
    return WholeRun(printed, float((theirs - Z).abs().max()), rows)
