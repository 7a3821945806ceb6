"""Figures show the numbers that they are given, under the names that they are given."""

import base64
import json
import re
from pathlib import Path

import numpy as np
import plotly.io
import pytest
from plotly.colors import hex_to_rgb

from model.overview import painter
from pages.drawing.figures import Axis, attention_lines, bars, bars_with_numbers, heatmap, on_white, over_drawing, tiles
from pages.drawing.figures.base import ROLE_COLOURS, SIGNED, signed_colours, text_width
from pages.drawing.figures.curves import adding_up, waterfall, waves
from pages.drawing.figures.matrices import Matrix, abreast
from pages.drawing.figures.points import SIDES, USUAL_SIZE, queries_and_keys
from pages.drawing.figures.theme import LARGE, draw_on, letters
from pages.drawing.figures.writing import Branch, branches, writing

VALUES = np.array([[1.0, -4.0], [2.0, 3.0]], np.float32)


def spec(figure) -> dict:
    return json.loads(figure.as_json())


def test_signed_values_have_a_scale_symmetric_about_0() -> None:
    drawn = spec(heatmap(VALUES, Axis("r"), Axis("c")))["data"][0]
    assert (drawn["zmin"], drawn["zmax"]) == (-4, 4)


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_zero_is_the_ground_in_every_map_and_on_home_and_white_on_paper(ground: str) -> None:
    draw_on(ground, big=False)
    rows = Axis("r"), Axis("c")
    small = abreast([Matrix(VALUES, Axis("c"), 4.0)], Axis("r"), None, height=200)
    own = [heatmap(VALUES, *rows), tiles(VALUES[None, None], *rows, scale="signed"), small]
    scales = [[colour for _, colour in spec(one)["data"][0]["colorscale"]][-5:] for one in own]
    painted = re.search(rf"{ground}: \[(.*?)\]", painter())[1]
    assert scales == [re.findall("#[0-9a-f]{6}", painted)] * 3
    assert signed_colours([-2.0, 0.0, 2.0]) == scales[0][::2]
    away = {"light": 255, "dark": 0}[ground]
    assert max(abs(part - away) for part in hex_to_rgb(scales[0][2])) < 50
    assert [on_white().get(colour, colour) for colour in scales[0]] == list(SIGNED["light"])
    draw_on("light", big=False)


def test_shares_run_from_0_to_1_unless_a_range_is_given() -> None:
    drawn = spec(heatmap(VALUES, Axis("r"), Axis("c"), scale="share"))["data"][0]
    assert (drawn["zmin"], drawn["zmax"]) == (0, 1)
    drawn = spec(heatmap(VALUES, Axis("r"), Axis("c"), scale="share", limit=0.5))["data"][0]
    assert (drawn["zmin"], drawn["zmax"]) == (0, 0.5)


def test_what_a_mask_hides_stays_blank() -> None:
    hidden = np.array([[-np.inf, 1.0], [0.5, -2.0]], np.float32)
    figure = heatmap(hidden, Axis("r"), Axis("c"))
    assert np.isnan(figure.checked().data[0].z[0, 0]) and figure.checked().data[0].zmax == 2


def test_equal_tokens_stay_apart_and_tags_are_shown_as_typed() -> None:
    layout = spec(heatmap(VALUES, Axis("r", ["the", "the"]), Axis("c", ["<b>x</b>", "a&b"])))["layout"]
    assert layout["yaxis"]["tickvals"] == [0, 1] and layout["yaxis"]["ticktext"] == ["the", "the"]
    assert layout["xaxis"]["ticktext"] == ["&lt;b&gt;x&lt;/b&gt;", "a&amp;b"]
    assert layout["yaxis"]["range"] == [1.5, -0.5]  # first row on top


