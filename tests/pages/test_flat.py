"""Flat: one token, so its weight is 1 and noise on the score changes nothing."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import load
from model.edits import Edit
from pages.drawing.place import Place
from pages.drawing.state import sketch
from pages.drawing.text import catalogue, unmarked
from pages.drawing.text.numbers import decimal, unsigned
from pages.flat.pictures import ATTENTION, DISTURBED, DRAWN, NOISE, SCORED, as_one, in_patches, of_one, with_noise
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
    for link in ({}, {"panel": "attention", "big": "true"}):
        app = open_flat(edits=f"{ATTENTION}{change}~head.2", **link)
        assert app.session_state["choice"].edits
        assert ("so A V is V again" in texts(app)) == told != (catalogue("en")["change.no_law"] in texts(app))
        assert bool(link) or ("softmax of one score is always 1" in texts(app)) == told


@pytest.mark.parametrize("place", DISTURBED[1:])
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
    linear = np.allclose(noisy[ATTENTION + "V"], calm[ATTENTION + "V"])
    shown = texts(open_flat(tab="noise", stage=place))
    assert ("Attention is two linear layers here" in shown) == linear
    assert "A V is V again" in shown and ("vector times" not in shown)


def test_flat_keeps_edits_and_takes_no_noise_from_another_page() -> None:
    edit = Edit("layers.0.ffn.output", "zero")
    for link, pressed in (
        ({"stage": "V"}, "none"),
        ({"tab": "steps", "stage": "V"}, "none"),
        ({"tab": "noise", "stage": "V"}, "V"),
    ):
        app = open_flat(edits="layers.0.ffn.output~zero", **link)
        assert app.session_state["choice"].edits == (edit,)
        assert app.segmented_control(key="flat.noise").value == pressed
        run = pipelines.run(
            "flat", INK[7], (edit, *([Edit(f"{ATTENTION}V", "noise", NOISE)] if pressed == "V" else []))
        )
        answer = catalogue("en")[f"common.{run.answer[0].best}"]
        with_it = " with noise on values V" if pressed == "V" else ""  # the line on top is of the run without it
        assert f"“{answer}”{with_it}: {decimal(max(run.answer[0].probabilities))}" in unmarked(texts(app))


@pytest.mark.parametrize("tab", ["noise", "attention"])
def test_noise_is_chosen_in_the_open_tab_of_flat(tab: str) -> None:
    app = open_flat(tab=tab, big="true")
    app.segmented_control(key="flat.noise").set_value("K").run()
    assert (app.session_state["choice"].tab, app.session_state["choice"].stage) == (tab, "K")


@pytest.mark.parametrize(
    "link", [{}, {"input": "digit"}, {"input": "flat", "ink": sketch.to_code(sketch.example(0))}], ids=str
)
def test_flat_draws_a_digit_beside_any_input_of_other_pages(link: dict[str, str]) -> None:
    app = open_page("flat", s="the cat sat on the mat .", **link)
    before = app.session_state["choice"]
    app.pills(key="example_digit").set_value(7).run()
    after = app.session_state["choice"]
    assert (after.input, after.sentence) == (before.input, before.sentence)
    assert after.drawing == sketch.example(7)
    assert [*bars(app)] == ["one token", "in patches (odd digits summed)"]


@pytest.mark.parametrize("edits", [(), (Edit("layers.0.ffn.output", "zero"),)])
def test_bars_are_each_networks_answers_without_and_with_noise(edits: tuple[Edit, ...]) -> None:
    for which in (5, 8):
        link = {"edits": "layers.0.ffn.output~zero"} if edits else {}
        app = open_flat(ink=sketch.to_code(sketch.example(which)), **link)
        for shown, name, own in zip(bars(app).values(), ("flat", "digits"), (edits, ()), strict=True):
            network = load(name)
            best = int(np.argmax(load("flat")(INK[which], edits).answer[0].probabilities))
            for share, place in zip(shown, DISTURBED, strict=True):
                noise = [
                    Edit(f"layers.{layer}.attention.{place}", "noise", NOISE) for layer in range(network.config.layers)
                ]
                answer = network(INK[which], own if place == "none" else (*own, *noise)).answer[0].probabilities
                assert share == pytest.approx(sum(answer[best::2]), abs=1e-6), (name, place)
            calm, *noisy = (float(decimal(share)) for share in shown[: 1 + len(SCORED)])
            moved = [decimal(abs(share - calm)) for share in noisy]
        assert f"by {min(moved)} to {max(moved)}." in unmarked(texts(app))
        answer = ("even", "odd")[best]
        assert [*bars(app)][1] == f"in patches ({answer} digits summed)"
        one, cut = (unsigned(abs(float(decimal(own[-1])) - float(decimal(own[0])))) for own in bars(app).values())
        chosen = open_flat(ink=sketch.to_code(sketch.example(which)), tab="noise", stage="V", **link)
        assert (
            f"which are all that a head passes on, moves “{answer}” by {one} in one token and in patches by {cut}."
            in (unmarked(texts(chosen)))
        )
        assert "by **0**" in texts(app)


def test_click_on_a_bar_puts_its_noise_there() -> None:
    shown = with_noise(pipelines.run("flat", INK[7]), Place(), "odd", np.full((2, len(DISTURBED)), 0.5), 0)
    for bar, place in enumerate(DISTURBED):
        assert shown.picks(1, bar) == {"tab": "noise", "stage": place}


def test_numbers_on_bars_do_not_shrink_with_the_bars() -> None:
    for bars_of in with_noise(pipelines.run("flat", INK[7]), Place(), "odd", np.full((2, 5), 0.5), 0).drawn().data:
        assert bars_of.get("constraintext") == "none" and bars_of["textfont"]["size"] >= 11


def test_the_same_drawing_opens_in_patches() -> None:
    patches = pipelines.run("digits", INK[7])
    for place in range(len(patches.tokens)):
        row, column = divmod(place - 1, 7) if place else (0, -1)
        page, values = in_patches(patches, sketch.example(7), "odd", 0.5, 0.9).picks(row, column)
        assert (page, values["input"], values["token"], values["drawing"]) == (
            "attention",
            "digit",
            place,
            sketch.example(7),
        )


def test_each_reading_says_its_answer_in_the_colour_of_its_bars() -> None:
    whole, cut = [pipelines.run(name, INK[7]) for name in ("flat", "digits")]
    bars_of = with_noise(whole, Place(), "odd", np.full((2, len(DISTURBED)), 0.5), 0).drawn().data
    readings = as_one(whole, Place(), "odd", 0.75, 0.9912), in_patches(cut, sketch.example(7), "odd", 0.75, 0.9912)
    for picture, bar, weights in zip(
        readings, bars_of, ("One weight in every head: 1", "50 × 50 weights"), strict=True
    ):
        frame = picture.drawn().layout["shapes"][0]
        assert frame["line"]["color"] == bar["marker"]["color"]
        assert weights in picture.says() and "“odd”: **0.75**" in picture.says().replace("\\", "")
        assert r"99\% " in picture.says()
