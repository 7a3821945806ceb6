"""Homework for teachers: make a task's link, and collect the links handed in, in a table.

Links are not trusted: each is validated, and its claim is computed anew, a few links in each run of the page, so that
nobody waits long and work ends with the visit.
"""

import re
from dataclasses import dataclass, field, replace
from time import monotonic
from urllib.parse import parse_qsl, urljoin, urlsplit

import numpy as np
import pandas as pd
import streamlit as st

from model import CheckpointError, InputError, Pipeline, Trace, WeightsError
from model.deadline import OverdueError
from model.edits import head_off
from model.pipeline import Reader, TextReader
from pages.drawing.cache import once_a_run
from pages.drawing.picture import kind_of, says_words
from pages.drawing.screen import Screen
from pages.drawing.state.choice import Choice
from pages.drawing.state.goal import MOST_OFF, MOST_WORD, Goal
from pages.drawing.text import literal, plain, t, texts_of
from pages.school.lessons.goals import TASKS, Standing, mark_of, not_yet
from pages.school.lessons.task import in_words, judged, run_of
from pages.school.questions.case import Case, leads
from pages.school.teaching.cases import hidden_in, usual_case
from pages.screen.components.tables import column_widths, draw_table, row_height
from pages.screen.frame import exports
from pages.screen.frame.contents import path_of
from pages.screen.frame.pickers import bound
from pages.screen.frame.share import address, with_code
from pages.screen.link import select
from pages.server.in_flight import CrowdedError

#: Session state: the pasted text; its links and results; a word that is not in the vocabulary;
#: what the link of the task opens.
PASTED, CHECKED, NO_WORD, OPENS = "homework.pasted", "homework.checked", "homework.no_word", "homework.opens"
MOST_LINKS, MOST_ROWS = 100, 1000  # links that are computed; rows in all
MOST_PASTED, MOST_LINK, MOST_NAME, MOST_SENTENCE = 100_000, 20_000, 60, 80  # characters
MOST_VALUES = 200  # of one link
MOST_WORTH = 8  # most heads to look for; a task that needs more is not proposed
AT_ONCE = 1.0  # seconds of computing before the page is redrawn and others get their turn
LINK = re.compile(r"https?://[^\s<>\"]+")
ROUND_NAME, BEHIND_LINK = " \t:：,，;；|-–—*•<>()（）[]【】\"“”'", ")]}>,;，。；、）】」”’'"
#: Values of a teacher's choice that the link of a task keeps.
KEPT = "lang", "model", "sentence", "hidden", "hide", "symbols"
#: Values that decide a task; a link in which one of them is invalid is not computed.
DECIDES = {"input", "model", "s", "ink", "edits", "hidden", "layer", "head", "token", "key", "neuron"}
text, word = texts_of("homework")


def homework(screen: Screen) -> None:
    """Collapsed by default: making a task, and the table of links handed in."""
    with st.expander(word("title"), icon=":material/home_work:", key="lesson.homework", on_change="rerun") as box:
        if box.open:
            st.markdown(text("how"))
            _make(screen)
            st.divider()
            _check(screen.choice.goal)


# -- a task and its link -------------------------------------------------------------------------------------------


