"""Marian translators of others on the Translation page."""

from pathlib import Path

import pytest

from model import load
from model.export import as_marian
from pages.drawing.text import LANGUAGES
from pages.screen.frame.glossary import entries
from pages.translation.page import PARTS
from tests.pages.inputs import bring, folder, offer
from tests.pages.opening import charts, figure, open_page, result, said, stands
from tests.translators import changed, written

SENTENCE = "she is reading a book ."


@pytest.mark.parametrize("place", range(len(PARTS)), ids=PARTS)
def test_every_tab_shows_what_the_chosen_translator_writes(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    name = ("translator", "translator apart")[place % 2]
    link = bring(monkeypatch, name)
    app = open_page("translation", lang=tuple(LANGUAGES)[place // 2 % 2], tab=list(PARTS)[place], **link)
    assert load(str(folder(name)))(SENTENCE).translation in said(app) and "en → zh" in said(app) and charts(app)
    assert not stands(app, "translation.trained_here")
    assert not [one for one in app.segmented_control if one.key == "translation.into"]


def test_a_decoder_of_one_layer_and_one_head_has_none_to_choose(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    small = written(tmp_path / "opus", decoder_layers=1, decoder_attention_heads=1)
    (name,) = offer(monkeypatch, small)
    for tab in ("writing", "inside"):
        app = open_page("translation", model=name, s=SENTENCE, tab=tab, layer="2", head="2")
        assert load(str(small))(SENTENCE).translation in said(app) and charts(app)
        assert not {"either.layer", "either.head"} & {group.key for group in app.button_group}


@pytest.mark.parametrize(("name", "text"), [("translator", "tied"), ("translator apart", "tied_apart")])
def test_the_next_piece_is_worked_out_by_the_matrix_that_it_has_and_may_begin_the_translation(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    translator = load(str(folder(name)))
    forced = translator.writes[-1] - 5  # which the list of the source may not have
    here = {"tab": "inside", "block": "next", "step": "4", "output": "77"}
    app = open_page("translation", **bring(monkeypatch, name), **here)
    assert result(app) == pytest.approx(float(translator(SENTENCE)["logits"][3, 77]), abs=1e-3)
    assert stands(app, f"translation.{text}")
    assert translator.target_vocabulary[77] in said(app) + str(app.markdown)
    app = open_page("translation", **bring(monkeypatch, name), forced=str(forced))
    assert any(button.label.endswith(f": {translator.target_vocabulary[forced]}") for button in app.button)


def test_a_translator_that_names_no_language_has_no_sign_of_one() -> None:
    symbols = [symbol for symbol, *_ in entries(load(str(folder("translator")))(SENTENCE))]
    assert not {"`[EN]`", "`[ZH]`", "`[CLS]`"} & {*symbols}


def test_our_translator_is_unchanged_after_another_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    as_marian(load("translation"), tmp_path / "again")
    (name,) = offer(monkeypatch, tmp_path / "again")
    app = open_page("translation", model=name, s=SENTENCE)
    assert "她在读一本书。" in said(app) and "[ZH]" in str(figure(app, 0))
    assert "→ zh" not in said(app)  # the folder names no languages


def test_a_target_longer_than_its_source_is_aligned(monkeypatch: pytest.MonkeyPatch) -> None:
    link = bring(monkeypatch, "translator") | {"s": "a"}
    assert len(load(str(folder("translator")))("a").target_tokens) > 5
    assert charts(open_page("translation", **link, tab="alignment"))


def test_what_cannot_be_read_of_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = written(tmp_path / "opus")
    changed(broken, "config.json", tie_word_embeddings=False)
    (name,) = offer(monkeypatch, broken)
    assert "tie_word_embeddings" in said(open_page("answer", model=name, s=SENTENCE))
    app = open_page("translation", model=name, s=SENTENCE)  # ours translates then
    assert stands(app, "translation.trained_here") and "她在读一本书。" in said(app)
