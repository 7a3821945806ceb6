"""The files for containers, read as Docker would and compared with what they start: names, ports, limits. Needs no
Docker.
"""

import os
import re
from pathlib import Path
from typing import Any

import pytest
import streamlit.config
import yaml
from sqlalchemy import make_url

from pages.school.classroom.store import default_url
from tests.classroom.server import ROOT

SERVE = ROOT / ".serve"
FILES = ("compose.yaml", "stack.yaml")
GIVEN = {"IMAGE": "registry/glass-encoder", "PASSWORD": "word7", "SECRET": "long"}  # without a default
VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")
UNITS = {"k": 2**10, "m": 2**20, "g": 2**30}


def source(name: str) -> str:
    return (SERVE / name).read_text("utf-8")


def variables(name: str) -> set[str]:
    return {variable for variable, _, _ in VARIABLE.findall(source(name))}


def read(name: str, **given: str) -> dict[str, Any]:
    """The file with its variables filled in, as Docker does."""

    def value(hit: re.Match[str]) -> str:
        if hit[1] in given:
            return given[hit[1]]
        assert hit[2] == "-", f"{hit[1]} has no default"
        return hit[3]

    return yaml.safe_load(VARIABLE.sub(value, source(name)))


def size(written: str) -> int:
    return int(written[:-1]) * UNITS[written[-1].lower()]


def test_what_must_be_given_is_asked_for_and_all_else_has_a_default() -> None:
    assert {name for name, how, _ in VARIABLE.findall(source("stack.yaml")) if how == "?"} == GIVEN.keys()
    assert set(read("compose.yaml")["services"]) == {"app"}
    assert set(read("stack.yaml", **GIVEN)["services"]) == {"front", "app", "database"}


@pytest.mark.parametrize("name", FILES)
def test_commands_in_words_set_what_the_files_read_and_name_files_that_are_there(name: str) -> None:
    words = source(name) + (ROOT / ".serve/README.md").read_text("utf-8")
    lines = [line for line in words.splitlines() if "docker" in line and name in line]
    assert lines
    for line in lines:
        assert set(re.findall(r"\b([A-Z]+)=", line)) <= variables(name)
        for path in re.findall(r"-[cf] (\S+)", line):
            assert (ROOT / path).is_file()


@pytest.mark.parametrize("name", FILES)
def test_each_name_that_the_app_is_given_is_one_that_it_reads(name: str) -> None:
    options = {
        f"STREAMLIT_{re.sub(r'(?<!^)(?=[A-Z])|[.]', '_', option).upper()}"
        for option in streamlit.config.get_config_options()
    }
    code = "".join(path.read_text("utf-8") for path in (ROOT / "pages").rglob("*.py"))
    asked = set(re.findall(r"\$\{?([A-Z]+)\b", source("serve"))) | set(re.findall(r'environ[^"\n]*"([A-Z_]+)"', code))
    image = source("Containerfile").partition("\nENV ")[2].partition("\n")[0]
    given = {one.partition("=")[0] for one in image.split()} - {
        "OPENBLAS_NUM_THREADS",
        "MALLOC_ARENA_MAX",
        "MALLOC_MMAP_THRESHOLD_",
    }
    given |= read(name, **GIVEN)["services"]["app"]["environment"].keys()
    assert given <= asked | options


def test_ports_lead_from_the_front_to_the_workers() -> None:
    (inside,) = re.findall(r"\bPORT=\$\{PORT:-(\d+)\}", source("serve"))
    (front,) = read("stack.yaml", **GIVEN)["services"]["front"]["ports"]
    (published,) = read("compose.yaml")["services"]["app"]["ports"]
    assert published.partition(":")[2] == inside
    assert re.findall(r"^EXPOSE (\d+)", source("Containerfile"), re.MULTILINE) == [inside]
    assert set(re.findall(r"server tasks\.app:(\d+) ", source("front.conf"))) == {inside}
    assert re.findall(r"listen (\d+);", source("front.conf")) == [str(front["target"])]


def test_the_database_that_the_machines_ask_for_is_the_one_that_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    services = read("stack.yaml", **GIVEN)["services"]
    database = services["database"]["environment"]
    monkeypatch.setenv("DATABASE_URL", services["app"]["environment"]["DATABASE_URL"])
    url = default_url()
    assert url == make_url("postgresql+psycopg://glass:word7@database/glass")
    assert (url.username, url.password) == (database["POSTGRES_USER"], database["POSTGRES_PASSWORD"])
    assert url.host in services and url.database == database.get("POSTGRES_DB", database["POSTGRES_USER"])


@pytest.mark.parametrize("name", FILES)
def test_files_and_volumes_that_are_named_are_there_and_the_workers_have_the_memory_that_they_ask_for(
    name: str,
) -> None:
    found = read(name, **GIVEN)
    app = found["services"]["app"]
    for config in found.get("configs", {}).values():
        assert (SERVE / config["file"]).is_file()
    for service in found["services"].values():
        assert {config["source"] for config in service.get("configs", ())} <= found.get("configs", {}).keys()
        mounts = [mount.partition(":")[0] for mount in service.get("volumes", ()) if isinstance(mount, str)]
        assert set(mounts) <= found["volumes"].keys()
    memory = app.get("mem_limit") or app["deploy"]["resources"]["limits"]["memory"]
    assert size(memory) >= 900_000_000 * app["environment"]["WORKERS"]  # else `serve` refuses to start


def test_the_image_is_built_of_what_is_there_and_starts_what_can_be_started() -> None:
    lines = source("Containerfile").replace("\\\n", "").splitlines()
    for line in lines:
        if line.startswith("COPY "):
            assert (ROOT / line.split()[1]).exists()
        assert "apt-get install" not in line or "snapshot" in line, "of any day"
    (command,) = [line for line in lines if line.startswith("CMD ")]
    for script in (re.findall(r'"(.+?)"', command)[0], ".serve/keep"):
        assert os.access(Path(ROOT, script), os.X_OK)
