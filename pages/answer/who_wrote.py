"""Who wrote the answer: by how much one output leads another, and what each part of the network has in that."""

from typing import Any

import numpy as np
import streamlit as st

from model import Trace
from model.edits import head_off
from model.sources import Lead, nbytes, of_lead
from pages.answer.tree import Tree
from pages.ui.figures import Axis, heatmap
from pages.ui.frame.navigation import open_with
from pages.ui.runs import pipelines
from pages.ui.sections.sources import MOST_BYTES, in_short, parts_picture, places_of
from pages.ui.state.link_values import MOST_EDITS
from pages.ui.text import plain, texts_of
from pages.ui.text.numbers import unsigned, written
from pages.ui.view import View

MOST = 8  # parts with a bar of their own
SAME = 1e-3  # closer together, two leads are one
text, word = texts_of("wrote")


def who_wrote(view: View, token: int, output: int, **chosen: Any) -> None:
    """The parts of the network as bars, and its heads and FFNs as a map; in a presentation the bars alone.

    token: of words, the place of the guess. output: the word or class whose lead over the strongest other one it is
    about. chosen: what a click that leads to another page chooses besides.
    """
    if view.trace.edited and nbytes(view.trace, heads=True) > MOST_BYTES:
        st.info(plain("source.too_large"), icon=":material/info:")
        return
    logits = _logits(view.trace, token)
    against = int(np.where(np.arange(len(logits)) == output, -np.inf, logits).argmax())
    lead = of_lead(view.trace, output, against, token)
    if abs(lead.value - float(logits[output] - logits[against])) > SAME * max(1.0, abs(lead.value)):
        st.info(text("changed"), icon=":material/info:")
        return
    left, right = (st.container(), None) if view.choice.big else st.columns(2, gap="medium")
    with left:
        tree = Tree(view, (output, against), token)
        if tree.closed:
            names = {"best": view.output_names[output], "other": view.output_names[against]}
            _parts(view, lead, names, token, chosen)
        else:
            tree.as_bars(lead, **chosen)
    if right is not None:
        with right:
            _heads(view, of_lead(view.trace, output, against, token, heads=True), (output, against), token, chosen)
        st.caption(text("exact" if lead.exact else "bent"))


def _logits(trace: Trace, token: int) -> np.ndarray:
    logits = trace["logits"]
    return logits[token] if logits.ndim == 2 else logits


def _parts(view: View, lead: Lead, names: dict[str, str], token: int, chosen: dict[str, Any]) -> None:
    """Each part of the network: of a linear head a sum; else what the lead loses where the head does not read it."""
    sources, parts = list(lead.parts), np.array(list(lead.parts.values()))
    place = int(parts.argmax() if lead.value > 0 else parts.argmin())
    said = {"lead": written(f"{abs(lead.value):.2f}"), "part": written(f"{parts[place]:.2f}")}
    said |= {"source": in_short(sources[place], view.trace), "left": f"{lead.value - parts[place]:.2f}"}
    ahead = text("read_ahead" if lead.value > 0 else "read_behind", **said, **names)
    look = {"title": word("lead", **names), "axis": word("axis_logits" if lead.exact else "axis_less"), "most": MOST}
    look["total"] = word("total") if lead.exact else None
    sentence = f"{ahead} {text('read_part' if lead.exact else 'read_without', **said)}"
    parts_picture(view, "wrote", places_of(sources, view.trace, token), parts, sentence, **look, **chosen)


def _heads(view: View, lead: Lead, outputs: tuple[int, int], token: int, chosen: dict[str, Any]) -> None:
    """Each head and each FFN as a cell; and what happens to the lead when the strongest head is switched off."""
    layers, heads = range(view.config.layers), range(view.config.heads)
    parts = [[*(f"attention.heads[{head}]" for head in heads), "ffn.output"] for _ in layers]
    table = np.array([[lead.parts[f"layers.{layer}.{part}"] for part in row] for layer, row in enumerate(parts)])
    own = np.abs(table[:, :-1])
    layer, head = (int(place) for place in np.unravel_index(own.argmax(), own.shape))
    part = float(table[layer, head])
    sentence = [text("read_head", where=view.where((layer, head)), part=unsigned(part))]
    if (after := _without(view, layer, head, outputs, token)) is not None:
        off = {"left": f"{lead.value - part:.2f}", "after": f"{after:.2f}"}
        sentence += [text("read_off", **off), *([] if off["left"] == off["after"] else [text("read_why")])]

    def go(row: int, column: int) -> None:
        """To where that head attends, or to what that FFN adds."""
        if column < len(heads):
            open_with("attention", panel=None, stage=None, layer=row, head=column, token=token, **chosen)
        else:
            open_with("feed_forward", panel=None, stage="output", layer=row, token=token, **chosen)

    columns = Axis(word("axis_heads"), [*(str(head + 1) for head in heads), "FFN"])
    axes = Axis.counted(plain("sidebar.layer"), len(layers)), columns
    figure = heatmap(table, *axes, cell=(layer, head), clickable=True, square=False)
    view.picture("heads", figure, " ".join(sentence), title=word("heads"), on_pick=go, values=table)


def _without(view: View, layer: int, head: int, outputs: tuple[int, int], token: int) -> float | None:
    """The lead in the same run with one head switched off; None where there is no room for one edit more."""
    if len(view.trace.edits) >= MOST_EDITS:
        return None
    edits = (*view.trace.edits, head_off(layer, head))
    logits = _logits(pipelines.run(view.choice.pipeline, view.subject, edits), token)
    return float(logits[outputs[0]] - logits[outputs[1]])
