"""What the taps of a network see on many sentences: padded batches instead of one traced run after the other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from model.batches import alike
from model.decoder import TARGET_LANGUAGES, TranslationNetwork
from model.encoder import Encoder, padding_mask
from model.pipeline import Pipeline
from model.trace import record

PADDED = -1  # stands for no piece; what a vocabulary calls [PAD] may be any of its ids
SPECIAL = {"[PAD]", "[CLS]", "[SEP]", *TARGET_LANGUAGES.values()}


@dataclass(frozen=True)
class Attended:
    """Who looks at whom in one run: `weights` is (layer, head, query, key), each row summing to 1."""

    queries: list[str]  # the tokens that look
    keys: list[str]  # the tokens looked at: the same ones, or a translation's source
    weights: np.ndarray
    causal: bool = False

    @property
    def visible(self) -> np.ndarray:
        """(query, key): True where a query may look at a key."""
        everything = np.ones((len(self.queries), len(self.keys)), dtype=bool)
        return np.tril(everything) if self.causal else everything


def kinds(tokens: list[str]) -> np.ndarray:
    """What each token is: "special", "punctuation" (no letter and no figure in it) or "word"."""

    def kind(token: str) -> str:
        if token in SPECIAL:
            return "special"
        return "word" if any(c.isalnum() for c in token) else "punctuation"

    return np.array([kind(token) for token in tokens])


def attention(pipeline: Pipeline, sentences: list[list[int]]) -> list[Attended]:
    """An encoder's attention on each sentence of ids, [CLS] and [SEP] included."""
    keys = [f"layers.{layer}.attention.weights" for layer in range(pipeline.config.layers)]
    seen: dict[int, Attended] = {}
    for i, values in _runs(pipeline.network, keys, _encode(pipeline.network), sentences):
        tokens = pipeline.reader.read(tuple(sentences[i])).tokens
        weights = np.stack([value[:, : len(tokens), : len(tokens)] for value in values])
        seen[i] = Attended(tokens, tokens, weights)
    return [seen[i] for i in range(len(sentences))]


def pair_attention(
    network: TranslationNetwork, vocabulary: list[str], sources: list[list[int]], targets: list[list[int]]
) -> tuple[list[Attended], list[Attended]]:
    """A decoder's self- and cross-attention while it reads each true target (language first, without [SEP])."""
    words = vocabulary + list(TARGET_LANGUAGES.values())
    layers = range(len(network.decoder.layers))
    keys = [f"decoder.layers.{layer}.{part}.weights" for part in ("attention", "cross") for layer in layers]

    def run(x: Tensor, y: Tensor) -> Tensor:
        mask = padding_mask(x, PADDED)
        return network.decoder(y.clamp(min=0), network.encode(x.clamp(min=0), mask), mask)

    seen: dict[int, tuple[Attended, Attended]] = {}
    for i, values in _runs(network, keys, run, sources, targets):
        source, target = ([words[piece] for piece in side[i]] for side in (sources, targets))
        own = np.stack([value[:, : len(target), : len(target)] for value in values[: len(layers)]])
        cross = np.stack([value[:, : len(target), : len(source)] for value in values[len(layers) :]])
        seen[i] = (Attended(target, target, own, causal=True), Attended(target, source, cross))
    return [seen[i][0] for i in range(len(sources))], [seen[i][1] for i in range(len(sources))]


def _encode(network: Encoder) -> Callable[[Tensor], Tensor]:
    """The encoder without its head, on a padded batch. Which piece stands where nothing is read makes no difference."""
    return lambda x: Encoder.forward(network, x.clamp(min=0), padding_mask(x, PADDED))


def activations(network: Encoder, sentences: list[list[int]]) -> np.ndarray:
    """The activation of every FFN neuron at every token of the sentences, one after the other.

    Returns:
        `(token, layer, d_ff)` float16.
    """
    keys = [f"layers.{layer}.ffn.activation" for layer in range(network.config.layers)]
    starts = np.cumsum([0, *map(len, sentences)])
    table = np.empty((starts[-1], network.config.layers, network.config.d_ff), dtype=np.float16)
    for i, values in _runs(network, keys, _encode(network), sentences):
        table[starts[i] : starts[i + 1]] = np.stack([value[: len(sentences[i])] for value in values], axis=1)
    return table


def _runs(
    network: Encoder, keys: list[str], run: Callable[..., Tensor], *sides: list[list[int]]
) -> Iterator[tuple[int, list[np.ndarray]]]:
    """For each input, shortest first: its place in the list, and its values at the keys, padding still on."""
    lengths = [max(map(len, rows)) for rows in zip(*sides, strict=True)]
    for group in alike(lengths):
        batch = [pad_sequence([torch.tensor(side[i]) for i in group], True, PADDED) for side in sides]
        _, values = record(network, *batch, run=run)
        for row, i in enumerate(group):
            yield i, [values[key][row].numpy() for key in keys]