def _make(screen: Screen) -> None:
    """Choose a task and its values, and show its link. The choice is also in the teacher's own link."""
    goal = screen.choice.goal
    if kind_of(screen.run) != "words":
        st.info(t("goal.far.drawing"))
        return
    usual = _usual(screen)
    names, hidden = {"": word("no_kind")}, hidden_in(screen)
    for name, proposed in usual.items():
        if (goal and goal.name == name) or name != "first" or int(proposed.values[0]) <= MOST_WORTH:
            names[name] = word(f"kind_{name}")
    look = bound("homework.kind", goal.name if goal else "", lambda name: _take(usual.get(name), hidden), anew=True)
    st.selectbox(word("kind"), list(names), format_func=names.__getitem__, width=420, **look)
    if goal is None or goal.name not in usual:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _values(screen, goal)
    if st.session_state.pop(NO_WORD, False):
        st.warning(t("lesson.not_a_word", size=f"{len(screen.pipeline.reader.vocabulary):,}"))
    st.markdown(f"**{in_words(goal)}**".replace("$", r"\$"))
    there = opened_at(screen.choice.with_(hidden=hidden) if TASKS[goal.name].hides else screen.choice, goal)
    found = judged(there, goal)
    if found.far == "elsewhere":
        st.warning(text("about_another"))
        (most, _, wanted), (_, mark, _) = goal.values, usual["first"].values
        look = {"on_click": _take, "args": (Goal("first", (most, mark, wanted)), hidden), "key": "homework.this"}
        st.button(word("about_this"), **look)
        return
    st.session_state[OPENS] = there
    if found.reached:
        st.warning(text("already"))
    st.markdown(text("link"))
    with_code(task_address(there, goal))


def _usual(screen: Screen) -> dict[str, Goal]:
    """Defaults for each kind of task; the one about a word is solvable, at a masked word."""
    goals = {"oneway": Goal("oneway", (90, 5))}
    case = usual_case(screen)
    if not case.answers or not says_words(screen.run):
        return goals
    most, best = _solved(screen.run, screen.pipeline, case.token)
    values = most, mark_of(screen.choice.pipeline, screen.run.ids), case.names[best][:MOST_WORD]
    return {"first": Goal("first", values), **goals}


@once_a_run
def _solved(trace: Trace, pipeline: Pipeline, token: int) -> tuple[int, int]:
    """(number of heads, word): the first word to replace the best guess when heads are switched off in order of their
    effect. Where that takes too many, the strongest are tried in order of their effect beside those already off. If
    none does, or computing takes too long: the most heads allowed, and the second guess.
    """
    case = Case(pipeline, trace, token)
    every = [head_off(*where) for where in case.every_head]
    second = min(MOST_OFF, len(every)), int(trace["logits"][token].argsort()[-2])
    if not case.affords(2 * len(every)):
        return second
    now, *alone = case.without_each
    best = now.argmax()
    weakest = np.argsort([shares[best] for shares in alone])[:MOST_OFF]
    rows = enumerate(
        case.changed([[every[place] for place in weakest[:most]] for most in range(1, len(weakest) + 1)]), 1
    )
    found = next(((most, int(row.argmax())) for most, row in rows if row.argmax() != best and leads(row)), second)
    off, others = [every[weakest[0]]], [every[place] for place in weakest[1 : 2 * MOST_WORTH]]
    while found[0] > MOST_WORTH > len(off) and case.affords(2 * MOST_WORTH**2):
        sets = [[*off, one] for one in others if one not in off]
        shares = case.changed(sets)
        lowest = shares[:, best].argmin()
        off, row = sets[lowest], shares[lowest]
        if row.argmax() != best and leads(row):
            return len(off), int(row.argmax())
    return found


def _values(screen: Screen, goal: Goal) -> None:
    """Boxes for a task's values."""

    def box(place: int, label: str, most: int) -> None:
        """A box for one number."""

        def put(number: int) -> None:
            values = list(goal.values)
            values[place] = number
            select(goal=replace(goal, values=tuple(values)))

        now = min(int(goal.values[place]), most)
        st.number_input(word(label), 1, most, width=190, **bound(f"homework.{goal.name}.{place}", now, put))

    reader = screen.pipeline.reader  # the page may be gone when a box changes
    match goal.name:
        case "first":
            box(0, "most_off", MOST_OFF)
            wanted = bound("homework.word", goal.values[2], lambda typed: _want(reader, goal, typed))
            st.text_input(word("word"), max_chars=MOST_WORD, width=190, **wanted)
        case "oneway":
            box(0, "more_than", 99)
            box(1, "less_than", 99)


