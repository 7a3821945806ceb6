"""The tour: a question beside a covered picture of this run, a guess, then the uncovered picture."""

import json
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis import placed
from model.edits import head_off
from model.examples import READY
from pages.drawing.state import sketch
from pages.drawing.state.choice import Choice
from pages.drawing.text import catalogue
from pages.drawing.text.numbers import decimal
from pages.lesson.page import place_in_run
from pages.school.additions import STATIONS
from pages.school.lessons import wording
from pages.school.lessons.lesson import END, LESSONS, TOUR
from pages.school.lessons.wording import answer_in_words, heading_and_rest, shortened
from pages.school.lessons.written import (
    MOST_ASK,
    MOST_WHY,
    MOST_WORDS,
    OWN,
    VIEWS,
    lesson_from_code,
    lesson_from_text,
    lesson_to_code,
    opened_at,
    own_lesson,
    place_of,
)
from pages.school.questions import QUESTIONS
from pages.school.questions.case import Case, Truth, short
from pages.school.questions.pictures import CAUSAL, CHIPS, Look, of_place
from pages.school.questions.question import Own, Question, clear_truth, truth_of
from pages.school.teaching.cases import OF_THE_ANSWER, with_a_gap
from pages.screen.runs import pipelines
from tests.pages.opening import (
    assert_fine,
    charts,
    for_teachers,
    line,
    numbers,
    open_page,
    protos,
    run_fine,
    stands,
    texts,
    turn_to,
    write,
)
from tests.school.making import SENTENCE, asked

THREE = {"input": "digit", "ink": sketch.to_code(sketch.example(3))}
#: Topics of an exam on the encoder, and the station that teaches each.
EXAM = {
    "why scores are divided by √dₖ": "root",
    "why there are several heads": "blur",
    "what W_O is for": "mixed",
    "what residual connections are for": "residual",
    "what LayerNorm does": "norm",
    "why positions are needed": "places",
    "what the FFN is for": "thinks",
    "what [CLS] is for": "gathered",
    "how encoder and decoder differ": "source",
    "what attention costs": "twice",
    "what a mask does": "causal",
}


def run_of(app: AppTest) -> Case:
    """The run on the page, at its hidden word."""
    choice = app.session_state["choice"]
    pipeline, subject = pipelines.pipeline(choice.pipeline), choice.subject
    trace = pipelines.run(choice.pipeline, subject)
    token = trace.tokens.index("[MASK]") if "[MASK]" in trace.tokens else 0
    return Case(pipeline, trace, token, pipeline.reader.vocabulary)


def true(app: AppTest, key: str) -> Truth:
    """The correct answer for the run on the page."""
    truth = truth_of(QUESTIONS[key], run_of(app))
    assert truth is not None
    return truth


def click(app: AppTest, name: str) -> AppTest:
    icon = name.startswith(("up.", "edit.", "remove."))
    run_fine(app.button(key=f"{'icon' if icon else 'lesson'}.{name}").click())
    return app


def station(key: str, **link: str) -> AppTest:
    app = open_page("lesson", **{"s": SENTENCE, "question": key} | link)
    assert asked(app, key, link.get("lang", "en"))
    return app


def said(app: AppTest) -> str:
    """The verdict above the reason."""
    return next((part.value[4:] for part in app.main.markdown if part.value.startswith("### ")), "").replace("\\", "")


def drawn(app: AppTest) -> list[dict]:
    """All figures on the page."""
    return [chart["figure"] for chart in charts(app)]


def values(figure: dict) -> np.ndarray:
    """Cells of the map."""
    return numbers(next(trace for trace in figure["data"] if trace["type"] == "heatmap")["z"])


def sent(app: AppTest) -> str:
    """Everything sent with the pictures: figures and descriptions."""
    return json.dumps([{name: chart[name] for name in ("figure", "alt", "caption")} for chart in charts(app)])


def slide(app: AppTest, key: str, value: float) -> AppTest:
    app.slider(key=f"lesson.{key}").set_value(value).run()
    return click(app, f"{key}.send")


# -- the tour as a whole -------------------------------------------------------------------------------------------


def test_default_tour_covers_an_exam_each_question_beside_a_filled_picture() -> None:
    """It never says that something was missed, also when questions are skipped."""
    app, words, seen, heads = open_page("lesson", lang="en"), catalogue("en"), [], []
    while app.query_params.get("question") != END:
        seen.append(next(key for key in TOUR.keys if asked(app, key) and key not in seen))
        assert charts(app) and f"{len(seen)}" in texts_of_dots(app)
        for begins, head in re.findall(r"(In|Now look at) (layer \d+, head \d+)", texts(app))[:1]:
            assert begins == "Now look at" or heads[-1:] in ([], [head]), "another head is announced"
            heads.append(head)
        filled = [np.isfinite(numbers(trace[name])).any() for figure in drawn(app) for trace in figure["data"]
                  for name in ("z", "y", "x") if isinstance(trace.get(name), dict)]  # fmt: skip
        assert any(filled)
        click(app, "show")
        assert words["lesson.answer_is"].partition("{")[0] in said(app)
        click(app, "next")
    assert len(set(heads)) > 1
    assert all({key, dict(TOUR.instead).get(key)} & {*seen} for key in EXAM.values())
    assert len(seen) == len(TOUR.stations()) and words["lesson.end_title"] in [part.value for part in app.subheader]
    assert words["lesson.left_out"].partition("{")[0] not in texts(app)


