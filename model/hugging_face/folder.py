"""A Hugging Face folder: its files as they are, read without running anything that stands in them."""

import json
import os
from collections.abc import Callable, Container, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer
from tokenizers.implementations import BertWordPieceTokenizer
from torch import Tensor

from model.files import state
from model.hugging_face.errors import CheckpointError
from model.hugging_face.trial import SECONDS, tried

WHOLE, SHARDS = "model.safetensors", "model.safetensors.index.json"
READ = (".json", ".txt", ".safetensors")  # other files decide nothing
MOST_BYTES = 5_000_000  # of a file of settings; a tokenizer may have a long vocabulary
MOST_TOKENIZER_BYTES = 100_000_000
#: The roles of tokens that stand for no word, as tokenizer_config.json names them -> as we print them, which is what
#: BERT calls them; and as RoBERTa and its kin call them.
ROLES = {
    "cls_token": ("[CLS]", "<s>"),
    "sep_token": ("[SEP]", "</s>"),
    "mask_token": ("[MASK]", "<mask>"),
    "unk_token": ("[UNK]", "<unk>"),
    "pad_token": ("[PAD]", "<pad>"),
}


@dataclass(frozen=True)
class Stored:
    """A tensor in a file. `read` copies it into memory: to use a mapped file that was cut short ends the process."""

    shape: tuple[int, ...]
    read: Callable[[], Tensor]


