"""Each map shows the recorded numbers, and the arithmetic of the selected cell ends with its number."""

import pytest

from model import load
from model.by_hand import by_hand
from model.translator import Task
from pages.screen.runs import pipelines
from pages.screen.sections.working import MOST
from tests.model.families import TERMS
from tests.pages.inputs import bring, folder
from tests.pages.opening import open_page, recorded, result, run_of, shows, steps

#: The selected place in the link (from 1), and its indices in an array (from 0).
PLACE = {"layer": "2", "head": "3", "token": "3", "key": "2", "component": "6", "part": "2", "neuron": "8"}
PLACE |= {"distance": "6", "step": "4"}
CELL = {"head": 2, "token": 2, "query": 2, "key": 1, "d_model": 5, "d_E": 5, "d_k": 1, "d_ff": 7, "distance": 5}
A, B = "layers.1.attention.", "layers.1."

#: Input, page, tab (and block), quantity on the page, its key in the trace.
MAPS = [
    *(("words", "tokens", "one", name, f"embedding.{name}") for name in ("tokens", "positions", "sum")),
    ("digit", "tokens", "one", "sum", "embedding.sum"),
    ("MiniLM", "tokens", "one", "segments", "embedding.segments"),
    ("NarrowElectraForMaskedLM", "tokens", "one", "projection", "embedding.projection"),
    ("NarrowElectraForMaskedLM", "tokens", "one", "norm", "embedding.norm"),
    ("Esm", "tokens", "one", "tokens", "embedding.tokens"),
    ("MAE", "tokens", "one", "positions", "embedding.positions"),
    ("DeiTForImageClassificationWithTeacher", "tokens", "one", "sum", "embedding.sum"),
    ("digit", "queries_keys_values", "maps", "Q", A + "Q"),
    ("pre-norm digits", "queries_keys_values", "maps", "K", A + "K"),
    ("ModernBert", "queries_keys_values", "maps", "K_rotated", A + "K_rotated"),
    ("Deberta", "queries_keys_values", "maps", "K_distance", A + "K_distance"),
    *(("words", "attention", "steps", step, A + step) for step in ("scores", "scaled", "masked", "weights", "heads")),
    *(("Deberta", "attention", "steps", term, A + term) for term in TERMS),
    ("MPNet", "attention", "steps", "relative", A + "relative"),
    ("T5", "attention", "steps", "biased", A + "biased"),
    ("jina", "attention", "steps", "biased", A + "biased"),
    *((network, "attention", "map", "", A + "weights") for network in ("words", "T5", "Deberta")),
    ("words", "heads", "mixed", "concat", A + "concat"),
    ("pre-norm text", "heads", "mixed", "output", A + "output"),
    ("words", "add_and_norm", "maps", "output", A + "output"),
    ("words", "add_and_norm", "maps", "norm_1", B + "norm_1"),
    ("pre-norm text", "add_and_norm", "maps", "add_1", B + "add_1"),
    ("T5", "add_and_norm", "maps", "norm_1", B + "norm_1"),
    ("Dinov2", "add_and_norm", "maps", "scale_1", B + "scale_1"),
    *(("words", "feed_forward", "loudest", name, f"{B}ffn.{name}") for name in ("hidden", "activation", "output")),
    ("translator", "translation", "inside embedding", "tokens", "decoder.embedding.tokens"),
    ("words", "translation", "inside attention", "add_1", "decoder.layers.1.add_1"),
    ("words", "translation", "inside cross", "heads", "decoder.layers.1.cross.heads"),
    ("translator", "translation", "inside cross", "K", "decoder.layers.1.cross.K"),
    ("words", "translation", "inside ffn", "activation", "decoder.layers.1.ffn.activation"),
    ("translator apart", "translation", "inside ffn", "norm_3", "decoder.layers.1.norm_3"),
]


@pytest.mark.parametrize(("network", "page", "tab", "stage", "key"), MAPS)
def test_a_map_is_the_runs_and_the_arithmetic_of_its_cell_ends_with_its_number(
    network: str, page: str, tab: str, stage: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = bring(monkeypatch, network)
    tab, _, block = tab.partition(" ")
    app = open_page(page, **link, **PLACE, tab=tab, block=block or "cross", stage=stage)
    if page != "translation":
        run = run_of(app)
    elif "model" in link:
        run = load(str(folder(network)))(link["s"])
    else:
        run = pipelines.run("translation", Task(link["s"]))
    cells = CELL | ({"query": 3, "target": 3} if page == "translation" else {})
    values, axes = run[key], run.axes(key)
    cell = tuple(min(cells[axis], size - 1) for axis, size in zip(axes, values.shape, strict=True))
    if axes[-1] != "d_ff" and page not in ("tokens", "feed_forward"):  # of the chosen token alone, or of some neurons
        assert shows(app, values[cell[0]] if axes[0] == "head" else values, atol=1e-6)
    value = float(values[cell])
    assert result(app) == pytest.approx(value, rel=1e-4, abs=2e-5)
    if key.removeprefix(A) in ("scores", "scaled", "biased", "masked", "weights"):  # one score, one sum of q · k
        score = by_hand(run.network, run, A + "scores", cell, MOST)
        assert score.steps[-1].latex in steps(app)
    text = f"{recorded(app):.9g}".partition(".")[2]
    if "e" in text:
        assert recorded(app) == pytest.approx(value, rel=1e-3)
    else:  # as many digits as the lines by hand have, and no more
        assert recorded(app) == pytest.approx(value, rel=0, abs=0.51 * 10 ** -len(text))
        assert round(result(app), len(text)) == pytest.approx(recorded(app)), "one number, rounded once"