def _want(reader: Reader, goal: Goal, typed: str) -> None:
    """Set the wanted word, as in the vocabulary."""
    pieces = reader.pieces(typed) if isinstance(reader, TextReader) and typed.strip() else []
    if len(pieces) == 1 and pieces[0] != "[UNK]":
        select(goal=replace(goal, values=(*goal.values[:2], pieces[0])))
    else:
        st.session_state[NO_WORD] = True


def _take(goal: Goal | None, hidden: tuple[int, ...] | None) -> None:
    """Choose a task, and the masked word it is about, so that both go along to every page and phone."""
    select(goal=goal, **({"hidden": hidden} if goal and TASKS[goal.name].hides else {}))


def chosen_task(choice: Choice) -> Choice | None:
    """What the link of the chosen task opens: the sentence for which the teacher chose it. None without a task."""
    opens: Choice | None = st.session_state.get(OPENS)
    if choice.goal is None:
        return None
    return opens if opens and opens.goal == choice.goal else opened_at(choice, choice.goal)


def given_out(choice: Choice, goal: Goal, kept: Choice | None) -> Choice | None:
    """What the link of a task opens at the end of a class; None if its sentence is not known any more.

    kept: what the class has kept since it began.
    """
    for opened in (chosen_task(choice), kept, opened_at(choice, goal)):
        if opened and opened.goal == goal and judged(opened, goal).far not in ("elsewhere", "no_guess"):
            return opened
    return None


def opened_at(choice: Choice, goal: Goal) -> Choice:
    """The choice that a task's link opens: the current sentence and its hidden words; of attention, a head in which no
    cell reaches the task.
    """
    opened = Choice(goal=goal, **{name: getattr(choice, name) for name in KEPT})
    if goal.name != "oneway":
        return opened
    try:
        layer, head = not_yet(goal, run_of(opened))
    except InputError:  # the table of links says so
        layer = head = 0
    return opened.with_(stage="weights", layer=layer, head=head)


def task_address(opened: Choice, goal: Goal) -> str:
    """The link of a task."""
    return address(urljoin(st.context.url or "", path_of(TASKS[goal.name].page)), opened)


# -- what was handed in --------------------------------------------------------------------------------------------


@dataclass
class Checked:
    """The links of a class, and their results so far.

    goal: one for all; None: each link's own. handed: (name, link). found: results of the judged ones, in order, with
    the values of the link.
    """

    goal: Goal | None
    handed: list[tuple[str, str]]
    found: list[tuple[Standing, Choice | None]] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return len(self.found) == len(self.handed)

    def step(self) -> None:
        """Judge the next link. May raise OverdueError."""
        place = len(self.found)
        self.found.append(self._judged(self.handed[place][1]))
        self.handed[place] = self.handed[place][0], ""  # keep the session state small

    def _judged(self, link: str) -> tuple[Standing, Choice | None]:
        if len(self.found) >= MOST_LINKS:
            return Standing(False, "over", {"most": MOST_LINKS}), None
        choice = read_link(link)
        if isinstance(choice, Standing):
            return choice, None
        if choice.goal is None:
            return Standing(False, "no_task"), None
        if self.goal not in (None, choice.goal):
            return Standing(False, "other_task"), choice
        try:
            return judged(choice, choice.goal), choice
        except (WeightsError, CheckpointError):
            return Standing(False, "no_network"), choice


def handed_in(pasted: str) -> list[tuple[str, str]]:
    """(name, link) for each link in a text, with the name before it in its line, or ""."""
    found = []
    for line in pasted[:MOST_PASTED].splitlines():
        end = 0
        for hit in LINK.finditer(line):
            found.append((_name(line[end : hit.start()]), hit[0].rstrip(BEHIND_LINK)))
            end = hit.end()
    return found[:MOST_ROWS]


