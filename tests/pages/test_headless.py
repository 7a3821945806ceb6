"""Networks without a head (sentence vectors, image features): each page opens with a picture."""

from itertools import product

import pytest

from pages.what_if.page import PARTS
from tests.pages.inputs import bring
from tests.pages.opening import charts, open_page, stands

#: Sentence encoders, T5, image encoders and a translator's encoder.
KINDS = ("MiniLM", "T5", "ViTModel", "CLIP", "SigLIP", "translator")
OPEN = ("T5", "ViTModel", "translator")  # no pooling is declared
PAGES = [
    "tokens",
    "queries_keys_values",
    "attention",
    "heads",
    "add_and_norm",
    "feed_forward",
    "layers",
    "answer",
    "what_if",
]
#: Texts that hold only for networks with a head.
OF_A_HEAD = ("answer.purpose", "layers.lens", "what_if.measure_moved")


@pytest.mark.parametrize(("kind", "page"), [pair for turn, pair in enumerate(product(KINDS, PAGES)) if turn % 4 == 0])
def test_each_page_begins_with_a_picture(kind: str, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page(page, **bring(monkeypatch, kind))
    assert charts(app)
    assert [text for text in OF_A_HEAD if stands(app, text)] == []


@pytest.mark.parametrize("kind", ["MiniLM", "T5", "translator"])
def test_lines_are_searched(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("answer", **bring(monkeypatch, kind) | {"s": "the cat sat on a mat", "tab": "search"})
    lines = ["a dog slept", "", "the cat sat on a mat", "  ", "the door"] + ["it rained"] * 60
    app.text_area[0].set_value("\n".join(lines)).run()
    (drawn,) = charts(app)
    names = drawn["figure"]["layout"]["yaxis"]["ticktext"]
    assert names[0] == "the cat sat on a mat" and len(names) == 50 and stands(app, "alike.lines_left_out")
    app.text_area[0].set_value(" ").run()
    assert not charts(app)


@pytest.mark.parametrize("kind", ["MiniLM", "T5", "translator"])
def test_two_texts_are_compared_after_each_layer(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    link = bring(monkeypatch, kind) | {"s": "the cat sat on a mat", "other": "the dog sat on a mat"}
    app = open_page("layers", **link, tab="by_layers", token="3")
    names = [trace["name"] for trace in charts(app)[0]["figure"]["data"]]
    assert len(names) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_two_inputs_are_compared_in_a_picture(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    link = bring(monkeypatch, kind)
    app = open_page("answer", **link | ({"other": "the dog sat"} if "s" in link else {"other_picture": "scene"}))
    assert charts(app) and stands(app, "sentence_vector.means" if kind in OPEN else "sentence_vector.means_known")


def test_a_cell_of_the_map_opens_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    link = bring(monkeypatch, "MiniLM") | {"s": "the cat sat on a mat", "other": "the dog slept"}
    names = [one["key"] for one in charts(open_page("answer", **link))]
    assert names == ["answer.pairs", "answer.columns", "answer.rows"]
    names = [one["key"] for one in charts(open_page("answer", **link, token="2", step="2"))]
    assert names == ["answer.pairs", "answer.columns", "answer.cell", "answer.cell_there"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_laboratory_has_all_of_its_experiments(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The networks take turns."""
    link = bring(monkeypatch, kind)
    other = {"other": "the dog sat"} if "s" in link else {"other_picture": "scene"}
    every = [(tab, block) for tab, blocks in PARTS.items() for block in blocks]
    for tab, block in every[KINDS.index(kind) % 3 :: 3]:
        app = open_page("what_if", **link, **other, tab=tab, block=block)
        assert charts(app) or stands(app, "what_if.nothing_fits"), block
        assert stands(app, "sentence_vector.now_pair")
