"""The glossary: no symbol of STAGES is missing, and each value is this model's."""

import pytest

from model.stages import STAGES
from pages.ui import session
from pages.ui.frame import PAGES
from pages.ui.glossary import ENTRIES, value
from pages.ui.text import LANGUAGES, catalogue
from tests.networks import trace_of
from tests.pages.opening import assert_fine, open_page, texts

BY_SYMBOL = {entry.symbol: entry for entry in ENTRIES}


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.key)
def test_every_recorded_quantity_is_explained_under_its_page(stage) -> None:
    entry = BY_SYMBOL[stage.symbol]
    assert stage.key in next(row for row in PAGES if row.name == entry.page).stages


@pytest.mark.parametrize("name", ["trained text", "000", "003", "004"])
def test_shapes_are_those_of_the_run(name: str) -> None:
    trace = trace_of(name)
    for stage in STAGES:
        key = stage.key.replace("{l}", "0")
        if key in trace:
            shape = trace[key].shape[1:] if stage.symbol == r"\text{head}_i" else trace[key].shape
            assert value(BY_SYMBOL[stage.symbol], trace) == " × ".join(map(str, shape)), stage.key


def test_what_a_model_lacks_has_no_value() -> None:
    words, image, headless = trace_of("trained text"), trace_of("000"), trace_of("004")
    assert value(BY_SYMBOL["E"], words) and value(BY_SYMBOL["E"], image) is None
    assert value(BY_SYMBOL["W_E"], image) == "16 × 64" and value(BY_SYMBOL["W_E"], words) is None
    assert value(BY_SYMBOL["y"], headless) is None


def test_special_tokens_are_counted() -> None:
    trace = trace_of("trained text", 1)  # the cat sat on the [MASK] .
    assert [value(BY_SYMBOL[f"`[{name}]`"], trace) for name in ("CLS", "SEP", "MASK", "UNK")] == ["1", "1", "1", "0"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_fit_into_a_table_cell(language: str) -> None:
    for entry in ENTRIES:
        text = catalogue(language)[f"glossary.{entry.name}"]
        assert "|" not in text and "\n" not in text, entry.name
        assert "|" not in entry.symbol, "a bare | would end the cell"


@pytest.mark.parametrize("name", [row.name for row in PAGES])
def test_every_page_has_its_button(name: str) -> None:
    assert open_page(name).sidebar.button(key="glossary")


@pytest.mark.parametrize("link", [{}, {"input": "digit"}, {"input": "flat"}, {"model": "paper"}])
def test_the_button_shows_every_symbol_with_its_value(link: dict[str, str]) -> None:
    app = open_page("home", **link)
    app.button(key="glossary").click().run()
    assert_fine(app)
    rows = [line for line in texts(app).splitlines() if line.startswith("| $") or line.startswith("| `")]
    assert len(rows) == len(ENTRIES)
    assert all(len(row.split(" | ")) == 3 for row in rows)
    config = session.pipeline(app.session_state["choice"].pipeline).config
    shown = {row.split(" | ")[0].strip("| "): row.split(" | ")[2].strip("| ") for row in rows}
    assert shown["$d_{ff}$"] == str(config.d_ff) and shown["$N$"] == str(config.layers)
