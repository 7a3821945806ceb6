"""The class page of a teacher: each phase, double clicks, a second window, the end and the report."""

import json
import re
import time
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis import softmax
from pages.drawing.state.choice import Choice
from pages.drawing.text import catalogue
from pages.drawing.text.numbers import written
from pages.school.classroom import standing
from pages.school.classroom import store as kept
from pages.school.classroom.door import LOOKS, MOST_FAILURES, BusyError, Door, Queue
from pages.school.classroom.phases import Phase
from pages.school.classroom.questions import CHIPS
from pages.school.classroom.store import SURE, Ballot, Store, UnavailableError, UnknownClassError
from pages.school.lessons.goals import mark_of
from pages.school.lessons.lesson import ENCODER, LESSONS
from pages.school.lessons.written import OWN, lesson_from_code, lesson_to_code, own_lesson, place_of
from pages.school.questions import QUESTIONS
from pages.school.questions.case import short
from pages.school.questions.question import Own, Question
from pages.school.study.lesson import STUDY
from pages.school.teaching import desk, follow, report
from pages.school.teaching.pictures import answer_of
from pages.screen.frame import exports
from pages.screen.frame.pen import Pen
from pages.screen.runs import pipelines
from tests.pages.opening import (
    assert_fine,
    charts,
    for_teachers,
    line,
    numbers,
    open_page,
    part_of,
    protos,
    run_fine,
    texts,
    turn_to,
    write,
)
from tests.school.classroom.asked import EXAMPLES

SENTENCE = "we [MASK] to the park ."
WALK = "昨天晚上我和爸爸妈妈一起去电影院看电影，很开心。"


@pytest.fixture(autouse=True)
def classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A new store for each test, without the pause between two clicks."""
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
    """The projector page of a new class."""
    app = open_page("class", lang=lang, s=s, **link)
    return click(app, "start")


def click(app: AppTest, name: str) -> AppTest:
    run_fine(app.button(key=f"class.{name}").click())
    return app


def code_of(app: AppTest) -> str:
    return app.query_params["class"]


def key_of(app: AppTest) -> str:
    return app.session_state[desk.KEYS][code_of(app)]


def room_of(app: AppTest, classes: Store) -> kept.ClassState:
    room = classes.room(code_of(app))
    assert room is not None
    return room


def vote(app: AppTest, classes: Store, guesses: list, sure: int = 2) -> None:
    """Send each guess from its own phone."""
    room = room_of(app, classes)
    ballots = [Ballot(room.code, room.number, room.round, f"{i:032x}", guess, sure) for i, guess in enumerate(guesses)]
    assert {verdict.value for verdict in classes.vote_all(ballots)} == {"kept"}


def truth_of_class(app: AppTest, classes: Store) -> dict:
    """The correct answer of the current question."""
    return dict(asked_in(app, classes)[-1].truth)


def notes_of(app: AppTest, lang: str = "en") -> AppTest:
    """The teacher's notes in a second window of the same browser."""
    notes = open_page("class", lang=lang, role="notes", **{"class": code_of(app)})
    notes.session_state[desk.KEYS] = dict(app.session_state[desk.KEYS])
    return notes.run()


def jump(app: AppTest, classes: Store, key: str) -> AppTest:
    """Jump to this question of the lesson."""
    app.session_state["class.wanted"] = ENCODER.keys.index(key), room_of(app, classes).version
    return app.run()


def asked_in(app: AppTest, classes: Store) -> list[kept.Asked]:
    """The report, read with the teacher's key."""
    return classes.asked(code_of(app), key_of(app))


def table(app: AppTest) -> list[list[str]]:
    """Rows of the table of answers; [] if it is not shown."""
    found = "".join(part.proto.body for part in app.get("html") if 'class="said' in part.proto.body)
    rows = re.findall("<tr.*?>(.*?)</tr>", found)
    return [[re.sub("<.*?>", "", cell) for cell in re.findall("<t[hd].*?>(.*?)</t[hd]>", row)] for row in rows]


def said_to_browser(app: AppTest) -> str:
    """Everything sent to the browser for the main part of the page."""
    return texts(app).replace("\\", "") + json.dumps([chart["figure"] for chart in charts(app)], ensure_ascii=False)


def keys_of(app: AppTest) -> list[str]:
    """The active keyboard shortcuts."""
    return json.loads(part_of(app, "page_keys"))[0]


