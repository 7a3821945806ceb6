"""The padding mask on Attention: the attention that [PAD] gets with and without it."""

import numpy as np

from model.measures.fillers import FILLERS, fill_up
from pages.drawing.text.numbers import decimal
from pages.screen.runs import pipelines
from tests.pages.opening import assert_fine, charts, numbers, open_page, run_fine, said, stands

SENTENCE = "the dog chased the [MASK] ."


def test_fillers_are_added_behind_their_mask_and_without_it() -> None:
    app = open_page("attention", s=SENTENCE, stage="masked", tab="steps", token="6", lang="zh")
    assert not [one for one in app.main.button_group if one.key == "fillers.way"], "computed when it is opened"
    app.session_state["fillers.box"] = True
    run_fine(app)
    pipeline = pipelines.pipeline("text")
    found = fill_up(pipeline, pipeline(SENTENCE).ids, 5)
    for number, way in enumerate(("alone", "masked", "open")):
        (pills,) = (one for one in app.main.button_group if one.key == "fillers.way")
        assert_fine(pills.set_value(way).run())
        (drawn,) = (one["figure"] for one in charts(app) if one["key"] == "attention.fillers")
        of_words, of_fillers = (numbers(trace["y"]) for trace in drawn["data"])
        assert len(of_fillers) == len(pipeline(SENTENCE).ids) + FILLERS * (way != "alone")
        assert (of_fillers.sum() > 0) == (way == "open")
        np.testing.assert_allclose(of_words + of_fillers, found.rows[number], atol=1e-4)
        assert decimal(float(found.answers.p[number].max())) in said(app)


def test_of_a_changed_run_they_say_that_they_are_without_it_and_which_of_the_same_words_is_meant() -> None:
    link = {"s": SENTENCE, "stage": "masked", "tab": "steps", "token": "6"}
    app = open_page("attention", **link, edits="layers.{l}.attention.masked~causal")
    app.session_state["fillers.box"] = True
    run_fine(app)
    (picture,) = (one for one in charts(app) if one["key"] == "attention.fillers")
    assert stands(app, "order.unchanged") and "“the (5)”" in str(picture)


def test_a_picture_is_not_filled_up_nor_a_sentence_without_an_answer() -> None:
    for link in ({"input": "digit"}, {"model": "paper", "s": SENTENCE}):
        app = open_page("attention", stage="masked", tab="steps", **link)
        assert "fillers.box" not in app.session_state
