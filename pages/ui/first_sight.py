"""What a visitor sees first: a sentence, a head and a word of it, chosen from what was measured of the heads."""

from model import WeightsError
from model.tables import Striking, head_roles
from pages.ui.choice import LANGUAGES


def first_picture(lang: str) -> Striking | None:
    """The picture that a visitor who reads this language begins with; None where nothing was measured."""
    try:
        roles = head_roles()
    except WeightsError:  # a damaged table is named where it is asked for
        return None
    return roles.first(lang) if roles else None


def first_place(sentence: str) -> int | None:
    """In a sentence that visitors see first, the place of the word that looks; None in any other."""
    firsts = [first for lang in LANGUAGES if (first := first_picture(lang))]
    return next((first.query for first in firsts if first.text == sentence), None)
