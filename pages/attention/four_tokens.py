"""Attention by hand the other way: set keys and queries so that it copies, averages, is spoiled by noise, is saved."""

import numpy as np
import pandas as pd
import streamlit as st

from model.four_tokens import (
    COPIED,
    HALF,
    REACH,
    TASKS,
    TOKENS,
    VALUES,
    C,
    D,
    Point,
    Setup,
    Task,
    attend,
    averages,
    shares,
)
from pages.ui.components.tables import draw_table
from pages.ui.figures import ACCENT, AFTER, GREY, Arrow, Axis, arrows, grouped_bars, role_colours
from pages.ui.frame.pickers import either
from pages.ui.state.link import chosen, select
from pages.ui.text import plain, texts_of
from pages.ui.text.numbers import written
from pages.ui.view import View

SIDE = 2 * REACH + 1  # points along a side of the plane
COLOURS = (ACCENT, AFTER, GREY, "#8C6D31")  # of the four values
text, word = texts_of("four_tokens")


def set_by_hand(view: View) -> None:
    """The four tasks, the plane in which one arrow is moved, what attention makes of it, and the arithmetic."""
    setup, task = setup_of(view.choice.points), TASKS[view.choice.task - 1]
    reached = {each.name: each.reached(setup) for each in TASKS}
    names = [word(f"task_{each.name}") for each in TASKS]
    movable = ["query", *["second"] * (task.heads > 1), "a", "b"]
    words = [word("query_of_two" if name == "query" and task.heads > 1 else name) for name in movable]
    with st.container(horizontal=True):
        either("task", word("tasks"), range(1, len(TASKS) + 1), names, view.choice.task, label_visibility="collapsed")
        moved = either("moves", word("moves"), movable, words, view.choice.moves, label_visibility="collapsed")
    st.markdown(text(f"ask_{task.name}", least=f"{COPIED:.2f}", low=f"{0.5 - HALF:.2f}", high=f"{0.5 + HALF:.2f}"))
    run = attend(setup, task.heads, task.lengths)
    left, right = st.columns([1, 1], gap="medium")
    with left:
        plane(view, setup, task, moved, words[movable.index(moved)])
    with right:
        taken(view, setup, task, run)
        say = st.success if reached[task.name] else st.info
        say(verdict(setup, task, run, reached[task.name]), icon=":material/check:" if reached[task.name] else None)
        if done := [name for name, is_so in zip(names, reached.values(), strict=True) if is_so]:
            st.caption(text("reached", names=plain("common.comma").join(done)))
    worked_out(attend(setup, task.heads), setup, task.heads)


