"""Marian translators (opus-mt): how they read a sentence and write its translation.

Source: Junczys-Dowmunt et al. 2018, "Marian: Fast Neural Machine Translation in C++"; MarianMTModel of transformers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from torch import Tensor

from model.changes import Change
from model.checkpoints.errors import CheckpointError, setting_error
from model.checkpoints.families.marian import halves
from model.checkpoints.folder import Folder, Stored
from model.checkpoints.pieces import readable
from model.checkpoints.sentence_piece import SPACE
from model.checkpoints.text import CheckpointTextReader, failures
from model.config import EncoderConfig
from model.embedding import SinusoidalPositions
from model.pipeline import Reading
from model.trace import Guess
from model.translator import Task, Translator, as_written

POSITIONS = ".embed_positions.weight"
MOST_NEVER = 100  # of `bad_words_ids`; each is checked at every step
NEAR = 1e-3  # tolerance of sines computed elsewhere


def check_positions(folder: Folder, stored: Mapping[str, Stored]) -> None:
    """Raise CheckpointError if a file's positions are not the sinusoids that we compute."""
    for name in (name for name in stored if f".{name}".endswith(POSITIONS)):
        found = stored[name].read().float()
        width = found.shape[-1] if found.ndim == 2 else 0
        sines = SinusoidalPositions(width, len(found)).table[:, halves(width)] if width and not width % 2 else None
        if sines is None or not torch.allclose(found, sines, atol=NEAR):
            raise CheckpointError("no_sines", folder=folder.name, tensor=name)


@dataclass(frozen=True)
class Target:
    """The target language: displayed pieces by id, start and end ids, and sequences of ids never written.

    written: pieces as in the file. pair: languages named by the folder, ("en", "de"); "" if not named.
    """

    vocabulary: tuple[str, ...]
    written: tuple[str, ...]
    start: int
    end: int
    never: tuple[tuple[int, ...], ...]
    pair: tuple[str, str]


class MarianReader(CheckpointTextReader):
    """Reads a sentence for a Marian translator: no [CLS], and [SEP] at the end.

    `ids` replaces the ids of the pieces in the .spm file. A prefix like >>fra<< selects the target language in models
    with several.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        config: EncoderConfig,
        roles: Mapping[str, str],
        target: Target,
        ids: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(tokenizer, config, roles, ids=ids)
        self.roles, self.target, self.own_ids = dict(roles), target, ids

    def sentences(self, text: str) -> tuple[str, ...]:
        for ours, theirs in self.typed.items():
            text = text.replace(ours, theirs)
        return (text,)

    def encode(self, text: str) -> "Cut":
        """Pieces of a text, and [SEP]. Raises InputError("not_cut") if the tokenizer fails."""
        if self.own_ids is None:
            encoding = super().encode(text)
            return Cut(encoding.ids, encoding.offsets)
        (text,) = self.sentences(text)
        code = text[: text.find("<<") + 2] if text.startswith(">>") and "<<" in text else ""
        with failures():
            encoding = self.tokenizer.encode(text[len(code) :])
        unknown = self.own_ids[self.typed["[UNK]"]]
        pieces = [*[code] * bool(code), *encoding.tokens]
        places = [
            *[(0, len(code))] * bool(code),
            *((one + len(code), end + len(code)) for one, end in encoding.offsets),
        ]
        ids = [self.own_ids.get(piece, unknown) for piece in pieces]
        return Cut([*ids, self.own_ids[self.typed["[SEP]"]]], [*places, (len(text), len(text))])


@dataclass(frozen=True)
class Cut:
    """A tokenized text: the pieces' ids and (start, end) in the text."""

    ids: list[int]
    offsets: list[tuple[int, int]]

    @property
    def sequence_ids(self) -> list[int]:
        """0 for every piece: there is one sentence."""
        return [0] * len(self.ids)


