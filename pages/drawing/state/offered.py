"""Which checkpoints the pages offer beside our own networks: the folders and hub names in the variable MODELS.

Where its owner sets MODELS_FROM to a folder, those below it are offered, too, as soon as somebody names one; set to
"hub", any model of the Hugging Face hub, as soon as somebody on this machine names it.
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

TAKEN = {"text", "translation", "digits", "flat", "untrained", "trained", "paper"}  # names that mean something already
HUB = "hub"
T = TypeVar("T")
MOST_NAME = 97  # characters: of the hub, whose longest is "owner/name" of 96
PLAIN = re.compile(rf"\w[\w.-]{{0,{MOST_NAME - 1}}}", re.ASCII)
#: Whether the browser of the visitor whose run this is runs here, too: the hub is asked in the owner's name.
on_this_machine = ContextVar("on_this_machine", default=False)
_added: dict[str, None] = {}  # those that visitors named, in their order


def offered() -> dict[str, Path]:
    """Name in links and on the page -> folder, in the order of MODELS: `make run MODELS="folder other/folder"`."""
    return _named((*os.environ.get("MODELS", "").split(), *_added))


def models_from() -> str:
    """The folder whose folders this visitor may name, or "hub"; "" where he may name none."""
    source = os.environ.get("MODELS_FROM", "")
    return source if source != HUB or on_this_machine.get() else ""


def add(name: str, source: str, tell: Callable[[float], object] | None = None) -> str:
    """Offer what `models_from` allows, which is `source`; returns its name in links. tell: see `hub.fetch`.

    Raises CheckpointError for what config.json says cannot be read, or is not allowed.
    """
    of_hub = source == HUB and NAME.fullmatch(name)
    folder = fetch_from_hub(name, tell, MOST_NAMED // 2) if of_hub else _allowed(name, source)
    config_of(folder)
    return _offer(folder)


def withdraw(name: str) -> None:
    """Offer no longer what a visitor named."""
    _added.pop(str(offered().get(name)), None)


def could_add(name: str) -> bool:
    """Whether a link may name this, and it can be read by its config.json: then it is offered, by each worker that a
    visitor comes to.
    """
    try:
        config_of(folder := _allowed(name, models_from()))
    except CheckpointError:
        return False
    return _offer(folder) == name


def by_visitors(name: str) -> bool:
    """Whether visitors named the folder that is offered by that name."""
    folder = offered().get(name)
    return folder is not None and str(folder) in _added


def _allowed(name: str, source: str) -> Path:
    """The folder of this name below `source`, or in the cache of the hub; nothing is fetched."""
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
        path = Path(os.path.abspath(folder))  # a link is called by its own name
        if path.parent.name == "snapshots":  # in the hub's own cache a folder is called by its revision
            path = Path(path.parents[1].name.removeprefix("models--"))
        elif not os.path.isdir(asked):  # in a package by what it is there
            path = Path(asked)
        name = only = re.sub(r"[^\w.-]+", "-", called(path), flags=re.ASCII)[-MOST_NAME:] or "model"
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
    return bool(folder and _read(folder, _letters))


def _letters(folder: Path) -> bool:
    family = FAMILIES.get(str(Folder(folder).encoder.config().get("model_type")))
    return family is not None and family.letters


def of_pictures() -> list[str]:
    """The names of those that read pictures."""
    return [name for name in offered() if reads_pictures(name)]


def sizes_of_decoder(name: str) -> EncoderConfig | None:
    """The configuration of the decoder of a translator offered by that name; None where there is none."""
    folder = offered().get(name)
    return _read(folder, decoder_of) if folder else None


def folder_state(folder: Path) -> Hashable:
    """What is another when one of the folder's files is; None where there is no folder."""
    try:
        return Folder(folder).state
    except CheckpointError:
        return None


def sizes(folder: Path) -> EncoderConfig | None:
    """The configuration of a folder, without its weights; None where it cannot be read."""
    return _read(folder, config_of)


@kept(48)
def _read(folder: Path, of: Callable[[Path], T | None]) -> T | None:
    """What the settings of a folder say; None where they cannot be read."""
    try:
        return of(folder)
    except CheckpointError:
        return None
