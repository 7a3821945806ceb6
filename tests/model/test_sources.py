"""Sums by source add up to the recorded numbers, and each part belongs to its source."""

import numpy as np
import pytest
import torch

from model import Edit, Trace
from model.analysis import softmax
from model.measures.sources import (
    BIAS,
    EDIT,
    SOURCES,
    Part,
    Scores,
    all_of_it,
    leads_of,
    made_of,
    of_attention,
    of_lead,
    of_sum,
    opened,
)
from model.trace import Recording, record
from tests.model.making import with_norms_held
from tests.networks import COVER, TRANSLATORS, pipeline, trace_of
from tests.sums import attentions, close, of_stream, scores_add_up, sides, streams_add_up

WORD, POSITION, HEAD = "embedding.tokens", "embedding.positions", "layers.0.attention.heads[1]"


@pytest.mark.parametrize("name", [*COVER, *TRANSLATORS])
def test_streams_scores_and_logits_are_the_sums_of_their_sources(name: str) -> None:
    """Logits only if they are a linear function of Z; behind an activation there is no such sum."""
    trace = trace_of(name)
    for side in sides(trace):
        for layer in range(trace.graph.layers(side) + 1):
            streams_add_up(trace, side, layer)
    for attention in attentions(trace):
        scores_add_up(trace, attention)
    if "logits" in trace.graph and not trace.graph.decoder:
        if any(quantity.key.startswith(("transform.", "pooler.", "pool.")) for quantity in trace.graph):
            with pytest.raises(ValueError, match="no sum"):
                of_sum(trace, "logits")
        else:
            for heads in (False, True):
                close(sum(of_sum(trace, "logits", heads).values()), trace["logits"], "logits")


def test_cross_attention_asks_with_the_decoders_sources_and_finds_the_encoders() -> None:
    trace = trace_of("trained translation")
    scores = of_attention(trace, trace.graph.sublayers(1, "decoder.")[1], 0)
    assert set(scores.of_keys) == {*of_stream(trace, trace.graph.layers()), BIAS}
    assert all(name == BIAS or name.startswith("decoder.") for name in scores.of_queries)


@pytest.mark.parametrize("name", ["trained text", "pre-norm patches", "trained translation"])
def test_a_score_is_the_mean_of_its_row_and_what_lies_above(name: str) -> None:
    trace = trace_of(name)
    for attention in attentions(trace)[-3:]:
        visible = np.isfinite(trace[f"{attention.prefix}masked"][1])
        scaled, weights = (trace[f"{attention.prefix}{of}"][1] for of in ("scaled", "weights"))
        scores = of_attention(trace, attention, 1)
        for query, key in np.argwhere(visible)[::5]:
            mean, above = scores.above_mean(query, key, visible)
            assert mean == pytest.approx(scaled[query, visible[query]].mean(), abs=1e-5)
            assert mean + above.sum() == pytest.approx(scaled[query, key], abs=2e-5)
            np.testing.assert_allclose(scores.weights(query, visible), weights[query], atol=1e-5)
            for place, source in enumerate(scores.of_keys):
                row = np.where(visible[query], scaled[query] - scores.parts[:, place, query].sum(0), -np.inf)
                np.testing.assert_allclose(scores.weights(query, visible, source), softmax(row), atol=1e-5)
        shares = scores.shares(visible)
        assert shares.sum() == pytest.approx(1) and shares.shape == scores.parts.shape[:2]


def test_the_same_number_added_to_a_whole_row_has_no_share() -> None:
    parts = np.stack([np.full((3, 3), 7.0), np.eye(3)])[None]
    shares = Scores(("a",), ("b", "c"), parts).shares(np.ones((3, 3), bool))
    np.testing.assert_allclose(shares, [[0, 1]], atol=1e-12)


# Each part belongs to its source.


def without(name: str, source: str, missing: np.ndarray) -> Recording:
    """The run without a source's vector `missing`, with all other sources and all deviations held."""
    trace, network = trace_of(name), with_norms_held(name)
    values = {key: trace[key] for key in trace if key.endswith(SOURCES)}
    values[source] = values[source] - missing
    edits = [(key, lambda _, __, value=value: torch.tensor(value)[None]) for key, value in values.items()]
    return record(network, *pipeline(name).inputs(trace)[1], edits=edits)[1]


#: Each source in two networks, each network with two sources.
MISSING = [
    ("trained text", WORD), ("trained text", HEAD), ("trained digits", POSITION), ("trained digits", HEAD),
    ("pre-norm words", "layers.0.attention.output"), ("pre-norm words", WORD), ("narrow words", "layers.0.ffn.output"),
    ("narrow words", POSITION), ("translation", "layers.0.attention.output"), ("translation", "layers.0.ffn.output"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "source"), MISSING)