def _name(written: str) -> str:
    """A name without surrounding punctuation, cut to the table's width."""
    name = written.strip(ROUND_NAME)
    return name if len(name) <= MOST_NAME else f"{name[: MOST_NAME - 1]}…"


def read_link(link: str) -> Choice | Standing:
    """The choice of a link; or why it cannot be judged."""
    if len(link) > MOST_LINK:
        return Standing(False, "no_task")
    try:
        held = dict(parse_qsl(urlsplit(link).query, keep_blank_values=True, max_num_fields=MOST_VALUES))
    except ValueError:
        return Standing(False, "no_task")
    choice, problems = Choice.from_link(held)
    wrong = {problem.name: problem for problem in problems}
    if "goal" in wrong:
        return Standing(False, "no_task")
    if decisive := DECIDES & wrong.keys():
        problem = wrong[min(decisive)]
        return Standing(False, "broken", {"name": problem.name, "value": problem.value})
    return choice


def _check(goal: Goal | None) -> None:
    """A box for the links, and the table of results so far."""
    st.markdown(text("hand_in"))
    like = word("links_like", most=f"{MOST_PASTED:,}")  # a browser lets nobody write more, and says nothing
    st.text_area(word("links"), height=160, key=PASTED, max_chars=MOST_PASTED, placeholder=like)
    st.button(word("check"), type="primary", key="homework.check", on_click=_begin, args=(goal,))
    checked: Checked | None = st.session_state.get(CHECKED)
    if checked is None:
        return
    if not checked.handed:
        st.warning(text("no_links"))
    elif checked.done:
        _table(checked)
    else:
        _go_on(checked)


def _begin(goal: Goal | None) -> None:
    st.session_state[CHECKED] = Checked(goal, handed_in(st.session_state[PASTED]))


def _go_on(checked: Checked) -> None:
    """Judge more links, then redraw the page."""
    done, every = len(checked.found), len(checked.handed)
    st.progress(done / every, word("progress", done=done, all=every))
    end = monotonic() + AT_ONCE
    try:
        while len(checked.found) == done or (monotonic() < end and not checked.done):
            checked.step()
    except CrowdedError:  # others are served first; the frame says so
        raise
    except OverdueError:
        if len(checked.found) == done:  # even all the time available was not enough
            checked.found.append((Standing(False, "overdue"), None))
    st.rerun()


def as_table(checked: Checked) -> pd.DataFrame:
    """A row for each link."""
    columns = [word(f"column_{name}") for name in ("number", "name", "reached", "far", "sentence", "task")]
    rows = []
    for number, ((name, _), (found, choice)) in enumerate(zip(checked.handed, checked.found, strict=True), 1):
        sentence = choice.sentence[:MOST_SENTENCE] if choice and choice.input == "sentence" else ""
        task = in_words(choice.goal) if choice and choice.goal else ""
        far = plain(f"goal.far.{found.far}", **found.said)
        rows.append((number, name, "✓" if found.reached else "✗", far, sentence, task))
    return pd.DataFrame(rows, columns=columns).set_index(columns[0])


def _table(checked: Checked) -> None:
    table = as_table(checked)
    reached = sum(found.reached for found, _ in checked.found)
    st.markdown(text("reached", reached=reached, all=len(table)))
    shown, tasks = table, {*table[word("column_task")]} - {""}
    if checked.goal or len(tasks) < 2:  # the last column would be cut where the table has no room for it
        shown = table.drop(columns=word("column_task"))
        st.caption("".join(t("goal.line", task=literal(task)) for task in tasks if not checked.goal))
    draw_table(shown, "homework.table", column_config=column_widths(shown), row_height=row_height(shown))
    about = in_words(checked.goal) if checked.goal else word("title")
    look = {"on_click": "ignore", "icon": ":material/download:", "key": "homework.csv"}
    name = f"{exports.file_name(word('title'))}.csv"
    st.download_button("CSV", exports.csv(table, about), name, "text/csv", **look)
