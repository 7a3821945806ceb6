"""Which words the encoder reads as [MASK]: those that the reader hid, and one word of our first sentence."""

from collections.abc import Collection, Sequence

from model import Pipeline
from model.analysis import whole_words
from model.pipeline import Reading, TextReader
from pages.drawing.state.choice import Choice
from pages.drawing.state.first_sight import first_place


def with_words_hidden(pipeline: Pipeline, choice: Choice, read: Reading) -> tuple[int, ...] | None:
    """The ids of the sentence with [MASK] for its hidden words; None where none is hidden."""
    hidden, typed = hidden_places(choice, read) if read.ids and guesses_words(pipeline) else (set(), set())
    return with_masks(pipeline, read.ids, hidden) if hidden - typed else None


def guesses_words(pipeline: Pipeline) -> bool:
    """Whether the network guesses words, and has a token to hide them behind."""
    return pipeline.config.head == "masked-word" and "[MASK]" in getattr(pipeline.reader, "vocabulary", ())


def with_masks(pipeline: Pipeline, ids: Sequence[int], hidden: Collection[int]) -> tuple[int, ...]:
    """The ids of a sentence with [MASK] at these places."""
    assert isinstance(pipeline.reader, TextReader)  # only words can be hidden
    return pipeline.reader.hide(ids, sorted(hidden))


def hidden_places(choice: Choice, read: Reading) -> tuple[set[int], set[int]]:
    """The places that read [MASK], and those among them where the sentence itself has [MASK]."""
    typed = {place for place, token in enumerate(read.tokens) if token == "[MASK]"}
    chosen = choice.hidden
    if chosen is None:
        first = None if typed else first_place(choice.sentence)
        chosen = () if first is None or choice.pipeline != "text" else (first,)
    return set(chosen) & {place for places in whole_words(read.tokens) for place in places} | typed, typed
