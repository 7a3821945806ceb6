"""Why there? on the pages that show attention: the bars are the score, and each part leads to where it came from."""

import re
from functools import cache

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Edit
from model.analysis import placed
from model.measures.sources import BIAS, DISTANCE, EDIT, of_attention
from pages.attention import why_there
from pages.ui.frame.contents import NAMES
from pages.ui.sections.sources import kind_of, layer_of, way_to
from pages.ui.state.link_values import edit_code
from pages.ui.text import catalogue
from tests.networks import QUICK, TRANSLATORS, trace_of
from tests.pages.opening import chart, charts, numbers, open_page, run_of, said, steps, texts

SENTENCE = "the dog chased the cat ."
LINK = {"s": SENTENCE, "layer": "3", "head": "2", "token": "4", "key": "6", "why": "1"}


def bars(app: AppTest) -> tuple[list[str], np.ndarray]:
    figure = chart(app, "why_there")
    return figure["layout"]["yaxis"]["ticktext"], numbers(figure["data"][0]["x"])


def is_the_score(app: AppTest, score: float) -> None:
    """The bars, as they are written, add up to the score."""
    _, values = bars(app)
    written = [float(text.replace("−", "-")) for text in chart(app, "why_there")["data"][0]["text"]]
    assert written[-1] == pytest.approx(score, abs=0.006)
    assert sum(written[:-1]) == pytest.approx(written[-1], abs=1e-6)
    np.testing.assert_allclose(values, written, atol=0.006)


@pytest.mark.parametrize(("stage", "layer"), [("scaled", "1"), ("weights", "3"), ("scaled", "6")])
def test_the_bars_add_up_to_the_scaled_score_that_the_run_recorded(stage: str, layer: str) -> None:
    app = open_page("attention", **LINK | {"stage": stage, "layer": layer})
    score = run_of(app)[f"layers.{int(layer) - 1}.attention.scaled"][1, 3, 5]
    is_the_score(app, score)
    read = said(app)
    assert re.search(f"scaled score of .* is {score:.2f}", read) and not steps(app)


def test_the_largest_parts_have_bars_of_their_own_and_the_others_one_together() -> None:
    app = open_page("attention", **LINK | {"layer": "6"})
    trace, (named, values) = run_of(app), bars(app)
    scores = of_attention(trace, trace.graph.sublayers(5)[0], 1)
    row = scores.parts[:, :, 3].sum(0)
    parts = row[:, 5] - row.mean(-1)
    order = np.argsort(-np.abs(parts))
    np.testing.assert_allclose(values[1:7], parts[order[:6]], atol=0.006)
    assert values[7] == pytest.approx(parts[order[6:]].sum(), abs=0.006)
    assert named[7:] == [f"{len(parts) - 6} other parts", "scaled score"] and len(values) == 9


def test_in_the_decoder_the_parts_of_the_source_are_the_encoders() -> None:
    link = LINK | {"s": "i love you .", "layer": "2", "panel": "inside", "step": "4", "stage": "weights"}
    app = open_page("translation", **link, block="cross")
    named, _ = bars(app)
    assert "FFN 6" in " ".join(chart(app, "pairs")["layout"]["xaxis"]["ticktext"])
    assert "cross-attention 1" in chart(app, "pairs")["layout"]["yaxis"]["ticktext"]
    assert named[0] == "mean of the row"
    app = open_page("translation", **link, block="attention")
    assert "cross-attention 1" in chart(app, "pairs")["layout"]["xaxis"]["ticktext"]


def test_what_may_not_be_seen_and_what_is_alone_is_said_to_need_no_score() -> None:
    link = LINK | {"s": "i love you .", "layer": "2", "panel": "inside", "block": "attention", "stage": "weights"}
    app = open_page("translation", **link | {"step": "1", "key": "1"})
    assert "may attend only to" in texts(app) and not [one for one in charts(app) if "why_there" in one["key"]]
    app = open_page("translation", **link | {"step": "2", "key": "4"})
    assert "is hidden from" in texts(app)
    assert steps(open_page("attention", **LINK, input="flat"))  # one token alone: its arithmetic, and no question


def test_the_pairs_are_the_sources_of_both_tokens_above_the_mean_of_the_row() -> None:
    app = open_page("attention", **LINK)
    trace, picture = run_of(app), chart(app, "pairs")
    scaled = trace["layers.2.attention.scaled"][1, 3]
    z = numbers(picture["data"][0]["z"])
    assert z.sum() == pytest.approx(scaled[5] - scaled.mean(), abs=1e-4)
    scores = of_attention(trace, trace.graph.sublayers(2)[0], 1)
    np.testing.assert_allclose(z, scores.parts[:, :, 3, 5] - scores.parts[:, :, 3].mean(-1), atol=1e-5)
    assert picture["layout"]["yaxis"]["ticktext"] == [
        "word",
        "position",
        "attention 1",
        "FFN 1",
        "attention 2",
        "FFN 2",
        "biases",
    ]


