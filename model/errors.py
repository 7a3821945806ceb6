"""Errors with a reason that pages put into words."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import ClassVar


class ReasonedError(ValueError):
    """`reason` names what is wrong, `values` holds the names and numbers concerned.

    `sentences`: the message for each reason, a format string for the values.
    """

    sentences: ClassVar[Mapping[str, str]] = {}

    def __init__(self, reason: str, **values: object) -> None:
        super().__init__(f"{reason}: {values}")
        self.reason = reason
        self.values = values

    def __str__(self) -> str:
        sentence = self.sentences.get(self.reason)
        return sentence.format(**self.values) if sentence else super().__str__()


def nearest(name: object, names: Iterable[str], otherwise: str) -> str:
    """The known names most like an unknown one: "'Q' or 'K'"; `otherwise` if none is similar."""
    return " or ".join(map(repr, get_close_matches(str(name), [*names], n=3))) or otherwise
