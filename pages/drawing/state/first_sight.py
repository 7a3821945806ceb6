"""What a visitor sees first: a sentence, a head and a word of it, chosen from what was measured of the heads."""

from functools import cache

from model import WeightsError
from model.measures.tables import HeadRoles, Striking, head_roles
from pages.drawing.text import LANGUAGES


def first_picture(lang: str) -> Striking | None:
    """The picture that a visitor who reads this language begins with; None where nothing was measured."""
    roles = _roles()
    return roles.first(lang) if roles else None


def first_place(sentence: str) -> int | None:
    """In a sentence that visitors see first, the place of the word that looks; None in any other."""
    roles = _roles()
    firsts = [first for lang in LANGUAGES if roles and (first := roles.first(lang))]
    return next((first.query for first in firsts if first.text == sentence), None)


@cache  # asked for in each run of a page
def _roles() -> HeadRoles | None:
    try:
        return head_roles()
    except WeightsError:  # a damaged table is named where it is asked for
        return None
