"""Who wrote the answer: by how much one output leads another, and what each part of the network has in that."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.edits import head_off
from model.sources import Lead, nbytes, of_lead
from pages.answer.tree import Tree
from pages.ui.figures import Axis, heatmap, scatter
from pages.ui.frame.navigation import open_with
from pages.ui.frame.pickers import either
from pages.ui.runs import pipelines
from pages.ui.runs.worked_out import leads
from pages.ui.sections.patience import patience, waits
from pages.ui.sections.sources import MOST_BYTES, in_short, parts_picture, places_of
from pages.ui.state.link_values import MOST_EDITS
from pages.ui.text import plain, texts_of
from pages.ui.text.numbers import signed, unsigned, written
from pages.ui.view import View

MOST = 8  # parts with a bar of their own
SAME = 1e-3  # closer together, two leads are one
LEAST = 0.05  # of the lead: less than that is told as the same
WAYS = "written", "beside"  # to show the heads
text, word = texts_of("wrote")


def who_wrote(view: View, token: int, output: int, **chosen: Any) -> None:
    """The parts of the network as bars, its heads as a map, and what becomes of the lead without the strongest head.

    token: of words, the place of the guess. output: the word or class whose lead over the strongest other one it is
    about. chosen: what a click that leads to another page chooses besides.
    """
    if view.trace.edited and nbytes(view.trace, heads=True) > MOST_BYTES:
        st.info(plain("source.too_large"), icon=":material/info:")
        return
    logits = _logits(view.trace, token)
    against = int(np.where(np.arange(len(logits)) == output, -np.inf, logits).argmax())
    lead = of_lead(view.trace, output, against, token)
    names = {"best": view.output_names[output], "other": view.output_names[against]}
    if abs(lead.value - float(logits[output] - logits[against])) > SAME * max(1.0, abs(lead.value)):
        st.info(text("changed"), icon=":material/info:")
        return
    left, right = st.columns(2, gap="medium")
    with left:
        tree = Tree(view, (output, against), token)
        if tree.closed:
            _parts(view, lead, names, token, chosen)
        else:
            tree.as_bars(lead, **chosen)
    with right:
        by_head = of_lead(view.trace, output, against, token, heads=True)
        words = [word(f"heads_{way}") for way in WAYS]
        way = either("stage", word("heads"), WAYS, words, view.choice.stage, label_visibility="collapsed")
        (_heads if way == "written" else _beside)(view, by_head, (output, against), token, chosen)
    st.caption(text("exact" if lead.exact else "bent"))


def _logits(trace: Trace, token: int) -> np.ndarray:
    logits = trace["logits"]
    return logits[token] if logits.ndim == 2 else logits


def _parts(view: View, lead: Lead, names: dict[str, str], token: int, chosen: dict[str, Any]) -> None:
    """Each part of the network: of a linear head a sum; else what the lead loses where the head does not read it."""
    sources, parts = list(lead.parts), np.array(list(lead.parts.values()))
    place = int(parts.argmax() if lead.value > 0 else parts.argmin())
    said = {"lead": written(f"{abs(lead.value):.2f}"), "part": written(f"{parts[place]:.2f}")}
    ahead = "ahead" if lead.value > 0 else "behind"
    said |= {"source": in_short(sources[place], view.trace)}
    title, sentence = word("lead", **names), text(f"read_{ahead}", **said, **names)
    without = {"source": said["source"], "lead": f"{lead.value - parts[place]:.2f}"}
    sentence += f" {text('read_part', **said) if lead.exact else text('read_without', **without)}"
    longest = int(np.abs(parts).argmax())
    if longest != place:
        sentence += " " + text(
            "read_against", source=in_short(sources[longest], view.trace), part=f"{parts[longest]:.2f}"
        )
    places, axis = places_of(sources, view.trace, token), word("axis_logits" if lead.exact else "axis_less")
    look = {"title": title, "axis": axis, "total": word("total") if lead.exact else None, "most": MOST}
    parts_picture(view, "wrote", places, parts, sentence, **look, **chosen)


def _of_heads(view: View, lead: Lead) -> np.ndarray:
    """The part of each head: (layer, head)."""
    layers, heads = range(view.config.layers), range(view.config.heads)
    return np.array([[lead.parts[f"layers.{layer}.attention.heads[{head}]"] for head in heads] for layer in layers])


def _heads(view: View, lead: Lead, outputs: tuple[int, int], token: int, chosen: dict[str, Any]) -> None:
    """Each head and each FFN as a cell; and what happens to the lead when the strongest head is switched off."""
    layers, heads = view.config.layers, view.config.heads
    ffn = [[lead.parts[f"layers.{layer}.ffn.output"]] for layer in range(layers)]
    table = np.hstack([_of_heads(view, lead), ffn])
    own = np.abs(table[:, :heads])
    layer, head = (int(place) for place in np.unravel_index(own.argmax(), own.shape))
    said = {"where": view.where((layer, head)), "part": unsigned(float(table[layer, head]))}
    sentence = [text("read_head", **said)]
    if (after := _without(view, layer, head, outputs, token)) is not None:
        off = {"left": f"{lead.value - table[layer, head]:.2f}", "after": f"{after:.2f}"}
        sentence.append(text("read_off_same" if off["left"] == off["after"] else "read_off", **off))
    columns = [str(head + 1) for head in range(heads)] + ["FFN"]

    def go(row: int, column: int) -> None:
        """To where that head looks, or to what that FFN adds; layers count from 1 in the picture."""
        if column == heads:
            open_with("feed_forward", panel=None, stage="output", layer=row, token=token, **chosen)
        else:
            _look_at(row, column, token, chosen)

    axes = Axis.counted(plain("sidebar.layer"), layers), Axis(word("axis_heads"), columns)
    figure = heatmap(table, *axes, cell=(layer, head), clickable=True, square=False)
    view.picture("heads", figure, " ".join(sentence), title=word("heads"), on_pick=go, values=table)


def _without(view: View, layer: int, head: int, outputs: tuple[int, int], token: int) -> float | None:
    """The lead in the same run with one head switched off; None where there is no room for one edit more."""
    if len(view.trace.edits) >= MOST_EDITS:
        return None
    logits = _logits(
        pipelines.run(view.choice.pipeline, view.subject, (*view.trace.edits, head_off(layer, head))), token
    )
    return float(logits[outputs[0]] - logits[outputs[1]])


def _look_at(layer: int, head: int, token: int, chosen: dict[str, Any]) -> None:
    """Open the page on which it is seen where a head looks."""
    open_with("attention", panel=None, stage=None, layer=layer, head=head, token=token, **chosen)


def _beside(view: View, lead: Lead, outputs: tuple[int, int], token: int, chosen: dict[str, Any]) -> None:
    """Each head as a point: what it wrote, and what happens to the lead where that head alone is switched off."""
    wrote = _of_heads(view, lead)
    places = [(int(layer), int(head)) for layer, head in np.ndindex(wrote.shape)]
    rows = tuple((*view.trace.edits, *off) for off in [(), *[(head_off(*place),) for place in places]])
    asked = view.choice.pipeline, view.subject, rows, outputs, token
    tokens = len(view.trace.tokens)
    if waits(view.config, tokens, len(rows), asked):
        return
    with patience(view.config, tokens, len(rows)) as progress:
        now, *after = leads(*asked, progress).tolist()
    own, falls = wrote.ravel(), now - np.array(after)
    behind = falls - own
    far = int(np.abs(behind).argmax())
    said = {"where": view.where(places[far]), "part": written(f"{own[far]:.2f}")}
    said |= {"now": written(f"{now:.2f}"), "after": written(f"{after[far]:.2f}")}
    if np.abs(behind).max() < LEAST:
        sentence = text("read_beside_same")
    else:
        sentence = f"{text('read_beside', **said)} {text(_why_apart(own[far], behind[far]))} {text('read_behind_it')}"
    sentence += f" {text('read_points')}"
    order = np.argsort(-np.maximum(np.abs(own), np.abs(falls)))[:MOST]
    hover = [
        f"{view.where(place)}: {signed(one)}, {signed(other)}"
        for place, one, other in zip(places, own.tolist(), falls.tolist(), strict=True)
    ]
    axes = word("axis_wrote"), word("axis_falls")
    figure = scatter(
        own,
        falls,
        axes,
        np.repeat(np.arange(len(wrote)), wrote.shape[1]),
        Axis.counted(plain("sidebar.layer"), len(wrote)),
        hover,
        names=[f"{layer + 1}·{head + 1}" if i in order else "" for i, (layer, head) in enumerate(places)],
        chosen=far,
        numbers=places,
        diagonal=True,
    )
    view.picture(
        "beside",
        figure,
        sentence,
        title=word("beside"),
        table=pd.DataFrame(dict(zip(axes, (own, falls), strict=True)), index=[view.where(place) for place in places]),
        on_pick=lambda layer, head: _look_at(layer, head, token, chosen),
    )


def _why_apart(own: float, behind: float) -> str:
    """The text that says how what is computed behind a head changes what its removal does. behind: by how much."""
    if abs(behind) >= abs(own):
        return "read_through"
    return "read_added" if own * behind > 0 else "read_made_up"
