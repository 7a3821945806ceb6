"""Inputs for questions, and networks in which no answer is clear."""

import re
from collections.abc import Callable
from copy import deepcopy

import torch
from streamlit.testing.v1 import AppTest
from torch import nn

from model import Pipeline
from pages.drawing.text import catalogue
from pages.school.lessons.wording import heading_and_rest
from pages.screen.runs import pipelines

SENTENCE = "she [MASK] to the shop to buy some bread ."


def _off(*layers: nn.Linear) -> None:
    for layer in layers:
        layer.weight.zero_()
        if layer.bias is not None:
            layer.bias.zero_()


def _no_favourite(network: nn.Module) -> None:
    _off(*(layer.attention.W_Q for layer in network.layers))


def _no_order(network: nn.Module) -> None:
    network.embedding.positions.table.zero_()


def _nothing_found(network: nn.Module) -> None:
    _off(*(layer.attention.W_O for layer in network.layers))


def _keys_like_queries(network: nn.Module) -> None:
    for layer in network.layers:
        layer.attention.W_K.load_state_dict(layer.attention.W_Q.state_dict())


def _mixed_already(network: nn.Module) -> None:
    """A network in which each head writes only to its own dimensions."""
    for layer in network.layers:
        layer.attention.W_O.weight.copy_(torch.eye(len(layer.attention.W_O.weight)))
        layer.attention.W_O.bias.zero_()


def _no_thought(network: nn.Module) -> None:
    _off(*(layer.ffn.W_2 for layer in network.layers))


def _nothing_added(network: nn.Module) -> None:
    _nothing_found(network)
    _no_thought(network)


def _no_answer(network: nn.Module) -> None:
    """A network that gives all words the same probability."""
    network.transform[2].weight.zero_()
    network.transform[2].bias.zero_()
    network.logits.bias.zero_()


@torch.no_grad()
def doctored(*changes: Callable[[nn.Module], None]) -> Pipeline:
    whole = pipelines.pipeline("text")
    network = deepcopy(whole.network)
    for change in changes:
        change(network)
    return Pipeline("text", network, whole.reader)


def asked(app: AppTest, key: str, lang: str = "en") -> bool:
    """Whether the page asks this question."""
    heading, _ = heading_and_rest(catalogue(lang)[f"lesson.{key}.ask"])
    parts = map(re.escape, re.split(r"\{\w+\}|W_O|\[MASK\]", heading))
    question = re.compile("## " + ".+?".join(parts))
    return any(question.fullmatch(part.value) for part in app.main.markdown)
