"""A screen: which runs a page shows for a choice, as one frozen value. No Streamlit here, so a notebook opens the same.

screen = open_screen(Choice(sentence="i love you"))
screen.run["layers.0.attention.weights"], attention_map(screen.run, screen.at)
"""

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from model import Edit, EditError, InputError, Pipeline, Trace, WeightsError, load
from model.checkpoints.images import CheckpointImageReader
from model.edits import OPERATIONS
from model.measures.comparison import align
from model.pipeline import Reading
from pages.drawing.masks import with_masks, with_words_hidden
from pages.drawing.picture import outputs_of
from pages.drawing.place import Place
from pages.drawing.state.choice import OTHER, TWIN, WITH_EDITS, WITH_OTHER, Choice
from pages.drawing.state.first_sight import first_place
from pages.drawing.text import class_label, plain
from pages.drawing.two_runs import DIFFERENCES, TwoRuns

#: The fields of a place that are a reader's choice; the step of a translation is its page's.
CHOSEN = [one.name for one in fields(Place) if one.name not in ("step", "source", "marked")]
#: What a page is about in place of the input as it was read: its ids with words hidden; None for the input itself.
Reads = Callable[[Pipeline, Choice, Reading], Hashable | None]
#: The network and the input of the run that a page is about, where that is not the reader's own.
Elsewhere = Callable[[Choice, Hashable], tuple[str, Hashable] | None]
T = TypeVar("T")


class Source(Protocol):
    """Where networks and runs come from: `pages.screen.runs.pipelines`, which keeps them for all, or `Anew`."""

    def pipeline(self, name: str, /) -> Pipeline: ...
    def run(self, name: str, subject: Any, edits: tuple[Edit, ...] = (), /) -> Trace: ...
    def read_by(self, name: str, subject: Any, /) -> tuple[Any, Reading, InputError | None]:
        """An input, or another one where it cannot be read; what it is read as; and why it could not be read."""


class Anew:
    """Each run made when it is asked for, as in a notebook."""

    def pipeline(self, name: str, /) -> Pipeline:
        return load(name)

    def run(self, name: str, subject: Any, edits: tuple[Edit, ...] = (), /) -> Trace:
        return load(name)(subject, edits)

    def read_by(self, name: str, subject: Any, /) -> tuple[Any, Reading, InputError | None]:
        return subject, load(name).reader.read(subject), None


