"""Edits do what their names say: against the same network with other weights, or the equations written out again."""

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import layer_norm, linear, softmax

from model import Edit, EditError, examples, load
from model.config import EncoderConfig
from model.disentangled import table_rows as distance_rows
from model.edits import MOST_EDITS, OPERATIONS, Operation, head_off, operations_at
from model.pipeline import Pipeline
from model.relative import table_rows
from model.sublayers import activation_for
from model.sweep import sweep
from model.trace import recorded
from model.translator import Translator
from tests.networks import ALL, example, pipeline, trace_of

#: Of each kind one: words, patches, flat, with the norm before and behind, ReLU and GELU.
KINDS = ["trained text", "trained digits", "trained flat", "003", "pre-norm words"]


def before_mask(name: str) -> str:
    """The row of the scores as the mask reads them: divided, and with what the distance adds."""
    return pipeline(name).graph["layers.0.attention.masked"].reads[0].replace("layers.0.", "layers.{l}.")


def run(name: str, *edits: Edit, which: int = 0):
    return pipeline(name)(example(name, which), edits)


# -- the encoder written out again, with switches -------------------------------------------------------------------


def plain(
    network: torch.nn.Module,
    X: Tensor,
    root: bool = True,
    temperature: float = 1.0,
    may_look: Tensor | None = None,
    spread: Callable[[Tensor], Tensor] = lambda M: softmax(M, -1),
    residual: tuple[bool, bool] = (True, True),
    norm: bool = True,
    places: list[int] | None = None,
) -> Tensor:
    """Z (token, d_model) from X⁰: every layer as the paper has it, or with something left out.

    places: where each token stands, to which queries and keys turn, or from which distances are counted; None: one
    behind the other.
    """
    config = network.config
    at = torch.arange(len(X)) if places is None else torch.tensor(places)

    def normed(x: Tensor, module: torch.nn.LayerNorm) -> Tensor:
        if isinstance(module, torch.nn.Identity):
            return x
        if config.norm == "rms" and norm:
            return module.weight * x / ((x * x).mean(-1, keepdim=True) + module.eps).sqrt()
        return layer_norm(x, x.shape[-1:], module.weight, module.bias, module.eps) if norm else x

    def attention(x: Tensor, part: torch.nn.Module) -> Tensor:
        heads = []
        for h in range(config.heads):
            rows = slice(h * config.d_k, (h + 1) * config.d_k)
            Q, K, V = (linear(x, W.weight, W.bias)[:, rows] for W in (part.W_Q, part.W_K, part.W_V))
            if config.positions == "rotary":
                Q, K = (turned_to(x, at, base) for x in (Q, K))
            scores = Q @ K.T
            if config.distance_terms:
                scores = scores + by_distance(config, part, Q, K, at, rows)
            scores = scores / (
                math.sqrt((1 + len(config.distance_terms)) * config.d_k) if root and config.divided else 1
            )
            if config.buckets:
                row = table_rows(int(at.max()) + 1, int(at.max()) + 1, config.buckets, config.farthest)[at][:, at]
                scores = scores + part.distances.weight[row, h]
            scores = scores / temperature
            scores = scores.where((at - at[:, None]).abs() <= window, -math.inf)
            heads.append(spread(scores if may_look is None else scores.where(may_look, -math.inf)) @ V)
        return linear(torch.cat(heads, -1), part.W_O.weight, part.W_O.bias)

    def ffn(x: Tensor, part: torch.nn.Module) -> Tensor:
        act = activation_for(config.activation)
        H = act(linear(x, part.W_1.weight, part.W_1.bias))
        if config.ffn == "gated":
            H = H * linear(x, part.W_3.weight, part.W_3.bias)
        return linear(H, part.W_2.weight, part.W_2.bias)

    for number, layer in enumerate(network.layers):
        local = number in config.local
        window, base = (config.window, config.local_base) if local else (math.inf, config.rotary_base)
        parts = (
            (attention, layer.attention, layer.norm_1, layer.scale_1), (ffn, layer.ffn, layer.norm_2, layer.scale_2),
        )  # fmt: skip
        for (find, part, its_norm, its_scale), keep in zip(parts, residual, strict=True):
            scale = its_scale.scale if config.layer_scale else 1
            if config.norm_first:
                X = X * keep + scale * find(normed(X, its_norm), part)
            else:
                X = normed(X * keep + scale * find(X, part), its_norm)
    return normed(X, network.norm) if config.final_norm else X


