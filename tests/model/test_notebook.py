"""The notebook runs from its first cell to its last, and what each shows can be shown."""

import ast
import json
from pathlib import Path

NOTEBOOK = Path(__file__).parents[1] / "notebook.ipynb"


def shown(source: str, names: dict[str, object]) -> object:
    """Run a cell as Jupyter does: what its last line is, is shown."""
    lines = ast.parse(source).body
    last = lines.pop() if isinstance(lines[-1], ast.Expr) else None
    exec(compile(ast.Module(lines, []), "notebook", "exec"), names)
    return eval(compile(ast.Expression(last.value), "notebook", "eval"), names) if last else None


def test_the_notebook_runs() -> None:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    names: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert not cell["outputs"], "what it showed on another day is kept out of it"
            found = shown("".join(cell["source"]), names)
            assert found is not None and repr(found)
            if as_page := getattr(found, "_repr_html_", None):
                assert as_page()
    assert names["changed"]["logits"].shape == names["trace"]["logits"].shape
    assert names["heads"].rank().corr().iloc[0, 1] > 0.8, "the two agree on most heads"
