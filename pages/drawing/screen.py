"""A screen: the runs that a page shows for a choice, as one frozen value. No Streamlit: a notebook opens the same.

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
from model.neurons import is_word
from model.pipeline import Reading
from pages.drawing.masks import with_masks, with_words_hidden
from pages.drawing.picture import outputs_of
from pages.drawing.place import Place
from pages.drawing.state.choice import OTHER, TWIN, WITH_EDITS, WITH_OTHER, Choice
from pages.drawing.state.first_sight import first_place
from pages.drawing.text import class_label, plain
from pages.drawing.two_runs import DIFFERENCES, TwoRuns

NEARLY = 0.93  # of the longest row of E
#: The fields of Place that Choice also has; pages set the others.
CHOSEN = [one.name for one in fields(Place) if one.name not in ("step", "source", "marked")]
#: What the page's network reads in place of the input: the ids with words hidden; None: the input itself.
Reads = Callable[[Pipeline, Choice, Reading], Hashable | None]
#: The network and the input that a page is about, where they are not the reader's.
Elsewhere = Callable[[Choice, Hashable], tuple[str, Hashable] | None]
T = TypeVar("T")


class Source(Protocol):
    """Where networks and runs come from: `pages.screen.runs.pipelines`, which caches them, or `Anew`."""

    def pipeline(self, name: str, /) -> Pipeline: ...
    def run(self, name: str, subject: Any, edits: tuple[Edit, ...] = (), /) -> Trace: ...
    def read_by(self, name: str, subject: Any, /) -> tuple[Any, Reading, InputError | None]:
        """The input, or another one if it cannot be read; how that is read; and why the input could not be."""


class Anew:
    """A source that computes each run when asked, as in a notebook."""

    def pipeline(self, name: str, /) -> Pipeline:
        return load(name)

    def run(self, name: str, subject: Any, edits: tuple[Edit, ...] = (), /) -> Trace:
        return load(name)(subject, edits)

    def read_by(self, name: str, subject: Any, /) -> tuple[Any, Reading, InputError | None]:
        return subject, load(name).reader.read(subject), None


@dataclass(frozen=True)
class Screen:
    """The run on the screen, and the runs that pictures compare it with.

    choice: the reader's choice, fitted to `run`, with the changes that fit; `waiting` holds those that fit elsewhere.
    network: the name of the pipeline. subject: its input. given, typed: the input with nothing hidden, and how it was
    read; unread: why it is not the reader's own. shows: one of `ways`, which are some of `choice.SHOWN`. own: the run
    of the reader's input. made: the run with the changes, mostly the same. other: the run of another input or of the
    untrained twin. other_unread: whether that input cannot be read. misfit: whether some changes do not fit.
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
        """A screen about another run. Where the network is another, the other input's run is dropped."""
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
        """The run of another input, if there is one; the untrained twin is none."""
        return None if self.choice.beside_twin else self.other

    @property
    def pair(self) -> tuple[Trace, Trace] | None:
        """The runs of the reader's input and of the other input, whichever is on the screen."""
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
        """A phrase that names the other run in a comparison; [] where a picture shows one run.

        how: "less" for a difference, "other" for the numbers of both.
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
        """See the function of this name."""
        return usual_token(self.run, self.choice.sentence)

    @property
    def sizes(self) -> dict[str, int]:
        """How many there are of "layer" and "head"."""
        return {"layer": self.run.config.layers, "head": self.run.config.heads}

    @property
    def across(self) -> tuple[str, int] | tuple[str, int, int]:
        """What the left and right arrows choose: a field of Choice, how many places, and the place while None."""
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

    source: `Anew`, if left out; then an unreadable input raises InputError. Raises WeightsError.
    """
    source = source or Anew()
    network = choice.pipeline
    pipeline = source.pipeline(network)
    given, typed, unread = source.read_by(network, choice.subject)
    hidden = reads(pipeline, choice, typed)
    edits = tuple(edit for edit in choice.edits if not edit.key.startswith("decoder."))  # others: Translation's
    own = made = changed(partial(source.run, network, given if hidden is None else hidden), edits)
    misfits = [edit for edit in edits if edit not in own.edits]
    edits = tuple(edit for edit in choice.edits if edit not in misfits)
    with suppress(WeightsError):  # the page reports it when it draws that run
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
    """A run with the edits that fit."""
    while True:
        try:
            return run(edits)
        except EditError as error:
            if not edits:
                raise
            misfits = error.edits or edits  # all misfits at once: each attempt may take as long as a run
            edits = tuple(edit for edit in edits if edit not in misfits)


def compares(choice: Choice, pipeline: Pipeline) -> bool:
    """Whether there is another input to compare with that can be read."""
    if choice.other_subject is None:
        return False
    with suppress(InputError):
        pipeline.reader.read(choice.other_subject)
        return True
    return False


def usual_token(run: Trace, sentence: str) -> int:
    """The token selected before anybody chose: a [MASK]; in our first sentences the query of their example; else a
    content word. In a drawing [CLS].
    """
    if run.picture is not None:
        return 0
    if "[MASK]" in run.tokens:
        return run.tokens.index("[MASK]")
    return min(first_place(sentence) or content_word(run), len(run.tokens) - 1)


def content_word(run: Trace) -> int:
    """A word that says more than "the": frequent words have short rows in E, so of all words whose rows are nearly the
    longest, the last; of Chinese characters, the longest itself. Without words, the first token after [CLS].
    """
    words = [place for place, name in enumerate(run.tokens) if is_word(name)]
    if not words:
        return int(run.tokens[0] == "[CLS]")
    lengths = run.network.embedding.E.weight[[run.ids[place] for place in words]].float().norm(dim=1)
    longest = words[int(lengths.argmax())]
    if len(run.tokens[longest]) == 1:
        return longest
    return words[int((lengths >= NEARLY * lengths.max()).nonzero()[-1])]


def _hidden_there(pipeline: Pipeline, own: Trace, typed: Reading, there: Trace) -> tuple[int, ...]:
    """The ids of the other sentence, with the counterparts of the reader's hidden words hidden, too."""
    if not there.ids:
        return ()
    hidden = [place for place, token in enumerate(own.tokens) if "[MASK]" == token != typed.tokens[place]]
    if not hidden:
        return tuple(there.ids)
    pairs = align(typed.tokens, there.tokens)
    places = [pair.other for pair in pairs if pair.one in hidden and pair.other is not None]
    return with_masks(pipeline, there.ids, places)
