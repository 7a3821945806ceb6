"""Drawings as input: every page takes them, pictures over them show the trace's numbers, bad ones get a sentence."""

import re

import numpy as np
import pytest

from model import pipeline
from model.analysis import cosine_similarity, rollout
from pages.ui.frame.contents import PAGES
from pages.ui.runs import pipelines
from pages.ui.state import sketch
from pages.ui.text import LANGUAGES, catalogue
from tests.pages.opening import APP, AppTest, assert_fine, charts, figure, numbers, open_page, texts, turn_to

FOUR = sketch.example(4)
INK = sketch.ink(FOUR)


def code(app: AppTest) -> str:
    """The drawing in the address."""
    value = app.query_params["ink"]
    return value if isinstance(value, str) else value[0]


def begin(**link: str) -> AppTest:
    """The first page of a link after a single run, with the warnings of that run."""
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params.update({"lang": "en", "input": "digit", **link})
    app.run()
    assert_fine(app)
    return app


def put_on_the_pad(app: AppTest, drawing: np.ndarray) -> AppTest:
    """As if a person had drawn this (112 × 112 values 0 to 3)."""
    app.session_state["drawing"] = sketch.pack(drawing)
    app.session_state["drawing_epoch"] = 99
    return app.run()


@pytest.mark.parametrize(("kind", "language"), [("digit", "zh"), ("flat", "en")])
@pytest.mark.parametrize("name", [row.name for row in PAGES])
def test_every_page_takes_a_drawing(name: str, kind: str, language: str) -> None:
    app = open_page(name, input=kind, lang=language, ink=sketch.to_code(FOUR))
    assert app.session_state["choice"].ink == INK
    own_title = "home", "lesson"  # those say what is to be done
    assert name in own_title or catalogue(language)[f"{name}.title"] in [heading.value for heading in app.subheader]


@pytest.mark.parametrize("layer", [1, 5])
@pytest.mark.parametrize("query", [0, 1, 25, 49])
def test_what_lies_over_the_drawing_is_the_traces_row_of_weights(layer: int, query: int) -> None:
    app = attention("map", layer=str(layer), head="3", token=str(query + 1))
    row = pipelines.run("digits", INK)[f"layers.{layer - 1}.attention.weights"][2, query]
    ink, veil, marks = over(app)["data"]
    sheet = numbers(veil["z"])
    np.testing.assert_array_equal(sheet[:, 2:].ravel(), row[1:])
    assert sheet[0, 0] == row[0]
    np.testing.assert_array_equal(numbers(marks["customdata"]), row)
    np.testing.assert_array_equal(numbers(ink["z"]).ravel(), np.frombuffer(INK, np.uint8))


def attention(panel: str, **link: str) -> AppTest:
    drawn = {"input": "digit", "ink": sketch.to_code(FOUR), "token": "1"}
    return open_page("attention", **{**drawn, "panel": panel, **link})


def over(app: AppTest, which: int = 0) -> dict:
    """The pictures of the page in which weights lie over the drawing, in their order."""
    specs = [figure(app, i) for i in range(len(charts(app)))]
    return [spec for spec in specs if [trace["type"] for trace in spec["data"]] == ["heatmap", "heatmap", "scatter"]][
        which
    ]


def copies(spec: dict, rows: int, columns: int) -> np.ndarray:
    """The weights over each copy of the drawing: (row, column, 49)."""
    sheet = numbers(spec["data"][1]["z"])
    padded = np.pad(sheet, ((0, 1), (0, 1)), constant_values=np.nan).reshape(rows, 8, columns, 8)
    assert np.isnan(padded[:, 7]).all() and np.isnan(padded[..., 7]).all()
    return padded[:, :7, :, :7].transpose(0, 2, 1, 3).reshape(rows, columns, 49)


def test_all_heads_all_layers_and_rollout_show_the_traces_numbers() -> None:
    weights = pipelines.run("digits", INK).over_layers("attention.weights")
    app = attention("layers")
    mean, flow, heads = (over(app, which) for which in range(3))
    np.testing.assert_array_equal(copies(heads, 5, 4), weights[:, :, 0, 1:])
    np.testing.assert_allclose(copies(mean, 1, 5)[0], weights.mean(axis=1)[:, 0, 1:], rtol=1e-6)
    np.testing.assert_allclose(copies(flow, 1, 5)[0], rollout(weights)[:, 0, 1:], rtol=1e-6)
    for spec in (heads, mean):
        veil = spec["data"][1]
        assert veil["zmin"] == 0 and veil["zmax"] == pytest.approx(np.nanmax(numbers(veil["z"])))