def test_one_question_from_the_lobby_to_the_next_one(classes: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a second vote. No step shows what a later one reveals; tips are only in the notes."""
    app, words = begun(), catalogue("en")
    notes = notes_of(app)
    assert app.query_params["big"] == "true" and " ".join(code_of(app)) in texts(app)
    trace = pipelines.run("text", app.session_state["choice"].subject)
    shares = softmax(trace["logits"][trace.tokens.index("[MASK]")].astype(np.float64))
    best = int(shares.argmax())
    first = f"{pipelines.pipeline('text').reader.vocabulary[best]} {short(float(shares[best]))}"
    for phase in (Phase.LOBBY, Phase.QUESTION):
        assert room_of(app, classes).phase is phase and "class.to_end" in [button.key for button in app.button]
        assert (words["lesson.word.ask"][:20] in said_to_browser(app)) == (phase is Phase.QUESTION)
        assert first in texts(notes.run()).replace("\\", "") and first not in said_to_browser(app)
        assert words["class.foretold_clear"] in texts(notes) and words["class.foretold_close"] not in texts(notes)
        click(app, "next")
    with monkeypatch.context() as patched:
        patched.setattr("pages.school.teaching.notes.CLEARLY", 1e9)
        assert words["class.foretold_close"] in texts(notes.run())
    answer, reason = (truth_of_class(app, classes)[name] for name in ("answer", "why"))
    click(app, "pause")
    assert room_of(app, classes).paused and words["class.look_up"] in texts(app)
    click(app, "pause")
    assert not room_of(app, classes).paused and room_of(app, classes).phase is Phase.OPEN
    vote(app, classes, [answer] * 5 + ["park"] * 6, SURE)
    assert not table(app.run()) and reason["en"] not in said_to_browser(app)
    click(app, "next")
    assert words["class.propose_discuss"] not in texts(app) and words["class.propose_discuss"] in texts(notes.run())
    assert not table(app), "free words wait"
    click(app, "words")
    sure = words["class.sure_and_wrong"].partition(":")[0]
    assert table(app) == [["park", "", "6 · 55%"], [answer, "", "5 · 45%"]], "what is right is not seen yet"
    assert sure not in texts(app) and sure in texts(notes)
    click(app, "to_discuss")
    assert words["class.talk"] in texts(app) and len(table(app)) == 2 and sure not in texts(app)
    click(app, "next")
    assert room_of(app, classes).round == 2
    vote(app, classes, [answer] * 11, SURE)
    click(app, "next")
    assert words["class.vote_2"] in texts(app)
    click(app, "next")
    assert room_of(app, classes).phase is Phase.REVEALED
    assert (
        table(app)[0] == [f"✓ {answer}", "", "5 · 45% → 11 · 100%"] and "100%" in texts(app) and len(charts(app)) == 1
    )
    assert f"{sure}: 6 of 11 · 55% → 0 of 11 · 0%." in report.as_html(asked_in(app, classes), "", "")
    assert reason["en"] in said_to_browser(click(app, "next"))
    for place, label in ((0, "ask_again"), (1, "ask_this")):
        for choose in (True, False):  # and the class is ended by mistake, and reopened
            box = next(box for box in notes.run().selectbox if str(box.key).startswith("class.another"))
            if choose:
                click(box.set_value(place).run(), "to_end")
                click(notes, "reopen")
            assert notes.button(key="class.ask_this").label == words[f"class.{label}"]
    click(app.run(), "next")
    room = room_of(app, classes)
    assert (room.phase, room.number, room.round) == (Phase.QUESTION, 2, 1)


def test_study_asks_all_twice_with_a_tour_between_and_no_answer_before_the_end(classes: Store) -> None:
    app, words = begun("zh", lesson="study"), catalogue("zh")
    notes, asked = notes_of(app, "zh"), []
    assert words["study.told"] in texts(app)
    click(app, "next")
    for turn in (1, 2):
        for _ in STUDY.questions:
            asked.append(asked_in(app, classes)[-1].shown["key"])
            click(app, "next")
            guesses = asked_in(app, classes)[-1].shown["options"]
            vote(app, classes, [guesses[0], guesses[0], guesses[1]])
            click(app, "next")
            assert room_of(app, classes).phase is Phase.CLOSED and not table(app) and "%" not in texts(notes.run())
            assert "truth" not in (classes.snapshot(code_of(app)) or {})
            last = len(asked) == turn * len(STUDY.questions)
            if not last:
                click(app, "next")
        if turn == 1:
            click(app, "next")
            assert room_of(app, classes).phase is Phase.LOBBY and words["study.between"] in texts(app)
            assert (classes.snapshot(code_of(app)) or {})["lead"].startswith("lesson")
            click(app, "next")
    assert asked == STUDY.keys * 2
    click(app, "next")
    assert room_of(app, classes).phase is Phase.ENDED
    assert words["study.csv"] in [button.label for button in app.get("download_button")]
    given, _ = classes.linked(code_of(app), key_of(app))
    assert len(given) == 3 * len(asked) and len({one.phone for one in given}) == 3


def test_of_a_class_that_is_no_study_answers_are_never_linked(classes: Store) -> None:
    app = begun()
    click(click(app, "next"), "next")
    vote(app, classes, ["park"] * 3)
    click(click(app, "next"), "to_end")
    code = code_of(app)
    assert room_of(app, classes).phase is Phase.ENDED
    assert classes.linked(code, app.session_state[desk.KEYS][code]) == ([], {})


def test_the_notes_count_from_the_first_question_and_expect_the_rest_to_go_as_fast(
    classes: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, now = begun(lesson="positions"), time.time()
    planned, said = [question.minutes for question in LESSONS["positions"].questions], []
    for question, minutes in ((0, 9), (1, 10), (1, 10 + planned[0] // 2), (1, 900)):
        while len(asked_in(app, classes)) < question or (
            question and room_of(app, classes).phase is not Phase.EXPLAINED
        ):
            click(app, "next")
        monkeypatch.setattr("pages.school.teaching.notes.time.time", lambda minutes=minutes: now + 60 * minutes)
        found = re.search(r"Time: \*\*(\d+) min.*?about (\d+) min", texts(notes_of(app)))
        said.append((int(found[1]), int(found[2])))
    rest = sum(planned[1:])
    assert said[0] == (0, sum(planned)), "the class comes in"
    assert said[1] == (10, min(2 * rest, round(10 / planned[0] * rest))) and said[3] == (900, 2 * rest)


def test_presentation_offers_the_teacher_homework_and_lessons(classes: Store) -> None:
    app = begun()
    run_fine(turn_to(app, "lesson"))
    kinds = {catalogue("en")[name] for name in ("lesson.make", "homework.title", "paper.title")}
    assert app.query_params["big"] == "true" and kinds <= {box.label for box in app.expander}
    member = open_page("lesson", lang="en", s=SENTENCE, big="true", **{"class": code_of(app)})
    assert not kinds & {box.label for box in member.expander}, "nor anybody else on a projector"


def test_free_words_can_still_be_shown_once_the_answer_is_and_the_button_says_which_question_is_next(
    classes: Store,
) -> None:
    app, words = begun(), catalogue("en")
    assert app.button(key="class.next").label == words["class.to_first"]
    click(click(app, "next"), "next")
    vote(app, classes, ["park", "go"])
    click(click(app, "next"), "next")
    assert room_of(app, classes).phase is Phase.REVEALED and not table(app)
    assert len(table(click(app, "words"))) == 2
    click(app, "next")
    assert app.button(key="class.next").label == words["class.to_question"]


def test_every_question_is_asked_and_told_no_key_ends_the_class_and_the_report_stays(classes: Store) -> None:
    """From the last to the first, with every kind of answer, on the projector and in the notes."""
    lang = "zh"
    app, words, last = begun(lang), catalogue(lang), len(ENCODER.keys) - 1
    notes = notes_of(app, lang)
    jump(app, classes, ENCODER.keys[last])
    for place in (last, *range(last)):
        shown = classes.snapshot(code_of(app))["question"]
        assert shown["key"] == ENCODER.keys[place] and "options" not in shown
        click(app, "next")
        truth, before = truth_of_class(app, classes), json.dumps(classes.snapshot(code_of(app)), ensure_ascii=False)
        assert all(reason not in before for reason in truth["why"].values())
        vote(app, classes, guesses(classes.snapshot(code_of(app))["question"], truth), SURE)
        for _ in range(3):
            assert "PageDown" in keys_of(app)
            click(app, "next")
            run_fine(notes)
            assert not re.search(r"(?<!%)\{\w+\}", said_to_browser(app))  # each place in a text is filled
            assert words["class.say"] in texts(notes)
        assert room_of(app, classes).phase is Phase.EXPLAINED and truth["why"][lang] in said_to_browser(app)
        if place != last - 1:
            click(app, "next")
    assert "PageDown" not in keys_of(app), "the end comes by its button alone"
    left = words["class.minutes_last"].partition("}")[2].strip("* ")
    assert left in texts(notes)
    click(app, "next")
    assert "CSV" in [button.label for button in app.get("download_button")]
    assert room_of(app, classes).phase is Phase.ENDED and handed_out(app) and left not in texts(notes.run())
    page = report.as_html(asked_in(app, classes), "about", "http://school/lesson?s=a+b&lang=en")
    assert page.count("http://school/lesson?s=a+b&amp;lang=en") == 2, "where it leads, and to be read and copied"
    assert not re.search(r"\{\w+\}", re.sub("<style>.*?</style>", "", page, flags=re.S))
    assert "<b>x</b>" not in page and "&lt;b&gt;x&lt;/b&gt;" in page and "0" * 31 not in page, "totals only, no markup"
    click(notes, "reopen")  # it was a mistake
    assert left in texts(notes) and truth["why"][lang] in said_to_browser(app.run())
    assert [button.label for button in notes.button].count(words["class.to_ended"]) == 1, "after the last question, too"
    click(notes, "next")
    code = code_of(app)
    click(notes, "delete")
    assert classes.room(code) is None and "class" not in notes.query_params
    assert "class.start" in [button.key for button in notes.button]
    assert words["class.not_there"] in texts(app.run())
    assert not [button for button in app.button if str(button.key).startswith("class.back")], "which led nowhere"
    click(app, "leave")


def guesses(shown: dict, truth: dict) -> list:
    """Five guesses, one of them correct."""
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


def test_chips_are_counted_beside_the_row_of_the_head_that_was_asked_about(classes: Store) -> None:
    """Of many tokens the strongest can be given chips; the last bar is for the rest."""
    sentence = "the animal [MASK] not cross the street because it was too tired ."
    app = click(jump(begun(s=sentence), classes, "weights"), "next")
    shown, weights = classes.snapshot(code_of(app))["question"], truth_of_class(app, classes)["answer"]
    names = shown["names"]["en"]
    assert len(names) == len(weights) == 12 and shown["names"]["zh"][-1] == catalogue("zh")["class.others"]
    assert sum(weights) == pytest.approx(100, abs=1) and weights[-1] < max(weights)
    assert len({*names}) == len(names) and {"animal", "street", "tired"} <= {*names}, "as a class would guess"
    best, few = int(np.argmax(weights)), len(weights)
    vote(app, classes, [[CHIPS * (i == best) for i in range(few)]] * 3 + [[CHIPS, *[0] * (few - 1)]] * 3)
    assert "✓" not in said_to_browser(click(app, "next"))
    rows = table(click(app, "next"))
    assert [row[0].removeprefix("✓ ") for row in rows] == names and rows[best][0].startswith("✓")
    told = [row[2].partition(" | ") for row in rows]
    assert [weight for *_, weight in told] == [written(short(weight / 100)) for weight in weights], "as on phones"
    assert {told[place][0] for place in (0, best)} == {"0.50"}
    said = report.as_html(asked_in(app, classes), "about", "")
    assert f"answer: “{names[best]}” ({told[best][2]})" in unescape(said)
    app = click(jump(begun(s=sentence), classes, "weights"), "next")
    click(click(app, "next"), "give_hint")  # where nobody has answered, too
    assert {catalogue("en")[f"class.{name}"] in texts(app) for name in ("nobody", "a_hint")} == {True}
    rows = table(click(app, "next"))  # the same chart
    assert catalogue("en")["class.nobody"] in texts(app) and not charts(app)
    assert [row[0].removeprefix("✓ ") for row in rows] == names
    assert [row[2] for row in rows] == [weight for *_, weight in told]


def test_of_many_answers_the_projector_shows_the_most_frequent_and_the_report_all(classes: Store) -> None:
    sentence = "the old man who lived near the river [MASK] his dog to the park ."
    app = click(click(begun(s=sentence, lesson="heads"), "next"), "next")
    options, right = classes.snapshot(code_of(app))["question"]["options"], truth_of_class(app, classes)["answer"]
    assert len(options) == 17
    often = [one for one in options if one != right][-5:]
    vote(app, classes, [*options, *often])
    rows = table(click(app, "next"))
    assert len(rows) == 12 and rows[-1][0] == catalogue("en")["class.others"] and {*often} < {row[0] for row in rows}
    assert sum(int(row[2].split(" ")[0]) for row in rows) == 17 + len(often)
    rows = table(click(app, "next"))
    names = [row[0].removeprefix("✓ ") for row in rows]
    assert len(rows) == 12 and right in names
    assert bars_of_network(app)[0][:-1] == names[:-1], "and the network's numbers are of the same"
    html = report.as_html(asked_in(app, classes), "about", "")
    assert all(f">{one}<" in html or f">✓ {one}<" in html for one in options)


def bars_of_network(app: AppTest) -> tuple[list[str], list[float]]:
    """Labels and lengths of the bars."""
    figure = charts(app)[0]["figure"]
    lengths = figure["data"][0]["x"]
    return figure["layout"]["yaxis"]["ticktext"], [*np.frombuffer(b64decode(lengths["bdata"]), lengths["dtype"])]


def test_bars_of_a_class_are_as_long_as_its_shares(classes: Store) -> None:
    app = click(jump(begun(), classes, "places"), "next")
    vote(app, classes, ["same", "different", "different", "different"])
    click(click(app, "next"), "next")
    html = " ".join(part.proto.body for part in app.get("html"))
    assert re.findall(r"width:([\d.]+)%", html) == ["25.0", "75.0"]


def test_options_are_read_with_the_question_and_a_countdown_is_that_of_one_vote(classes: Store) -> None:
    app, words = jump(begun(), classes, "places"), catalogue("en")
    assert words["lesson.same"] in texts(app) and words["lesson.different"] in texts(app)
    assert not [key for key in keys_of(app) if "Arrow" in key], "there is no layer and no head to turn here"
    counting = lambda: 'class="countdown"' in " ".join(part.proto.body for part in app.get("html"))  # noqa: E731
    click(click(app, "next"), "countdown")
    assert counting() and 58 <= classes.snapshot(code_of(app))["left"] <= 60
    vote(app, classes, ["same", "different"])
    click(click(app, "next"), "to_discuss")
    assert words["class.talk"] in texts(app) and len(table(app)) == 2 and "✓" not in said_to_browser(app)
    click(app, "next")
    assert not counting()


def test_of_a_double_click_and_of_two_windows_the_second_act_does_nothing(
    classes: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = click(begun("zh", s="我们[MASK]公园玩吧"), "next")
    code, other = code_of(one), open_page("class", lang="en", **{"class": code_of(one)})
    assert "class.next" not in [button.key for button in other.button], "the code alone opens nothing"
    pass_ = f"{code}-{one.session_state[desk.KEYS][code]}"
    other = open_page("class", lang="en")  # another device also has her key
    other.text_input(key="class.pass").set_value(f"{code}-no").run()
    click(other, "come_back")
    assert catalogue("en")["class.no_such_key"] in texts(other)
    other.text_input(key="class.pass").set_value(pass_).run()
    click(other, "come_back")
    click(one, "next")
    click(other, "next")  # as it stood in that window the vote was not open yet
    assert code_of(other) == code and room_of(one, classes).phase is Phase.OPEN
    assert "公 园" in classes.snapshot(code)["question"]["reads"], "the class's own sentence, not that of this browser"
    assert not any(pass_.partition("-")[2] in value for app in (one, other) for value in app.query_params.values())
    click(other, "next")
    assert room_of(one, classes).phase is Phase.CLOSED
    click(one.run(), "next")
    monkeypatch.setattr(desk, "HURRY", 60.0)
    click(one, "next")
    assert room_of(one, classes).phase is Phase.REVEALED, "that was the second half of a double click"
    click(one, "to_end")  # which was asked for once more
    click(one, "reopen")  # and taken back at once
    assert room_of(one, classes).phase is Phase.REVEALED


def own_lesson_link(**values: Any) -> str:
    """Link to a lesson with one question in the teacher's own words."""
    own = Own("Which one?", "Because.", ("one", "two"), **values)
    return lesson_to_code(own_lesson([Question(OWN, None, "tap", 0, 2, own=own, place="attention?layer=3")]))


def test_a_question_without_a_marked_answer_is_left_out_for_that_reason_and_alone_begins_no_class() -> None:
    app = open_page("class", lang="en", s=SENTENCE, lesson=own_lesson_link())
    words = catalogue("en")
    for one in (app, for_teachers("maker", lang="en", s=SENTENCE, lesson=own_lesson_link())):
        assert words["class.no_answer_marked"].partition("{")[0] in texts(one)
    assert words["lesson.left_out"].partition("{")[0] not in texts(app) and words["lesson.end_none"] not in texts(app)
    assert "class.start" not in [button.key for button in app.button]


def test_a_question_made_while_a_class_runs_is_asked_behind_the_others_and_votes_keep_theirs(classes: Store) -> None:
    app = begun(lesson=own_lesson_link(answer="two"))

    def asked(votes: list[str]) -> None:
        click(click(app, "next"), "next")
        vote(app, classes, votes)
        for _ in ("closed", "revealed", "explained"):
            click(app, "next")

    asked(["one", "two", "two"])
    assert "class.add" not in [button.key for button in app.button]
    held = list(lesson_from_code(own_lesson_link(answer="two")).questions)
    new = replace(held[0], own=Own("And which now?", "Because.", ("one", "two"), answer="one"))
    unmarked = replace(held[0], own=Own("Without an answer?", "", ("one", "two")))
    unclear = QUESTIONS["digit"]  # here is a sentence
    for more, label in (([unmarked, unclear], ""), ([unmarked, unclear, new], "(1)")):
        app.session_state["at"] |= {"lesson": lesson_to_code(own_lesson([*more, *held]))}
        run_fine(app)
        assert [button.label[-3:] for button in app.button if button.key == "class.add"] == [label] * bool(label)
        assert f"{catalogue('en')['class.no_answer_marked'].partition('{')[0]}“Without" in texts(app)
    click(app, "add")
    assert "class.add" not in [button.key for button in app.button]
    asked(["one"])
    first, second = asked_in(app, classes)
    assert [one.place for one in (first, second)] == [0, 1]
    assert [vote.guess for vote in first.votes[1]] == ["one", "two", "two"] and len(second.votes[1]) == 1
    page = report.as_html([first, second], "about", "")
    assert page.index("Which one?") < page.index("And which now?")


def of_hers(sentence: str, *, hidden: tuple[int, ...] | None = None, **values: Any) -> Question:
    """A question in a teacher's own words about a sentence."""
    wrote = Choice(sentence=sentence, hidden=hidden, layer=2, head=3)
    own = Own("Which?", options=("one", "two"), **values)
    return Question(OWN, None, "tap", 0.0, 3, place=place_of("attention", wrote, of_input=True), own=own)


@pytest.mark.parametrize(
    "lesson",
    [
        *(name for name, one in LESSONS.items() if one.input != "digit"),
        [of_hers("老师讲故事。", answer="two")],
        [of_hers("老师讲故事。", hidden=(1, 2), answer="two"), QUESTIONS["word"]],
        [QUESTIONS["weights"], of_hers("老师讲故事。", answer="two")],
        [of_hers("老师讲故事。"), of_hers("我爱你。", answer="two")],
        [QUESTIONS["source"], QUESTIONS["weights"]],
        [QUESTIONS["digit"], of_hers("老师讲故事。", answer="two")],  # the first is not asked of a sentence
    ],
)
def test_before_a_class_it_says_what_the_first_question_reads(lesson: str | list[Question], classes: Store) -> None:
    code = lesson if isinstance(lesson, str) else lesson_to_code(own_lesson(lesson))
    app = open_page("class", lang="zh", s="老师昨天给我们讲了一个有趣的故事。", lesson=code)
    said, on_top = texts(app).replace("\\", ""), " ".join(word["text"] for word in line(app)["words"])
    click(click(app, "start"), "next")
    reads = classes.snapshot(code_of(app))["question"]["reads"]
    assert f"{catalogue('zh')['lesson.reads']}] **{reads}**" in said
    assert on_top == reads


def test_a_teachers_own_answer_is_not_called_what_the_network_does(classes: Store) -> None:
    app, words = begun(lesson=own_lesson_link(answer="two")), catalogue("en")
    click(app, "next")
    shown = [charts(app)]
    click(app, "next")
    assert "truth" not in classes.snapshot(code_of(app))
    vote(app, classes, ["one", "two", "two"])
    shown.append(charts(app))
    for act in ("next", "to_discuss"):
        shown.append(charts(click(app, act)))
    click(click(app, "next"), "next")
    for _ in range(2):
        shown.append(charts(click(app, "next")))
        for name in ("network_does", "phase_revealed", "the_answer"):
            assert words[f"class.{name}"].partition("{")[0] not in texts(app)
        assert app.button(key="class.next").label != words["class.to_revealed"]
    said = words["class.the_teachers_answer"].format(answer="“two”")
    assert texts(app).count(said) == 1 and classes.snapshot(code_of(app))["truth"]["own"] is True
    assert len(shown) == 6 and all(len(one) == 1 for one in shown), "the picture of its page, from the question on"
    covered = [np.isnan(numbers(one[0]["figure"]["data"][0]["z"])).any() for one in shown]
    assert covered == [True] * 4 + [False] * 2, "what is asked, until the answer is shown"
    names = [one[0]["figure"]["layout"]["yaxis"]["ticktext"] for one in shown]
    assert all(one == ["[CLS]", *SENTENCE.split(), "[SEP]"] for one in names)
    page = report.as_html(asked_in(app, classes), "about", "")
    assert words["class.the_answer"].partition("{")[0] not in page
    assert f"<b>{said}</b><br>Because.</p>" in page, "a line of its own"


@pytest.mark.parametrize(("why", "place"), [("", ""), ("", None), ("Because.", None)])
def test_where_nothing_explains_her_answer_the_next_question_follows_it(
    why: str, place: str | None, classes: Store
) -> None:
    """Also beside no picture, where a question added since, or another sentence, can be taken."""
    hers = of_hers(SENTENCE, answer="two", why=why)
    every = [replace(hers, place=hers.place if place is None else place)] * 2
    app, words = begun(lesson=lesson_to_code(own_lesson(every))), catalogue("en")
    for number, follows in ((1, "question"), (2, "ended")):
        for _ in range(4):
            click(app, "next")
        assert room_of(app, classes).phase is Phase.REVEALED
        if why:
            assert app.button(key="class.next").label == words["class.to_explained"]
            assert "class.see" not in [button.key for button in app.button]
            click(app, "next")
            assert room_of(app, classes).phase is Phase.EXPLAINED
        assert app.button(key="class.next").label == words[f"class.to_{follows}"]
        assert "class.see" in [button.key for button in app.button]
        assert ("PageDown" in keys_of(app)) == (follows == "question")
        assert room_of(app, classes).number == number
        app.session_state["s"] = "we like tea ."
        assert ("class.replan" in [button.key for button in app.run().button]) == (follows == "question")
        app.session_state["s"] = SENTENCE
        app.run()
    click(app, "next")
    assert room_of(app, classes).phase is Phase.ENDED


@pytest.mark.parametrize("gesture", EXAMPLES)
def test_a_class_is_handed_over_as_a_table_of_totals_in_which_no_word_is_a_formula(gesture: str) -> None:
    example = EXAMPLES[gesture]
    given = [*example.right, *example.wrong, *["=1+1"] * (gesture == "word")]
    votes = {number: [kept.Vote(guess, SURE) for guess in given[:number]] for number in (1, len(given))}
    asked = kept.Asked(3, 0, example.shown, example.truth, votes)
    table = report.as_rows([asked])
    shares = table.groupby("vote")["share"].sum()
    assert {*table.index} == {3} and shares.tolist() == pytest.approx([1, 1], abs=1e-3)
    if gesture != "chips":
        assert table.groupby("vote")["count"].sum().to_dict() == {number: number for number in votes}
    assert {*table["answer shown"]} == {answer_of(example.shown, example.truth)}
    file = exports.csv(table, "about").decode("utf-8-sig")
    assert ("'=1+1" in file) == (gesture == "word") and not re.search(r"(^|[,\"])[=+@-]", file, re.M)


def handed_out(app: AppTest) -> dict[str, Any]:
    """Content of the file that the report's button saves."""
    (part,) = protos(app, "handout")
    (sheet,) = json.loads(part.json)
    return sheet


@pytest.mark.parametrize(("token", "row"), [(1, "i"), (None, "[MASK] (2)")])
def test_a_teachers_own_question_is_asked_of_the_run_that_it_was_written_on(
    token: int | None, row: str, classes: Store
) -> None:
    """She wrote it on a sentence with two hidden words, at a row or at none; the class looks at another one."""
    own = Own("Which?", options=("one", "two"), answer="two")
    wrote = Choice(sentence="i love you and me .", hidden=(2, 4), layer=2, head=3, token=token)
    place = place_of("attention", wrote, of_input=True)
    lesson = lesson_to_code(own_lesson([Question(OWN, None, "tap", 0.0, 3, place=place, own=own)]))
    app = click(click(begun(lesson=lesson, token="1"), "next"), "next")
    reads = "i [MASK] you [MASK] me ."
    shown = asked_in(app, classes)[-1].shown
    assert shown["reads"] == reads and reads in texts(app).replace("\\", "")
    about = {
        lang: f"{catalogue(lang)['tour.weights']} · {catalogue(lang)['lesson.maker.row'].format(token=row)} · {at}"
        for lang, at in (("en", "layer 3, head 4"), ("zh", "第 3 层第 4 头"))
    }
    assert shown["about"] == about and about["en"] in texts(app).replace("\\", "")
    assert about["en"] in report.as_html(asked_in(app, classes), "", "")
    vote(app, classes, ["two"])
    click(click(app, "next"), "next")
    (shown,) = charts(app)
    names = [name.partition(" (")[0] for name in shown["figure"]["layout"]["yaxis"]["ticktext"]]
    assert names == ["[CLS]", *reads.split(), "[SEP]"]
    see = dict(parse_qsl(truth_of_class(app, classes)["see"].partition("?")[2]))
    assert see["hidden"] and see.get("token") == (None if token is None else str(token + 1))
    record = handed_out(notes_of(app).run())
    ((key, printed),) = record["pictures"].items()
    assert f'src="picture:{key}"' in record["html"]
    layout = json.loads(printed)["layout"]
    assert layout["yaxis"]["ticktext"] == shown["figure"]["layout"]["yaxis"]["ticktext"]
    tall = 16 * float(re.findall(r"max\((\d+)rem", report.STYLE)[0])  # pixels
    assert layout["font"]["size"] * tall / layout["height"] >= 12, "printed in 9 points"
    click(app, "see")
    choice = app.session_state["choice"]
    assert (choice.sentence, choice.hidden, choice.layer, choice.head) == (wrote.sentence, (2, 4), 2, 3)
    assert choice.token == token


@pytest.mark.parametrize(
    "sentence", ["今天天气很好，我们[MASK]公园玩吧。", "我们昨天一起去看了一场[MASK]影，大家都很高兴。", WALK]
)
def test_on_paper_all_names_are_read(sentence: str, classes: Store) -> None:
    app = click(begun("zh", sentence, lesson=own_lesson_link(answer="two")), "next")
    record = handed_out(notes_of(app, "zh").run())
    (printed,) = record["pictures"].values()
    layout = json.loads(printed)["layout"]
    names, size, width = layout["yaxis"]["ticktext"], layout["xaxis"]["tickfont"]["size"], layout.get("width", 560)
    top, below = (layout["margin"][side] for side in "tb")
    assert 1.15 * size <= (layout["height"] - top - below) / len(names), "no row touches another"
    (least,) = re.findall(r"--least: (\d+)px\"", record["html"])
    tall = max(
        16 * float(re.findall(r"max\((\d+)rem", report.STYLE)[0]), float(least)
    )  # pixels, of one with many answers
    height = layout["height"] + 2 * size  # at most: a browser slants names that have no room upright
    assert 0.75 * size * min(1, 688 / width, tall / height) >= 7, "points"


def test_a_question_on_a_translation_says_the_sentence_that_the_translator_reads(classes: Store) -> None:
    """Not the sentence with the mask that the other pages read."""
    app = open_page("class", lang="zh", s="今天天气很好，我们去公园玩吧。", hidden="2", lesson="encoder_decoder")
    assert "[MASK] 天 天" in texts(app).replace("\\", "")
    click(app, "start")
    app.session_state["class.wanted"] = LESSONS["encoder_decoder"].keys.index("source"), room_of(app, classes).version
    app.run()
    reads = classes.snapshot(code_of(app))["question"]["reads"]
    assert reads.startswith("今 天 天") and reads in texts(app)


def test_an_ended_class_lets_nobody_in_and_its_report_leads_to_its_own_lesson(
    classes: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    links: list[str] = []
    monkeypatch.setattr(report, "as_html", lambda asked, about, there, pictures: links.append(there) or "")
    app, words = jump(begun(), classes, "places"), catalogue("en")
    member = open_page("class", lang="en", **{"class": code_of(app)})
    assert words["class.to_join"] not in [link.label for link in member.get("link_button")], "it may yet be hers"
    member.session_state[desk.KEYS] = {}
    member.run()
    assert words["class.to_join"] in [link.label for link in member.get("link_button")]
    assert "/join" in texts(app).replace("\\", "")
    key = key_of(app)
    classes.advance(code_of(app), key, room_of(app, classes).version, Phase.ENDED)
    assert "/join" not in texts(app.run()).replace("\\", "") and "lesson=encoder" in links[-1]
    assert f"**{words['class.phase_ended']}**" in [part.value for part in app.markdown], "which is no question's"
    classes.end(code_of(app), key)
    assert words["class.not_there"] in texts(member.run()) and not member.get("link_button")


def test_a_store_that_does_not_answer_is_a_sentence(classes: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    app = begun()

    def gone(*_: object, **__: object) -> None:
        raise UnavailableError("locked")

    monkeypatch.setattr(Store, "advance", gone)
    click(app, "next")
    click(app, "next")
    assert catalogue("en")["class.unavailable"] in texts(app)
    monkeypatch.setattr(Store, "of_teacher", gone)
    run_fine(app)
    assert catalogue("en")["class.unavailable"] in texts(app)


def test_starting_many_classes_does_not_block_others(classes: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "starts", Queue(1 / 300, 2))
    monkeypatch.setattr(desk, "address", lambda: "192.0.2.1")
    for _ in range(3):
        begun()
    app = begun()
    assert "class" not in app.query_params and catalogue("en")["class.full"] in texts(app)
    monkeypatch.setattr(desk, "address", lambda: "192.0.2.2")
    assert classes.room(code_of(begun()))


def test_the_class_goes_where_its_teacher_leads_and_she_alone_has_a_way_back(
    classes: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_key: dict[str, Any] = {}
    monkeypatch.setattr(Pen, "on_key", lambda pen, key, act: (by_key.update({key: act}), pen.keys.update({key: act})))
    app = begun()
    turn_to(app, "heads").run()
    assert app.button(key="to_class").label == catalogue("en")["class.to_class"]
    ways = {key: by_key[key].args[0] for key in ("PageDown", "PageUp", "b") if key in keys_of(app)}
    assert ways == {"PageUp": "attention", "PageDown": "add_and_norm", "b": "class"}, "pages are turned as ever"
    app.toggle(key="big").set_value(False).run()
    assert "b" in keys_of(app) and "PageUp" not in keys_of(app), "without a presentation, too, she comes back"
    app.toggle(key="big").set_value(True).run()
    assert room_of(app, classes).lead == "", "not before she says so"
    assert app.button(key="lead").help
    app.button(key="lead").click().run()
    assert not app.button(key="lead").help, "it would lie over the line of each page that she turns to"
    assert room_of(app, classes).lead.startswith("heads?") and "class=" not in room_of(app, classes).lead
    led = room_of(app, classes).led
    app.selectbox(key="pick.layer").set_value(2).run()
    assert "layer=3" in room_of(app, classes).lead and room_of(app, classes).led > led
    member = open_page("attention", lang="zh", big="true", **{"class": code_of(app)})
    assert catalogue("zh")["class.led"] in texts(member)
    assert catalogue("zh")["class.led"] not in [said.value for said in member.sidebar.caption], "there nobody looks"
    assert "to_class" not in [button.key for button in member.button]
    assert catalogue("zh")["class.asks_now"] not in texts(member), "nothing is asked"
    key, version = key_of(app), room_of(app, classes).version
    classes.ask(code_of(app), key, version, 0, *EXAMPLES["tap"][:2])
    assert catalogue("zh")["class.asks_now"] in texts(member.run())
    assert room_of(app, classes).lead == "", "phones no longer offer what she showed before the question"
    classes.advance(code_of(app), key, room_of(app, classes).version, Phase.ENDED)
    assert catalogue("zh")["class.not_there"] in texts(member.run())
    assert "class.follows" not in [toggle.key for toggle in member.toggle], "nobody leads any more"
    classes.advance(code_of(app), key, room_of(app, classes).version, Phase.QUESTION)
    member.run().toggle(key="class.follows").set_value(False).run()
    assert catalogue("zh")["class.led"] not in texts(member) and catalogue("zh")["class.asks_now"] not in texts(member)
    assert [part.proto.component_name for part in member.get("bidi_component")].count("live") == 1, "it is still there"
    turn_to(app, "lesson").run()
    assert room_of(app, classes).lead == "", "the tour tells answers"
    turn_to(app, "heads").run()
    assert room_of(app, classes).lead.startswith("heads?")
    app.button(key="lead").click().run()
    assert room_of(app, classes).lead == ""
    run_fine(app.button(key="to_class").click())
    assert "class.next" in [button.key for button in app.button]


def test_a_window_that_its_teacher_opens_anew_leads_as_the_one_before_did_and_leads_nobody_from_tour_or_homework(
    classes: Store,
) -> None:
    code, key = classes.create(desk.plan_of(Choice()))

    def led_after_opening(page: str) -> str:
        app = open_page(page, **{"class": code})
        app.session_state[desk.KEYS] = {code: key}
        run_fine(app)
        return (classes.room(code) or pytest.fail()).lead

    assert led_after_opening("layers") == "", "not before she says so"
    classes.lead(code, key, "heads?layer=2")
    assert led_after_opening("layers").startswith("layers?")
    classes.lead(code, key, "lesson?lang=en")
    assert led_after_opening("layers") == "lesson?lang=en"
    classes.lead(code, key, "what_if?goal=oneway.90.5")
    for phase in (Phase.QUESTION, Phase.ENDED):
        classes.advance(code, key, (classes.room(code) or pytest.fail()).version, phase)
    assert led_after_opening("layers") == "what_if?goal=oneway.90.5"


def test_class_pages_do_not_reveal_a_hidden_word_before_it_was_asked(classes: Store) -> None:
    app = open_page("class", lang="en")
    click(app, "start")
    member = open_page("attention", lang="en", **{"class": code_of(app)})

    def words() -> set[str]:
        return {word["text"] for page in (app, member) for word in line(page)["words"]}

    for phase in (Phase.LOBBY, Phase.QUESTION, Phase.OPEN, Phase.CLOSED, Phase.REVEALED):
        assert room_of(app, classes).phase is phase
        turn_to(app, "attention").run()
        assert ("did" in words()) == (phase is Phase.REVEALED) and "animal" in words()
        turn_to(app, "class").run()
        click(app, "next")
        member.run()
    assert "did" in {word["text"] for word in line(open_page("attention", lang="en"))["words"]}


@pytest.mark.parametrize("goal", ["oneway.90.5", "first"])
def test_task_stands_on_no_phone_and_no_projector_before_the_class_has_ended(classes: Store, goal: str) -> None:
    def has_task(page: AppTest) -> bool:
        return "icon.leave_task" in [button.key for button in page.button]

    if goal == "first":  # about the sentence that a class begins with
        read = pipelines.run("text", SENTENCE)
        goal = f"first.3.{mark_of('text', read.ids)}.park"
    app = begun(goal=goal, lesson="heads")
    code, key = code_of(app), key_of(app)
    member = open_page("heads", lang="en", goal=goal, **{"class": code})  # she has sent its link before
    turn_to(app, "attention").run().button(key="lead").click().run()
    for phase in (Phase.LOBBY, Phase.QUESTION, Phase.OPEN, Phase.CLOSED, Phase.REVEALED):
        assert room_of(app, classes).phase is phase
        for page in ("attention", "what_if"):
            assert not has_task(turn_to(app, page).run()), (phase, page)
            led, _, values = room_of(app, classes).lead.partition("?")
            assert led == page and not {"goal", "lesson"} & dict(parse_qsl(values)).keys(), phase
        assert not has_task(member.run()), phase
        click(turn_to(app, "class").run(), "next")
    classes.advance(code, key, room_of(app, classes).version, Phase.ENDED)
    assert has_task(member.run())
    assert_fine(turn_to(app, "class").run())
    assert f"goal={goal}" in classes.snapshot(code)["lead"]
    turn_to(app, "heads").run()
    assert f"goal={goal}" in classes.snapshot(code)["lead"], "wherever she then goes"


def test_own_task_stays_when_led_to_a_view_without_one(classes: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    code, key = classes.create(desk.plan_of(Choice()))
    chosen: dict[str, Any] = {}
    monkeypatch.setattr(follow.st, "session_state", {"choice": Choice(of_class=code)})
    monkeypatch.setattr(follow, "select", chosen.update)
    classes.lead(code, key, "attention?goal=oneway.90.5")
    follow._go_there()
    assert chosen.pop("goal").name == "oneway" and chosen.pop("layer") == 0
    chosen.clear()
    classes.lead(code, key, "heads?layer=2")
    follow._go_there()
    assert "goal" not in chosen and chosen["layer"] == 1


def test_a_class_goes_on_with_another_input_where_a_question_follows_and_what_is_revealed_keeps_its_picture(
    classes: Store,
) -> None:
    lesson, other = own_lesson([QUESTIONS[name] for name in ("word", "bare", "source")]), "my dog [MASK] a bone ."
    app = begun(lesson=lesson_to_code(lesson))

    def is_kept() -> None:
        run_fine(app)
        thought = catalogue("en")[f"lesson.{name}.otherwise"].partition("{")[0]
        assert len(charts(app)) == 1 and "class.see" in [one.key for one in app.button] and thought in texts(app)

    def offered() -> bool:
        return "class.replan" in [button.key for button in app.button]

    for number, name in enumerate(lesson.keys, 1):
        for _ in ("question", "open", "closed", "revealed", "explained") if number == 1 else range(4):
            click(app, "next")
        assert asked_in(app, classes)[-1].shown["key"] == name and not offered()
        if number == 2:  # what is left cannot be asked about a drawing
            app.session_state["input"] = "digit"
            is_kept()
            click(app, "replan")
            assert catalogue("en")["class.none_follows"] in [one.value for one in app.warning]
            is_kept()
            app.session_state["input"] = "sentence"
        write(app, other)
        is_kept()
        assert offered() == (number < len(lesson.questions)), name
        if number < len(lesson.questions):
            click(app, "replan")
            assert (room_of(app, classes).phase, room_of(app, classes).number) == (Phase.QUESTION, number + 1)
            other = SENTENCE


def test_a_task_keeps_its_hidden_word_in_class_and_the_end_offers_it(classes: Store) -> None:
    app = for_teachers("homework", lang="en", s="the dog chased the cat .")
    run_fine(app.selectbox(key="homework.kind").set_value("first"))
    task, hidden, lost = app.query_params["goal"], app.query_params["hidden"], catalogue("en")["goal.far.no_guess"]
    turn_to(app, "class").run()
    click(app, "start")
    code, key = code_of(app), key_of(app)
    turn_to(app, "heads").run()
    app.button(key="lead").click().run()
    led = dict(parse_qsl(room_of(app, classes).lead.partition("?")[2]))
    assert led["hidden"] == hidden and lost not in texts(app)
    write(app, "the weather is nice today .")  # what the class looks at in between
    turn_to(app, "class").run()
    classes.advance(code, key, room_of(app, classes).version, Phase.ENDED)
    run_fine(app)
    page, _, query = classes.snapshot(code)["lead"].partition("?")
    led = dict(parse_qsl(query))
    assert (page, led["goal"], led["hidden"]) == ("what_if", task, hidden) and lost not in texts(app)
    assert led["s"] == "the dog chased the cat ."
    classes.lead(code, key, "")
    again = open_page("class", lang="en", goal=task, s="a cat sat .", **{"class": code})  # the projector, opened anew
    again.session_state[desk.KEYS] = {code: key}
    run_fine(again)
    assert dict(parse_qsl(classes.snapshot(code)["lead"].partition("?")[2]))["s"] == "the dog chased the cat ."


def test_a_task_whose_sentence_is_not_known_any_more_is_given_to_nobody(classes: Store) -> None:
    code, key = classes.create(desk.plan_of(Choice()))
    app = open_page("class", lang="en", goal="first.3.abcdef.park", **{"class": code})
    app.session_state[desk.KEYS] = {code: key}
    classes.advance(code, key, room_of(app, classes).version, Phase.ENDED)
    run_fine(app)
    assert catalogue("en")["homework.about_another"] in [one.value for one in app.warning]
    assert "lead" not in classes.snapshot(code)


def test_from_a_presentation_one_comes_to_where_a_lesson_is_made(classes: Store) -> None:
    app = open_page("class", lang="en", big="true")
    app.button(key="class.make").click().run()
    app = run_fine(turn_to(app, "lesson"))
    assert "big" not in app.query_params and app.session_state["lesson.teachers"] and app.session_state["lesson.maker"]
    assert catalogue("en")["lesson.make"] in [box.label for box in app.expander]


def test_invented_class_codes_are_rate_limited_and_members_are_not(
    classes: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _ = classes.create(desk.plan_of(Choice()))
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
    time.sleep(max(0, began + len(links) / LOOKS - time.monotonic()))  # until all of them have had their turn
    assert said not in texts(open_page("attention", **{"class": code})), "and who opens the right link is let in"


def _looked_up(classes: Store, code: str) -> bool:
    """Whether a visitor is told that this class exists."""
    try:
        return follow.room_of(classes, code) is not None
    except (UnknownClassError, BusyError):
        return False
