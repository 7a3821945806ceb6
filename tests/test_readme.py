"""README's picture of the house is the house: what it names is there, and what is there is named."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
HOUSE = README[README.index("## How the house is built") : README.index("## Training it again")]
FILE = re.compile(r"[\w.-]+\.(?:py|js|css|toml)\b|[\w.-]+/")
#: Modules that stand beside the one that the tree names for them.
BESIDE = {"__init__", "__main__"}


def tree() -> dict[str, set[str]]:
    """Folder -> the files and folders that the tree names in it."""
    found: dict[str, set[str]] = {"": set()}
    at: list[str] = []
    for line in HOUSE.split("\n\n")[2].splitlines():
        depth = (len(line) - len(line.lstrip()) - 4) // 2
        names = FILE.findall(line)
        at = at[:depth]
        folder = "".join(at)
        found.setdefault(folder, set()).update(names)
        if names and names[0].endswith("/") and line.split()[0] == names[0]:
            at.append(names[0])
            found.setdefault("".join(at), set())
    return found


def test_what_the_tree_names_is_there() -> None:
    missing = [f"{folder}{name}" for folder, names in tree().items() for name in names if not _is_there(folder, name)]
    assert not missing


def _is_there(folder: str, name: str) -> bool:
    """In its folder, or, of a file that a sentence speaks of, somewhere below it."""
    return (ROOT / folder / name).exists() or any((ROOT / folder).rglob(name.rstrip("/")))


def test_the_table_of_changes_names_files_that_are_there() -> None:
    table = [line for line in HOUSE.splitlines() if line.startswith("| ")]
    named = {name for line in table for name in FILE.findall(line) if "NAME" not in name}
    assert len(table) > 8 and named
    assert not [name for name in named if not any(ROOT.rglob(name.rstrip("/")))]


def test_the_example_for_a_notebook_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
