"""The Add & Norm page."""

from itertools import product

import numpy as np
import pytest

from model import Edit
from model.analysis import mean_likeness, softmax
from model.measures.gradients import gradient_lengths, untrained
from model.measures.without import Fate, fates
from model.measures.without import without as parted
from pages.add_and_norm.pictures import AddNorm, maps, on_the_way, one_vector
from pages.drawing.figures import Figure
from pages.drawing.figures.arrows import bold_width
from pages.drawing.figures.base import legible
from pages.drawing.place import Place
from pages.drawing.state.link_values import edit_code
from pages.drawing.text import LANGUAGES, speaking
from pages.drawing.text.numbers import decimal
from pages.screen.runs import pipelines
from pages.screen.sections import without
from tests.networks import COVER, trace_of
from tests.pages.opening import charts, numbers, open_page, said, steps, texts

SENTENCE = "the dog chased the cat ."


def open_part(tab: str, **link: str):
    return open_page("add_and_norm", **{"s": SENTENCE, "layer": "2", "tab": tab, **link})


def test_layer_input_and_output_have_the_number_of_the_layer() -> None:
    app = open_part("maps", layer="3", sublayer="2", stage="norm_2")
    assert "X^{(3)}" in "".join(steps(app))
    assert "X^{(2)}" in "".join(steps(open_part("maps", layer="2", sublayer="2", stage="norm_2")))


@pytest.mark.parametrize("network", COVER)
def test_each_dot_leads_to_the_sublayer_whose_vector_it_measures_and_each_has_its_name(network: str) -> None:
    run = trace_of(network)
    token, last = len(run.tokens) // 2, run.config.layers - 1
    picture = on_the_way(run, Place(layer=last, token=token))
    drawn = picture.drawn().checked()
    (dots,) = [trace for trace in drawn.data if trace.customdata is not None]
    assert len(drawn.layout.xaxis.ticktext) == sum(len(run.graph.sublayers(layer)) for layer in range(last + 1))
    for (step,), length in zip(dots.customdata, dots.y, strict=True):
        there = picture.picks(int(step), 0)
        sub = run.graph.sublayers(there["layer"])[there["sublayer"] - 1]
        measured = [np.linalg.norm(run[key][token]) for key in (sub.before, sub.sum, sub.after)]
        assert np.isclose(measured, length, rtol=1e-5).any(), (step, length)
        assert drawn.layout.xaxis.ticktext[int(step)].startswith(f"{there['layer'] + 1}<br>")


@pytest.mark.parametrize("network", COVER)
def test_the_numbers_of_a_sublayer_stand_inside_the_picture_above_all_dots(network: str) -> None:
    run = trace_of(network)
    for layer in range(run.config.layers):
        drawn = on_the_way(run, Place(layer=layer)).drawn()
        (low, high), (_, top) = (drawn.layout[axis]["range"] for axis in ("xaxis", "yaxis"))
        assert all("text" not in trace["mode"] for trace in drawn.data)
        (numbers,) = drawn.layout["annotations"]
        assert (numbers["yref"], numbers["y"], numbers["yanchor"]) == ("paper", 1, "top")
        assert low < numbers["x"] < high and np.max(drawn.data[-1]["y"]) <= 0.75 * top
        assert numbers["xanchor"] == ("left" if numbers["x"] < (low + high) / 2 else "right")


