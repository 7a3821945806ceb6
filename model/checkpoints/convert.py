"""Convert pickled weights to safetensors, and a bare SentencePiece file to tokenizer.json.

The app never opens a pickle. Here torch does, with `weights_only`, which runs no code from it.
"""

import errno
import os
import shutil
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile, is_zipfile

import torch
from safetensors.torch import save_file
from torch import Tensor

from model.checkpoints.folder import PIECES, WHOLE, Folder
from model.checkpoints.hub import SETTINGS, WEIGHTS, download

PICKLES = ("pytorch_model*.bin", "*/pytorch_model*.bin")
KEPT = (*SETTINGS, *WEIGHTS)
MOST_NAMES = 4  # of one tensor, on average
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json")  # files that can be read here


class ConversionError(ValueError):
    """Why nothing was converted, in one sentence."""


def convert(name: str) -> Path:
    """Path of the folder written: beside the folder `name`, or in the working directory for a model of the hub.

    Raises ConversionError if there is nothing to convert, a pickle holds more than tensors, or the new folder exists or
    cannot be written; CheckpointError if nothing can be fetched or a link leads out of the folder.
    """
    ours = os.path.isdir(name)
    source = Folder(Path(name) if ours else download(name, [*KEPT, *PICKLES, *PIECES]))
    beside = source.path.resolve() if ours else Path(name.replace("/", "--"))
    target = beside.with_name(f"{beside.name}-safetensors")
    if os.path.lexists(target):
        raise ConversionError(f"{target} is there already, and nothing is written over it: move it away")
    try:
        with TemporaryDirectory(dir=target.parent) as beginning:
            _write(name, source, written := Path(beginning) / target.name)
            written.rename(target)
    except OSError as error:
        raise ConversionError(f"{target} cannot be written, or {name} not be read ({error.strerror})") from error
    return target


def _write(name: str, source: Folder, folder: Path) -> None:
    files = sorted(str(path.relative_to(source.path)) for path in source.path.rglob("*") if path.is_file())
    safe = {os.path.dirname(file) for file in files if file.endswith(".safetensors")}
    pickles = [
        file for file in files if any(fnmatch(file, one) for one in PICKLES) and os.path.dirname(file) not in safe
    ]
    bare = not any(os.path.basename(file) in TOKENIZERS for file in files)
    pieces = [file for file in files if file in PIECES] if bare else []
    if not pickles and not pieces:
        raise ConversionError(
            f"{name} has no pytorch_model.bin beside which there are no safetensors: nothing to convert"
        )
    for file in (*pieces, *(file for file in files if any(fnmatch(file, pattern) for pattern in KEPT))):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_inside(source, file), folder / file)
    for below in sorted({os.path.dirname(file) for file in pickles}):
        own = [_inside(source, file) for file in pickles if os.path.dirname(file) == below]
        (folder / below).mkdir(parents=True, exist_ok=True)
        _write_tensors(name, own, folder / below / WHOLE)
    if bare:
        _write_tokenizer(name, folder)
    for file in pieces:
        (folder / file).unlink(missing_ok=True)


def _inside(source: Folder, file: str) -> Path:
    """Path of a file in the folder. Raises CheckpointError if it is a link out of the folder."""
    path = source.file(file)
    if path is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
    return path


def _write_tensors(name: str, pickles: Sequence[Path], target: Path) -> None:
    """Write the tensors of all pickles into one file."""
    found: dict[str, Tensor] = {}
    try:
        for file in pickles:
            found |= _tensors(file)
        if found:
            save_file(found, target, {"format": "pt"})
    except OSError:
        raise
    except Exception as error:  # damaged files make torch raise almost anything
        raise ConversionError(
            f"{file.name} of {name} is damaged, or holds more than tensors, and is not opened"
        ) from error
    if not found:
        raise ConversionError(f"{pickles[0].name} of {name} holds no tensors by name: nothing to convert")


def _tensors(file: Path) -> dict[str, Tensor]:
    """Tensors of a pickle, copied: safetensors allows one name per tensor. The file may be hostile."""
    size = file.stat().st_size
    if is_zipfile(file) and sum(part.file_size for part in ZipFile(file).infolist()) > size:
        raise ValueError("it would grow where it is unpacked")  # torch does not compress
    try:
        said = torch.load(file, map_location="cpu", weights_only=True)
    except OSError as error:  # an error of the pickle, not of this disk
        raise ValueError("cut short") from error
    tensors = {key: tensor for key, tensor in said.items() if isinstance(tensor, Tensor)}
    if sum(tensor.nbytes for tensor in tensors.values()) > MOST_NAMES * size:
        raise ValueError("its tensors are larger than it")  # a view of one stored number may have any size
    return {key: tensor.contiguous().clone() for key, tensor in tensors.items()}


def _write_tokenizer(name: str, folder: Path) -> None:
    """Write tokenizer.json from the folder's SentencePiece file."""
    try:
        from transformers import AutoTokenizer
    except ModuleNotFoundError as error:
        raise ConversionError(
            "its tokenizer is converted by transformers: .venv/bin/pip install transformers"
        ) from error
    try:
        AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True).save_pretrained(folder)
    except Exception as error:  # damaged files make it raise almost anything
        raise ConversionError(
            f"the tokenizer of {name} is damaged, or of a kind that transformers does not convert"
        ) from error
