"""The colour scale of attention weights ends at the same weight on Home and in every other picture."""

from collections.abc import Callable

import numpy as np
import pytest

from model.analysis import MANY, bright_end
from pages.attention.overlay import over_layers
from pages.attention.pictures import mean_through_layers
from pages.drawing.picture import Picture
from pages.drawing.place import Place
from pages.drawing.scales import LEAST_MEAN, weights_end
from tests.networks import trace_of
from tests.pages.inputs import DIGIT
from tests.pages.opening import AppTest, charts, open_page, run_of

WORDS, LONG = {"s": "i love you ."}, {"s": "the cat sat on the mat . " * 6}


def test_colour_scale_ends_at_one_or_beyond_all_but_few_weights() -> None:
    few = np.full((2, 4, 4), 0.25)
    many = np.full((4, MANY + 8, MANY + 8), 1 / (MANY + 8))
    assert bright_end(few) == 1 and bright_end(many) == 0.1
    many[0, :, 0] = 0.55
    assert bright_end(many) == 0.6
    assert bright_end(np.eye(100)[None]) == 1


def ends(app: AppTest) -> set[float]:
    """End of the colour scale in the legend of each picture of weights."""
    found = set()
    for one in charts(app):
        for trace in one["figure"]["data"]:
            if trace.get("showscale", True) and "colorbar" in trace and trace.get("zmin") == 0:
                names, places = trace["colorbar"]["ticktext"], trace["colorbar"]["tickvals"]
                stitched = trace["zmax"] > 1  # tiles are bytes
                end = float(names[-1].rstrip("+")) if stitched else trace["zmax"]
                assert float(names[-1].rstrip("+")) == pytest.approx(end, rel=0.1) and places
                found.add(round(end, 4))
    return found


@pytest.mark.parametrize(
    ("page", "link", "input_"),
    [
        ("attention", {}, LONG),
        ("attention", {"as": "map"}, WORDS),
        ("attention", {"tab": "layers"}, DIGIT),
        ("heads", {}, LONG),
        ("heads", {}, DIGIT),
    ],
)
def test_all_pictures_of_weights_end_at_the_weight_of_home(
    page: str, link: dict[str, str], input_: dict[str, str]
) -> None:
    app = open_page(page, **input_, **link, layer="2", head="3")
    run = run_of(app)
    top = max(map(bright_end, run.over_layers("attention.weights")))
    assert weights_end(run, "layers.1.attention.weights") == top
    found = ends(app)
    assert found and top in found and (len(found) == 1 or link.get("tab") == "layers")  # rollout has its own


@pytest.mark.parametrize(
    ("network", "layers"), [("trained text", mean_through_layers), ("trained digits", over_layers)]
)
def test_colour_scale_of_means_of_heads_ends_at_the_largest_drawn(network: str, layers: Callable[..., Picture]) -> None:
    run = trace_of(network)
    front = run.config.tokens_in_front if layers is over_layers else 0
    named = {"name": "mean"} if layers is over_layers else {}
    for token in range(len(run.tokens)):
        means = run.over_layers("attention.weights").mean(axis=1)[:, token, front:]
        drawn = layers(run, Place(token=token), **named).drawn()
        (bar,) = [trace["colorbar"] for trace in drawn.data if "colorbar" in trace]
        assert bar["ticktext"][-1] == f"{max(LEAST_MEAN, means.max()):.2g}"
