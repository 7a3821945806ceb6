"""Read sentences with a checkpoint's own tokenizer, one or two at a time."""

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

PANIC = "PanicException"  # raised by Rust; not an Exception, and not importable
BETWEEN = "[SEP]"  # typed between two sentences
BEFORE_WORDS = ("[CLS]", BETWEEN, SPACE)  # a piece after one of these begins a word


class CheckpointTextReader(TextReader):
    """Reads a sentence, or two separated by [SEP].

    Special tokens are shown and typed by BERT's names ([CLS] for <s>, [MASK] for <mask>, …). `roles`: their names ->
    these. `labels` are a classifier's classes. For how other pieces are shown, see `pieces.py`.
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
        """ids: ids that replace the tokenizer's own. proteins: whether pieces are amino acids."""
        super().__init__(tokenizer, config.max_len)
        self.proteins = proteins
        self.labels, self.head = tuple(labels), config.head
        self.space = space_mark(tokenizer)
        pieces = {i: piece for piece, i in (tokenizer.get_vocab() if ids is None else ids).items()}
        words = {i: roles.get(piece) or readable(piece, self.space) for i, piece in pieces.items()}
        #: The tokenizer's own form of a piece, by id.
        self.piece: Callable[[int], str | None] = tokenizer.id_to_token if ids is None else pieces.get
        #: E may have more rows than the tokenizer has pieces.
        self.vocabulary = [words.get(i, f"[unused {i}]") for i in range(config.vocab_size)]
        self.typed = {ours: theirs for theirs, ours in roles.items()}
        #: Number of [SEP] before a token -> its segment; empty if the network has no segments.
        self.segments: dict[int, int] = {}
        if config.segments:
            pair = tokenizer.encode(*TRIED[:2])
            behind = _ends_before([self.vocabulary[i] for i in pair.ids])
            for n, segment in zip(behind, pair.type_ids, strict=True):
                self.segments.setdefault(n, min(segment, config.segments - 1))

    def examples(self) -> Iterator[str]:
        return iter(PROTEINS) if self.proteins else super().examples()

    def sentences(self, text: str) -> tuple[str, ...]:
        """The sentence, or the two around [SEP], stripped of the spaces next to it."""
        first, between, second = text.partition(BETWEEN)
        first, second = first.rstrip() if between else first, second.lstrip()
        for ours, theirs in self.typed.items():
            first, second = first.replace(ours, theirs), second.replace(ours, theirs)
        return (first, second) if second else (first,)

    def encode(self, text: str) -> Encoding:
        """Tokenize a text. Raises InputError("not_cut") if the tokenizer fails."""
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
        """Names of the tokens; parts of a character are named together with their neighbours."""
        found: list[str] = []
        beside = groupby(zip(reading.tokens, reading.ids, strict=True), lambda token: token[0] in self.typed)
        for alone, group in beside:
            names, ids = zip(*group, strict=True)
            pieces = [self.piece(i) or "" for i in ids]
            found += names if alone or not self.space else in_a_row(names, pieces, self.space)
        return found

    def segments_of(self, tokens: Sequence[str]) -> tuple[int, ...]:
        """Segment of each token, numbered as the tokenizer does in a pair; () if the network has none."""
        return tuple(self.segments[min(n, max(self.segments))] for n in _ends_before(tokens)) if self.segments else ()

    def guesses(self, logits: Tensor, reading: Reading) -> tuple[Guess, ...]:
        """The head's answer; for masked words, as for any sentence."""
        if self.head != "masked-word":
            return guesses(self.head, self.labels, logits, reading.tokens)
        return super().guesses(logits, reading)


def _ends_before(tokens: Sequence[str]) -> list[int]:
    """Number of [SEP] before each token."""
    return list(accumulate((token == BETWEEN for token in tokens[:-1]), initial=0))


@contextmanager
def failures() -> Iterator[None]:
    """Raise InputError("not_cut") if a tokenizer fails, although it passed its trial."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != PANIC:
            raise
        raise InputError("not_cut") from error
