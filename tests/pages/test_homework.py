"""Homework: a task in the link is told on every page with how far one is; a teacher's table believes no link."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from model import Edit
from pages.ui.frame.contents import PAGES
from pages.ui.lessons.goals import mark_of
from pages.ui.runs import pipelines
from pages.ui.state.link_values import EDITS
from pages.ui.text import LANGUAGES, catalogue
from tests.pages.opening import assert_fine, open_page, texts

SENTENCE = "我们[MASK]公园玩吧。"
OFF = tuple(Edit("layers.1.attention.heads", "zero", head=head) for head in range(3))
FIRST = f"first.3.{mark_of('text', pipelines.pipeline('text').reader.read(SENTENCE).ids)}.在"


def line(app: AppTest) -> str:
    """What is said of the task."""
    task = catalogue(app.session_state["lang"])["goal.task"]
    (said,) = [part.value for part in app.main.markdown if task in part.value]
    return re.sub(r"\\(.)", r"\1", said)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("page", [row.name for row in PAGES])
def test_each_page_says_the_task_and_whether_it_is_reached(page: str, lang: str) -> None:
    look = {"lang": lang, "depth": "numbers", "s": SENTENCE, "goal": FIRST}
    far = line(open_page(page, **look))
    assert "✓" not in far and "“在”" in far and "“去”" in far and "{" not in far
    assert "✓" in line(open_page(page, **look, edits=EDITS.write(OFF)))


def test_the_line_follows_each_change_until_the_task_is_left() -> None:
    app = open_page("attention", depth="numbers", s="i love you .", goal="oneway.90.5", token="3", key="4")
    assert "✓" not in line(app)
    app.slider(key="layer").set_value(2).run()
    app.slider(key="head").set_value(3).run()
    assert "✓" in line(app) and "“love” gives “you” 0.988" in line(app)
    app.text_input(key="s").set_value("i").run()
    assert "✓" not in line(app)
    app.button(key="task.leave").click().run()
    assert_fine(app)
    assert "goal" not in app.query_params and catalogue("en")["goal.task"] not in texts(app)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_broken_task_gets_a_sentence(lang: str) -> None:
    app = open_page("attention", lang=lang, goal="first.3.<b>")
    (said,) = [warning.value for warning in app.warning]
    assert said.startswith(catalogue(lang)["error.link_goal"].partition("{")[0]) and "\\<b\\>" in said
    assert catalogue(lang)["goal.task"] not in texts(app)


def test_a_task_shows_words_as_they_are() -> None:
    app = open_page("answer", s=SENTENCE, goal=FIRST[:-1] + "<b>$x$")
    assert "“<b>$x$”" in line(app) and "\\<b\\>" in texts(app)
