"""A class from its teacher's side: phase by phase, twice clicked, with two windows, ended; and what is kept of it."""

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis import softmax
from pages.school.classroom import standing
from pages.school.classroom import store as kept
from pages.school.classroom.door import LOOKS, MOST_FAILURES, CrowdedError, Door, Queue
from pages.school.classroom.phases import Phase
from pages.school.classroom.questions import CHIPS
from pages.school.classroom.store import SURE, Ballot, Store, UnavailableError, UnknownClassError
from pages.school.lessons.lesson import ENCODER
from pages.school.lessons.written import OWN, lesson_to_code, own_lesson
from pages.school.questions.case import short
from pages.school.questions.question import Own, Question
from pages.school.teaching import desk, follow, report
from pages.ui.runs import pipelines
from pages.ui.text import LANGUAGES, catalogue
from pages.ui.view import View
from tests.pages.opening import assert_fine, charts, numbers, open_page, texts, turn_to

SENTENCE = "we [MASK] to the park ."


@pytest.fixture(autouse=True)
def classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store of its own for each test, and no waiting between two clicks."""
    monkeypatch.setenv("GLASS_DATA", str(tmp_path))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setattr(desk, "HURRY", 0.0)
    kept.store.cache_clear()
    standing._look.cache.clear()
    monkeypatch.setattr(follow, "door", Door())
    monkeypatch.setattr(desk, "starts", Queue(1 / 300, 20))
    yield kept.store()
    kept.store.cache_clear()


def begun(lang: str = "en", s: str = SENTENCE, **link: str) -> AppTest:
    """The projector of a class that has just begun."""
    app = open_page("class", lang=lang, s=s, **link)
    return click(app, "start")


def click(app: AppTest, name: str) -> AppTest:
    app.button(key=f"class.{name}").click().run()
    assert_fine(app)
    return app


def code_of(app: AppTest) -> str:
    return app.query_params["class"]


def room_of(app: AppTest, classes: Store) -> kept.Room:
    room = classes.room(code_of(app))
    assert room is not None
    return room


def vote(app: AppTest, classes: Store, guesses: list, sure: int = 2) -> None:
    """One phone for each guess."""
    room = room_of(app, classes)
    ballots = [Ballot(room.code, room.number, room.round, f"{i:032x}", guess, sure) for i, guess in enumerate(guesses)]
    assert {verdict.value for verdict in classes.vote_all(ballots)} == {"kept"}


def truth_of_class(app: AppTest, classes: Store) -> dict:
    """What is true of the present question, as her key opens it."""
    code = code_of(app)
    return dict(classes.asked(code, app.session_state["class.keys"][code])[-1].truth)


def said_to_browser(app: AppTest) -> str:
    """All that the browser is sent for the main part of the page."""
    return texts(app) + json.dumps([chart["figure"] for chart in charts(app)], ensure_ascii=False)


def keys_of(app: AppTest) -> list[str]:
    """The keys that do something on this page."""

    def protos(block: object) -> Iterator[Any]:
        for part in getattr(block, "children", {}).values():
            yield getattr(part, "proto", None)
            yield from protos(part)

    (keys,) = (proto for proto in protos(app._tree) if getattr(proto, "component_name", "") == "page_keys")
    return json.loads(keys.json)[0]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_question_goes_through_all_its_phases(lang: str, classes: Store) -> None:
    app, words = begun(lang), catalogue(lang)
    assert app.query_params["big"] == "true" and room_of(app, classes).phase is Phase.LOBBY
    assert " ".join(code_of(app)) in texts(app)
    click(app, "next")
    ask = words["lesson.word.ask"].replace("[", r"\[").replace("]", r"\]").partition("\\")[0][:8]
    assert room_of(app, classes).phase is Phase.QUESTION and ask in texts(app)
    click(app, "next")
    answer, reason = (truth_of_class(app, classes)[name] for name in ("answer", "why"))
    vote(app, classes, [answer] * 5 + ["park"] * 6, SURE)
    app.run()
    assert not charts(app) and reason[lang] not in texts(app).replace("\\", "")  # nothing is told before it is closed
    click(app, "next")
    assert words["class.propose_discuss"] not in texts(app) and not charts(app)  # a tip is hers; free words wait
    click(app, "words")
    assert "✓" not in said_to_browser(app)  # what is right is not seen yet
    click(app, "to_discuss")
    assert words["class.talk"] in texts(app)
    click(app, "next")
    assert room_of(app, classes).round == 2
    vote(app, classes, [answer] * 11)
    click(app, "next")
    (said,) = charts(app)
    assert [trace["name"] for trace in said["figure"]["data"]] == [words["class.vote_1"], words["class.vote_2"]]
    click(app, "next")
    assert room_of(app, classes).phase is Phase.REVEALED and len(charts(app)) == 2
    told = texts(app).replace("\\", "")
    assert "45%" in told and "100%" in told and f"✓ {answer}" in json.dumps(charts(app), ensure_ascii=False)
    click(app, "next")
    assert reason[lang] in texts(app).replace("\\", "")
    click(app, "next")
    room = room_of(app, classes)
    assert (room.phase, room.number, room.round) == (Phase.QUESTION, 2, 1)


def test_who_was_sure_and_wrong_is_said_to_the_class_only_with_the_answer(classes: Store) -> None:
    app = click(click(begun(), "next"), "next")
    notes = open_page("class", lang="en", role="notes", **{"class": code_of(app)})
    notes.session_state[desk.KEYS] = dict(app.session_state[desk.KEYS])
    answer, said = truth_of_class(app, classes)["answer"], catalogue("en")["class.sure_and_wrong"].partition(":")[0]
    vote(app, classes, [answer] * 5 + ["park"] * 6, SURE)
    click(click(app, "next"), "words")
    assert said not in texts(app) and said in texts(notes.run())
    click(app, "to_discuss")
    assert said not in texts(app)
    for _ in range(3):
        click(app, "next")
    assert room_of(app, classes).phase is Phase.REVEALED and said in texts(app)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_before_she_asks_her_notes_say_what_the_network_answers_and_how_clear_it_is(
    lang: str, classes: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, words = begun(lang), catalogue(lang)
    notes = open_page("class", lang=lang, role="notes", **{"class": code_of(app)})
    notes.session_state[desk.KEYS] = dict(app.session_state[desk.KEYS])
    trace = pipelines.run("text", app.session_state["choice"].subject)
    shares = softmax(trace["logits"][trace.tokens.index("[MASK]")].astype(np.float64))
    best = int(shares.argmax())
    first = f"{pipelines.pipeline('text').reader.vocabulary[best]} {short(float(shares[best]))}"
    for _ in range(2):  # in the lobby, and while the question is read
        assert first in texts(notes.run()).replace("\\", "") and first not in texts(app)
        assert words["class.foretold_clear"] in texts(notes) and words["class.foretold_close"] not in texts(notes)
        click(app, "next")
    monkeypatch.setattr("pages.school.teaching.notes.CLEARLY", 1e9)
    monkeypatch.setattr("pages.school.teaching.notes.UNSURE", 1.1)
    for name in ("foretold_close", "foretold_unsure"):
        assert words[f"class.{name}"] in texts(notes.run())


def test_no_key_ends_the_class_and_what_was_passed_over_is_asked_before_the_end(classes: Store) -> None:
    app, last = begun(), len(ENCODER.keys) - 1
    app.session_state["class.wanted"] = last, room_of(app, classes).version
    app.run()
    for place in (last, *range(last)):
        assert room_of(app, classes).place == place and room_of(app, classes).phase is Phase.QUESTION
        for _ in range(4):
            assert "PageDown" in keys_of(app)
            click(app, "next")
        assert room_of(app, classes).phase is Phase.EXPLAINED
        if place != last - 1:
            click(app, "next")
    assert "PageDown" not in keys_of(app)
    click(app, "next")
    assert room_of(app, classes).phase is Phase.ENDED


def test_of_a_double_click_the_second_half_does_nothing(classes: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    app = begun()
    click(app, "next")
    monkeypatch.setattr(desk, "HURRY", 60.0)
    app.session_state[desk.ACTED] = -1e9
    click(app, "next")
    assert room_of(app, classes).phase is Phase.OPEN
    click(app, "next")
    assert room_of(app, classes).phase is Phase.OPEN


def test_options_are_read_with_the_question_and_what_was_answered_stays_for_the_talk(classes: Store) -> None:
    app, words = begun(), catalogue("en")
    app.session_state["class.wanted"] = ENCODER.keys.index("places"), room_of(app, classes).version
    assert words["lesson.same"] in texts(app.run()) and words["lesson.different"] in texts(app)
    assert not [key for key in keys_of(app) if "Arrow" in key], "there is no layer and no head to turn here"
    click(click(app, "next"), "countdown")
    assert 'class="countdown"' in " ".join(part.proto.body for part in app.get("html"))
    vote(app, classes, ["same", "different"])
    click(click(app, "next"), "to_discuss")
    assert words["class.talk"] in texts(app) and charts(app) and "✓" not in said_to_browser(app)
    click(app, "next")
    assert "countdown" not in " ".join(part.proto.body for part in app.get("html")), "it was that of the first vote"


def test_of_many_tokens_the_strongest_get_chips_and_the_last_place_is_for_the_others(classes: Store) -> None:
    app = begun(s="the animal [MASK] not cross the street because it was too tired .")
    app.session_state["class.wanted"] = ENCODER.keys.index("weights"), room_of(app, classes).version
    click(app.run(), "next")
    question, truth = classes.snapshot(code_of(app))["question"], truth_of_class(app, classes)
    assert len(question["options"]) == len(truth["answer"]) == 12 and question["names"]["zh"][-1] == "其余词元"
    assert sum(truth["answer"]) == pytest.approx(100, abs=1) and truth["answer"][-1] < max(truth["answer"])
    vote(app, classes, [[CHIPS, *[0] * 11]] * 5)
    for _ in range(3):
        assert_fine(click(app, "next"))


def test_two_windows_with_one_key_go_on_once(classes: Store) -> None:
    one = click(begun(), "next")
    code = code_of(one)
    other = open_page("class", lang="en", **{"class": code})
    assert "class.next" not in [button.key for button in other.button]  # the code alone opens nothing
    other.session_state[desk.KEYS] = dict(one.session_state[desk.KEYS])
    other.run()
    click(one, "next")
    click(other, "next")  # as it stood in that window the vote was not open yet
    assert room_of(one, classes).phase is Phase.OPEN
    click(other, "next")
    assert room_of(one, classes).phase is Phase.CLOSED


def test_she_comes_back_with_her_key_from_another_device(classes: Store) -> None:
    app = begun("zh", s="我们[MASK]公园玩吧")
    code = code_of(app)
    pass_ = f"{code}-{app.session_state[desk.KEYS][code]}"
    there = open_page("class", lang="en")
    there.text_input(key="class.pass").set_value(f"{code}-no").run()
    click(there, "come_back")
    assert catalogue("en")["class.no_such_key"] in texts(there)
    there.text_input(key="class.pass").set_value(pass_).run()
    click(there, "come_back")
    click(there, "next")
    assert code_of(there) == code
    assert "公 园" in classes.snapshot(code)["question"]["reads"]  # the class's own sentence, not that of this browser
    for visit in (app, there):
        assert all(pass_.partition("-")[2] not in value for value in visit.query_params.values())


def test_pausing_asks_phones_to_look_up_and_goes_on_where_it_was(classes: Store) -> None:
    app = click(click(begun(), "next"), "next")
    click(app, "pause")
    assert room_of(app, classes).paused and catalogue("en")["class.look_up"] in texts(app)
    click(app, "pause")
    assert not room_of(app, classes).paused and room_of(app, classes).phase is Phase.OPEN


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_question_of_the_lesson_can_be_asked_and_told(lang: str, classes: Store) -> None:
    """With answers of all kinds, on the projector and in her notes."""
    app = begun(lang)
    notes = open_page("class", lang=lang, role="notes", **{"class": code_of(app)})
    notes.session_state[desk.KEYS] = dict(app.session_state[desk.KEYS])
    for key in ENCODER.keys:
        click(app, "next")
        shown = classes.snapshot(code_of(app))["question"]
        assert shown["key"] == key and "options" not in shown
        click(app, "next")
        truth = truth_of_class(app, classes)
        before = json.dumps(classes.snapshot(code_of(app)), ensure_ascii=False)
        assert all(reason not in before for reason in truth["why"].values())
        vote(app, classes, guesses(classes.snapshot(code_of(app))["question"], truth), SURE)
        for _ in range(3):
            click(app, "next")
            notes.run()
            assert_fine(notes)
            assert not re.search(r"(?<!%)\{\w+\}", said_to_browser(app))  # each place in a text is filled
            assert catalogue(lang)["class.say"] in texts(notes)
    click(app, "next")
    assert room_of(app, classes).phase is Phase.ENDED and [button.key for button in app.get("download_button")]
    asked = classes.asked(code_of(app), app.session_state[desk.KEYS][code_of(app)])
    assert not re.search(r"\{\w+\}", re.sub("<style>.*?</style>", "", report.as_html(asked, "about")))


def guesses(shown: dict, truth: dict) -> list:
    """Five answers, the right one among them."""
    match shown["gesture"]:
        case "word":
            return [truth["answer"], "park", "park", "go", "<b>x</b>"]
        case "chips":
            few = len(shown["options"])
            return [[CHIPS * (i == j % few) for i in range(few)] for j in range(5)]
        case "slide":
            low, high = shown["span"]
            return [truth["answer"], low, high, high, (low + high) / 2]
        case "number":
            return [int(truth["answer"]), 0, 1, 2, 3]
        case _:
            return [truth["answer"], *shown["options"][:2], *shown["options"][:2]]


def test_chips_lie_over_the_row_of_the_head_that_was_asked_about(classes: Store) -> None:
    app = begun()
    app.session_state["class.wanted"] = ENCODER.keys.index("weights"), room_of(app, classes).version
    app.run()
    click(app, "next")
    weights = truth_of_class(app, classes)["answer"]
    best = max(range(len(weights)), key=weights.__getitem__)
    first = [CHIPS * (i == 0) for i in range(len(weights))]
    vote(app, classes, [[CHIPS * (i == best) for i in range(len(weights))]] * 3 + [first] * 3)
    click(click(app, "next"), "next")
    (over,) = charts(app)
    assert over["figure"]["data"][-1]["name"] == catalogue("en")["class.the_class"]
    assert numbers(over["figure"]["data"][0]["x"]) == pytest.approx(weights, abs=0.1)
    assert over["figure"]["layout"]["yaxis"]["ticktext"] == ["[CLS]", *SENTENCE.split(), "[SEP]"]


def test_what_is_not_clear_is_left_out_and_the_page_says_so() -> None:
    app = open_page("class", lang="en", s="i love you .", hidden="none")
    assert catalogue("en")["lesson.word.short"] in texts(app).partition("Not asked")[2]
    click(app, "start")
    click(app, "next")
    assert catalogue("en")["lesson.word.ask"][:20] not in texts(app)


def own_lesson_link(**values: Any) -> str:
    """A lesson of one question of a teacher's own."""
    own = Own("Which one?", "Because.", ("one", "two"), **values)
    return lesson_to_code(own_lesson([Question(OWN, None, "tap", 0, 2, own=own, place="attention?layer=3")]))


