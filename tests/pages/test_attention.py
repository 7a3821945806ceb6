"""The Attention page: each step is the trace, its arithmetic comes out as recorded, and what was chosen stays."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.measures.scaling import every_way, random_scores
from pages.ui.figures.base import signed_colours
from pages.ui.runs import pipelines
from pages.ui.text import catalogue
from tests.pages.opening import (
    assert_fine,
    charts,
    figure,
    in_html,
    maps,
    numbers,
    open_page,
    run_of,
    said,
    steps,
    texts,
    turn_to,
)

SENTENCE = "the dog chased the cat ."


def strips(app: AppTest) -> list[tuple[str, list[str], str]]:
    """The strips of the chosen weight: their names, colours, and what is said of them."""
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


def test_where_a_change_broke_the_law_no_strips_are_drawn() -> None:
    app = open_page("attention", s=SENTENCE, edits="layers.0.attention.scaled~temperature~value.3")
    assert not [body for body in in_html(app) if 'class="weight"' in body] and steps(app)


WHY = {"s": SENTENCE, "layer": "3", "head": "4", "panel": "root"}


def test_why_scores_are_divided_is_told_of_random_vectors_and_of_the_chosen_head() -> None:
    app = open_page("attention", **WHY, d_k="512")
    undivided, divided, by_d_k = every_way(random_scores(512), 512)
    read = said(app)
    flat = f"0.04 and {by_d_k.largest:.2f}"
    for number in (f"{undivided.spread:.1f}", f"{divided.largest:.2f}", f"{undivided.slope:.3f}", flat):
        assert number in read
    assert f"moves only {undivided.slope / divided.slope:.2f} times as far" in read
    p = run_of(app)["layers.2.attention.weights"][3].max(axis=-1)
    assert f"→ {p.mean():.2f}" in read
    assert f"→ {(p * (1 - p)).mean():.3f}" in read
    diamonds = [trace for trace in figure(app)["data"] if trace.get("marker", {}).get("symbol") == "diamond"]
    assert len(diamonds) == 9 and {trace["customdata"][0] for trace in diamonds} == {32}


def test_the_length_of_random_vectors_is_chosen_by_a_slider_and_stands_in_the_link() -> None:
    app = open_page("attention", **WHY)
    app.select_slider(key="scaling.d_k").set_value(4).run()
    assert_fine(app)
    assert app.session_state["choice"].to_link()["d_k"] == "4"
    assert "keeps its slope even undivided" in texts(app)  # what holds of long vectors is not said of short ones


@pytest.mark.parametrize(("lang", "layer", "head", "larger"), [("en", 2, 7, True), ("zh", 3, 4, False)])
def test_a_slope_that_is_larger_undivided_is_said_to_be_so(lang: str, layer: int, head: int, larger: bool) -> None:
    app = open_page("attention", **WHY | {"lang": lang, "layer": str(layer), "head": str(head)})
    undivided, divided, _ = every_way(run_of(app)[f"layers.{layer - 1}.attention.scores"][head - 1], 32)
    assert (undivided.slope > divided.slope) is larger
    assert (catalogue(lang)["scaling.read_own_more"] in texts(app)) is larger


def test_the_own_head_is_measured_by_what_it_may_see() -> None:
    app = open_page("attention", **WHY, edits="layers.2.attention.masked~causal")
    choice = app.session_state["choice"]
    p = pipelines.run(choice.pipeline, choice.subject, choice.edits)["layers.2.attention.weights"][3].max(axis=-1)
    assert f"→ {p.mean():.2f}" in said(app)


def test_through_the_layers_the_row_of_the_selected_token_is_the_mean_of_the_heads() -> None:
    app = open_page("attention", s=SENTENCE, panel="layers", layer="3", token="4")
    means = run_of(app).over_layers("attention.weights").mean(axis=1)[:, 3]
    np.testing.assert_allclose(maps(app)[0], means, atol=1e-6)
    assert f"{means[2].max():.2f}" in said(app)


def test_a_drawing_leads_with_its_overlay_of_few_markers() -> None:
    app = open_page("attention", input="digit", token="9")
    ink, veil, marks = figure(app)["data"]
    np.testing.assert_array_equal(numbers(marks["customdata"]), run_of(app)["layers.2.attention.weights"][2, 8])
    assert len(marks["text"]) == 50 and ink["type"] == veil["type"] == "heatmap"


def test_of_one_sentence_that_looks_at_another_it_is_said_what_is_not_shown() -> None:
    """Of two sentences, only what one takes from one is shown: the rest of the row is somewhere else."""
    pair, token = "the cat sat [SEP] the dog ran", 2
    app = open_page("attention", s=pair, layer="3", head="2", token="3", between="AB")
    row = pipelines.run("text", pair)["layers.2.attention.weights"][1, token]
    value, rest = re.search(r": ([\d.]+) \(.*?not shown get ([\d.]+)% of this row", said(app)).groups()
    assert float(value) == pytest.approx(row[5:].max(), abs=0.005)
    assert float(rest) == pytest.approx(100 * (1 - row[5:].sum()), abs=1)


def test_play_shows_the_first_step_skips_none_and_is_still_for_who_comes_back() -> None:
    app = open_page("attention", s=SENTENCE, panel="steps")
    app.button(key="attention.play").click().run()
    assert_fine(app)
    for head in (2, 3):
        assert app.session_state["either.stage"] == "scores" and app.session_state["player.page"] == "attention"
        app.segmented_control(key="either.head").set_value(head).run()
    app.button(key="attention.play").click().run()
    assert not app.session_state["player.page"]
    app.button(key="attention.play").click().run()
    turn_to(app, "heads").run()
    assert_fine(turn_to(app, "attention").run())
    assert not app.session_state["player.page"]


def test_a_mask_is_told_from_the_word_of_that_name() -> None:
    link = {"stage": "masked", "layer": "2", "head": "3"}
    app = open_page("attention", s="the dog [MASK] the cat .", **link)
    weights = run_of(app)["layers.1.attention.weights"][2]
    assert f"{weights[:, 3].mean():.0%} of the weight goes to [MASK]" in said(app)
    app.button(key="attention.way").click().run()
    assert_fine(app)
    assert "translation.leak" in [chart["key"] for chart in charts(app)]


@pytest.mark.parametrize(
    "link", [{"s": SENTENCE}, {"s": "i love you .", "token": "1"}, {"input": "digit", "as": "map"}]
)
@pytest.mark.parametrize("layer", ["1", "3", "5"])
def test_a_score_has_one_value_on_the_map_and_step_by_step(link: dict[str, str], layer: str) -> None:
    on_map = steps(open_page("attention", layer=layer, head="2", key="2", **link))
    by_itself = steps(open_page("attention", layer=layer, head="2", key="2", panel="steps", stage="scores", **link))
    scores = [[line for line in lines if re.match(r"S_\{[\d,]+\} = [-\d(]", line)] for lines in (on_map, by_itself)]
    assert len(scores[0]) == 1 and scores[0] == scores[1]
