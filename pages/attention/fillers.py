"""The padding mask: a sentence filled up with [PAD] tokens, which get weight only without the mask."""

import numpy as np
import streamlit as st

from model import deadline
from model.analysis import placed
from model.measures.fillers import FILLER, FILLERS, can_fill_up
from pages.drawing.figures import ACCENT, AFTER, Axis, grouped_bars
from pages.drawing.figures.theme import scaled
from pages.drawing.picture import Picture
from pages.drawing.screen import Screen
from pages.drawing.text import plain, t, texts_of
from pages.drawing.text.numbers import decimal, percent
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import lasting
from pages.screen.runs.worked_out import filled_up
from pages.screen.sections.patience import seconds_for, waits

HIGH = 220  # pixels of the picture
WAYS = ("alone", "masked", "open")
text, word = texts_of("fillers")


def padding(screen: Screen, pen: Pen) -> None:
    """A box that shows what the mask does to [PAD], if the sentence can be filled up and the network answers."""
    if "logits" not in screen.run or not can_fill_up(screen.pipeline, screen.run.ids):
        return
    with st.expander(word("box"), icon=":material/science:", key="fillers.box", on_change="rerun") as box:
        if box.open:
            add_fillers(screen, pen, screen.at.token)


def add_fillers(screen: Screen, pen: Pen, token: int) -> None:
    """A token's row of weights and its answer: in the sentence alone, filled up with a mask, filled up without."""
    run = screen.run
    ids = run.ids
    tokens = len(ids) + FILLERS
    if waits(run.config, tokens, len(WAYS), ("fillers", screen.choice.pipeline, tuple(ids), token)):
        return
    with deadline.within(seconds_for(run.config, tokens, len(WAYS))):
        found = filled_up(screen.choice.pipeline, ids, token)
    words = {name: word(f"way_{name}", fillers=FILLERS) for name in WAYS}
    look = lasting("fillers.way", WAYS[0]) | {"format_func": words.__getitem__, "required": True, "wrap": True}
    way = WAYS.index(st.pills(word("ways"), WAYS, **look))
    row, names = found.rows[way], [*run.tokens, *[FILLER] * FILLERS]
    filler = np.arange(len(row)) >= len(ids)
    p, best, layer, head = found.answers.p, found.answers.best, *found.head
    said = {"token": placed(run.tokens)[token], "fillers": FILLERS}
    said |= {"best": screen.outputs[best[0]], "then": screen.outputs[best[2]]}
    first = found.answers.outputs.index(best[0])
    said |= {name: decimal(float(value)) for name, value in zip(("p", "p_masked", "p_open"), p[:, first], strict=True)}
    said |= {"taken": percent(float(found.taken.max())), "mean": percent(float(found.taken.mean()))}
    said |= {"masked": f"{found.masked:g}", "layer": layer + 1, "head": head + 1}
    sentence = text(f"read_{WAYS[way]}", **said)
    if WAYS[way] == "open":
        sentence += " " + text("read_open_same" if best[2] == best[0] else "read_open_other", **said)
    sentence = " ".join([*[t("order.unchanged")] * bool(run.edits), sentence])
    figure = grouped_bars(
        {word("words"): np.where(filler, 0, row), FILLER: np.where(filler, row, 0)},
        Axis(plain("axis.key"), names[: len(row)]),
        plain("attention.weight"),
        (AFTER, ACCENT),
        stacked=True,
        value_range=(0, 1.05 * max(float(one.max()) for one in found.rows)),  # the same for all three
    )
    figure.layout |= {"height": scaled(HIGH), "showlegend": False}  # names below the bars tell [PAD] from words
    title = word("title", token=said["token"], layer=layer + 1, head=head + 1)
    pen.show("fillers", Picture(figure, sentence, title=title, fixed=True, of_head=found.head))
