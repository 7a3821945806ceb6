"""The Answer page: what it hides, what it says of it, and that its arithmetic adds up as displayed."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import load
from model.analysis import softmax, whole_words
from pages.ui import session
from pages.ui.text import LANGUAGES, catalogue
from tests.pages.opening import assert_fine, figure, numbers, open_page, texts

SENTENCE = "the dog chased the cat ."
PIECES = "the zebroid sat"  # a word of several pieces


def said(app: AppTest) -> str:
    """The page's Markdown as a reader sees it."""
    return texts(app).replace("\\", "")


def chart(app: AppTest, which: int = 0) -> tuple[list[str], np.ndarray]:
    """The names and the values of a bar chart."""
    drawn = figure(app, which)
    return drawn["layout"]["yaxis"]["ticktext"], numbers(drawn["data"][0]["x"])


def hide(app: AppTest, word: int | None) -> AppTest:
    app.session_state["answer.hidden"] = word
    app.run()
    assert_fine(app)
    return app


@pytest.mark.parametrize("sentence", ["the [MASK] sat on the [MASK] .", "我[MASK]你。"])
def test_every_mask_gets_its_ten_best_guesses_with_the_softmax_of_its_logits(sentence: str) -> None:
    app = open_page("answer", s=sentence)
    trace = session.run("text", sentence)
    vocabulary = load("text").reader.vocabulary
    masks = [place for place, token in enumerate(trace.tokens) if token == "[MASK]"]
    for which, place in enumerate(masks):
        names, values = chart(app, which)
        p = softmax(trace["logits"][place].astype(np.float64))
        order = (-p).argsort()[:10]
        assert [name.split(" · ")[1] for name in names] == [vocabulary[i] for i in order]
        np.testing.assert_allclose(values, p[order], rtol=1e-4)
    assert len(app.get("plotly_chart")) == len(masks) + 1


def test_a_clicked_word_is_hidden_from_the_encoder_and_from_nobody_else() -> None:
    app = hide(open_page("answer", s=SENTENCE), 1)
    pipeline = load("text")
    own = pipeline(SENTENCE)
    hidden = pipeline("the [MASK] chased the cat .")
    p = softmax(hidden["logits"][2].astype(np.float64))
    names, values = chart(app)
    np.testing.assert_allclose(values[:10], np.sort(p)[::-1][:10], rtol=1e-3)
    place = [name.split(" · ")[1] for name in names].index("dog")  # the true word is always among the bars
    assert values[place] == pytest.approx(p[own.ids[2]], rel=1e-3)
    assert names[place].split(" · ")[0] == str(1 + (p > p[own.ids[2]]).sum())
    assert app.sidebar.text_input(key="s").value == SENTENCE


def test_a_word_of_several_pieces_is_hidden_whole_or_one_piece_at_a_time() -> None:
    tokens = session.run("text", PIECES).tokens
    places = whole_words(tokens)[1]
    assert len(places) > 1
    app = hide(open_page("answer", s=PIECES), 1)
    assert len(app.get("plotly_chart")) == min(6, len(places)) + 1
    app.session_state["answer.part"] = places[1]
    app.run()
    assert_fine(app)
    rows = figure(app, 1)["layout"]["yaxis"]["ticktext"]
    assert [place for place, token in enumerate(rows) if token == "[MASK]"] == [places[1]]


def test_a_word_can_be_shown_again_and_then_every_place_sees_itself() -> None:
    app = hide(open_page("answer", s=SENTENCE), None)
    drawn = figure(app)
    assert "[MASK]" not in drawn["layout"]["yaxis"]["ticktext"]
    trace = session.run("text", SENTENCE)
    columns = [load("text").reader.vocabulary.index(word) for word in drawn["layout"]["xaxis"]["ticktext"]]
    np.testing.assert_allclose(numbers(drawn["data"][0]["z"]), softmax(trace["logits"])[:, columns], rtol=1e-4)


