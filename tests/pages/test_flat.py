"""Flat: one token, so a weight of exactly 1 whatever the score, and every number of the lecture note's stages."""

import numpy as np
import pytest

from model.edits import Edit
from pages.flat.page import FORMER
from pages.ui.runs import pipelines
from pages.ui.state import sketch
from pages.ui.text import LANGUAGES, catalogue
from tests.pages.opening import assert_fine, charts, figure, numbers, open_page, steps, texts

INK = [sketch.ink(sketch.example(which)) for which in range(10)]
ATTENTION = "layers.0.attention."
PANELS = ("attention", "stages", "patches")


def open_part(panel: str, **link: str):
    seven = {"input": "flat", "ink": sketch.to_code(sketch.example(7))}
    return open_page("flat", **{**seven, "panel": panel, **link})


@pytest.mark.parametrize("which", range(10))
def test_the_weight_of_the_only_token_is_exactly_1_and_V_passes_as_it_is(which: int) -> None:
    trace = pipelines.pipeline("flat")(INK[which])
    assert (trace[ATTENTION + "weights"] == 1).all()
    np.testing.assert_array_equal(trace[ATTENTION + "heads"], trace[ATTENTION + "V"])
    np.testing.assert_array_equal(trace[ATTENTION + "concat"].ravel(), trace[ATTENTION + "V"].ravel())


@pytest.mark.parametrize("place", ["Q", "K", "scores", "scaled"])
@pytest.mark.parametrize("strength", [0.1, 100.0])
def test_noise_on_what_makes_the_scores_changes_nothing_at_all(place: str, strength: float) -> None:
    pipeline = pipelines.pipeline("flat")
    plain = pipeline(INK[4])
    noisy = pipeline(INK[4], [Edit(ATTENTION + place, "noise", strength)])
    assert not np.array_equal(noisy[ATTENTION + place], plain[ATTENTION + place])
    np.testing.assert_array_equal(noisy["logits"], plain["logits"])


def test_noise_on_V_does_change_the_answer() -> None:
    pipeline = pipelines.pipeline("flat")
    noisy = pipeline(INK[4], [Edit(ATTENTION + "V", "noise", 1.0)])
    assert np.abs(noisy["logits"] - pipeline(INK[4])["logits"]).max() > 1e-4


def test_the_table_names_every_quantity_of_the_graph_with_its_shape() -> None:
    table, trace = open_part("stages").dataframe[0].value, pipelines.pipeline("flat")(INK[7])
    assert len(table) == len(list(trace.graph))
    for row, quantity in zip(table.itertuples(index=False), trace.graph, strict=True):
        if quantity.traced:
            assert row[3] == str(list(trace[quantity.key].shape))


def test_words_within_equations_are_in_the_readers_language() -> None:
    english, chinese = (
        open_part("stages", lang=lang).dataframe[0].value[catalogue(lang)["flat.column_equation"]] for lang in LANGUAGES
    )
    for words, phrase in ((english, "image"), (chinese, catalogue("zh")["equation.image"])):
        assert words[0].endswith(phrase)
    assert not any("image" in equation or "pixels" in equation for equation in chinese)


def test_the_only_token_has_a_name_in_the_readers_language() -> None:
    for language in ("zh", "en", "zh"):  # the run is the same, and kept
        app, name = open_part("stages", lang=language), catalogue(language)["label.image"]
        assert figure(app)["layout"]["xaxis"]["ticktext"] == figure(app)["layout"]["yaxis"]["ticktext"] == [name]
        assert ("image" in texts(app)) == (language == "en") and name in texts(app)


def test_a_narrow_screen_shows_shapes_and_values_before_equations_and_notes() -> None:
    table = open_part("stages").dataframe[0]
    shapes_and_values = [catalogue("en")[f"flat.column_{name}"] for name in ("in", "out", "values")]
    assert list(table.proto.column_order)[1:4] == shapes_and_values


def test_the_table_goes_through_the_notes_sections_in_order() -> None:
    rows = [tuple(row) for row in open_part("stages").dataframe[0].value.itertuples(index=False)]
    shapes = [(before, after) for _, _, before, after, _, _ in rows]
    # Q, K and V: a matrix, then the split into heads.
    assert shapes.count(("[1, 64]", "[4, 1, 16]")) == 3
    splits = [i for i, shape in enumerate(shapes) if shape == ("[1, 64]", "[4, 1, 16]")]
    assert all(shapes[i - 1] == ("[1, 64]", "[1, 64]") for i in splits)
    assert shapes[1] == ("[28, 28]", "[1, 784]")
    assert ("[1, 64]", "[64]") in shapes  # Flatten
    numbers_of = [int(note.split()[0]) for *_, note in rows if note[0].isdigit()]
    assert numbers_of == sorted(numbers_of) and set(numbers_of) == set(range(1, 10))


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_the_note_differs_is_named(language: str) -> None:
    table = open_part("stages", lang=language).dataframe[0].value
    notes = dict(zip([quantity.key for quantity in pipelines.pipeline("flat").graph], table.iloc[:, -1], strict=True))
    assert "x + x" in notes["layers.0.add_1"] and "norm1" in notes["layers.0.norm_1"]
    assert notes["layers.0.add_2"] == notes["layers.0.norm_2"] and not notes["layers.0.add_2"][0].isdigit()
    assert "[1, 5000, 64]" in notes["embedding.positions"]
    assert "[1, 64] → [64]" in notes["first"]


