"""Homework: each page says the task and the progress; the teacher's table computes each student's link itself."""

import json
import re
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Edit
from model.analysis import softmax
from model.deadline import OverdueError
from model.edits import head_off
from model.examples import READY
from pages.drawing.masks import with_words_hidden
from pages.drawing.screen import open_screen
from pages.drawing.state import sketch
from pages.drawing.state.choice import Choice
from pages.drawing.state.first_sight import first_picture
from pages.drawing.state.goal import Goal, goal_code, goal_from_code
from pages.drawing.state.link_values import EDITS
from pages.drawing.text import catalogue
from pages.drawing.text.numbers import three
from pages.school.lessons.goals import TASKS, Standing, mark_of
from pages.school.lessons.task import judged
from pages.school.teaching import homework
from pages.school.teaching.homework import MOST_LINKS, MOST_ROWS, MOST_WORTH, handed_in
from pages.screen.runs import pipelines
from pages.server import in_flight
from pages.server.in_flight import CrowdedError
from tests.pages.opening import assert_fine, for_teachers, open_page, run_fine, texts, write

SENTENCE, DOG = "我们[MASK]公园玩吧。", "the dog chased the cat ."  # the page hides one of its words
OFF = tuple(Edit("layers.1.attention.heads", "zero", head=head) for head in range(3))
FIRST = f"first.3.{mark_of('text', pipelines.pipeline('text').reader.read(SENTENCE).ids)}.在"


def line(app: AppTest) -> str:
    """The line about the task."""
    task = catalogue(app.session_state["lang"])["goal.line"].partition("{")[0]
    (said,) = [part.value for part in app.main.markdown if task in part.value]
    return re.sub(r"\\(.)", r"\1", said)


@pytest.mark.parametrize(("name", "lang"), [("home", "en"), ("what_if", "zh"), ("flat", "zh")])
def test_each_page_says_the_task_and_how_far_it_is(name: str, lang: str) -> None:
    far = line(open_page(name, lang=lang, s=SENTENCE, goal=FIRST))
    assert "✓" not in far and "“在”" in far and "“去”" in far and "{" not in far
    assert catalogue(lang)["goal.send"] not in far


def test_a_presentation_says_on_the_tasks_own_page_alone_how_far_it_is() -> None:
    link = {"s": SENTENCE, "goal": FIRST, "big": "true"}
    assert "“在” has" in texts(open_page("what_if", **link))
    assert "“在” has" not in texts(open_page("attention", **link))


@pytest.mark.parametrize("page", ["class", "lesson"])
def test_where_questions_are_asked_a_task_does_not_tell_what_the_network_guesses(page: str) -> None:
    assert catalogue("en")["goal.line"].partition("{")[0] not in texts(open_page(page, s=SENTENCE, goal=FIRST))


def test_the_line_follows_each_change_until_the_task_is_left() -> None:
    app = open_page("attention", s="i love you .", goal="oneway.90.5", token="3", key="4")
    assert "✓" not in line(app)
    app.button_group(key="either.layer").set_value(1).run()
    app.button_group(key="either.head").set_value(2).run()
    assert "✓" in line(app) and "“love” gives “you” 0.988" in line(app)
    assert line(app).endswith(catalogue("en")["goal.send"])
    write(app, "i")
    assert "✓" not in line(app)
    run_fine(app.button(key="icon.leave_task").click())
    assert "goal" not in app.query_params and "Task:" not in texts(app)


@pytest.mark.parametrize("hidden", [None, (), (4,)])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_numbers_of_a_task_are_those_of_its_page(lang: str, hidden: tuple[int, ...] | None) -> None:
    first = first_picture(lang)
    assert first
    goal, look = goal_from_code("oneway.90.5"), {"token": first.query, "key": 4, "layer": 1, "head": 1}
    choice = Choice(lang=lang, sentence=first.text, hidden=hidden, goal=goal, **look)
    run = open_screen(choice).run
    weights = run[f"layers.{choice.layer}.attention.weights"][choice.head]
    there, back = (three(float(weights[cell])) for cell in ((choice.token, choice.key), (choice.key, choice.token)))
    said = line(open_page("attention", **choice.to_link()))
    assert f" {there}" in said and f" {back}" in said


def test_what_a_link_says_of_a_task_is_shown_as_it_is_and_a_broken_one_gets_a_sentence() -> None:
    app = open_page("answer", s=SENTENCE, goal=FIRST[:-1] + "<b>$x$")
    assert "“<b>$x$”" in line(app) and "\\<b\\>" in texts(app)
    app = open_page("attention", lang="zh", goal="first.3.<b>")
    (said,) = [warning.value for warning in app.warning]
    assert said.startswith(catalogue("zh")["error.link_goal"].partition("{")[0]) and "\\<b\\>" in said
    assert catalogue("zh")["goal.line"].partition("{")[0] not in texts(app)


# -- the teacher's table -------------------------------------------------------------------------------------------


def link(**values: object) -> str:
    """A student's link."""
    held = Choice(**{"sentence": SENTENCE, "goal": goal_from_code(FIRST)} | values)
    return f"http://school:8501/what_if?{urlencode(held.to_link())}"


