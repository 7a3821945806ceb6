"""Sentences for a checkpoint: cut by its own tokenizer, one or two at a time."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import accumulate, pairwise

from tokenizers import Encoding, Tokenizer
from torch import Tensor

from model.config import EncoderConfig
from model.examples import PROTEINS
from model.hugging_face.answers import guesses
from model.hugging_face.pieces import SPACE, readable, space_mark, unmarked
from model.pipeline import InputError, Reading, TextReader
from model.trace import Guess

PANIC = "PanicException"  # of Rust's: an exception that is no Exception, and can't be imported
BETWEEN = "[SEP]"  # as typed between two sentences
BEFORE_WORDS = ("[CLS]", BETWEEN, SPACE)  # a piece behind one of these begins a word


class CheckpointTextReader(TextReader):
    """A sentence, or two with [SEP] between them.

    Families call the same token [CLS] or <s>, [MASK] or <mask>; here each is printed, and may be typed, by the first of
    these names. `roles`: theirs -> ours. `labels` are a classifier's classes. How other pieces are shown: `pieces.py`.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        config: EncoderConfig,
        roles: Mapping[str, str],
        labels: Sequence[str] = (),
        ids: Mapping[str, int] | None = None,
        proteins: bool = False,
    ) -> None:
        """ids: of the pieces, where those are not the tokenizer's own. proteins: whether pieces are amino acids."""
        super().__init__(tokenizer, config.max_len)
        self.proteins = proteins
        self.segments, self.labels, self.head = config.segments, tuple(labels), config.head
        self.space = space_mark(tokenizer)
        pieces = (tokenizer.get_vocab() if ids is None else ids).items()
        words = {i: roles.get(word) or readable(word, self.space) for word, i in pieces}
        #: Some matrices have more rows than the tokenizer has pieces.
        self.vocabulary = [words.get(i, f"[unused {i}]") for i in range(config.vocab_size)]
        self.typed = {ours: theirs for theirs, ours in roles.items()}

    def examples(self) -> Iterator[str]:
        return iter(PROTEINS) if self.proteins else super().examples()

    def sentences(self, text: str) -> tuple[str, ...]:
        first, _, second = text.partition(BETWEEN)
        for ours, theirs in self.typed.items():
            first, second = first.replace(ours, theirs), second.replace(ours, theirs)
        return (first, second) if second.strip() else (first,)

    def encode(self, text: str) -> Encoding:
        """The pieces of a text. Raises InputError("not_cut") where the tokenizer fails."""
        with failures():
            encoding = super().encode(text)
        if max(encoding.ids, default=0) >= len(self.vocabulary):
            raise InputError("not_cut")
        return encoding

    def simplified(self, text: str) -> list[tuple[str, str]]:
        with suppress(InputError), failures():
            return super().simplified(text)
        return []

    def reading(self, ids: Sequence[int]) -> Reading:
        reading = super().reading(ids)
        pairs = pairwise(["", *reading.tokens])
        tokens = [unmarked(piece) if before in BEFORE_WORDS else piece for before, piece in pairs]
        return replace(reading, tokens=tokens, segments=self.segments_of(tokens))

    def segments_of(self, tokens: Sequence[str]) -> tuple[int, ...]:
        """0 up to the first [SEP], 1 behind it; all 0 where the network has only one row for them, () where none."""
        before = accumulate((token == BETWEEN for token in tokens[:-1]), initial=0)  # how many [SEP] stand before each
        return tuple(min(ends, self.segments - 1) for ends in before) if self.segments else ()

    def guesses(self, logits: Tensor, reading: Reading) -> tuple[Guess, ...]:
        """What its head says, or as for any sentence the words."""
        if self.head != "masked-word":
            return guesses(self.head, self.labels, logits, reading.tokens)
        return super().guesses(logits, reading)


@contextmanager
def failures() -> Iterator[None]:
    """Raise InputError("not_cut") where a tokenizer fails: on the sentences of its trial it did not."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != PANIC:
            raise
        raise InputError("not_cut") from error
