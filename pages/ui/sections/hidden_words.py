"""The hidden words that a page asks for."""

from model.analysis import whole_words
from pages.ui.view import View


def asked_place(view: View) -> tuple[int, dict[int, int | None]]:
    """The place whose guess is shown, and the hidden places, each with the id of the word that stands there.

    That is None where the sentence itself says [MASK]. Of what says classes nothing is hidden: 0, {}.
    """
    if not view.says_words:
        return 0, {}
    typed, hidden = view.typed, [place for place, token in enumerate(view.trace.tokens) if token == "[MASK]"]
    found = {place: None if typed.tokens[place] == "[MASK]" else typed.ids[place] for place in hidden}
    return _place_to_show(view, found), found


def to_keep_hidden(view: View, found: dict[int, int | None]) -> tuple[int, ...] | None:
    """What `Choice.hidden` must be for another page to hide the same. found: as `asked_place` has it."""
    return tuple(place for place, word in found.items() if word is not None) or view.choice.hidden


def _place_to_show(view: View, hidden: dict[int, int | None]) -> int:
    """The place whose guess is shown: the selected token if it is hidden, or where nothing is; else a hidden one."""
    if hidden:
        return view.token if view.token in hidden else next(iter(hidden))
    words = [place for places in whole_words(view.trace.tokens) for place in places]
    return view.token if view.token in words else words[0]
