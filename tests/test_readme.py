"""The READMEs' pictures of the house are the house: what they name is there, and their examples run."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READMES = [ROOT / folder / "README.md" for folder in ("", "pages", "pages/school", "model", "tests", ".serve")]
FILE = re.compile(r"[\w.-]+\.(?:py|js|css|toml|yaml|conf)\b|[\w.-]+/")


def names(text: str) -> set[str]:
    """The files and folders that a text names."""
    return {
        name for name in FILE.findall(text) if "NAME" not in name and not name.startswith(("path", "org", "google"))
    }


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.parent.name)
def test_what_a_readme_names_is_there(readme: Path) -> None:
    text = readme.read_text("utf-8")
    trees = [line for line in text.splitlines() if re.match("    (?!make|PIP_| *python| *load)", line)]
    tables = [line for line in text.splitlines() if line.startswith("| ")]
    said = re.findall(r"`([^` ]+\.(?:py|js|css|toml|yaml|conf))`", text)
    named = names("\n".join(trees + tables + said))
    floors = [ROOT / part for part in ("model", "pages", "tests", ".serve")]
    there = {path.name for floor in floors for path in [floor, *floor.rglob("*")]}
    there |= {path.name for path in ROOT.iterdir()}
    assert not {name for name in named if name.rstrip("/") not in there}


def test_links_between_readmes_lead_somewhere() -> None:
    for readme in READMES:
        for link in re.findall(r"\]\(([^)#:]+)\)", readme.read_text("utf-8")):
            assert (readme.parent / link).exists(), (readme, link)


def test_the_first_readme_is_read_in_five_minutes() -> None:
    assert len(READMES[0].read_text("utf-8").splitlines()) <= 150


@pytest.mark.parametrize("folder", ["", "model", "pages"])
def test_the_example_for_a_notebook_runs(folder: str) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / folder / "README.md").read_text("utf-8"), re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
