"""Answers that are no word and no one class: on every page, and on Answer with the numbers of their own run."""

from pathlib import Path

import numpy as np
import pytest

from model import load
from model.analysis import sigmoid, softmax
from model.hugging_face.span import best_span
from pages.ui.frame.contents import PAGES
from pages.ui.text import LANGUAGES, catalogue
from tests.model.test_checkpoint_answers import network_in, odd_settings
from tests.pages.opening import charts, figure, numbers, open_page, steps
from tests.pages.test_checkpoints import maps, offer, said_on

SENTENCE = "the cat sat [SEP] the dog slept by the door"
KINDS = {
    "labels": ("ForSequenceClassification", {"num_labels": 1, "problem_type": None}),
    "several": ("ForSequenceClassification", {"num_labels": 3, "problem_type": "multi_label_classification"}),
    "numbers": ("ForSequenceClassification", {"num_labels": 2, "problem_type": "regression"}),
    "tags": (
        "ForTokenClassification",
        {"num_labels": 3, "id2label": {0: "O", 1: "B-PER", 2: "I-PER"}, "label2id": {"O": 0, "B-PER": 1, "I-PER": 2}},
    ),
    "span": ("ForQuestionAnswering", {}),
}


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    head, more = KINDS[request.param]
    made = tmp_path_factory.mktemp(request.param)
    network_in(made, "Bert", head, {**odd_settings("Bert", "Model", 18), **more})
    return request.param, made


def test_every_page_opens_with_such_an_answer(folder: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder[1])
    for place, page in enumerate(row.name for row in PAGES):
        app = open_page(page, model=name, lang=tuple(LANGUAGES)[place % len(LANGUAGES)], s=SENTENCE)
        assert not app.error and not app.warning, page


def test_the_answer_page_shows_it_with_its_own_numbers(
    folder: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, path = folder
    (name,) = offer(monkeypatch, path)
    trace = load(str(path))(SENTENCE)
    app = open_page("answer", model=name, s=SENTENCE)
    if kind in ("tags", "span"):
        expected = softmax(trace["tags" if kind == "tags" else "bounds"])
        assert any(shown.shape == expected.shape and np.allclose(shown, expected, atol=1e-5) for shown in maps(app))
    else:
        expected = trace["labels"] if kind == "numbers" else sigmoid(trace["labels"])
        bars = [numbers(bar["x"]) for bar in figure(app)["data"] if bar["type"] == "bar"]
        assert any(bar.shape == expected.shape and np.allclose(bar, expected, atol=1e-5) for bar in bars)
    cell = float(steps(app)[-1].rsplit("=", 1)[-1])
    assert np.abs(np.asarray(expected) - cell).min() < 2e-5
    assert catalogue("en")[f"judged.purpose_{trace.config.head}"] in said_on(app)
    assert charts(app)


def test_the_part_that_answers_and_the_names_are_marked(
    folder: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, path = folder
    (name,) = offer(monkeypatch, path)
    trace = load(str(path))(SENTENCE)
    said = " ".join(text.value for text in open_page("answer", model=name, s=SENTENCE).markdown)
    if kind == "span":
        start, end = best_span(trace["bounds"], trace.tokens)
        assert start > trace.tokens.index("[SEP]")
        assert f"**{' '.join(trace.tokens[start : end + 1])}**" in said
    if kind == "tags":
        named = sum(guess.best != "O" for guess in trace.answer[1:-1] if trace.tokens[guess.token] != "[SEP]")
        assert 0 < named < len(trace.tokens) - 3
        assert said.count("-background[") == named


def test_the_laboratory_shows_the_answer_and_a_number_of_it(
    folder: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (name,) = offer(monkeypatch, folder[1])
    app = open_page("what_if", model=name, s=SENTENCE)
    assert catalogue("en")["what_if.watched"] in said_on(app) and app.metric
