"""The box Code shows the lecture notes' code beside ours, with the output of both for the input on screen."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import load
from model.notes import BLOCKS
from pages.drawing.state import sketch
from pages.drawing.state.choice import LANGUAGES
from pages.drawing.state.offered import offered
from pages.drawing.text import catalogue, speaking, t
from pages.screen.frame.note_code import source
from tests.model.making import MINILM
from tests.pages.opening import open_page

SENTENCE = "the dog chased the cat ."
#: Pages and the notes shown on them.
PLACES = {
    "tokens": ["TokenEmbedding_002", "SinusoidalPositions_002"],
    "attention": ["MultiHeadAttention_000", "MultiHeadAttention_002"],
    "feed_forward": ["FeedForward_000", "FeedForward_002"],
    "add_and_norm": ["EncoderLayer_001", "EncoderLayer_002", "EncoderLayer_004"],
    "flat": ["ClassifierNetwork_003"],
}


def with_code(name: str, **link: str) -> AppTest:
    """The page with its code opened."""
    app = open_page(name, **link)
    app.session_state[f"{name}.code"] = True
    return app.run()


@pytest.mark.parametrize("name", PLACES)
def test_a_notes_code_stands_beside_ours_with_the_numbers_of_this_run(name: str) -> None:
    flat = name == "flat"
    trace = load("flat")(sketch.ink(sketch.example())) if flat else load("text")(SENTENCE)
    row, layer = (0, 0) if flat else (1, 2)
    for language in tuple(LANGUAGES)[len(name) % 2 :][:1]:
        app, words = with_code(name, s=SENTENCE, layer="3", token="2", lang=language), catalogue(language)
        texts, codes = ([shown.value for shown in elements] for elements in (app.markdown, app.code))
        with speaking(language):
            found = [block for block in BLOCKS if t(f"note_code.differs.{block.key}") in texts]
        assert [block.key for block in found] == PLACES[name]
        tables = [text for text in texts if f"| {words['note_code.ours']} |" in text]
        for block, table in zip(found, tables, strict=True):
            cells = [line.strip("| ").replace("−", "-").split(" | ")[1:] for line in table.splitlines()[2:]]
            for shown, values in zip(np.array(cells, float).T, block.run(trace, layer), strict=True):
                assert shown == pytest.approx(np.atleast_2d(values)[row, : len(shown)], abs=1e-4)
            assert any(all(source(code).strip() in shown for code in block.code) for shown in codes)


def test_of_a_network_of_others_the_notes_code_is_shown_and_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELS", str(MINILM))
    app = with_code("attention", s=SENTENCE, model=next(iter(offered())))
    texts = [shown.value for shown in app.markdown]
    assert catalogue("en")["note_code.differs.MultiHeadAttention_000"] in texts
    assert not any("| here |" in text for text in texts)
