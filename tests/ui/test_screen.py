"""What the reader chose stays as it is, whatever a page draws."""

import ast
from pathlib import Path

PAGES = Path(__file__).parents[2] / "pages"
#: They open the runs of a page, to which the choice is fitted.
OPENING = {"ui/page.py", "ui/view.py", "ui/runs/runs.py", "translation/writing.py"}


def test_nothing_that_draws_changes_what_the_reader_chose() -> None:
    assigned = {
        file.relative_to(PAGES).as_posix()
        for file in PAGES.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "choice" and isinstance(node.ctx, ast.Store)
    }
    assert assigned == OPENING
