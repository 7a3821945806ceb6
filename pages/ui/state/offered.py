"""Which checkpoints the pages offer beside our own networks: the folders and hub names in the variable MODELS.

Where its owner sets MODELS_FROM to a folder, those below it are offered, too, as soon as somebody names one.
"""

import os
import re
from collections.abc import Hashable
from functools import lru_cache
from pathlib import Path

from model import CheckpointError, load
from model.checkpoints import FAMILIES, config_of, decoder_of
from model.checkpoints.folder import Folder
from model.checkpoints.hub import found
from model.config import EncoderConfig
from pages.ui.server.cache import of_networks

TAKEN = {"text", "translation", "digits", "flat", "untrained", "trained", "paper"}  # names that mean something already


_added: dict[str, Path] = {}  # by name, of those below MODELS_FROM


def offered() -> dict[str, Path]:
    """Name in links and on the page -> folder, in the order of MODELS: `make run MODELS="folder other/folder"`."""
    return _added | _named(os.environ.get("MODELS", ""))


def models_from() -> Path | None:
    """The folder whose folders visitors may name; None where there is none."""
    return Path(given) if (given := os.environ.get("MODELS_FROM")) else None


def add(name: str) -> None:
    """Offer a folder below MODELS_FROM. Raises CheckpointError for one that cannot be read, or that is none of them."""
    root = models_from()
    of_folder = name not in TAKEN and re.fullmatch(r"\w[\w.-]{0,39}", name, re.ASCII)
    if root is None or not of_folder or not (folder := root / name).is_dir():
        raise CheckpointError("no_folder", folder=name)
    load(str(folder.resolve()))  # which keeps it
    _added[name] = folder


def could_add(name: str) -> bool:
    """Whether it is offered from now on."""
    try:
        add(name)
    except CheckpointError:
        return False
    return True


@lru_cache(maxsize=4)
def _named(folders: str) -> dict[str, Path]:
    named: dict[str, Path] = {}
    for folder in map(found, folders.split()):
        path = folder.resolve()
        if path.parent.name == "snapshots":  # in the hub's own cache a folder is called by its revision
            path = Path(path.parents[1].name.removeprefix("models--"))
        name = only = re.sub(r"[^\w.-]+", "-", path.name, flags=re.ASCII)[-40:] or "model"
        number = 2
        while name in named or name in TAKEN:
            name, number = f"{only}-{number}", number + 1
        named[name] = folder
    return named


def reads_pictures(name: str) -> bool:
    """Whether the folder offered by that name is an encoder of pictures."""
    folder = offered().get(name)
    config = sizes(folder) if folder else None
    return config is not None and config.input == "patches"


def reads_proteins(name: str) -> bool:
    """Whether the folder offered by that name reads amino acids, each of which is one letter."""
    folder = offered().get(name)
    return folder is not None and _reads_proteins(folder)


@lru_cache(maxsize=16)
def _reads_proteins(folder: Path) -> bool:
    try:
        family = FAMILIES.get(str(Folder(folder).encoder.config().get("model_type")))
    except CheckpointError:
        return False
    return family is not None and family.letters


def of_pictures() -> list[str]:
    """The names of those that read pictures."""
    return [name for name in offered() if reads_pictures(name)]


def sizes_of_decoder(name: str) -> EncoderConfig | None:
    """The configuration of the decoder of a translator offered by that name; None where there is none."""
    folder = offered().get(name)
    return _decoder(folder) if folder else None


def folder_state(folder: Path) -> Hashable:
    """What is another when one of the folder's files is; None where there is no folder."""
    try:
        return Folder(folder).state
    except CheckpointError:
        return None


@of_networks
@lru_cache(maxsize=16)
def sizes(folder: Path) -> EncoderConfig | None:
    """The configuration of a folder, without its weights; None where it cannot be read."""
    try:
        return config_of(folder)
    except CheckpointError:
        return None


@of_networks
@lru_cache(maxsize=16)
def _decoder(folder: Path) -> EncoderConfig | None:
    """The configuration of its decoder; None where it has none, or none that can be read."""
    try:
        return decoder_of(folder)
    except CheckpointError:
        return None