def test_the_copies_lie_where_their_weights_lie() -> None:
    ink, veil, _ = over(attention("layers"), 2)["data"]
    pixels = numbers(ink["z"])
    for row, column in [(0, 0), (4, 3), (2, 1)]:
        left = ink["x0"] + column * 30 * ink["dx"] - ink["dx"] / 2  # 28 pixels and a gap of 2
        top = ink["y0"] + row * 30 * ink["dy"] - ink["dy"] / 2
        assert numbers(veil["x"])[column * 8] == pytest.approx(left, abs=1e-6)
        assert numbers(veil["x"])[column * 8 + 7] == pytest.approx(left + 28 * ink["dx"], abs=1e-6)
        assert numbers(veil["y"])[row * 8] == pytest.approx(top, abs=1e-6)
        copy = pixels[row * 30 : row * 30 + 28, column * 30 : column * 30 + 28]
        np.testing.assert_allclose(copy.ravel() - 1.0, np.frombuffer(INK, np.uint8) * (254 / 255), atol=0.51)


def test_the_shares_that_rollout_is_told_to_have_add_up() -> None:
    told = texts(attention("layers", token="20")).replace("\\", "").rsplit("After layer 5, ", 1)[1]
    own, cls, others, largest = map(float, re.findall(r"\d\.\d+", told)[:4])
    assert own + cls + others == pytest.approx(1, abs=2e-3) and largest <= others


