"""Read the files of a Hugging Face folder without running any code in them."""

import json
import os
import re
from collections.abc import Callable, Container, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer
from torch import Tensor

from model.checkpoints.errors import CheckpointError
from model.checkpoints.trial import ROLES, SECONDS, tried
from model.files import state
from model.variants.pooled import Dense, Pooled

WHOLE, SHARDS = "model.safetensors", "model.safetensors.index.json"
READ = (".json", ".txt", ".spm", ".safetensors")  # other files do not affect the pipeline
PIECES = ("spiece.model", "spm.model", "sentencepiece.bpe.model")  # SentencePiece files, without the special tokens
#: Files in which sentence-transformers may state the maximum length of a sentence.
OF_SENTENCES = [
    f"sentence_{kind}_config.json" for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta")
]
SHORTEST = 3  # tokens: one word between [CLS] and [SEP]
MOST_BYTES = 5_000_000  # of a settings file; a tokenizer's vocabulary may be larger
MOST_CARD = 20_000  # characters of a model card that are searched for a title
TITLE = re.compile(r"^# (\w[\w./-]{0,95})$", re.ASCII | re.MULTILINE)
MOST_TOKENIZER_BYTES = 100_000_000


@dataclass(frozen=True)
class Stored:
    """A tensor in a file. `read` copies it: using a mapped file that was truncated would kill the process."""

    shape: tuple[int, ...]
    read: Callable[[], Tensor]


