"""What cannot be done, and why: whoever shows it has the words."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import ClassVar


class ReasonedError(ValueError):
    """`reason` says in a word why something cannot be done, `values` what is concerned.

    `sentences`: what is printed for each reason, with the values in it.
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
    """The names that are most like a name that there is not: "'Q' or 'K'"; `otherwise` where none is like it."""
    return " or ".join(map(repr, get_close_matches(str(name), [*names], n=3))) or otherwise
