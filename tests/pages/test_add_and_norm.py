"""The Add & Norm page: its pictures are the trace in the order of its graph, and each cell adds up as displayed."""

import numpy as np
import pytest

from model import Edit
from model.analysis import mean_likeness
from model.measures.gradients import gradient_lengths
from model.measures.without import Fate, fates
from pages.add_and_norm import page
from pages.ui.runs import pipelines
from pages.ui.sections import without
from pages.ui.state.link_values import edit_code, edit_from_code
from tests.pages.opening import charts, figure, maps, numbers, open_page, said, steps, texts

SENTENCE = "the dog chased the cat ."


def open_part(panel: str, **link: str):
    return open_page("add_and_norm", **{"s": SENTENCE, "layer": "2", "panel": panel, **link})


@pytest.mark.parametrize(("sublayer", "layer"), [(1, 4), (2, 6)])
def test_the_four_maps_are_recorded_and_the_first_two_add_up_to_the_third(sublayer: int, layer: int) -> None:
    app = open_part("maps", layer=str(layer), sublayer=str(sublayer))
    trace = pipelines.run("text", SENTENCE)
    part = trace.graph.sublayers(layer - 1)[sublayer - 1]
    shown = maps(app)[:4]
    for values, key in zip(shown, (part.before, part.output, part.sum, part.norm), strict=True):
        np.testing.assert_array_equal(values, trace[key])
    np.testing.assert_allclose(shown[0] + shown[1], shown[2], atol=1e-5)
    assert len({one["zmax"] for one in figure(app)["data"] if one["type"] == "heatmap"}) == 1  # one range of colours


def test_what_goes_into_a_layer_and_comes_out_has_the_number_of_the_layer() -> None:
    app = open_part("maps", layer="3", sublayer="2", stage="norm_2")
    assert "X^{(3)}" in "".join(steps(app))
    assert "X^{(2)}" in "".join(steps(open_part("maps", layer="2", sublayer="2", stage="norm_2")))


def test_normalised_vectors_have_mean_0_and_deviation_1() -> None:
    app = open_part("maps", token="4")
    assert "; 0 and 1.0000 once normalized" in said(app)
    normed = pipelines.run("text", SENTENCE)["layers.1.norm_1"][3]
    assert f"{normed.mean():.3f} and {normed.std():.3f} after" in said(app)


def test_a_token_that_was_taken_away_is_left_out_of_the_typical_push() -> None:
    edit = "embedding.sum~remove~token.3"
    app, trace = (
        open_part("maps", layer="1", edits=edit, stage="output"),
        pipelines.run("text", SENTENCE, (edit_from_code(edit),)),
    )
    before, found = (np.linalg.norm(trace[key], axis=1) for key in ("embedding.sum", "layers.0.attention.output"))
    assert before[2] == 0
    push = np.delete(found, 2) / np.delete(before, 2)
    assert f"(the median) is {np.median(push):.0%} as long" in said(app)


def test_of_a_vector_of_zeros_no_standard_deviation_of_1_is_told() -> None:
    edit = "layers.0.add_1~zero~token.3"
    read = said(open_part("maps", layer="1", token="3", edits=edit))
    assert "standard deviation 0.000 to 1.000, then" in read and "0 and 0.0000 once normalized" in read
    assert "standard deviation 1, then" in said(open_part("maps", layer="1"))


@pytest.mark.parametrize("link", [{}, {"input": "digit"}])
def test_the_lines_of_the_gradients_are_this_runs(link: dict[str, str]) -> None:
    app = open_part("why", **link)
    choice = app.session_state["choice"]
    pipeline, trace = pipelines.pipeline(choice.pipeline), pipelines.run(choice.pipeline, choice.subject)
    (shown,) = [chart["figure"] for chart in charts(app) if chart["key"] == "add_and_norm.gradients"]
    drawn = [numbers(line["y"]) for line in shown["data"]]
    token = 0 if trace.picture is not None else 1
    np.testing.assert_allclose(drawn[1], gradient_lengths(pipeline.network, trace.states()[0], token, False), rtol=1e-4)
    assert f"{drawn[3][:-1].min():.2f}" in said(app)


def test_nobody_is_told_of_the_gradients_of_a_changed_run() -> None:
    cut = Edit("layers.0.attention.heads", "zero", head=1)
    assert [chart["key"] for chart in charts(open_part("why", edits=edit_code(cut)))] == [
        "add_and_norm.without",
        "add_and_norm.batch_norm",
    ]


def test_batch_norm_hangs_on_the_other_tokens() -> None:
    trace = pipelines.run("text", SENTENCE)
    rows = trace[trace.graph.sublayers(1)[0].norm_reads]
    app = open_part("ablation", token="3")
    (shown,) = [chart["figure"] for chart in charts(app) if chart["key"] == "add_and_norm.batch_norm"]
    batch = (rows - rows.mean(0)) / rows.std(0)
    np.testing.assert_allclose(numbers(shown["data"][1]["y"]), batch.std(1), rtol=1e-3)
    without = (rows[:-1] - rows[:-1].mean(0)) / rows[:-1].std(0)
    assert f"{np.abs(batch[:-1] - without)[2].mean():.2f}" in said(app)


def test_without_a_part_its_line_and_its_words_are_what_was_measured() -> None:
    app = open_part("without")
    found = fates(pipelines.pipeline("text"), SENTENCE)
    for trace, (name, fate) in zip(figure(app)["data"], found.items(), strict=True):
        np.testing.assert_allclose(numbers(trace["y"]), fate.alike, atol=1e-4)
        assert f"{fate.alike[-1]:.2f}" in said(app), name
    assert f"{found['norm'].length[-1]:,.0f}" in said(app)
    layer = int((found["residual"].alike >= without.THE_SAME).argmax())
    assert f"After layer {layer} they" in texts(app)


def test_words_are_not_said_to_become_one_where_they_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    run = pipelines.run("text", SENTENCE)
    usual = Fate(mean_likeness(run.states()), np.full(7, 14.0))
    monkeypatch.setattr(without, "without_parts", lambda *_: {"all": usual, "residual": usual, "ffn": usual})
    said = texts(open_part("without"))
    assert "all but point the same way" not in said
    assert "without LayerNorm: the numbers grow too large" in said


def test_a_small_gradient_is_not_rounded_up() -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(page, "gradients", lambda *_: np.full((2, 2, 7), 0.007))
        said = texts(open_part("why"))
    assert said.replace("\\", "").count("0.007 times") == 4
