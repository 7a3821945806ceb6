"""What is said to `make` reaches the programs word for word, and no shell reads it as a command."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import requires, version
from pathlib import Path

import psutil
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


LOCKS = ("requirements.lock", "tests/requirements.lock")


def locked(file: str) -> dict[str, Requirement]:
    """Name -> what a lock says of a package, without the hashes."""
    rows = [line.removesuffix(" \\") for line in (ROOT / file).read_text().splitlines() if not line.startswith(" ")]
    return {one.name: one for one in map(Requirement, rows)}


def test_every_package_is_locked_at_the_version_that_is_tested_with_the_hashes_of_its_files() -> None:
    run, test = map(locked, LOCKS)
    for file in LOCKS:
        blocks = re.split(r"\n(?=\S)", (ROOT / file).read_text().strip())
        assert all(re.match(r"[\w.-]+==\S+ .*\\\n( +--hash=sha256:\w{64}( \\\n)?)+$", block) for block in blocks)
    for file, known in (("requirements.txt", run), ("tests/requirements.txt", run | test)):
        asked = [Requirement(line) for line in (ROOT / file).read_text().splitlines() if line[0].isalpha()]
        assert {one.name.lower() for one in asked} - {"torch"} <= known.keys() and len(asked) > 10
        assert all(known[one.name.lower()].specifier == one.specifier for one in asked if one.name != "torch")
    here = [one for one in (run | test).values() if one.marker is None or one.marker.evaluate()]
    assert [one.name for one in here if not one.specifier.contains(version(one.name))] == []
    needed = {
        canonicalize_name(asked.name)
        for one in here
        for asked in map(Requirement, requires(one.name) or [])
        if asked.marker is None or asked.marker.evaluate({"extra": ""})
    }
    assert needed - {"torch"} <= {one.name for one in here}, "what they bring along is locked, too"


def test_the_commands_and_the_container_install_what_is_locked(tmp_path: Path) -> None:
    python = f"PYTHON={tmp_path / '.venv/bin/python'}"
    calls = [words for _, words, _ in make(tmp_path, ".venv/test", python, stamps=()) if "install" in words]
    assert [words[-1] for words in calls] == ["requirements.lock", "requirements.txt", "tests/requirements.lock"]
    assert all("--require-hashes" in words for words in calls if words[-1].endswith("lock"))
    container = (ROOT / ".serve/Containerfile").read_text()
    assert "--require-hashes --no-deps -r requirements.lock" in container and "--extra-index-url" not in container
    assert container.count("pip install") == container.count("--require-hashes"), "nothing is installed without a hash"
    lock, asked = (ROOT / ".serve/torch.lock").read_text(), (ROOT / "requirements.txt").read_text()
    assert f"torch=={version('torch')} " in lock and f"torch=={version('torch').partition('+')[0]}\n" in asked
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", lock)) == 2, "of both processors"


def lay_out(folder: Path, stamps: Sequence[str] = ("run", "test", "train", "site")) -> None:
    """A copy of the project's commands, in which all is installed, and nothing is what it says."""
    shutil.copy(ROOT / "Makefile", folder)
    for name in ("python", "streamlit", "pip"):
        program = folder / ".venv" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(NOTES)
        program.chmod(0o755)
    (folder / ".serve").mkdir(exist_ok=True)
    for name in ("keep", "dev.py"):
        shutil.copy(ROOT / ".serve" / name, folder / ".serve")
    shutil.copy(folder / ".venv/bin/python", folder / ".serve/serve")
    for name in (
        "requirements.txt",
        *LOCKS,
        *(f"model/{part}/requirements.txt" for part in ("training", "overview/site")),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    for name in stamps:
        (folder / ".venv" / name).touch()


def make(folder: Path, *words: str, **laid: Sequence[str]) -> list[tuple[str, list[str], dict[str, str]]]:
    """The programs that `make` calls: name, arguments, environment."""
    lay_out(folder, **laid)
    (folder / "calls").write_text("")
    done = subprocess.run(["make", "--silent", *words], cwd=folder, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder / "calls").read_text().splitlines()]


def test_no_word_said_to_make_is_run(tmp_path: Path) -> None:
    said, text = {}, " ".join(HOSTILE)
    for target, names in {
        "run": ["MODELS", "PORT"],
        "serve": ["MODELS", "WORKERS", "PORT"],
        "train": ["RECIPE", "DATA", "MODEL"],
        "site": ["APP", "RUNS", "SENTENCES"],
        "class": ["VISITORS", "WORKERS", "THINK", "SECONDS", "PLACES"],
    }.items():
        said[target] = make(tmp_path, target, *(f"{name}={text}" for name in names))
        assert not (tmp_path / "x").exists()
    assert said["run"][0][1] == ["-m", "model.checkpoints", *text.split()], "a list: one argument for each word"
    assert said["run"][-1][2]["MODELS"] == text
    assert said["run"][-1][1][-2:] == ["--server.port", text]
    assert said["serve"][-1][2] == {"MODELS": text, "WORKERS": text, "PORT": text}
    assert said["train"][0][1] == ["-m", "model.training", text, "--data", text, "--model", text]
    site = ["-m", "model.overview.site", "site", text, "--runs", *text.split(), "--sentences", text]
    assert said["site"][0][1] == site
    some = ["--workers", text, "--think", text, "--seconds", text, "--places", *text.split()]
    assert said["class"][0][1][3:] == ["--visitors", *text.split(), *some]