@pytest.mark.parametrize("n", [1, 8, 64, 65])
def test_a_clickable_map_has_a_marker_on_each_cell_up_to_64(n: int) -> None:
    names = [f"t{i}" for i in range(n)]
    marks = heatmap(np.eye(n), Axis("r", names), Axis("c", names), clickable=True).checked().data[1]
    assert len(marks.x) == (n * n if n <= 64 else n * 33)  # of larger ones, every second column
    if n <= 64:
        for i in range(0, n * n, 7):
            assert (marks.y[i], marks.x[i]) == divmod(i, n)
            assert marks.customdata[i] == (1 if i % (n + 1) == 0 else 0)


@pytest.mark.parametrize(("clickable", "chosen"), [(True, None), (False, (37, 49)), (True, (48, 1))])
def test_of_many_names_some_stand_at_the_axis_and_hovers_say_all(clickable: bool, chosen: tuple | None) -> None:
    names = [f"t{i}" for i in range(100)]
    figure = heatmap(np.eye(100), Axis("r", names), Axis("c", names), clickable=clickable, cell=chosen)
    for side, place in ((figure.checked().layout.yaxis, 0), (figure.checked().layout.xaxis, 1)):
        assert len(side.tickvals) <= 64
        assert [names[at] for at in side.tickvals] == list(side.ticktext)
        assert min(np.diff(side.tickvals)) >= 2  # two names lie never on each other
        assert chosen is None or chosen[place] in side.tickvals
    said = np.ravel(figure.checked().data[-1].text)
    assert clickable or len(said) == 10_000
    assert clickable or all(
        f"<b>t{i}</b>" in said[100 * i + j] and f"<b>t{j}</b>" in said[100 * i + j] for i, j in ((3, 4), (49, 0))
    )
    assert figure.checked().data[-1].hovertemplate.startswith("%{text}")


