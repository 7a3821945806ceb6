"""Families that differ from the paper: relative positions, gates, other answers, image classifiers."""

import re
from pathlib import Path

import numpy as np
import pytest

from model import Pipeline, Trace, load
from model.analysis import cosine_similarity, sigmoid, softmax
from model.checkpoints.span import best_span
from model.edits import head_off
from model.examples import PROTEINS
from model.measures import judged
from model.measures.alike import MEAN, moved, of_cosine, vector_of
from pages.drawing.figures import over_drawing, token_at
from pages.drawing.text import catalogue
from pages.drawing.text.numbers import two
from pages.school.questions.attention import best_fit, without_root
from pages.school.questions.case import Case
from pages.screen.runs import pipelines
from tests.model.families import TERMS
from tests.model.making import network_in, odd_settings, sentence_encoder
from tests.pages.inputs import SMALL, bring, folder, offer
from tests.pages.opening import (
    at_page,
    chart,
    charts,
    figure,
    line,
    maps,
    numbers,
    open_page,
    result,
    run_fine,
    run_of,
    said,
    shows,
    stands,
    warnings,
)

PLACE = {"layer": "2", "head": "3", "token": "2", "key": "5"}
ENGLISH = catalogue("en")


# -- positions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("network", "stage", "axis"),
    [
        ("MPNet", "biased", ENGLISH["why.axis_distance"]),
        ("T5", "biased", ENGLISH["why.axis_distance_undivided"]),
        ("Deberta", "scaled", "√(3 dₖ)"),
    ],
)
def test_why_a_token_looks_there_names_the_distance(network: str, stage: str, axis: str, monkeypatch) -> None:
    link = bring(monkeypatch, network) | PLACE
    app = open_page("attention", **link, tab="steps", stage=stage, why="true")
    shown = str(charts(app))
    assert ENGLISH["source.distance"] in shown and axis in shown
    for term in TERMS if network == "Deberta" else ():
        assert f"{run_of(app)[f'layers.1.attention.{term}'][2, 1, 4] / np.sqrt(24):+.2f}" in said(app)


def test_distances_alone_are_compared_and_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    link = bring(monkeypatch, "Deberta")
    R = load(str(folder("Deberta"))).network.layers[0].attention.vectors(14)[0].numpy()
    (drawn,) = maps(open_page("tokens", **link, tab="positions"))
    np.testing.assert_allclose(drawn, cosine_similarity(R), atol=1e-5)
    app = open_page("attention", **link)
    app.session_state["drawer.over"] = "glossary"
    run_fine(app)
    assert stands(app, "glossary.scores_told_apart") and stands(app, "glossary.embedding_norm_alone")
    case = Case(pipelines.pipeline(link["model"]), run_of(app), 2, ())
    assert without_root(case) is None and best_fit(case) is None, "what holds of Q·K alone is not asked of the score"


def test_relative_position_bias_is_drawn_from_far_before_to_far_after(monkeypatch: pytest.MonkeyPatch) -> None:
    table = load(str(folder("T5"))).network.layers[0].attention.distances.weight.numpy()
    app = open_page("tokens", **bring(monkeypatch, "T5"), head="2", tab="positions")
    (drawn,) = (numbers(trace["y"]) for trace in chart(app, "distances")["data"] if trace["name"] == "head 2")
    middle = len(drawn) // 2
    np.testing.assert_allclose(drawn[[middle, middle - 1, middle + 1]], table[[0, 1, 17], 1])
    relative = open_page("attention", **bring(monkeypatch, "T5"), head="2", tab="steps", stage="relative")
    assert f"{two(table[0, 1])} for a token itself" in said(relative)


