"""Keep the choice in session state and in the address.

Session state counts places from 1, as links do. The address is read only when a visitor arrives (by a link or a reload)
and on the browser's back and forward; in any other run it may be older than what was typed since.

Streamlit's own `bind="query-params"` would put translated labels into the URL, but a link must mean the same in each
language.
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

#: Link name -> key in session state, for values of the frame's widgets.
SIDEBAR = {name: name for name in ("lang", "input", "model", "s", "layer", "head", "big")} | {
    "ink": "drawing",
    "picture": "picture",
}
#: In the session: all other values, by link name, in one dictionary: each access to session state takes its locks, and
#: each key slows Streamlit's sliders and lists.
AT = "at"
#: In the session: the visitor's own picture, for the visit; it is too large for a link.
PHOTO = "photo"
#: In a page link: the page that it leads to. The address does not keep it.
PAGE = "page"
#: In the session: values for the next run to choose, because this run's widgets exist already.
NEXT = "next"
#: In the session: the address written last. A click may bring an older one.
WRITTEN = "written"
#: Values that a link may leave to the visitor's browser or session.
PERSONAL = {"lang", "s"}


def chosen() -> Choice:
    """The choice in session state."""
    held = _held(FIELDS)
    return built(Choice, {field.path: moved(value, -field.kind.first) for field, value in held if value is not None})


def select(**values: Any) -> None:
    """Choose values, from a callback: `select(token=3, key=None)`. Names and values as in Choice; None: not chosen.

    Raises TypeError for names that Choice lacks.
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
    """Choose values from within a page, and rerun all."""
    st.session_state[NEXT] = values
    st.rerun()


def framed() -> tuple[Any, ...]:
    """The values of the choice that the frame shows; the page shows the others, such as layer, head and drawing."""
    return tuple(value for _, value in _held(_framed_fields()))


@cache
def _framed_fields() -> list[Field]:
    names = SIDEBAR.keys() - {"layer", "head", "ink", "picture"}
    paths = {"twin", "hidden", "several", "of_class", *OTHER.values()}
    return [field for field in FIELDS if field.name in names or field.path in paths]


def clicked() -> str | None:
    """The URL path of the page that a clicked link leads to, if any; call it before `arrive`.

    A click elsewhere makes a field send its text, perhaps after the click, in a run of the page being left. The browser
    then sends the link's query, too.
    """
    return None if _comes_new() else st.query_params.get(PAGE)


def arrive() -> tuple[Problem, ...]:
    """Read the address if it counts, else update it; call it first in a run, before st.navigation.

    Returns the values that cannot be used. Never raises, or no page could be opened.
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
        # Before st.navigation: then the browser joins the new page's path with the query that it knows.
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
    """Choose our network in place of one that is no longer offered; return what to say about it."""
    choice = chosen()
    if choice.model in (*MODELS, *offered()):
        return ()
    select(model="trained", input="sentence" if choice.input == PICTURE else choice.input)
    return (Problem("model", choice.model, "model_gone"),)


def _begin_anew() -> None:
    """Reset all but the language, if the choice or the address can be neither read nor written."""
    st.session_state.pop("s", None)  # then `line.begin` chooses the first sentence
    st.session_state.setdefault("lang", _language())
    _put((field, field.default) for field in FIELDS if field.name not in PERSONAL)
    st.query_params.clear()


def write() -> Choice:
    """Write the choice into the address if it differs: all at once, one step for the back button.

    A `shown` that is impossible now is reset, or the next change or other input would not appear.
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
    """The browser's language, if the pages have it; else English."""
    return next(filter((st.context.locale or "").startswith, LANGUAGES), "en")


def _comes_new() -> bool:
    """Whether the address counts: in a first run, or on back or forward."""
    return "lang" not in st.session_state or is_history_navigation()


def _held(fields: Iterable[Field]) -> list[tuple[Field, Any]]:
    """Each field with its value in session state, None if there is none."""
    own, at = st.session_state, st.session_state.get(AT, {})
    return [(field, own.get(SIDEBAR[name]) if (name := field.name) in SIDEBAR else at.get(name)) for field in fields]


def _put(values: Iterable[tuple[Field, Any]]) -> None:
    at = dict(st.session_state.get(AT, {}))
    for field, value in values:
        place, key = (st.session_state, SIDEBAR[field.name]) if field.name in SIDEBAR else (at, field.name)
        place[key] = moved(value, field.kind.first)
    st.session_state[AT] = at
