"""Sentences for a checkpoint: cut by its own tokenizer, one or two at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import accumulate, groupby, pairwise

from tokenizers import Encoding, Tokenizer
from torch import Tensor

from model.checkpoints.answers import guesses
from model.checkpoints.pieces import SPACE, in_a_row, readable, space_mark, unmarked
from model.checkpoints.trial import SENTENCES as TRIED
from model.config import EncoderConfig
from model.examples import PROTEINS
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
        self.labels, self.head = tuple(labels), config.head
        self.space = space_mark(tokenizer)
        pieces = {i: piece for piece, i in (tokenizer.get_vocab() if ids is None else ids).items()}
        words = {i: roles.get(piece) or readable(piece, self.space) for i, piece in pieces.items()}
        #: A piece as the tokenizer has it, by its id.
        self.piece: Callable[[int], str | None] = tokenizer.id_to_token if ids is None else pieces.get
        #: Some matrices have more rows than the tokenizer has pieces.
        self.vocabulary = [words.get(i, f"[unused {i}]") for i in range(config.vocab_size)]
        self.typed = {ours: theirs for theirs, ours in roles.items()}
        #: The segment of a token behind so many [SEP]; none where the network knows no segments.
        self.segments: dict[int, int] = {}
        if config.segments:
            pair = tokenizer.encode(*TRIED[:2])
            behind = _ends_before([self.vocabulary[i] for i in pair.ids])
            for n, segment in zip(behind, pair.type_ids, strict=True):
                self.segments.setdefault(n, min(segment, config.segments - 1))

    def examples(self) -> Iterator[str]:
        return iter(PROTEINS) if self.proteins else super().examples()

    def sentences(self, text: str) -> tuple[str, ...]:
        """One sentence, or the two on both sides of [SEP], without the spaces around it."""
        first, between, second = text.partition(BETWEEN)
        first, second = first.rstrip() if between else first, second.lstrip()
        for ours, theirs in self.typed.items():
            first, second = first.replace(ours, theirs), second.replace(ours, theirs)
        return (first, second) if second else (first,)

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
        pairs = pairwise(["", *self._in_a_row(reading)])
        tokens = [unmarked(piece) if before in BEFORE_WORDS else piece for before, piece in pairs]
        return replace(reading, tokens=tokens, segments=self.segments_of(tokens))

    def _in_a_row(self, reading: Reading) -> list[str]:
        """The names of the tokens, of parts of a character by the others beside them."""
        found: list[str] = []
        beside = groupby(zip(reading.tokens, reading.ids, strict=True), lambda token: token[0] in self.typed)
        for alone, group in beside:
            names, ids = zip(*group, strict=True)
            pieces = [self.piece(i) or "" for i in ids]
            found += names if alone or not self.space else in_a_row(names, pieces, self.space)
        return found

    def segments_of(self, tokens: Sequence[str]) -> tuple[int, ...]:
        """The segment of each token, as the tokenizer numbers them in a pair; () where the network knows none."""
        return tuple(self.segments[min(n, max(self.segments))] for n in _ends_before(tokens)) if self.segments else ()

    def guesses(self, logits: Tensor, reading: Reading) -> tuple[Guess, ...]:
        """What its head says, or as for any sentence the words."""
        if self.head != "masked-word":
            return guesses(self.head, self.labels, logits, reading.tokens)
        return super().guesses(logits, reading)


def _ends_before(tokens: Sequence[str]) -> list[int]:
    """How many [SEP] stand before each token."""
    return list(accumulate((token == BETWEEN for token in tokens[:-1]), initial=0))


@contextmanager
def failures() -> Iterator[None]:
    """Raise InputError("not_cut") where a tokenizer fails: on the sentences of its trial it did not."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != PANIC:
            raise
        raise InputError("not_cut") from error
