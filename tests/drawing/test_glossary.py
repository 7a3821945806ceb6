"""The glossary: no symbol of a graph is missing, and each value is this model's."""

import pytest

from model.analysis import softmax
from pages.drawing.text import LANGUAGES, catalogue
from pages.screen.frame import contents
from pages.screen.frame.glossary import entries, page_of
from pages.screen.runs import pipelines
from tests.networks import COVER, trace_of
from tests.pages.opening import open_page, run_fine, texts

NAMES = [*COVER, "translation"]


def values(name: str, which: int = 0) -> dict[str, str]:
    return {symbol: value for symbol, _, _, value in entries(trace_of(name, which))}


@pytest.mark.parametrize("name", NAMES)
def test_every_recorded_quantity_is_explained_under_its_page_with_the_shape_of_the_run(name: str) -> None:
    trace = trace_of(name)
    listed = {(symbol, page): value for symbol, page, _, value in entries(trace)}
    for key in trace:
        quantity = trace.quantity(key)
        page = "layers" if key == trace.graph.Z and quantity.symbol == "Z" else page_of(quantity)
        first = next(one.key for one in trace.graph if one.row == quantity.row)
        shape = trace[first].shape[1:] if quantity.symbol == r"\text{head}_i" else trace[first].shape
        if "cross." not in key and not key.startswith("decoder."):  # there the letters are those of the encoder
            assert listed[quantity.symbol, page] == " × ".join(map(str, shape)), key
        assert (quantity.symbol, page) in listed


def test_the_answer_has_the_shape_of_its_probabilities() -> None:
    trace = trace_of("trained text")
    assert values("trained text")["p"] == " × ".join(map(str, softmax(trace["logits"]).shape))


def test_what_a_model_lacks_is_not_listed() -> None:
    words, image, headless = values("trained text"), values("000"), values("004")
    assert "E" in words and "E" not in image
    assert image["W_E"] == "16 × 64" and image["x_p"] == "49 × 16" and "W_E" not in words
    assert "y" not in headless and "p" not in headless
    assert r"\bar X" in values("pre-norm words") and r"\bar X" not in words


def test_special_tokens_are_counted() -> None:
    counted = values("trained text", 1)  # the cat sat on the [MASK] .
    assert [counted[f"`[{name}]`"] for name in ("CLS", "SEP", "MASK", "UNK")] == ["1", "1", "1", "0"]
    written = values("translation")
    assert [written[f"`[{name}]`"] for name in ("EN", "ZH")] == ["0", "1"] and "`[ZH]`" not in counted


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_text_that_fits_into_a_table_cell(name: str) -> None:
    for symbol, page, named, _ in entries(trace_of(name)):
        for text in (catalogue(language)[f"glossary.{named}"] for language in LANGUAGES):
            assert "|" not in text and "\n" not in text, named
        assert "|" not in symbol, "a bare | would end the cell"
        assert page in contents.NAMES


@pytest.mark.parametrize("link", [{}, {"input": "digit"}])
def test_the_button_shows_every_symbol_with_its_value(link: dict[str, str]) -> None:
    app = open_page("home", **link)
    app.session_state["drawer.over"] = "glossary"  # as a click in the bar does
    run_fine(app)
    rows = [line for line in texts(app).splitlines() if line.startswith("| $") or line.startswith("| `")]
    choice = app.session_state["choice"]
    assert len(rows) == len(list(entries(pipelines.run(choice.pipeline, choice.subject))))
    assert all(len(row.split(" | ")) == 3 for row in rows)
    config = pipelines.pipeline(choice.pipeline).config
    shown = {row.split(" | ")[0].strip("| "): row.split(" | ")[2].strip("| ") for row in rows}
    assert shown["$d_{ff}$"] == str(config.d_ff) and shown["$N$"] == str(config.layers)


def test_the_glossary_follows_the_symbols_that_were_chosen() -> None:
    app = open_page("home", symbols="000")
    app.session_state["drawer.over"] = "glossary"  # as a click in the bar does
    app.run()
    assert "$D_h$" in texts(app) and "$d_k$" not in texts(app)
