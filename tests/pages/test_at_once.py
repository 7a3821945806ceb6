"""What a browser is given to draw another head by itself: all that it needs, and nothing where it could go wrong."""

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Trace, load
from model.by_hand import strongest_cell
from pages.drawing.at_once import strongest_keys
from tests.pages.opening import charts, figure, numbers, open_page, protos

SENTENCE = "the dog chased the cat ."
LINK = {"s": SENTENCE}


def sent(app: AppTest) -> list[tuple[str, np.ndarray]]:
    """The numbers that came with the page: by what they are called, and as they are."""
    parts = protos(app, "at_once")
    found = []
    for part in parts:
        name, shape, numbers = part.bytes.split(b"\n", 2)
        layers, heads, n = json.loads(shape)[:3]
        every = np.frombuffer(numbers, np.float32)
        found.append((name.decode(), every[: layers * heads * n * n].reshape(layers, heads, n, n)))
    return found


def test_all_numbers_of_the_run_come_as_they_were_recorded() -> None:
    run: Trace = load("text")(SENTENCE)
    app = open_page("attention", **LINK)
    ((name, values),) = sent(app)
    np.testing.assert_array_equal(values, run.over_layers("attention.weights"))
    assert charts(app)[0]["once"]["run"] == name
    ((again, _),) = sent(app.run())
    assert again == name  # by which the browser knows that it has them


def test_what_a_mask_hides_is_sent_and_drawn_as_no_weight() -> None:
    app = open_page("attention", **LINK, edits="layers.{l}.attention.masked~causal")
    ((_, values),) = sent(app)
    hidden = np.triu(np.ones(values.shape[-2:], bool), 1)
    assert np.isnan(values[..., hidden]).all() and np.isfinite(values[..., ~hidden]).all()
    np.testing.assert_array_equal(np.isnan(numbers(figure(app)["data"][0]["z"])), hidden)


@pytest.mark.parametrize(
    "link",
    [
        {"edits": "layers.0.attention.heads~zero~head.2", "shown": "difference"},
        {"other": "the cat chased the dog .", "shown": "against"},
        {"stage": "heads"},
    ],
    ids=["difference", "another input", "× V"],
)
def test_what_the_browser_could_not_draw_rightly_waits_for_the_server(link: dict[str, str]) -> None:
    app = open_page("attention", **LINK, **link)
    assert not sent(app) and not charts(app)[0]["once"]


def test_of_a_run_with_very_many_numbers_none_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.drawing.at_once.MOST", 100)
    app = open_page("attention", **LINK)
    assert not sent(app) and not charts(app)[0]["once"]


def test_the_key_outlined_is_that_of_the_arithmetic_where_only_some_are_shown() -> None:
    run: Trace = load("text")("the cat sat [SEP] the dog ran")
    for columns in (range(len(run.tokens)), [5, 6, 7]):
        found = strongest_keys(run, "attention.weights", columns)
        for layer, head, query in np.ndindex(found.shape):
            cell = strongest_cell(run, f"layers.{layer}.attention.weights", head, query, [*columns])
            assert found[layer, head, query] == cell[-1]