def test_a_part_is_what_is_missing_without_its_source_while_all_deviations_are_held(name: str, source: str) -> None:
    trace, heads = trace_of(name), source == HEAD
    if heads:
        run = without(name, "layers.0.attention.output", trace["layers.0.attention.contributions"][1])
    else:
        run = without(name, source, trace[source])
    part = of_stream(trace, trace.graph.layers(), heads=heads)[source]
    np.testing.assert_allclose(part, trace.Z - run[trace.graph.Z][0].numpy(), atol=1e-5)
    for attention in attentions(trace):
        if attention.memory or attention.prefix == f"layers.{trace.graph.layers() - 1}.attention.":
            key, scores = f"{attention.prefix}scaled", of_attention(trace, attention, 1, heads)
            asks, answers = (np.array([source == of for of in names]) for names in (scores.of_queries, scores.of_keys))
            missing = scores.parts[asks[:, None] | answers].sum(0)
            np.testing.assert_allclose(missing, (trace[key] - run[key][0].numpy())[1], atol=2e-5)


@pytest.mark.parametrize(
    ("name", "heads"), [("trained digits", True), ("two classifiers", False), ("trained text", False),
                        ("two sentences", True)],
)  # fmt: skip
def test_a_lead_is_the_sum_of_its_parts_as_they_join_in_order(name: str, heads: bool) -> None:
    trace, network = trace_of(name), pipeline(name).network
    token = 2 if trace["logits"].ndim == 2 else 0
    logits = trace["logits"][token] if token else trace["logits"]
    lead = of_lead(trace, 1, 2, token, heads)
    assert lead.value == pytest.approx(logits[1] - logits[2], abs=1e-4)
    sources = of_stream(trace, trace.graph.layers(), heads=heads)
    assert lead.exact == (name in ("trained digits", "two classifiers"))
    assert next(iter(lead.parts)) == BIAS and sum(lead.parts.values()) == pytest.approx(lead.value, abs=1e-4)
    last = [*lead.parts][-1]
    for source in [one for one in sources if one != BIAS] if lead.exact else [last]:
        Z = torch.from_numpy(trace.Z - sources[source]).float()[None]
        left = network.read_out(Z).detach().numpy()[0]
        left = left[token] if token else left
        assert lead.value - lead.parts[source] == pytest.approx(left[1] - left[2], abs=1e-4)


@pytest.mark.parametrize("name", ["trained digits", "trained text", "trained flat"])
@pytest.mark.parametrize("edit", [Edit("logits", "scale", 2.0), Edit("logits", "zero")])
def test_a_lead_of_logits_that_were_changed_has_the_edits_part(name: str, edit: Edit) -> None:
    trace = pipeline(name)(trace_of(name).subject, [edit])
    lead, logits = of_lead(trace, 1, 0, 0), trace["logits"].reshape(-1, trace["logits"].shape[-1])[0]
    if lead.exact:
        assert sum(lead.parts.values()) == pytest.approx(lead.value, abs=1e-4) == logits[1] - logits[0]


@pytest.mark.parametrize("name", ["trained text", "trained digits", "two sentences"])
def test_a_part_of_a_lead_is_the_same_however_far_it_is_opened(name: str) -> None:
    trace = trace_of(name)
    whole, lead, of_heads = all_of_it(trace, 1, 0, 1), of_lead(trace, 1, 0, 1), of_lead(trace, 1, 0, 1, heads=True)
    parts = made_of(trace, whole)
    for at, part in enumerate(parts):
        if part.name.endswith("attention.output"):
            way = opened(trace, whole, (at,))
            leads = leads_of(trace, way, made_of(trace, part), 1, 0)
            heads = [
                value for key, value in of_heads.parts.items() if key.startswith(part.name.replace("output", "heads"))
            ]
            np.testing.assert_allclose(leads[: len(heads)], heads, atol=1e-4)
            assert leads.sum() == pytest.approx(lead.parts[part.name], abs=1e-4)


# Edited runs.


def test_what_a_removed_word_had_is_gone_and_what_noise_adds_is_the_edits_own() -> None:
    trace = pipeline("trained text")("i love you .", [Edit("embedding.sum", "remove", token=2)])
    assert not any(part[2].any() for part in of_stream(trace, 0).values())
    plain, key = trace_of("trained text"), "layers.1.add_1"
    noisy = pipeline("trained text")(plain.subject, [Edit(key, "noise", 0.5, seed=1)])
    parts, before = of_sum(noisy, key), of_sum(plain, key)
    np.testing.assert_allclose(parts.pop(EDIT), noisy[key] - plain[key], atol=1e-6)
    assert parts.keys() == before.keys()
    assert all(np.allclose(parts[of], before[of], atol=1e-9) for of in parts)


# The tree of parts.


def whole_of(trace: Trace) -> Part:
    """A vector of Z, or a lead."""
    if "logits" in trace:
        return all_of_it(trace, 1, 0, 1)
    Z = trace.Z[1].astype(np.float64)
    return Part(trace.graph.Z, 1, Z, np.eye(len(Z)))


