"""Damaged or hostile files: refused in one sentence, and nothing is built from them."""

import io
import json
import pickle
import random
import struct
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from model import Edit, Trace
from model.checkpoints import CheckpointError
from model.checkpoints.convert import ConversionError, convert
from tests.model.making import Bomb
from tests.networks import example, pipeline

#: Names of runs.
RUNS = ("trained text", "trained digits", "told apart")
#: Replacements for a field.
OTHERS = (None, True, -1, 0, 2.5, 10**7, 10**400, float("nan"), "x", "\ud800", [], {}, [[]], {"a": [1]}, "deep")
DEEP = "[" * 100_000 + "]" * 100_000


@cache
def written(name: str, folder: str) -> tuple[dict[str, Any], bytes]:
    """Header and data of a trace's file."""
    file = Path(folder) / f"{name}.safetensors"
    edits = [Edit("layers.0.ffn.output", "scale", 0.5)]
    pipeline(name)(example(name), edits).save(file)
    content = file.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def file_of(head: dict[str, Any], about: Any, numbers: bytes) -> bytes:
    said = json.dumps(about).replace('"deep"', DEEP) if not isinstance(about, str) else about
    content = json.dumps(head | {"__metadata__": {"trace": said}}).encode()
    return struct.pack("<Q", len(content)) + content + numbers


