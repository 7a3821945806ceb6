"""Every quantity of a graph is shown on a page."""

import pytest

from model.graph import graph
from pages.ui.frame.contents import PAGES
from pages.ui.frame.stages import page_of
from tests.networks import ALL, TRANSLATORS, pipeline


@pytest.mark.parametrize("name", [*ALL, *TRANSLATORS])
def test_every_quantity_has_a_page_and_each_stage_its_own(name: str) -> None:
    of = pipeline(name).graph
    opened = {quantity.key: page_of(quantity) for quantity in of}
    assert set(opened.values()) <= {row.name for row in PAGES}
    for layer in range(graph(of.config).layers()):
        for sublayer in of.sublayers(layer):
            assert opened[sublayer.sum] == "add_and_norm"
            assert sublayer.norm is None or opened[sublayer.norm] == "add_and_norm"
    assert {opened[f"layers.0.attention.{role}"] for role in "QKV"} == {"queries_keys_values"}
    assert opened["layers.0.attention.weights"] == "attention" and opened["layers.0.attention.output"] == "heads"
    assert opened["layers.0.ffn.hidden"] == opened["layers.0.ffn.output"] == "feed_forward"
    assert opened[of.stream(0)[0]] == "tokens"
