"""The server's limits: memory for each worker, and sessions that outlast a lesson."""

import inspect
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import quote

import pytest
import torch
import yaml
from safetensors.torch import save_file
from streamlit.runtime.memory_session_storage import MemorySessionStorage

from model.pipeline import MOST_CHARACTERS
from tests.classroom.server import ROOT

WORKER = 900  # MB


def test_the_container_has_a_limit_with_room_for_its_workers() -> None:
    compose = (ROOT / ".serve/compose.yaml").read_text()
    workers = int(re.search(r"WORKERS: \$\{WORKERS:-(\d+)\}", compose)[1])
    limits = re.findall(r"mem(?:swap)?_limit: \$\{MEMORY:-(\d+)g\}", compose)
    assert len(limits) == 2 and len(set(limits)) == 1, "and nothing is swapped out"
    assert workers * WORKER <= int(limits[0]) * 2**30 / 1e6 < (workers + 1) * WORKER


def test_no_service_takes_all_memory_or_gains_rights() -> None:
    for file in ("compose", "stack"):
        for service in yaml.safe_load((ROOT / f".serve/{file}.yaml").read_text())["services"].values():
            limits = service.get("deploy", {}).get("resources", {}).get("limits", {})
            assert service.get("mem_limit", limits.get("memory")) and service.get("pids_limit", limits.get("pids"))
            assert service["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.parametrize(("workers", "megabytes", "enough"), [(4, 2000, False), (2, 1799, False), (2, 1800, True)])
def test_workers_without_room_are_not_started(workers: int, megabytes: int, enough: bool, tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text(f"{megabytes}000000\n")
    # PYTHON is "false": with enough memory, starting fails there.
    environment = os.environ | {"WORKERS": str(workers), "MEMORY_MAX": str(tmp_path / "memory.max"), "PYTHON": "false"}
    environment |= {"PORT": "20300", "ADDRESS": "127.0.0.1"}
    tried = subprocess.run([ROOT / ".serve/serve"], env=environment, capture_output=True, text=True, timeout=60)
    assert tried.returncode == 1
    assert ("MEMORY" in tried.stderr) is not enough, tried.stderr


@pytest.mark.parametrize(
    ("megabytes", "source", "named", "enough"),
    [
        (930, "", 0, False),
        (2570, "/models", 1600, False),
        (990, "hub", 0, True),  # behind nginx nobody may name models
    ],
)
def test_the_networks_of_models_are_counted_in(
    megabytes: int, source: str, named: int, enough: bool, tmp_path: Path
) -> None:
    """Ten million float16 numbers in the file: as float32 in memory, and as many again while a page compares them; plus
    what visitors may name.
    """
    (tmp_path / "memory.max").write_text(f"{megabytes}000000\n")
    numbers = {f"{layer}": torch.zeros(1000, 1000, dtype=torch.float16) for layer in range(10)}
    save_file(numbers, tmp_path / "model.safetensors")
    (tmp_path / "python").write_text(f'#!/bin/sh\n[ "$1" = -c ] && exec {sys.executable} "$@"\nexit 1\n')
    (tmp_path / "python").chmod(0o755)
    environment = os.environ | {"WORKERS": "1", "MODELS": f"{tmp_path} {tmp_path / 'none'}", "PORT": "20300"}
    environment |= {"MEMORY_MAX": str(tmp_path / "memory.max"), "PYTHON": str(tmp_path / "python")}
    environment |= {"MODELS_FROM": source}
    tried = subprocess.run([ROOT / ".serve/serve"], env=environment, capture_output=True, text=True, timeout=60)
    assert tried.returncode == 1
    assert (f"1 workers need {980 + named} MB with MODELS" in tried.stderr) is not enough, tried.stderr
    assert ("does not start" in tried.stderr) is enough, tried.stderr


def test_the_longest_link_gets_through() -> None:
    """With two sentences of characters that take nine bytes each in a link."""
    for file in ("nginx", "front"):
        (room,) = re.findall(r"large_client_header_buffers \d+ (\d+)k;", (ROOT / f".serve/{file}.conf").read_text())
        assert 2 * MOST_CHARACTERS * len(quote("我")) + 4000 < int(room) * 1024


def test_a_telephone_may_sleep_through_a_lesson_and_those_asleep_take_little() -> None:
    server = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["server"]
    assert server["disconnectedSessionTTL"] >= 45 * 60
    most = inspect.signature(MemorySessionStorage).parameters["maxsize"].default
    assert most * 0.115 < 20, "MB of a worker: Streamlit keeps no more of them"
