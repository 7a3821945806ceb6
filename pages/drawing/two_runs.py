"""Two runs compared: numbers of both, or their difference, each token's against its counterpart's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from model import Trace
from model.edits import PARTS
from model.measures.comparison import Pair, align, in_place_of
from pages.drawing.picture import Numbers, Picks
from pages.drawing.place import Place

#: Values of `shows` for which pictures draw the difference of two runs.
DIFFERENCES = ("difference", "against")


@dataclass(frozen=True)
class TwoRuns:
    """The run on the screen, and the one that it is compared with, if any.

    other: the run without changes, of another input, or of the untrained twin. shows: how the two are shown, see
    `choice.SHOWN`. at: the place on the screen.
    """

    run: Trace
    other: Trace | None
    shows: str
    at: Place

    def numbers(self, of: Callable[[Trace, Place], Sequence[Numbers]]) -> list[Numbers]:
        """The numbers that `of` takes from the run, compared with those from the other run."""
        return self.compared(of(self.run, self.at), of, "less")

    def compared(
        self,
        here: Sequence[Numbers],
        of: Callable[[Trace, Place], Sequence[Numbers]],
        two: str,
        at: Place | None = None,
    ) -> list[Numbers]:
        """Numbers to draw: alone, together with those of the other run, or minus those.

        of: takes the numbers from the other run. two: see `Picture`. at: the place, if not the one on the screen.
        """
        if not (here and self.other and (self.differs or (self.shows == "beside" and two != "less"))):
            return [numbers.drawn for numbers in here]
        there = of(self.other, self.place_there(at))
        both = (self._of_two(mine, theirs, two) for mine, theirs in zip(here, there, strict=True))
        return [numbers.drawn.named(self.named) for numbers in both]

    def _of_two(self, here: Numbers, there: Numbers, two: str) -> Numbers:
        lost = here.token is not None and self.counterpart(here.token) is None
        placed = there.array
        if lost and not any(PARTS.get(kind) == "token" for kind in here.kinds):  # all are about the lost token
            placed = np.full_like(placed, np.nan)
        if self.run.ids and self.shows != "difference":  # drawings have the same patches
            placed = in_place_of(placed, here.kinds, self.pairs, len(self.run.tokens))
        if self.differs and two != "over":
            return here.less(placed)
        return replace(here, other=placed, alone=lost)

    def place_there(self, at: Place | None = None) -> Place:
        """The counterpart, in the other run, of the place on the screen or of `at`; not marked where there is none."""
        assert self.other is not None  # only asked where there is one
        at = at or self.at
        token, key = self.counterpart(at.token), None if at.key is None else self.counterpart(at.key)
        distance = None if at.distance is None else at.distance - (len(self.run.tokens) - len(self.other.tokens))
        if distance is not None and not 0 <= distance < 2 * len(self.other.tokens) - 1:
            distance = None
        lost = token is None or (at.key is not None and key is None) or (at.distance is not None and distance is None)
        return replace(at, token=token or 0, key=key, distance=distance, marked=not lost)

    def picks_here(self, picks: Picks | None) -> Picks | None:
        """`picks` of the other input's picture, with its places replaced by their counterparts in this run."""
        if picks is None:
            return None
        further = len(self.run.tokens) - len(self.other.tokens) if self.other else 0
        tokens = {self.counterpart(token): token for token in range(len(self.run.tokens))}

        def here(*at: int) -> dict[str, Any]:
            picked: dict[str, Any] = dict(picks(*at) or {})
            for name in ("token", "key"):
                if name in picked:
                    picked[name] = tokens.get(picked[name])
            if "distance" in picked:
                picked["distance"] += further
            return {name: place for name, place in picked.items() if place is not None}

        return here

    @property
    def beside(self) -> bool:
        """Whether the other input's run is shown beside this one."""
        return self.shows == "beside" and self.other is not None

    @property
    def differs(self) -> bool:
        """Whether pictures show differences, which have a sign whatever the quantity."""
        return self.shows in DIFFERENCES

    @property
    def pairs(self) -> list[Pair]:
        """The tokens of this input, paired with their counterparts in the other."""
        assert self.other is not None  # only asked where there is one
        return _aligned(tuple(self.run.tokens), tuple(self.other.tokens))

    @property
    def named(self) -> list[str]:
        """The tokens' names in pictures: the tokens, or "cat − big" in a difference where the counterpart differs."""
        tokens = self.run.tokens
        if self.shows != "against" or self.other is None or not self.run.ids:
            return tokens
        there = {pair.one: self.other.tokens[pair.other] for pair in self.pairs if pair.other is not None}
        others = [there.get(place, token) for place, token in enumerate(tokens)]
        return [one if one == other else f"{one} − {other}" for one, other in zip(tokens, others, strict=True)]

    def counterpart(self, token: int) -> int | None:
        """The place of a token's counterpart in the other run; None if it has none."""
        if self.shows not in ("against", "beside") or not self.run.ids:  # drawings have the same patches
            return token
        return next(pair.other for pair in self.pairs if pair.one == token)


@lru_cache(maxsize=200)
def _aligned(one: tuple[str, ...], other: tuple[str, ...]) -> list[Pair]:
    return align(one, other)
