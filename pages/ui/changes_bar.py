"""What the reader changed inside, in words: a badge, a list to take back from, and what pictures show."""

import streamlit as st

from model import Edit
from model.graph import Graph
from pages.ui.choice import Choice
from pages.ui.link import select
from pages.ui.text import literal, plain

SHOWN = ("changed", "original", "difference")


def changes_bar(choice: Choice, graph: Graph, tokens: list[str]) -> None:
    """Nothing where nothing is changed."""
    if not choice.edits:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="changes"):
        st.markdown(f":orange-badge[{plain('change.badge')}]", width="content")
        for number, edit in enumerate(choice.edits):
            rest = tuple(other for other in choice.edits if other != edit)
            st.button(
                literal(edit_in_words(edit, graph, tokens)),
                icon=":material/close:",
                key=f"change.{number}",
                on_click=select,
                kwargs={"edits": rest},
                help=plain("change.take_back"),
            )
        if len(choice.edits) > 1:
            st.button(plain("change.none"), key="change.none", on_click=select, kwargs={"edits": ()})
        st.session_state["change.shown"] = choice.shown
        st.segmented_control(
            plain("change.shown"),
            SHOWN,
            format_func=lambda name: plain(f"change.shown_{name}"),
            key="change.shown",
            required=True,
            label_visibility="collapsed",
            on_change=lambda: select(shown=st.session_state["change.shown"] or "changed"),
        )


def edit_in_words(edit: Edit, graph: Graph, tokens: list[str]) -> str:
    """ "layer 3, head 7: switched off"."""
    places = [layer_in_words(edit)]
    for field, name in (("head", "head"), ("neuron", "neuron")):
        if (place := getattr(edit, field)) is not None:
            places.append(plain(f"change.{name}", number=place + 1))
    for field in ("token", "looked_at"):
        if (place := getattr(edit, field)) is not None:
            known = tokens[place] if place < len(tokens) else str(place + 1)
            places.append(plain(f"change.{field}", token=known))
    said = {"value": f"{edit.value:g}".replace("-", "−")}
    if edit.from_token is not None:
        said["other"] = tokens[edit.from_token] if edit.from_token < len(tokens) else str(edit.from_token + 1)
    if edit.source is not None:
        said["source"] = edit.source if isinstance(edit.source, str) else plain("change.another")
    operation = plain(f"change.{edit.operation}", **said)
    return plain(
        "change.sentence", where=", ".join(filter(None, places)), what=quantity_in_words(edit, graph), done=operation
    )


def layer_in_words(edit: Edit) -> str:
    """ "layer 3", "all layers", or nothing outside the layers."""
    if "{l}" in edit.key:
        return plain("change.all_layers")
    parts = edit.key.split(".")
    return plain("change.layer", number=int(parts[parts.index("layers") + 1]) + 1) if "layers" in parts else ""


def quantity_in_words(edit: Edit, graph: Graph) -> str:
    """What is changed, as a reader calls it."""
    quantity = graph.get(edit.key.replace("{l}", "0"))
    if quantity is None:
        return edit.key
    if quantity.operation in ("add", "norm") and quantity.layer is not None:
        return plain(f"change.quantity_{quantity.operation}")
    part, _, name = quantity.key.rpartition(".")
    owner = part.rpartition(".")[2]
    return plain(f"change.quantity_{owner}_{name}" if name == "output" else f"change.quantity_{name}")


def toggled(choice: Choice, edit: Edit) -> tuple[Edit, ...]:
    """The reader's changes with this one taken back, or added."""
    if edit in choice.edits:
        return tuple(other for other in choice.edits if other != edit)
    return (*choice.edits, edit)