def test_the_end_says_what_the_answer_becomes_without_the_head_that_was_asked_about() -> None:
    app = open_page("lesson", s=SENTENCE, lesson=lesson_to_code(own_lesson([QUESTIONS["fit"]])))
    assert asked(app, "fit")
    case, place = run_of(app), true(app, "fit").place
    click(click(app, "show"), "next")
    off = head_off(place["layer"], place["head"])
    choice = app.session_state["choice"]
    every = tuple(head_off(layer, head) for layer in range(6) for head in range(8))
    runs = (pipelines.run(choice.pipeline, choice.subject, edits)["logits"] for edits in ((), (off,), every))
    before, after, none = map(case.shares, runs)
    best, then = int(before.argmax()), int(after.argmax())
    assert abs(before[best] - after[best]) > 0.01 and np.partition(after, -2)[-2] < after[then] - 0.02
    told = texts(app).replace("\\", "")
    for said in (case.names[best], case.names[then], *(decimal(float(row[best])) for row in (before, after, none))):
        assert said in told
    assert "not because of head" in told.lower() and 2 * after[best] > before[best], "not half of it is that head's"
    click(app, "why")
    assert app.session_state["choice"].edits == (off,)


def test_the_end_is_the_run_with_each_station_at_its_place_what_was_guessed_and_what_is_true() -> None:
    app, words = station("source"), catalogue("en")
    right, wrong, unanswered = "fit", "blur", "root"
    truths = {key: true(app, key) for key in TOUR.stations() if not QUESTIONS[key].run}
    guesses = dict.fromkeys(key for key in TOUR.stations() if key not in (unanswered, "source"))
    guesses |= {right: truths[right].answer, wrong: 0.99}
    app.session_state["lesson"]["guesses"].update(guesses)
    click(click(app, "show"), "next")
    for number, key in enumerate(TOUR.stations(), 1):
        button = app.button(key=f"lesson.{key}")
        label = button.label.replace("\\", "")
        assert f"**{number}**] {words[f'lesson.{key}.short']}" in label
        assert ("✓" in label) == (key == right)
        assert (words["lesson.you"].format(guess="0.99") in label) == (key == wrong)
        if key in truths:
            assert button.help == heading_and_rest(wording.asked(QUESTIONS[key], truths[key]))[0]
            told = answer_in_words(truths[key]) in label
            assert told == (key != unanswered), "what was not answered is not told"
    over = [part.value for part in app.main.markdown if part.value.startswith("**")]
    named = [words[f"{place_in_run(QUESTIONS[key], truth)}.short"] for key, truth in truths.items()]
    assert {*named} <= {title.split("**")[1].replace("\\", "") for title in over}, "each at the page that shows it"


def test_a_second_tour_asks_other_questions_and_names_those_with_the_same_answer() -> None:
    app, first = station("source"), TOUR.stations()
    app.session_state["lesson"]["guesses"].update(dict.fromkeys(first))
    click(click(app, "show"), "next")
    before = {key: truth_of(QUESTIONS[key], run_of(app)) for key in TOUR.keys if not QUESTIONS[key].run}
    INPUTS["sentence"](app)
    seen, said = [], [part.value.replace("\\", "") for part in app.caption]
    while app.query_params.get("question") != END:
        seen.append(next(key for key in TOUR.keys if asked(app, key) and key not in seen))
        click(click(app, "show"), "next")
    others = {other for _, other in TOUR.instead} & {*seen}
    assert others and not others & {*first}, "of two of which one is asked, the other one"
    clear = {key for key in first if QUESTIONS[key].run or clear_truth(QUESTIONS[key], run_of(app))}
    for key in clear - {*seen} - {one for one, _ in TOUR.instead}:
        assert any(catalogue("en")[f"lesson.{key}.short"] in caption for caption in said), key
        if key in before:
            assert answer_in_words(true(app, key)) == answer_in_words(before[key]), "it would have had the same answer"
    told = {key: answer_in_words(true(app, key)) for key in {*first} & {*seen} if not QUESTIONS[key].run}
    assert all(true(app, key).literal or told[key] != answer_in_words(before[key]) for key in told)
    click(app, "begin")
    assert int(re.findall(r"1 of (\d+)", texts_of_dots(app))[0]) > len(seen), "who begins again is asked all"


def texts_of_dots(app: AppTest) -> str:
    return " ".join(part.proto.body for part in app.get("html"))


@pytest.mark.parametrize("key", [key for key in TOUR.keys if QUESTIONS[key].gesture in ("tap", "word", "slide")])
def test_before_the_guess_nothing_holds_the_answer_and_after_it_the_picture_does(key: str) -> None:
    link = THREE if key == "digit" else {}
    app = open_page("lesson", **{"s": SENTENCE, "question": key} | link)
    if not asked(app, key):
        pytest.skip("another is asked instead")
    before, figures = sent(app), drawn(app)
    click(app, "show")
    assert sent(app) != before
    if QUESTIONS[key].run or key == "digit":
        return
    truth = true(app, key)
    if QUESTIONS[key].gesture == "slide":
        exact = float(truth.answer)
        if round(exact, 3) == round(exact):  # places are counted in whole numbers, too: see below
            return
        held = [numbers(trace[name]) for figure in figures for trace in figure["data"] for name in "xyz"
                if isinstance(trace.get(name), dict)]  # fmt: skip
        assert not any(np.isclose(one, exact, rtol=1e-4, atol=1e-6).any() for one in held)
        assert f'"{short(exact)}"' not in before
    elif key == "word":
        marks = next(trace for trace in figures[0]["data"] if trace.get("customdata"))
        assert marks["text"] == sorted(marks["text"]), "the order of what is offered tells nothing"
        lengths = [numbers(trace["x"]) for trace in figures[0]["data"] if trace["type"] == "bar"]
        assert all(np.isnan(one).all() or np.ptp(one) == 0 for one in lengths), "nor do the bars"
    assert short(exact) in said(app) if QUESTIONS[key].gesture == "slide" else answer_in_words(truth) in said(app)


