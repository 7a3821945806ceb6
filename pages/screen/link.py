"""The session's choice and the address: each value of the choice in session state, and the whole choice in the URL.

Session state holds each value as the link means it: places counted from 1. The address is read when a visitor comes
(by a link, by a reload) and on the browser's back and forward, and at no other time: what arrives with any other run
was rendered earlier, and may be older than what was typed since.

Done here and not by Streamlit's own `bind="query-params"`: that puts a widget's translated label into the URL, while
a link must mean the same in each language.
"""

import logging
from collections.abc import Iterable
from functools import cache
from typing import Any, NoReturn

import streamlit as st

from pages.drawing.state import images
from pages.drawing.state.choice import (
    FIELDS,
    MODELS,
    OTHER,
    PICTURE,
    WITH_EDITS,
    WITH_OTHER,
    Choice,
    Field,
    Problem,
    built,
)
from pages.drawing.state.link_values import moved
from pages.drawing.state.offered import offered
from pages.drawing.text import LANGUAGES
from pages.server.streamlit_private import is_history_navigation

#: Link name -> key in session state, for what the sidebar's own widgets hold.
SIDEBAR = {name: name for name in ("lang", "input", "model", "s", "layer", "head", "big")} | {
    "ink": "drawing",
    "picture": "picture",
}
#: Where all else is kept, by its link name, in one dictionary: each look into session state takes its locks, and each
#: key there makes Streamlit's sliders and lists slower.
AT = "at"
#: Where the visitor's own picture is kept: too large for a link, it stays for the visit.
PHOTO = "photo"
#: What a page link says beside the choice: the page that it leads to. It does not stay in the address.
PAGE = "page"
#: What the next run shall choose, since widgets of this one hold it already.
NEXT = "next"
#: What was written into the address last. A click may bring an address that is older: it was made before that arrived.
WRITTEN = "written"
#: What a link may leave to the visitor's browser or to what is there already.
PERSONAL = {"lang", "s"}


def chosen() -> Choice:
    """What session state holds, as a Choice."""
    held = _held(FIELDS)
    return built(Choice, {field.path: moved(value, -field.kind.first) for field, value in held if value is not None})


def select(**values: Any) -> None:
    """Choose, from a callback: `select(token=3, key=None)`. Names and values are those of Choice; None: not chosen.

    Raises TypeError for a name that Choice has not.
    """
    if unknown := values.keys() - {field.path.partition(".")[0] for field in FIELDS}:
        raise TypeError(f"a link holds no {', '.join(sorted(unknown))}")
    wanted = []
    for field in FIELDS:
        name, _, rest = field.path.partition(".")
        if name in values:
            wanted.append((field, getattr(values[name], rest) if rest else values[name]))
    _put(wanted)


def rerun_with(**values: Any) -> NoReturn:
    """Choose from within a page, and draw all anew."""
    st.session_state[NEXT] = values
    st.rerun()


def framed() -> tuple[Any, ...]:
    """What the frame round a page shows of the choice; all else, layer, head and drawing among it, the page draws."""
    return tuple(value for _, value in _held(_framed_fields()))


@cache
def _framed_fields() -> list[Field]:
    names = SIDEBAR.keys() - {"layer", "head", "ink", "picture"}
    paths = {"twin", "hidden", "several", "of_class", *OTHER.values()}
    return [field for field in FIELDS if field.name in names or field.path in paths]


def clicked() -> str | None:
    """The URL path of the page that a link was clicked to, if any; to be asked before `arrive`.

    A field hands over what was typed in it when a click takes the focus away. That may reach us after the click, as a
    run of the page that is being left; but the browser sends with it what the link said.
    """
    return None if _comes_new() else st.query_params.get(PAGE)


def arrive() -> tuple[Problem, ...]:
    """A run's first act, before st.navigation: read the address where it counts, else bring it up to date.

    Returns what the address asks for and cannot be had. Nothing is raised: no page could be opened any more.
    """
    try:
        return _arrive()
    except Exception:
        logging.getLogger(__name__).exception("an address could not be read or written")
        _begin_anew()
        return (Problem("", "", "link_unread"),)


def _arrive() -> tuple[Problem, ...]:
    if wanted := st.session_state.pop(NEXT, None):
        select(**wanted)
    if not _comes_new():
        # Now, and not after st.navigation: the browser puts the new page's path before the query that it knows by then.
        gone = _fall_back()
        write()
        return gone
    cold, address = "lang" not in st.session_state, st.query_params.to_dict()
    st.session_state.pop(WRITTEN, None)
    choice, problems = Choice.from_link(address)
    if choice.picture == images.OWN and PHOTO not in st.session_state:
        choice = choice.with_(picture=images.READY[0])
        problems = (*problems, Problem("picture", images.OWN, "link_picture"))
    missing = PERSONAL - address.keys() | {problem.name for problem in problems if problem.name == "lang"}
    _put((field, field.of(choice)) for field in FIELDS if field.name not in missing)
    if cold and "lang" in missing:
        st.session_state["lang"] = _language()
    return problems


def _fall_back() -> tuple[Problem, ...]:
    """Let our network read the sentence in place of one that is offered no longer; what is said of that."""
    choice = chosen()
    if choice.model in (*MODELS, *offered()):
        return ()
    select(model="trained", input="sentence" if choice.input == PICTURE else choice.input)
    return (Problem("model", choice.model, "model_gone"),)


def _begin_anew() -> None:
    """Choose all anew but the language: something in the choice or in the address can be neither read nor written."""
    st.session_state.pop("s", None)  # then the sidebar takes what visitors see first
    st.session_state.setdefault("lang", _language())
    _put((field, field.default) for field in FIELDS if field.name not in PERSONAL)
    st.query_params.clear()


def write() -> Choice:
    """Write the choice into the address if something else stands there: all at once, one step for the back button.

    What can no longer be shown is forgotten, or the next change, or the next other input, would not be seen.
    """
    choice = chosen()
    others = choice.twin or any(getattr(choice, field) for field in OTHER.values())
    if choice.shown in (() if choice.edits else WITH_EDITS) + (() if others else WITH_OTHER):
        select(shown="changed")
        choice = chosen()
    wanted = choice.to_link()
    written = list(wanted.items())
    if not written == list(st.query_params.to_dict().items()) == st.session_state.get(WRITTEN, written):
        st.query_params.from_dict(wanted)
        st.session_state[WRITTEN] = written
    return choice


def _language() -> str:
    """That of the visitor's browser, if the pages speak it."""
    return next(filter((st.context.locale or "").startswith, LANGUAGES), "en")


def _comes_new() -> bool:
    """Whether the address counts: a first run, a step back, or a step forward."""
    return "lang" not in st.session_state or is_history_navigation()


def _held(fields: Iterable[Field]) -> list[tuple[Field, Any]]:
    """What session state holds for each field; None where it holds nothing."""
    own, at = st.session_state, st.session_state.get(AT, {})
    return [(field, own.get(SIDEBAR[name]) if (name := field.name) in SIDEBAR else at.get(name)) for field in fields]


def _put(values: Iterable[tuple[Field, Any]]) -> None:
    at = dict(st.session_state.get(AT, {}))
    for field, value in values:
        place, key = (st.session_state, SIDEBAR[field.name]) if field.name in SIDEBAR else (at, field.name)
        place[key] = moved(value, field.kind.first)
    st.session_state[AT] = at