def test_another_sentence_starts_with_a_word_of_its_own() -> None:
    app = hide(open_page("answer", s=SENTENCE), 0)
    app.sidebar.text_input(key="s").set_value("i see you").run()
    assert_fine(app)
    assert app.session_state["answer.hidden"] == 2


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("place", "word"), [(0, 0), (2, 0), (4, 7)])
def test_by_hand_re_adds_from_the_numbers_that_it_displays(place: int, word: int, language: str) -> None:
    app = hide(open_page("answer", s=SENTENCE, lang=language), 1)
    app.selectbox(key="answer.place").set_value(place)
    app.selectbox(key="answer.output").set_value(word).run()
    assert_fine(app)
    trace = load("text")("the [MASK] chased the cat .")
    logit = np.sort(trace["logits"][place])[::-1]
    assert_arithmetic(app, trace["logits"][place])
    if word == 0:
        assert app.dataframe[0].value["h · E[w]"].iloc[-1] == pytest.approx(logit[0], abs=1e-4)


def assert_arithmetic(app: AppTest, logits: np.ndarray) -> None:
    """The two tables of By hand and the two sentences under them agree, as displayed."""
    terms, table = (frame.value for frame in app.dataframe[:2])
    left, right, product = terms.columns[1:]
    written = terms.iloc[:10].round(5)
    np.testing.assert_allclose(written[left] * written[right], written[product], atol=6e-6)
    assert terms[product].iloc[:-1].round(5).sum() == pytest.approx(terms[product].iloc[-1], abs=1e-9)
    said_logit, said_probability = re.findall(r"= \*\*([-+.e\d]+)\*\*", said(app))
    assert float(said_logit) == pytest.approx(terms[product].iloc[-1], abs=1e-9)

    exponentials = table["exp(y − max)"].astype(float)
    assert exponentials.iloc[:-1].sum() == pytest.approx(exponentials.iloc[-1], rel=1e-5)
    np.testing.assert_allclose(np.exp(table["y − max"].iloc[:-2].round(4)), exponentials.iloc[:-2], rtol=1e-4)
    top, total = map(float, re.search(r"[:：] ?([.e\d-]+) ÷ ([.e\d-]+)", said(app)).groups())
    assert total == pytest.approx(exponentials.iloc[-1], rel=1e-5)
    assert top / total == pytest.approx(float(said_probability), rel=1e-3)
    assert float(said_probability) == pytest.approx(
        softmax(logits.astype(np.float64))[np.abs(logits - float(said_logit)).argmin()], rel=1e-3
    )


def test_by_hand_offers_every_column_of_the_picture() -> None:
    app = open_page("answer", s=SENTENCE)
    offered = app.selectbox(key="answer.output").options
    assert len(offered) >= 10 and len(set(offered)) == len(offered)
    columns = figure(app, 1)["layout"]["xaxis"]["ticktext"]
    assert {option.split(" · ", 1)[1] for option in offered} >= set(columns)


def test_many_masks_are_all_rows_of_the_picture_though_few_have_a_chart() -> None:
    app = open_page("answer", s="[MASK] " * 40)
    assert len(app.get("plotly_chart")) == 7
    assert figure(app, 6)["layout"]["yaxis"]["ticktext"].count("[MASK]") == 40


@pytest.mark.parametrize("sentence", ["i", "[MASK]", ".", "我", "the " * 70])
def test_short_and_long_sentences_have_an_answer(sentence: str) -> None:
    assert open_page("answer", s=sentence).get("plotly_chart")


@pytest.mark.parametrize("kind", ["digit", "flat"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_class_is_read_from_the_first_vector(kind: str, language: str) -> None:
    app = open_page("answer", input=kind, lang=language)
    choice = app.session_state["choice"]
    trace = session.run(choice.pipeline, choice.subject)
    p = softmax(trace["logits"].astype(np.float64))
    np.testing.assert_allclose(chart(app)[1], p, rtol=1e-4)
    np.testing.assert_array_equal(chart(app, 1)[1], trace["logits"])
    assert_arithmetic(app, trace["logits"])
    assert app.dataframe[0].value["z · W"].iloc[-1] == pytest.approx(trace["logits"].max(), abs=1e-4)


def test_without_a_head_the_page_says_that_there_is_no_answer() -> None:
    app = open_page("answer", s=SENTENCE, model="paper")
    assert catalogue("en")["untrained.no_answer"] in [note.value for note in app.info]
    assert not app.get("plotly_chart")
