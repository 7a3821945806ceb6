"""Every recorded quantity is what its row of the graph says: recomputed in NumPy from what it reads, it is the same."""

import math
from functools import partial

import numpy as np
import pytest
import torch

from model.graph import RULES
from model.rule import sides
from model.trace import Trace, record
from tests.equations import OPERATIONS, Run, close, computed, in_front
from tests.networks import QUICK, TRANSLATORS, pipeline, trace_of

NETWORKS = [*QUICK, *TRANSLATORS]
networks = pytest.mark.parametrize("name", NETWORKS)


def recorded_and_asides(trace: Trace) -> list[str]:
    return [key for key in trace.graph.quantities if key in trace]


def recomputed(name: str, key: str) -> np.ndarray:
    return computed(trace_of(name), pipeline(name).network, key)[0]


@networks
def test_every_quantity_is_what_its_operation_makes_of_what_it_reads(name: str) -> None:
    trace = trace_of(name)
    for key in recorded_and_asides(trace):
        try:
            close(trace[key], recomputed(name, key))
        except AssertionError as error:
            raise AssertionError(key) from error


def test_every_operation_is_written_here_and_met_in_some_network() -> None:
    assert set(OPERATIONS) == set(RULES)
    met = (quantity for name in NETWORKS for quantity in pipeline(name).graph.quantities.values())
    assert {quantity.operation for quantity in met} == set(OPERATIONS)


# The rules: from which cells each is computed. What is more than products and sums is said above.

MATRICES = {
    "look_up": ("weight",),
    "relative": ("weight",),
    "distances": ("weight",),
    "linear": ("weight", "bias"),
    "contribution": ("weight",),
    "norm": ("weight", "bias"),
    "layer_scale": ("scale",),
    "learned": ("vector",),
}
PRODUCTS, SUMS = (
    ("linear", "scores", "weighted_sum", "contribution"),
    ("add", "biased", "mean", "scale", "split", "concat", "cut", "flatten"),
)


def own_terms(of: Run) -> list[np.ndarray]:
    """The matrix and the bias whose letters a rule has behind those of what it reads."""
    if of.quantity.operation == "put_in_front":
        return [in_front(of)]
    module = of.network.get_submodule(of.quantity.module or "")
    own = [of.numbers(name) for name in MATRICES.get(of.quantity.operation, ()) if getattr(module, name) is not None]
    return [own[0].T, *own[1:]] if of.quantity.operation in ("linear", "contribution") else own


def sizes_of(of: Run, terms: list[np.ndarray], value: np.ndarray) -> dict[str, int]:
    """How many places each letter of a rule has: the same wherever it stands."""
    config, (rule, result) = of.network.config, sides(of.quantity.rule)
    side, P = config.patches_per_side, config.image_size if config.input == "flat" else config.patch_size
    inside = {"h": config.heads, "c": config.d_k, "k": config.channels, "r": side, "s": side, "y": P, "x": P}
    sizes: dict[str, int] = {}
    for axes, array in zip((*rule, result), (*terms, value), strict=True):
        for letters, length in zip(axes, array.shape, strict=True):
            if not letters.isdigit():
                known = math.prod(inside[letter] for letter in letters) if letters[1:] else length
                assert sizes.setdefault(letters, known) == length, (of.quantity.key, letters)
    return inside | sizes


@networks
def test_products_and_sums_are_what_their_rule_says_and_each_letter_has_one_size(name: str) -> None:
    trace, network = trace_of(name), pipeline(name).network
    for quantity in trace.graph.quantities.values():
        if quantity.layer not in (None, 0) or quantity.operation in ("input", "positions", "sloped"):
            continue
        run = Run(trace, network, quantity)
        value, reads = computed(trace, network, quantity.key)
        terms = reads + own_terms(run)
        sizes, (rule, result) = sizes_of(run, terms, value), sides(quantity.rule)
        left = "".join(result)
        letters = ["".join(axes).lstrip("01") for axes in rule]
        if quantity.operation not in (*PRODUCTS, *SUMS, "first", "second"):
            continue
        rows = [term[int(axes[0])] if axes[0].isdigit() else term for axes, term in zip(rule, terms, strict=True)]
        parts = [row.reshape([sizes[x] for x in of]) for of, row in zip(letters, rows, strict=True)]
        if quantity.operation in PRODUCTS:
            found = np.einsum(f"{letters[0]},{letters[1]}->{left}", *parts[:2], optimize=True) + sum(parts[2:])
        else:
            kept = "".join(letter for letter in left if letter in letters[0])  # a new axis has one place
            found = quantity.factor * sum(np.einsum(f"{letters[0]}->{kept}", part) for part in parts)
        close(found.reshape(value.shape).astype(np.float32), value)