def handed_over(*lines: str, **look: str) -> AppTest:
    """The teacher's page after these lines were pasted and checked."""
    app = for_teachers("homework", **{"s": SENTENCE} | look)
    app.text_area(key="homework.pasted").set_value("\n".join(lines)).run()
    run_fine(app.button(key="homework.check").click())
    return app


def rows(app: AppTest) -> list[dict[str, str]]:
    """Rows of the table, by the keys of its columns."""
    names = ("name", "reached", "far", "sentence")
    words = catalogue(app.session_state["lang"])
    (table,) = [frame.value for frame in app.dataframe]
    return [{name: row[words[f"homework.column_{name}"]] for name in names} for _, row in table.iterrows()]


def test_table_computes_itself_who_reached_the_goal() -> None:
    changed = {"sentence": "我们[MASK]学校玩吧。", "edits": OFF}
    pasted = f"Li Hua: {link(edits=OFF)}", f"2. Bo\t{link()}", link(**changed), "nothing here, or https", "Li Hua 10:32"
    app = handed_over(*pasted, "", "3. Eve:", lang="zh")
    found, words = rows(app), catalogue("zh")
    assert [row["name"] for row in found] == ["Li Hua", "2. Bo", ""]
    assert [row["reached"] for row in found] == ["✓", *"✗✗"]
    assert found[0]["sentence"] == SENTENCE
    assert "“去”" in found[1]["far"] and words["homework.column_task"] not in app.dataframe[0].value
    assert re.search(words["goal.line"].partition("{")[0] + ".*“在”", texts(app)), "said once"
    assert found[2]["far"] == words["goal.far.elsewhere"]
    assert words["homework.reached"].format(reached=1, all=3) in texts(app)
    wide = json.loads(app.dataframe[0].proto.columns)[words["homework.column_far"]]["width"]
    signs = max(sum(2 if sign >= "\u2e80" else 1 for sign in row["far"]) for row in found)
    assert 420 < 7 * signs < wide - 20, "read whole: Streamlit breaks no line of Chinese"


def test_an_easier_task_in_the_link_does_not_count_where_the_teacher_has_chosen_one() -> None:
    easier = goal_from_code(FIRST.replace("first.3.", "first.9."))
    lines = link(edits=OFF), link(edits=OFF, goal=easier)
    assert [row["reached"] for row in rows(handed_over(*lines))] == ["✓", "✓"]
    assert [row["reached"] for row in rows(handed_over(*lines, goal=FIRST))] == ["✓", "✗"]


def test_whatever_is_pasted_gets_a_row_and_a_sentence() -> None:
    told = {
        "http://[::1": "no_task",
        "http://x/?" + "a=1&" * 500: "no_task",
        link(goal=None): "no_task",
        link().replace("model=", "m=") + "&model=gpt-9": "broken",
        link(input="digit", drawing=sketch.example(3)): "drawing",
        link(sentence=""): "unread",
        link(sentence="<script>alert(1)</script>$x$", hidden=(2,)): "elsewhere",
        link(edits=(Edit("logits", "zero"),)): "only_heads",
        link(edits=(Edit("layers.1.attention.heads", "zero", head=99),)): "misfit",
        link(model="paper"): "no_guess",
        link(goal=goal_from_code(FIRST[:-1] + "qwertyish")): "no_word",
        link(goal=goal_from_code("oneway.90.5"), edits=OFF): "changed",
        f"（{link(edits=OFF)}）": "first_reached",
    }
    found, words = rows(handed_over("junk", *told, "=1+1")), catalogue("en")
    assert len(found) == len(told)
    for row, far in zip(found, told.values(), strict=True):
        assert row["far"].startswith(words[f"goal.far.{far}"].partition("{")[0])
        assert row["reached"] == ("✓" if far == "first_reached" else "✗")
    assert catalogue("en")["homework.no_links"] in texts(handed_over("no link", "at all"))


def test_of_too_many_links_the_rest_is_not_computed() -> None:
    found = rows(handed_over(*[link()] * (MOST_LINKS + 2)))
    over = catalogue("en")["goal.far.over"].format(most=MOST_LINKS)
    assert len(found) == MOST_LINKS + 2 and [row["far"] == over for row in found].count(True) == 2
    assert len(handed_in("http://x/ " * 100_000)) == MOST_ROWS


def test_slow_links_are_skipped_and_others_take_turns_between_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow, usual, pages = "the slow man bought a red [MASK] .", homework.judged, []

    def late(choice: Choice, goal: Goal) -> Standing:
        pages.append(in_flight._page.get())
        if choice.sentence == slow:
            raise OverdueError
        return usual(choice, goal)

    monkeypatch.setattr(homework, "judged", late)
    monkeypatch.setattr(homework, "AT_ONCE", 0.0)
    found = rows(handed_over(link(edits=OFF), link(sentence=slow), link()))
    assert [row["reached"] for row in found] == ["✓", "✗", "✗"]
    assert found[1]["far"] == catalogue("en")["goal.far.overdue"] and "“去”" in found[2]["far"]
    assert len(pages) == 3 == len(set(map(id, pages))) and all(pages)


