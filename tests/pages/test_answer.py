"""The Answer page."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model import load
from model.analysis import placed, softmax, whole_words
from pages.drawing.text import catalogue
from pages.screen.components.sentence_line import Word
from pages.screen.frame import line
from pages.screen.runs import pipelines
from tests.pages.opening import (
    charts,
    drawn_in,
    figure,
    numbers,
    open_page,
    result,
    run_fine,
    said,
    steps,
    texts,
)

SENTENCE = "the dog chased the cat ."
PIECES = "the zebroid sat"  # a word of several pieces


def chart(app: AppTest, which: int = 0) -> tuple[list[str], np.ndarray]:
    """Labels and values of a bar chart."""
    drawn = figure(app, which)
    return drawn["layout"]["yaxis"]["ticktext"], numbers(drawn["data"][0]["x"])


def run(sentence: str, *hidden: int):
    """The run with [MASK] at these positions."""
    pipeline = load("text")
    return pipeline(pipeline.reader.hide(pipeline(sentence).ids, hidden))


@pytest.mark.parametrize("sentence", ["the [MASK] sat on the [MASK] ."])
def test_every_mask_gets_its_best_guesses_with_the_softmax_of_its_logits(sentence: str) -> None:
    app = open_page("answer", s=sentence)
    trace, vocabulary = load("text")(sentence), load("text").reader.vocabulary
    masks = [place for place, token in enumerate(trace.tokens) if token == "[MASK]"]
    for which, place in enumerate(masks):
        assert (f"In place of [MASK] number {which + 1}:" in texts(app)) == (len(masks) > 1)
        names, values = chart(app, which)
        p = softmax(trace["logits"][place].astype(np.float64))
        order = (-p).argsort()[: 10 if len(masks) == 1 else 5]
        assert names == [vocabulary[i] for i in order]
        np.testing.assert_allclose(values, p[order], rtol=1e-4)
    assert len(charts(app)) == len(masks) + 1


@pytest.fixture
def click(monkeypatch: pytest.MonkeyPatch) -> Callable[[AppTest, int], None]:
    """Click a word in the line at the top."""

    def drawn(
        words: Sequence[Word], *_: object, on_pick: Callable[[tuple[int, ...], bool], None], **__: object
    ) -> None:
        if "clicked" in st.session_state:
            clicked = words[st.session_state.pop("clicked")]
            on_pick(clicked.places, not clicked.hidden)
            st.rerun()

    def click(app: AppTest, word: int) -> None:
        app.session_state["clicked"] = word
        run_fine(app)

    monkeypatch.setattr(line, "sentence_line", drawn)
    return click


def test_link_holds_several_hidden_words(click: Callable[[AppTest, int], None]) -> None:
    app = open_page("answer", s=SENTENCE)
    for several, word, hidden in (
        (False, 1, (2,)),
        (False, 4, (6,)),
        (True, 1, (2, 6)),
        (True, 4, (2,)),
        (True, 4, (2, 6)),
    ):
        app.toggle(key="answer.several").set_value(several).run()
        click(app, word)
        assert app.session_state["choice"].hidden == hidden
    link = app.session_state["choice"].to_link()
    again = open_page("answer", **link)
    for which, place in enumerate((2, 6)):
        p = softmax(run(SENTENCE, 2, 6)["logits"][place].astype(np.float64))
        for shown in (app, again):
            names, values = chart(shown, which)
            np.testing.assert_allclose(values[:5], np.sort(p)[::-1][:5], rtol=1e-3)
            own = load("text")(SENTENCE).tokens[place]
            assert values[names.index(own)] == pytest.approx(p[load("text")(SENTENCE).ids[place]], rel=1e-3), "its own"


def test_a_word_of_several_pieces_is_hidden_whole_or_one_piece_at_a_time() -> None:
    tokens = pipelines.run("text", PIECES).tokens
    places = whole_words(tokens)[1]
    assert len(places) > 1
    app = open_page("answer", s=PIECES, hidden=".".join(str(place + 1) for place in places))
    assert len(charts(app)) == min(6, len(places)) + 1
    run_fine(app.segmented_control(key="answer.part").set_value(places[1]))
    assert app.session_state["choice"].hidden == (places[1],)
    app.segmented_control(key="answer.part").set_value(0).run()
    assert app.session_state["choice"].hidden == tuple(places)


@pytest.mark.parametrize("big", ["true", "false"])
@pytest.mark.parametrize("page", ["answer", "what_if"])
def test_bars_of_probabilities_are_as_long_at_every_place_and_on_every_page(page: str, big: str) -> None:
    app = open_page(page, s=SENTENCE, hidden="3.4", big=big)
    drawn = [chart["figure"] for chart in charts(app) if ".guesses" in chart["key"]]
    assert drawn and {one["layout"]["xaxis"]["range"][1] for one in drawn} == {1.0}


@pytest.mark.parametrize("sentence", [SENTENCE])
def test_without_mask_each_position_predicts_its_visible_word(sentence: str) -> None:
    link = {"s": sentence, "hidden": "none", "token": "4"}
    app = open_page("answer", **link, tab="places")
    drawn = figure(app)
    assert drawn["layout"]["meta"]["numbers"], "in the cells, where they fit"
    assert "[MASK]" not in drawn["layout"]["yaxis"]["ticktext"]
    trace = pipelines.run("text", sentence)
    columns = [load("text").reader.vocabulary.index(word) for word in drawn["layout"]["xaxis"]["ticktext"]]
    np.testing.assert_allclose(numbers(drawn["data"][0]["z"]), softmax(trace["logits"])[:, columns], rtol=1e-4)
    easy = (trace["logits"].argmax(axis=1) == trace.ids)[1:-1]  # where the seen word comes first
    assert ("and still" in texts(open_page("answer", **link))) != easy[2]
    found = f"At {easy.sum()} of the {len(easy)}" if not easy.all() else f"At all {len(easy)}"
    assert f"{found} visible positions" in texts(app)


@pytest.mark.parametrize(
    ("place", "word", "line", "language"),
    [(0, 900, "answer", "en"), (2, None, "logits", "zh"), (4, 77, "answer", "zh")],
)
def test_arithmetic_is_of_the_chosen_position_and_word(place: int, word, line: str, language: str) -> None:
    link = {"token": str(place + 1), "stage": line, "lang": language} | ({} if word is None else {"output": str(word)})
    app = open_page("answer", s=SENTENCE, hidden="3", **link)
    logits = run(SENTENCE, 2)["logits"][place].astype(np.float64)
    word = int(logits.argmax()) if word is None else word
    expected = logits[word] if line == "logits" else softmax(logits)[word]
    assert result(app) == pytest.approx(expected, abs=6e-5)
    assert f"“{load('text').reader.vocabulary[word]}”" in said(app)


@pytest.mark.parametrize(("kind", "language"), [("digit", "en"), ("flat", "zh")])
def test_class_probabilities_come_from_the_first_token(kind: str, language: str) -> None:
    app = open_page("answer", input=kind, lang=language, stage="logits")
    choice = app.session_state["choice"]
    trace = pipelines.run(choice.pipeline, choice.subject)
    np.testing.assert_allclose(chart(app)[1], softmax(trace["logits"].astype(np.float64)), rtol=1e-4)
    assert result(app) == pytest.approx(float(trace["logits"].max()), abs=6e-5)
    if kind == "flat":  # two classes: neither is "every other"
        assert chart(app)[0] == [catalogue(language)["common.even"], catalogue(language)["common.odd"]]
        assert {"en": "every other gets", "zh": "其余的都不到"}[language] not in texts(app)


@pytest.mark.parametrize(("token", "output"), [("5", None), ("6", "9")])
def test_chart_map_and_arithmetic_show_the_same_token(token: str, output: str | None) -> None:
    """Also when another token than the hidden one was chosen, on Home or in the map."""
    more = {} if output is None else {"output": output}
    app = open_page("answer", s=SENTENCE, hidden="3", token=token, **more)
    at = int(token) - 1
    title = catalogue("en")["answer.guesses"].format(token=placed(run(SENTENCE, 2).tokens)[at])
    assert texts(app).replace("\\", "").count(f"**{title}**") == 1
    assert steps(app)[0].startswith(f"p_{{{at},")


@pytest.mark.parametrize(
    ("link", "tau"),
    [({"s": SENTENCE, "hidden": "3"}, 1.0), ({"s": SENTENCE, "hidden": "3"}, 0.3), ({"input": "flat"}, 5.0)],
)
def test_each_row_says_how_softmax_makes_its_probability_and_the_rows_add_up(link: dict[str, str], tau: float) -> None:
    app = open_page("answer", **link, tau=str(round(10 * tau)))
    names, values = chart(app)
    words = next(one for one in figure(app)["data"] if one.get("xaxis") == "x2")
    columns = 1 + np.unique(numbers(words["x"]), return_inverse=True)[1]
    at = dict(zip(zip(columns.tolist(), numbers(words["y"]), strict=True), words["text"], strict=True))
    rows = [[float(at[column, row].replace("−", "-").strip("≈ ")) for column in (1, 2, 3)] for row in range(len(names))]
    choice = app.session_state["choice"]
    trace = run(SENTENCE, 2) if "s" in link else pipelines.run(choice.pipeline, choice.subject)
    logits = np.atleast_2d(trace["logits"])[2 if "s" in link else 0].astype(np.float64) / tau
    shown = [np.abs(softmax(logits) - value).argmin() for value in values]
    for row, ((y, away, power), output) in enumerate(zip(rows, shown, strict=True)):
        differs = abs(y - max(row[0] for row in rows) - away) > 0.001
        assert at[2, row].startswith("≈") == differs, "as the numbers displayed give it"
        assert (y, away) == pytest.approx((logits[output], logits[output] - logits.max()), abs=0.0051)
        assert power == pytest.approx(np.exp(logits[output] - logits.max()), abs=0.00101)
    assert "≈: computed from" in texts(app).replace("\\", "") or not any("≈" in text for text in at.values())
    powers = [float(text) for (column, _), text in sorted(at.items()) if column == 3 and text != "exp"]
    assert powers[-1] == pytest.approx(sum(powers[:-1])), "what is displayed adds up to what is displayed"
    assert powers[-1] == pytest.approx(np.exp(logits - logits.max()).sum(), abs=5.1e-4)


@pytest.mark.parametrize("tau", [0.3, 1.5, 5.0])
@pytest.mark.parametrize(("token", "rank"), [(3, 1), (3, 4), (6, 1)])
def test_the_arithmetic_follows_the_temperature_and_names_the_value_of_the_run(
    tau: float, token: int, rank: int
) -> None:
    logits = run(SENTENCE, 2)["logits"][token - 1].astype(np.float64)
    output = int(np.argsort(-logits)[rank - 1])
    link = {"token": str(token), "output": str(output), "tau": str(round(10 * tau))}
    app = open_page("answer", s=SENTENCE, hidden="3", **link)
    assert result(app) == pytest.approx(softmax(logits / tau)[output], rel=1e-3)
    own = float(re.search(r"at τ = 1, has ([\d.]+\d)", said(app))[1])
    assert own == pytest.approx(softmax(logits)[output], abs=6e-5)


def test_a_drawing_has_classes_and_its_slider_is_in_the_link() -> None:
    app = open_page("answer", input="digit", lang="zh", tau="5", tab="temperature")  # once a part of its own
    assert len(np.ravel(drawn_in(app, "temperature"))) == 10
    app.slider(key="answer.tau").set_value(2.5).run()
    assert app.session_state["choice"].tau == 25
    app.slider(key="answer.tau").set_value(1.0).run()
    assert next(one["key"] for one in charts(app)) == "answer.guesses_0", "at 1 it is the answer itself"
