"""Every recorded quantity equals what its row in the graph says, recomputed in NumPy from what it reads."""

from functools import partial

import numpy as np
import pytest
import torch

from model.operations import OPERATIONS as ROWS
from model.trace import Trace, record
from tests.equations import OPERATIONS, close, computed
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
    assert set(OPERATIONS) == set(ROWS)
    met = (quantity for name in NETWORKS for quantity in pipeline(name).graph.quantities.values())
    assert {quantity.operation for quantity in met} == set(OPERATIONS)


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
    assert left <= {"decoder.embedding.language.weight"}  # two more rows of the embedding


# Reads are complete: a change of a quantity changes all that is computed from it, and nothing else.


def inputs(name: str) -> tuple[torch.Tensor, ...]:
    """Inputs of the network: the source, and a translator's target."""
    trace, source = trace_of(name), pipeline(name).reader.read(trace_of(name).subject).tensor
    return (source, torch.tensor([trace.target_ids])) if name in TRANSLATORS else (source,)


def downstream(name: str, key: str) -> set[str]:
    """What must change with `key`: all that is computed from it, except a softmax of one number, which is always 1."""
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