def luminance(colour: str) -> float:
    """WCAG 2.2's relative luminance of #rrggbb."""
    shares = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_what_is_written_on_a_bar_has_a_contrast_of_4_5_whatever_its_colour() -> None:
    levels = [f"{level:02x}" for level in range(0, 256, 15)]
    colours = [f"#{red}{green}{blue}" for red in levels for green in levels for blue in levels]
    many = bars(np.ones(len(colours)), Axis(""), "value", colours=colours).checked().data[0]
    one = bars(np.ones(1), Axis(""), "value", colours="#7b6fd0").checked().data[0]
    pairs = [*zip(many.marker.color, many.insidetextfont.color, strict=True)]
    for ground, ink in [*pairs, (one.marker.color, one.insidetextfont.color)]:
        low, high = sorted((luminance(ground), luminance(ink)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ground, ink)


@pytest.mark.parametrize(("ground", "page"), [("light", "#fdfdfc"), ("dark", "#0f1420")])
def test_words_in_a_colour_have_a_contrast_of_4_5_to_the_page(ground: str, page: str) -> None:
    draw_on(ground, big=False)
    nodes = [Branch(0, row, None, "a", "", goes_on=row < 2, on_path=not row) for row in range(3)]
    ends, across, back = Axis("", ["a", "b", "c"]), np.array([0.7, 0.2, 0.1]), np.array([1.0])
    written = writing(ends, ends, 0, across, back, np.array([0.9, 0.2]), least=0.1, lit=1)
    drawn = [*branches(nodes, "", "").data, *written.data]
    told = " ".join(str((one["text"], one["textfont"])) for one in drawn if one.get("mode") == "text")
    inks = {*re.findall(r"color\W+(#\w{6})", told)}
    draw_on("light", big=False)
    faint = [ink for ink in {*inks, *ROLE_COLOURS[ground].values()}
             if np.ptp(np.log([luminance(ink) + 0.05, luminance(page) + 0.05])) < np.log(4.5)]  # fmt: skip
    assert len(inks) >= 4 and not faint


@pytest.mark.parametrize(("least", "wanted"), [(0.02, {(0, 0), (0, 1), (1, 1)}), (0.5, {(0, 0), (1, 1)})])
def test_lines_join_each_query_to_what_it_looks_at(least: float, wanted: set) -> None:
    weights = np.array([[0.9, 0.1], [0.01, 0.99]], np.float32)
    figure = attention_lines(weights, Axis("q", ["a", "b"]), Axis("k", ["a", "b"]), 0, least=least)
    joined = set()
    for line in (trace for trace in figure.checked().data if trace.mode == "lines"):
        ends = np.asarray(line.y).reshape(-1, 3)
        joined |= {(int(start), int(end)) for start, end, _ in ends}
    assert joined == wanted  # what is too thin is not drawn
    marks = next(trace for trace in figure.checked().data if trace.customdata is not None)
    pairs = [tuple(pair) for pair in marks.customdata]
    assert {pair for pair in pairs if min(pair) >= 0} == wanted
    for (i, j), x, y in zip(pairs, marks.x, marks.y, strict=True):
        if min(i, j) >= 0:  # a mark lies on its line
            assert y == pytest.approx(i + x * (j - i))
        else:
            assert y == max(i, j)


def test_numbers_of_short_bars_to_the_left_have_room_before_the_names() -> None:
    def left(values: list[float]) -> float:
        return spec(bars(np.array(values), Axis("token", ["a", "b"]), "h"))["layout"]["xaxis"].get("range", [0])[0]

    assert left([3.0, -0.2]) < -0.2 - 0.15 * 3.2  # a number takes about a seventh of the width
    assert left([3.0, -3.0]) == left([3.0, 0.2]) == 0  # there numbers stand within the bars: Plotly's own range will do


@pytest.mark.parametrize(("font_size", "height"), [(12, 534), (LARGE, 460), (LARGE, None)])
def test_the_words_below_tiles_have_room_for_their_height(font_size: int, height: int | None) -> None:
    with letters(font_size):
        figure = tiles(
            np.full((6, 8, 17, 17), 0.5),
            Axis("layer", "123456"),
            Axis("head", "12345678"),
            words=["near"] * 48,
            height=height,
        )
    cells, words = figure.checked().data[0], figure.checked().data[-1]
    edges, gaps = np.asarray(cells.y), np.flatnonzero(np.asarray(cells.z)[:, 0] == 0)
    unit = (figure.checked().layout.height - 6 * font_size) / 6  # pixels
    assert len(gaps) == 5 and np.diff(edges)[gaps].min() * unit >= words.textfont.size


def test_waves_count_places_from_0_and_are_called_by_name() -> None:
    table = np.sin(np.arange(12.0).reshape(6, 2))
    figure = waves(table, {"component 2": 1}, Axis("place"), "value", used=3, chosen=(0, 1))
    line, ring = figure.checked().data
    assert (line.name, list(line.x), list(ring.x)) == ("component 2", [0, 1, 2, 3, 4, 5], [0])
    np.testing.assert_array_equal(line.y, table[:, 1].astype(np.float32))
    (band,) = spec(figure)["layout"]["shapes"]
    assert (band["x0"], band["x1"]) == (-0.5, 2.5)


def test_a_notebook_gets_the_numbers_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plotly.io.renderers, "default", "plotly_mimetype")
    shown = heatmap(VALUES.astype(float), Axis("r"), Axis("c"))._repr_mimebundle_()
    drawn = shown["application/vnd.plotly.v1+json"]["data"][0]
    np.testing.assert_array_equal(np.frombuffer(base64.b64decode(drawn["z"]["bdata"]), "<f4").reshape(2, 2), VALUES)


def test_each_bar_of_a_sum_begins_where_the_one_before_ends_and_the_last_is_the_sum() -> None:
    parts = np.array([1.5, -4.0, 0.25])
    figure = waterfall(parts, Axis("", ["a", "b", "c", "sum"]), "v", grey=[0])
    (bar,) = figure.data
    np.testing.assert_allclose(bar["x"], [*parts, parts.sum()])
    np.testing.assert_allclose(bar["base"], [0, 1.5, -2.5, 0])
    assert bar["text"] == ["1.50", "−4.00", "0.25", "−2.25"]
    (hidden,) = waterfall(parts / 3, Axis("", ["a", "b", "c", "sum"]), "v").data
    assert hidden["text"] == ["0.50", "−1.33", "0.08", "−0.75"]
    (hidden,) = waterfall(parts / 7, Axis("", ["a", "b", "c", "sum"]), "v").data
    assert hidden["text"] == ["0.21", "−0.57", "0.04", "−0.32"]
    (hidden,) = waterfall(parts / 9, Axis("", ["a", "b", "c", "sum"]), "v").data
    assert hidden["text"] == ["0.17", "−0.44", "0.03", "≈ −0.25"]
    low, high = figure.layout["xaxis"]["range"]
    assert low < -2.5 - 0.2 * 4 and high > 1.5 + 0.2 * 4  # room for numbers beside short bars
    assert len(set(bar["marker"]["color"])) == 4
    assert figure.checked()


