"""Checkpoints by their names on the Hugging Face hub: fetched before the server starts, then read without a network.

Only settings, tokenizer and safetensors are fetched, into the cache of huggingface_hub, which shows its progress.
"""

import math
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from model.checkpoints.build import config_of
from model.checkpoints.errors import CheckpointError
from model.checkpoints.folder import SHARDS, WHOLE, Folder

SETTINGS = [
    "config.json", "tokenizer.json", "vocab.txt", "tokenizer_config.json", "special_tokens_map.json",
    "preprocessor_config.json", "processor_config.json", "modules.json", "vocab.json", "merges.txt", "source.spm",
    "target_vocab.json", "generation_config.json", "*_Pooling/config.json", "*_Dense/config.json",
    "0_Transformer/*.json", "0_Transformer/*.txt",
]  # fmt: skip
WEIGHTS = [WHOLE, SHARDS, "model-*-of-*.safetensors", "0_Transformer/model*.safetensors", f"*_Dense/{WHOLE}"]
NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)


class HubError(RuntimeError):
    """Why a model cannot be fetched, in one sentence."""


def fetch(name: str) -> Path:
    """The folder of that name, or that of the model which the hub has under it.

    Raises HubError, and CheckpointError for a model that could not be read; then its weights are not fetched.
    """
    if os.path.isdir(name):
        return Path(name)
    folder = download(name, SETTINGS)
    config_of(folder)
    download(name, [*SETTINGS, *WEIGHTS])
    if not any((Folder(folder).encoder.path / file).exists() for file in (WHOLE, SHARDS)):
        raise HubError(
            f"{name} has no {WHOLE} on the hub; its weights are pickles at best, which can run code and are not "
            f"fetched; python -m model.checkpoints convert {name} writes them as safetensors"
        )
    return folder


def download(name: str, patterns: Sequence[str]) -> Path:
    """What a model on the hub has of these files, in the cache. Raises HubError, and CheckpointError for no name."""
    if not NAME.fullmatch(name):
        raise CheckpointError("no_folder", folder=name)
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError
    except ModuleNotFoundError as error:
        raise HubError(
            f"{name} is no folder here, and nothing is fetched from the Hugging Face hub without its package: "
            ".venv/bin/pip install huggingface_hub"
        ) from error
    try:
        return Path(snapshot_download(name, allow_patterns=list(patterns)))
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise HubError(
            f"neither a folder here nor a model on the Hugging Face hub is called {name}, or the model is not open to "
            "everybody: then sign in with hf auth login"
        ) from error
    except Exception as error:  # what a broken connection raises differs from one version to the next
        why = type(error).__name__
        raise HubError(f"{name} is no folder here, and the Hugging Face hub cannot be reached ({why})") from error


def found(name: str) -> Path:
    """The folder of that name, or where `fetch` has put the model; nothing is fetched. It may be no folder at all."""
    if os.path.isdir(name) or not NAME.fullmatch(name):
        return Path(name)
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(name, allow_patterns=[*SETTINGS, *WEIGHTS], local_files_only=True))
    except (ImportError, OSError, ValueError):  # not installed, or not fetched
        return Path(name)


def memory(names: Iterable[str]) -> int:
    """Bytes that a process may come to hold for the networks of these names: each, and its untrained twin.

    What cannot be read takes none.
    """
    numbers = 0
    for name in names:
        with suppress(CheckpointError):
            numbers += sum(math.prod(stored.shape) for stored in Folder(found(name)).encoder.weights().values())
    return 2 * 4 * numbers  # of four bytes each, whatever the file has them in