def by_distance(config: EncoderConfig, part: torch.nn.Module, Q: Tensor, K: Tensor, at: Tensor, rows: slice) -> Tensor:
    """What each query finds in the key of each key's distance, and each key in its query."""
    most = int(at.max()) + 1
    table = part.distances.weight[distance_rows(most, config.span, config.near, config.farthest)]
    table = (
        layer_norm(table, table.shape[-1:], part.distance_norm.weight, part.distance_norm.bias, config.norm_eps)
        if config.distance_norm
        else table
    )
    own = config.distance_matrices
    place, found = at - at[:, None] + most - 1, torch.zeros(len(at), len(at))
    if "content_to_position" in config.distance_terms:
        W = part.W_K_distance if own else part.W_K
        found = found + torch.einsum("ic,ijc->ij", Q, linear(table, W.weight, W.bias)[:, rows][place])
    if "position_to_content" in config.distance_terms:
        W = part.W_Q_distance if own else part.W_Q
        found = found + torch.einsum("jc,ijc->ij", K, linear(table, W.weight, W.bias)[:, rows][place])
    return found


def turned_to(x: Tensor, at: Tensor, base: float) -> Tensor:
    """Each row's pairs of numbers c and c + d_k/2, turned by at / base^(2c/d_k)."""
    one, other = x.chunk(2, dim=-1)
    turn = torch.polar(torch.tensor(1.0), at[:, None] / base ** (torch.arange(0, x.size(-1), 2) / x.size(-1)))
    point = torch.complex(one, other) * turn
    return torch.cat([point.real, point.imag], dim=-1)


def one_hot(M: Tensor) -> Tensor:
    return torch.eye(M.size(-1))[M.argmax(-1)]


def offsets(n: int) -> Tensor:
    return torch.arange(n)[None] - torch.arange(n)[:, None]