@dataclass(frozen=True)
class Screen:
    """The run on the screen, and what the pictures compare it with.

    choice: what the reader chose, fitted to `run`; of his changes those that fit, the others are `waiting`. network:
    the name of the pipeline. subject: what it was given. given, typed: the input with nothing hidden in it, and as it
    was read; unread: why that is not what the reader typed. shows: one of `ways`, which are some of `choice.SHOWN`.
    own: the run of the reader's input; made: the one in which his changes are made, mostly the same. other: that of
    another input, or of the untrained twin; other_unread: there is an input, which cannot be read. misfit: whether
    changes were left out because they do not fit.
    """

    choice: Choice
    run: Trace
    pipeline: Pipeline
    network: str
    subject: Hashable
    given: Hashable
    typed: Reading
    unread: InputError | None
    shows: str
    ways: Sequence[str]
    own: Trace
    made: Trace
    other: Trace | None
    other_unread: bool
    waiting: tuple[Edit, ...]
    misfit: bool
    source: Source

    def of(self, network: str, subject: Hashable) -> Self:
        """The screen about another run. Another network has nothing to compare with the other input's run."""
        edits = () if self.shows in ("original", "other") else self.made.edits
        run = changed(partial(self.source.run, network, subject), edits)
        of = {"network": network, "subject": subject, "run": run, "pipeline": self.source.pipeline(network)}
        of["misfit"] = run.edits != edits
        if network != self.network:
            of |= {"other": None, "shows": "changed" if self.shows in WITH_OTHER else self.shows}
        return replace(self, choice=self.choice.fitted(run.config, len(run.tokens)), **of)

    # -- the runs ----------------------------------------------------------------------------------

    @property
    def original(self) -> Trace:
        """The run of the same input without any change."""
        return self.source.run(self.network, self.subject) if self.run.edits else self.run

    @property
    def other_input(self) -> Trace | None:
        """The run of another input, if that is what this one is compared with."""
        return None if self.choice.beside_twin else self.other

    @property
    def pair(self) -> tuple[Trace, Trace] | None:
        """The run of the reader's input and that of the other one, whichever of them is on the screen."""
        if (other := self.other_input) is None:
            return None
        return self.made if self.shows == "other" else self.run, other

    @cached_property
    def two(self) -> TwoRuns:
        """The run on the screen, and the one that it is compared with."""
        other = self.original if self.shows == "difference" else self.other
        return TwoRuns(self.run, other, self.shows, self.at)

    @property
    def has_bar(self) -> bool:
        """Whether changes, or another run, are named above the page."""
        return bool(self.made.edits or self.waiting or self.other or self.choice.learning is not None)

    def compared_with(self, how: str | None) -> list[str]:
        """Which run the numbers of a picture are compared with, in a phrase; nothing where it shows one run.

        how: "less", of a difference, or "other", where the numbers of both may stand.
        """
        if how is None or self.shows not in (*DIFFERENCES, "beside"):
            return []
        if self.shows == "difference":
            run = plain("change.unchanged")
        elif self.choice.beside_twin:
            run = plain("compare.twin_run")
        elif self.run.ids:
            run = self.choice.other or ""
        elif self.other and self.other.answer and self.run.answer:
            there, here = (class_label(run.answer[0].best) for run in (self.other, self.run))
            run = plain("compare.drawings", there=there, here=here)
        else:
            run = plain("change.another")
        return [plain(f"change.{how}_run_named", run=run)]

    # -- the place ---------------------------------------------------------------------------------

    @cached_property
    def at(self) -> Place:
        """The place on the screen."""
        token = self.usual_token if self.choice.token is None else self.choice.token
        return Place(**{name: getattr(self.choice, name) for name in CHOSEN} | {"token": token})

    @cached_property
    def usual_token(self) -> int:
        """The token selected before anybody chose."""
        return usual_token(self.run, self.choice.sentence)

    @property
    def sizes(self) -> dict[str, int]:
        """How many there are to choose of "layer" and "head"."""
        return {"layer": self.run.config.layers, "head": self.run.config.heads}

    @property
    def across(self) -> tuple[str, int] | tuple[str, int, int]:
        """What an arrow to the side chooses: a field of Choice, of how many, and which one while none is chosen."""
        return "head", self.sizes["head"]

    @property
    def outputs(self) -> Sequence[str]:
        """What each logit stands for: the words of the vocabulary, or the classes."""
        return outputs_of(self.run)

    # -- the input ---------------------------------------------------------------------------------

    @cached_property
    def seen(self) -> np.ndarray | None:
        """The input as it looks, (height, width) or (height, width, 3) in [0, 1]; None for words."""
        picture, reader = self.run.picture, self.pipeline.reader
        return reader.shown(picture) if isinstance(reader, CheckpointImageReader) and picture is not None else picture

    def about(self) -> str:
        """The input in words, for titles and files: "i love you ."."""
        return str(self.given) if self.run.ids else plain(f"sidebar.input_{self.choice.input}")


