"""Flat: one token, so its weight is 1 and noise on the score changes nothing."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import load
from model.edits import Edit
from pages.drawing.place import Place
from pages.drawing.state import sketch
from pages.drawing.text import catalogue, unmarked
from pages.drawing.text.numbers import unsigned
from pages.flat.pictures import ATTENTION, DISTURBED, DRAWN, NOISE, SCORED, as_read, in_patches, of_one, with_noise
from pages.screen.runs import pipelines
from tests.pages.opening import charts, numbers, open_page, texts

INK = [sketch.ink(sketch.example(which)) for which in range(10)]


def open_flat(**link: str):
    return open_page("flat", **{"input": "flat", "ink": sketch.to_code(sketch.example(7)), **link})


def bars(app: AppTest) -> dict[str, np.ndarray]:
    """Bars of each way to read the drawing, by its name in the legend."""
    (drawn,) = [chart["figure"]["data"] for chart in charts(app) if chart["key"] == "flat.with_noise"]
    return {trace["name"]: numbers(trace["y"]) for trace in drawn}


@pytest.mark.parametrize(("change", "told"), [("V~zero", True), ("heads~zero", False), ("weights~zero", False)])
def test_flat_says_av_is_v_unless_heads_or_weights_are_edited(change: str, told: bool) -> None:
    app = open_flat(panel="attention", edits=f"{ATTENTION}{change}~head.2")
    assert app.session_state["choice"].edits
    assert ("so A V is V again" in texts(app)) == told
    assert (catalogue("en")["change.no_law"] in texts(app)) != told
    first = texts(open_flat(edits=f"{ATTENTION}{change}~head.2"))
    assert ("softmax of one score is always 1" in first) == told != (catalogue("en")["change.no_law"] in first)


@pytest.mark.parametrize("place", DISTURBED)
def test_noise_on_query_key_or_score_changes_nothing_on_flat(place: str) -> None:
    for which, ink in enumerate(INK):
        calm = pipelines.run("flat", ink)
        noisy = pipelines.run("flat", ink, (Edit(ATTENTION + place, "noise", NOISE),))
        shown = [of_one(run, Place()).parts for run in (calm, noisy)]
        moved = {
            name: not np.array_equal(one.drawn.array, other.drawn.array)
            for name, one, other in zip(DRAWN, *shown, strict=True)
        }
        answers = [run.answer[0].probabilities for run in (calm, noisy)]
        assert moved[place] and not moved["weights"], which
        assert moved["heads"] == (answers[0] != answers[1]) == (place == "V"), which


def test_the_change_that_is_told_is_that_of_the_answer_and_other_changes_stay() -> None:
    edit = Edit("layers.0.ffn.output", "zero")
    calm, noisy = (
        pipelines.run("flat", INK[7], edits).answer[0].probabilities
        for edits in ((edit,), (edit, Edit(f"{ATTENTION}V", "noise", NOISE)))
    )
    app = open_flat(panel="attention", edits="layers.0.ffn.output~zero", stage="V")
    assert f"by **{unsigned(max(abs(one - other) for one, other in zip(calm, noisy, strict=True)))}**" in texts(
        app
    ).replace("\\", "")
    assert app.session_state["choice"].edits == (edit,)
    assert "by **0**" in texts(open_flat(panel="attention", edits="layers.0.ffn.output~zero", stage="K"))


@pytest.mark.parametrize("link", [{}, {"input": "digit"}, {"input": "flat"}])
def test_flat_draws_a_digit_beside_any_input_of_other_pages(link: dict[str, str]) -> None:
    app = open_page("flat", s="the cat sat on the mat .", **link)
    before = app.session_state["choice"]
    app.pills(key="example_digit").set_value(7).run()
    after = app.session_state["choice"]
    assert (after.input, after.sentence) == (before.input, before.sentence)
    assert after.drawing == sketch.example(7)
    assert [*bars(app)] == ["one token", "in patches (odd digits summed)"]


@pytest.mark.parametrize("edits", [(), (Edit("layers.0.ffn.output", "zero"),)])
def test_the_bars_are_how_far_noise_moves_the_same_answer_of_either_network(edits: tuple[Edit, ...]) -> None:
    for which in (5, 8):
        link = {"edits": "layers.0.ffn.output~zero"} if edits else {}
        app = open_flat(ink=sketch.to_code(sketch.example(which)), **link)
        for shown, name, own in zip(bars(app).values(), ("flat", "digits"), (edits, ()), strict=True):
            network = load(name)
            calm = network(INK[which], own).answer[0].probabilities
            for share, place in zip(shown, SCORED, strict=True):
                noise = [
                    Edit(f"layers.{layer}.attention.{place}", "noise", NOISE) for layer in range(network.config.layers)
                ]
                noisy = network(INK[which], (*own, *noise)).answer[0].probabilities
                odd = [sum(run[1::2]) for run in (calm, noisy)]
                assert share == pytest.approx(abs(odd[1] - odd[0]), abs=1e-6), (name, place)
            moved = [f"{share:.2f}" for share in shown]
        assert f"by {min(moved)} to {max(moved)}." in unmarked(texts(app))
        assert "by **0**" in texts(app)


def test_a_click_on_a_bar_opens_the_heads_with_its_noise() -> None:
    shown = with_noise(pipelines.run("flat", INK[7]), Place(), np.full((2, len(SCORED)), 0.5))
    for bar, place in enumerate(SCORED):
        assert shown.picks(1, bar) == {"tab": "attention", "stage": place}


def test_the_same_drawing_opens_in_patches() -> None:
    patches = pipelines.run("digits", INK[7])
    for place in range(len(patches.tokens)):
        row, column = divmod(place - 1, 7) if place else (0, -1)
        page, values = in_patches(patches, sketch.example(7)).picks(row, column)
        assert (page, values["input"], values["token"], values["drawing"]) == (
            "attention",
            "digit",
            place,
            sketch.example(7),
        )


def test_either_reading_of_the_drawing_says_how_many_weights_it_has_in_the_colour_of_its_bars() -> None:
    runs = [pipelines.run(name, INK[7]) for name in ("flat", "digits")]
    bars_of = with_noise(runs[0], Place(), np.full((2, len(SCORED)), 0.5)).drawn().data
    for run, bar in zip(runs, bars_of, strict=True):
        picture, n = as_read(run, Place(), 0.9912), len(run.tokens)
        frame = picture.drawn().layout["shapes"][-1]
        assert frame["line"]["color"] == bar["marker"]["color"]
        assert picture.shape == (n, n) and ("always 1" if n == 1 else f"{n} × {n}") in picture.says()
        assert r"99\% of new digits right" in picture.says()
