"""A screen is a value: opened without Streamlit, never changed, and of another run another one."""

import gc
import weakref

import numpy as np
import pytest

from model import Edit
from pages.drawing.page import Page
from pages.drawing.screen import Screen, open_screen
from pages.drawing.state import sketch
from pages.drawing.state.choice import Choice
from pages.drawing.state.link_values import edit_code
from pages.screen.frame import draw
from pages.screen.frame.contents import NAMES
from pages.screen.frame.pen import Pen
from pages.screen.runs import pipelines
from tests.pages.opening import open_page

OFF = Edit("layers.0.attention.heads", "zero", head=1)
FAR = Edit("layers.0.norm_2", "zero", token=30)
SENTENCE = "the cat [MASK] the dog ."


@pytest.mark.parametrize("source", [None, pipelines])
@pytest.mark.parametrize(
    ("shown", "edits", "other"),
    [("changed", (OFF,), ()), ("original", (), ()), ("difference", (OFF,), ()), ("other", (), ("big",))],
)
def test_the_run_on_the_screen_is_the_one_that_the_reader_wants(source, shown: str, edits: tuple, other: tuple) -> None:
    choice = Choice(sentence=SENTENCE, edits=(OFF, FAR), shown=shown, other="the big dog ." if other else None, layer=9)
    screen = open_screen(choice, source=source)
    assert screen.run.edits == edits and screen.made.edits == (OFF,) and screen.choice.edits == (OFF,)
    assert screen.waiting == (FAR,) and screen.misfit and choice.edits == (OFF, FAR)
    assert ("big" in screen.run.tokens) == bool(other) and screen.choice.layer == screen.run.config.layers - 1
    assert screen.original.edits == () and screen.original.tokens == screen.run.tokens
    assert (screen.two.other is screen.other) == (shown != "difference")
    assert screen.at.token == ("[MASK]" in screen.run.tokens and screen.run.tokens.index("[MASK]")) or other


def test_a_screen_of_another_run_is_another_one() -> None:
    choice = Choice(sentence=SENTENCE, other="the big dog .", shown="against", layer=5, edits=(OFF,))
    screen = open_screen(choice)
    ink = sketch.ink(sketch.example())
    there = screen.of("flat", ink)
    assert there.run.config.layers == 1 and there.choice.layer == 0 and there.pipeline.name == "flat"
    assert (there.other, there.shows) == (None, "changed"), "of another network's run nothing is less"
    assert screen.choice.layer == 5 and screen.shows == "against" and screen.other is not None
    again = screen.of("text", screen.subject)
    assert again.shows == "against" and again.run.edits == (OFF,)
    np.testing.assert_array_equal(again.run["logits"], screen.run["logits"])


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("The committee postponed its decision although nobody had objected to the plan", "nobody"),
        ("the cat sat on the mat .", "mat"),
        ("there is a book on the table", "table"),
        ("we went home", "home"),
        ("妈妈说她很喜欢这本书。", "书"),
        ("他在银行工作。", "银"),
        ("the the", "the"),
        ("1 + 2", "1"),
        (SENTENCE, "[MASK]"),
    ],
)
def test_a_page_opens_on_the_hidden_word_or_else_on_a_content_word(sentence: str, word: str) -> None:
    screen = open_screen(Choice(sentence=sentence))
    assert screen.run.tokens[screen.at.token] == word
    assert open_screen(Choice(sentence=sentence, token=1)).at.token == 1, "a link that names one"


@pytest.mark.parametrize("name", NAMES)
def test_no_page_leaves_its_screen_with_the_visitor(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    screens, link = [], {"edits": edit_code(OFF), "other": "the big dog .", "shown": "beside"}

    class Watched(Pen):
        def __init__(self, page: Page, screen: Screen, *more: str) -> None:
            super().__init__(page, screen, *more)
            screens.append(weakref.ref(screen))

    monkeypatch.setattr(draw, "Pen", Watched)
    open_page(name, s=SENTENCE, big="true", **link)
    gc.collect()
    assert [screen() for screen in screens] == [None]