def test_covered_cells_are_empty_and_all_others_recorded() -> None:
    for key, quantity in (("fit", "scores"), ("weights", "weights")):
        app = station(key)
        truth, trace = true(app, key), run_of(app).trace
        own = trace[f"layers.{truth.place['layer']}.attention.{quantity}"][truth.place["head"]]
        row, cells = truth.place["token"], values(drawn(app)[0])
        assert np.isnan(cells[row]).all()
        np.testing.assert_allclose(np.delete(cells, row, 0), np.delete(own, row, 0), atol=1e-6)
        np.testing.assert_allclose(values(drawn(click(app, "show"))[0]), own, atol=1e-6)
    app = station("blur")
    truth, trace = true(app, "blur"), run_of(app).trace
    rows = trace[f"layers.{truth.place['layer']}.attention.weights"][:, truth.place["token"]]
    cells = values(drawn(app)[0])
    np.testing.assert_allclose(cells[:-1], rows, atol=1e-6)
    assert np.isnan(cells[-1]).all()
    np.testing.assert_allclose(values(drawn(click(app, "show"))[0])[-1], rows.mean(axis=0), atol=1e-6)
    app = station("causal")
    here = run_of(app)
    assert here.pair is not None
    masked = here.pipeline(SENTENCE, [CAUSAL])[f"layers.{here.pair.layer}.attention.weights"][here.pair.head]
    cells = values(drawn(click(app, "show"))[0])
    np.testing.assert_allclose(np.nan_to_num(cells), masked, atol=1e-5)
    assert np.array_equal(np.isnan(cells), np.tri(len(cells)) == 0), "what the mask hides is left blank"


# -- guesses -------------------------------------------------------------------------------------------------------


def test_a_slider_is_near_right_or_wrong_and_the_guess_is_drawn_dashed() -> None:
    words = catalogue("en")
    for far, expected in ((0.0, "near"), (0.05, "near"), (0.6, "high"), (-0.2, "low")):
        app = station("blur")
        truth = true(app, "blur")
        value = round(truth.answer + far, 2)
        slide(app, "blur", value)
        right = "right" if short(value) == short(truth.answer) else expected
        assert said(app) == words[f"lesson.{right}"].format(guess=short(value), answer=short(truth.answer))
        (dashed,) = [shape for shape in drawn(app)[1]["layout"]["shapes"] if shape["line"].get("dash")]
        assert dashed["x1"] == value
        taught = words["lesson.blur.otherwise"].partition("{")[0] in texts(app)
        assert taught == (right in ("high", "low")), "only who was wrong is told what that would mean"


def test_an_option_is_given_at_one_tap_on_its_name_or_its_covered_cell_and_marked_in_the_picture() -> None:
    app = station("fit")
    truth, figure = true(app, "fit"), drawn(app)[0]
    (marks,) = [trace for trace in figure["data"] if trace.get("customdata")]
    assert [truth.options[place] for (place,) in marks["customdata"]] == list(truth.options)
    assert set(numbers(marks["y"])) == {truth.place["token"]} and charts(app)[0]["picks"]
    for place in (truth.options.index(truth.answer), 0):
        app = station("fit")
        run_fine(app.button_group(key="lesson.fit").set_value(place))
        right = truth.options[place] == truth.answer
        text = catalogue("en")["lesson.right" if right else "lesson.wrong"]
        assert said(app) == text.format(guess=f"“{truth.options[place]}”", answer=f"“{truth.answer}”")
        dashed = [shape for shape in drawn(app)[0]["layout"]["shapes"] if shape["line"].get("dash")]
        assert [round(shape["x0"] + 0.5) for shape in dashed] == ([] if right else [place])
        assert not charts(app)[0]["picks"], "once it is answered, no cell is an option"
        assert truth.said["selves"] == 0 and "own key scores highest for none of the 12 tokens." in texts(app)


def test_chips_are_placed_by_three_taps() -> None:
    app = station("weights", lang="zh")
    truth = true(app, "weights")
    best = truth.place["key"]
    for given in range(CHIPS):
        signs = [sign for trace in drawn(app)[0]["data"] for sign in trace.get("text", ()) if "●" in str(sign)]
        assert signs == ([f"<b>{'●' * given}</b>"] if given else [])
        click(app, f"weights.{best}")
    assert said(app).startswith(catalogue("zh")["lesson.right"].partition("{")[0])
    app = station("weights")
    for place in (0, 1, best):
        click(app, f"weights.{place}")
    assert said(app).startswith("You said") and truth.options[best] in said(app), "no token has most of them"


def test_a_word_is_judged_as_the_vocabulary_has_it() -> None:
    app = station("word")
    assert not stands(app, "join.lacks_guess")
    click(app, "word.send")
    assert stands(app, "join.lacks_guess") and not said(app)
    app.text_input(key="lesson.word").set_value("Qwertyish")
    click(app, "word.send")
    assert not said(app) and asked(app, "word"), "no word of the network's is no guess"
    app.text_input(key="lesson.word").set_value(f" {str(true(app, 'word').answer).upper()} ")
    click(app, "word.send")  # the click brings what was typed
    assert said(app).startswith("Yes")
    app = station("word")
    app.text_input(key="lesson.word").set_value("milk")
    click(app, "word.send")
    names = drawn(app)[0]["layout"]["yaxis"]["ticktext"]
    assert [name for name in names if name.startswith("milk")] == ["milk (your guess)"]


