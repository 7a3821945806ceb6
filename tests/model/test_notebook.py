"""The notebook runs from first cell to last, and every result can be displayed."""

import json
from pathlib import Path

from tests.cells import shown

NOTEBOOK = Path(__file__).parents[1] / "notebook.ipynb"


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
