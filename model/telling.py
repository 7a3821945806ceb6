"""What of a run is worth showing first: the word whose hiding tells most, and the head that an answer hangs on."""

from collections import Counter

import numpy as np
import torch

from model.analysis import whole_words
from model.cost import multiply_adds, total
from model.edits import head_off
from model.encoder import Encoder
from model.pipeline import SPECIAL_TOKENS, Pipeline, TextReader
from model.sweep import moved
from model.trace import Trace

MOST_TOKENS = 256  # in the batch in which words are hidden in turn
MOST_HEADS = 8  # that are switched off in turn; of a large network fewer
MOST_PRODUCTS = 12_000_000_000  # multiply-adds for that


@torch.inference_mode()
def telling_word(pipeline: Pipeline, trace: Trace) -> int | None:
    """The place of the word to hide first: where the encoder, without it, has a guess and still a doubt.

    Words of one piece are hidden in turn, all in one batch (of a long sentence the longest words); taken is the one
    whose likeliest guess comes nearest to even odds. A word that stands there twice comes after all others. None where
    there is no whole word to hide.
    """
    count = Counter(trace.tokens)
    places = [places[0] for places in whole_words(trace.tokens) if len(places) == 1]
    places = [place for place in places if trace.tokens[place].isalpha()]
    places = [place for place in places if count[trace.tokens[place]] == 1] or places
    places.sort(key=lambda place: -len(trace.tokens[place]))
    places = places[: max(1, MOST_TOKENS // len(trace.tokens))]
    if not places or pipeline.config.head != "masked-word" or not isinstance(pipeline.reader, TextReader):
        return places[0] if places else None
    x = torch.tensor([pipeline.reader.hide(trace.ids, [place]) for place in places])
    segments = torch.tensor([trace.segments] * len(places)) if trace.segments else None
    Z = Encoder.forward(pipeline.network, x, segments=segments)[range(len(places)), places]
    best = pipeline.network.read_out(Z).softmax(-1).amax(-1)
    return places[int((best - 0.5).abs().argmin())]


def near_and_far(trace: Trace, token: int) -> tuple[np.ndarray, np.ndarray]:
    """Which tokens are words (or patches) beside `token`, and which stand further away: (token,) of booleans each.

    From what stands nowhere, as [CLS] before patches, all is far.
    """
    away = np.linalg.norm(trace.places - trace.places[token], axis=1)  # NaN where one of the two stands nowhere
    words = np.array([name not in SPECIAL_TOKENS for name in trace.tokens]) & ~np.isnan(trace.places).any(axis=1)
    others, beside = np.arange(len(words)) != token, away < 2
    return words & others & beside, words & others & ~beside


def answering(trace: Trace, token: int) -> list[int]:
    """The places at which the answer is read: all those whose mean a classifier reads, else `token` alone."""
    read = [place for place in trace.config.tokens_read if place < len(trace.tokens)]
    return read if len(read) > 2 else [token]


def place_to_show(trace: Trace, layer: int, head: int, token: int) -> int:
    """Of the places where the answer is read, the one at which a head reads most from afar."""
    weights = trace[f"layers.{layer}.attention.weights"][head]
    return max(answering(trace, token), key=lambda place: weights[place, near_and_far(trace, place)[1]].sum())


def telling_head(pipeline: Pipeline, trace: Trace, token: int) -> tuple[int, int]:
    """The layer and the head, from 0, to watch at `token`: it reads other words, and without it the answer moves most.

    Of the heads that read most from words (or patches) that are neither `token` itself nor beside it (on average over
    the places where the answer is read, if they are many), each is switched off in turn; taken is the one without which
    most of the probability is `moved`. Without a head of the network to answer, it is the first of them.
    """
    weights = trace.over_layers("attention.weights")  # (layer, head, query, key)
    strength: np.ndarray = np.zeros(weights.shape[:2], np.float32)
    for place in answering(trace, token):
        near, far = (weights[:, :, place, places].sum(-1) for places in near_and_far(trace, place))
        strength += far + near / 100  # where nothing is far, what is near decides
    each = total(multiply_adds(trace.config, len(trace.tokens))).number
    most = max(1, min(MOST_HEADS, MOST_PRODUCTS // each))
    order = np.argsort(-strength, axis=None, kind="stable")[:most]
    heads = [divmod(int(place), strength.shape[1]) for place in order]
    if "logits" not in trace or len(heads) == 1:
        return heads[0]
    off = [(head_off(layer, head),) for layer, head in heads]
    subject = tuple(trace.ids) or trace.subject
    return heads[int(moved(pipeline, subject, off, token).argmax())]