class Folder:
    """One folder. Every method raises CheckpointError for what is missing, damaged or leads out of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not os.path.isdir(path):  # nor is one whose name is too long for a folder
            raise CheckpointError("no_folder", folder=path.name)

    @property
    def name(self) -> str:
        path = self.path.resolve()
        if path.parent.name == "snapshots":  # in the hub's own cache a folder is called by its revision
            return path.parents[1].name.removeprefix("models--").replace("--", "/")
        return path.name

    @property
    def state(self) -> tuple[Hashable, ...]:
        """What is another when one of its files is: written again, new, or gone."""
        try:
            read = sorted(path for path in self.path.iterdir() if path.suffix in READ)
        except OSError as error:
            raise CheckpointError("no_folder", folder=self.path.name) from error
        return tuple((path.name, state(path)) for path in read)

    def file(self, name: str) -> Path | None:
        """A file in the folder, or None. The hub's own cache keeps its files beside the folder, under `blobs`."""
        path = self.path / name
        if not os.path.exists(path):  # which says of a name that no file can have that there is none
            return None
        homes = [self.path.resolve()]
        if homes[0].parent.name == "snapshots":
            homes.append(homes[0].parent.parent / "blobs")
        if not any(path.resolve().is_relative_to(home) for home in homes):
            raise CheckpointError("outside", file=name, folder=self.name)
        if not path.is_file():  # whoever opens a pipe waits until somebody writes
            raise CheckpointError("damaged", file=name, folder=self.name)
        return path

    def settings(self, name: str) -> dict[str, Any] | None:
        """A JSON file with named values, or None where there is none."""
        path = self.file(name)
        if path is None:
            return None
        try:
            if path.stat().st_size > MOST_BYTES:
                raise CheckpointError("damaged", file=name, folder=self.name)
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise CheckpointError("damaged", file=name, folder=self.name) from error
        if not isinstance(found, dict):
            raise CheckpointError("damaged", file=name, folder=self.name)
        return found

    def config(self) -> dict[str, Any]:
        if (found := self.settings("config.json")) is None:
            raise CheckpointError("missing", file="config.json", folder=self.name)
        return found

    # -- weights -----------------------------------------------------------------------------------

    def weights(self) -> dict[str, Stored]:
        """All tensors by name, none of them read yet."""
        return {key: stored for name in self.weight_files() for key, stored in self._tensors(name)}

    def weight_files(self) -> list[str]:
        """The names of the files that hold the tensors."""
        if self.file(WHOLE):
            return [WHOLE]
        if (index := self.settings(SHARDS)) is not None:
            shards = index.get("weight_map")
            if not isinstance(shards, dict) or not all(isinstance(shard, str) for shard in shards.values()):
                raise CheckpointError("damaged", file=SHARDS, folder=self.name)
            return sorted(set(shards.values()))
        pickles = sorted(path.name for kind in ("*.bin", "*.pt", "*.pth", "*.pkl") for path in self.path.glob(kind))
        if pickles:
            raise CheckpointError("pickle", file=pickles[0], folder=self.name)
        raise CheckpointError("missing", file=WHOLE, folder=self.name)

    def _tensors(self, name: str) -> Iterator[tuple[str, Stored]]:
        path = self.file(name)
        if path is None:
            raise CheckpointError("missing", file=name, folder=self.name)
        with self._unless_damaged(name):
            file = safe_open(path, framework="pt", backend="pread")
            for key in file.keys():  # noqa: SIM118 (not a dict)
                yield key, Stored(tuple(file.get_slice(key).get_shape()), partial(self._tensor, file, name, key))

    def _tensor(self, file: Any, name: str, key: str) -> Tensor:
        with self._unless_damaged(name):
            return file.get_tensor(key)

    @contextmanager
    def _unless_damaged(self, name: str) -> Iterator[None]:
        try:
            yield
        except (SafetensorError, OSError, ValueError) as error:
            raise CheckpointError("damaged", file=name, folder=self.name) from error

    # -- the tokenizer -----------------------------------------------------------------------------

    def tokenizer(self, vocabulary: int) -> Tokenizer:
        """tokenizer.json, or WordPiece with the words of vocab.txt; it neither cuts nor pads, and has been tried.

        vocabulary: for how many pieces the weights have a row.
        """
        whole, words = self.file("tokenizer.json"), self.file("vocab.txt")
        path = whole or words
        if path is None:
            raise CheckpointError("no_tokenizer", folder=self.name)
        try:
            if path.stat().st_size > MOST_TOKENIZER_BYTES:
                raise CheckpointError("damaged", file=path.name, folder=self.name)
            text = whole.read_text(encoding="utf-8") if whole else self._word_piece(words).to_str()
        except CheckpointError:
            raise
        except Exception as error:  # tokenizers raises bare Exception for a damaged file
            raise CheckpointError("damaged", file=path.name, folder=self.name) from error
        found = tried(text, SECONDS)
        if found.reason:
            about = {"file": path.name, "seconds": SECONDS, "why": found.why}
            raise CheckpointError(found.reason, folder=self.name, **about)
        if found.most >= vocabulary:
            raise CheckpointError("vocabulary", folder=self.name)
        tokenizer = Tokenizer.from_str(text)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def _word_piece(self, words: Path | None) -> BertWordPieceTokenizer:
        """With the words of vocab.txt; a text is made plain as the settings say, or by default."""
        said = self.settings("tokenizer_config.json") or {}
        accents = said.get("strip_accents")
        return BertWordPieceTokenizer(
            str(words),
            lowercase=bool(said.get("do_lower_case", True)),
            strip_accents=None if accents is None else bool(accents),  # None: where all is in small letters
            handle_chinese_chars=bool(said.get("tokenize_chinese_chars", True)),
        )

    def roles(self, vocabulary: Container[str]) -> dict[str, str]:
        """What the tokenizer calls the tokens that stand for no word -> what we call them: {"<s>": "[CLS]", …}.

        Where no file names one, it is the first of the usual names that the vocabulary holds.
        """
        found = self.settings("special_tokens_map.json") or {}
        found |= self.settings("tokenizer_config.json") or {}
        roles = {}
        for role, (ours, *others) in ROLES.items():
            usual = next((name for name in (ours, *others) if name in vocabulary), ours)
            theirs = found.get(role, usual)
            theirs = theirs.get("content") if isinstance(theirs, dict) else theirs
            if isinstance(theirs, str):
                roles[theirs] = ours
        return roles