@pytest.mark.parametrize(
    ("network", "lang"),
    [*((name, "en") for name in COVER), *product(("trained text", "trained digits"), LANGUAGES)],
)
def test_no_name_of_an_arrow_lies_on_a_line_or_on_another_name(network: str, lang: str) -> None:
    run = trace_of(network)
    subs = [
        (layer, number + 1) for layer in range(run.config.layers) for number in range(len(run.graph.sublayers(layer)))
    ]
    with speaking(lang):
        for (layer, sublayer), token in product(subs, range(0, len(run.tokens), -(-len(run.tokens) // 10))):
            at = AddNorm(run, Place(layer=layer, sublayer=sublayer))
            if at.lengths()[:2, token].min() > 0:
                clear(
                    one_vector(run, Place(layer=layer, sublayer=sublayer, token=token)).drawn(),
                    (layer, sublayer, token),
                )


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_name_of_our_first_sentence_stands_nearest_to_its_own_arrow(lang: str) -> None:
    for sublayer in "12":
        figure = charts(open_page("add_and_norm", lang=lang, sublayer=sublayer))[0]["figure"]
        (names,), layout = [trace for trace in figure["data"] if trace["mode"] == "text"], figure["layout"]
        ways = np.linspace(0, 1, 100)[:, None, None] * [(arrow["x"], arrow["y"]) for arrow in layout["annotations"]]
        unit = np.ptp(layout["yaxis"]["range"]) / (layout["height"] - 14)
        each = zip(numbers(names["x"]), numbers(names["y"]), names["text"], names["textposition"], strict=True)
        for own, (x, y, name, side) in enumerate(each):
            half = np.array([bold_width(name[3:-4]), 1.2]) * names["textfont"]["size"] * unit / 2
            middle = (x, y) + half * [("right" in side) - ("left" in side), ("top" in side) - ("bottom" in side)]
            away = np.linalg.norm(np.maximum(np.abs(ways - middle) - half, 0), axis=-1).min(axis=0)
            assert away.argmin() == own, name


def clear(drawn: Figure, where: object) -> None:
    """Assert that in pictures of several widths no name meets a line or another name, and all are inside; each has the
    colour of its arrow.
    """
    (names,) = (trace for trace in drawn.data if trace["mode"] == "text")
    tips = np.array([(arrow["x"], arrow["y"]) for arrow in drawn.layout["annotations"]])
    inks = [legible(arrow["arrowcolor"]) for arrow in drawn.layout["annotations"]]
    assert names["textfont"]["color"] == inks and len({*inks}) == len(inks), where
    dashed = np.array([drawn.data[0]["x"], drawn.data[0]["y"]], dtype=float).T.reshape(-1, 3, 2)
    starts, ends = np.vstack([0 * tips, dashed[:, 0]]), np.vstack([tips, dashed[:, 1]])
    ways = np.linspace(starts, ends, 400).reshape(-1, 2)
    ranges = np.array([drawn.layout[axis]["range"] for axis in ("xaxis", "yaxis")])
    letter, high = names["textfont"]["size"], drawn.layout["height"] - 14
    for wide in (330, 420, 600):  # pixels
        unit = (np.ptp(ranges, axis=1) / (wide - 12, high)).max()
        boxes: list[tuple[np.ndarray, np.ndarray]] = []
        for x, y, name, side in zip(names["x"], names["y"], names["text"], names["textposition"], strict=True):
            half = np.array([0.95 * bold_width(name[3:-4]), 1.2]) * letter * unit / 2
            middle = (x, y) + half * [("right" in side) - ("left" in side), ("top" in side) - ("bottom" in side)]
            assert not (np.abs(ways - middle) < half).all(axis=1).any(), (name, where, wide)
            assert all((np.abs(middle - other) >= half + size).any() for other, size in boxes), (name, where, wide)
            slack = np.maximum(np.array([wide - 12, high]) * unit - np.ptp(ranges, axis=1), 0) / 2
            assert (np.abs(middle - ranges.mean(axis=1)) + half <= np.ptp(ranges, axis=1) / 2 + slack + 6 * unit).all()
            boxes.append((middle, half))


@pytest.mark.parametrize("network", COVER)
def test_heading_above_each_map_is_an_equation_of_its_sublayer(network: str) -> None:
    run = trace_of(network)
    for layer in range(run.config.layers):
        for sublayer in range(1, len(run.graph.sublayers(layer)) + 1):
            place = Place(layer=layer, sublayer=sublayer, token=0)
            own = AddNorm(run, place).steps
            equations = [run.quantity(key).numbered(run.quantity(key).equation) for key in own[1:]]
            for key in own:
                picture = maps(run, place, key, None)
                law = picture.equation or picture.quantity.numbered(picture.quantity.equation)
                assert law in equations, key


@pytest.mark.parametrize("link", [{"token": "2"}, {"input": "digit"}])
def test_gradient_curves_are_of_this_run(link: dict[str, str]) -> None:
    app = open_part("why", **link)
    choice = app.session_state["choice"]
    pipeline, trace = pipelines.pipeline(choice.pipeline), pipelines.run(choice.pipeline, choice.subject)
    shown = {chart["key"].split(".")[1]: chart["figure"]["data"] for chart in charts(app)}
    assert "either.sublayer" not in [box.key for box in app.get("button_group")], (
        "it is about all sub-layers of all layers"
    )
    drawn = [numbers(line["y"]) for line in shown["gradients"]]
    network, token = untrained(pipeline.config), 0 if trace.picture is not None else 1
    for line, residual in zip(drawn, (True, False), strict=True):
        np.testing.assert_allclose(line, gradient_lengths(network, trace.states()[0], token, residual), rtol=1e-4)
        assert f"{line[:-1].min():.2f} times" in said(app)
    for line, name in zip(shown["lengths"], ("all", "norm"), strict=True):
        length = fates(pipeline, choice.subject)[name].length
        np.testing.assert_allclose(numbers(line["y"]), length, rtol=1e-4)
        assert f"{length[-1]:,.0f}" in said(app)


def test_edited_run_shows_no_gradients() -> None:
    cut = Edit("layers.0.attention.heads", "zero", head=1)
    assert [chart["key"] for chart in charts(open_part("why", edits=edit_code(cut)))] == ["add_and_norm.lengths"]


def test_without_norms_whose_numbers_overflow_no_lengths_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = Fate(np.zeros(7), np.full(7, 14.0))
    monkeypatch.setattr(without, "without_parts", lambda *_: {"all": usual, "residual": usual})
    app = open_part("why")
    assert [chart["key"] for chart in charts(app)] == ["add_and_norm.gradients"]
    assert "no norm: the numbers grow too large" in texts(app)


def test_ablated_sublayer_shows_measured_curve_guess_and_words() -> None:
    app, pipeline = open_part("arrows", token="3"), pipelines.pipeline("text")
    found = fates(pipeline, SENTENCE)
    (drawn,) = [chart["figure"] for chart in charts(app) if chart["key"] == "add_and_norm.without"]
    ends = zip(drawn["layout"]["annotations"], drawn["layout"]["shapes"], strict=True)
    for trace, (end, lead), (name, fate) in zip(drawn["data"], ends, found.items(), strict=True):
        np.testing.assert_allclose(numbers(trace["y"]), fate.alike, atol=1e-4)
        assert (lead["y0"], lead["y1"]) == pytest.approx((fate.alike[-1], end["y"]), abs=1e-4), "it leads to its line"
        assert end["font"]["color"] == legible(lead["line"]["color"]) == legible(trace["line"]["color"])
        run = pipeline(SENTENCE, () if name == "all" else parted(pipeline.graph, name))
        p = softmax(run["logits"][2].astype(np.float64))
        assert f"“{run.outputs[p.argmax()]}” {decimal(p.max())}" in end["text"], name
    layer = int((found["residual"].alike >= without.THE_SAME).argmax())
    assert (
        f"all tokens point nearly the same way after layer {layer}: mean cosine {found['residual'].alike[layer]:.2f}"
        in said(app)
    )


def test_tokens_are_called_equal_only_where_they_become_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    run = pipelines.run("text", SENTENCE)
    usual = Fate(mean_likeness(run.states()), np.full(7, 14.0))
    monkeypatch.setattr(without, "without_parts", lambda *_: {"all": usual, "residual": usual})
    said = texts(open_part("arrows"))
    assert "point nearly the same way" not in said
    assert "no norm: the numbers grow too large" in said