def children_add_up(trace: Trace, part: Part, steps: int, seen: set[str]) -> None:
    """Assert that parts add up; go on with the largest, the first and the last but one, for some steps."""
    parts = made_of(trace, part)
    if not parts or not steps:
        return
    seen.add(part.name.rpartition(".")[2])
    scale = max(np.abs([one.value for one in parts]).max(), np.abs(part.value).max())
    assert np.abs(sum(one.value for one in parts) - part.value).max() <= 1e-5 * scale
    largest = int(np.argmax([np.abs(one.value).max() * (one.slope is not None) for one in parts]))
    for place in {largest, 0, max(len(parts) - 2, 0)}:
        children_add_up(trace, parts[place], steps - 1, seen)


@pytest.mark.parametrize("name", COVER)
def test_what_a_part_is_made_of_adds_up_to_it(name: str) -> None:
    seen: set[str] = set()
    trace = trace_of(name)
    children_add_up(trace, whole_of(trace), 5, seen)
    assert {one.partition("[")[0] for one in seen} >= {"output", "heads", "V"}


@pytest.mark.parametrize("name", ["trained text", "trained digits", "two sentences", "distilled patches"])
def test_the_first_parts_are_the_sources_and_a_head_is_opened_as_its_contribution(name: str) -> None:
    trace = trace_of(name)
    lead, whole = of_lead(trace, 1, 0, 1), all_of_it(trace, 1, 0, 1)
    parts = made_of(trace, whole)
    leads = leads_of(trace, [whole], parts, 1, 0)
    for source, value in lead.parts.items():
        found = [one for part, one in zip(parts, leads, strict=True) if part.name == source]
        assert sum(found) == pytest.approx(value, abs=1e-4)
    attention = next(part for part in parts if part.name == "layers.1.attention.output")
    contributions = trace["layers.1.attention.contributions"][:, attention.token].astype(np.float64)
    heads = np.array([head.value for head in made_of(trace, attention)[:-1]])
    np.testing.assert_allclose(heads, contributions @ attention.slope.T, atol=1e-5)


def test_what_a_head_takes_from_a_token_is_what_is_missing_where_that_weight_is_none() -> None:
    """With all else held, because a head's output is a sum over tokens."""
    trace = trace_of("trained digits")
    whole = all_of_it(trace, 1, 0)
    last = trace.graph.layers() - 1
    attention = next(part for part in made_of(trace, whole) if part.name == f"layers.{last}.attention.output")
    head = made_of(trace, attention)[2]
    for one in made_of(trace, head)[::7]:
        weights = trace[f"layers.{last}.attention.weights"][2, head.token].copy()
        weights[one.token] = 0
        left = head.slope @ (weights @ trace[f"layers.{last}.attention.V"][2])
        assert head.value - one.value == pytest.approx(left, abs=1e-5)


def test_a_branch_is_opened_as_far_as_there_is_one() -> None:
    trace = trace_of("trained digits")
    whole = all_of_it(trace, 1, 0)
    first = made_of(trace, whole)
    ffn = [part.name for part in first].index("layers.4.ffn.output")
    names = [part.name for part in opened(trace, whole, (ffn, 0, 0))]
    assert names == ["logits", "layers.4.ffn.output", made_of(trace, first[ffn])[0].name]
    assert first[-1].name == BIAS and len(opened(trace, whole, (len(first) - 1, 0))) == 2
    assert len(opened(trace, whole, (999,))) == 1


@pytest.mark.parametrize("name", ["trained text", "trained digits"])
def test_what_edits_put_in_is_a_part_of_its_own_and_a_source_set_to_zero_has_none(name: str) -> None:
    subject = trace_of(name).subject
    for edit in (
        Edit("layers.1.attention.weights", "even"),
        Edit("layers.1.ffn.activation", "scale", 2.0),
        Edit("layers.1.attention.heads", "scale", 2.0, head=1),
        Edit("layers.1.attention.output", "scale", 2.0),
        Edit(POSITION, "zero"),
    ):
        trace = pipeline(name)(subject, [edit])
        whole = whole_of(trace)
        children_add_up(trace, whole, 3, set())
        (output,) = [part for part in made_of(trace, whole) if part.name == "layers.1.attention.output"]
        mine = [part for part in made_of(trace, output) if part.name == EDIT]
        assert len(mine) == (edit.key == "layers.1.attention.output")
        assert not mine or np.allclose(mine[0].value, output.value / 2, atol=1e-5)
        position = [part for part in made_of(trace, whole) if part.name == POSITION]
        assert np.any(position[0].value) == (edit.key != POSITION)


def test_an_edit_on_the_way_of_sums_closes_it() -> None:
    trace = pipeline("trained digits")(trace_of("trained digits").subject, [Edit("layers.4.norm_2", "scale", 2.0)])
    with pytest.raises(ValueError, match="no sum"):
        made_of(trace, all_of_it(trace, 1, 0))
