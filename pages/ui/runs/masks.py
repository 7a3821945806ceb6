"""Which words of a sentence the encoder reads as [MASK]: those that the reader hid, or one that was chosen for him."""

from collections.abc import Collection, Sequence
from functools import lru_cache

from model import Pipeline
from model.analysis import whole_words
from model.pipeline import Reading, TextReader
from model.telling import telling_word
from pages.ui.runs import pipelines
from pages.ui.server.cache import of_networks
from pages.ui.state.choice import LANGUAGES, Choice
from pages.ui.state.first_sight import first_picture


def with_words_hidden(choice: Choice, read: Reading) -> tuple[int, ...] | None:
    """A sentence as pages that are about a hidden word read it: its ids; None where it stays as it is."""
    pipeline = pipelines.pipeline(choice.pipeline)
    says_words = pipeline.config.head == "masked-word"  # others have no use for a hidden word
    hidden, typed = hidden_places(choice, read) if read.ids and says_words else (set(), set())
    return with_masks(pipeline, read.ids, hidden) if hidden - typed else None


def as_the_reader_hid(choice: Choice, read: Reading) -> tuple[int, ...] | None:
    """A sentence as all other pages read it: with what the reader hid himself, but while he compares two inputs."""
    return with_words_hidden(choice, read) if choice.hidden and not pipelines.compares(choice) else None


def with_masks(pipeline: Pipeline, ids: Sequence[int], hidden: Collection[int]) -> tuple[int, ...]:
    """The ids of a sentence with [MASK] at these places."""
    assert isinstance(pipeline.reader, TextReader)  # only words can be hidden
    return pipeline.reader.hide(ids, sorted(hidden))


def hidden_places(choice: Choice, read: Reading) -> tuple[set[int], set[int]]:
    """The places that read [MASK], and those of them where the sentence itself says so."""
    typed = {place for place, token in enumerate(read.tokens) if token == "[MASK]"}
    chosen = choice.hidden
    if chosen is None:
        word = None if typed else _telling_word(pipelines.pipeline(choice.pipeline), tuple(read.ids))
        chosen = () if word is None else (word,)
    return set(chosen) & {place for places in whole_words(read.tokens) for place in places} | typed, typed


@of_networks
@lru_cache(maxsize=1000)
def _telling_word(pipeline: Pipeline, ids: tuple[int, ...]) -> int | None:
    """The word that is hidden where the reader has hidden none; found once for all visitors."""
    if pipeline.name == "text":  # in what visitors see first, the word that looks: Attention opens with it, too
        for first in filter(None, map(first_picture, LANGUAGES)):
            if tuple(pipeline.reader.read(first.text).ids) == ids:
                return first.query
    return telling_word(pipeline, pipeline(ids))