def test_a_question_without_a_marked_answer_is_left_out_for_that_reason_and_alone_begins_no_class() -> None:
    app = open_page("class", lang="en", s=SENTENCE, lesson=own_lesson_link())
    words = catalogue("en")
    assert words["class.no_answer_marked"].partition("{")[0] in texts(app)
    assert words["lesson.left_out"].partition("{")[0] not in texts(app) and words["lesson.end_none"] not in texts(app)
    assert "class.start" not in [button.key for button in app.button]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_teachers_own_answer_is_not_called_what_the_network_does(lang: str, classes: Store) -> None:
    app, words = begun(lang, lesson=own_lesson_link(answer="two")), catalogue(lang)
    click(click(app, "next"), "next")
    assert "truth" not in classes.snapshot(code_of(app))
    vote(app, classes, ["one", "two", "two"])
    for _ in range(2):
        click(app, "next")
        for name in ("network_does", "phase_revealed", "the_answer"):
            assert words[f"class.{name}"].partition("{")[0] not in texts(app)
        assert app.button(key="class.next").label != words["class.to_revealed"]
    said = words["class.the_teachers_answer"].format(answer="two")
    assert texts(app).count(said) == 1 and charts(app) and classes.snapshot(code_of(app))["truth"]["own"] is True
    asked = classes.asked(code_of(app), app.session_state[desk.KEYS][code_of(app)])
    page = report.as_html(asked, "about")
    assert words["class.the_answer"].partition("{")[0] not in page


