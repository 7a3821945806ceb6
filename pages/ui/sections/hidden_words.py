"""The sentence as words that a click hides."""

import streamlit as st

from model.analysis import spelled, whole_words
from model.measures.comparison import align
from pages.ui.frame.pickers import told_apart
from pages.ui.runs.masks import hidden_places, with_masks
from pages.ui.state.link import select
from pages.ui.text import plain
from pages.ui.view import View

WIDGET = "words"


def clickable_words(view: View, several: bool = False) -> tuple[int, dict[int, int | None]]:
    """What `asked_place` returns, under the sentence as large words: a click hides one, another shows it again.

    several: a click leaves those hidden that are.
    """
    if view.says_words:
        draw_words(view, several)
    return asked_place(view)


def draw_words(view: View, several: bool) -> None:
    """The words as buttons."""
    read = view.typed
    words = whole_words(read.tokens)
    hidden, typed = hidden_places(view.choice, read)
    lit = [i for i, places in enumerate(words) if hidden & set(places)]

    def clicked() -> None:
        for word in set(st.session_state[WIDGET]) ^ set(lit):
            places = set(words[word])
            kept = hidden - typed if several else set()
            wanted = hidden - typed - places if hidden & places else kept | places
            if not typed & places:
                token = None if wanted and not several and not typed else words[word][0]  # the hidden one is the usual
                select(hidden=tuple(sorted(wanted)), token=token, output=None)

    spellings = [spelled([read.tokens[place] for place in places]) for places in words]
    names = told_apart(spellings)
    icons = [":material/visibility_off: " if i in lit else "" for i in range(len(words))]
    st.session_state[WIDGET] = lit
    st.pills(
        plain("words.label"),
        range(len(words)),
        selection_mode="multi",
        format_func=lambda i: icons[i] + names[i],
        key=WIDGET,
        on_change=clicked,
    )


def asked_place(view: View) -> tuple[int, dict[int, int | None]]:
    """The place whose guess is shown, and the hidden places, each with the id of the word that stands there.

    That is None where the sentence itself says [MASK]. Of what says classes nothing is hidden: 0, {}. From here on the
    view is about the run in which the hidden words read [MASK], as do those in their place in an input that it is
    compared with.
    """
    if not view.says_words:
        return 0, {}
    read = view.typed
    hidden, typed = hidden_places(view.choice, read)
    if hidden - typed and (masked := with_masks(view.pipeline, read.ids, hidden)) != view.subject:
        view.follow(view.choice.pipeline, masked)
    if view.other and view.shows in ("against", "beside"):
        pairs = align(read.tokens, view.other.tokens)
        there = [pair.other for pair in pairs if pair.one in hidden - typed and pair.other is not None]
        view.compare_with(with_masks(view.pipeline, view.other.ids, there))
    found = {place: None if place in typed else read.ids[place] for place in sorted(hidden)}
    return _place_to_show(view, found), found


def to_keep_hidden(view: View, found: dict[int, int | None]) -> tuple[int, ...] | None:
    """What `Choice.hidden` must be for another page to hide the same. found: what `clickable_words` hid."""
    return tuple(place for place, word in found.items() if word is not None) or view.choice.hidden


def _place_to_show(view: View, hidden: dict[int, int | None]) -> int:
    """The place whose guess is shown: the selected token if it is hidden, or where nothing is; else a hidden one."""
    if hidden:
        return view.token if view.token in hidden else next(iter(hidden))
    words = [place for places in whole_words(view.trace.tokens) for place in places]
    return view.token if view.token in words else words[0]
