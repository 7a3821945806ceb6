"""Origins: the parts add up, each is what it is said to be while all weights are held, and heads of known roles find
what they look for as their roles suggest.
"""

import json
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from model.files import WEIGHTS
from model.measures.origins import BROUGHT, KINDS, by_kind, by_place, of_reads, shares
from model.measures.sources import EDIT, Scores
from model.measures.tables import head_roles
from model.trace import Recording, record
from tests.model.test_sources import POSITION, WORD, with_norms_held
from tests.networks import QUICK, TRANSLATORS, pipeline, trace_of
from tests.sums import origins_add_up


@pytest.mark.parametrize("name", [*QUICK, *TRANSLATORS])
def test_what_is_read_and_scores_are_the_sums_of_their_origins(name: str) -> None:
    origins_add_up(trace_of(name))


# Each part is of its origin.


def held(name: str, alone: bool, *missing: str) -> Recording:
    """The run without some sources, with the deviations, the weights of attention and what neurons let through of the
    run with all of them. alone: each token takes only what it took from itself.
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


# Heads of known roles.

#: Heads of our sentence model (layer, head, both from 1), and what they look for over a corpus, by the kind that has
#: most of what their softmax sees; of two kinds, those two have most.
KNOWN = {
    (1, 6): ("next", "word"), (2, 1): ("previous", "place"), (2, 3): ("next", "place"), (2, 8): ("previous", "place"),
    (3, 2): ("previous", "place"), (2, 4): ("itself", "word place"), (6, 6): ("itself", "word brought"),
    (3, 7): ("relation", "place"), (4, 3): ("next", "word brought"), (5, 1): ("next", "word brought"),
    (4, 1): ("relation", "word brought"),
}  # fmt: skip
EACH, LONGEST = 20, 16  # sentences of each language; tokens of each


def sentences(language: str) -> Iterator[str]:
    """Sentences in which the roles of heads were measured."""
    for one in json.loads((WEIGHTS / "heads.json").read_text(encoding="utf-8"))["sentences"]:
        chinese = any("\u4e00" <= letter <= "\u9fff" for letter in one["text"])
        if one["text"] and len(one["keys"]) <= LONGEST and "queries" not in one and chinese == (language == "zh"):
            yield one["text"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_heads_find_what_they_look_for_by_what_their_roles_suggest_or_by_what_the_page_says(language: str) -> None:
    found: dict[tuple[int, int], list[list[float]]] = {place: [] for place in KNOWN}
    for _, sentence in zip(range(EACH), sentences(language), strict=False):
        trace = pipeline("trained text")(sentence)
        known = of_reads(trace)
        for layer, head in KNOWN:
            of = shares(trace, trace.graph.sublayers(layer - 1)[0], head - 1, known)
            assert sum(of.values()) == pytest.approx(1)
            found[layer, head].append([*of.values()])
    roles = head_roles("text")
    for (layer, head), (role, kinds) in KNOWN.items():
        assert roles.of(layer - 1, head - 1).name == role and len(found[layer, head]) == EACH
        mean = dict(zip(KINDS, np.mean(found[layer, head], axis=0), strict=True))
        most = sorted(mean, key=mean.__getitem__)[-len(kinds.split()) :]
        assert set(most) == set(kinds.split()), f"{layer}·{head} {role}: {mean}"
