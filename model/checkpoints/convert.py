"""Weights that are pickles, written as safetensors; and a tokenizer.json where there is but SentencePiece's own file.

The app never opens a pickle. Here torch does, by its reader that makes tensors and runs nothing else.
"""

import os
import pickle
import shutil
from fnmatch import fnmatch
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from model.checkpoints.folder import PIECES, WHOLE
from model.checkpoints.hub import SETTINGS, WEIGHTS, download

PICKLES = ("pytorch_model*.bin", "*/pytorch_model*.bin")
KEPT = (*SETTINGS, *WEIGHTS)
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json")  # that are read here


class ConversionError(ValueError):
    """Why nothing is converted, in one sentence."""


def convert(name: str) -> Path:
    """The folder that was written: beside the one of that name, or here, of a model on the hub.

    Raises ConversionError where there is nothing to convert, or a pickle holds more than tensors; CheckpointError where
    nothing can be fetched.
    """
    ours = os.path.isdir(name)
    source = Path(name) if ours else download(name, [*KEPT, *PICKLES, *PIECES])
    beside = source.resolve() if ours else Path(name.replace("/", "--"))
    folder = beside.with_name(f"{beside.name}-safetensors")
    files = sorted(str(path.relative_to(source)) for path in source.rglob("*") if path.is_file())
    safe = {os.path.dirname(file) for file in files if file.endswith(".safetensors")}
    pickles = [
        file for file in files if any(fnmatch(file, one) for one in PICKLES) and os.path.dirname(file) not in safe
    ]
    bare = not any(os.path.basename(file) in TOKENIZERS for file in files)
    if not pickles and not (bare and any(file in PIECES for file in files)):
        raise ConversionError(
            f"{name} has no pytorch_model.bin beside which there are no safetensors: nothing to convert"
        )
    for file in files:
        if any(fnmatch(file, pattern) for pattern in KEPT):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / file, folder / file)
    for below in sorted({os.path.dirname(file) for file in pickles}):
        own = [file for file in pickles if os.path.dirname(file) == below]
        save_file(_tensors(name, source, own), folder / below / WHOLE, {"format": "pt"})
    if bare:
        _write_tokenizer(source, folder)
    return folder


def _tensors(name: str, source: Path, files: list[str]) -> dict[str, Tensor]:
    """All tensors of some pickles; each a copy, since safetensors has no two names for one."""
    found: dict[str, Tensor] = {}
    for file in files:
        try:
            found |= torch.load(source / file, map_location="cpu", weights_only=True)
        except (pickle.UnpicklingError, OSError, EOFError, RuntimeError, TypeError) as error:
            raise ConversionError(
                f"{file} of {name} is damaged, or holds more than tensors, and is not opened"
            ) from error
    return {key: tensor.contiguous().clone() for key, tensor in found.items() if isinstance(tensor, Tensor)}


def _write_tokenizer(source: Path, folder: Path) -> None:
    try:
        from transformers import AutoTokenizer
    except ModuleNotFoundError as error:
        raise ConversionError(
            "its tokenizer is converted by transformers: .venv/bin/pip install transformers"
        ) from error
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
