"""Every page with somebody else's translator: its encoder there, and on Translation all of it."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from model import load
from model.export import as_marian
from pages.translation.page import PARTS
from pages.ui.frame.contents import PAGES
from pages.ui.frame.glossary import entries
from pages.ui.text import LANGUAGES, catalogue
from tests.pages.opening import assert_fine, charts, figure, open_page, result
from tests.pages.test_checkpoints import maps, offer, said_on
from tests.translators import changed, written

SENTENCE = "she is reading a book ."


@cache
def folder_of(apart: bool = False) -> Path:
    """A decoder deeper than its encoder, with more heads; apart: with a list of words for each language."""
    more = {"decoder_layers": 3, "decoder_attention_heads": 4, "activation_function": "swish"}
    return written(Path(mkdtemp(prefix="opus-")), apart=apart, seed=3, **more)


def test_a_decoder_of_one_layer_and_one_head_has_none_to_choose(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = written(tmp_path / "opus", decoder_layers=1, decoder_attention_heads=1)
    (name,) = offer(monkeypatch, folder)
    for panel in PARTS:
        app = open_page("translation", model=name, s=SENTENCE, panel=panel, layer="2", head="2")
        assert load(str(folder))(SENTENCE).translation in said_on(app) and charts(app)
        assert not {"either.layer", "either.head"} & {group.key for group in app.button_group}


@pytest.mark.parametrize("place", range(len(PAGES)), ids=[row.name for row in PAGES])
def test_every_page_opens(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    app = open_page(PAGES[place].name, lang=[*LANGUAGES][place % 2], model=name, s=SENTENCE, layer="2", head="2")
    assert app.selectbox(key="model").value == name and not app.warning


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_translator_that_was_chosen_writes(lang: str, apart: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of(apart))
    translation = load(str(folder_of(apart)))(SENTENCE).translation
    for panel in PARTS:
        app = open_page("translation", lang=lang, model=name, s=SENTENCE, panel=panel)
        said = said_on(app)
        assert translation in said and "en → zh" in said and charts(app)
        assert catalogue(lang)["translation.trained_here"] not in said
        assert not [one for one in app.segmented_control if one.key == "translation.into"]


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(
    ("block", "stage", "key"),
    [
        ("embedding", "tokens", "decoder.embedding.tokens"),
        ("attention", "weights", "decoder.layers.2.attention.weights"),
        ("cross", "weights", "decoder.layers.2.cross.weights"),
        ("cross", "K", "decoder.layers.2.cross.K"),
        ("ffn", "hidden", "decoder.layers.2.ffn.hidden"),
    ],
)
def test_each_part_of_its_decoder_is_shown_as_it_ran_and_worked_out(
    block: str, stage: str, key: str, apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (name,) = offer(monkeypatch, folder_of(apart))
    where = {"layer": "3", "head": "4", "panel": "inside", "block": block, "stage": stage}
    app = open_page("translation", model=name, s=SENTENCE, **where)
    value = load(str(folder_of(apart)))(SENTENCE)[key]
    value = value[3] if value.ndim == 3 else value
    assert any(shown.shape == value.shape and np.allclose(shown, value, atol=1e-5) for shown in maps(app))
    assert abs(value - result(app)).min() < 1e-4


@pytest.mark.parametrize(("apart", "said"), [(False, "tied"), (True, "tied_apart")])
def test_the_next_piece_is_worked_out_by_the_matrix_that_it_has(
    apart: bool, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (name,) = offer(monkeypatch, folder_of(apart))
    here = {"panel": "inside", "block": "next", "step": "4", "output": "77"}
    app = open_page("translation", model=name, s=SENTENCE, **here)
    translator = load(str(folder_of(apart)))
    assert result(app) == pytest.approx(float(translator(SENTENCE)["logits"][3, 77]), abs=1e-3)
    assert catalogue("en")[f"translation.{said}"] in said_on(app)
    assert translator.target_vocabulary[77] in said_on(app) + str(app.markdown)


def test_where_it_begins_no_language_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    said = said_on(open_page("translation", model=name, s=SENTENCE, step="1"))
    assert "after “[PAD]” the decoder writes" in said and "target language" not in said
    symbols = [symbol for symbol, *_ in entries(load(str(folder_of()))(SENTENCE))]
    assert "`[EN]`" not in symbols and "`[ZH]`" not in symbols and "`[CLS]`" not in symbols


def test_a_piece_that_is_clicked_begins_the_translation(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of(True))
    translator = load(str(folder_of(True)))
    forced = translator.writes[-1] - 5  # which the list of the source may not have
    app = open_page("translation", model=name, s=SENTENCE, forced=str(forced))
    assert any(button.label.endswith(f": {translator.target_vocabulary[forced]}") for button in app.button)


def test_on_other_pages_it_is_an_encoder_that_says_what_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    english = catalogue("en")
    said = str([info.value for info in open_page("answer", model=name, s=SENTENCE).info])
    assert english["sentence_vector.of_translator"] in said
    app = open_page("tokens", model=name, s=SENTENCE, panel="pieces")
    assert app.session_state["pick.token"] == 0  # the first piece is a word's


def test_our_own_comes_back_and_says_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    as_marian(load("translation"), tmp_path / "again")
    (name,) = offer(monkeypatch, tmp_path / "again")
    app = open_page("translation", model=name, s=SENTENCE)
    assert "她在读一本书。" in said_on(app) and "[ZH]" in str(figure(app, 0))
    assert "→ zh" not in said_on(app)  # the folder names no languages


def test_a_folder_that_changes_is_another_translator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = written(tmp_path / "opus", seed=3)
    (name,) = offer(monkeypatch, folder)
    before = load(str(folder))(SENTENCE).translation
    app = open_page("translation", model=name, s=SENTENCE)
    assert before in said_on(app)
    written(folder, seed=4)
    after = load(str(folder))(SENTENCE).translation
    assert_fine(app.run())
    assert after in said_on(app) and after != before


def test_a_target_longer_than_its_source_is_aligned(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "a"
    (name,) = offer(monkeypatch, folder_of())
    assert len(load(str(folder_of()))(source).target_tokens) > 5
    assert charts(open_page("translation", model=name, s=source, panel="alignment"))


def test_what_cannot_be_read_of_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = written(tmp_path / "opus")
    changed(folder, "config.json", tie_word_embeddings=False)
    (name,) = offer(monkeypatch, folder)
    app = open_page("answer", model=name, s=SENTENCE)
    assert "tie_word_embeddings" in str([info.value for info in app.info])
    app = open_page("translation", model=name, s=SENTENCE)  # ours translates then
    assert catalogue("en")["translation.trained_here"] in str([info.value for info in app.info])
    assert "她在读一本书。" in said_on(app)
