"""Files that are damaged, or made by somebody who means no good: one sentence says so, and nothing is built of them."""

import json
import random
import struct
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model import Edit, Trace
from tests.networks import example, pipeline

#: Runs by name, each with what a file says of it.
RUNS = ("trained text", "trained digits", "told apart")
#: What a field may hold instead.
OTHERS = (None, True, -1, 0, 2.5, 10**7, 10**400, float("nan"), "x", "\ud800", [], {}, [[]], {"a": [1]}, "deep")
DEEP = "[" * 100_000 + "]" * 100_000


@cache
def written(name: str, folder: str) -> tuple[dict[str, Any], bytes]:
    """The head and the numbers of a trace's file."""
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
    """The path of everything in what a file says, of the first few in a list."""
    inside = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, one in inside:
        yield (*path, key)
        yield from places(one, (*path, key))


def with_other(about: Any, path: tuple, other: object) -> Any:
    """The same with another value at a path; without one, `other` being ..., it is taken away."""
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
        case 0:  # a bit
            whole = bytearray(file_of(head, about, numbers))
            whole[dice.randrange(min(len(whole), 20_000))] ^= 1 << dice.randrange(8)
            return bytes(whole)
        case 1:  # cut short
            whole = file_of(head, about, numbers)
            return whole[: dice.randrange(len(whole))]
        case 2:  # a tensor less
            del head[key]
        case 3:  # under another name
            head[dice.choice(["x", key[:-1], "picture", "layers.0"])] = head.pop(key)
        case 4:  # in another shape
            shape = head[key]["shape"]
            head[key]["shape"] = dice.choice([[*shape, 1], shape[::-1], [int(np.prod(shape))], shape[1:] + shape[:1]])
        case 5:  # of another kind
            head[key]["dtype"] = dice.choice(["I32", "F64", "BOOL", "F16"])
        case _:  # it says something else
            about = with_other(about, dice.choice([*places(about)]), dice.choice([..., *OTHERS]))
    return file_of(head, about, numbers)


def look_at(trace: Trace) -> None:
    """What a reader does with a trace."""
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
    for seed in range(150):
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
    assert refused > 60


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