def test_homework_waits_for_a_crowd_and_keeps_finished_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    usual, crowded = homework.judged, [True]

    def wait(*about: object) -> object:
        if crowded:
            raise CrowdedError
        return usual(*about)

    monkeypatch.setattr(homework, "judged", wait)
    app = handed_over("x http://x/", link(edits=OFF))
    assert catalogue("en")["error.crowded"] in texts(app) and not app.dataframe
    crowded.clear()
    app.button(key="again").click().run()
    assert [row["reached"] for row in rows(app)] == ["✗", "✓"]


# -- a task's link -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("first", SENTENCE),
        ("first", READY["en"][0]),
        *((kind, DOG) for kind in TASKS if kind != "first"),
    ],
)
def test_a_teacher_makes_a_task_and_its_link_is_not_reached_by_itself(kind: str, sentence: str) -> None:
    compared = {"edits": EDITS.write(OFF), "other": "i", "shown": "beside", "measure": "lead", "tab": "input"}
    app = for_teachers("homework", s=sentence, **compared)
    run_fine(app.selectbox(key="homework.kind").set_value(kind))
    (there,) = [code.value for code in app.code]
    choice, problems = Choice.from_link(dict(parse_qsl(urlsplit(there).query, keep_blank_values=True)))
    assert not problems and choice.goal and choice.goal.name == kind and choice.sentence == sentence
    assert not choice.edits and (choice.other, choice.shown, choice.measure, choice.tab) == (
        None,
        "changed",
        None,
        None,
    )
    found = judged(choice, choice.goal)
    assert not found.reached and found.far not in ("elsewhere", "broken", "no_guess")
    assert app.query_params["goal"] == goal_code(choice.goal)
    assert_fine(open_page(TASKS[kind].page, **choice.to_link()))
    if kind == "first":  # it is possible with these heads, in an order that the teacher's page tries
        orders = [_weakest_off(choice, anew) for anew in (False, True)]
        reached = [[judged(choice.with_(edits=off), choice.goal).reached for off in sets] for sets in orders]
        assert choice.goal.values[0] == next(found.index(True) + 1 for found in reached if any(found))


def _weakest_off(choice: Choice, anew: bool) -> list[tuple[Edit, ...]]:
    """Turn off one head, two, …, those first that lower the first guess most; anew: with those off that came before."""
    read = pipelines.read(choice)[1]
    network = pipelines.pipeline(choice.pipeline)
    words = with_words_hidden(network, choice, read)
    trace = network(choice.sentence if words is None else words)
    place = trace.tokens.index("[MASK]")
    heads = [head_off(*where) for where in np.ndindex(trace.config.layers, trace.config.heads)]
    best = trace["logits"][place].argmax()

    def left(off: tuple[Edit, ...]) -> float:
        return softmax(network(trace.ids, off)["logits"][place].astype(np.float64))[best]

    off = sorted(heads, key=lambda head: left((head,)))
    for most in range(1, MOST_WORTH if anew else 0):
        off[most:] = sorted(off[most : 2 * MOST_WORTH], key=lambda head: left((*off[:most], head)))
    return [tuple(off[:most]) for most in range(1, len(off) + 1)]


def test_a_task_that_many_heads_would_take_is_not_proposed_and_one_in_the_link_stays() -> None:
    for goal in ({}, {"goal": FIRST}):
        app = for_teachers("homework", s="he wants [MASK] go home .", **goal)
        words = catalogue("en")
        offered = app.selectbox(key="homework.kind").options
        assert words["homework.kind_oneway"] in offered and (words["homework.kind_first"] in offered) == bool(goal)


@pytest.mark.parametrize("sentence", [one for lang in READY for one in READY[lang]])
def test_no_cell_of_the_map_that_a_task_of_one_way_opens_reaches_it(sentence: str) -> None:
    goal = goal_from_code("oneway.90.5")
    opened = homework.opened_at(Choice(sentence=sentence), goal)
    places = range(len(pipelines.pipeline("text").reader.read(sentence).ids))
    assert not any(judged(opened.with_(token=i, key=j), goal).reached for i in places for j in places)
    assert sum(
        judged(opened.with_(layer=1, head=head, token=i, key=j), goal).reached
        for head in range(8)
        for i in places
        for j in places
    ), "another head does"


def test_the_word_of_a_task_is_one_of_the_vocabulary_and_its_sentence_the_teachers() -> None:
    app = for_teachers("homework", s=SENTENCE, goal=FIRST)
    app.text_input(key="homework.word").set_value("Qwertyish").run()
    assert app.query_params["goal"] == FIRST and "network can say" in texts(app)
    app.text_input(key="homework.word").set_value(" 到 ").run()
    assert app.query_params["goal"].endswith(".到")
    write(app, "他[MASK]公园玩。")
    assert not app.code
    app.button(key="homework.this").click().run()
    assert app.code and app.query_params["goal"].endswith(".到")
