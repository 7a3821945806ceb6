"""A number for each distance: rows of the table, and what edits make of it."""

import numpy as np
import pytest
import torch
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder
from transformers.models.t5.modeling_t5 import T5Attention

from model import Edit, EditError
from model.order import without_positions
from model.relative import table_rows
from tests.model.test_edits import before_mask
from tests.networks import example, pipeline, trace_of

NAME = "by distance"


@pytest.mark.parametrize(("buckets", "farthest"), [(32, 128), (32, 64), (8, 6), (64, 500)])
def test_each_distance_has_the_row_that_others_give_it(buckets: int, farthest: int) -> None:
    distance = torch.arange(700) - torch.arange(700)[:, None]
    ours = table_rows(700, 700, buckets, farthest)
    assert torch.equal(ours, MPNetEncoder.relative_position_bucket(distance, buckets, farthest))
    theirs = T5Attention._relative_position_bucket(distance, num_buckets=buckets, max_distance=farthest)
    assert torch.equal(ours, theirs)


def test_all_layers_have_one_table_and_what_it_adds_depends_on_the_distance_alone() -> None:
    network, trace = pipeline(NAME).network, trace_of(NAME)
    first, *others = [layer.attention.distances.weight for layer in network.layers]
    assert all(other is first for other in others)
    added = trace.over_layers("attention.relative")
    np.testing.assert_array_equal(added, np.broadcast_to(added[0], added.shape))
    np.testing.assert_array_equal(added[..., 1:, 1:], added[..., :-1, :-1])
    assert not np.allclose(added, added.swapaxes(2, 3))  # before is not behind


def test_a_high_temperature_evens_out_what_the_distance_adds_too() -> None:
    weights = pipeline(NAME)(example(NAME), [Edit(before_mask(NAME), "temperature", 1000.0)]).over_layers(
        "attention.weights"
    )
    np.testing.assert_allclose(weights, 1 / weights.shape[-1], atol=1e-2)
    with pytest.raises(EditError, match="no meaning at"):
        pipeline(NAME)(example(NAME), [Edit("layers.{l}.attention.scaled", "temperature", 2.0)])


def test_where_no_places_are_added_distances_alone_tell_the_order() -> None:
    of, ids = pipeline("distances alone"), example("distances alone")
    (edit,) = edits = without_positions(of.graph)
    assert edit.key.endswith("relative")
    one, other = of(ids, edits), of(ids[::-1], edits)
    np.testing.assert_allclose(one.Z, other.Z[::-1], atol=1e-5)
    assert np.abs(of(ids).Z - of(ids[::-1]).Z[::-1]).max() > 1e-3


def test_without_places_and_distances_nobody_knows_the_order() -> None:
    of, ids = pipeline(NAME), example(NAME)
    edits = without_positions(of.graph)
    one, other = of(ids, edits), of(ids[::-1], edits)
    np.testing.assert_allclose(one.Z, other.Z[::-1], atol=1e-5)
    one, other = of(ids, edits[:1]), of(ids[::-1], edits[:1])  # distances alone tell it
    assert np.abs(one.Z - other.Z[::-1]).max() > 1e-3
