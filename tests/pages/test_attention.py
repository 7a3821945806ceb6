"""The Attention page."""

import re
from itertools import product

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.measures.scaling import WIDTHS
from pages.attention.scaling import why_scaled
from pages.drawing.figures.base import signed_colours
from pages.drawing.place import Place
from pages.drawing.text import catalogue
from tests.networks import COVER, trace_of
from tests.pages.opening import (
    assert_fine,
    charts,
    figure,
    in_html,
    open_page,
    run_fine,
    run_of,
    said,
    steps,
    turn_to,
)

SENTENCE = "the dog chased the cat ."


def strips(app: AppTest) -> list[tuple[str, list[str], str]]:
    """Names, colours and descriptions of the strips of the selected weight."""
    (html,) = [body for body in in_html(app) if 'class="weight"' in body]
    found = re.findall(r"<span>(.*?)</span><i(?: style=\"(.*?)\")?></i><b>(.*?)</b>", html)
    return [(re.sub("<.*?>", "", name), re.findall("#[0-9a-f]{6}", style), said) for name, style, said in found]


@pytest.mark.parametrize("link", [{"s": SENTENCE, "token": "4", "key": "6"}, {"input": "digit", "token": "9"}])
def test_a_weight_is_followed_from_query_and_key_to_the_row_of_the_head(link: dict[str, str]) -> None:
    app = open_page("attention", layer="3", head="4", **{"as": "map"} | link)
    trace, (query, key) = run_of(app), (int(link["token"]) - 1, figure(app)["layout"]["shapes"][-1])
    key = int(key["x0"] + 0.5)
    q, k, v = (trace[f"layers.2.attention.{name}"][3] for name in "QKV")
    row = trace["layers.2.attention.heads"][3, query]
    wanted = [trace[f"layers.2.attention.{name}"][3, query, key] for name in ("scores", "scaled", "weights")]
    shown = strips(app)
    for (_, colours, _), values in zip(
        [one for one in shown if one[1]], (q[query], k[key], q[query] * k[key], v[key], row), strict=True
    ):
        assert colours == signed_colours(values)
    said = [float(one[2].strip("= ×").replace("−", "-")) for one in shown if one[2]]
    np.testing.assert_allclose(said, wanted, atol=0.006)


def test_no_strips_where_an_edit_broke_the_equation() -> None:
    app = open_page("attention", s=SENTENCE, edits="layers.0.attention.scaled~temperature~value.3")
    assert not [body for body in in_html(app) if 'class="weight"' in body] and steps(app)
    for changed, summed in (("1", False), ("2", True)):
        app = open_page(
            "attention", s=SENTENCE, layer="1", head="1", edits=f"layers.0.attention.heads~zero~head.{changed}"
        )
        (body,) = [body for body in in_html(app) if 'class="weight"' in body]
        assert (catalogue("en")["attention.sum_of_values"] in body) == summed


@pytest.mark.parametrize("d_k", WIDTHS)
def test_why_scores_are_divided_is_said_in_two_short_sentences(d_k: int) -> None:
    said = re.split(r"(?<=[.])\s", why_scaled(trace_of("trained text"), Place(layer=2, head=6), d_k).says())
    assert len(said) == 2 and all(len(sentence.split()) <= 25 for sentence in said)


@pytest.mark.parametrize("name", COVER)
def test_table_of_scaling_agrees_with_the_weights(name: str) -> None:
    """Also with relative position biases and masked keys."""
    run = trace_of(name)
    if not run.config.divided or run.config.distance_terms or len(run.tokens) == 1:
        pytest.skip("its pages do not ask why")
    for layer, head in product(range(run.config.layers), range(run.config.heads)):
        table = why_scaled(run, Place(layer=layer, head=head), 64).table
        largest, slope = table[catalogue("en")["scaling.own"]].to_numpy().reshape(3, 3)[1:, 1]
        p = run[f"layers.{layer}.attention.weights"][head].max(axis=-1)
        np.testing.assert_allclose([largest, slope], [p.mean(), (p * (1 - p)).mean()], atol=1e-5)


@pytest.mark.parametrize("stage", ["scores", "scaled", "masked", "weights"])
@pytest.mark.parametrize("edits", ["", "layers.2.attention.masked~causal"])
def test_scores_share_one_scale_and_a_mask_has_a_map_where_it_hides(edits: str, stage: str) -> None:
    link = {"stage": stage} | ({"edits": edits} if edits else {})
    app = open_page("attention", s=SENTENCE, tab="steps", layer="3", head="5", **link)
    maps = [trace for trace in figure(app)["data"] if trace["type"] == "heatmap"]
    scores = [one["zmax"] for one in maps if one["zmin"] < 0][:-1]  # the last is the weighted sum
    largest = float(np.abs(run_of(app)["layers.2.attention.scores"][4]).max())
    assert scores == pytest.approx([largest] * (3 if edits else 2), rel=1e-5)
    assert (catalogue("en")["attention.masked"] in str(figure(app)["layout"]["annotations"])) == bool(edits)


def test_play_starts_at_the_first_step_and_stops_when_left() -> None:
    app = open_page("attention", s=SENTENCE, tab="steps")
    run_fine(app.button(key="attention.play").click())
    for head in (2, 3):
        assert app.session_state["either.stage"] == "scores" and app.session_state["player.page"] == "attention"
        app.segmented_control(key="either.head").set_value(head).run()
    app.button(key="attention.play").click().run()
    assert not app.session_state["player.page"]
    app.button(key="attention.play").click().run()
    turn_to(app, "heads").run()
    assert_fine(turn_to(app, "attention").run())
    assert not app.session_state["player.page"]


def test_attention_mask_is_distinguished_from_the_mask_token() -> None:
    link = {"stage": "masked", "layer": "2", "head": "3"}
    app = open_page("attention", s="the dog [MASK] the cat .", **link)
    assert catalogue("en")["attention.mask_is_no_word"] in said(app)
    app.button(key="attention.to.translation").click().run()
    assert_fine(app)
    assert "translation.leak" in [chart["key"] for chart in charts(app)]
