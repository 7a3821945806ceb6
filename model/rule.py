"""Rules in einsum notation say from which cells a cell is computed: "hic,hjc->hij".

S[h, i, j] is computed from Q[h, i, c] and K[h, j, c]. A letter not in the result takes all its values. "(hc)" is one
axis of h parts of size c; a digit is a fixed index, from 0.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

EVERY = slice(None)
Index = tuple[Any, ...]  # of ints and slices
Letters = tuple[str, ...]  # of each axis


@lru_cache(maxsize=256)
def sides(rule: str) -> tuple[list[Letters], Letters]:
    """The letters of each term's axes, and of the result's: "i(hc)->hic" is [("i", "hc")], ("h", "i", "c")."""
    *terms, result = (
        tuple(axis.strip("()") for axis in re.findall(r"\(\w+\)|\w", side)) for side in re.split(",|->", rule)
    )
    return terms, result


def summed(rule: str) -> str:
    """The letter over which two terms are multiplied and summed; "" if the rule is no such product."""
    terms, result = sides(rule)
    one, other, *_ = *map("".join, terms), "", ""
    return next((letter for letter in one if letter in other and letter not in result), "")


def cells(rule: str, index: Index, sizes: Mapping[str, int]) -> list[Index]:
    """For each term, the cells from which those at `index` of the result are computed.

    sizes: of the letters in brackets, except the first in each.
    """
    terms, result = sides(rule)
    at: dict[str, int | slice] = {}
    for letters, place in zip(result, index, strict=True):
        for letter in reversed(letters[1:]):
            if isinstance(place, int):
                place, at[letter] = divmod(place, sizes[letter])
        at[letters[0]] = place

    def along(letters: str) -> int | slice:
        place = int(letters) if letters.isdigit() else at.get(letters[0], EVERY)
        for letter in letters[1:]:
            within = at.get(letter, EVERY)
            if isinstance(place, int):
                start = place * sizes[letter]
                place = start + within if isinstance(within, int) else slice(start, start + sizes[letter])
        return place

    return [tuple(map(along, term)) for term in terms]
