"""What a visitor sees first: a sentence, a head and one of its words, chosen by the measured roles of heads."""

from functools import cache

from model import WeightsError
from model.measures.tables import HeadRoles, Striking, head_roles
from pages.drawing.text import LANGUAGES


def first_picture(lang: str) -> Striking | None:
    """The first picture for a language; None where no roles were measured."""
    roles = _roles()
    return roles.first(lang) if roles else None


def first_place(sentence: str) -> int | None:
    """The place of the query in a sentence that visitors see first; None in any other."""
    roles = _roles()
    firsts = [first for lang in LANGUAGES if roles and (first := roles.first(lang))]
    return next((first.query for first in firsts if first.text == sentence), None)


@cache  # every run of a page asks
def _roles() -> HeadRoles | None:
    try:
        return head_roles()
    except WeightsError:  # reported where the table is shown
        return None