class MarianTranslator(Translator):
    """A translator for one language pair: no language token is written first, and `into` has no effect."""

    reader: MarianReader  # type: ignore[assignment]

    @property
    def target_vocabulary(self) -> Sequence[str]:  # type: ignore[override]
        return self.reader.target.vocabulary

    @property
    def pair(self) -> tuple[str, str]:
        return self.reader.target.pair

    @property
    def _end(self) -> int:  # type: ignore[override]
        return self.reader.target.end

    def _start(self, task: Task, reading: Reading) -> int:
        return self.reader.target.start

    def _guess(self, logits: Tensor, step: int) -> Guess:
        best = logits.softmax(-1).topk(min(10, len(logits)))
        return Guess(tuple(map(self._word, best.indices.tolist())), tuple(best.values.tolist()), step)

    def _examples(self) -> Iterator[Mapping[str, Tensor]]:
        """Empty: our example sentences have no translation into its language."""
        return iter(())

    def _beginning(self, forced: Sequence[int]) -> tuple[int, ...]:
        never = self.reader.target.never
        return super()._beginning(tuple(takewhile(lambda piece: (piece,) not in never, forced)))

    def _writer(self, reading: Reading, changes: list[Change]) -> Callable[[Tensor], Tensor]:
        """Decoder step that gives never-written sequences probability 0."""
        step = super()._writer(reading, changes)

        def allowed(y: Tensor) -> Tensor:
            found = step(y)
            for *before, last in self.reader.target.never:
                n = len(before)
                if n < y.size(1):
                    found[(y[:, y.size(1) - n :] == torch.tensor(before)).all(1), last] = -torch.inf
            return found

        return allowed

    def spelled(self, ids: Sequence[int]) -> str:
        reader, target = self.reader, self.reader.target
        if reader.own_ids is None:
            text = reader.tokenizer.decode(list(ids), skip_special_tokens=False)
            return as_written(text) if isinstance(reader.tokenizer.model, WordPiece) else text
        return self._joined(target.written[i] for i in ids)

    def _joined(self, pieces: Iterable[str]) -> str:
        """Text of .spm pieces; special tokens by their names."""
        roles = self.reader.roles
        said = (f" {roles[piece]} " if piece in roles else piece.replace(SPACE, " ") for piece in pieces)
        return " ".join("".join(said).split())


# -- from a folder -------------------------------------------------------------------------------------------------


def reader_of(folder: Folder, config: EncoderConfig, decoder: EncoderConfig) -> MarianReader:
    """Reader of sentences, with its target, from the folder's tokenizer and settings. Raises CheckpointError.

    Uses source.spm with vocab.json (and target_vocab.json if the languages have separate vocabularies); tokenizer.json
    if there is no source.spm or that is not Unigram.
    """
    tokenizer, ids, written = None, None, None
    if folder.file("source.spm"):
        try:
            tokenizer = folder.tried("sentence_piece", "source.spm")
            ids = _list_of_pieces(folder, "vocab.json", config.vocab_size)
            written = _list_of_pieces(folder, "target_vocab.json", decoder.vocab_size) if decoder.own_words else ids
        except CheckpointError as error:
            if error.reason != "not_unigram" or not folder.file("tokenizer.json"):
                raise
    if tokenizer is None:
        if not folder.file("tokenizer.json"):
            raise CheckpointError("missing", file="source.spm", folder=folder.name)
        if decoder.own_words:  # it holds one of the two vocabularies
            raise CheckpointError("missing", file="target_vocab.json", folder=folder.name)
        tokenizer = folder.tokenizer(config.vocab_size)
        written = tokenizer.get_vocab()
    assert written is not None
    roles = folder.roles(written if ids is None else ids)
    return MarianReader(tokenizer, config, roles, _target(folder, decoder.vocab_size, written, roles), ids)


def _list_of_pieces(folder: Folder, name: str, most: int) -> dict[str, int]:
    """Piece -> id, from a JSON vocabulary."""
    found = folder.settings(name)
    if found is None:
        raise CheckpointError("missing", file=name, folder=folder.name)
    if not found or not all(type(i) is int for i in found.values()):
        raise CheckpointError("damaged", file=name, folder=folder.name)
    if not {"<unk>", "</s>"} <= found.keys():
        raise CheckpointError("damaged", file=name, folder=folder.name)
    if not all(0 <= i < most for i in found.values()):
        raise CheckpointError("vocabulary", folder=folder.name)
    return found


def _target(folder: Folder, most: int, ids: Mapping[str, int], roles: Mapping[str, str]) -> Target:
    """Target by generation_config.json, else config.json, with its pieces."""
    said = folder.config() | {
        k: v for k, v in (folder.settings("generation_config.json") or {}).items() if v is not None
    }
    names = folder.settings("tokenizer_config.json") or {}
    end = said.get("eos_token_id", 0)
    end = end[0] if isinstance(end, list) and end else end
    ends = {"eos_token_id": end, "decoder_start_token_id": said.get("decoder_start_token_id", said.get("pad_token_id"))}
    for name, value in ends.items():
        if type(value) is not int or not 0 <= value < most:
            raise setting_error("size", folder.name, name, value)
    never = said.get("bad_words_ids") or []
    whole = isinstance(never, list) and all(isinstance(row, list) and row for row in never) and len(never) <= MOST_NEVER
    if not whole or not all(type(i) is int and 0 <= i < most for row in never for i in row):
        raise setting_error("setting", folder.name, "bad_words_ids", never)
    by_id = {i: piece for piece, i in ids.items()}
    written = tuple(by_id.get(i, f"[unused {i}]") for i in range(most))
    shown = [roles.get(piece) or (readable(piece, SPACE) if i in by_id else piece) for i, piece in enumerate(written)]
    shown[end] = "[SEP]"
    source, into = (str(names.get(f"{side}_lang") or "")[:20] for side in ("source", "target"))
    begins = ends["decoder_start_token_id"]
    return Target(
        tuple(shown), written, begins, end, tuple(tuple(row) for row in never if row != [end]), (source, into)
    )
