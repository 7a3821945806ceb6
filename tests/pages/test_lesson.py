"""The lesson: a guess, then the network's own numbers; hints for who was wrong twice; nothing unclear is asked."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.lessons.case import Case, Truth
from pages.ui.lessons.rows import ENCODER, END
from pages.ui.lessons.truths import truth_of
from pages.ui.runs import pipelines
from pages.ui.state import sketch
from pages.ui.text import LANGUAGES, catalogue
from tests.pages.opening import assert_fine, charts, figure, numbers, open_page, texts, with_network
from tests.ui.test_lessons import (
    SENTENCE,
    _no_answer,
    _no_favourite,
    _no_order,
    _nothing_found,
    _plain_norm,
    doctored,
)


def asked(app: AppTest, key: str, lang: str = "en") -> bool:
    """Whether this question stands on the page."""
    parts = map(re.escape, re.split(r"\{\w+\}|W_O", catalogue(lang)[f"lesson.{key}.ask"]))
    question = re.compile("##### " + ".+?".join(parts))
    return any(question.fullmatch(part.value) for part in app.main.markdown)


def true(app: AppTest, key: str) -> Truth:
    """The true answer for the run on the page."""
    choice = app.session_state["choice"]
    pipeline = pipelines.pipeline(choice.pipeline)
    trace = pipelines.run(choice.pipeline, choice.subject)
    token = trace.tokens.index("[MASK]") if "[MASK]" in trace.tokens else 0
    truth = truth_of(ENCODER[key].measure, Case(pipeline, trace, token, pipeline.reader.vocabulary))
    assert truth is not None
    return truth


def click(app: AppTest, name: str) -> AppTest:
    app.button(key=f"lesson.{name}").click().run()
    assert_fine(app)
    return app


def guess(app: AppTest, key: str, value: float, turn: int = 0) -> AppTest:
    app.slider(key=f"lesson.{key}.{turn}").set_value(value).run()
    return click(app, "send")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_right_guess_is_shown_beside_the_networks_numbers(lang: str) -> None:
    app, words = open_page("lesson", lang=lang, depth="story", s=SENTENCE, question="back"), catalogue(lang)
    assert asked(app, "back", lang) and not charts(app)  # nothing is told before anybody has thought
    truth = true(app, "back")
    guess(app, "back", round(truth.answer, 2))
    assert words["lesson.right"] in texts(app)
    there, back, yours = numbers(figure(app)["data"][0]["x"])
    assert (there, back) == pytest.approx((truth.said["share"], truth.answer)) and abs(yours - back) <= truth.near
    click(app, "next")
    assert app.query_params["question"] == "heads" and asked(app, "heads", lang)


def test_wrong_twice_gives_things_to_try_and_the_question_comes_back_after_two_others() -> None:
    app, words = open_page("lesson", depth="story", s=SENTENCE, question="back"), catalogue("en")
    wrong = 0.99  # far too much
    for times in range(1, 5):
        guess(app, "back", wrong)
        hints = [info.value for info in app.info]
        assert len(hints) == max(0, times - 1) and not charts(app)
    assert words["lesson.back.hint_3"].partition("{")[0] in hints[-1].replace("\\", "")
    app.button(key="lesson.hint_3").click().run()
    choice = app.session_state["choice"]
    assert (choice.token, choice.key) == (true(app, "back").place["key"], true(app, "back").place["token"])
    app = open_page("lesson", depth="story", s=SENTENCE, question="back")
    click(click(app, "show"), "next")
    for key in ("heads", "sum"):
        assert asked(app, key)
        click(click(app, "show"), "next")
    assert asked(app, "back") and words["lesson.about_again"] in texts(app)
    guess(app, "back", round(true(app, "back").answer, 2), turn=3)
    click(app, "next")
    assert asked(app, "heads")  # shown, not guessed: it comes back as well


def test_beans_are_given_by_taps_and_lie_over_the_networks_own() -> None:
    app = open_page("lesson", lang="zh", depth="numbers", s=SENTENCE, question="beans")
    truth = true(app, "beans")
    best = truth.place["key"]
    for _ in range(10):
        assert app.button(key="lesson.send").disabled
        click(app, f"beans.0.{best}")
    click(app, "send")
    own, given = figure(app)["data"][:2]
    some = [beans for beans in truth.answer if round(beans)]  # who gets none, and was given none, is not drawn
    assert numbers(own["x"]) == pytest.approx(some, abs=1e-4)
    assert [*numbers(given["x"])] == [100 * (beans == truth.answer[best]) for beans in some]
    assert f"有 {round(truth.answer[best])} 颗" in texts(app)


def test_a_word_is_judged_as_the_vocabulary_has_it() -> None:
    app = open_page("lesson", depth="story", s=SENTENCE)
    assert asked(app, "word")
    box = app.text_input(key="lesson.word.0")
    box.set_value("Qwertyish").run()
    assert app.button(key="lesson.send").disabled
    box.set_value(f" {str(true(app, 'word').answer).upper()} ").run()
    click(app, "send")
    assert catalogue("en")["lesson.right"] in texts(app)


def test_the_link_leads_back_to_the_place_and_the_end_names_what_was_asked() -> None:
    app = open_page("lesson", depth="story", s=SENTENCE, question="alone")
    assert asked(app, "alone")
    click(click(app, "show"), "next")
    assert app.query_params["question"] == END and catalogue("en")["lesson.end_title"] in texts(app)
    assert asked(click(app, "alone"), "alone")
    assert asked(open_page("lesson", depth="story", s=SENTENCE, question="no_such_question"), "word")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_drawing_is_asked_what_has_sense_for_it(lang: str) -> None:
    app = open_page("lesson", lang=lang, depth="story", input="digit", ink=sketch.to_code(sketch.example(3)))
    assert not asked(app, "word", lang) and catalogue(lang)["lesson.word.short"] in texts(app)
    told = [texts(app)]
    while app.query_params.get("question") != END:
        click(app, "show")
        told.append(" ".join(part.value for part in app.main.markdown))
        click(app, "next")
    assert len(told) > 5 and not re.search(r"\b(word|sentence)\b|句子", " ".join(told[1:]))


def test_the_network_is_asked_about_as_it_is_whatever_was_changed() -> None:
    fresh = "he [MASK] to the shop to buy some milk ."  # of which nothing was worked out before
    app = open_page("lesson", depth="story", s=fresh, question="back", edits="layers.{l}.attention.weights~even")
    assert catalogue("en")["lesson.as_it_is"] in texts(app) and asked(app, "back")
    assert app.query_params["edits"]  # still there for the other pages


def test_no_question_is_asked_of_a_network_of_which_all_claims_would_be_false(monkeypatch: pytest.MonkeyPatch) -> None:
    with_network(monkeypatch, doctored(_no_answer, _no_favourite, _no_order, _nothing_found, _plain_norm))
    app, words = open_page("lesson", depth="story", s=SENTENCE), catalogue("en")
    assert words["lesson.end_none"] in texts(app)
    assert all(words[f"lesson.{key}.short"] in texts(app).replace("\\", "") for key in ENCODER.keys)
    assert not any(asked(app, key) for key in ENCODER.keys)


def test_a_presentation_leads_on_to_the_lesson() -> None:
    """Its way on stands at the question, and is called by the next page's short name."""
    app = open_page("shapes_and_cost", big="true", depth="story")
    assert any(catalogue("en")["lesson.short"] in link.proto.label for link in app.get("page_link"))