def test_who_goes_back_finds_the_answer_and_another_input_begins_anew() -> None:
    app = station("root")
    slide(app, "root", 0.9)
    verdict = said(app)
    click(app, "next")
    assert asked(app, "blur")
    found = catalogue("en")["lesson.found"].format(name="Not divided by √dₖ", answer=short(true(app, "root").answer))
    assert any(found in caption.value.replace("\\", "") for caption in app.caption), "what was found stays in sight"
    assert said(click(app, "previous")) == verdict
    write(app, "the cat sat on the [MASK] .")
    assert_fine(app)
    assert not said(app)


def _draw(app: AppTest) -> None:
    app.button_group(key="input").set_value("digit").run()


#: Another input, with as many tokens where it is a sentence.
INPUTS: dict[str, Callable[[AppTest], object]] = {
    "sentence": lambda app: write(app, "he [MASK] to the park to see some friends ."),
    "drawing": _draw,
}


@pytest.mark.parametrize(("at", "other"), [("source", "sentence"), ("weights", "drawing")])
def test_where_another_input_leaves_answers_behind_the_tour_begins_anew(at: str, other: str) -> None:
    """After the last question, or after any other."""
    app = click(click(station(at), "show"), "next")
    assert (app.query_params["question"] == END) == (at == "source")
    INPUTS[other](app)
    assert_fine(app)
    assert "question" not in app.query_params and not said(app)
    assert catalogue("en")["lesson.end_title"] not in [part.value for part in app.subheader] and charts(app)
    assert catalogue("en")["lesson.of"].format(number=1, all="")[:3] in texts_of_dots(app)


def test_unfinished_guess_is_not_kept_for_another_input() -> None:
    """Chips, a typed word, a number on the slider."""
    app = click(station("weights"), "weights.0")
    left = catalogue("en")["lesson.chips_left"]
    assert left.format(left=CHIPS - 1) in [part.value for part in app.caption]
    INPUTS["sentence"](app)
    assert asked(app, "weights") and left.format(left=CHIPS) in [part.value for part in app.caption]
    app = station("word")
    app.text_input(key="lesson.word").set_value("milk").run()
    INPUTS["sentence"](app)
    assert asked(app, "word") and [box.value for box in app.text_input if "lesson.word" in box.key] == [""]
    app = station("root")
    app.slider(key="lesson.root").set_value(0.9).run()
    INPUTS["sentence"](app)
    assert asked(app, "root") and [one.value for one in app.slider if "lesson.root" in one.key] == [0.5]


def test_a_piece_of_the_translation_is_glossed_by_the_word_that_all_heads_read_most() -> None:
    """Except the piece that is asked about: its gloss would be the answer."""
    for sentence, piece, word in (
        ("the cat sat on the mat .", "猫", "cat"),
        ("今天天气很好，我们去公园玩吧。", "to", "玩"),
    ):
        app, glossed = station("source", s=sentence), {}
        for when in ("asked", "shown"):
            names = drawn(app)[0]["layout"]["yaxis"]["ticktext"]
            glossed[when] = dict(re.findall(r"(\S+) \((\w+)\)", " ".join(names)))
            click(app, "show") if when == "asked" else None
        assert glossed["shown"][piece] == word
        (covered,) = re.findall(r"step that writes “(\w+)”", texts(app))
        assert glossed["asked"] == {piece: gloss for piece, gloss in glossed["shown"].items() if piece != covered}
        assert covered in glossed["shown"]
        trace = pipelines.pipeline("translation")(sentence)
        for piece, word in glossed["shown"].items():
            step, together = trace.written.index(piece), trace.over_layers("cross.weights", "decoder.").mean((0, 1))
            words = [i for i, name in enumerate(trace.tokens) if name.isalnum()]
            assert word == trace.tokens[max(words, key=lambda i: together[step, i])]


def test_each_station_opens_its_page_at_the_same_place() -> None:
    for key in ("root", "fit"):
        app = station(key)
        place = true(app, key).place
        choice = click(click(app, "show"), "see").session_state["choice"]
        assert (choice.layer, choice.head, choice.token) == (place["layer"], place["head"], place["token"])
    assert click(click(station("root"), "show"), "see").session_state["choice"].tab == "root"
    assert click(click(station("twice"), "show"), "see").session_state["choice"].cost.base == "text", "of this network"
    app = click(station("mixed", layer="1"), "show")
    layer = re.findall(r"layer (\d+)", charts(app)[0]["caption"])[0]
    assert click(app, "see").session_state["choice"].layer + 1 == int(layer), "which the picture shows"
    choice = click(click(station("gathered"), "show"), "see").session_state["choice"]
    assert choice.input == "digit" and choice.drawing == sketch.example(3)


def test_a_station_about_a_drawing_leads_away_from_a_tour_of_words_that_goes_on() -> None:
    app = click(click(open_page("lesson", s=SENTENCE, question="gathered"), "show"), "see")
    turn_to(app, "lesson").run()
    choice = app.session_state["choice"]
    assert (choice.input, choice.question, choice.sentence) == ("sentence", "gathered", SENTENCE)
    assert app.session_state["lesson"]["guesses"] == {"gathered": None}, "what was answered"
    click(app, "see").session_state["drawing"] = sketch.example(7)
    turn_to(app, "lesson").run()
    assert app.session_state["choice"].input == "digit", "whoever has drawn one is asked about that"


def test_each_page_leads_to_its_station_and_home_to_the_first() -> None:
    for place, (page, key) in enumerate(STATIONS.items()):
        assert key is None or (key in TOUR.keys and QUESTIONS[key].run in ("", "translation"))
        if place % 3 == 1:
            app = open_page(page, s=SENTENCE)
            app.button(key=f"{page}.to_tour").click().run()
            assert app.query_params.get("question") == key and "lesson" not in app.query_params
    app = open_page("heads", s=SENTENCE, lesson="heads", question="mixed")
    app.button(key="heads.to_tour").click().run()
    assert app.query_params["lesson"] == "heads" and app.query_params["question"] == "mixed", "back where it was left"