@pytest.mark.parametrize("seed", range(9))
def test_numbers_add_up_as_they_are_written(seed: int) -> None:
    parts = np.random.default_rng(seed).normal(0, 30, 8)
    shown = adding_up(parts)
    assert round(shown.sum(), 2) == round(parts.sum(), 2) and np.abs(shown - parts).max() < 0.01


def test_a_marked_column_can_be_pointed_at_though_the_map_is_wide() -> None:
    values = np.random.default_rng(0).normal(size=(30, 400)).astype(np.float32)
    values[:, 123] = 50
    figure = heatmap(
        values,
        Axis("", [str(row) for row in range(30)]),
        Axis("d_model"),
        square=False,
        clickable=True,
        limit=3.0,
        marked=[123],
    )
    cells, sign, pointed = figure.data
    assert cells["zmax"] == 3.0 and np.array_equal(cells["z"], values)
    assert list(sign["x"]) == [124]
    places = list(zip(pointed["x"].astype(int), pointed["y"].astype(int), pointed["customdata"], strict=True))
    assert {(row, value) for column, row, value in places if column == 124} == {(row, 50.0) for row in range(30)}
    assert all(value == values[row, column - 1] for column, row, value in places)


@pytest.mark.parametrize("size", [12, LARGE, 22])
def test_the_number_of_the_longest_bar_has_its_room_in_however_slim_a_picture(size: int) -> None:
    with letters(size):
        layout = spec(bars_with_numbers(np.array([0.9, 0.004]), ["a", "b"], ["0.90", "0.004"], most=1.0))["layout"]
    assert layout["xaxis"]["range"][1] == 1.0, "it ends at the axis' end"
    assert layout["margin"]["r"] >= 0.5 * layout["font"]["size"] * len(" 0.004")


def test_names_of_queries_and_keys_stand_off_other_dots_and_the_line() -> None:
    queries, keys = np.array([[0.0, 0.0], [-4.0, -2.0]]), np.array([[0.0, 0.15], [4.0, 2.0]])
    figure = queries_and_keys(queries, keys, ["it", "was"], ("query", "key"), ("", ""), link=(0, 1))
    asked, found = (np.broadcast_to(one["textposition"], 2)[0] for one in figure.data[1:])
    assert asked != "top center", "the key stands there"
    assert found != "bottom center", "the query stands there"


def test_no_name_in_a_projected_plane_covers_another_and_the_joined_two_have_theirs() -> None:
    vectors, names = np.random.default_rng(0).normal(size=(2, 20, 2)), [f"name {i}" for i in range(20)]
    with letters(LARGE):
        figure = queries_and_keys(*vectors, names, ("query", "key"), ("", ""), link=(18, 19))
    pixels, boxes = min(np.array(USUAL_SIZE) / np.ptp(vectors.reshape(-1, 2), axis=0)), []
    for one, end in zip(figure.data[1:], (18, 19), strict=True):
        assert one["text"][end] == names[end]
        for x, y, name, side in zip(one["x"], one["y"], one["text"], one["textposition"], strict=True):
            half = np.array([text_width(name), 1.2]) * LARGE / 2
            boxes += [((x, y) * np.array(pixels) + SIDES[side] * (half + 7), half)] if name else []
    assert 10 < len(boxes) < 40
    for i, (middle, half) in enumerate(boxes):
        assert all((np.abs(middle - other) > half + size - 1e-6).any() for other, size in boxes[:i])


