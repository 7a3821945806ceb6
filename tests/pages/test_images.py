"""Drawings as input: pictures over them show the trace's numbers; unreadable ones get a sentence."""

import numpy as np
import pytest

from model.analysis import bright_end, cosine_similarity, rollout
from pages.attention.overlay import over_heads, over_layers
from pages.drawing.figures import Figure
from pages.drawing.place import Place
from pages.drawing.state import sketch
from pages.drawing.text import catalogue
from pages.screen.runs import pipelines
from tests.pages.opening import (
    AppTest,
    address,
    assert_fine,
    charts,
    figure,
    numbers,
    open_page,
    run_fine,
    warnings,
)

FOUR = sketch.example(4)
INK = sketch.ink(FOUR)


def put_on_the_pad(app: AppTest, drawing: np.ndarray) -> AppTest:
    """Put a drawing on the pad (112 × 112 values 0 to 3)."""
    app.session_state["drawing"] = sketch.pack(drawing)
    app.session_state["drawing_epoch"] = 99
    return app.run()


def copies(drawn: Figure, rows: int, columns: int) -> np.ndarray:
    """Weights over each copy of the drawing: (row, column, 49)."""
    sheet = np.asarray(drawn.data[1]["z"])
    padded = np.pad(sheet, ((0, 1), (0, 1)), constant_values=np.nan).reshape(rows, 8, columns, 8)
    assert np.isnan(padded[:, 7]).all() and np.isnan(padded[..., 7]).all()
    return padded[:, :7, :, :7].transpose(0, 2, 1, 3).reshape(rows, columns, 49)


def test_all_heads_all_layers_and_rollout_show_the_traces_numbers() -> None:
    run, at = pipelines.run("digits", INK), Place()
    weights = run.over_layers("attention.weights")
    mean, flow = (over_layers(run, at, name).drawn() for name in ("mean", "rollout"))
    heads = over_heads(run, at).drawn()
    np.testing.assert_array_equal(copies(heads, 5, 4), weights[:, :, 0, 1:])
    np.testing.assert_allclose(copies(mean, 1, 5)[0], weights.mean(axis=1)[:, 0, 1:], rtol=1e-6)
    np.testing.assert_allclose(copies(flow, 1, 5)[0], rollout(weights)[:, 0, 1:], rtol=1e-6)
    veil, own = heads.data[1], mean.data[1]
    assert veil["zmin"] == own["zmin"] == 0 and veil["zmax"] == pytest.approx(max(map(bright_end, weights)))
    assert own["zmax"] == pytest.approx(weights.mean(axis=1)[:, 0].max()), "a mean ends its own colours"


def test_the_copies_lie_where_their_weights_lie() -> None:
    ink, veil, *_ = over_heads(pipelines.run("digits", INK), Place()).drawn().data
    for row, column in [(0, 0), (4, 3), (2, 1)]:
        left = ink["x0"] + column * 30 * ink["dx"] - ink["dx"] / 2  # 28 pixels and a gap of 2
        top = ink["y0"] + row * 30 * ink["dy"] - ink["dy"] / 2
        assert veil["x"][column * 8] == pytest.approx(left, abs=1e-6)
        assert veil["x"][column * 8 + 7] == pytest.approx(left + 28 * ink["dx"], abs=1e-6)
        assert veil["y"][row * 8] == pytest.approx(top, abs=1e-6)
        copy = ink["z"][row * 30 : row * 30 + 28, column * 30 : column * 30 + 28]
        np.testing.assert_allclose(np.ravel(copy) - 1.0, np.frombuffer(INK, np.uint8) * (254 / 255), atol=0.51)


def test_the_steps_of_preparing_end_in_what_the_network_reads() -> None:
    app = open_page("tokens", input="digit", ink=sketch.to_code(FOUR), tab="pieces")
    steps = {one["key"]: one["figure"]["data"][0] for one in charts(app)}
    raw, scaled, centred = (numbers(steps[f"tokens.{name}"]["z"]) for name in ("raw", "scaled", "centred"))
    assert raw.shape == (112, 112) and max(scaled.shape) == 20
    np.testing.assert_array_equal(centred.ravel(), np.frombuffer(INK, np.uint8))
    patches = pipelines.run("digits", INK).patches
    pixels = np.frombuffer(INK, np.uint8).reshape(28, 28) / 255
    for place in (0, 10, 24, 48):
        top, left = 4 * (place // 7), 4 * (place % 7)
        np.testing.assert_allclose(patches[place], pixels[top : top + 4, left : left + 4].ravel(), rtol=1e-6)


def test_the_maps_of_positions_are_the_cosines_of_the_learned_table() -> None:
    app = open_page("tokens", input="digit", tab="positions")
    alike = cosine_similarity(pipelines.pipeline("digits").network.embedding.positions.table.numpy()[1:])
    specs = [figure(app, i) for i in range(len(charts(app)))]
    maps = [spec["data"][0] for spec in specs if spec["data"][0].get("z", {}).get("dtype") == "u1"]
    shown = cells(maps[-1], 49, 49).reshape(7, 7, 7, 7).transpose(0, 2, 1, 3).reshape(49, 49)
    np.testing.assert_allclose((shown - 1.0) / 254 * 2 - 1, alike, atol=0.005)


def cells(stitched: dict, rows: int, columns: int) -> np.ndarray:
    """Cells of a picture of tiles, without gaps (0) and repeated pixels: (rows, columns)."""
    sheet = numbers(stitched["z"])
    filled = sheet[sheet.any(axis=1)][:, sheet.any(axis=0)]
    return filled[:: len(filled) // rows, :: len(filled[0]) // columns]


def test_an_older_address_in_the_middle_of_a_visit_does_not_bring_an_older_drawing_back() -> None:
    app = open_page("home", input="digit", ink=sketch.to_code(FOUR))
    app.query_params["ink"] = sketch.to_code(sketch.example(2))
    run_fine(app)
    assert app.session_state["choice"].drawing == FOUR
    assert address(app)["ink"] == sketch.to_code(FOUR)


def test_what_is_no_digit_gets_a_sentence_and_the_last_picture_stays() -> None:
    app = open_page("attention", input="digit", lang="zh", ink=sketch.to_code(FOUR))
    before = charts(app)
    put_on_the_pad(app, np.full((112, 112), 3))
    assert_fine(app)
    assert warnings(app) == [catalogue("zh")["error.digit_all_ink"]]
    assert charts(app) == before
    assert app.session_state["choice"].drawing == FOUR
    put_on_the_pad(app, sketch.unpack(sketch.example(1)))
    assert not warnings(app) and app.session_state["choice"].drawing == sketch.example(1)


def test_a_blank_pad_on_a_cold_link_shows_an_example() -> None:
    app = open_page("home", input="digit", ink=sketch.to_code(sketch.pack(np.zeros((112, 112)))))
    assert warnings(app) == [catalogue("en")["error.digit_blank"]]
    assert app.session_state["choice"].drawing == sketch.example()