# -- what is asked -------------------------------------------------------------------------------------------------


def test_the_link_leads_back_to_the_place_and_the_end_to_each_station() -> None:
    app = station("source")
    click(click(app, "show"), "next")
    assert app.query_params["question"] == END
    assert asked(click(app, "source"), "source")
    assert asked(open_page("lesson", s=SENTENCE, question="no_such_question"), "word")
    click(click(open_page("lesson", s=SENTENCE, question=END), "begin"), "show")


@pytest.mark.parametrize(("lang", "lesson"), [("en", ""), ("zh", "drawing")])
def test_drawing_gets_only_questions_that_apply_to_it(lang: str, lesson: str) -> None:
    app, told = open_page("lesson", lang=lang, **THREE, lesson=lesson), []
    assert asked(app, "digit", lang) and not stands(app, "sidebar.verdict"), "it would tell"
    while "lesson.show" in [button.key for button in app.button]:
        click(app, "show")
        told.append(" ".join(part.value for part in app.main.markdown))
        click(app, "next")
    assert len(told) > 4 and not re.search(r"\b(word|sentence)\b|句子", " ".join(told[1:]))
    for key in ("weights", "source", "residual") if not lesson else ():
        assert not_asked(key, lang) in texts(app).replace("\\", ""), "what is not asked is named, with what it needs"


def not_asked(key: str, lang: str = "en") -> str:
    """The reason given for a question that is not asked."""
    words = catalogue(lang)
    needs = words[f"lesson.{key}.needs"].format(least=short(QUESTIONS[key].least))
    return words["lesson.left"].format(name=words[f"lesson.{key}.short"], needs=needs)


def test_what_is_not_asked_has_the_same_reason_in_tour_class_and_maker() -> None:
    """The number of questions is known from the first one."""
    keys, lang = ("blur", "word", "digit"), "zh"
    link = lesson_to_code(own_lesson([QUESTIONS[key] for key in keys]))
    app = open_maker(link, lang=lang)
    of = catalogue(lang)["lesson.of"]
    assert of.format(number=1, all=2) in texts_of_dots(app)
    assert not_asked("digit", lang) in texts(app).replace("\\", ""), "the maker says it"
    said = [texts(open_page("class", lang=lang, s=SENTENCE, lesson=link))]
    app, seen = open_page("lesson", lang=lang, s=SENTENCE, lesson=link), []
    while app.query_params.get("question") != END:
        seen.append(next(key for key in keys if asked(app, key, lang)))
        assert of.format(number=len(seen), all=2) in texts_of_dots(app)
        click(click(app, "show"), "next")
    assert seen == [key for key in keys if key != "digit"]
    for page in (*said, texts(app)):
        assert not_asked("digit", lang) in page.replace("\\", "")


@pytest.mark.parametrize("key", ["word", "layer", "fit", "residual"])
def test_the_place_of_a_question_never_takes_the_answer_away_from_it(key: str) -> None:
    """A question about the answer uses the row where the answer is read, whichever row was chosen on the page."""
    at = "heads?layer=2&head=3&token=2"
    app = open_page("lesson", s=SENTENCE, lesson=lesson_to_code(own_lesson([replace(QUESTIONS[key], place=at)])))
    there = replace(run_of(app), layer=1, head=2, token=1)
    of_row = truth_of(QUESTIONS[key], there)
    truth = of_row or truth_of(QUESTIONS[key], replace(there, token=run_of(app).token))
    clear = truth is not None and truth.margin >= QUESTIONS[key].least
    assert asked(app, key) == clear and (key in OF_THE_ANSWER) == (of_row is None)


def test_the_network_is_asked_about_as_it_is_whatever_was_changed() -> None:
    fresh = "he [MASK] to the shop to buy some milk ."  # of which nothing was worked out before
    app = station("root", s=fresh, edits="layers.{l}.attention.weights~even")
    assert catalogue("en")["lesson.as_it_is"] in texts(app)
    assert app.query_params["edits"]  # still there for the other pages


def test_another_lesson_is_chosen_from_a_list_and_begins_anew() -> None:
    app = for_teachers("others", station("root"))
    app.selectbox(key="lesson.which").set_value("heads").run()
    assert app.query_params["lesson"] == "heads" and "question" not in app.query_params and asked(app, "fit")
    assert catalogue("en")["lesson.abouts.heads"] in texts(app)
    app.selectbox(key="lesson.which").set_value("tour").run()
    assert "lesson" not in app.query_params and asked(app, "word")


def test_a_lesson_about_a_drawing_offers_to_take_one() -> None:
    app = open_page("lesson", s=SENTENCE, lesson="drawing")
    assert catalogue("en")["lesson.wants_digit"] in texts(app)
    click(app, "wanted")
    assert app.query_params["input"] == "digit" and asked(app, "digit")
    app, words = open_page("lesson", **THREE | {"input": "flat"}, lesson="encoder_decoder"), catalogue("en")
    assert words["lesson.end_none"] in texts(app) and "lesson.show" not in [button.key for button in app.button]
    assert all(words[f"lesson.{key}.short"] in texts(app).replace("\\", "") for key in LESSONS["encoder_decoder"].keys)
    click(app, "wanted")
    assert app.query_params["input"] == "sentence"