def test_without_a_part_the_weights_are_those_of_the_rest() -> None:
    app = open_page(
        "attention",
        **LINK
        | {
            "s": "the animal did not cross the street because it was too tired .",
            "hidden": "none",
            "head": "7",
            "key": "6",
        },
    )
    trace = run_of(app)
    scores = of_attention(trace, trace.graph.sublayers(2)[0], 6)
    part = scores.of_keys.index("layers.1.attention.output")
    row = trace["layers.2.attention.scaled"][6, 3] - scores.parts[:, part, 3].sum(0)
    weight = np.exp(row)[5] / np.exp(row).sum()
    now = trace["layers.2.attention.weights"][6, 3, 5]
    assert f"would get {weight:.0%} instead of {now:.0%}" in said(app)


def test_where_positions_alone_or_words_alone_would_look_is_said_of_heads_in_which_they_count() -> None:
    """Head 3 of layer 2 looks at the next word: positions alone send it there."""
    link = LINK | {
        "s": "the animal did not cross the street because it was too tired .",
        "hidden": "none",
        "layer": "2",
    }
    for head, source, read, other in (
        ("3", "embedding.positions", "Position against position", "Word against word"),
        ("4", "embedding.tokens", "Word against word", "Position against position"),
    ):
        app = open_page("attention", **link | {"head": head})
        scores = of_attention(run_of(app), run_of(app).graph.sublayers(1)[0], int(head) - 1)
        place = scores.of_keys.index(source)
        best = placed(run_of(app).tokens)[scores.parts[place, place, 3].argmax()]
        assert f"{read} alone would attend most to “{best}”" in said(app)
        assert (other in texts(app)) == (
            scores.shares(np.ones(scores.parts.shape[2:], bool))[1 - place, 1 - place] >= 0.05
        )
        assert head == "4" or best == "not"
    assert "alone would" not in texts(open_page("attention", **link | {"layer": "6"}))


def test_where_an_edit_made_other_weights_nothing_is_said_of_them() -> None:
    edit = Edit("layers.2.attention.masked", "scale", 0.5)
    app = open_page("attention", **LINK, edits=edit_code(edit))
    assert "instead of" not in texts(app)
    is_the_score(app, run_of(app)["layers.2.attention.scaled"][1, 3, 5])


def test_of_a_large_input_only_the_own_row_is_taken_apart_and_of_a_larger_one_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(why_there, "MOST_BYTES", 1_000_000)
    link = LINK | {"input": "digit"}
    app = open_page("attention", **link)
    is_the_score(app, run_of(app)["layers.2.attention.scaled"][1, 3, 5])
    assert "The largest pair" in texts(app) and "Over all rows" not in texts(app)
    app = open_page("attention", **link, edits=edit_code(Edit("layers.0.add_1", "scale", 0.5)))
    assert "too long to be taken apart" in texts(app)
    monkeypatch.setattr(why_there, "MOST_BYTES", 100_000)
    assert "too long to be taken apart" in texts(open_page("attention", **link))


@cache
def every_source() -> set[tuple[str, bool]]:
    """All sources of networks of every kind, and whether they are of a picture."""
    found = set()
    for name in [*QUICK, *TRANSLATORS]:
        trace = trace_of(name)
        for sublayers in trace.graph.sublayers_of.values():
            for attention in sublayers:
                if attention.name != "ffn":
                    scores = of_attention(trace, attention, 0)
                    found |= {(kind_of(source, trace), source) for source in (*scores.of_queries, *scores.of_keys)}
    return found


def test_every_source_has_its_words() -> None:
    kinds = {kind for kind, _ in every_source()} | {EDIT}
    assert len(kinds) == 10
    words = catalogue("en")
    assert not [kind for kind in kinds for text in ("source.", "why.because_") if f"{text}{kind}" not in words]


def test_a_part_leads_to_the_page_on_which_it_was_computed() -> None:
    ways = {source: way_to(source, 2) for _, source in every_source()}
    assert {source for source, way in ways.items() if way is None} == {BIAS, DISTANCE}
    for source, way in ways.items():
        if way:
            page, chosen = way
            assert page in NAMES and chosen.get("layer", 0) == layer_of(source)
            assert chosen["panel"] is None or f"{page}.panel_{chosen['panel']}" in catalogue("en")
    assert ways["layers.1.ffn.output"] == ("feed_forward", {"panel": None, "stage": "output", "layer": 1, "token": 2})
    assert ways["decoder.layers.1.cross.output"][1]["block"] == "cross"
