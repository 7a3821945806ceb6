"""A sentence that relies on an equation is shown only where the run satisfies it: each such text, each kind of edit."""

import inspect
import re
from functools import cache

import numpy as np
import pytest

from model import Trace
from pages.drawing.state.link_values import EDITS
from pages.screen.runs import pipelines
from tests.equations import computed
from tests.links import CHANGES
from tests.pages.makers import every_picture
from tests.pages.opening import open_page, stands

LAYER, HEAD, SENTENCE = 2, 2, "the cat sat ."
OF_ONE = "layers.2.attention."
#: The paths that rollout follows: the residual connection, and attention.
WAYS = tuple(
    f"layers.{layer}.{name}"
    for layer in range(LAYER + 1)
    for name in ("attention.V", "attention.heads", "attention.output", "add_1", "norm_1", "add_2", "norm_2")
)
STEPS = tuple(OF_ONE + step for step in ("scores", "scaled", "weights", "heads"))
#: Text, its tab, the quantities whose equations it relies on, and whether in all heads.
RELIES = {
    "queries_keys_values.read_products": ("queries_keys_values", {"tab": "pair"}, STEPS[:1], False),
    "queries_keys_values.read_passed_scaled": ("queries_keys_values", {"tab": "pair"}, STEPS[1:], False),
    "attention.row_of_head": ("attention", {"tab": "map"}, STEPS, False),
    "attention.read.scaled": ("attention", {"tab": "steps", "stage": "scaled"}, STEPS[1:2], False),
    "attention.read.heads": ("attention", {"tab": "steps", "stage": "heads"}, STEPS[3:], False),
    "why.held": ("attention", {"tab": "map", "why": "1"}, STEPS[2:3], False),
    "origins.read_head_role": ("attention", {"why": "1", "stage": "weights"}, STEPS[2:3], False),
    "origins.read_word": ("heads", {"tab": "origins"}, STEPS[2:], True),
    "contribution.read_norms": ("heads", {"tab": "contribution"}, (OF_ONE + "output",), True),
    "layers.read.rollout": ("layers", {"tab": "origin"}, WAYS, True),
    "add_and_norm.read_add": ("add_and_norm", {"tab": "maps", "stage": "add_1"}, ("layers.2.add_1",), True),
}  # fmt: skip
#: Further edits: a token attends only to itself, to none, or its weights come from no softmax.
MORE = [
    "layers.1.attention.output~scale~value.0.0", "layers.{l}.attention.heads~zero", "layers.0.attention.V~zero",
    "layers.1.add_1~without", "layers.2.attention.scores~scale~value.2.0", "layers.{l}.attention.weights~even",
]  # fmt: skip


#: Pictures that only show recorded numbers, which no edit makes false.
RECORDED = {
    "aligning_heads", "alike_map", "all_heads", "as_makers", "at_temperature", "attention_map",
    "biases", "built_up", "by_layers", "cell_by_heads", "chosen_head", "classes", "colours", "cut", "difference",
    "every_place", "gradients_by_layer", "heads_and_ffns", "in_patches", "labels",
    "likeliest_outputs", "lines",
    "loudest", "maps", "matrix", "mixed", "moved_most", "nearest", "needed", "next_pieces", "on_the_way",
    "one_by_one", "order", "origin", "over_heads", "over_one", "parts_picture", "path",
    "pixels_of_one", "plane", "probe_looks", "pushes", "quantity_map", "row_sums", "scores", "search_results",
    "sentence_map", "similarity", "similarity_of_patches", "similarity_of_words", "span", "tags", "token_map",
    "turns", "vectors", "vectors_of_distances", "without_ffn", "without_mask", "words",
}  # fmt: skip


def test_each_picture_says_what_it_relies_on_or_is_known_to_rely_on_nothing() -> None:
    """A new picture calls `touched` or passes `reads` or `shares` and has a row above, or it is in RECORDED."""
    asks = re.compile(r"\btouched\(|\bread_step\(|\breads=|\bshares=")
    silent = {make.__name__ for make in every_picture() if not asks.search(inspect.getsource(make))}
    assert silent == RECORDED


@cache
def broken(edits: str) -> frozenset[tuple[str, int]]:
    """Quantities (and heads) of the run that do not satisfy their equations."""
    run = pipelines.run("text", SENTENCE, tuple(EDITS.read(edits)))
    return frozenset((key, head) for key in {*STEPS, *WAYS, OF_ONE + "output"} for head in _wrong(run, key))


def _wrong(run: Trace, key: str) -> list[int]:
    made, _ = computed(run, pipelines.pipeline("text").network, key)
    with np.errstate(invalid="ignore"):
        apart = ~np.isclose(made, run[key], atol=1e-3, equal_nan=True)
    heads = apart.any(axis=tuple(range(1, apart.ndim))) if run.axes(key)[0] == "head" else [apart.any()]
    return [int(head) for head in np.flatnonzero(heads)]


def no_longer_holds(text: str, edits: str) -> bool:
    """Whether an equation that the text relies on is broken, in a head that it is about."""
    _, _, keys, every_head = RELIES[text]
    run = pipelines.run("text", SENTENCE)
    return any(
        key in keys and (every_head or run.axes(key)[0] != "head" or head == HEAD) for key, head in broken(edits)
    )


@pytest.mark.parametrize("text", RELIES)
def test_no_sentence_relies_on_an_equation_that_the_run_breaks(text: str) -> None:
    page, tab, _, _ = RELIES[text]
    link = {"s": SENTENCE, "layer": str(LAYER + 1), "head": str(HEAD + 1), "token": "2", "key": "1", **tab}
    own = [edits for edits in (*CHANGES, *MORE) if not edits.startswith("decoder.") and no_longer_holds(text, edits)]
    assert own, "or it is never asked"
    assert stands(open_page(page, **link), text), "as long as nothing is changed"
    assert [edits for edits in own if stands(open_page(page, **link, edits=edits), text)] == []