def test_the_report_has_totals_only_and_no_word_in_it_is_markup(classes: Store) -> None:
    app = click(click(begun(), "next"), "next")
    answer = truth_of_class(app, classes)["answer"]
    vote(app, classes, [answer, answer, "<b>x</b>"], SURE)
    click(click(app, "next"), "words")
    asked = classes.asked(code_of(app), app.session_state[desk.KEYS][code_of(app)])
    page = report.as_html(asked, "about")
    assert "<b>x</b>" not in page and "&lt;b&gt;x&lt;/b&gt;" in page and "0" * 31 not in page
    assert {line.answer: line.counts for line in report.lines(asked[0])} == {answer: {1: 2}, "<b>x</b>": {1: 1}}


def test_ending_keeps_what_was_answered_until_the_class_is_deleted(classes: Store) -> None:
    app = click(click(begun(), "next"), "next")
    code = code_of(app)
    vote(app, classes, ["went"])
    for _ in range(3):
        click(app, "next")
    app.query_params["role"] = "notes"
    notes = open_page("class", lang="en", role="notes", **{"class": code})
    notes.session_state[desk.KEYS] = dict(app.session_state[desk.KEYS])
    left = catalogue("en")["class.minutes_left"].partition(":")[0]
    assert left in texts(notes.run())
    click(notes, "to_end")
    assert left not in texts(notes) and classes.room(code) is not None
    click(app.run(), "reopen")  # it was a mistake
    assert room_of(app, classes).phase is Phase.LOBBY and room_of(app, classes).number == 1
    click(app, "next")
    assert room_of(app, classes).number == 2
    click(notes.run(), "to_end")
    click(app.run(), "delete")
    assert classes.room(code) is None and "class" not in app.query_params
    assert "class.start" in [button.key for button in app.button]
    click(notes.run(), "leave")  # the other window hears that it is gone


