"""Only the files that were measured are read, and a damaged one is named."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from model import files, loading
from model.config import PRESETS
from model.files import WEIGHTS, WeightsError, intact, seal, seal_of
from model.heads import network_for
from model.training import checkpoint

NETWORKS = ("text", "translation", "digits", "flat")
FLIPS = 80  # bits, over the four files


def test_every_file_is_sealed_and_intact() -> None:
    shipped = [path for path in WEIGHTS.iterdir() if path.suffix not in (".md", ".sha256")]
    assert {f"{name}.safetensors" for name in NETWORKS} <= {path.name for path in shipped}
    for path in shipped:
        assert intact(path) == path
        assert seal_of(path).read_text() == f"{files.fingerprint(path)}  {path.name}\n"  # format of sha256sum -c


@pytest.fixture(scope="module")
def copies(tmp_path_factory) -> Path:
    """A folder with the four files and their seals."""
    folder = tmp_path_factory.mktemp("weights")
    for name in NETWORKS:
        path = WEIGHTS / f"{name}.safetensors"
        for each in (path, seal_of(path)):
            shutil.copy(each, folder)
    return folder


@pytest.mark.parametrize("name", NETWORKS)
def test_every_flipped_bit_is_seen_and_its_file_named(name: str, copies: Path, monkeypatch) -> None:
    monkeypatch.setattr(loading, "WEIGHTS", copies)
    path = copies / f"{name}.safetensors"
    dice = np.random.default_rng(0)
    with path.open("r+b", buffering=0) as file:
        for bit in dice.integers(8 * path.stat().st_size, size=FLIPS // len(NETWORKS)):
            flip(file, int(bit))
            with pytest.raises(WeightsError, match=rf"{name}\.safetensors is damaged"):
                loading.read_weights(name)
            flip(file, int(bit))
    loading.read_weights(name)  # all bits are restored


def flip(file, bit: int) -> None:
    file.seek(bit // 8)
    (byte,) = file.read(1)
    file.seek(bit // 8)
    file.write(bytes([byte ^ 1 << bit % 8]))


@pytest.mark.parametrize("lost", ["flat.safetensors", "flat.safetensors.sha256"])
def test_a_missing_file_or_seal_is_named(lost: str, copies: Path, tmp_path: Path, monkeypatch) -> None:
    shutil.copytree(copies, tmp_path, dirs_exist_ok=True)
    (tmp_path / lost).unlink()
    monkeypatch.setattr(loading, "WEIGHTS", tmp_path)
    with pytest.raises(WeightsError, match="git checkout") as error:
        loading.read_weights("flat")
    assert (error.value.reason, error.value.file) == ("missing", lost)
    loading.read_weights("digits")  # needs neither file


@pytest.mark.parametrize("number", [torch.nan, torch.inf])
def test_numbers_that_are_not_finite_are_neither_read_nor_shipped(number: float, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(loading, "WEIGHTS", tmp_path)
    monkeypatch.setattr(checkpoint, "WEIGHTS", tmp_path)
    path = tmp_path / "flat.safetensors"
    save_file({"W": torch.tensor([1.0, number])}, path)
    seal(path)
    with pytest.raises(WeightsError) as error:
        loading.read_weights("flat")
    assert (error.value.reason, error.value.file) == ("not_finite", path.name)

    network = network_for(PRESETS["flat"])
    with torch.no_grad():
        next(network.parameters()).view(-1)[0] = number
    with pytest.raises(ValueError, match="not finite"):
        checkpoint.ship("flat", network, {})


def test_what_is_shipped_is_sealed(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(checkpoint, "WEIGHTS", tmp_path)
    assert intact(checkpoint.ship("flat", network_for(PRESETS["flat"]), {})).exists()