def test_a_teachers_lesson_is_asked_in_her_words_with_this_runs_numbers() -> None:
    own = Own("<b>Where</b> does {query} attend & *why*?", "See [there](http://elsewhere.example).")
    hers = Own("哪一个？ || Which one?", "Because.", ("one || 一", "two || 二"), answer="two || 二")  # either first
    place = "attention?layer=3&head=7&stage=scores"
    rows = [replace(QUESTIONS["fit"], place=place, own=own), Question(OWN, None, "tap", 0, 2, own=hers, place=place)]
    link = lesson_to_code(own_lesson(rows, "Mine *too*"))
    app = open_page("lesson", s=SENTENCE, lesson=link)
    question = next(part.value for part in app.main.markdown if part.value.startswith("## "))
    assert question == r"## \<b\>Where\<\/b\> does \[MASK\] attend \& \*why\*\?"
    click(app, "show")
    assert "](http" not in texts(app) and r"\[there\]" in next(p.value for p in app.main.markdown if "there" in p.value)
    click(app, "see")
    choice = app.session_state["choice"]
    assert (choice.layer, choice.head, choice.stage) == (2, 6, "scores")
    app = open_page("lesson", s=SENTENCE, lesson=link, question="own")
    assert values(drawn(app)[0]).shape == (len(run_of(app).trace.tokens),) * 2, "the picture of its place"
    app.button_group(key="lesson.own").set_value(1).run()
    assert said(app) == "Yes: two" and "Because" in texts(app)
    assert "Which one: two" in click(app, "next").button(key="lesson.own").label
    app = open_page("lesson", s=SENTENCE, lesson=link, question="own", lang="zh")
    assert (
        "## 哪一个？" in [part.value for part in app.main.markdown]
        and app.button_group(key="lesson.own").options[1] == "二"
    )


def test_a_question_that_was_merged_with_another_is_that_one_in_lessons_kept_before() -> None:
    before = json.dumps({"title": "", "questions": [{"ask": name} for name in ("beans", "sum", "seat", "race")]})
    assert lesson_from_text(before).keys == ["weights", "residual", "places", "word"]


def test_a_lesson_is_made_kept_in_the_link_and_taken_apart_again() -> None:
    mine = lesson_to_code(own_lesson([QUESTIONS["fit"]]))
    app = open_page("lesson", s=SENTENCE, lesson=mine, layer="2", head="3", stage="scores")
    made_with = [box for box in app.selectbox if str(box.key).startswith("lesson.new")]
    assert not made_with  # who takes the lesson sees nothing of how it is made
    for_teachers("maker", app)
    app.selectbox(key="lesson.new.place").set_value("heads").run()
    app.selectbox(key="lesson.new.which").set_value("blur").run()
    app.number_input(key="lesson.new.minutes").set_value(7).run()
    click(app, "new.add")
    made = lesson_from_code(app.query_params["lesson"])
    assert made.keys == ["fit", "blur"] and made["blur"].place == "heads?layer=2&head=3&stage=scores"
    assert made["blur"].minutes == 7
    app.selectbox(key="lesson.new.which").set_value("mine").run()
    click(app, "new.add")
    assert catalogue("en")["lesson.error.empty"] in texts(app)
    app.text_area(key="lesson.new.ask").set_value("Which?")  # what is typed just before a click comes with it
    app.text_area(key="lesson.new.options").set_value("one")
    click(app, "new.add")
    assert "Question 3 needs 2 to 12 options" in texts(app)
    assert app.text_area(key="lesson.new.ask").value == "Which?"  # it can be mended
    app.text_area(key="lesson.new.options").set_value("one\n two\n\none").run()
    app.selectbox(key="lesson.new.answer").set_value("two").run()
    app.selectbox(key="lesson.new.place").set_value("heads").run()
    click(app, "new.add")
    own = lesson_from_code(app.query_params["lesson"])["own"]
    assert own.own == Own("Which?", options=("one", "two"), answer="two")
    assert opened_at(own.place)[1]["sentence"] == SENTENCE, "it is of her sentence, ours of any"
    click(app, "remove.2")
    app.text_input(key="lesson.title").set_value("Heads, slowly")
    click(app, "remove.0")
    assert lesson_from_code(app.query_params["lesson"]).title == "Heads, slowly"
    assert lesson_from_code(app.query_params["lesson"]).keys == ["blur"]
    click(app, "remove.0")
    assert "lesson" not in app.query_params


def test_a_lesson_of_ours_is_copied_and_no_question_of_it_is_lost() -> None:
    ours = LESSONS["heads"].keys

    def made() -> list[str]:
        return lesson_from_code(app.query_params["lesson"]).keys

    app = open_maker("heads")
    app.selectbox(key="lesson.new.which").set_value("twice").run()
    click(app, "new.add")
    assert made() == [*ours, "twice"], "adding replaces nothing"
    app = open_maker("heads")
    click(app, "copy")
    assert made() == ours
    click(app, "up.1")
    assert made() == [ours[1], ours[0], *ours[2:]]
    for close in ("edit.2", "new.cancel"):  # closed again, the next one is added
        click(app, "edit.2")
        click(app, close)
        assert catalogue("en")["lesson.maker.put"] in [button.label for button in app.button]
        assert "lesson.new.cancel" not in [button.key for button in app.button] and made() == [
            ours[1],
            ours[0],
            *ours[2:],
        ]
    click(app, "edit.2")
    assert app.selectbox(key="lesson.new.which").value == ours[2]
    app.number_input(key="lesson.new.minutes").set_value(9).run()
    click(app, "new.add")
    assert made() == [ours[1], ours[0], *ours[2:]]
    assert lesson_from_code(app.query_params["lesson"])[ours[2]].minutes == 9


