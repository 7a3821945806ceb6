"""What is said to `make` reaches the programs word for word, and no shell reads it as a command."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Each a command to somebody: to a shell, to make, to a shell that counts.
HOSTILE = ("a;touch x", "$(touch x)", "`touch x`", "$(shell touch x)", "a[$(touch x)]", '";touch x;"')
#: In place of python, pip and streamlit: notes what it was called with.
NOTES = (
    f"#!{sys.executable} -SE"
    """
import json, os, sys
said = {name: os.environ.get(name) for name in ("MODELS", "PORT", "WORKERS")}
with open("calls", "a") as calls:
    calls.write(json.dumps([os.path.basename(sys.argv[0]), sys.argv[1:], said]) + "\\n")
"""
)


def make(folder: Path, *words: str) -> list[tuple[str, list[str], dict[str, str]]]:
    """The programs that `make` calls in a copy of the project where all is installed: name, arguments, environment."""
    shutil.copy(ROOT / "Makefile", folder)
    for name in ("python", "streamlit", "pip"):
        program = folder / ".venv" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(NOTES)
        program.chmod(0o755)
    (folder / ".serve").mkdir(exist_ok=True)
    shutil.copy(folder / ".venv/bin/python", folder / ".serve/serve")
    for name in ("requirements.txt", "tests/requirements.txt", "model/training/requirements.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    for name in ("run", "test", "train"):
        (folder / ".venv" / name).touch()
    (folder / "calls").write_text("")
    done = subprocess.run(["make", "--silent", *words], cwd=folder, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder / "calls").read_text().splitlines()]


def test_no_word_said_to_make_is_run(tmp_path: Path) -> None:
    said, text = {}, " ".join(HOSTILE)
    for target, names in {
        "run": ["MODELS"],
        "serve": ["MODELS", "WORKERS", "PORT"],
        "train": ["RECIPE", "DATA", "MODEL"],
        "class": ["VISITORS", "WORKERS", "THINK", "SECONDS", "PLACES", "CHOICES", "CHARTS"],
    }.items():
        said[target] = make(tmp_path, target, *(f"{name}={text}" for name in names))
        assert not (tmp_path / "x").exists()
    assert said["run"][0][1] == ["-m", "model.hugging_face.hub", *text.split()], "a list: one argument for each word"
    assert said["run"][-1][2]["MODELS"] == text
    assert said["serve"][-1][2] == {"MODELS": text, "WORKERS": text, "PORT": text}
    assert said["train"][0][1] == ["-m", "model.training", text, "--data", text, "--model", text]
    some = ["--workers", text, "--think", text, "--seconds", text, "--places", *text.split(), "--choices"]
    assert said["class"][0][1][3:] == ["--visitors", *text.split(), *some, "--charts", text]


def test_what_is_not_said_is_left_to_the_program(tmp_path: Path) -> None:
    assert make(tmp_path, "class")[0][1] == ["-m", "tests.classroom", "class"]
    assert make(tmp_path, "train")[0][1] == ["-m", "model.training"]
    assert make(tmp_path, "class", "VISITORS=10 30")[0][1][2:] == ["class", "--visitors", "10", "30"]


@pytest.mark.parametrize("name", ["PYTHON", "PORT", "WORKERS", "ADDRESS"])
def test_what_no_server_can_have_is_named_and_not_run(tmp_path: Path, name: str) -> None:
    (tmp_path / "nginx").write_text("#!/bin/sh")
    (tmp_path / "nginx").chmod(0o755)
    shutil.copytree(ROOT / ".serve", tmp_path / ".serve")
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for text in HOSTILE:
        if name == "PYTHON":
            command = ["make", "--silent", "run", f"PYTHON={text}"]
            shutil.copy(ROOT / "Makefile", tmp_path)
            (tmp_path / "requirements.txt").touch()
        else:
            command, environment[name] = [".serve/serve"], text
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=30)
        assert done.returncode != 0 and not (tmp_path / "x").exists(), shlex.join(command)
        assert text in done.stderr