def open_screen(
    choice: Choice, reads: Reads = with_words_hidden, elsewhere: Elsewhere | None = None, source: Source | None = None
) -> Screen:
    """The screen of a choice.

    source: of the runs, which are made anew without one. Raises WeightsError, and, without a source, InputError.
    """
    source = source or Anew()
    network = choice.pipeline
    pipeline = source.pipeline(network)
    given, typed, unread = source.read_by(network, choice.subject)
    hidden = reads(pipeline, choice, typed)
    edits = tuple(edit for edit in choice.edits if not edit.key.startswith("decoder."))  # those wait for its page
    own = made = changed(partial(source.run, network, given if hidden is None else hidden), edits)
    misfits = [edit for edit in edits if edit not in own.edits]
    edits = tuple(edit for edit in choice.edits if edit not in misfits)
    with suppress(WeightsError):  # the page says so when it comes to it
        if elsewhere and (there := elsewhere(choice.with_(edits=edits), given)):
            made = changed(partial(source.run, *there), edits)
            misfits += [edit for edit in edits if edit not in made.edits]
            edits = made.edits
    choice = choice.with_(edits=edits).fitted(own.config, len(own.tokens))
    subject: Hashable = tuple(own.ids) or given
    against: tuple[str, Hashable] | None = None
    if choice.beside_twin:
        against = network + TWIN, subject
    elif compares(choice, pipeline):
        typed_there = source.run(network, choice.other_subject)
        against = network, _hidden_there(pipeline, own, typed, typed_there) or choice.other_subject
    other = source.run(*against) if against else None
    unread_other = not against and getattr(choice, OTHER[choice.input]) is not None
    ways = ["changed", *(WITH_EDITS if made.edits else ()), *(WITH_OTHER if other else ())]
    if choice.beside_twin:  # which never stands alone
        ways.remove("other")
    screen = Screen(
        choice=choice,
        run=own,
        pipeline=pipeline,
        network=network,
        subject=subject,
        given=given,
        typed=typed,
        unread=unread,
        shows=choice.shown if choice.shown in ways else "changed",
        ways=ways,
        own=own,
        made=made,
        other=other,
        other_unread=unread_other,
        waiting=tuple(edit for edit in misfits if edit.operation in OPERATIONS),
        misfit=bool(misfits),
        source=source,
    )
    if screen.shows == "original":
        return replace(screen, run=source.run(network, subject))
    if screen.shows == "other" and against and other:
        return replace(
            screen,
            run=other,
            subject=against[1],
            given=choice.other_subject,
            typed=pipeline.reader.read(choice.other_subject),
            choice=choice.fitted(other.config, len(other.tokens)),
        )
    return screen


def changed(run: Callable[[tuple[Edit, ...]], T], edits: tuple[Edit, ...]) -> T:
    """A run with those of these edits that fit."""
    while True:
        try:
            return run(edits)
        except EditError as error:
            if not edits:
                raise
            misfits = (
                error.edits or edits
            )  # a run may take long: trying one after the other would take as long for each
            edits = tuple(edit for edit in edits if edit not in misfits)


def compares(choice: Choice, pipeline: Pipeline) -> bool:
    """Whether there is another input, which can be read, to compare with."""
    if choice.other_subject is None:
        return False
    with suppress(InputError):
        pipeline.reader.read(choice.other_subject)
        return True
    return False


def usual_token(run: Trace, sentence: str) -> int:
    """A hidden word; the word that looks, in a sentence that visitors see first; else the first word. Of a drawing,
    [CLS].
    """
    if run.picture is not None:
        return 0
    if "[MASK]" in run.tokens:
        return run.tokens.index("[MASK]")
    return min(first_place(sentence) or int(run.tokens[0] == "[CLS]"), len(run.tokens) - 1)


def _hidden_there(pipeline: Pipeline, own: Trace, typed: Reading, there: Trace) -> tuple[int, ...]:
    """The ids of the other sentence, with [MASK] also in place of the words that the reader hid in his."""
    if not there.ids:
        return ()
    hidden = [place for place, token in enumerate(own.tokens) if "[MASK]" == token != typed.tokens[place]]
    if not hidden:
        return tuple(there.ids)
    pairs = align(typed.tokens, there.tokens)
    places = [pair.other for pair in pairs if pair.one in hidden and pair.other is not None]
    return with_masks(pipeline, there.ids, places)
