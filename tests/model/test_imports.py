"""Imports go down and form no circle: pages import the model, the model imports neither pages nor Streamlit."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from pages.school.additions import STATIONS
from pages.screen.frame.contents import NAMES

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "app.py", *(ROOT / "model").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]


def module_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(file): file for file in FILES}


def imports(module: str) -> set[str]:
    """Full names of modules imported anywhere in a module; `from package import module` counts as the module, too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} imports relatively"
            names = {f"{node.module}.{name.name}" for name in node.names}
            found |= names & MODULES.keys() or {node.module}
            if names - MODULES.keys():
                found.add(node.module)
    return found


IMPORTS = {module: imports(module) for module in MODULES}


def named(of: str, *but: str) -> dict[str, set[str]]:
    """Modules below a package -> what they import."""
    return {module: names for module, names in IMPORTS.items() if module.startswith(of) and not module.startswith(but)}


def below(packages: set[str], modules: dict[str, set[str]]) -> set[str]:
    """Those of the modules that import from one of the packages."""
    return {
        module
        for module, names in modules.items()
        if any(name == package or name.startswith(f"{package}.") for name in names for package in packages)
    }


def test_floors_know_only_those_below_them() -> None:
    assert not below({"app", "pages", "tests", "streamlit", "plotly"}, named("model"))
    assert not below({"app", "tests"}, named("pages") | named("app"))
    assert not below({"torch"}, named("pages", "pages.screen.runs"))
    assert not below({"model.training"}, named("", "model.training"))


def test_pages_are_imported_by_nobody() -> None:
    for module in named("pages") | named("app"):
        assert not {name for name in IMPORTS[module] if name.endswith(".page")} - {"pages.drawing.page"}, module


#: Shared parts of pages -> our packages that each may import.
MAY: dict[str, set[str]] = {
    "pages.drawing": {"model", "pages.drawing"},
    "pages.server": {"model", "pages.server"},
    "pages.screen": {"model", "pages.drawing", "pages.server", "pages.screen"},
}


@pytest.mark.parametrize("part", MAY)
def test_what_pages_share_imports_what_it_may(part: str) -> None:
    modules = named(f"{part}.") | {part: IMPORTS[part]}
    assert len(modules) > 5
    ours = {"app", "model", "pages", "tests"}
    for module, names in modules.items():
        found = {name for name in names if name.partition(".")[0] in ours}
        assert all(any(f"{name}.".startswith(f"{one}.") for one in MAY[part]) for name in found), module


def reached(module: str) -> set[str]:
    """All modules imported directly or indirectly."""
    found: set[str] = set()
    ahead = [module]
    while ahead:
        further = IMPORTS.get(ahead.pop(), set()) - found
        found |= further
        ahead += further
    return found


def test_what_makes_pictures_knows_no_streamlit() -> None:
    makers = {name for name, file in MODULES.items() if "-> Picture:" in file.read_text(encoding="utf-8")}
    assert len(makers) > 10
    for module in makers | named("pages.drawing").keys():
        assert not {name for name in reached(module) if name.partition(".")[0] == "streamlit"}, module


def test_pages_know_nothing_of_the_school() -> None:
    its_own = {"app", "pages.every_page", "pages.lesson.page", "pages.class.page"}
    assert below({"pages.school"}, named("", "pages.school")) == its_own


#: Packages whose subfolders count separately; elsewhere a folder of pages or model is one unit.
DEEP = ("pages.drawing.", "pages.screen.", "pages.school.", "model.overview.")


def room(module: str) -> str:
    """The unit to which a module belongs: a subfolder of DEEP, a folder of pages or model, or a single file."""
    return ".".join(module.split(".")[: 3 if module.startswith(DEEP) else 2])


def test_modules_and_folders_import_each_other_in_no_circle() -> None:
    rooms: dict[str, set[str]] = {}
    for module, imported in IMPORTS.items():
        rooms.setdefault(room(module), set()).update({room(name) for name in imported} - {room(module)})
    for graph in (IMPORTS, rooms):
        TopologicalSorter({module: imported & graph.keys() for module, imported in graph.items()}).prepare()


# -- the school beside the pages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [module for module in IMPORTS if module.startswith("pages.school.questions")])
def test_questions_know_neither_streamlit_nor_the_rest_of_the_school(module: str) -> None:
    assert not any(name.partition(".")[0] == "streamlit" for name in IMPORTS[module])
    ours = {name for name in IMPORTS[module] if name.startswith("pages.school")}
    assert all(name.startswith("pages.school.questions") for name in ours)


def test_stations_belong_to_pages_that_there_are() -> None:
    assert STATIONS.keys() <= {*NAMES}
