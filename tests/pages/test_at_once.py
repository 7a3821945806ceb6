"""The numbers from which a browser draws another head itself: none where it could draw it wrongly."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Trace, load
from model.by_hand import strongest_cell
from pages.drawing.at_once import strongest_keys
from tests.pages.opening import charts, open_page, protos

SENTENCE = "the dog chased the cat ."
LINK = {"s": SENTENCE}


def sent(app: AppTest) -> list[object]:
    """The numbers sent with the page."""
    return protos(app, "at_once")


@pytest.mark.parametrize(
    "link",
    [
        {"edits": "layers.0.attention.heads~zero~head.2", "shown": "difference"},
        {"other": "the cat chased the dog .", "shown": "against"},
        {"stage": "heads"},
        {},
    ],
    ids=["difference", "another input", "× V", "a very large run"],
)
def test_browser_is_sent_no_heads_that_it_would_draw_wrongly_or_too_many(
    link: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not link:
        monkeypatch.setattr("pages.drawing.at_once.MOST", 100)
    app = open_page("attention", **LINK, **link)
    assert not sent(app) and not charts(app)[0]["once"]


def test_the_key_outlined_is_that_of_the_arithmetic_where_only_some_are_shown() -> None:
    run: Trace = load("text")("the cat sat [SEP] the dog ran")
    for columns in (range(len(run.tokens)), [5, 6, 7]):
        found = strongest_keys(run, "attention.weights", columns)
        for layer, head, query in np.ndindex(found.shape):
            cell = strongest_cell(run, f"layers.{layer}.attention.weights", head, query, [*columns])
            assert found[layer, head, query] == cell[-1]
