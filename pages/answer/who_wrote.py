"""Who wrote the answer: by how much one output leads another, and what each part of the network has in that."""

from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from model import Trace
from model.measures.sources import Lead, nbytes, of_lead
from pages.answer.pictures import built_up, heads_and_ffns
from pages.answer.tree import Tree, parts_of_lead
from pages.drawing.cache import once_a_run
from pages.drawing.pictures.sources import MOST_BYTES, Way
from pages.drawing.screen import Screen
from pages.drawing.text import plain, texts_of
from pages.screen.frame.pen import Pen

SAME = 1e-3  # closer together, two leads are one
text, word = texts_of("wrote")
_lead = once_a_run(of_lead)


class Wanted(NamedTuple):
    """A lead at a token: of which outputs, the one over the other."""

    lead: Lead
    outputs: tuple[int, int]
    token: int


def lead_at(run: Trace, token: int, output: int) -> Wanted | None:
    """By how much an output leads the strongest other one. None: of this run it can't be told, which a line says.

    token: of words, the place of the guess.
    """
    if run.edited and nbytes(run, heads=True) > MOST_BYTES:
        st.info(plain("source.too_large"), icon=":material/info:")
        return None
    logits = _logits(run, token)
    against = int(np.where(np.arange(len(logits)) == output, -np.inf, logits).argmax())
    lead = _lead(run, output, against, token)
    if abs(lead.value - float(logits[output] - logits[against])) > SAME * max(1.0, abs(lead.value)):
        st.info(text("changed"), icon=":material/info:")
        return None
    return Wanted(lead, (output, against), token)


def by_parts(screen: Screen, pen: Pen, token: int, output: int) -> None:
    """The lead part by part, as it comes about; a click opens a part where it stands."""
    if wanted := lead_at(screen.run, token, output):
        tree = Tree(screen, pen, wanted.outputs, token)
        if tree.closed:
            pen.show("wrote", built_up(screen.run, wanted.lead, wanted.outputs, opens(screen.run, wanted)))
        else:
            tree.as_bars()
        st.caption(text("exact" if wanted.lead.exact else "in_order"))


def by_heads(screen: Screen, pen: Pen, token: int, output: int, **chosen: Any) -> None:
    """The same for heads and FFNs as a map, in which a click opens one.

    chosen: what a click that leads to another page chooses besides.
    """
    run = screen.run
    if wanted := lead_at(run, token, output):
        of_heads = _lead(run, *wanted.outputs, token, heads=True)
        pen.show("heads", heads_and_ffns(run, of_heads, wanted.outputs, token, opens(run, wanted), **chosen))
        if not screen.choice.big:
            st.caption(f"{text('direct')} {text('exact' if wanted.lead.exact else 'in_order')}")


def opens(run: Trace, wanted: Wanted) -> dict[str, Way]:
    """The parts of a lead that can be opened, heads among them, and how; none where an edit stands on the way."""
    parts = parts_of_lead(run, wanted.outputs, wanted.token)
    names, found = [part.name for part in parts], {}
    for at, name in enumerate(names):
        if parts[at].opens and names.count(name) == 1:
            found[name] = [at]
            if name.endswith("attention.output"):
                heads = name.replace("output", "heads")
                found |= {f"{heads}[{head}]": [at, head] for head in range(run.config.heads)}
    return {name: ("", {"stage": "answer", "branch": tuple(branch)}) for name, branch in found.items()}


def _logits(trace: Trace, token: int) -> np.ndarray:
    logits = trace["logits"]
    return logits[token] if logits.ndim == 2 else logits
