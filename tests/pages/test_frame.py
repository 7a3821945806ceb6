"""What all pages share: links, examples, hostile input."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from model.examples import READY
from model.measures.tables import head_roles
from model.pipeline import MOST_CHARACTERS
from pages.drawing.state.choice import Choice
from pages.drawing.text import catalogue
from pages.screen.runs import pipelines
from tests.pages.opening import (
    APP,
    address,
    assert_fine,
    at_page,
    charts,
    in_html,
    open_page,
    run_fine,
    said,
    turn_to,
    warnings,
    write,
)


def test_a_visitor_begins_with_a_head_that_was_measured_to_do_something() -> None:
    first = head_roles().first("zh")
    app = at_page("home", lang="zh")
    app.run()
    turn_to(app, "attention").run()
    choice = app.session_state["choice"]
    assert (choice.sentence, choice.layer, choice.head) == (first.text, first.layer, first.head)
    assert first.language == "zh" and first.role.clear and first.role.relation
    tokens = pipelines.run("text", first.text).tokens
    read = said(app)
    assert "“[MASK]”" in read and f"“{tokens[first.key]}”" in read, "the word that looks is hidden"


def test_every_example_is_read_as_it_stands() -> None:
    reader = pipelines.pipeline("text").reader
    assert not [sentence for sentence in (*READY["en"], *READY["zh"]) if reader.read(sentence).notes]


@pytest.mark.parametrize(
    ("typed", "reason", "language"),
    [("", "empty", "en"), ("\x00\x07", "empty", "zh"), ("😀😀", "unknown_only", "zh"), ("שלום", "unknown_only", "en")],
)
def test_what_cannot_be_read_gets_a_sentence_and_the_last_picture_stays(typed: str, reason: str, language: str) -> None:
    app = open_page("attention", s="you love me .", lang=language)
    before = specs(app)
    write(app, typed)
    assert_fine(app)
    assert warnings(app) == [catalogue(language)[f"error.input_{reason}"]]
    assert before and specs(app) == before
    assert app.session_state["s"] == typed


def test_what_is_cut_or_unknown_is_said() -> None:
    app = open_page("attention", s="the cat 😀 " + "runs " * 70)
    said = [note.value for note in app.info]
    assert any("😀" in text and "UNK" in text for text in said)
    assert any("64" in text for text in said)


def specs(app: AppTest) -> list[str]:
    """Figure of each chart, as JSON."""
    return [json.dumps(chart["figure"]) for chart in charts(app)]


def test_names_in_the_arithmetic_are_no_html() -> None:
    app = open_page("attention", s="<b>x</b> & y", token="2", key="2")
    (arithmetic,) = [body for body in in_html(app) if 'class="formula"' in body]
    assert "“&lt; (1)” → “&lt; (1)”" in arithmetic and "“<" not in arithmetic


def test_a_link_to_nowhere_is_answered_with_a_sentence_for_each_of_its_values() -> None:
    link = {"layer": "99", "head": "abc", "shown": "deep", "model": "gpt"}
    app = run_fine(at_page("home", lang="en", **link))
    assert not [value for value in link.values() if not any(value in warning for warning in warnings(app))]


def test_choice_that_no_link_can_hold_does_not_break_the_session() -> None:
    app = open_page("attention", s="i love you .")
    app.session_state["at"] = {"edits": "no edits", "token": 2}
    run_fine(turn_to(app, "heads"))
    assert warnings(app) == [catalogue("en")["error.link_unread"]]
    assert "edits" not in address(app) and app.session_state["choice"].sentence
    assert_fine(turn_to(app, "home").run())
    assert not warnings(app)


def test_unforeseen_address_does_not_break_the_session(monkeypatch) -> None:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["s"] = "i love you ."
    with monkeypatch.context() as broken:
        broken.setattr(Choice, "from_link", lambda link: {}["nobody thought of it"])
        run_fine(app)
    assert warnings(app) == [catalogue("en")["error.link_unread"]]
    assert_fine(turn_to(app, "attention").run())


def test_every_place_of_a_link_is_chosen_and_stays_in_the_address() -> None:
    link = {"token": "2", "key": "4", "component": "256", "neuron": "7", "hidden": "2", "as": "row", "n": "77"}
    app = open_page("attention", s="i love you .", **link)
    assert address(app).items() >= link.items()
    choice = app.session_state["choice"]
    assert (choice.token, choice.key, choice.component, choice.neuron, choice.hidden) == (1, 3, 255, 6, (1,))
    assert (choice.as_, choice.cost.n) == ("row", 77)
    assert (choice.sentence, choice.layer, choice.head) == ("i love you .", 0, 0), "not what visitors begin with"


def test_what_was_typed_wins_over_the_older_sentence_of_a_page_link() -> None:
    app = open_page("attention", s="i love you .")
    write(app, "you love me .")
    app.query_params["s"] = "i love you ."
    assert_fine(turn_to(app, "heads").run())
    assert app.session_state["choice"].sentence == app.session_state["s"] == "you love me ."
    assert address(app)["s"] == "you love me ."


def test_layer_and_head_come_back_with_a_network_that_has_them() -> None:
    app = open_page("attention", s="i love you .", layer="6", head="7")
    seen = []
    for kind in ("flat", "digit", "sentence"):
        run_fine(app.pills(key="input").set_value(kind))
        seen.append((app.session_state["choice"].layer + 1, app.session_state["choice"].head + 1))
    flat, digits = (pipelines.config(name) for name in ("flat", "digits"))
    assert seen == [(flat.layers, flat.heads), (digits.layers, digits.heads), (6, 7)]
    app.pills(key="input").set_value("digit").run()
    app.button_group(key="either.head").set_value(1).run()
    app.pills(key="input").set_value("sentence").run()
    assert app.session_state["choice"].head == 1, "what was chosen meanwhile counts"


def test_of_a_second_sentence_too_long_for_its_box_the_beginning_is_read_and_it_is_said() -> None:
    app = open_page("attention")
    run_fine(app.text_input(key="compare.other").set_value("word " * 500))
    assert app.text_input(key="compare.other").value == ("word " * 500)[:MOST_CHARACTERS]
    said = catalogue("en")["error.sentence_long"].format(most=MOST_CHARACTERS)
    assert said in warnings(app)
    assert said not in [warning.value for warning in app.run().warning]


def test_another_language_brings_its_own_first_sentence_and_leaves_one_that_was_typed() -> None:
    english, chinese = (head_roles().first(language) for language in ("en", "zh"))
    app = open_page("attention", lang="en")
    app.pills(key="lang").set_value("zh").run()
    choice = app.session_state["choice"]
    assert (choice.sentence, choice.layer, choice.head) == (chinese.text, chinese.layer, chinese.head)
    app.pills(key="lang").set_value("en").run()
    assert app.session_state["choice"].sentence == english.text
    app = open_page("attention", lang="en", s="i love you .", layer="2")
    app.pills(key="lang").set_value("zh").run()
    assert (app.session_state["choice"].sentence, app.session_state["choice"].layer) == ("i love you .", 1)
