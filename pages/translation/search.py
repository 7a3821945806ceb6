"""How the translation was found: the beginnings that the beam considered as a tree, and the sentences at its ends."""

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import fixed
from model.search import LENGTH_PENALTY, Node, score
from pages.drawing.figures import Branch, branches
from pages.drawing.picture import Picture
from pages.drawing.text import digits_hidden, literal, texts_of
from pages.drawing.text.numbers import gives, percent, two
from pages.screen.components.tables import markdown_table
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either
from pages.translation.pictures import forced
from pages.translation.writing import Written

WIDE = 10  # steps that stand side by side
text, word = texts_of("translation")


def search(screen: Written, pen: Pen) -> None:
    """The tree, and below it the translations that came of it."""
    tree(screen, pen)
    if screen.choice.big:
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        found(screen)
    with right:
        st.markdown(greedy_or_beam(screen))


def window(screen: Written, last: int) -> range:
    """The steps that are drawn: all, or some round the one that is looked at."""
    first = max(0, min(screen.step - WIDE // 2, last - WIDE + 1))
    return range(first, min(first + WIDE, last + 1))


def tree(screen: Written, pen: Pen) -> None:
    """Every candidate of every step. A click makes the decoder begin with that beginning."""
    considered = screen.found.search.nodes
    by_ids = {node.ids: node for node in considered}
    most = max(len(node.ids) for node in considered)
    steps = window(screen, most - 1)
    nodes = [node for node in considered if len(node.ids) - 1 in steps]
    vocabulary = screen.pipeline.target_vocabulary

    def branch(node: Node) -> Branch:
        step, parent = len(node.ids) - 1, by_ids.get(node.ids[:-1])
        return Branch(
            column=step,
            row=node.rank,
            parent=None if parent is None else parent.rank,
            text=vocabulary[node.ids[-1]],
            hover=word(
                "hover",
                beginning=" ".join(vocabulary[i] for i in node.ids),
                own=percent(np.exp(node.own)),
                log_p=two(node.log_probability),
                fate=word(f"fate_{node.fate}", score=two(score(node.log_probability, len(node.ids)))),
            ),
            goes_on=node.fate not in ("dropped", "left"),
            on_path=node.ids == screen.written.ids[: step + 1],
        )

    sentence = text("read.tree", beams=len(screen.found.beams))
    if len(steps) < most:
        sentence += " " + text("read.window", first=steps[0] + 1, last=steps[-1] + 1, count=most)
    rows = [
        (len(n.ids), " ".join(vocabulary[i] for i in n.ids), n.own, n.log_probability, n.rank + 1, n.fate)
        for n in considered
    ]
    table = pd.DataFrame(rows, columns=["step", "beginning", "log p", "log P", "rank", "fate"]).set_index("step")

    beams = [translation.ids for translation in screen.found.beams]

    def pick(place: int, _: int) -> dict[str, object]:
        ids = nodes[place].ids
        if ids in beams:
            return {"beam": beams.index(ids) + 1, "step": None}
        return forced(ids[:-1] if vocabulary[ids[-1]] == "[SEP]" else ids)

    figure = branches([branch(node) for node in nodes], word("axis_step"), word("axis_rank")).tell(fills=True)
    pen.show("tree", Picture(figure, sentence, table=table, picks=pick))


def found(screen: Written) -> None:
    """The sentences that were found as a table, best score first, and which is on screen."""
    every = [screen.found.greedy, *screen.found.beams]
    names = [word("greedy"), *map(str, range(1, len(every)))]
    shown = min(screen.choice.beam, len(screen.found.beams))
    either("beam", word("beam"), range(len(every)), names, shown, label_visibility="collapsed")
    columns = [
        "",
        word("column_translation"),
        "log P",
        word("column_pieces"),
        word("column_score", alpha=LENGTH_PENALTY),
    ]
    lines = []
    for number in sorted(range(len(every)), key=lambda number: -every[number].score):
        one, mark = every[number], "**" if number == shown else ""
        log_p, pieces = one.log_probability, len(one.ids)
        by_score = gives(score(float(fixed(log_p)), pieces), one.score).removeprefix("= ")
        cells = [names[number], literal(one.text), two(log_p), str(pieces), by_score]
        lines.append([f"{mark}{cell}{mark}" if cell else "" for cell in cells])
    with st.container(key="working.translation.found"):
        st.markdown(markdown_table(columns, lines, ":--|:--|--:|--:|--:"))
        st.caption(digits_hidden(lines))


def greedy_or_beam(screen: Written) -> str:
    """What looking at several beginnings at once was good for, here."""
    greedy, best = screen.found.greedy, screen.found.beams[0]
    said = {"greedy": greedy.text, "greedy_p": two(greedy.log_probability)}
    said |= {"best": best.text, "best_p": two(best.log_probability)}
    if greedy.ids == best.ids:
        return text("greedy_same", **said)
    likelier = greedy.log_probability < best.log_probability
    why = "missed" if likelier else "likelier" if greedy.score <= best.score else "lost"
    return f"{text('greedy_other', **said)} {text(f'greedy_{why}', **said)}"