#: What an edit in all layers is, in the words of `plain`.
SAME: dict[str, tuple[list[Edit], Callable[[int], dict]]] = {
    "nothing": ([], lambda n: {}),
    "without √d_k": ([Edit("layers.{l}.attention.scaled", "unscaled")], lambda n: {"root": False}),
    "temperature": ([Edit("layers.{l}.attention.scaled", "temperature", 2.5)], lambda n: {"temperature": 2.5}),
    "hard": ([Edit("layers.{l}.attention.weights", "hard")], lambda n: {"spread": one_hot}),
    "even": (
        [Edit("layers.{l}.attention.weights", "even")],
        lambda n: {"spread": lambda M: M.isfinite() / M.isfinite().sum(-1, keepdim=True)},
    ),
    "causal": ([Edit("layers.{l}.attention.masked", "causal")], lambda n: {"may_look": offsets(n) <= 0}),
    "window": ([Edit("layers.{l}.attention.masked", "window", 2)], lambda n: {"may_look": offsets(n).abs() <= 2}),
    "one key hidden": (
        [Edit("layers.{l}.attention.masked", "hide", looked_at=0)],
        lambda n: {"may_look": (torch.arange(n) != 0)[None] | torch.eye(n, dtype=torch.bool)},
    ),
    "causal, in a window, and even": (
        [
            Edit("layers.{l}.attention.weights", "even"),
            Edit("layers.{l}.attention.masked", "window", 3),
            Edit("layers.{l}.attention.masked", "causal"),
        ],
        lambda n: {
            "may_look": (offsets(n) <= 0) & (offsets(n) >= -3),
            "spread": lambda M: M.isfinite() / M.isfinite().sum(-1, keepdim=True),
        },
    ),
    "no residual of attention": ([Edit("layers.{l}.add_1", "without")], lambda n: {"residual": (False, True)}),
    "no residual of the FFN": ([Edit("layers.{l}.add_2", "without")], lambda n: {"residual": (True, False)}),
    "no LayerNorm": (
        [Edit("layers.{l}.norm_1", "bypass"), Edit("layers.{l}.norm_2", "bypass"), Edit("norm", "bypass")],
        lambda n: {"norm": False},
    ),
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("what", SAME)
def test_an_edit_in_all_layers_is_the_equations_with_that_part_changed(name: str, what: str) -> None:
    edits, switches = SAME[what]
    if what == "without √d_k" and not pipeline(name).config.divided:
        return
    edits = [edit for edit in edits if edit.key != "norm" or pipeline(name).config.final_norm]
    edits = [replace(edit, key=before_mask(name)) if edit.operation == "temperature" else edit for edit in edits]
    before, after = trace_of(name), run(name, *edits)
    n = len(before.tokens)
    with torch.no_grad():
        expected = plain(pipeline(name).network, torch.tensor(before.states()[0]), **switches(n)).numpy()
    np.testing.assert_allclose(after.Z, expected, atol=2e-5 * max(1, np.abs(expected).max()))
    trivial = not edits or set(after.idle) == set(edits)
    assert np.array_equal(before.Z, after.Z) == trivial
    assert not (trivial and edits) or n == 1  # only a single token can make a choice of where to look idle


@pytest.mark.parametrize("name", ALL)
def test_a_head_off_is_the_network_with_its_rows_of_W_O_zero(name: str) -> None:
    whole = pipeline(name)
    layer, head, d_k = whole.config.layers - 1, whole.config.heads - 1, whole.config.d_k
    without = deepcopy(whole.network)
    with torch.no_grad():
        without.layers[layer].attention.W_O.weight[:, head * d_k : (head + 1) * d_k] = 0
        expected = without(*whole.reader.read(example(name)).inputs)[0].numpy()
    last = trace_of(name).keys()[-1]  # the logits, or Z where there is no head
    attention = whole.network.layers[layer].attention
    alike = [i for i, one in enumerate(whole.network.layers) if one.attention.W_O.weight is attention.W_O.weight]
    after = run(name, *(head_off(i, head) for i in alike))[last]
    np.testing.assert_allclose(after, expected, atol=1e-5 * max(1, np.abs(expected).max()))
    assert not np.allclose(after, trace_of(name)[last], atol=1e-5)


@pytest.mark.parametrize("name", ALL)
def test_a_removed_token_is_as_if_it_had_never_been_there(name: str) -> None:
    X = torch.tensor(trace_of(name).states()[0])
    classifier, key = pipeline(name).config.head == "classifier", pipeline(name).graph.embedded
    for read in pipeline(name).config.read_alone:
        with pytest.raises(EditError, match="read"):
            run(name, Edit(key, "remove", token=read))
    if len(X) == 1:
        return
    token = 2
    rest = [i for i in range(len(X)) if i != token]
    with torch.no_grad():
        expected = plain(pipeline(name).network, X[rest], places=rest).numpy()
    after = run(name, Edit(key, "remove", token=token))
    np.testing.assert_allclose(after.Z[rest], expected, atol=2e-5 * max(1, np.abs(expected).max()))
    assert classifier or not np.allclose(after.Z[token], trace_of(name).Z[token], atol=1e-3)
    both = run(name, *(Edit(key, "remove", token=t) for t in (2, 3)))
    rest.remove(3)
    with torch.no_grad():
        expected = plain(pipeline(name).network, X[rest], places=rest).numpy()
    np.testing.assert_allclose(both.Z[rest], expected, atol=2e-5 * max(1, np.abs(expected).max()))


def test_without_cls_and_sep_nobody_else_looks_at_them() -> None:
    before = trace_of("trained text")
    after = run("trained text", Edit("layers.{l}.attention.masked", "special"))
    n = len(before.tokens)
    may_look = torch.ones(n, n, dtype=torch.bool)
    may_look[:, [0, n - 1]] = torch.eye(n, dtype=torch.bool)[:, [0, n - 1]]
    with torch.no_grad():
        expected = plain(load("text").network, torch.tensor(before["embedding.sum"]), may_look=may_look)
    np.testing.assert_allclose(after.Z, expected.numpy(), atol=1e-4)
    assert (
        run("trained digits", Edit("layers.2.attention.masked", "special"))["layers.2.attention.weights"][:, 1:, 0] == 0
    ).all()


def test_what_is_hidden_stays_hidden_in_whatever_order() -> None:
    whole, x = pipeline("trained text"), example("trained text")
    remove = Edit("embedding.sum", "remove", token=2)
    again = Edit("layers.0.attention.masked", "patch", source=x)
    for edits in ((remove, again), (again, remove)):
        weights = whole(x, edits)["layers.0.attention.weights"]
        assert not np.delete(weights[:, :, 2], 2, axis=1).any()


def test_one_pair_hidden_in_one_head_touches_nothing_else() -> None:
    key = "layers.1.attention.masked"
    after = run("trained text", Edit(key, "hide", head=3, token=1, looked_at=1))
    hidden = np.isneginf(after[key])
    assert hidden[3, 1, 1] and hidden.sum() == 1
    weights = after["layers.1.attention.weights"]
    scaled = torch.tensor(after["layers.1.attention.scaled"][3, 1])
    scaled[1] = -math.inf
    np.testing.assert_allclose(weights[3, 1], scaled.softmax(-1).numpy(), atol=1e-6)
    np.testing.assert_array_equal(weights[:3], trace_of("trained text")["layers.1.attention.weights"][:3])


# -- positions and places ---------------------------------------------------------------------------------------------


def test_without_positions_two_orders_of_the_same_words_are_the_same() -> None:
    text, none = load("text"), Edit("embedding.positions", "zero")
    one, other = text("我爱你", [none]), text("你爱我", [none])
    order = [0, 3, 2, 1, 4]
    np.testing.assert_allclose(one["logits"], other["logits"][order], atol=1e-3)
    assert not np.allclose(text("我爱你")["logits"], text("你爱我")["logits"][order], atol=1)


@pytest.mark.parametrize("name", ["trained text", "trained digits", "pre-norm words"])
def test_shuffled_and_shifted_positions_are_rows_of_the_table(name: str) -> None:
    key, before = "embedding.positions", trace_of(name)
    table = pipeline(name).network.embedding.positions.table.numpy()
    shifted = run(name, Edit(key, "shift", 3))[key]
    np.testing.assert_array_equal(shifted, np.roll(table, -3, axis=0)[: len(shifted)])
    np.testing.assert_array_equal(run(name, Edit(key, "shift", -3))[key][3], before[key][0])
    shuffled = run(name, Edit(key, "shuffle", seed=5))
    order = [int(np.flatnonzero((before[key] == row).all(-1))[0]) for row in shuffled[key]]
    assert sorted(order) == list(range(len(order))) != order
    np.testing.assert_allclose(shuffled["embedding.sum"], before["embedding.tokens"] + shuffled[key])
    assert not np.array_equal(run(name, Edit(key, "shuffle", seed=6))[key], shuffled[key])


def test_two_words_that_change_places_are_the_other_sentence() -> None:
    swapped = load("text")("我爱你", [Edit("embedding.tokens", "swap", token=1, from_token=3)])
    np.testing.assert_array_equal(swapped["logits"], load("text")("你爱我")["logits"])


def test_two_patches_that_change_places_are_the_other_picture() -> None:
    image = examples.digits()[6]
    one, other = (slice(12, 16), slice(12, 16)), (slice(4, 8), slice(20, 24))
    moved = image.copy()
    moved[one], moved[other] = image[other], image[one]
    assert not np.array_equal(moved, image)
    swap = Edit("embedding.tokens", "swap", token=1 + 3 * 7 + 3, from_token=1 + 7 + 5)
    after, expected = load("digits")(image, [swap]), load("digits")(moved)
    np.testing.assert_allclose(after["logits"], expected["logits"], atol=1e-5)


# -- values from elsewhere ------------------------------------------------------------------------------------------


def some_keys(whole: Pipeline) -> list[str]:
    """All keys but those of the layers before the last, which are like it; of a translator, the decoder's."""
    side = "decoder." if isinstance(whole, Translator) else ""
    ends = (None, whole.graph.layers(side) - 1)
    return [
        key for key in recorded(whole.network) if whole.graph[key].layer in ends and key.startswith((side, "logits"))
    ]


def pair_of(name: str) -> tuple[object, object]:
    """Two inputs with as many tokens."""
    if name == "trained text":
        return "i love you .", "you love me ."
    first, second = (example(name, which) for which in (0, 1))
    if pipeline(name).config.input == "words":
        return tuple(first), tuple(reversed(first))
    return first, (second.numpy() * 255).round().astype(np.uint8).tobytes()


@pytest.mark.parametrize("name", KINDS)
def test_all_of_a_quantity_from_another_run_makes_the_rest_that_run(name: str) -> None:
    one, other = pair_of(name)
    whole = pipeline(name)
    there, last = whole(other), whole.config.layers - 1
    for key in ("embedding.sum", f"layers.{last}.{'add_1' if whole.config.norm_first else 'norm_1'}"):
        after = whole(one, [Edit(key, "patch", source=other)])
        order = after.keys()
        for later in order[order.index(key) :]:
            np.testing.assert_array_equal(after[later], there[later])
        assert not np.array_equal(after.Z, whole(one).Z)


@pytest.mark.parametrize("name", KINDS)
def test_a_run_patched_with_itself_is_itself(name: str) -> None:
    _, same = pair_of(name)
    before = pipeline(name)(same)
    for key in some_keys(pipeline(name)):
        edit = Edit(key, "patch", source=same)
        after = pipeline(name)(same, [edit])
        assert all(np.array_equal(before[key], after[key]) for key in before)
        assert after.idle == {edit: "already"}


def test_a_token_may_come_from_another_place_and_a_sentence_of_another_length() -> None:
    text, longer = load("text"), "the old dog chased the cat ."
    there = text(longer)
    after = text("i love you .", [Edit("layers.2.norm_1", "patch", token=2, from_token=6, source=longer)])
    np.testing.assert_array_equal(after["layers.2.norm_1"][2], there["layers.2.norm_1"][6])
    key = "layers.0.attention.weights"
    cell = Edit(key, "patch", head=1, token=2, looked_at=3, from_token=6, from_looked_at=7, source=longer)
    after = text("i love you .", [cell])[key]
    assert after[1, 2, 3] == there[key][1, 6, 7]
    assert (after != text("i love you .")[key]).sum() == 1


def test_the_mean_is_that_of_the_corpus() -> None:
    key = "layers.2.attention.heads"
    traces = [load("text")(sentence) for pair in examples.SENTENCES for sentence in pair]
    mean = np.concatenate([trace[key] for trace in traces], axis=1).mean(axis=1)  # (head, d_k)
    after = run("trained text", Edit(key, "mean", head=5))[key]
    np.testing.assert_allclose(after[5], np.broadcast_to(mean[5], after[5].shape), atol=1e-5)
    np.testing.assert_array_equal(after[:5], trace_of("trained text")[key][:5])
    pictures = np.stack([load("digits")(picture)["layers.1.norm_1"] for picture in examples.digits()])
    after = run("trained digits", Edit("layers.1.norm_1", "mean", token=9))["layers.1.norm_1"]
    np.testing.assert_allclose(after[9], pictures.mean(axis=0)[9], atol=1e-5)


# -- no edit does nothing in silence ----------------------------------------------------------------------------------

#: Fields that make each operation a full one.
FILLED = {
    "scale": {"value": 1.7},
    "set": {"value": -1.3},
    "noise": {"value": 1.0, "seed": 3},
    "window": {"value": 1},
    "temperature": {"value": 3.0},
    "shuffle": {"seed": 1},
    "shift": {"value": 2},
    "remove": {"token": 1},
    "swap": {"token": 0, "from_token": 1},
}


def every_edit(whole: Pipeline, other: object):
    """Every operation at every key, whole and in parts, and in all layers at once."""
    # A translator is slow: of what puts a plain number in, zero is enough there.
    operations = set(OPERATIONS) - ({"scale", "set", "noise"} if isinstance(whole, Translator) else set())
    for key in some_keys(whole):
        quantity = whole.graph[key]
        for operation in sorted(operations):
            fields = {"source": other} if operation == "patch" else FILLED.get(operation, {})
            yield Edit(key, operation, **fields)
            if operation in ("zero", "hide", "patch"):
                yield Edit(key, operation, token=1, **fields)
            if operation in ("zero", "temperature", "causal", "hard") and quantity.layer is not None:
                yield Edit(quantity.row, operation, **fields)


def brief_translator() -> Translator:
    """The translator, but it stops after three pieces: with a changed decoder it would not find an end."""
    whole = load("translation")
    brief = Translator("brief", whole.network, whole.reader)
    brief.config = replace(brief.config, max_len=4)
    return brief


@pytest.mark.parametrize("name", [*KINDS, "trained translation"])
def test_no_edit_does_nothing_in_silence(name: str) -> None:
    """Some number that is computed behind it changes, or an error or the trace says why it cannot."""
    if name == "trained translation":
        whole, one, other = brief_translator(), "i love you .", "you love me ."
    else:
        whole, (one, other) = pipeline(name), pair_of(name)
    beams = {"beams": 1} if isinstance(whole, Translator) else {}
    before = whole(one, **beams)
    done = 0
    for edit in every_edit(whole, other):
        try:
            after = whole(one, [edit], **beams)
        except EditError as error:
            assert error.reason in {
                "place",
                "axis",
                "index",
                "grows",
                "nothing_left",
                "read",
                "no_special",
                "no_corpus",
            }
            continue
        done += 1
        place = next(i for i, key in enumerate(before) if edit.key in (key, whole.graph[key].row))
        # A score is a step on the way to a weight: a change that ends there has changed nothing.
        behind = [key for key in list(before)[place + 1 :] if not key.endswith(("scores", "scaled", "masked"))]
        changed = [key for key in behind or [edit.key] if not np.array_equal(before[key], after[key])]
        assert bool(changed) != bool(after.idle), (edit, after.idle, changed)
    assert done > 80


@pytest.mark.parametrize(
    ("name", "edit", "why"),
    [
        ("trained text", Edit("layers.0.attention.heads", "scale", 1.0), "already"),
        ("trained text", Edit("layers.0.attention.masked", "window", 64), "already"),
        ("trained text", Edit("embedding.positions", "shift", 64), "already"),
        ("trained flat", Edit("layers.0.attention.Q", "noise", 1.0), "alone"),
        ("trained flat", Edit("layers.0.attention.scaled", "unscaled"), "alone"),
        ("trained flat", Edit("layers.0.attention.weights", "hard"), "already"),
        ("trained digits", Edit("layers.4.norm_2", "zero", token=7), "unread"),
        ("trained translation", Edit("decoder.layers.1.attention.scores", "set", 3.0, token=1, looked_at=2), "hidden"),
        ("trained translation", Edit("decoder.layers.1.attention.Q", "zero", token=0), "alone"),
        ("trained translation", Edit("decoder.layers.1.attention.masked", "causal"), "already"),
    ],
)
def test_an_edit_that_can_change_nothing_says_why(name: str, edit: Edit, why: str) -> None:
    loud = Edit("embedding.tokens", "scale", 1.5)
    subject = "i love you ." if name == "trained translation" else example(name)
    assert pipeline(name)(subject, [edit]).idle == {edit: why}
    assert pipeline(name)(subject, [loud, edit]).idle == {edit: why}


def test_relu_hides_what_happens_below_zero() -> None:
    hidden = trace_of("003")["layers.0.ffn.hidden"]
    low, high = int(hidden[0].argmin()), int(hidden[0].argmax())
    below = [Edit("layers.0.ffn.hidden", "set", -5.0, neuron=low), Edit("layers.0.ffn.hidden", "zero", neuron=low)]
    assert run("003", *below).idle == dict.fromkeys(below, "inactive")
    assert not run("003", Edit("layers.0.ffn.hidden", "zero", neuron=high)).idle


#: A name, a sentence or other subject, the edit, and the reason why it does not fit.
MISFITS = [
    ("text", Edit("layers.0.attention.heads", "explode"), "operation"),
    ("text", Edit("", "zero"), "key"),
    ("text", Edit("layers.6.attention.heads", "zero"), "key"),
    ("text", Edit("layers.{x}.attention.heads", "zero"), "key"),
    ("text", Edit("answer", "zero"), "key"),  # computed, but not recorded
    ("text", Edit("decoder.layers.0.norm_1", "zero"), "key"),
    ("text", Edit("layers.0.norm_1", "temperature", 2.0), "place"),
    ("text", Edit("layers.0.attention.scaled", "causal"), "place"),
    ("text", Edit("embedding.sum", "without"), "place"),
    ("text", Edit("layers.0.attention.weights", "mean"), "place"),
    ("text", Edit("layers.0.attention.heads", "zero", head=8), "index"),
    ("text", Edit("layers.0.attention.heads", "zero", head=-1), "index"),
    ("text", Edit("layers.0.attention.heads", "zero", head="3"), "index"),  # type: ignore[arg-type]
    ("text", Edit("layers.{l}.ffn.hidden", "zero", neuron=1024), "index"),
    ("text", Edit("embedding.sum", "remove", token=99), "index"),
    ("text", Edit("embedding.tokens", "swap", token=1, from_token=99), "index"),
    ("text", Edit("layers.0.norm_1", "patch", token=1, from_token=99, source="you love me ."), "index"),
    ("text", Edit("layers.0.norm_1", "zero", head=1), "axis"),
    ("text", Edit("layers.0.attention.weights", "hard", looked_at=1), "axis"),
    ("text", Edit("embedding.sum", "remove"), "field"),
    ("text", Edit("embedding.tokens", "swap", token=1), "field"),
    ("text", Edit("layers.0.norm_1", "patch"), "field"),
    ("text", Edit("layers.0.norm_1", "zero", 2.0), "field"),
    ("text", Edit("layers.0.norm_1", "scale", 2.0, source="you"), "field"),
    ("text", Edit("layers.0.norm_1", "zero", seed=4), "field"),
    ("text", Edit("layers.0.norm_1", "set", math.nan), "value"),
    ("text", Edit("layers.0.norm_1", "noise", math.inf), "value"),
    ("text", Edit("layers.0.norm_1", "scale", 1e9), "value"),
    ("text", Edit("layers.0.norm_1", "scale", "2"), "value"),  # type: ignore[arg-type]
    ("text", Edit("layers.0.norm_1", "noise", 1.0, seed=-1), "value"),
    ("text", Edit("layers.0.attention.scaled", "temperature"), "value"),
    ("text", Edit("layers.0.attention.masked", "window", 1.5), "value"),
    ("text", Edit("layers.0.norm_1", "patch", source="a much longer sentence than that ."), "shape"),
    ("text", Edit("layers.0.norm_1", "patch", source=""), "source"),
    ("text", Edit("layers.0.norm_1", "patch", source=(2, 10**6, 3)), "source"),
    ("digits", Edit("layers.0.norm_1", "patch", source="you"), "source"),
    ("digits", Edit("layers.0.norm_1", "patch", source=b"you"), "source"),
    ("digits", Edit("embedding.sum", "remove", token=0), "read"),
    ("flat", Edit("layers.0.attention.masked", "special"), "no_special"),
    ("flat", Edit("layers.0.attention.masked", "hide", token=0, looked_at=0), "nothing_left"),
    ("translation", Edit("decoder.layers.0.norm_1", "patch", source="you love me ."), "grows"),
    ("translation", Edit("decoder.embedding.positions", "shuffle"), "grows"),
    ("translation", Edit("decoder.layers.0.cross.masked", "window", 2), "place"),
    ("translation", Edit("decoder.layers.0.cross.masked", "hide"), "nothing_left"),
    ("translation", Edit("decoder.layers.0.norm_1", "zero", token=60), "index"),
]


@pytest.mark.parametrize(("name", "edit", "reason"), MISFITS)
def test_an_edit_that_does_not_fit_says_why(name: str, edit: Edit, reason: str) -> None:
    subject = example(f"trained {name}") if name in ("digits", "flat") else "i love you ."
    with pytest.raises(EditError) as error:
        load(name)(subject, edits=[edit])
    assert (error.value.reason, error.value.edits) == (reason, (edit,))
    assert not any(module._forward_hooks for module in load(name).network.modules())


def test_too_many_edits_and_too_large_numbers_are_refused() -> None:
    with pytest.raises(EditError, match="many"):
        run("trained text", *[Edit("norm", "zero")] * (MOST_EDITS + 1))
    with pytest.raises(EditError, match="overflow"):  # pre-norm: nothing brings the stream back to size
        run("pre-norm words", *[Edit("layers.{l}.add_2", "scale", 1e4)] * 4)


def test_what_fits_at_a_key_is_what_can_be_done_there() -> None:
    graph = load("text").graph
    assert "causal" in operations_at(graph, "layers.{l}.attention.masked")
    assert "causal" not in operations_at(graph, "layers.{l}.attention.scaled")
    assert operations_at(graph, "nowhere") == ()
    everywhere = {"zero", "scale", "set", "noise", "patch"}
    assert all(everywhere <= set(operations_at(graph, key)) for key in trace_of("trained text"))


# -- while a translator writes ----------------------------------------------------------------------------------------

WHILE_WRITING = [
    Edit("layers.{l}.attention.masked", "window", 1),
    Edit("embedding.sum", "remove", token=2),
    Edit("layers.2.attention.heads", "mean", head=1),
    Edit("layers.3.norm_1", "patch", token=2, source="you love me ."),
    Edit("decoder.layers.{l}.attention.scaled", "temperature", 4.0),
    Edit("decoder.layers.{l}.attention.scaled", "unscaled"),
    Edit("decoder.layers.{l}.attention.masked", "window", 1),
    Edit("decoder.layers.{l}.attention.masked", "zero"),
    Edit("decoder.layers.1.attention.masked", "scale", -2.0),
    Edit("decoder.layers.{l}.attention.masked", "special"),
    Edit("decoder.layers.{l}.attention.masked", "hide", looked_at=2),
    Edit("decoder.layers.{l}.cross.weights", "even"),
    Edit("decoder.layers.{l}.cross.weights", "hard"),
    Edit("decoder.layers.{l}.cross.masked", "special"),
    Edit("decoder.layers.{l}.cross.K", "zero", token=3),
    Edit("decoder.layers.1.ffn.output", "mean"),
    Edit("decoder.layers.1.attention.scores", "noise", 5.0, seed=1),
    Edit("decoder.layers.0.cross.scores", "noise", 5.0, seed=1),
    Edit("decoder.embedding.tokens", "noise", 0.5, seed=1),
    Edit("decoder.embedding.positions", "shift", 5),
    Edit("decoder.embedding.positions", "zero"),
    Edit("decoder.embedding.sum", "remove", token=1),
    Edit("decoder.layers.2.add_1", "without"),
    Edit("decoder.layers.2.norm_2", "bypass"),
    Edit("logits", "set", -30.0, neuron=77),
]


@pytest.mark.parametrize("edit", WHILE_WRITING, ids=str)
@pytest.mark.parametrize("beams", [1, 3])
def test_an_edit_holds_at_every_step_of_the_writing(edit: Edit, beams: int) -> None:
    """The words were chosen by the very numbers that the trace shows."""
    translator = load("translation")
    trace = translator("the dog chased the cat .", [edit], into="zh", beams=beams)
    words = [translator.reader.vocabulary.index(token) for token in trace.beams[0].tokens]
    log_p = torch.tensor(trace["logits"]).log_softmax(-1).numpy()
    assert trace.beams[0].log_probability == pytest.approx(sum(log_p[range(len(words)), words]), abs=2e-3)
    if beams == 1:
        assert words == trace["logits"].argmax(-1).tolist()
    assert trace.idle == {}


@pytest.mark.parametrize("at", ["masked", "weights"])
def test_a_lawful_change_leaves_masks_masks_and_weights_shares(at: str) -> None:
    key = f"layers.0.attention.{at}"
    lawful = [name for name in operations_at(pipeline("003").graph, key) if OPERATIONS[name].lawful]
    assert len(lawful) > 1
    for name in lawful:
        trace = run("trained text", Edit(key, name, **FILLED.get(name, {})))
        np.testing.assert_allclose(trace["layers.0.attention.weights"].sum(-1), 1, atol=1e-5)
        masked, scaled = (trace[f"layers.0.attention.{of}"] for of in ("masked", "scaled"))
        assert ((masked == scaled) | (masked == -np.inf)).all() and not np.isnan(
            trace["layers.0.attention.heads"]
        ).any()


def test_every_operation_says_whether_it_is_lawful() -> None:
    with pytest.raises(TypeError, match="lawful"):
        Operation(lambda value, here: value, lambda quantity, graph: True)  # type: ignore[call-arg]


# -- by a function, and in the head ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_a_function_does_what_an_operation_of_a_name_does(name: str) -> None:
    heads = "layers.0.attention.heads"
    for whole, named in ((torch.zeros_like, Edit(heads, "zero", head=1)), (lambda v: v * 2, Edit(heads, "scale", 2.0))):
        by_name, by_function = run(name, named), run(name, replace(named, operation=whole, value=0.0))
        assert by_function.edited == by_name.edited
        for key in by_name:
            np.testing.assert_array_equal(by_function[key], by_name[key])


@pytest.mark.parametrize("name", KINDS)
def test_a_function_is_given_what_the_trace_has_and_may_leave_it(name: str) -> None:
    given: list[Tensor] = []
    for key in (row := trace_of(name)):
        edit = Edit(key, lambda value: given.append(value) or value)
        after = run(name, edit)
        np.testing.assert_array_equal(given[-1].numpy(), row[key])
        np.testing.assert_array_equal(after[row.keys()[-1]], row[row.keys()[-1]])
        assert after.idle[edit]


def test_a_function_shows_nothing_that_a_mask_hides_and_spoils_nothing_in_place() -> None:
    masked = "layers.0.attention.masked"
    trace = load("text")("i love you .", [Edit(masked, "causal"), Edit(masked, lambda M: torch.zeros_like(M))])
    assert np.isinf(trace[masked]).any()
    careless = load("text")("i love you .", [Edit("layers.0.attention.V", lambda V: V.zero_(), head=2)])
    assert careless["layers.0.attention.V"][3].any() and not careless["layers.0.attention.V"][2].any()


@pytest.mark.parametrize("function", [lambda v: v[0], lambda v: 3, lambda v: v.numpy()])
def test_a_function_that_hands_on_something_else_is_told_what_was_expected(function: Callable) -> None:
    with pytest.raises(EditError) as error:
        load("text")("i love you .", [Edit("layers.0.add_1", function)])
    assert error.value.reason == "result" and error.value.values["before"] == (6, 256)


@pytest.mark.parametrize("name", ["trained text", "two sentences", "narrow words", "several labels", "span"])
def test_inside_the_head_an_edit_changes_what_follows_it_there(name: str) -> None:
    of, plain = pipeline(name), trace_of(name)
    answer = plain.keys()[-1]
    modules = [key for key, _ in of.network.named_modules() if key.startswith(("transform.", "pooler.", "of_bounds"))]
    assert modules
    for key in modules:
        flip = Edit(key, lambda value: -value)
        changed = run(name, flip)
        assert key in changed and changed.edited == {key} and f"  {key} " in repr(changed)
        assert all(np.array_equal(changed[other], plain[other]) for other in plain if other != answer)
        rest = of.network.get_submodule(key.partition(".")[0])
        after = torch.tensor(changed[key])
        for module in list(rest)[int(key[-1]) + 1 :] if key != "of_bounds" else ():
            after = module(after)
        last = {"logits": "logits", "labels": "labels"}.get(answer)
        expected = of.network.get_submodule(last)(after).detach() if last else after.mT
        np.testing.assert_allclose(changed[answer], expected, atol=1e-4)
        assert np.abs(changed[answer] - plain[answer]).max() > 1e-3
        swept = sweep(of, example(name), [[flip], []], wanted=[answer])[answer]
        np.testing.assert_allclose(swept, [changed[answer], plain[answer]], atol=1e-4)


def test_what_is_recorded_of_no_other_run_is_not_taken_from_one() -> None:
    for edit in (Edit("transform.1", "mean"), Edit("transform.1", "patch", source="you love me .")):
        with pytest.raises(EditError) as error:
            load("text")("i love you .", [edit])
        assert error.value.reason == "place"