def test_after_an_edit_all_boxes_are_those_of_a_new_question() -> None:
    own = Own("How many?", "Because.", span=(2, 7), answer=3, near=1)
    rows = [Question(OWN, None, "number", 0, 9, own=own, place="heads?layer=2"), QUESTIONS["fit"]]
    link = lesson_to_code(own_lesson(rows))
    app = open_maker(link)
    app.segmented_control(key="lesson.new.gesture").set_value("number").run()
    fresh = open_maker(link)
    click(app, "edit.0")
    assert app.number_input(key="lesson.new.minutes").value == 9 and app.text_area(key="lesson.new.ask").value
    click(app, "new.add")
    assert app.segmented_control(key="lesson.new.gesture").value == "tap"
    assert app.selectbox(key="lesson.new.place").value == "" and app.text_area(key="lesson.new.why").value == ""
    for box in ("minutes", "place", "which", "ask", "why", "gesture", "options"):
        assert app.session_state[f"lesson.new.{box}"] == fresh.session_state[f"lesson.new.{box}"], box
    for gesture, usual in (("number", [0, 10, None, 0]), ("slide", [0, 1, None, 0.1])):
        app.segmented_control(key="lesson.new.gesture").set_value(gesture).run()
        boxes = [app.number_input(key=f"lesson.new.{gesture}.{box}") for box in ("from", "to", "answer", "near")]
        assert [box.value for box in boxes] == usual


def test_a_place_says_what_will_be_asked_of_before_and_after_the_question_is_put_there() -> None:
    lang, words = "zh", catalogue("zh")
    mine = lesson_to_code(own_lesson([QUESTIONS["fit"]]))
    for at in (4, 3):  # a visible word, and the hidden one
        app = open_maker(mine, lang=lang, layer="3", head="7", token=f"{at}")
        look = Look(OWN, "tap", replace(run_of(app), token=at - 1), Truth(None, 0.0, {}, (), {}))
        for name in VIEWS:
            app.selectbox(key="lesson.new.place").set_value(name).run()
            assert (words["lesson.maker.bare"] in texts(app)) != bool(of_place(name, look)), (name, at)
    token = run_of(app).trace.tokens[2]
    app.selectbox(key="lesson.new.place").set_value("attention").run()
    row = words["lesson.maker.row"].format(token=token)
    view = f"{words['attention.title']} · 第 3 层第 7 头 · {row} · “{shortened(SENTENCE)}”"
    assert words["lesson.maker.view"].format(view=view) in texts(app).replace("\\", "")
    app.text_area(key="lesson.new.ask").set_value("Which?").run()
    click(app, "new.tokens")
    click(app, "new.add")
    own = lesson_from_code(app.query_params["lesson"])["own"]
    assert own.own is not None and list(own.own.options) == placed(run_of(app).trace.tokens)
    assert view in next(part.value for part in app.main.markdown if part.value.startswith("2.")).replace("\\", "")
    for marked in (None, token):
        one = replace(own, own=replace(own.own, answer=marked))
        app = open_page("lesson", s=SENTENCE, lang=lang, lesson=lesson_to_code(own_lesson([one])))
        before = drawn(app)[0]
        assert re.search(r"\b3\D+7\b", charts(app)[0]["caption"])
        run = run_of(app)
        after, place = values(drawn(click(app, "show"))[0]), run.trace.tokens.index(token)
        np.testing.assert_allclose(after, run.trace["layers.2.attention.weights"][6], atol=1e-6)
        covered = values(before)
        assert np.isnan(covered[place]).all(), "what is asked of"
        np.testing.assert_array_equal(np.delete(covered, place, 0), np.delete(after, place, 0))


def open_maker(lesson: str | None = None, **link: str) -> AppTest:
    app = open_page("lesson", **{"s": SENTENCE} | ({"lesson": lesson} if lesson else {}) | link)
    app.session_state["lasting"] = {"lesson.teachers": True, "lesson.maker": True}
    app.session_state["lesson.teachers"] = True
    return app.run()


def test_nothing_of_what_a_teacher_pastes_is_cut_and_what_is_too_long_is_said() -> None:
    words = catalogue("en")
    app = open_maker()
    for name, most in (("ask", MOST_ASK), ("why", MOST_WHY)):
        for letters in (most, most + 1, MOST_WORDS + 1):
            box = (
                app.text_area(key=f"lesson.new.{name}")
                .set_value("w" * letters)
                .run()
                .text_area(key=f"lesson.new.{name}")
            )
            assert box.value == "w" * letters and not box.proto.max_chars
            too_long = words["lesson.maker.long"].format(n=letters, most=most)
            assert (too_long in texts(app)) == (letters > most)
    app.text_area(key="lesson.new.options").set_value("a\nb").run()
    click(app, "new.add")
    assert words["lesson.error.words"].format(number=1, most=MOST_WORDS) in texts(app)
    assert app.text_area(key="lesson.new.ask").value == "w" * (MOST_WORDS + 1), "it waits to be shortened"
    assert "lesson" not in app.query_params


def test_a_question_of_before_that_is_too_long_for_a_class_can_be_read_and_edited_whole() -> None:
    kept = Question(OWN, None, "tap", 0, 3, own=Own("long " * 100, "why " * 100, ("a", "b"), answer="a"))
    code = lesson_to_code(own_lesson([kept]))
    app = open_maker(code)
    run_fine(app.button(key="icon.edit.0").click())
    assert app.text_area(key="lesson.new.ask").value == "long " * 100
    there = open_page("class", lang="en", s=SENTENCE, lesson=code)
    assert catalogue("en")["class.too_long"].partition("{")[0] in texts(there)
    assert "class.start" not in [button.key for button in there.button]