def setup_of(points: tuple[int, ...]) -> Setup:
    """Where the reader put the queries and keys; as it begins where he moved none."""
    if len(points) != 4:
        return Setup()
    return Setup(*((point % SIDE - REACH, point // SIDE - REACH) for point in points))


def with_point(setup: Setup, name: str, point: Point) -> tuple[int, ...]:
    """The same with one arrow elsewhere, as it stands in a choice."""
    places = vars(setup) | {name: point}
    return tuple((y + REACH) * SIDE + x + REACH for x, y in places.values())


def plane(view: View, setup: Setup, task: Task, moved: str, named: str) -> None:
    """Keys and queries as arrows. A click, or Shift and an arrow key, moves the one that is chosen, and so `named`."""
    roles, at = role_colours(), vars(setup)

    def move(x: int, y: int) -> None:
        select(points=with_point(setup_of(chosen().points), moved, (x, y)))

    drawn = [
        Arrow(token, point, roles["K"], "solid", moved == token.lower())
        for token, point in zip(TOKENS, (setup.a, setup.b, C, D), strict=True)
    ]
    drawn.append(Arrow("q" if task.heads == 1 else "q₁", setup.query, roles["Q"], "solid", moved == "query"))
    if task.heads > 1:
        drawn.append(Arrow("q₂", setup.second, roles["Q"], "dash", moved == "second"))
    x, y = at[moved]
    view.moves((REACH - y, x + REACH), (SIDE, SIDE), lambda row, column: move(column - REACH, REACH - row))
    noisy = [tuple(np.multiply(setup.a, end)) for end in (min(task.lengths), max(task.lengths))]
    view.picture(
        "plane",
        arrows(drawn, REACH, noisy if len(task.lengths) > 1 else (), (word("component_1"), word("component_2"))),
        text("read_plane", moved=named),
        title=word("plane"),
        on_pick=move,
        still=True,
    )


def taken(view: View, setup: Setup, task: Task, run: dict[str, np.ndarray]) -> None:
    """How much of each value comes out, in each draw."""
    weights, output = shares(run), run["heads"][:, :, 0, 0].mean(axis=1)
    series = {
        f"{token} ({written(f'{value:g}')})": weights[:, i]
        for i, (token, value) in enumerate(zip(TOKENS, VALUES, strict=True))
    }
    draws = Axis(word("axis_draw"), [f"× {length:g}" for length in task.lengths])
    mean = f"{(VALUES[0] + VALUES[1]) / 2:g}"
    said = {"values": plain("common.comma").join(written(f"{value:.2f}") for value in output), "mean": mean}
    view.picture(
        "taken",
        grouped_bars(series, draws, word("axis_taken"), COLOURS, stacked=True),
        text("read_taken" if len(task.lengths) == 1 else "read_taken_draws", **said),
        title=word("taken" if task.heads == 1 else "taken_by_two"),
        still=True,
    )


def verdict(setup: Setup, task: Task, run: dict[str, np.ndarray], reached: bool) -> str:
    """Whether the task is reached, and by how much not; all of it from what was computed."""
    weights, still = shares(run), shares(attend(setup))[0]
    least = run["weights"][:, :, 0].min(axis=0)  # of all draws: (head, key)
    best = least.argmax(axis=1)
    return text(
        f"{'done' if reached else 'yet'}_{task.name}",
        a=f"{still[0]:.2f}",
        b=f"{still[1]:.2f}",
        low=f"{weights[:, 0].min():.2f}",
        high=f"{weights[:, 0].max():.2f}",
        good=int(averages(weights).sum()),
        draws=len(task.lengths),
        first=f"{least[0, best[0]]:.2f}",
        first_of=TOKENS[best[0]],
        second=f"{least[-1, best[-1]]:.2f}",
        second_of=TOKENS[best[-1]],
    )


def worked_out(run: dict[str, np.ndarray], setup: Setup, heads: int) -> None:
    """Scores, softmax and weighted sum of each head, with A's key as long as it was set."""
    for head in range(heads):
        scores, scaled, weights = (run[name][0, head, 0] for name in ("scores", "scaled", "weights"))
        query = (setup.query, setup.second)[head]
        rows = []
        for i, (token, key) in enumerate(zip(TOKENS, (setup.a, setup.b, C, D), strict=True)):
            found = f"{scores[i]:g}", f"{scaled[i]:.3f}", f"{np.exp(scaled[i]):.3g}", f"{weights[i]:.3f}"
            rows.append((token, at(key), *found, f"{VALUES[i]:g}", f"{weights[i] * VALUES[i]:.3f}"))
        total = run["heads"][0, head, 0, 0]
        rows.append(("Σ", "", "", "", f"{np.exp(scaled).sum():.3g}", f"{weights.sum():.3f}", "", f"{total:.3f}"))
        columns = [
            word("column_token"),
            "k",
            "q · k",
            "÷ √2",
            "exp",
            word("column_weight"),
            "v",
            word("column_product"),
        ]
        table = pd.DataFrame([[written(cell) for cell in row] for row in rows], columns=columns)
        symbol = "q" if heads == 1 else f"q{'₁₂'[head]}"
        st.markdown(f"**{word('arithmetic', query=f'{symbol} = {at(query)}')}**")
        draw_table(table, f"four_tokens.{head}", hide_index=True)


def at(point: Point) -> str:
    return f"({written(str(point[0]))}, {written(str(point[1]))})"
