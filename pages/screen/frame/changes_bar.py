"""The reader's changes and the input compared with, in words, with buttons to undo them."""

import re
from collections.abc import Sequence
from itertools import chain

import streamlit as st

from model import Edit, Trace
from model.analysis import placed
from model.config import DECODER, PRESETS
from model.edits import quantities_at
from model.graph import Graph, Quantity
from model.graph import graph as graph_of
from model.measures.comparison import align
from pages.drawing.figures import theme
from pages.drawing.state import images, sketch
from pages.drawing.state.choice import OTHER, Choice
from pages.drawing.state.link_values import EDITS, MOST_CODE, MOST_EDITS, edit_code
from pages.drawing.text import class_label, literal, plain, t
from pages.screen.frame.pickers import bound, sentence_box
from pages.screen.link import chosen, select

SMALL = 46  # pixels of a picture in a line
NOTHING_ELSE = dict.fromkeys(OTHER.values()) | {"twin": False}  # values of Choice that end a comparison


def changes_bar(choice: Choice, own: Trace, waiting: tuple[Edit, ...] = ()) -> None:
    """A badge, and a button for each change that undoes it. Nothing without changes.

    waiting: changes that do not fit here, in grey.
    """
    if not choice.edits and not waiting:
        return
    if choice.edits and not (choice.big and choice.other_subject):  # one row of both
        st.markdown(f":orange-badge[{plain('change.badge')}]", width="content")
    edits = chosen().edits
    shown = [(place, edit) for some in (choice.edits, waiting) for place, edit in enumerate(edits) if edit in some]
    for number, (place, edit) in enumerate(shown):
        words = literal(edit_in_words(edit, own.graph, own.tokens))
        st.button(
            f":gray[{words}]" if edit in waiting else words,
            icon=":material/close:",
            key=f"change.{number}",
            on_click=select,
            kwargs={"edits": edits[:place] + edits[place + 1 :]},  # only this one of equal changes
            help=plain("change.waits" if edit in waiting else "change.take_back"),
        )
    if len(choice.edits) + len(waiting) > 1:
        st.button(plain("change.none"), key="change.none", on_click=select, kwargs={"edits": ()})
    if edits and is_full(edits, (max(edits, key=lambda edit: len(edit_code(edit))),)):
        st.caption(t("change.full", n=len(edits)))


def compare_bar(choice: Choice, own: Trace, rival: Trace, typed: Sequence[str]) -> None:
    """The words that have no counterpart in the other text (see the line on top), or the other picture; and a button
    that ends the comparison.

    rival: the run of the other input as typed. typed: the tokens of the reader's input, none hidden.
    """
    if own.ids:
        pairs = align(typed, rival.tokens)
        missing = [typed[pair.one] for pair in pairs if pair.one is not None and pair.other is None]
        if missing:
            names = plain("compare.and").join(plain("common.quoted", token=token) for token in missing)
            st.caption(t("compare.missing", names=names, here=len(own.tokens), there=len(rival.tokens)))
        _stop()
        return
    st.markdown(f":violet-badge[{plain('compare.badge')}]", width="content")
    if choice.other_picture and choice.other_subject:
        st.image(choice.other_subject, width=SMALL, alt=plain(f"sidebar.picture_{choice.other_picture}"))
    if own.answer and rival.answer:
        there, here = (class_label(run.answer[0].best) for run in (rival, own))
        st.markdown(t("compare.drawings", there=there, here=here), width="content")
    _stop()


def twin_bar() -> None:
    """A badge for the comparison with the untrained network, and a button that ends it."""
    st.markdown(f":violet-badge[{plain('compare.twin_badge')}]", width="content")
    _stop()


def _stop() -> None:
    """A button that ends the comparison; in a presentation it names that as shortly as those of changes."""
    look = {"icon": ":material/close:", "help": plain("compare.stop")}
    st.button(
        plain("compare.chip" if theme.big() else "compare.stop"),
        key="compare.stop",
        on_click=select,
        kwargs=NOTHING_ELSE,
        **look,
    )


def shown_switch(ways: list[str], shown: str, *, this: str) -> None:
    """Buttons for what pictures show: one run, both, or the difference. this: the name of the page's run in a
    comparison: "this", "trained".
    """
    words = {way: plain(f"change.shown_{way}") for way in ways}
    if "original" not in ways:
        words["changed"] = plain(f"change.shown_{this}")
    look = bound("change.shown", shown, lambda way: select(shown=way), anew=True)
    look |= {"format_func": words.__getitem__, "required": True, "label_visibility": "collapsed"}
    st.segmented_control(plain("change.shown"), ways, **look)
    if shown in ("difference", "against"):
        st.caption(t("change.differs"))


def compare_box(choice: Choice) -> None:
    """In the drawer: another input to compare with on every page.

    Not in a popover: the browser would keep a typed text there, and send it again after the comparison has ended.
    """
    other_input(choice, "compare")
    if not (choice.paper or choice.checkpoint):
        look = bound("compare.twin", choice.twin, _beside_twin)
        st.toggle(plain("compare.twin"), help=plain("compare.twin_says"), **look)