def test_columns_beside_bars_stay_apart_on_a_phone_however_long_their_numbers() -> None:
    texts = [("y", ["14.33", ""]), ("− max", ["≈−10.88", ""]), ("exp", ["0.414", "2.259"])]
    figure, wide = bars_with_numbers(np.ones(1), ["was"], ["0.18"], columns=texts, rests=["sum"]), 241  # pixels
    table, layout = figure.data[-1], figure.layout["xaxis2"]
    across = wide * (layout["domain"][1] - layout["domain"][0]) / np.ptp(layout["range"])
    ends = {text: x * across for x, text in zip(table["x"], table["text"], strict=True)}
    digit = 0.46 * table["textfont"]["size"]
    columns = zip(("14.33", "≈−10.88", "0.414"), (0, ends["14.33"], ends["≈−10.88"]), strict=True)
    assert all(ends[text] - before > digit * (len(text) + 0.9) for text, before in columns), ends


def test_a_number_stands_at_the_end_of_its_own_bar_beside_that_of_another_run() -> None:
    values, there = (side.ravel() for side in np.meshgrid(np.linspace(0, 1, 21), np.linspace(0, 1, 21)))
    names = [str(place) for place in range(len(values))]
    figure = bars_with_numbers(values, names, names, there=there, most=1.0)
    own, other, numbers = figure.data
    np.testing.assert_allclose(numbers["x"], values, atol=1e-6)
    np.testing.assert_allclose(numbers["y"], own["y"] + own["offset"] + own["width"] / 2, atol=1e-4)
    assert own["offset"] + own["width"] < other["offset"] and other["offset"] + other["width"] < 0.5


@pytest.mark.parametrize("size", [12, LARGE, 22])
@pytest.mark.parametrize("names", ["ab", ["[CLS]", "a", "[SEP]"], "我们", ["counterrevolutionary"] * 2])
@pytest.mark.parametrize("corner", ["keys →\nqueries ↓", "键 →\n查询 ↓", "layer →\na much longer title ↓"])
def test_what_stands_at_the_corner_of_a_map_has_its_room_however_short_the_names(
    corner: str, names: list[str], size: int
) -> None:
    axis = Axis("", list(names))
    with letters(size):
        margin = heatmap(np.eye(len(names), dtype=np.float32), axis, axis, corner=corner).layout["margin"]
    lines = corner.split("\n")
    widest = max(sum(0.55 if sign.isascii() else 1.0 for sign in line) for line in lines) * size
    assert margin["l"] >= widest + 4 and margin["t"] >= 1.3 * size * len(lines)


@pytest.mark.parametrize("differs", [False, True])
def test_the_key_beside_a_drawing_stands_on_the_page_and_has_the_colours_that_are_seen(differs: bool) -> None:
    weights = np.linspace(-1, 1, 17, dtype=np.float32)
    figure = over_drawing(np.zeros((12, 12), np.float32), weights, [*map(str, range(17))], 0, "", differs=differs)
    _, key, veil, _ = figure.data
    assert not veil["showscale"] and "bgcolor" not in key["colorbar"] and "color" not in key["colorbar"]["tickfont"]
    assert (veil["zmin"], veil["zmax"]) == (key["zmin"], key["zmax"])
    for (at, laid), (there, shown) in zip(veil["colorscale"], key["colorscale"], strict=True):
        *parts, opacity = (float(part) for part in laid[5:-1].split(","))
        assert at == there and shown == f"rgb{tuple(round(part * opacity) for part in parts)}"


def test_no_word_is_struck_through() -> None:
    """A line through a character makes another: 了 would read 子."""
    found = [
        path for top in ("pages", "model") for path in Path(top).rglob("*.*") if path.suffix in (".css", ".js", ".py")
    ]
    struck = re.compile(r"line-through|<(?:s|del|strike)>|\], \"(?:s|del|strike)\"")
    assert len(found) > 100 and not [
        path for path in found if struck.search(path.read_text("utf-8")) and path.parts[:2] != ("model", "checkpoints")
    ]
