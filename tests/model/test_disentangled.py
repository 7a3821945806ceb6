"""DeBERTa's attention: rows of the distance table, and three products in a score."""

import numpy as np
import pytest
import torch
from transformers.models.deberta_v2.modeling_deberta_v2 import build_relative_position
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder
from transformers.models.t5.modeling_t5 import T5Attention

from model import Edit
from model.measures.sources import DISTANCE, of_attention
from model.variants.disentangled import table_rows
from model.variants.relative import table_rows as bucket_rows
from tests.networks import example, pipeline

TOLD = ("told apart", "told apart, one way", "told apart, keys unbiased")


@pytest.mark.parametrize(("buckets", "farthest"), [(-1, 40), (-1, 700), (256, 512), (6, 20), (9, 30), (2, 8), (3, 512)])
def test_each_distance_has_the_row_that_their_library_gives_it(buckets: int, farthest: int) -> None:
    n, span = 700, buckets if buckets > 0 else farthest
    ours = table_rows(n, span, max(0, buckets) // 2, farthest)
    tokens = torch.zeros(1, n, 1)
    theirs = build_relative_position(tokens, tokens, buckets, farthest)[0] + span
    place = torch.arange(n) - torch.arange(n)[:, None] + n - 1
    assert torch.equal(ours[place], theirs.clamp(0, 2 * span - 1))


@pytest.mark.parametrize(("buckets", "farthest"), [(32, 128), (32, 64), (8, 6), (64, 500)])
def test_each_distance_has_the_bucket_that_others_give_it(buckets: int, farthest: int) -> None:
    distance = torch.arange(700) - torch.arange(700)[:, None]
    ours = bucket_rows(700, 700, buckets, farthest)
    assert torch.equal(ours, MPNetEncoder.relative_position_bucket(distance, buckets, farthest))
    theirs = T5Attention._relative_position_bucket(distance, num_buckets=buckets, max_distance=farthest)
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("edits", [(), (Edit("layers.{l}.attention.position_to_content", "scale", 2.0),)])
@pytest.mark.parametrize("name", TOLD)
def test_the_sources_of_a_score_tell_its_three_products_apart(name: str, edits: tuple[Edit, ...]) -> None:
    trace = pipeline(name)(example(name), edits)
    for layer in range(trace.config.layers):
        scores = of_attention(trace, trace.graph.sublayers(layer)[0], 1)
        asks, answers = (np.array([name == DISTANCE for name in of]) for of in (scores.of_queries, scores.of_keys))
        found = {
            "content_to_content": scores.parts[~asks][:, ~answers],
            "content_to_position": scores.parts[~asks][:, answers],
            "position_to_content": scores.parts[asks][:, ~answers],
        }
        here = f"layers.{layer}.attention."
        for term, parts in found.items():
            expected = trace[here + term][1] * trace.graph[f"{here}scaled"].factor if here + term in trace else 0
            np.testing.assert_allclose(parts.sum((0, 1)), expected, atol=1e-5)