def test_a_question_that_is_begun_waits_while_its_teacher_looks_for_its_place() -> None:
    app = open_maker()
    app.text_area(key="lesson.new.ask").set_value("How many?").run()
    app.segmented_control(key="lesson.new.gesture").set_value("number").run()
    app.number_input(key="lesson.new.number.to").set_value(7)
    app.text_area(key="lesson.new.why").set_value("Because.")
    turn_to(app, "heads").run()
    run_fine(turn_to(app, "lesson"))
    assert app.text_area(key="lesson.new.ask").value == "How many?"  # the box is open again
    click(app, "new.add")
    assert lesson_from_code(app.query_params["lesson"])["own"].own == Own("How many?", "Because.", span=(0, 7))
    click(app, "edit.0")
    app.text_area(key="lesson.new.ask").set_value("How many heads?").run()
    click(app, "new.add")
    made = lesson_from_code(app.query_params["lesson"])
    assert made.keys == ["own"] and made["own"].own == Own("How many heads?", "Because.", span=(0, 7))
    click(app, "edit.0")
    for layer, shows, then in ((1, "heads", 1), (2, None, 1), (3, "heads", 3)):  # it stays where it was till she says
        app.session_state["layer"] = layer
        if shows:
            app.selectbox(key="lesson.new.place").set_value(shows).run()
        click(app, "new.add")
        assert opened_at(lesson_from_code(app.query_params["lesson"])["own"].place)[1]["layer"] == then - 1
        click(app, "edit.0")


def test_a_link_whose_lesson_cannot_be_read_says_so_and_the_tour_begins() -> None:
    for broken in ("no-such-lesson", "e30"):
        app = open_page("lesson", s=SENTENCE, lesson=broken)
        assert catalogue("en")["lesson.error.file"] in texts(app) and asked(app, "word")


def test_the_line_on_top_does_not_say_the_word_that_is_asked_for() -> None:
    """Nor is it a button there: a slip would change the sentence and lose the answers."""
    on_top = line(open_page("lesson", lang="en"))
    words = [word["text"] for word in on_top["words"]]
    assert "[MASK]" in words and "was" not in words and "did" in words, "which Home has shown as an answer"
    assert on_top["names"]["hide"] == on_top["names"]["choose"] == "" != line(open_page("tokens"))["names"]["hide"]
    assert "was" in [word["text"] for word in line(open_page("answer", lang="en"))["words"]]
    text = pipelines.pipeline("text")
    for sentence in ("she gave him a book yesterday .", "我们明天去城里。"):
        app = open_page("lesson", s=sentence)
        read = with_a_gap(text, app.session_state["choice"], text.reader.read(sentence))
        assert read and [word["text"] for word in line(app)["words"]] == text(read).tokens[1:-1]


def words_on_top(app: AppTest) -> list[str]:
    return [word["text"] for word in line(app)["words"]]


@pytest.mark.parametrize("hidden", [None, "3"])
@pytest.mark.parametrize("sentence", [*(READY[lang][0] for lang in READY), "小猫追着小狗跑。"])
def test_a_question_in_her_own_words_reads_what_its_page_read(sentence: str, hidden: str | None) -> None:
    """The Tour hides a word by itself; a page does not."""
    given = {"s": sentence} | ({"hidden": hidden} if hidden else {})
    there = charts(open_page("attention", **given))[0]["figure"]["layout"]["yaxis"]["ticktext"]
    app = open_maker(**given)
    on_tour, reads = words_on_top(open_page("lesson", **given)), [name.partition(" (")[0] for name in there[1:-1]]
    app.selectbox(key="lesson.new.place").set_value("answer").run()
    assert words_on_top(app) == reads, "also while it is being made"
    assert (catalogue("en")["lesson.maker.bare"] in texts(app)) == ("[MASK]" not in reads)
    app.selectbox(key="lesson.new.which").set_value("weights").run()
    assert words_on_top(app) == on_tour, "a question of ours"
    app.selectbox(key="lesson.new.which").set_value("mine").run()
    app.selectbox(key="lesson.new.place").set_value("attention").run()
    app.text_area(key="lesson.new.ask").set_value("Which?")
    app.text_area(key="lesson.new.options").set_value("one\ntwo")
    click(app, "new.add")
    assert charts(app)[0]["figure"]["layout"]["yaxis"]["ticktext"] == there
    app.session_state["s"] = "we like tea ."  # for the next one
    app.session_state["at"] = {name: at for name, at in app.session_state["at"].items() if name != "hidden"}
    assert words_on_top(app.run()) == ["we", "like", "tea", "."]
    assert words_on_top(click(app, "edit.0")) == reads
    run_fine(app.toggle(key="lesson.teachers").set_value(False))
    assert words_on_top(app) == reads, "of the question that is asked"
    on_page = line(click(click(app, "show"), "see"))["words"]
    names = ["[MASK]" if word["hidden"] else word["text"] for word in on_page]
    assert names == [name.partition(" (")[0] for name in there[1:-1]]


@pytest.mark.parametrize("page", ["lesson", "class"])
def test_no_patches_stand_on_top_as_words_where_her_question_is_asked_of_a_drawing(page: str) -> None:
    place = place_of("attention", Choice(input="digit", drawing=sketch.example(3)), of_input=True)
    own = Own("Which?", options=("one", "two"), answer="two")
    code = lesson_to_code(own_lesson([Question(OWN, None, "tap", 0.0, 3, place=place, own=own)]))
    assert protos(open_page(page, s=SENTENCE), "sentence_line")
    assert not protos(open_page(page, s=SENTENCE, lesson=code), "sentence_line")


def test_a_question_too_long_for_a_projector_says_so_in_the_list_once_it_is_put() -> None:
    app = for_teachers("maker", lang="zh", s="我爱你。")
    for length, kept in ((MOST_ASK // 2, True), (MOST_ASK // 2 + 1, False)):  # a Chinese sign counts twice
        app.text_area(key="lesson.new.ask").set_value("问" * length)
        app.text_area(key="lesson.new.options").set_value("甲\n乙")
        run_fine(app.button(key="lesson.new.add").click())
        assert (catalogue("zh")["class.too_long"].partition("：")[0] not in texts(app)) == kept