@networks
def test_the_answer_is_the_softmax_of_the_logits(name: str) -> None:
    for guess in trace_of(name).answer:
        p = recomputed(name, "answer")
        p = p if guess.token is None else p[guess.token]
        best = np.sort(p)[::-1][: len(guess.labels)]
        np.testing.assert_allclose(sorted(guess.probabilities, reverse=True), best, atol=1e-5)


# What is recorded.


@networks
def test_what_is_recorded_is_what_the_graph_says_in_its_order_with_its_axes(name: str) -> None:
    trace, encoder = trace_of(name), pipeline(name).config
    assert trace.keys() == [quantity.key for quantity in trace.graph if quantity.traced]
    n, target = len(trace.tokens), len(getattr(trace, "target_tokens", ()))
    for key in recorded_and_asides(trace):
        config = trace.graph.decoder if trace.graph.decoder and key.startswith(("decoder.", "logits")) else encoder
        sizes = {"head": config.heads, "token": n, "target": target, "d_k": config.d_k, "d_model": config.d_model}
        sizes["d_E"] = config.d_embedding
        sizes |= {
            "d_ff": config.d_ff,
            "bound": 2,
            "projection": config.projection,
            "probe": 1,
            "heads_abreast": config.heads * config.d_k,
            "class": config.classes,
            "word": config.vocab_size,
        }
        asks = target if key.startswith("decoder.") else n
        looked_at = n if ".cross." in key else asks
        here = sizes | {"query": asks, "key": looked_at, "distance": 2 * n - 1}
        assert trace[key].shape == tuple(here[axis] for axis in trace.axes(key)), key
        assert trace[key].dtype == np.float32
        assert not trace[key].flags.writeable


@networks
def test_every_parameter_is_some_quantitys_and_those_used_twice_are_tied(name: str) -> None:
    network, used = pipeline(name).network, set()
    for quantity in pipeline(name).graph:
        if quantity.module:
            own = {id(parameter) for parameter in network.get_submodule(quantity.module).parameters(recurse=False)}
            assert own and quantity.tied == bool(own & used), quantity.key
            used |= own
    left = {name for name, parameter in network.named_parameters() if id(parameter) not in used}
    assert left <= {"decoder.embedding.language.weight"}  # two rows more of what looks words up


# The reads are complete: what changes when a quantity changes is what is computed from it, and nothing else.


def inputs(name: str) -> tuple[torch.Tensor, ...]:
    """What the network itself reads: the source, and for a translator the target."""
    trace, source = trace_of(name), pipeline(name).reader.read(trace_of(name).subject).tensor
    return (source, torch.tensor([trace.target_ids])) if name in TRANSLATORS else (source,)


def downstream(name: str, key: str) -> set[str]:
    """What must change with `key`: all that is computed from it, but a softmax of one number is 1, whatever that is."""
    trace, changed = trace_of(name), {key}
    for quantity in trace.graph:
        alone = quantity.operation == "softmax" and quantity.traced and trace[quantity.key].shape[-1] == 1
        if changed & set(quantity.reads) and not alone:
            changed.add(quantity.key)
    return {key for key in changed if key in trace}


def noisy(seed: int, value: torch.Tensor, _kept: object) -> torch.Tensor:
    return value + torch.randn(value.shape, generator=torch.Generator().manual_seed(seed))


@networks
def test_a_change_reaches_what_is_computed_from_it_and_nothing_else(name: str) -> None:
    network, given = pipeline(name).network, inputs(name)
    output, before = record(network, *given)
    keys = list(before)
    same, _ = record(network, *given, edits=[(key, lambda *_, v=value: v) for key, value in before.items()])
    assert torch.equal(output, same), "what is written back as it was changes nothing"
    for seed, key in enumerate(keys[:: max(1, len(keys) // 12)]):
        _, after = record(network, *given, edits=[(key, partial(noisy, seed))])
        assert {k for k in keys if not torch.equal(before[k], after[k])} == downstream(name, key), key