def _beside_twin(on: bool) -> None:
    select(**NOTHING_ELSE | {"twin": on, "shown": "beside" if on else "changed"})


def other_input(choice: Choice, name: str) -> None:
    """A field for the other sentence, or buttons for ten digits or the ready pictures.

    name: begins the widgets' keys. Each kind of input has its own widget, so that no value passes to another kind.
    """
    field = OTHER[choice.input]
    widget = f"{name}.{field}"
    if field == "other":
        st.session_state[widget] = choice.other or ""
        sentence_box(
            plain("compare.sentence"),
            widget,
            lambda sentence: select(other=sentence or None, twin=False, shown="beside" if sentence else "changed"),
            placeholder=plain("compare.hint"),
        )
        return
    words: dict[str | bytes, str]
    if field == "other_picture":
        label = plain("sidebar.picture")
        words = {name: plain(f"sidebar.picture_{name}") for name in (*images.READY, images.PAD)}
    else:
        label, words = plain("compare.digit"), {sketch.example(digit): str(digit) for digit in range(10)}
    now = getattr(choice, field)
    st.session_state[widget] = now if now in words else None
    st.pills(
        label,
        list(words),
        format_func=words.__getitem__,
        key=widget,
        on_change=lambda: select(**{field: st.session_state[widget], "twin": False}),
    )


def edit_in_words(edit: Edit, graph: Graph, tokens: list[str]) -> str:
    """ "layer 3, head 7: switched off"."""
    places = [*side_in_words(edit), layer_in_words(edit)]
    for field, name in (("head", "head"), ("neuron", "neuron")):
        if (place := getattr(edit, field)) is not None:
            places.append(plain(f"change.{name}", number=place + 1))
    known = dict(enumerate(placed(tokens)))  # other places are named by numbers
    for field in ("token", "looked_at"):
        if (place := getattr(edit, field)) is not None:
            places.append(plain(f"change.{field}", token=known.get(place, place)))
    said = {} if edit.value is None else {"value": f"{edit.value:g}"}
    if edit.from_token is not None:
        said["other"] = known.get(edit.from_token, str(edit.from_token))
    if edit.source is not None:
        said["source"] = edit.source if isinstance(edit.source, str) else plain("change.another")
    operation = plain(f"change.{edit.operation}", **said)
    where = plain("compare.and").join(filter(None, places))
    words = plain("change.sentence", where=where, what=quantity_in_words(edit, graph), done=operation)
    return words.removeprefix(" · ")  # outside the layers there may be no place to name


def side_in_words(edit: Edit) -> list[str]:
    """ "decoder", and which of its attentions if the quantity leaves that open; [] in an encoder."""
    if not edit.key.startswith("decoder."):
        return []
    part, _, name = edit.key.rpartition(".")
    sub = part.rpartition(".")[2]
    told = sub in ("attention", "cross") and name != "output"
    return [plain("change.decoder"), *([plain(f"change.quantity.{sub}_output")] if told else [])]


def layer_in_words(edit: Edit) -> str:
    """ "layer 3", "all layers", or "" outside the layers."""
    if "{l}" in edit.key:
        return plain("change.all_layers")
    layer = re.search(r"\blayers\.(\d{1,4})\b", edit.key)  # a link may name a key that no network has
    return plain("change.layer", number=int(layer[1]) + 1) if layer else ""


def quantity_in_words(edit: Edit, graph: Graph) -> str:
    """The reader's name for the changed quantity, also for a decoder's on pages without a decoder."""
    if edit.key.startswith("decoder.") and graph.decoder is None:
        graph = graph_of(PRESETS["text"], DECODER)
    known = (quantities_at(one, edit.key) for one in (graph, graph_of(PRESETS["text"])))
    quantity = next(chain.from_iterable(known), None)
    if quantity is None or quantity.key == "answer":  # nothing that can be changed
        return edit.key
    name = quantity.key.rpartition(".")[2]
    if name.isdigit():
        return plain("change.quantity.in_head", step=int(name) + 1)
    return plain(named(quantity))


def named(quantity: Quantity) -> str:
    """The key of the reader's name for a quantity: for all that can be changed, except steps inside a head."""
    if quantity.operation in ("add", "norm") and quantity.layer is not None:
        return f"change.quantity.{quantity.operation}"
    if quantity.key == "norm":
        return "change.quantity.norm_final"
    part, _, name = quantity.key.rpartition(".")
    owner = part.rpartition(".")[2]
    return f"change.quantity.{owner}_{name}" if name == "output" else f"change.quantity.{name}"


def toggled(edit: Edit) -> tuple[Edit, ...]:
    """The reader's changes, waiting ones included, without this one, or with it if a link has room."""
    edits = chosen().edits
    if edit in edits:
        return tuple(other for other in edits if other != edit)
    return edits if is_full(edits, (edit,)) else (*edits, edit)


def is_full(edits: tuple[Edit, ...], more: tuple[Edit, ...]) -> bool:
    """Whether a link has no room for both these changes and `more`."""
    return len(edits) + len(more) > MOST_EDITS or len(EDITS.write((*edits, *more))) > MOST_CODE
