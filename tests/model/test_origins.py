"""Origins add up, and each is what it claims to be while all weights are held."""

import numpy as np
import pytest
import torch

from model.measures.origins import BROUGHT, by_kind, by_place, of_reads
from model.measures.sources import EDIT, Scores
from model.trace import Recording, record
from tests.model.making import with_norms_held
from tests.networks import COVER, TRANSLATORS, pipeline, trace_of
from tests.sums import origins_add_up

WORD, POSITION = "embedding.tokens", "embedding.positions"


@pytest.mark.parametrize("name", [*COVER, *TRANSLATORS])
def test_what_is_read_and_scores_are_the_sums_of_their_origins(name: str) -> None:
    origins_add_up(trace_of(name))


# Each part belongs to its origin.


def held(name: str, alone: bool, *missing: str) -> Recording:
    """The run without some sources, with the full run's deviations, attention weights and activation ratios. alone:
    each token attends only to itself, with its own weight.
    """
    trace, network = trace_of(name), with_norms_held(name)
    edits = [
        (source, lambda _, __, value=trace[source]: torch.zeros_like(torch.tensor(value)[None])) for source in missing
    ]
    for key in trace:
        value, operation = trace[key], trace.quantity(key).operation
        if operation == "softmax" and key.endswith("weights"):
            weights = value * np.eye(len(value[0]), dtype=value.dtype) if alone else value
            edits.append((key, lambda _, __, value=weights: torch.tensor(value)[None]))
        elif operation == "activation" and key.endswith("ffn.activation"):
            read = key.replace("activation", "hidden")
            share = np.divide(value, trace[read], out=np.zeros_like(value), where=trace[read] != 0)
            edits.append((key, lambda _, so_far, share=share, read=read: so_far[read] * torch.from_numpy(share)))
    return record(network, *pipeline(name).inputs(trace)[1], edits=edits)[1]


@pytest.mark.parametrize("name", ["trained text", "trained digits", "pre-norm words"])
def test_a_part_is_what_is_missing_without_its_origin_while_all_that_bends_is_held(name: str) -> None:
    trace, known = trace_of(name), of_reads(trace_of(name))
    layers = trace.graph.layers()
    for layer in (1, layers - 1):
        key = trace.graph.sublayers(layer)[1].reads
        own = {}
        for source in (WORD, POSITION):
            own[source] = (held(name, True)[key] - held(name, True, source)[key])[0].numpy()
            np.testing.assert_allclose(known[key][source], own[source], atol=2e-5 * np.abs(trace[key]).max())
        both = (held(name, False)[key] - held(name, False, WORD, POSITION)[key])[0].numpy()
        brought = both - sum(own.values())
        np.testing.assert_allclose(known[key][BROUGHT], brought, atol=1e-4 * np.abs(trace[key]).max())


def test_kinds_are_sums_of_names_and_what_asks_by_distance_goes_by_place() -> None:
    names = (WORD, POSITION, BROUGHT, "bias", "distance", "embedding.segments", EDIT)
    scores = Scores((WORD, "distance"), names, np.empty(0))
    found = by_kind(scores, np.array([[1, 2, 4, 8, 16, 32, 64.0], [100, 200, 0, 0, 0, 0, 0]]))
    assert found == {"word": 1, "place": 318, "brought": 4, "rest": 104}


def test_where_places_turn_queries_and_keys_they_cannot_be_told_from_words() -> None:
    assert by_place(trace_of("trained text").graph) and by_place(trace_of("by distance").graph)
    assert not by_place(trace_of("gated words").graph)