def test_the_steps_of_preparing_end_in_what_the_network_reads() -> None:
    app = open_page("tokens", input="digit", ink=sketch.to_code(FOUR), panel="pieces")
    steps = {one["key"]: one["figure"]["data"][0] for one in charts(app)}
    raw, scaled, centred = (numbers(steps[f"tokens.{name}"]["z"]) for name in ("raw", "scaled", "centred"))
    assert raw.shape == (112, 112) and max(scaled.shape) == 20
    np.testing.assert_array_equal(centred.ravel(), np.frombuffer(INK, np.uint8))
    patches = pipelines.run("digits", INK).patches
    pixels = np.frombuffer(INK, np.uint8).reshape(28, 28) / 255
    for place in (0, 10, 24, 48):
        top, left = 4 * (place // 7), 4 * (place % 7)
        np.testing.assert_allclose(patches[place], pixels[top : top + 4, left : left + 4].ravel(), rtol=1e-6)


def test_every_page_counts_the_same_patches_as_inked_and_says_which() -> None:
    patches = pipelines.run("digits", INK).patches
    count, strongly = (int((patches.max(axis=1) >= least).sum()) for least in (0.05, 0.5))
    assert count > strongly  # in this drawing it matters
    row = pipelines.run("digits", INK)["layers.4.attention.weights"][0, 0, 1:]
    prepared = texts(open_page("tokens", input="digit", ink=sketch.to_code(FOUR), panel="pieces"))
    assert (
        f"Number of tokens: 49, each of 4 × 4 pixels. With ink (a pixel of 0.05 or more): {count}."
        in prepared.replace("\\", "")
    )
    said = texts(attention("map", layer="5", token="1")).replace("\\", "")
    share = f"{row[patches.max(axis=1) >= 0.05].sum():.0%}"
    assert f"The {count} patches with ink (a pixel of 0.05 or more) get {share};" in said


def test_the_maps_of_positions_are_the_cosines_of_the_learned_table() -> None:
    app = open_page("tokens", input="digit", panel="positions")
    alike = cosine_similarity(pipelines.pipeline("digits").network.embedding.positions.table.numpy()[1:])
    specs = [figure(app, i) for i in range(len(charts(app)))]
    maps = [spec["data"][0] for spec in specs if spec["data"][0].get("z", {}).get("dtype") == "u1"]
    shown = cells(maps[-1], 49, 49).reshape(7, 7, 7, 7).transpose(0, 2, 1, 3).reshape(49, 49)
    np.testing.assert_allclose((shown - 1.0) / 254 * 2 - 1, alike, atol=0.005)


def cells(stitched: dict, rows: int, columns: int) -> np.ndarray:
    """The cells of a picture of tiles without the gaps, which are 0, and without repeats: (rows, columns)."""
    sheet = numbers(stitched["z"])
    filled = sheet[sheet.any(axis=1)][:, sheet.any(axis=0)]
    return filled[:: len(filled) // rows, :: len(filled[0]) // columns]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["digit", "flat"])
def test_a_damaged_code_gets_a_sentence_and_a_picture(kind: str, language: str) -> None:
    app = begin(lang=language, input=kind, ink="eNrt-not-a-drawing")
    assert [warning.value for warning in app.warning] == [catalogue(language)["error.drawing_code"]]
    assert app.session_state["choice"].drawing == sketch.example()


@pytest.mark.parametrize("stale", [sketch.to_code(sketch.example(2)), "eNrt-not-a-drawing"])
def test_an_older_address_in_the_middle_of_a_visit_does_not_bring_an_older_drawing_back(stale: str) -> None:
    app = begin(ink=sketch.to_code(FOUR))
    app.query_params["ink"] = stale
    assert_fine(app.run())
    assert app.session_state["choice"].drawing == FOUR
    assert code(app) == sketch.to_code(FOUR)


def dot() -> np.ndarray:
    y, x = np.mgrid[:112, :112]
    return np.where((y - 56) ** 2 + (x - 56) ** 2 < 60, 3, 0)


def specks() -> np.ndarray:
    return np.where(np.random.default_rng(0).random((112, 112)) < 0.05, 3, 0)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("drawing", "reason"),
    [
        (np.zeros((112, 112)), "blank"),
        (dot(), "too_small"),
        (np.full((112, 112), 3), "all_ink"),
        (specks(), "noise"),
    ],
    ids=["blank", "one dot", "all ink", "noise"],
)
def test_what_is_no_digit_gets_a_sentence_and_the_last_picture_stays(
    drawing: np.ndarray, reason: str, language: str
) -> None:
    app = open_page("attention", input="digit", lang=language, ink=sketch.to_code(FOUR))
    before = charts(app)
    put_on_the_pad(app, drawing)
    assert_fine(app)
    assert [warning.value for warning in app.warning] == [catalogue(language)[f"error.digit_{reason}"]]
    assert charts(app) == before
    assert app.session_state["choice"].drawing == FOUR
    put_on_the_pad(app, sketch.unpack(sketch.example(1)))
    assert not app.warning and app.session_state["choice"].drawing == sketch.example(1)


def test_a_blank_pad_on_a_cold_link_shows_an_example() -> None:
    app = begin(ink=sketch.to_code(sketch.pack(np.zeros((112, 112)))))
    assert [warning.value for warning in app.warning] == [catalogue("en")["error.digit_blank"]]
    assert app.session_state["choice"].drawing == sketch.example()


def test_a_drawing_survives_other_pages_and_other_kinds_of_input() -> None:
    app = open_page("attention", input="digit", ink=sketch.to_code(FOUR))
    for page, kind in (("tokens", "digit"), ("home", "sentence"), ("layers", "flat"), ("answer", "digit")):
        app.session_state["input"] = kind
        turn_to(app, page).run()
        assert_fine(app)
    assert app.session_state["choice"].drawing == FOUR
    assert code(app) == sketch.to_code(FOUR)


def test_the_same_example_may_be_taken_again_after_drawing_over_it() -> None:
    app = begin(ink=sketch.to_code(FOUR))
    for _ in range(2):
        app.button_group(key="example_digit").set_value(7).run()
        assert_fine(app)
        assert app.session_state["choice"].drawing == sketch.example(7)
        put_on_the_pad(app, sketch.unpack(FOUR))


def test_choosing_who_looks_runs_no_forward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    app = attention("steps")
    monkeypatch.setattr(pipeline, "record", lambda *a, **k: pytest.fail("the network ran"))
    app.selectbox(key="pick.token").set_value(30).run()
    app.button_group(key="either.layer").set_value(3).run()
    assert_fine(app)
    assert app.session_state["choice"].token == 30