def test_what_is_not_said_is_left_to_the_program(tmp_path: Path) -> None:
    assert make(tmp_path, "class")[0][1] == ["-m", "tests.classroom", "class"]
    assert make(tmp_path, "train")[0][1] == ["-m", "model.training"]
    assert make(tmp_path, "class", "VISITORS=10 30")[0][1][2:] == ["class", "--visitors", "10", "30"]


@pytest.mark.parametrize("broken", ["ruff", "mypy", "python"])
def test_make_test_fails_whatever_fails(tmp_path: Path, broken: str) -> None:
    lay_out(tmp_path)
    for name in ("ruff", "mypy", "python"):
        program = tmp_path / ".venv/bin" / name
        program.write_text(f"#!/bin/sh\nexit {int(name == broken)}")
        program.chmod(0o755)
    assert subprocess.run(["make", "--silent", "test"], cwd=tmp_path, stderr=subprocess.DEVNULL).returncode != 0


def test_the_newest_release_is_tried_beside_the_pinned_one(tmp_path: Path) -> None:
    (_, fetched, _), *_, (_, run, _) = make(tmp_path, "newest")
    assert fetched[-4:] == ["--target", ".newest", "streamlit", "plotly"]
    assert run[:2] == ["-m", "pytest"] and "tests/server/test_streamlit_private.py" in run
    assert all((ROOT / file).is_file() for file in run[2:])


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
            for file in ("requirements.txt", "requirements.lock"):
                (tmp_path / file).touch()
        else:
            command, environment[name] = [".serve/serve"], text
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=30)
        assert done.returncode != 0 and not (tmp_path / "x").exists(), shlex.join(command)
        assert text in done.stderr


#: A server that a fault ends when it runs for the first time, with a child that would go on.
FAULTY = """#!/bin/sh
echo $$ >> starts
sleep 300 &
echo $! >> starts
[ $(wc -l < starts) -gt 2 ] || kill -BUS $$
wait
"""


def ended(process: int) -> bool:
    return not psutil.pid_exists(process) or psutil.Process(process).status() == psutil.STATUS_ZOMBIE


def test_a_server_that_a_fault_ends_is_started_again_until_it_is_told_to_end(tmp_path: Path) -> None:
    lay_out(tmp_path)
    (tmp_path / ".venv/bin/streamlit").write_text(FAULTY)
    starts, began = tmp_path / "starts", time.monotonic()
    server = subprocess.Popen(["make", "run"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        while not starts.exists() or len(starts.read_text().splitlines()) < 4:
            assert time.monotonic() - began < 20, "it is started again"
            time.sleep(0.05)
        assert time.monotonic() - began > 1, "after a pause"
        processes = [int(line) for line in starts.read_text().splitlines()]
        assert [ended(one) for one in processes] == [True, True, False, False]
    finally:
        server.terminate()
        said = server.communicate(timeout=20)[1]
    assert "The server was ended by signal BUS; it is started again." in said
    assert all(map(ended, processes))


@pytest.mark.parametrize("saved", ["pages/attention/page.py", "pages/attention/en.toml", "model/graph.py"])
def test_what_is_saved_while_it_is_changed_is_what_the_server_runs(tmp_path: Path, saved: str) -> None:
    lay_out(tmp_path)
    (tmp_path / ".venv/bin/python").unlink()
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    (tmp_path / ".venv/bin/streamlit").write_text(f"#!/bin/sh\ncat {saved} >> read; echo $$ >> starts; exec sleep 300")
    file, starts = tmp_path / saved, tmp_path / "starts"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("before ")

    def await_starts(count: int) -> list[int]:
        for _ in range(400):
            if starts.exists() and len(found := starts.read_text().split()) == count:
                return [int(one) for one in found]
            time.sleep(0.05)
        raise AssertionError(count)

    server = subprocess.Popen(["make", "--silent", "dev"], cwd=tmp_path)
    try:
        await_starts(1)
        file.with_suffix(".txt").write_text("what the server does not read")
        file.write_text("after")
        first, second = await_starts(2)
        assert ended(first) and not ended(second) and (tmp_path / "read").read_text() == "before after"
    finally:
        server.terminate()
        server.wait(timeout=20)
    while not ended(second):
        time.sleep(0.05)


def test_a_server_that_cannot_start_is_not_tried_for_ever(tmp_path: Path) -> None:
    done = subprocess.run([ROOT / ".serve/keep", "The server", "sh", "-c", "exit 3"], cwd=tmp_path, timeout=20)
    assert done.returncode == 3
