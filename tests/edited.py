"""Edits of every kind for the laws of edited runs: which operations at which keys, and a second input to patch from."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np

from model import Edit, EditError, Trace
from model.edits import OPERATIONS
from model.pipeline import Pipeline
from model.trace import recorded
from model.translator import Translator
from tests.networks import example, pipeline

#: Of each kind one: words, patches, flat, with the norm before and behind, ReLU and GELU.
KINDS = ["narrow words", "pre-norm patches", "trained flat", "003", "pre-norm words"]
#: Fields that make each operation a full one.
FILLED = {
    "scale": {"value": 1.7}, "set": {"value": -1.3}, "noise": {"value": 1.0, "seed": 3}, "window": {"value": 1},
    "temperature": {"value": 3.0}, "shuffle": {"seed": 1}, "shift": {"value": 2}, "remove": {"token": 1},
    "swap": {"token": 0, "from_token": 1},
}  # fmt: skip


def before_mask(name: str) -> str:
    """The row of the scores as the mask reads them: divided, and with what the distance adds."""
    return pipeline(name).graph["layers.0.attention.masked"].reads[0].replace("layers.0.", "layers.{l}.")


def run(name: str, *edits: Edit) -> Trace:
    return pipeline(name)(example(name), edits)


def pair_of(name: str) -> tuple[object, object]:
    """Two inputs with as many tokens."""
    if name in ("trained text", "trained translation"):
        return "i love you .", "you love me ."
    first, second = (example(name, which) for which in (0, 1))
    if pipeline(name).config.input == "words":
        return tuple(first), tuple(reversed(first))
    return first, (second.numpy() * 255).round().astype(np.uint8).tobytes()


def some_keys(whole: Pipeline) -> list[str]:
    """All keys but those of the layers before the last, which are like it; of a translator, the decoder's."""
    side = "decoder." if isinstance(whole, Translator) else ""
    ends = (None, whole.graph.layers(side) - 1)
    return [
        key for key in recorded(whole.network) if whole.graph[key].layer in ends and key.startswith((side, "logits"))
    ]


def every_edit(whole: Pipeline, other: object) -> Iterator[Edit]:
    """Every operation at every key, whole and in parts, and in all layers at once."""
    for key in some_keys(whole):
        quantity = whole.graph[key]
        for operation in sorted(OPERATIONS):
            fields = {"source": other} if operation == "patch" else FILLED.get(operation, {})
            yield Edit(key, operation, **fields)
            if operation in ("zero", "hide", "patch"):
                yield Edit(key, operation, token=1, **fields)
            if operation in ("zero", "temperature", "causal", "hard") and quantity.layer is not None:
                yield Edit(quantity.row, operation, **fields)


def edited_runs(name: str) -> Iterator[tuple[Trace, Edit, Trace | EditError]]:
    """A fifth of these edits, drawn by chance: the run before, the edit, and the run with it or why there is none.

    Of the translator one in twenty; it stops after three pieces: with a changed decoder it would not find an end.
    """
    whole, (one, other), beams, share = pipeline(name), pair_of(name), {}, 5
    if isinstance(whole, Translator):
        whole, beams, share = Translator("brief", whole.network, whole.reader), {"beams": 1}, 20
        whole.config = replace(whole.config, max_len=4)
    before, every = whole(one, **beams), list(every_edit(whole, other))
    for edit in Random(0).sample(every, len(every) // share):
        try:
            yield before, edit, whole(one, [edit], **beams)
        except EditError as error:
            yield before, edit, error