def places(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """Paths of all fields in a header; of lists only the first two items."""
    inside = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, one in inside:
        yield (*path, key)
        yield from places(one, (*path, key))


def with_other(about: Any, path: tuple, other: object) -> Any:
    """A copy with another value at a path; `...` removes the field."""
    about = json.loads(json.dumps(about))
    at = about
    for key in path[:-1]:
        at = at[key]
    if other is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = other
    return about


def damaged(head: dict[str, Any], numbers: bytes, dice: random.Random) -> bytes:
    """A file with one fault."""
    head = json.loads(json.dumps(head))
    about = json.loads(head.pop("__metadata__")["trace"])
    key = dice.choice(sorted(head))
    match dice.randrange(8):
        case 0:  # a flipped bit
            whole = bytearray(file_of(head, about, numbers))
            whole[dice.randrange(min(len(whole), 20_000))] ^= 1 << dice.randrange(8)
            return bytes(whole)
        case 1:  # truncated
            whole = file_of(head, about, numbers)
            return whole[: dice.randrange(len(whole))]
        case 2:  # a missing tensor
            del head[key]
        case 3:  # another name
            head[dice.choice(["x", key[:-1], "picture", "layers.0"])] = head.pop(key)
        case 4:  # another shape
            shape = head[key]["shape"]
            head[key]["shape"] = dice.choice([[*shape, 1], shape[::-1], [int(np.prod(shape))], shape[1:] + shape[:1]])
        case 5:  # another dtype
            head[key]["dtype"] = dice.choice(["I32", "F64", "BOOL", "F16"])
        case _:  # another field of the header
            about = with_other(about, dice.choice([*places(about)]), dice.choice([..., *OTHERS]))
    return file_of(head, about, numbers)


def look_at(trace: Trace) -> None:
    """Use a trace as a reader would."""
    said = [repr(trace), *(f"{guess}{guess.best}" for guess in trace.answer), *trace.tokens, *trace.edited]
    "".join(said).encode()
    hash(trace.edits)
    for key in trace:
        assert trace.to_frame(key).size == trace[key].size


@pytest.mark.parametrize("name", RUNS)
def test_a_damaged_trace_is_refused_in_a_sentence_or_can_be_read(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, refused = tmp_path_factory.getbasetemp(), 0
    head, numbers = written(name, str(folder))
    for seed in range(60):
        file = folder / "damaged.safetensors"
        file.write_bytes(damaged(head, numbers, random.Random(seed)))
        start = time.monotonic()
        try:
            trace = Trace.load(file)
        except ValueError as error:
            refused += 1
            assert "no file that trace.save has written" in str(error) and "\n" not in str(error), seed
        else:
            look_at(trace)
        assert time.monotonic() - start < 30, seed
    assert refused > 24


SIZES = ("layers", "heads", "d_model", "max_len", "vocab_size", "registers", "image_size", "classes", "span", "window")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["trained text", "trained digits"])
def test_of_a_claimed_size_nothing_is_built(name: str, size: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    head, numbers = written(name, str(folder))
    about = json.loads(head["__metadata__"]["trace"])
    others: list[Callable[[dict], object]] = [lambda config: config.update({size: 10**9})]
    others.append(lambda config: config.update({size: 10**7, "local": [1]}))
    for change in others:
        said = json.loads(json.dumps(about))
        change(said["config"])
        file = folder / "claims.safetensors"
        file.write_bytes(file_of({key: value for key, value in head.items() if key[0] != "_"}, said, numbers))
        start = time.monotonic()
        with pytest.raises(ValueError, match="no file that"):
            Trace.load(file)
        assert time.monotonic() - start < 2


def a_pickle(said: object, folder: Path, **how: object) -> bytes:
    """The bytes of torch.save."""
    torch.save(said, folder / "said.bin", **how)
    return (folder / "said.bin").read_bytes()


def grown(folder: Path) -> bytes:
    """100 MB of zeros in a small compressed file."""
    whole = ZipFile(io.BytesIO(a_pickle({"x": torch.zeros(25_000_000)}, folder)))
    with ZipFile(folder / "packed.bin", "w", ZIP_DEFLATED) as packed:
        for part in whole.infolist():
            packed.writestr(part.filename, whole.read(part))
    return (folder / "packed.bin").read_bytes()


#: Pickles without tensors, or with tensors that no checkpoint is made of.
HOSTILE: dict[str, Callable[[Path], bytes]] = {
    "nothing": lambda _: b"",
    "a text": lambda _: b"no pickle",
    "a list": lambda folder: a_pickle([torch.zeros(3)], folder),
    "a number": lambda folder: a_pickle(3, folder),
    "names that are numbers": lambda folder: a_pickle({1: torch.zeros(3)}, folder),
    "a row of any length": lambda folder: a_pickle({"x": torch.zeros(1).expand(10**12)}, folder),
    "a thousand names": lambda folder: a_pickle(dict.fromkeys(map(str, range(1000)), torch.zeros(10**6)), folder),
    "packed": grown,
    "complex": lambda folder: a_pickle({"x": torch.zeros(3, dtype=torch.complex128)}, folder),
    "sparse": lambda folder: a_pickle({"x": torch.eye(3).to_sparse()}, folder),
    "without numbers": lambda folder: a_pickle({"x": torch.zeros(10**12, device="meta")}, folder),
    "what runs": lambda folder: pickle.dumps(Bomb(str(folder / "exploded"))),
    "deep": lambda _: b"\x80\x02" + b"(" * 100_000 + b"t" * 100_000 + b".",
}


def folder_with(content: bytes, below: Path) -> Path:
    """A folder whose weights are this pickle."""
    folder = below / "mine"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "tokenizer.json").write_text("{}")
    (folder / "pytorch_model.bin").write_bytes(content)
    return folder


def refused_whole(folder: Path) -> str:
    """Reason for refusing the conversion; asserts that nothing is left behind."""
    start = time.monotonic()
    with pytest.raises((ConversionError, CheckpointError)) as refusal:
        convert(str(folder))
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == [folder.name]
    assert "\n" not in str(refusal.value) and time.monotonic() - start < 20
    return str(refusal.value)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_pickle_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    folder = folder_with(HOSTILE[name](tmp_path), tmp_path)
    assert "pytorch_model.bin" in refused_whole(folder) and not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("zipped", [True, False])
def test_a_damaged_pickle_is_refused_in_a_sentence_or_read(zipped: bool, tmp_path: Path) -> None:
    whole = a_pickle({"x": torch.rand(4, 4), "y": {"z": [1]}}, tmp_path, _use_new_zipfile_serialization=zipped)
    for seed in range(60):
        dice, content = random.Random(seed), bytearray(whole)
        for _ in range(1 + seed % 3):
            content[dice.randrange(len(content))] = dice.randrange(256)
        below = tmp_path / str(seed)
        below.mkdir()
        folder = folder_with(bytes(content[: dice.randrange(len(content)) if seed % 5 == 0 else None]), below)
        try:
            convert(str(folder))
        except ConversionError as error:
            assert "\n" not in str(error), seed
            assert [path.name for path in below.iterdir()] == ["mine"], seed


@pytest.mark.parametrize(
    "content", [{}, {"step": 3}, {"model": {"x": torch.zeros(3)}}], ids=["empty", "none", "deeper"]
)
def test_a_pickle_without_tensors_by_name_is_refused(content: dict[str, object], tmp_path: Path) -> None:
    folder = folder_with(a_pickle(content, tmp_path), tmp_path)
    assert "no tensors by name" in refused_whole(folder)


def test_no_link_is_followed_where_a_checkpoint_is_converted(tmp_path: Path) -> None:
    secret, good = tmp_path / "secret", {"x": torch.zeros(3)}
    secret.write_text("a secret")
    folder = folder_with(a_pickle(good, tmp_path), tmp_path)
    for name in ("vocab.txt", "config.json", "pytorch_model.bin"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(secret)
        assert "leads out of the folder" in refused_whole(folder)
        (folder / name).unlink()
        (folder / name).write_bytes(a_pickle(good, tmp_path) if name.endswith("bin") else b"{}")
    target = tmp_path / "mine-safetensors"
    target.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(ConversionError, match="there already"):
        convert(str(folder))
    assert not [*(tmp_path / "elsewhere").iterdir()]
    target.unlink()
    assert convert(str(folder)) == target and load_file(target / "model.safetensors").keys() == {"x"}
    with pytest.raises(ConversionError, match="there already"):
        convert(str(folder))


def test_pieces_that_are_damaged_are_refused_in_a_sentence(tmp_path: Path) -> None:
    folder = folder_with(a_pickle({"x": torch.zeros(3)}, tmp_path), tmp_path)
    (folder / "tokenizer.json").unlink()
    (folder / "config.json").write_text(json.dumps({"model_type": "t5"}))
    (folder / "spiece.model").write_bytes(b"no pieces")
    assert "tokenizer" in refused_whole(folder)
