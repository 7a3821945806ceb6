"""The homework task of a link: judged anew from the link's input, and shown on every page."""

import streamlit as st

from model import EditError, InputError, Trace
from pages.drawing.masks import with_words_hidden
from pages.drawing.state.choice import Choice
from pages.drawing.state.goal import Goal
from pages.drawing.text import joined, plain, t
from pages.drawing.text.numbers import two
from pages.school.lessons.goals import TASKS, Standing, standing
from pages.screen.link import select
from pages.screen.runs import pipelines


def task_line(page: str) -> None:
    """If the link holds a task, show it, with ✓ or how far it is; in a presentation only on its own page. Never where
    questions are asked: how far it is may tell an answer.
    """
    choice: Choice = st.session_state["choice"]
    if (goal := choice.goal) is None or page in ("class", "lesson") or (choice.big and page != TASKS[goal.name].page):
        return
    found = judged(choice, goal)
    far = t(f"goal.far.{found.far}", **found.said)
    with st.container(horizontal=True, vertical_alignment="center", key="task"):
        said = f":gray[{t('goal.line', task=in_words(goal))}]"
        done, send = "**✓** " * found.reached, f" {t('goal.send')}" * found.reached
        told = f"{done}{far}" if choice.big else joined(f"{said} {done}{far}{send}")  # one line in a presentation
        st.markdown(told, width="stretch")
        look = {"icon": ":material/close:", "type": "tertiary", "help": plain("goal.leave"), "key": "icon.leave_task"}
        st.button(look["help"], on_click=select, kwargs={"goal": None}, **look)


def in_words(goal: Goal) -> str:
    """The task in words."""
    one = "_1" if goal.name == "first" and goal.values[0] == 1 else ""
    return plain(f"goal.{goal.name}{one}", **asked(goal))


def asked(goal: Goal) -> dict[str, object]:
    """Values in the words of a task."""
    if goal.name == "first":
        most, _, word = goal.values
        return {"most": most, "word": word}
    least, most = (two(int(value) / 100) for value in goal.values)
    return {"least": least, "most": most}


def judged(choice: Choice, goal: Goal) -> Standing:
    """How far a link is from a goal, computed anew from the sentence as its page reads it. Raises WeightsError,
    CheckpointError and OverdueError.
    """
    if choice.input != "sentence":
        return Standing(False, "drawing")
    if choice.edits and not TASKS[goal.name].hides:
        return Standing(False, "changed")
    try:
        trace = run_of(choice)
    except InputError:
        return Standing(False, "unread")
    except EditError:
        return Standing(False, "misfit")
    return standing(goal, choice, trace, pipelines.pipeline(choice.pipeline).reader.vocabulary)


def run_of(choice: Choice) -> Trace:
    """The run of a sentence as its page reads it. Raises InputError, EditError, and what `judged` does."""
    pipeline = pipelines.pipeline(choice.pipeline)
    masked = with_words_hidden(pipeline, choice, pipeline.reader.read(choice.sentence))
    return pipelines.run(choice.pipeline, choice.sentence if masked is None else masked, choice.edits)
