"""The checkpoints that the pages offer beside our own networks: the folders and hub names in the variable MODELS.

With MODELS_FROM set to a folder, visitors may add folders below it by name; set to "hub", visitors on this machine may
add any model of the Hugging Face hub.
"""

import os
import re
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from model import CheckpointError
from model.checkpoints import FAMILIES, config_of, decoder_of
from model.checkpoints.folder import Folder, called
from model.checkpoints.hub import MOST_NAMED, NAME, fetch_from_hub, found
from model.config import EncoderConfig
from pages.drawing.cache import kept

TAKEN = {"text", "translation", "digits", "flat", "untrained", "trained", "paper"}  # names with another meaning
HUB = "hub"
T = TypeVar("T")
MOST_NAME = 97  # characters: of the hub, whose longest is "owner/name" of 96
PLAIN = re.compile(rf"\w[\w.-]{{0,{MOST_NAME - 1}}}", re.ASCII)
#: Whether this visitor's browser runs on the server's machine: the hub is asked in the owner's name.
on_this_machine = ContextVar("on_this_machine", default=False)
_added: dict[str, None] = {}  # folders that visitors added, in order


def offered() -> dict[str, Path]:
    """Name in links and on the page -> folder, in the order of MODELS: `make run MODELS="folder other/folder"`."""
    return _named((*os.environ.get("MODELS", "").split(), *_added))


def models_from() -> str:
    """The folder below which this visitor may name folders, or "hub"; "" where none."""
    source = os.environ.get("MODELS_FROM", "")
    return source if source != HUB or on_this_machine.get() else ""


def add(name: str, source: str, tell: Callable[[float], object] | None = None) -> str:
    """Offer a folder or hub model that `source`, from `models_from`, allows; return its name in links.

    tell: see `fetch_from_hub`. Raises CheckpointError if it is not allowed, or cannot be read by its config.json.
    """
    of_hub = source == HUB and NAME.fullmatch(name)
    folder = fetch_from_hub(name, tell, MOST_NAMED // 2) if of_hub else _allowed(name, source)
    config_of(folder)
    return _offer(folder)


def withdraw(name: str) -> None:
    """Stop offering a folder that a visitor added."""
    _added.pop(str(offered().get(name)), None)


def could_add(name: str) -> bool:
    """Whether a link may name this folder and its config.json can be read. If so, this worker offers it."""
    try:
        config_of(folder := _allowed(name, models_from()))
    except CheckpointError:
        return False
    return _offer(folder) == name


def by_visitors(name: str) -> bool:
    """Whether a visitor added the folder of this name."""
    folder = offered().get(name)
    return folder is not None and str(folder) in _added


def _allowed(name: str, source: str) -> Path:
    """The folder of this name below `source`, or in the hub's cache; fetches nothing. Raises CheckpointError."""
    of_hub = name.replace("--", "/", 1)
    folder = found(of_hub) if source == HUB else Path(source) / name
    not_fetched = source == HUB and folder == Path(of_hub)
    if not source or not_fetched or name in TAKEN or not PLAIN.fullmatch(name) or not folder.is_dir():
        raise CheckpointError("no_folder", folder=name)
    return folder


def _offer(folder: Path) -> str:
    if folder not in offered().values():
        _added[str(folder)] = None
    return next(name for name, known in offered().items() if known == folder)


@lru_cache(maxsize=4)
def _named(folders: tuple[str, ...]) -> dict[str, Path]:
    named: dict[str, Path] = {}
    for asked, folder in zip(folders, map(found, folders), strict=True):
        path = Path(os.path.abspath(folder))  # keeps a symbolic link's own name
        if path.parent.name == "snapshots":  # the hub's cache names folders after revisions
            path = Path(path.parents[1].name.removeprefix("models--"))
        elif not os.path.isdir(asked):  # a model in a package keeps the name asked for
            path = Path(asked)
        name = only = re.sub(r"[^\w.-]+", "-", called(path), flags=re.ASCII)[-MOST_NAME:] or "model"
        number = 2
        while name in named or name in TAKEN:
            name, number = f"{only}-{number}", number + 1
        named[name] = folder
    return named


def reads_pictures(name: str) -> bool:
    """Whether the offered encoder of this name reads pictures."""
    folder = offered().get(name)
    config = sizes(folder) if folder else None
    return config is not None and config.input == "patches"


def reads_proteins(name: str) -> bool:
    """Whether the offered encoder of this name reads amino acids, each one letter."""
    folder = offered().get(name)
    return bool(folder and _read(folder, _letters))


def _letters(folder: Path) -> bool:
    family = FAMILIES.get(str(Folder(folder).encoder.config().get("model_type")))
    return family is not None and family.letters


def of_pictures() -> list[str]:
    """The names of offered encoders that read pictures."""
    return [name for name in offered() if reads_pictures(name)]


def sizes_of_decoder(name: str) -> EncoderConfig | None:
    """The configuration of an offered translator's decoder; None where there is none."""
    folder = offered().get(name)
    return _read(folder, decoder_of) if folder else None


def folder_state(folder: Path) -> Hashable:
    """A value that changes whenever a file of the folder does; None without a folder."""
    try:
        return Folder(folder).state
    except CheckpointError:
        return None


def sizes(folder: Path) -> EncoderConfig | None:
    """The configuration of a folder, without its weights; None where it cannot be read."""
    return _read(folder, config_of)


@kept(48)
def _read(folder: Path, of: Callable[[Path], T | None]) -> T | None:
    """`of(folder)`; None where the folder cannot be read."""
    try:
        return of(folder)
    except CheckpointError:
        return None