def test_scores_weights_and_what_is_left_of_attention() -> None:
    heads = open_part("attention").dataframe[0].value
    np.testing.assert_array_equal(heads["softmax"], 1.0)
    np.testing.assert_array_equal(heads["max |A V − V|"], 0.0)
    np.testing.assert_allclose(heads["÷ √d_k"], heads["q · k"] / 4, rtol=1e-6)


@pytest.mark.parametrize(("change", "told"), [("V~zero", True), ("heads~zero", False), ("weights~zero", False)])
def test_the_value_passes_as_it_is_unless_that_was_changed(change: str, told: bool) -> None:
    for head in ("", "~head.2"):
        app = open_part("attention", edits=f"{ATTENTION}{change}{head}")
        assert app.session_state["choice"].edits
        assert ("so A V (right) is V again" in texts(app)) == told
        assert (catalogue("en")["change.no_law"] in texts(app)) != told


def test_only_the_value_can_be_disturbed() -> None:
    table = open_part("attention").dataframe[1].value
    np.testing.assert_array_equal(table.iloc[:4, 2], 0.0)
    assert table.iloc[4, 2] > 0
    np.testing.assert_allclose(table.iloc[:, :2].sum(axis=1), 1, rtol=1e-5)


def test_with_a_change_the_test_compares_runs_that_both_have_it() -> None:
    table = open_part("attention", edits="layers.0.ffn.output~zero").dataframe[1].value
    np.testing.assert_array_equal(table.iloc[:4, 2], 0.0)
    assert table.iloc[4, 2] > 0
    calm = pipelines.pipeline("flat")(INK[7], [Edit("layers.0.ffn.output", "zero")]).answer[0].probabilities
    np.testing.assert_allclose(table.iloc[0, :2], calm, atol=1e-6)


@pytest.mark.parametrize("stage", ["tokens", "scores", "weights", "add_1", "norm_2", "hidden"])
def test_any_quantity_is_worked_out_by_hand(stage: str) -> None:
    app, trace = open_part("stages", stage=stage), pipelines.pipeline("flat")(INK[7])
    key = next(quantity.key for quantity in trace.graph if quantity.key.rsplit(".", 1)[-1] == stage)
    values = trace[key].reshape(-1, trace[key].shape[-1])[:1]
    np.testing.assert_array_equal(numbers(figure(app)["data"][0]["z"]), values)
    assert np.isclose(trace[key], float(steps(app)[-1].rsplit("=", 1)[-1]), atol=2e-4).any()


@pytest.mark.parametrize("key", ["layers.0.attention.output", "layers.0.ffn.output", "logits", ATTENTION + "scores"])
def test_a_quantity_can_be_chosen_in_the_box(key: str) -> None:
    app, trace = open_part("stages"), pipelines.pipeline("flat")(INK[7])
    names = [quantity.key for quantity in trace.graph if quantity.traced]
    app.selectbox(key="flat.quantity").select_index(names.index(key)).run()
    assert_fine(app)
    shown = numbers(figure(app)["data"][0]["z"])
    np.testing.assert_array_equal(shown, trace[key].reshape(-1, trace[key].shape[-1])[:1])
    assert app.selectbox(key="flat.quantity").index == names.index(key)


def test_the_answer_and_that_of_the_patches_are_those_of_their_runs() -> None:
    flat, patches = pipelines.pipeline("flat")(INK[7]), pipelines.pipeline("digits")(INK[7])
    app = open_part("patches")
    np.testing.assert_allclose(numbers(figure(app)["data"][0]["x"]), patches.answer[0].probabilities, atol=1e-6)
    rows = app.dataframe[0].value
    even = f"{sum(patches.answer[0].probabilities[::2]):.4f}"
    assert list(rows.loc[catalogue("en")["flat.row_even"]]) == [f"{flat.answer[0].probabilities[0]:.4f}", even]


@pytest.mark.parametrize(("former", "tab"), FORMER.items())
def test_a_link_to_a_former_tab_opens_the_nearest(former: str, tab: str) -> None:
    app = open_part(former)
    assert not app.warning and [chart["key"] for chart in charts(app)] == [c["key"] for c in charts(open_part(tab))]


def test_a_bare_link_shows_the_weights_of_the_only_token() -> None:
    assert charts(open_page("flat"))[0]["key"] == "flat.attention"


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize("link", [{"input": "sentence"}, {"input": "digit", "lang": "zh"}])
def test_it_is_about_flat_whatever_the_input(link: dict[str, str], panel: str) -> None:
    open_part(panel, **link)
