"""By what a head finds a token: its own word, its place, or what attention brought there from others; beside what the
head was measured to do, and where the two do not agree, what it is instead.
"""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace, WeightsError
from model.origins import KINDS, by_place, nbytes, of_reads, shares
from model.tables import Role, head_roles
from pages.ui.figures import Axis, scatter
from pages.ui.runs import pipelines
from pages.ui.runs.measure import of_both
from pages.ui.sections.patience import waits
from pages.ui.sections.roles import measured_role, source
from pages.ui.sections.sources import MOST_BYTES
from pages.ui.server.cache import once_a_run
from pages.ui.state.link import select
from pages.ui.text import joined, plain, texts_of
from pages.ui.text.numbers import percent, signed, written
from pages.ui.view import View

RUNS = 8  # as many runs of the network take about as long
BY_PLACE = ("next", "previous")  # roles of which places decide; by others, what stands there
BY_CONTENT = ("same", "word", "relation", "punctuation", "aligned", "aligned_next")
MUCH = 0.5  # what a share lies below 0 where large parts cancel each other
text, word = texts_of("origins")


@once_a_run
def of_heads(run: Trace) -> np.ndarray:
    """The shares of all heads of the encoder: (layer, head, kind)."""
    known = of_reads(run)
    layers, heads = range(run.graph.layers()), range(run.config.heads)
    of = [[shares(run, run.graph.sublayers(layer)[0], head, known) for head in heads] for layer in layers]
    return np.array([[[*one.values()] for one in row] for row in of])


def can_be_told(view: View) -> bool:
    """Whether words and places are apart in this network, and there are tokens to choose from."""
    return by_place(view.trace.graph) and len(view.trace.tokens) > 1


def every_head(view: View) -> None:
    """Each head as a point: to the right those that find tokens by their places, at the top by their own words."""
    if nbytes(view.trace) > MOST_BYTES:
        st.info(plain("source.too_large"), icon=":material/info:")
        return
    asked = "origins", view.choice.pipeline, view.subject, view.trace.edits
    if waits(view.config, len(view.trace.tokens), RUNS, asked):
        return
    drawn = view.both(lambda run: of_heads(run).reshape(-1, len(KINDS)))
    rows, layers, heads = drawn.values, view.config.layers, view.config.heads
    places = [(int(layer), int(head)) for layer, head in np.ndindex(layers, heads)]
    names = [f"{layer + 1}·{head + 1}" for layer, head in places]
    first = {kind: int(rows[:, KINDS.index(kind)].argmax()) for kind in ("word", "place", "brought")}
    said = {f"{kind}_head": names[place] for kind, place in first.items()}
    said |= {kind: _share(rows[place, KINDS.index(kind)]) for kind, place in first.items()}
    chosen = view.layer * heads + view.head
    own = _own(view.trace)
    axes = word("axis_place"), word(f"axis_{own}")
    order = np.argsort(-rows[:, 1], kind="stable")
    figure = scatter(
        rows[:, 1],
        rows[:, 0],
        axes,
        np.repeat(np.arange(layers), heads),
        Axis.counted(plain("heads.axis_layer"), layers),
        [f"{view.where(place)}: {_in_words(row, own)}" for place, row in zip(places, rows, strict=True)],
        names=[name if i // heads == view.layer or i in first.values() else "" for i, name in enumerate(names)],
        chosen=chosen,
        numbers=places,
        before=None if drawn.other is None else drawn.other[:, [1, 0]],
    )
    columns = [word(f"column_{own if kind == 'word' else kind}") for kind in KINDS]
    tables = [None if run is None else pd.DataFrame(run, names, columns) for run in (rows, drawn.other)]
    view.picture(
        "origins",
        figure,
        text(f"read_{own}" if rows[:, 2].any() else f"read_one_{own}", **said),
        title=word("title"),
        table=of_both(*tables).iloc[order],
        shows=drawn,
        on_pick=lambda layer, head: select(layer=layer, head=head),
    )
    st.markdown(
        of_head(view, f"layers.{view.layer}.attention.", view.head, dict(zip(KINDS, rows[chosen], strict=True)))
    )
    st.caption(text("held"))


def of_head(view: View, prefix: str, head: int, found: dict[str, float]) -> str:
    """The shares of one head, what it was measured to do, and whether the two agree."""
    where = view.where((int(re.findall(r"\d+", prefix)[0]), head))
    said = {"where": where, "shares": _in_words([found[kind] for kind in KINDS], _own(view.trace))}
    role = _role(view, prefix, head)
    if role is None:
        told = [text("read_head", **said)]
    else:
        told = [text("read_head_role", role=measured_role(role), **said)]
        if key := agreement(role, found):
            told.append(text(key, baseline=percent(max(0.0, role.share - role.margin))))
    if min(found.values()) < -MUCH:
        told.append(text("cancel"))
    return joined(" ".join(told))


def of_cell(view: View, key: str, found: dict[str, float]) -> str:
    """What one score above (or below) the mean of its row is made of."""
    own = _own(view.trace)
    parts = plain("common.comma").join(
        word(f"part_{own if kind == 'word' else kind}", part=signed(value)) for kind, value in found.items()
    )
    return text("read_cell", key=key, above=signed(sum(found.values())), parts=parts)


def agreement(role: Role, found: dict[str, float]) -> str | None:
    """The text that says whether a head goes by what its role suggests; None where that suggests nothing."""
    most = max(KINDS, key=found.__getitem__)
    if not role.clear or most == "rest":
        return None
    if role.name in BY_PLACE:
        return "agree_place" if most == "place" else f"instead_{most}"
    if role.name in BY_CONTENT:
        if most != "place":
            return f"agree_{most}"
        return "instead_place_relation" if role.relation else "instead_place"
    return "either" if role.name == "itself" else None


def _role(view: View, prefix: str, head: int) -> Role | None:
    """What a head was measured to do; of our translator's decoder, too."""
    try:
        roles = head_roles("translation" if prefix.startswith("decoder.") else source(view.choice.pipeline))
    except WeightsError as error:
        pipelines.explain_weights(error)
        return None
    try:
        return None if roles is None else roles.at(prefix.removesuffix("."), head)
    except KeyError:
        return None


def _in_words(row: Sequence[float], own: str) -> str:
    """ "word 4%, place 114%, …": the shares of KINDS."""
    kinds = [own, *KINDS[1:]]
    return plain("common.comma").join(
        word(f"share_{kind}", share=_share(value)) for kind, value in zip(kinds, row, strict=True)
    )


def _own(trace: Trace) -> str:
    return "word" if trace.picture is None else "patch"


def _share(value: float) -> str:
    return written(f"{value:.0%}")
