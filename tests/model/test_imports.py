"""Imports go down only, and in no circle: pages know the model, the model knows neither pages nor Streamlit."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "app.py", *(ROOT / "model").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]


def module_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(file): file for file in FILES}


def imports(module: str) -> set[str]:
    """All modules that this one names in an import, anywhere in it: ours in full, `from package import module` too."""
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


def packages(module: str) -> set[str]:
    return {imported.partition(".")[0] for imported in IMPORTS[module]}


def floor(module: str) -> str:
    return module.partition(".")[0]


def test_the_model_knows_no_page_and_no_streamlit() -> None:
    of_the_model = [module for module in MODULES if floor(module) == "model"]
    assert not {
        module for module in of_the_model if packages(module) & {"app", "pages", "tests", "streamlit", "plotly"}
    }


def test_pages_never_touch_torch_and_are_imported_by_nobody() -> None:
    for module in (module for module in MODULES if floor(module) in ("app", "pages")):
        assert not packages(module) & {"app", "tests"}, module
        assert module.startswith("pages.ui") or "torch" not in packages(module), module
        of_pages = {name for name in IMPORTS[module] if name.endswith(".page")} - {"pages.ui.page"}
        assert not of_pages, module


def test_what_pages_share_knows_no_page() -> None:
    for module in (module for module in MODULES if module.startswith("pages.ui")):
        others = {name for name in IMPORTS[module] if floor(name) == "pages"}
        assert not {name for name in others if not name.startswith("pages.ui")}, module


def test_pages_know_nothing_of_the_school() -> None:
    its_own = {"app", "pages.every_page", "pages.lesson.page", "pages.class.page"}
    knowing = {module for module in MODULES if any(name.startswith("pages.school") for name in IMPORTS[module])}
    assert {module for module in knowing if not module.startswith("pages.school")} == its_own


def test_no_training_on_the_way_to_a_page() -> None:
    for module in MODULES:
        if not module.startswith("model.training"):
            assert not {name for name in IMPORTS[module] if name.startswith("model.training")}, module


def circle(modules: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a ring, the first once more at the end; [] where there is none."""
    done: set[str] = set()

    def search(module: str, path: list[str]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        for imported in sorted(modules[module] & modules.keys()):
            if found := search(imported, [*path, module]):
                return found
        done.add(module)
        return []

    return next((found for module in modules if (found := search(module, []))), [])


def room(module: str) -> str:
    """The folder in pages/ui, pages/school or model of a module; a file beside the folders is a room of its own."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[:2] in (["pages", "ui"], ["pages", "school"]) else 2])


def test_imports_go_in_no_circle() -> None:
    assert " -> ".join(circle(IMPORTS)) == ""


def test_folders_import_each_other_in_no_circle() -> None:
    rooms: dict[str, set[str]] = {}
    for module, imported in IMPORTS.items():
        rooms.setdefault(room(module), set()).update({room(name) for name in imported} - {room(module)})
    assert " -> ".join(circle(rooms)) == ""


def test_a_circle_would_be_found() -> None:
    assert circle({"a": {"b", "os"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