def test_a_store_that_does_not_answer_is_a_sentence(classes: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    app = begun()

    def gone(*_: object, **__: object) -> None:
        raise UnavailableError("locked")

    monkeypatch.setattr(Store, "advance", gone)
    click(app, "next")
    click(app, "next")
    assert catalogue("en")["class.unavailable"] in texts(app)
    monkeypatch.setattr(Store, "of_teacher", gone)
    app.run()
    assert_fine(app)
    assert catalogue("en")["class.unavailable"] in texts(app)


def test_who_starts_many_classes_keeps_nobody_else_from_starting_one(
    classes: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "starts", Queue(1 / 300, 2))
    monkeypatch.setattr(desk, "address", lambda: "192.0.2.1")
    for _ in range(3):
        begun()
    app = begun()
    assert "class" not in app.query_params and catalogue("en")["class.full"] in texts(app)
    monkeypatch.setattr(desk, "address", lambda: "192.0.2.2")
    assert classes.room(code_of(begun()))


def test_from_another_page_of_a_presentation_there_is_a_way_back_for_her_alone(
    classes: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_key: dict[str, Any] = {}
    monkeypatch.setattr(
        View, "on_key", lambda page, key, act: (by_key.update({key: act}), page._keys.update({key: act}))
    )
    app = begun()
    for name in ("heads", "lesson", "answer"):
        turn_to(app, name).run()
        assert app.button(key="to_class").label == catalogue("en")["frame.to_class"] and "PageDown" in keys_of(app)
        assert by_key["PageDown"].args == ("class",)
    app.button(key="to_class").click().run()
    assert_fine(app)
    assert "class.next" in [button.key for button in app.button]
    member = open_page("heads", lang="en", big="true", **{"class": code_of(app)})
    assert "to_class" not in [button.key for button in member.button]


def test_the_class_goes_where_its_teacher_leads(classes: Store) -> None:
    app = begun()
    turn_to(app, "heads").run()
    assert room_of(app, classes).lead == ""  # not before she says so
    app.toggle(key="class.leads").set_value(True).run()
    assert room_of(app, classes).lead.startswith("heads?") and "class=" not in room_of(app, classes).lead
    led = room_of(app, classes).led
    app.selectbox(key="pick.layer").set_value(2).run()
    assert "layer=3" in room_of(app, classes).lead and room_of(app, classes).led > led
    member = open_page("attention", lang="zh", **{"class": code_of(app)})
    assert catalogue("zh")["class.led"] in texts(member)
    member.toggle(key="class.follows").set_value(False).run()
    assert catalogue("zh")["class.led"] not in texts(member)
    app.toggle(key="class.leads").set_value(False).run()
    assert room_of(app, classes).lead == ""


def test_links_with_made_up_codes_are_soon_looked_up_slowly_and_a_member_stays_where_he_is(
    classes: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _ = classes.create(desk.Plan().written())
    looked: list[str] = []
    real = classes.room
    monkeypatch.setattr(Store, "room", lambda _, code: looked.append(code) or real(code))
    member, said = open_page("attention", **{"class": code}), catalogue("en")["class.not_there"]
    assert said not in texts(member)
    began = time.monotonic()
    with ThreadPoolExecutor(30) as pool:
        links = [f"AAAA{a}{b}" for a in "BCDEFGHJKL" for b in "BCDEFGHJKLMNPQ"]
        wrong = list(pool.map(lambda made_up: _looked_up(classes, made_up), links))
    assert not any(wrong)
    assert len(looked) - 1 <= MOST_FAILURES + LOOKS * (time.monotonic() - began + follow.LONGEST_WAIT) < len(links)
    member.run()
    assert said not in texts(member)
    assert said not in texts(open_page("attention", **{"class": code})), "and who opens the right link is let in"


def _looked_up(classes: Store, code: str) -> bool:
    """Whether a visitor learns that there is such a class."""
    try:
        return follow._room(classes, code) is not None
    except (UnknownClassError, CrowdedError):
        return False
