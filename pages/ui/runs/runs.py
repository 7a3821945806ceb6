"""Which runs a page shows: that of the reader's input, changed or not, and that of another input to compare with."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from model import Trace, WeightsError
from model.edits import OPERATIONS, PARTS, Edit
from model.measures.comparison import Pair, align, in_place_of
from model.pipeline import Reading
from pages.ui.picture import Numbers, Picks, touched
from pages.ui.place import Place
from pages.ui.runs import pipelines
from pages.ui.state.choice import TWIN, WITH_EDITS, WITH_OTHER, Choice
from pages.ui.text import t

#: Ways to show two runs by how much they differ.
DIFFERENCES = ("difference", "against")


class Runs:
    """The runs of one page: `trace` is on the screen; some pictures set `original` or `other` against it.

    `choice` is what the reader chose, fitted to `trace`; `given` is the input on the screen, with nothing hidden in it.
    """

    choice: Choice
    given: Hashable
    at: Place

    def reads(self, choice: Choice, typed: Reading) -> Hashable | None:
        """What this is about instead of the reader's input as it was read, so that only that is run; mostly nothing."""

    def elsewhere(self) -> tuple[str, Hashable] | None:
        """The pipeline and the subject of the run that this is about, where that is not the reader's own."""

    def _open_runs(self) -> tuple[Trace, Trace, Trace | None]:
        """Put the run that the reader wants on the screen; returns the own run, that in which the changes are made
        (mostly the same), and that of the other input, if any. Raises WeightsError.
        """
        self.trace: Trace = self._read()
        own = self.trace
        made = self._made_elsewhere() or own
        self._edits = made.edits
        self.pipeline = pipelines.pipeline(self.choice.pipeline)
        self.choice = self.choice.fitted(own.config, len(own.tokens))
        #: The input on the screen, as the pipeline is given it.
        self.subject: Hashable = tuple(own.ids) or self.choice.subject
        self._run: tuple[str, Hashable] = self.choice.pipeline, self.subject
        self._rival: tuple[str, Hashable] | None = None
        if self.choice.beside_twin:
            self._rival = self.choice.pipeline + TWIN, self.subject
            rival: Trace | None = pipelines.run(*self._rival)
        elif rival := pipelines.other(self.choice):
            self._rival = self.choice.pipeline, tuple(rival.ids) or self.choice.other_subject
        #: Which run the pictures show: one of `choice.SHOWN`, "changed" where what the reader chose is not there.
        #: Which of them there are; an untrained twin never stands alone.
        self.ways = [w for w in ways_to_show(made, rival) if not (w == "other" and self.choice.beside_twin)]
        self.shows = self.choice.shown if self.choice.shown in self.ways else "changed"
        if self.shows in ("original", "other"):
            self._edits = ()
        if self.shows == "original":
            self.trace = pipelines.run(*self._run)
        elif self.shows == "other" and self._rival and rival:
            self.given = self.choice.other_subject
            self.typed = self.pipeline.reader.read(self.given)
            self._show(self._rival, rival)
        return own, made, rival

    def _read(self) -> Trace:
        """The run of the reader's input, or of what is hidden in it, with the reader's edits.

        Those of a decoder wait for the page on which there is one. Those that do not fit are `waiting`, and no longer
        in this page's choice.
        """
        self.given, self.typed, unread = pipelines.read(self.choice)
        pipelines.explain_input(self.choice.pipeline, unread, self.typed)
        edits = tuple(edit for edit in self.choice.edits if not edit.key.startswith("decoder."))
        hidden = self.reads(self.choice, self.typed)
        #: Whether words are hidden in the run that the page was opened with.
        self.hides = hidden is not None
        trace = pipelines.changed(self.choice.pipeline, self.given if hidden is None else hidden, edits)
        self.waiting: tuple[Edit, ...] = ()
        self._keep([edit for edit in self.choice.edits if edit not in edits or edit in trace.edits])
        return trace

    def _made_elsewhere(self) -> Trace | None:
        """The run that this page is about, if it is not the reader's own, with those of his changes that fit there."""
        try:
            run = self.elsewhere()
            made = pipelines.changed(*run, self.choice.edits) if run else None
        except WeightsError:  # the page says so when it comes to it
            return None
        if made:
            self._keep(made.edits)
        return made

    def _keep(self, fit: Sequence[Edit]) -> None:
        """Let the changes that do not fit wait."""
        unfit = [edit for edit in self.choice.edits if edit not in fit]
        self.waiting += tuple(edit for edit in unfit if edit.operation in OPERATIONS)
        self.choice = self.choice.with_(edits=tuple(edit for edit in self.choice.edits if edit in fit))

    def key(self, row: str) -> str:
        """The trace key of a row of the graph ("layers.{l}.attention.Q") in the chosen layer."""
        return row.replace("{l}", str(self.choice.layer))

    def touched(self, *keys: str, every_head: bool = False) -> bool:
        """Whether a change sits on one of these quantities: see `picture.touched`."""
        return touched(self.trace, self.choice.head, *keys, every_head=every_head)

    # -- two runs ----------------------------------------------------------------------------------

    def numbers(self, of: Callable[[Trace, Place], Sequence[Numbers]], two: str = "less") -> list[Numbers]:
        """The numbers that a function takes of a run, as they are drawn where the reader compares two: see `compared`.

        two: as in Picture.
        """
        return self.compared(of(self.trace, self.at), of, two)

    def compared(
        self,
        here: Sequence[Numbers],
        of: Callable[[Trace, Place], Sequence[Numbers]],
        two: str,
        at: Place | None = None,
    ) -> list[Numbers]:
        """Numbers as they are drawn: alone, with those of the other run beside them, or less those of the other run.

        of: what takes them of the other run. at: the place, where it is not the one on the screen.
        """
        run = self._another(two) if here else None
        if run is None:
            return [numbers.drawn for numbers in here]
        there = of(run, self.place_there(run, at))
        both = (self._of_two(mine, theirs, two) for mine, theirs in zip(here, there, strict=True))
        return [numbers.drawn.named(self.named) for numbers in both]

    def _another(self, two: str) -> Trace | None:
        """The run whose numbers are drawn, too, or taken away; None where one run is drawn."""
        if self.shows == "difference":
            return self.original
        return self.other if self.shows == "against" or (self.shows == "beside" and two != "less") else None

    def _of_two(self, here: Numbers, there: Numbers, two: str) -> Numbers:
        lost = here.token is not None and self.counterpart(here.token) is None
        placed = there.array
        if lost and not any(PARTS.get(kind) == "token" for kind in here.kinds):  # all of them are of that token
            placed = np.full_like(placed, np.nan)
        if self.trace.ids and self.shows != "difference":  # drawings have the same patches
            placed = in_place_of(placed, here.kinds, self.pairs, len(self.trace.tokens))
        if self.differs and two != "over":
            return here.less(placed)
        return replace(here, other=placed, alone=lost)

    def place_there(self, run: Trace, at: Place | None = None) -> Place:
        """The place in another run that answers to one here: that on the screen, or another; not marked where there is
        none.
        """
        at = at or self.at
        token, key = self.counterpart(at.token), None if at.key is None else self.counterpart(at.key)
        distance = None if at.distance is None else at.distance - (len(self.trace.tokens) - len(run.tokens))
        if distance is not None and not 0 <= distance < 2 * len(run.tokens) - 1:
            distance = None
        lost = token is None or (at.key is not None and key is None) or (at.distance is not None and distance is None)
        return replace(at, token=token or 0, key=key, distance=distance, marked=not lost)

    def picks_here(self, picks: Picks | None) -> Picks | None:
        """What a click on the other input's picture chooses here: the counterparts of its places."""
        if picks is None:
            return None
        further = len(self.trace.tokens) - len(self.other.tokens) if self.other else 0
        tokens = {self.counterpart(token): token for token in range(len(self.trace.tokens))}

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
        """Whether the other input's run shall stand beside this one."""
        return self.shows == "beside" and self.other is not None

    @property
    def differs(self) -> bool:
        """Whether pictures show by how much two runs differ: such numbers have a sign, whatever the quantity."""
        return self.shows in DIFFERENCES

    @property
    def original(self) -> Trace:
        """The run of the same input without any change."""
        return pipelines.run(*self._run) if self.trace.edits else self.trace

    @property
    def other(self) -> Trace | None:
        """The run of the other input, or of the untrained twin, to which the reader compares this one."""
        return pipelines.run(*self._rival) if self._rival else None

    @property
    def other_input(self) -> Trace | None:
        """The same, where it is of another input."""
        return None if self.choice.beside_twin else self.other

    @property
    def pairs(self) -> list[Pair]:
        """The tokens of this input, and those of the other that stand in their place."""
        assert self.other is not None  # only asked where there is one
        return _aligned(tuple(self.trace.tokens), tuple(self.other.tokens))

    @property
    def named(self) -> list[str]:
        """What pictures call the tokens: by themselves; in a difference from another sentence, where another token
        stands in the place of one, "cat − big".
        """
        tokens = self.trace.tokens
        if self.shows != "against" or self.other is None or not self.trace.ids:
            return tokens
        there = {pair.one: self.other.tokens[pair.other] for pair in self.pairs if pair.other is not None}
        others = [there.get(place, token) for place, token in enumerate(tokens)]
        return [one if one == other else f"{one} − {other}" for one, other in zip(tokens, others, strict=True)]

    def counterpart(self, token: int) -> int | None:
        """The place of a token in the run that this one is compared with; None where nothing stands for it there."""
        if self.shows not in ("against", "beside") or not self.trace.ids:  # drawings have the same patches
            return token
        return next(pair.other for pair in self.pairs if pair.one == token)

    # -- another run than the reader's input ---------------------------------------------------------

    def _show(self, run: tuple[str, Hashable], trace: Trace) -> None:
        """Put another run on the screen."""
        self._run, self.subject, self.trace = run, run[1], trace
        self.choice = self.choice.fitted(trace.config, len(trace.tokens))

    def follow(self, pipeline: str, subject: Hashable) -> Trace:
        """Make the rest of the page, and its downloads, about another run than the reader's input."""
        self.pipeline = pipelines.pipeline(pipeline)
        if pipeline != self._run[0]:  # what another network made of the other input is no match
            self._rival = None
            self._one_input()
        self._show((pipeline, subject), pipelines.changed(pipeline, subject, self._edits))
        return self.trace

    def compare_with(self, subject: Hashable) -> None:
        """Compare the rest of the page with another run than the reader's other input."""
        self._rival = self._rival[0] if self._rival else self._run[0], subject

    def _one_input(self) -> None:
        """Where this page cannot compare inputs, show this one, and say so to readers who wanted both."""
        if self.shows in WITH_OTHER:
            self.shows = "changed"
            st.caption(t("change.no_other"))


def ways_to_show(made: Trace, rival: Trace | None) -> list[str]:
    """Which runs, and differences of two, there are to be shown. made: the run with the changes."""
    return ["changed", *(WITH_EDITS if made.edits else ()), *(WITH_OTHER if rival else ())]


@lru_cache(maxsize=200)
def _aligned(one: tuple[str, ...], other: tuple[str, ...]) -> list[Pair]:
    return align(one, other)
