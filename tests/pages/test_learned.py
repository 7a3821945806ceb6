"""Snapshots of training: every page shows the digit network after some steps, and says so."""

import numpy as np
import pytest

from model.measures import learning
from pages.answer.learned import development
from pages.drawing.state import sketch
from pages.drawing.text import catalogue
from pages.screen.runs import pipelines
from tests.pages.opening import charts, numbers, open_page, texts

WORDS = catalogue("en")


def badge(number: int) -> str:
    one = learning.snapshots()[number]
    return WORDS["learned.badge"].format(step=f"{one.step:,}", accuracy=f"{one.accuracy:.1%}").replace(" %", "%")


def test_what_is_drawn_is_the_run_of_that_snapshot_and_one_tap_leads_back() -> None:
    app = open_page("answer", input="digit", learned="4")
    ink = sketch.ink(sketch.example())
    early, last = (learning.after(number)(ink).answer[0].probabilities for number in (3, learning.SNAPSHOTS - 1))
    (drawn,) = [one["figure"]["data"][0] for one in charts(app) if one["key"] == "answer.guesses_0"]
    assert sorted(numbers(drawn["x"])) == pytest.approx(sorted(early), abs=1e-6)
    assert not np.allclose(sorted(early), sorted(last), atol=1e-2)
    app.button(key="learned.finish").click().run()
    assert app.session_state["choice"].learned is None and badge(3) not in texts(app)


def test_a_column_and_the_slider_choose_the_snapshot() -> None:
    app = open_page("answer", input="digit", tab="learned")
    app.select_slider(key="learned").set_value(4).run()
    assert app.session_state["choice"].learned == 5 and badge(4) in texts(app)
    assert app.session_state["choice"].pipeline.endswith("-after-4")


def test_the_slider_is_for_digits_and_a_sentence_is_read_by_the_finished_network() -> None:
    app = open_page("attention", input="sentence", s="i love you .", learned="3")
    assert app.session_state["choice"].pipeline == "text" and badge(2) not in texts(app)
    assert "learned" not in [one.key for one in app.select_slider]


def test_what_is_drawn_of_its_development_is_that_of_its_runs() -> None:
    ink = sketch.ink(sketch.example(7))
    found = development(ink, ())
    for number in (0, 5, learning.SNAPSHOTS - 1):
        run = learning.after(number)(ink)
        assert found.probabilities[:, number] == pytest.approx(run.answer[0].probabilities)
        assert found.on_ink[:, number] == pytest.approx(learning.on_ink(run))
    assert found.even == pytest.approx(learning.even_share(pipelines.run("digits", ink)))
