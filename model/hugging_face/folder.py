"""A Hugging Face folder: its files as they are, read without running anything that stands in them."""

import json
import os
import re
from collections.abc import Callable, Container, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from tokenizers import AddedToken, Regex, Tokenizer, decoders
from tokenizers.implementations import BertWordPieceTokenizer
from tokenizers.models import BPE, WordLevel
from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split, WhitespaceSplit
from tokenizers.processors import RobertaProcessing, TemplateProcessing
from torch import Tensor

from model.files import state
from model.hugging_face.errors import CheckpointError
from model.hugging_face.trial import SECONDS, tried
from model.pooled import Dense, Pooled

WHOLE, SHARDS = "model.safetensors", "model.safetensors.index.json"
READ = (".json", ".txt", ".spm", ".safetensors")  # other files decide nothing
MOST_BYTES = 5_000_000  # of a file of settings; a tokenizer may have a long vocabulary
MOST_TOKENIZER_BYTES = 100_000_000
#: The roles of tokens that stand for no word, as tokenizer_config.json names them -> as we print them, which is what
#: BERT calls them; and as RoBERTa and its kin call them.
ROLES = {
    "cls_token": ("[CLS]", "<s>", "<cls>"),
    "sep_token": ("[SEP]", "</s>", "<eos>"),
    "mask_token": ("[MASK]", "<mask>"),
    "unk_token": ("[UNK]", "<unk>"),
    "pad_token": ("[PAD]", "<pad>"),
}


@dataclass(frozen=True)
class Stored:
    """A tensor in a file. `read` copies it into memory: to use a mapped file that was cut short ends the process."""

    shape: tuple[int, ...]
    read: Callable[[], Tensor]


