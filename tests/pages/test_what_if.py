"""The laboratory: every effect on the screen is that of the changed run, and changes go with the reader everywhere."""

import numpy as np
import pytest

from model import Edit
from model.edits import OPERATIONS
from pages.ui import session
from pages.ui.changes_bar import edit_in_words
from pages.ui.choice import edit_code
from pages.ui.text import LANGUAGES, catalogue
from tests.pages.opening import assert_fine, figure, numbers, open_page, pre_norm, texts, with_network

SENTENCE = "the cat sat on the [MASK] ."
PANELS = ("heads", "inside", "places", "residuals", "patching")
OFF = Edit("layers.2.attention.heads", "zero", head=3)


def open_part(panel: str, **link: str):
    return open_page("what_if", **{"s": SENTENCE, "depth": "numbers", "panel": panel, "token": "6", **link})


def charts(app) -> list[dict]:
    return [figure(app, which) for which in range(len(app.get("plotly_chart")))]


def lead(trace, place: int, first: int, second: int) -> float:
    return float(trace["logits"][place, first] - trace["logits"][place, second])


@pytest.mark.parametrize(("layer", "head"), [(0, 0), (2, 3), (5, 7)])
def test_the_effect_of_each_head_is_that_of_the_run_without_it(layer: int, head: int) -> None:
    text = session.pipeline("text")
    plain = text(SENTENCE)
    place = plain.tokens.index("[MASK]")
    first, second = np.argsort(-plain["logits"][place])[:2]
    shown = next(chart for chart in charts(open_part("heads")) if chart["data"][0].get("z", {}).get("shape") == "6, 8")
    cut = text(SENTENCE, edits=[Edit(f"layers.{layer}.attention.heads", "zero", head=head)])
    effect = lead(cut, place, first, second) - lead(plain, place, first, second)
    assert numbers(shown["data"][0]["z"])[layer, head] == pytest.approx(effect, abs=1e-4)


def test_a_change_stands_in_the_link_goes_to_every_page_and_can_be_taken_back() -> None:
    app = open_part("heads", edits=edit_code(OFF))
    trace = session.run("text", SENTENCE, (OFF,))
    app.switch_page("pages/heads.py").run()
    assert_fine(app)
    assert app.session_state["choice"].edits == (OFF,)
    app = open_page("attention", s=SENTENCE, depth="numbers", layer="5", stage="scores", edits=edit_code(OFF))
    np.testing.assert_array_equal(numbers(figure(app)["data"][0]["z"]), trace["layers.4.attention.scores"][0])
    plain = session.run("text", SENTENCE)
    assert np.abs(plain["layers.4.attention.scores"] - trace["layers.4.attention.scores"]).max() > 1e-3
    app.button(key="change.0").click().run()
    assert_fine(app)
    assert not app.session_state["choice"].edits
    np.testing.assert_array_equal(numbers(figure(app)["data"][0]["z"]), plain["layers.4.attention.scores"][0])


@pytest.mark.parametrize("shown", ["changed", "original", "difference"])
def test_pictures_show_what_was_asked_for(shown: str) -> None:
    link = {"s": SENTENCE, "depth": "numbers", "layer": "5", "stage": "scores", "shown": shown}
    app = open_page("attention", **link, edits=edit_code(OFF))
    key = "layers.4.attention.scores"
    changed, plain = session.run("text", SENTENCE, (OFF,))[key][0], session.run("text", SENTENCE)[key][0]
    wanted = {"changed": changed, "original": plain, "difference": changed - plain}[shown]
    np.testing.assert_allclose(numbers(figure(app)["data"][0]["z"]), wanted, atol=1e-5)


def test_without_positions_the_order_of_words_makes_no_difference() -> None:
    text, none = session.pipeline("text"), Edit("embedding.positions", "zero")
    one, other = (text(sentence, edits=[none]) for sentence in ("我爱你。", "你爱我。"))
    for here, there in ((1, 3), (2, 2), (3, 1)):
        np.testing.assert_allclose(one["logits"][here], other["logits"][there], atol=1e-3)
    apart = (text(sentence)["logits"] for sentence in ("我爱你。", "你爱我。"))
    assert np.abs(np.subtract(*(logits[2] for logits in apart))).max() > 0.1


def test_the_masked_picture_masks() -> None:
    causal = Edit("layers.{l}.attention.masked", "causal")
    app = open_page("attention", s=SENTENCE, depth="numbers", stage="masked", edits=edit_code(causal))
    z = numbers(figure(app)["data"][0]["z"])
    np.testing.assert_array_equal(np.isnan(z), np.triu(np.ones_like(z), 1) > 0)


def test_patching_shows_what_the_other_sentence_s_vectors_do() -> None:
    other = "the cat sat on the roof ."
    app = open_part("patching", other=other)
    text = session.pipeline("text")
    plain = text(SENTENCE)
    place = plain.tokens.index("[MASK]")
    first, second = np.argsort(-plain["logits"][place])[:2]
    shown = numbers(charts(app)[-1]["data"][0]["z"])
    key = plain.graph.stream(2)[0]
    patched = text(SENTENCE, edits=[Edit(key, "patch", token=place, from_token=place, source=other)])
    effect = lead(patched, place, first, second) - lead(plain, place, first, second)
    assert shown[2, place] == pytest.approx(effect, abs=1e-4)


@pytest.mark.parametrize(
    "hostile", ["nonsense", "a.b~zero", "layers.0.add_1~zero~head.3", "layers.9.norm_1~zero", "x" * 9000]
)
def test_changes_that_cannot_be_made_get_a_sentence(hostile: str) -> None:
    app = open_page("attention", s=SENTENCE, edits=hostile)
    assert "Traceback" not in texts(app)


@pytest.mark.parametrize("kind", ["text", "digits"])
def test_pre_norm_networks_open(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_network(monkeypatch, pre_norm(kind))
    link = {"input": "digit"} if kind == "digits" else {}
    for panel in PANELS:
        open_part(panel, **link, edits="layers.1.attention.heads~zero~head.2")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("link", [{}, {"s": "cat"}, {"input": "digit"}, {"input": "flat"}, {"model": "paper"}])
def test_every_kind_of_input_opens(link: dict[str, str], lang: str) -> None:
    open_page("what_if", **{"s": SENTENCE, "lang": lang, **link})
    open_part("heads", **link, lang=lang)


def test_every_operation_has_words_in_both_languages() -> None:
    for language in LANGUAGES:
        assert {f"change.{operation}" for operation in OPERATIONS} <= catalogue(language).keys()


def test_every_place_has_words() -> None:
    trace = session.run("text", SENTENCE)
    for quantity in trace.graph:
        if quantity.traced:
            assert "change." not in edit_in_words(Edit(quantity.key, "zero"), trace.graph, trace.tokens)
