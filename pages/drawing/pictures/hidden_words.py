"""The hidden words that a page asks the reader for."""

from model.analysis import whole_words
from pages.drawing.masks import guesses_words
from pages.drawing.picture import says_words
from pages.drawing.screen import Screen
from pages.drawing.text import t


def asked_place(screen: Screen) -> tuple[int, dict[int, int | None]]:
    """The place whose guess is shown, and hidden place -> id of its word, None where the sentence itself has [MASK].

    For a network that answers with classes: 0, {}.
    """
    if not says_words(screen.run):
        return 0, {}
    typed, hidden = screen.typed, [place for place, token in enumerate(screen.run.tokens) if token == "[MASK]"]
    found = {place: None if typed.tokens[place] == "[MASK]" else typed.ids[place] for place in hidden}
    return _place_to_show(screen, found), found


def to_keep_hidden(screen: Screen, found: dict[int, int | None]) -> tuple[int, ...] | None:
    """The `Choice.hidden` with which another page hides the same words. found: from `asked_place`."""
    return tuple(place for place, word in found.items() if word is not None) or screen.choice.hidden


def how_to_hide(screen: Screen, place: int) -> str:
    """What to click so that the network guesses the word at a place; "" where no click hides it, as in a class."""
    clickable = guesses_words(screen.pipeline) and screen.choice.of_class is None and screen.shows != "other"
    words = {at for places in whole_words(screen.typed.tokens) for at in places}
    return t("words.hide") if clickable and place in words else ""


def _place_to_show(screen: Screen, hidden: dict[int, int | None]) -> int:
    """The place whose guess is shown: the selected token, if it is hidden or nothing is; else the first hidden one."""
    if hidden:
        return screen.at.token if screen.at.token in hidden else next(iter(hidden))
    words = [place for places in whole_words(screen.run.tokens) for place in places]
    return screen.at.token if screen.at.token in words else words[0]
