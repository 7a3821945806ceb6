"""Which runs a page shows: that of the reader's input, changed or not, and that of another input to compare with."""

from collections.abc import Hashable, Sequence

import streamlit as st

from model import Trace, WeightsError
from model.edits import OPERATIONS, Edit
from model.measures.comparison import align
from model.pipeline import Reading
from pages.ui.picture import touched
from pages.ui.place import Place
from pages.ui.runs import pipelines
from pages.ui.runs.masks import with_masks
from pages.ui.runs.two_runs import TwoRuns
from pages.ui.state.choice import TWIN, WITH_EDITS, WITH_OTHER, Choice
from pages.ui.text import t


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
            self._rival = self.choice.pipeline, self._hidden_there(rival) or self.choice.other_subject
            rival = pipelines.run(*self._rival)
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
        trace = pipelines.changed(self.choice.pipeline, self.given if hidden is None else hidden, edits)
        self.waiting: tuple[Edit, ...] = ()
        self._keep([edit for edit in self.choice.edits if edit not in edits or edit in trace.edits])
        return trace

    def _hidden_there(self, rival: Trace) -> tuple[int, ...]:
        """The ids of the other sentence, with [MASK] also in place of the words that the reader hid in his."""
        if not rival.ids:
            return ()
        places = range(len(self.trace.ids))
        hidden = [place for place in places if "[MASK]" == self.trace.tokens[place] != self.typed.tokens[place]]
        if not hidden:
            return tuple(rival.ids)
        pairs = align(self.typed.tokens, rival.tokens)
        there = [pair.other for pair in pairs if pair.one in hidden and pair.other is not None]
        return with_masks(self.pipeline, rival.ids, there)

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
    def two(self) -> TwoRuns:
        """The run on the screen, and the one that it is compared with."""
        other = self.original if self.shows == "difference" else self.other
        return TwoRuns(self.trace, other, self.shows, self.at)

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

    def _one_input(self) -> None:
        """Where this page cannot compare inputs, show this one, and say so to readers who wanted both."""
        if self.shows in WITH_OTHER:
            self.shows = "changed"
            st.caption(t("change.no_other"))


def ways_to_show(made: Trace, rival: Trace | None) -> list[str]:
    """Which runs, and differences of two, there are to be shown. made: the run with the changes."""
    return ["changed", *(WITH_EDITS if made.edits else ()), *(WITH_OTHER if rival else ())]