#: Setting of sentence-transformers' pooling module -> name of the pooling.
MODES = {
    "pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len", "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}  # fmt: skip


#: End of the name of a Dense module's activation -> our name of it.
BENDS = {"Tanh": "tanh", "Identity": "", "ReLU": "relu", "GELU": "gelu", "SiLU": "silu"}


def called(path: Path) -> str:
    """A folder's name. If that is "model", the title of its model card, or else the parent folder's name."""
    if path.name != "model":
        return path.name
    with suppress(OSError, UnicodeDecodeError), (path / "README.md").open(encoding="utf-8") as card:
        if title := TITLE.search(card.read(MOST_CARD)):
            return title[1]
    return path.parent.name or path.name


class Folder:
    """A folder. Every method raises CheckpointError for files that are missing, damaged or outside the folder."""

    def __init__(self, path: Path, name: str = "") -> None:
        self.path, self._name = path, name
        home = path.resolve()
        #: Name on the hub, if the folder is in the hub's cache, where its own name is a revision.
        cached = home.parent.name == "snapshots"
        self._on_hub = home.parents[1].name.removeprefix("models--").replace("--", "/") if cached else ""
        #: The name to pass to `convert`.
        self.asked = self._on_hub or path.name
        if not os.path.isdir(path):  # False also for names too long for the file system
            raise CheckpointError("no_folder", folder=path.name)

    @property
    def name(self) -> str:
        return self._name or self._on_hub or called(self.path.resolve())

    @property
    def state(self) -> tuple[Hashable, ...]:
        """The files' state, which changes when one is written, added or removed."""
        try:
            below = {self.path / part["path"] for part in self.parts}
            homes = {self.path, self.encoder.path, *(path for path in below if path.is_dir())}
            read = sorted(path for home in homes for path in home.iterdir() if path.suffix in READ)
        except OSError as error:
            raise CheckpointError("no_folder", folder=self.path.name) from error
        return tuple((path.name, state(path)) for path in read)

    def file(self, name: str) -> Path | None:
        """Path of a file in the folder, or None. Files in the hub's cache may be links into `blobs`."""
        path = self.path / name
        if not os.path.exists(path):  # False also for names that no file can have
            return None
        homes = [self.path.resolve()]
        if homes[0].parent.name == "snapshots":
            homes.append(homes[0].parent.parent / "blobs")
        if not any(path.resolve().is_relative_to(home) for home in homes):
            raise CheckpointError("outside", file=name, folder=self.name)
        if not path.is_file():  # opening a pipe would block
            raise CheckpointError("damaged", file=name, folder=self.name)
        return path

    @cached_property
    def encoder(self) -> "Folder":
        """The folder of the encoder: this one, or a subfolder such as sentence-transformers' 0_Transformer/."""
        if self.file("config.json"):
            return self
        below = next((part["path"] for part in self.parts if part["type"].endswith(".Transformer")), "")
        inside = self.path / below
        if not below or not os.path.isdir(inside):
            return self
        if not inside.resolve().is_relative_to(self.path.resolve()):
            raise CheckpointError("outside", file=below, folder=self.name)
        part = Folder(inside, self.name)
        part.asked = self.asked
        return part

    @cached_property
    def parts(self) -> list[dict[str, str]]:
        """sentence-transformers' modules in order, from modules.json; [] if there is no such file."""
        found = self._json("modules.json", [])
        if not isinstance(found, list) or not all(
            isinstance(part, dict) and isinstance(part.get("path"), str) and isinstance(part.get("type"), str)
            for part in found
        ):
            raise CheckpointError("damaged", file="modules.json", folder=self.name)
        return found

    def longest(self) -> int | None:
        """Maximum number of tokens according to sentence-transformers; None if it did not make the folder or names
        none.
        """
        if not self.parts:
            return None
        said = [self.encoder.settings(name) or {} for name in OF_SENTENCES]
        said.append({"max_seq_length": (self.encoder.settings("tokenizer_config.json") or {}).get("model_max_length")})
        given = (one.get("max_seq_length") for one in said)
        return next((most for most in given if type(most) is int and most >= SHORTEST), None)

    def pooled(self) -> Pooled | None:
        """How sentence-transformers pools the tokens into one vector; None if the folder does not say."""
        pooling, more, dense = "", [], []
        for part in self.parts:
            kind = part["type"].rpartition(".")[-1]
            if kind == "Pooling":
                said = self.settings(f"{part['path']}/config.json") or {}
                modes = [name for mode, name in MODES.items() if said.get(mode) is True]
                pooling = modes[0] if len(modes) == 1 else said.get("pooling_mode", "several")
                pooling = str(pooling).removesuffix("_tokens")  # newer folders
            elif kind != "Transformer":
                more.append(kind)
            if kind == "Dense" and (found := self._dense(part["path"])):
                dense.append(found)
        return Pooled(str(pooling)[:40], tuple(kind[:40] for kind in more), tuple(dense)) if pooling else None

    def _dense(self, below: str) -> Dense | None:
        """A Linear after the pooling; None if the folder does not hold all it needs, or it is of an unknown kind."""
        said, weights = self.settings(f"{below}/config.json") or {}, f"{below}/{WHOLE}"
        bend = str(said.get("activation_function", "")).rpartition(".")[-1]
        named = [said.get("module_input_name"), said.get("module_output_name")]
        usual = all(name in (None, "sentence_embedding") for name in named)
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
        """A JSON object as a dictionary, or None if there is no such file."""
        found = self._json(name, None)
        if found is not None and not isinstance(found, dict):
            raise CheckpointError("damaged", file=name, folder=self.name)
        return found

    def _json(self, name: str, otherwise: Any) -> Any:
        """Content of a JSON file; `otherwise` if there is none."""
        path = self.file(name)
        if path is None:
            return otherwise
        try:
            if path.stat().st_size > MOST_BYTES:
                raise ValueError("too large")
            found = json.loads(path.read_text(encoding="utf-8"))
            json.dumps(found, ensure_ascii=False).encode()  # raises for lone surrogates, which cannot be shown
        except (OSError, ValueError, RecursionError) as error:
            raise CheckpointError("damaged", file=name, folder=self.name) from error
        return found

    def config(self) -> dict[str, Any]:
        if (found := self.settings("config.json")) is None:
            reason = "adapter" if self.file(adapter := "adapter_config.json") else "missing"
            raise CheckpointError(reason, file="config.json", tensor=adapter, folder=self.name)
        return found

    def pictures(self) -> dict[str, Any]:
        """Image preprocessing: `image_processor` of processor_config.json, else preprocessor_config.json."""
        own = (self.settings("processor_config.json") or {}).get("image_processor")
        return own if isinstance(own, dict) else self.settings("preprocessor_config.json") or {}

    # -- weights -----------------------------------------------------------------------------------

    def weights(self) -> dict[str, Stored]:
        """All tensors by name, not yet read."""
        return {key: stored for name in self.weight_files() for key, stored in self._tensors(name)}

    def weight_files(self) -> list[str]:
        """Names of the files that hold the tensors."""
        if self.file(WHOLE):
            return [WHOLE]
        if (index := self.settings(SHARDS)) is not None:
            shards = index.get("weight_map")
            if not isinstance(shards, dict) or not all(isinstance(shard, str) for shard in shards.values()):
                raise CheckpointError("damaged", file=SHARDS, folder=self.name)
            return sorted(set(shards.values()))
        pickles = sorted(path.name for kind in ("*.bin", "*.pt", "*.pth", "*.pkl") for path in self.path.glob(kind))
        if pickles:
            raise CheckpointError("pickle", file=pickles[0], folder=self.asked)
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
        """Tokenizer from tokenizer.json; else WordPiece from vocab.txt, or byte-level BPE from vocab.json and
        merges.txt.

        It was tried in its own process (see `tried`), and neither truncates nor pads. vocabulary: number of rows of E.
        letters: vocab.txt holds characters, one token each.
        """
        if self.file("tokenizer.json"):
            return self.tried("whole", "tokenizer.json", most=vocabulary)
        if self.file("vocab.txt"):
            return self.tried("letters" if letters else "words", "vocab.txt", most=vocabulary)
        if self.file("vocab.json") and self.file("merges.txt"):
            return self.tried("bytes", "vocab.json", "merges.txt", most=vocabulary)
        if pieces := next((name for name in PIECES if self.file(name)), ""):
            raise CheckpointError("pieces", folder=self.asked, file=pieces)
        raise CheckpointError("no_tokenizer", folder=self.name)

    def tried(self, kind: str, *names: str, most: int | None = None) -> Tokenizer:
        """Build the tokenizer of a kind (see MADE_OF in trial.py) from files, after a trial in its own process.

        most: number of pieces it may have, if E has a row for each.
        """
        try:
            paths = [self.path / name for name in names]
            if sum(path.stat().st_size for path in paths) > MOST_TOKENIZER_BYTES:
                raise CheckpointError("damaged", file=names[0], folder=self.name)
            texts = [path.read_bytes().decode("latin-1" if kind == "sentence_piece" else "utf-8") for path in paths]
        except (OSError, ValueError) as error:
            raise CheckpointError("damaged", file=names[0], folder=self.name) from error
        found = tried(kind, texts, self.settings("tokenizer_config.json") or {}, SECONDS)
        if found.reason:
            raise CheckpointError(found.reason, folder=self.name, file=names[0], seconds=SECONDS, why=found.why)
        if most is not None and found.most >= most:
            raise CheckpointError("vocabulary", folder=self.name)
        tokenizer = Tokenizer.from_str(found.text or texts[0])
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def roles(self, vocabulary: Container[str]) -> dict[str, str]:
        """The tokenizer's names of special tokens -> ours: {"<s>": "[CLS]", …}.

        If no file names one, take the first usual name in the vocabulary.
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