@pytest.mark.parametrize(
    ("network", "edits", "text"),
    [
        ("MPNet", ("embedding.positions~zero", "layers.{l}.attention.relative~zero"), "positions_relative"),
        ("Deberta", tuple(f"layers.{{l}}.attention.{term}~zero" for term in TERMS[1:]), f"positions_{TERMS[1]}"),
        ("ModernBert", tuple(f"layers.{{l}}.attention.{x}_rotated~bypass" for x in "QK"), "positions_masked"),
    ],
)
def test_laboratory_ablates_positions_and_relative_biases(
    network: str, edits: tuple[str, ...], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("what_if", **bring(monkeypatch, network), tab="places", edits="~~".join(edits))
    assert len(app.session_state["choice"].edits) == 2 and not warnings(app)
    assert ENGLISH[f"what_if.{text}"] in str(charts(app)) + said(app)


# -- gates, shared weights, proteins ---------------------------------------------------------------------------------


def test_of_shared_layers_the_weights_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = sum(weight.numel() for weight in load(str(folder("Albert"))).network.parameters())
    read = said(open_page("answer", **bring(monkeypatch, "Albert")))
    assert ENGLISH["shared.some"].format(N=4, sets=2, each=2) in read and f"{counted:,}" in read


def test_a_link_that_names_a_reader_of_proteins_alone_means_a_protein(monkeypatch: pytest.MonkeyPatch) -> None:
    app = run_fine(at_page("home", lang="en", model=bring(monkeypatch, "Esm")["model"]))
    assert app.session_state["choice"].sentence == PROTEINS[0] and not warnings(app)
    assert tuple(line(app)["examples"]) == PROTEINS
    assert not [text for text in PROTEINS if "[UNK]" in load(str(folder("Esm")))(text).tokens]


# -- answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", ["label", "labels", "numbers", "tags", "span"])
def test_an_answer_of_another_kind_is_shown_with_its_own_numbers(network: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("answer", **bring(monkeypatch, network))
    trace = run_of(app)
    if network in ("tags", "span"):
        expected = softmax(trace["tags" if network == "tags" else "bounds"])
        assert shows(app, expected)
    else:
        expected = trace["labels"] if network == "numbers" else sigmoid(trace["labels"])
        drawn = [numbers(bar["x"]) for bar in figure(app)["data"] if bar["type"] == "bar"]
        assert any(bar.shape == expected.shape and np.allclose(bar, expected, atol=1e-5) for bar in drawn)
    assert np.abs(np.asarray(expected) - result(app)).min() < 2e-5
    assert stands(app, f"judged.purpose_{trace.config.head}")
    marked = " ".join(text.value for text in app.markdown)
    if network == "span":
        start, end = best_span(trace["bounds"], trace.tokens)
        assert start > trace.tokens.index("[SEP]") and f"**{' '.join(trace.tokens[start : end + 1])}**" in marked
    if network == "tags":
        found = sum(guess.best != "O" for guess in trace.answer[1:-1] if trace.tokens[guess.token] != "[SEP]")
        assert 0 < found < len(trace.tokens) - 3 and marked.count("-background[") == found


@pytest.mark.parametrize(
    ("head", "place"),
    [("ForSequenceClassification", (1,)), ("ForTokenClassification", (2, 1)), ("ForQuestionAnswering", (1, 2))],
)
def test_the_laboratory_measures_and_the_answer_names_who_wrote_one_number_of_any_answer(
    head: str, place: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = {} if head == "ForQuestionAnswering" else {"num_labels": 3, "problem_type": "multi_label_classification"}
    network_in(tmp_path, "MPNet", head, odd_settings("MPNet", head, 1) | SMALL | {"num_hidden_layers": 2} | more)
    (name,) = offer(monkeypatch, tmp_path)
    sentence, pipeline = "the cat sat on a mat", load(str(tmp_path))
    chosen = {"output": str(place[0] if head == "ForQuestionAnswering" else place[-1]), "token": "3"}
    app = open_page("what_if", model=name, s=sentence, tab="heads", **chosen)
    off = [[head_off(layer, one)] for layer in range(2) for one in range(3)]
    effect = judged.effects(pipeline, sentence, off, place)
    assert shows(app, (effect.after - effect.before).reshape(2, 3))
    assert f"{effect.before:.2f}" in app.metric[0].value.replace("−", "-")
    answer = open_page("answer", model=name, s=sentence, **chosen)
    lead = judged.written(pipeline(sentence), place)
    if head == "ForSequenceClassification":  # tanh stands in between
        assert lead is None and ENGLISH["judged.bent"][:40] in said(answer)
    else:
        assert f"is {lead.value:.2f}" in said(answer)


def test_a_sentence_vector_and_its_cosine_are_shown_as_its_makers_make_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence_encoder(tmp_path)
    (name,) = offer(monkeypatch, tmp_path)
    one, two = "the cat sat on a mat", "the dog slept"
    app = open_page("answer", model=name, s=one, other=two, tab="vector")
    pipeline = load(str(tmp_path))
    u, v = (pipeline.pooled.steps(pipeline(sentence).Z)[-1][1] for sentence in (one, two))
    assert shows(app, u[None], atol=1e-6) and "24 → 10" in said(app)
    app = open_page("answer", model=name, s=one, other=two)
    assert f"**{u @ v:.4f}**" in said(app) and stands(app, "alike.no_sum")
    assert shows(open_page("what_if", model=name, s=one), by_heads(pipeline, one), atol=1e-5)


def by_heads(pipeline: Pipeline, sentence: str, other: Trace | None = None) -> np.ndarray:
    """Effect of each head on a sentence vector, or on its cosine with another's: (layer, head)."""
    way, config = pipeline.pooled or MEAN, pipeline.config
    off = [[head_off(layer, head)] for layer in range(config.layers) for head in range(config.heads)]
    found = moved(pipeline, sentence, off, way, None if other is None else vector_of(other, way))
    return found.reshape(config.layers, config.heads)


def test_the_cosine_of_two_texts_is_shown_by_pairs_of_tokens_and_a_pair_is_worked_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    link = bring(monkeypatch, "MiniLM") | {"s": "A man is eating food.", "other": "A man is eating a piece of bread."}
    app = open_page("answer", **link)
    pipeline = load(str(folder("MiniLM")))
    one, two = pipeline.batch([link["s"], link["other"]])
    cells = of_cosine(one, two)
    assert shows(app, cells, atol=1e-6) and f"**{one.vector @ two.vector:.4f}**" in said(app)
    assert result(app) == pytest.approx(cells.max(), abs=6e-5), "of none chosen the largest"
    for row, column in ((3, 9), (5, 2), (0, 8)):
        app = open_page("answer", **link, token=f"{row + 1}", step=f"{column + 1}")
        assert result(app) == pytest.approx(cells[row, column], abs=6e-5)
    lab = open_page("what_if", **link)
    assert shows(lab, by_heads(pipeline, link["s"], two), atol=1e-5)
    assert f"other input: **{cells.sum():.4f}**" in said(lab)
    app = open_page("answer", **link, shown="other")
    assert shows(app, cells, atol=1e-6), "a text is not compared with itself"


# -- pictures --------------------------------------------------------------------------------------------------------


def test_registers_are_not_the_answer_position_and_their_share_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("attention", **bring(monkeypatch, "registers") | PLACE)
    (share,) = re.findall(r"The registers get (0\.\d+)", said(app))
    assert float(share) == pytest.approx(run_of(app)["layers.1.attention.weights"][2, 1, 1:5].sum(), abs=0.006)


def test_the_vector_of_a_picture_is_the_answer_and_turns_where_a_head_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    link = bring(monkeypatch, "CLIP")
    app = open_page("answer", **link)
    vector = run_of(app)["vector"]
    assert vector.shape == (12,) and shows(app, vector[None])
    changed = open_page("what_if", **link, edits="layers.1.attention.heads~zero~head.1")
    (cosine,) = re.findall(r"unchanged vector: \*\*(-?0\.\d+)", said(changed))
    other = run_of(changed)["vector"]
    assert float(cosine) == pytest.approx(cosine_similarity(np.stack([vector, other]))[0, 1], abs=1e-4)


def test_a_click_beside_the_picture_means_the_token_that_is_drawn_there() -> None:
    for side, front in ((4, 0), (4, 1), (4, 5), (2, 5), (3, 3)):
        tokens = [str(i) for i in range(front + side**2)]
        drawn = over_drawing(np.zeros((12, 12), np.float32), np.zeros(len(tokens)), tokens, 0, "", front=front)
        marks = drawn.data[-1]
        found = [token_at(int(y), int(x), side, front) for x, y in zip(marks["x"], marks["y"], strict=True)]
        assert found == [*range(len(tokens))]
        first = min(marks["x"])  # of the columns
        for name in drawn.layout.get("annotations", ()):
            below = max(marks["y"][: min(front, side)]) + 0.5
            assert (name["x"], name["xanchor"], name["y"]) == (first - 0.5, "left", below), "beneath its own cells"
        assert drawn.layout["xaxis"]["tickvals"][0] == 0, "no column is named after what is outside"
