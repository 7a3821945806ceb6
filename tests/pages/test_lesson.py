"""The lesson: a guess, then the network's own numbers; hints for who was wrong twice; nothing unclear is asked."""

import re
from dataclasses import replace

import numpy as np
import pytest
from pages.school.lessons.rows import END, LESSONS, QUESTIONS, Own, Question
from pages.school.lessons.truths import truth_of
from streamlit.testing.v1 import AppTest

from pages.school.lessons.wording import figure_of
from pages.school.lessons.written import OWN, lesson_from_code, lesson_to_code, own_lesson
from pages.school.questions.case import Case, Truth
from pages.ui.runs import pipelines
from pages.ui.state import sketch
from pages.ui.text import LANGUAGES, catalogue
from pages.ui.text.numbers import written
from tests.pages.opening import assert_fine, charts, figure, numbers, open_page, texts, turn_to, with_network
from tests.school.test_lessons import (
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
    truth = truth_of(QUESTIONS[key].measure, Case(pipeline, trace, token, pipeline.reader.vocabulary))
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
    bars, said = figure(app)["data"]
    assert numbers(bars["x"]) == pytest.approx([truth.said["share"], truth.answer, np.nan], nan_ok=True)
    (yours,) = figure(app)["layout"]["shapes"]
    assert yours["x1"] == round(truth.answer, 2) and yours["line"]["dash"] and round(yours["y0"]) == 2
    assert said["text"][2].strip() == written(figure_of(yours["x1"])), "its number at its end, where there is room"
    assert numbers(said["x"])[2] == pytest.approx(yours["x1"])
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


def test_what_was_found_on_a_page_is_not_asked_again_and_what_was_not_is_said_to_be_a_repeat() -> None:
    app, words = open_page("home", depth="story", s=SENTENCE, seen="nothing"), catalogue("en")
    box = next(box for box in app.text_input if (box.key or "").startswith("home.word"))
    box.set_value(str(true(app, "word").answer))
    app.button(key="home.send").click().run()
    turn_to(app, "tokens").run().button(key="tokens.show").click().run()
    app = turn_to(app, "lesson").run()
    assert_fine(app)
    assert asked(app, "places") and words["lesson.about_met"] in texts(app)
    assert words["lesson.found"].format(names=f"“{words['lesson.word.short']}”") in texts(app)
    of = len(LESSONS["encoder"].questions) - 1
    for number in range(1, of):
        assert words["lesson.about"].format(number=number, all=of) in texts(app), "numbered without a gap"
        if number == 2:
            break
        click(click(app, "show"), "next")
    assert asked(app, "beans") and words["lesson.about_met"] not in texts(app)


def test_what_cannot_be_asked_leaves_no_gap_in_the_numbers() -> None:
    app, about = open_page("lesson", depth="story", input="digit", ink=sketch.to_code(sketch.example(3))), []
    while app.query_params.get("question") != END:
        about += re.findall(r"Question (\d+) of at most (\d+)", texts(app))[:1]
        click(click(app, "show"), "next")
    assert [int(number) for number, _ in about] == [*range(1, len(about) + 1)]
    assert len(about) <= int(about[-1][1]) < len(LESSONS["encoder"].questions)


def test_beans_are_given_by_taps_and_lie_over_the_networks_own() -> None:
    app = open_page("lesson", lang="zh", s=SENTENCE, question="beans")
    truth = true(app, "beans")
    best = truth.place["key"]
    for _ in range(10):
        assert app.button(key="lesson.send").disabled
        click(app, f"beans.0.{best}")
    click(app, "send")
    some = [beans for beans in truth.answer if round(beans)]  # who gets none, and was given none, is not drawn
    assert numbers(figure(app)["data"][0]["x"]) == pytest.approx(some, abs=1e-4)
    (given,) = figure(app)["layout"]["shapes"]
    assert (round(given["y0"]), given["x1"]) == (some.index(truth.answer[best]), 100)
    assert f"有 {round(truth.answer[best])} 颗" in texts(app)


def test_a_word_is_judged_as_the_vocabulary_has_it() -> None:
    app = open_page("lesson", depth="story", s=SENTENCE)
    assert asked(app, "word")
    app.text_input(key="lesson.word.0").set_value("Qwertyish")
    click(app, "send")
    assert catalogue("en")["lesson.not_yet"] not in texts(app), "no word of the network's is no guess"
    app.text_input(key="lesson.word.0").set_value(f" {str(true(app, 'word').answer).upper()} ")
    click(app, "send")  # the click brings what was typed
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
    assert all(words[f"lesson.{key}.short"] in texts(app).replace("\\", "") for key in LESSONS["encoder"].keys)
    assert not any(asked(app, key) for key in LESSONS["encoder"].keys)


def test_a_presentation_leads_on_to_the_lesson() -> None:
    """Its way on stands at the question, and is called by the next page's short name."""
    app = open_page("shapes_and_cost", big="true", depth="story")
    assert any(catalogue("en")["lesson.short"] in link.proto.label for link in app.get("page_link"))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", [name for name in LESSONS if name != "encoder"])
def test_each_lesson_can_be_walked_to_its_end(name: str, lang: str) -> None:
    drawing = {"input": "digit", "ink": sketch.to_code(sketch.example(3))} if LESSONS[name].input == "digit" else {}
    app, words = open_page("lesson", lang=lang, depth="story", s=SENTENCE, lesson=name, **drawing), catalogue(lang)
    assert words[f"lesson.abouts.{name}"].rstrip(".。") in texts(app)
    told = 0
    while app.query_params.get("question") != END:
        click(app, "show")
        assert charts(app)
        click(app, "next")
        told += 1
    assert told >= 3 and not re.search(r"(?<!\\\\)\{\w+\}", texts(app))


def test_another_lesson_is_chosen_from_a_list_and_begins_anew() -> None:
    app = open_page("lesson", depth="story", s=SENTENCE, question="back")
    app.selectbox(key="lesson.which").set_value("positions").run()
    assert app.query_params["lesson"] == "positions" and "question" not in app.query_params and asked(app, "places")
    app.selectbox(key="lesson.which").set_value("encoder").run()
    assert "lesson" not in app.query_params and asked(app, "word")


def test_a_lesson_about_a_drawing_offers_to_take_one() -> None:
    app = open_page("lesson", depth="story", s=SENTENCE, lesson="drawing")
    assert catalogue("en")["lesson.wants_digit"] in texts(app)
    click(app, "wanted")
    assert app.query_params["input"] == "digit" and asked(app, "digit")
    app = open_page(
        "lesson", depth="story", input="flat", ink=sketch.to_code(sketch.example(3)), lesson="encoder_decoder"
    )
    click(app, "wanted")
    assert app.query_params["input"] == "sentence"


def test_a_teachers_lesson_is_asked_in_her_words_with_this_runs_numbers() -> None:
    own = Own("<b>Where</b> does {query} look & *why*?", "See [there](http://elsewhere.example).")
    hers = Own("Which one?", "Because.", ("one", "two"), answer="two")
    place = "attention?layer=3&head=7&stage=scores"
    rows = [replace(QUESTIONS["fit"], place=place, own=own), Question(OWN, None, "tap", 0, 2, own=hers, place=place)]
    link = lesson_to_code(own_lesson(rows, "Mine *too*"))
    app = open_page("lesson", depth="story", s=SENTENCE, lesson=link)
    question = next(part.value for part in app.main.markdown if part.value.startswith("##### "))
    assert question == r"##### \<b\>Where\<\/b\> does \[MASK\] look \& \*why\*\?"
    click(app, "show")
    assert "](http" not in texts(app) and r"\[there\]" in next(p.value for p in app.main.markdown if "there" in p.value)
    click(app, "see")
    choice = app.session_state["choice"]
    assert (choice.layer, choice.head, choice.stage) == (2, 6, "scores")
    app = open_page("lesson", depth="story", s=SENTENCE, lesson=link, question="own")
    (pills,) = [one for one in app.button_group if (one.key or "").startswith("lesson.own")]
    pills.set_value(1).run()
    click(app, "send")
    assert catalogue("en")["lesson.right_own"] in texts(app) and "Because" in texts(app)


def test_a_lesson_is_made_kept_in_the_link_and_taken_apart_again() -> None:
    mine = lesson_to_code(own_lesson([QUESTIONS["fit"]]))
    app = open_page("lesson", depth="story", s=SENTENCE, lesson=mine, layer="2", head="3", stage="scores")
    made_with = [box for box in app.selectbox if str(box.key).startswith("lesson.new")]
    assert not made_with  # who takes the lesson sees nothing of how it is made
    app.session_state["lesson.maker"] = True  # the box is opened
    app.run()
    app.selectbox(key="lesson.new.place").set_value("heads").run()
    app.selectbox(key="lesson.new.which").set_value("favourites").run()
    app.number_input(key="lesson.new.minutes").set_value(7).run()
    click(app, "new.add")
    made = lesson_from_code(app.query_params["lesson"])
    assert made.keys == ["fit", "favourites"] and made["favourites"].place == "heads?layer=2&head=3&stage=scores"
    assert made["favourites"].minutes == 7
    app.selectbox(key="lesson.new.which").set_value("mine").run()
    click(app, "new.add")
    assert catalogue("en")["lesson.error_empty"] in texts(app)
    app.text_area(key="lesson.new.ask").set_value("Which?").run()
    app.text_area(key="lesson.new.options").set_value("one").run()
    click(app, "new.add")
    assert "Question 3 needs 2 to 12 options" in texts(app)
    assert app.text_area(key="lesson.new.ask").value == "Which?"  # it can be mended
    app.text_area(key="lesson.new.options").set_value("one\n two\n\none").run()
    app.selectbox(key="lesson.new.answer").set_value("two").run()
    click(app, "new.add")
    own = lesson_from_code(app.query_params["lesson"])["own"].own
    assert own == Own("Which?", options=("one", "two"), answer="two")
    click(app, "remove.2")
    app.text_input(key="lesson.title").set_value("Heads, slowly").run()
    assert lesson_from_code(app.query_params["lesson"]).title == "Heads, slowly"
    click(app, "remove.0")
    assert lesson_from_code(app.query_params["lesson"]).keys == ["favourites"]
    click(app, "remove.0")
    assert "lesson" not in app.query_params


def open_maker(lesson: str | None = None) -> AppTest:
    app = open_page("lesson", depth="story", s=SENTENCE, **({"lesson": lesson} if lesson else {}))
    app.session_state["lasting"] = {"lesson.maker": True}
    del app.session_state["lesson.maker"]  # as it was before it was drawn
    return app.run()


def test_what_is_typed_just_before_a_click_goes_into_the_lesson_with_it() -> None:
    """What a field hands over when a click takes the focus away comes with the click, in one run."""
    app = open_maker(lesson_to_code(own_lesson([QUESTIONS["fit"]])))
    app.text_input(key="lesson.title").set_value("Mine")
    app.text_area(key="lesson.new.ask").set_value("Which?")
    app.text_area(key="lesson.new.options").set_value("one\ntwo")
    app.text_area(key="lesson.new.why").set_value("Because.")
    click(app, "new.add")
    made = lesson_from_code(app.query_params["lesson"])
    assert (made.title, made.keys) == ("Mine", ["fit", "own"])
    assert made["own"].own == Own("Which?", "Because.", ("one", "two"))
    assert not any(app.text_area(key=f"lesson.new.{name}").value for name in ("ask", "options", "why"))
    app.text_input(key="lesson.title").set_value("Mine, again")
    click(app, "remove.0")
    made = lesson_from_code(app.query_params["lesson"])
    assert (made.title, made.keys) == ("Mine, again", ["own"])


def test_a_question_that_is_begun_waits_while_its_teacher_looks_for_its_place() -> None:
    app = open_maker()
    app.text_area(key="lesson.new.ask").set_value("How many?").run()
    app.segmented_control(key="lesson.new.gesture").set_value("number").run()
    app.number_input(key="lesson.new.number.to").set_value(7)
    app.text_area(key="lesson.new.why").set_value("Because.")
    turn_to(app, "heads").run()
    turn_to(app, "lesson").run()
    assert_fine(app)
    assert app.text_area(key="lesson.new.ask").value == "How many?"  # the box is open again
    click(app, "new.add")
    assert lesson_from_code(app.query_params["lesson"])["own"].own == Own("How many?", "Because.", span=(0, 7))


def test_a_link_whose_lesson_cannot_be_read_says_so_and_the_first_one_is_taught() -> None:
    for broken in ("no-such-lesson", "e30"):
        app = open_page("lesson", depth="story", s=SENTENCE, lesson=broken)
        assert catalogue("en")["lesson.error_file"] in texts(app) and asked(app, "word")