#: The settings of its pooling -> what it is called.
MODES = {
    "pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len", "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}  # fmt: skip


#: What stands behind the Linear of a Dense, by the end of its name -> our name of it.
BENDS = {"Tanh": "tanh", "Identity": "", "ReLU": "relu", "GELU": "gelu", "SiLU": "silu"}


class Folder:
    """One folder. Every method raises CheckpointError for what is missing, damaged or leads out of it."""

    def __init__(self, path: Path, name: str = "") -> None:
        self.path, self._name = path, name
        if not os.path.isdir(path):  # nor is one whose name is too long for a folder
            raise CheckpointError("no_folder", folder=path.name)

    @property
    def name(self) -> str:
        if self._name:
            return self._name
        path = self.path.resolve()
        if path.parent.name == "snapshots":  # in the hub's own cache a folder is called by its revision
            return path.parents[1].name.removeprefix("models--").replace("--", "/")
        return path.name

    @property
    def state(self) -> tuple[Hashable, ...]:
        """What is another when one of its files is: written again, new, or gone."""
        try:
            below = {self.path / part["path"] for part in self.parts}
            homes = {self.path, self.encoder.path, *(path for path in below if path.is_dir())}
            read = sorted(path for home in homes for path in home.iterdir() if path.suffix in READ)
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

    @cached_property
    def encoder(self) -> "Folder":
        """Where the encoder lies: here, or below, where sentence-transformers once put it (0_Transformer/)."""
        if self.file("config.json"):
            return self
        below = next((part["path"] for part in self.parts if part["type"].endswith(".Transformer")), "")
        inside = self.path / below
        if not below or not os.path.isdir(inside):
            return self
        if not inside.resolve().is_relative_to(self.path.resolve()):
            raise CheckpointError("outside", file=below, folder=self.name)
        return Folder(inside, self.name)

    @cached_property
    def parts(self) -> list[dict[str, str]]:
        """The modules of sentence-transformers in their order, by modules.json; none where it is not theirs."""
        path = self.file("modules.json")
        try:
            if path is None or path.stat().st_size > MOST_BYTES:
                return []
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise CheckpointError("damaged", file="modules.json", folder=self.name) from error
        if not isinstance(found, list) or not all(
            isinstance(part, dict) and isinstance(part.get("path"), str) and isinstance(part.get("type"), str)
            for part in found
        ):
            raise CheckpointError("damaged", file="modules.json", folder=self.name)
        return found

    def pooled(self) -> Pooled | None:
        """How sentence-transformers makes one vector of all; None where the folder does not say."""
        pooling, more, dense = "", [], []
        for part in self.parts:
            kind = part["type"].rpartition(".")[-1]
            if kind == "Pooling":
                said = self.settings(f"{part['path']}/config.json") or {}
                modes = [name for mode, name in MODES.items() if said.get(mode) is True]
                pooling = modes[0] if len(modes) == 1 else said.get("pooling_mode", "several")
                pooling = str(pooling).removesuffix("_tokens")  # as newer folders say it
            elif kind != "Transformer":
                more.append(kind)
            if kind == "Dense" and (found := self._dense(part["path"])):
                dense.append(found)
        return Pooled(str(pooling)[:40], tuple(kind[:40] for kind in more), tuple(dense)) if pooling else None

    def _dense(self, below: str) -> Dense | None:
        """A Linear behind the pooling; None for one that cannot be computed from what the folder holds."""
        said, weights = self.settings(f"{below}/config.json") or {}, f"{below}/{WHOLE}"
        bend = str(said.get("activation_function", "")).rpartition(".")[-1]
        usual = {said.get("module_input_name"), said.get("module_output_name")} <= {None, "sentence_embedding"}
        if bend not in BENDS or said.get("use_residual") or not usual or not self.file(weights):
            return None
        found = {name: stored.read().float().numpy() for name, stored in self._tensors(weights)}
        W, b = found.pop("linear.weight", None), found.pop("linear.bias", None)
        if W is None or W.ndim != 2 or found or (b is not None and b.shape != W.shape[:1]):
            return None
        if not np.isfinite(W).all() or (b is not None and not np.isfinite(b).all()):
            raise CheckpointError("tensor_not_finite", folder=self.name, tensor=f"{below}/linear.weight")
        return Dense(W.T, b, BENDS[bend])

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

    def pictures(self) -> dict[str, Any]:
        """How pictures are prepared: what processor_config.json says, else preprocessor_config.json."""
        own = (self.settings("processor_config.json") or {}).get("image_processor")
        return own if isinstance(own, dict) else self.settings("preprocessor_config.json") or {}

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

    def tokenizer(self, vocabulary: int, letters: bool = False) -> Tokenizer:
        """tokenizer.json; else WordPiece with the words of vocab.txt, or byte-level BPE with vocab.json and merges.txt.
        letters: vocab.txt holds signs, into which a text is cut.

        It neither cuts nor pads, and has been tried.

        vocabulary: for how many pieces the weights have a row.
        """
        whole, words = self.file("tokenizer.json"), self.file("vocab.txt")
        pairs = self.file("vocab.json") and self.file("merges.txt")
        path = whole or words or pairs
        if path is None:
            raise CheckpointError("no_tokenizer", folder=self.name)
        try:
            if path.stat().st_size > MOST_TOKENIZER_BYTES:
                raise CheckpointError("damaged", file=path.name, folder=self.name)
            if whole:
                text = whole.read_text(encoding="utf-8")
            else:
                cut = self._letters if letters else self._word_piece
                text = (cut(words) if words else self._byte_level()).to_str()
        except CheckpointError:
            raise
        except Exception as error:  # tokenizers raises bare Exception for a damaged file
            raise CheckpointError("damaged", file=path.name, folder=self.name) from error
        return self.tried(text, path.name, vocabulary)

    def tried(self, text: str, file: str, vocabulary: int | None = None) -> Tokenizer:
        """The tokenizer of the text of a tokenizer.json, which the file holds or was made of; once it has been tried.

        vocabulary: how many pieces it may have, if the weights have a row for each of them.
        """
        found = tried(text, SECONDS)
        if found.reason:
            about = {"file": file, "seconds": SECONDS, "why": found.why}
            raise CheckpointError(found.reason, folder=self.name, **about)
        if vocabulary is not None and found.most >= vocabulary:
            raise CheckpointError("vocabulary", folder=self.name)
        tokenizer = Tokenizer.from_str(text)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def _letters(self, words: Path) -> Tokenizer:
        """As ESM cuts: into the signs of vocab.txt, the longest first; what stands between two of them is unknown."""
        signs = [line.strip() for line in words.read_text(encoding="utf-8").splitlines()]
        vocabulary = {sign: place for place, sign in enumerate(signs)}
        usual = {role: next(name for name in names[::-1] if name in vocabulary) for role, names in ROLES.items()}
        tokenizer = Tokenizer(WordLevel(vocabulary, unk_token=usual["unk_token"]))
        tokenizer.add_special_tokens([AddedToken(name, special=True) for name in usual.values()])
        known = "|".join(map(re.escape, sorted(filter(None, signs), key=len, reverse=True)))
        tokenizer.pre_tokenizer = Sequence([WhitespaceSplit(), Split(Regex(known), "isolated")])
        cls, sep = usual["cls_token"], usual["sep_token"]
        special = [(name, vocabulary[name]) for name in (cls, sep)]
        tokenizer.post_processor = TemplateProcessing(
            single=f"{cls} $A {sep}", pair=f"{cls} $A {sep} $B {sep}", special_tokens=special
        )
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

    def _byte_level(self) -> Tokenizer:
        """As RoBERTa cuts: with the pieces of vocab.json, put together by merges.txt."""
        said = self.settings("tokenizer_config.json") or {}
        vocabulary, merges = BPE.read_file(str(self.file("vocab.json")), str(self.file("merges.txt")))
        tokenizer = Tokenizer(BPE(vocabulary, merges))
        space = bool(said.get("add_prefix_space", False))
        tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=space)
        tokenizer.decoder = decoders.ByteLevel()
        names = {role: next(name for name in usual[::-1] if name in vocabulary) for role, usual in ROLES.items()}
        mask = AddedToken(names["mask_token"], lstrip=True, special=True)
        others = [AddedToken(name, special=True) for role, name in names.items() if role != "mask_token"]
        tokenizer.add_special_tokens([*others, mask])
        sep, cls = ((names[role], vocabulary[names[role]]) for role in ("sep_token", "cls_token"))
        tokenizer.post_processor = RobertaProcessing(sep, cls, add_prefix_space=space)
        return tokenizer

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
