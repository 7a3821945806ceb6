"""The Tokens page: tokenization, embeddings, positions and their sum."""

import re
from itertools import pairwise

import numpy as np
import pytest

from model.analysis import placed
from model.measures.order import likeness, same_words
from pages.drawing.pictures.quantity_map import chosen_cell
from pages.drawing.place import Place
from pages.drawing.state import sketch
from pages.drawing.text import LANGUAGES, catalogue
from pages.screen.runs import pipelines, worked_out
from pages.tokens.order import PAIRS
from pages.tokens.pictures import about_root, all_positions, nearest, one_sum
from tests.model.pieces import byte_level, folder_of
from tests.networks import COVER, trace_of
from tests.pages.opening import (
    AppTest,
    chart,
    figure,
    numbers,
    open_page,
    run_fine,
    said,
)

SENTENCE = "the dog chased the cat ."


def open_part(tab: str, **link: str) -> AppTest:
    return open_page("tokens", **{"s": SENTENCE, "tab": tab, **link})


@pytest.mark.parametrize("network", COVER)
def test_a_click_on_a_wave_works_out_the_number_that_stands_there(network: str) -> None:
    run = trace_of(network)
    if run.picture is not None or "embedding.positions" not in run or len(run.tokens) < 2:
        return
    for picture in (all_positions(run, Place(token=1)), one_sum(run, Place(token=1))):
        figure = picture.drawn()
        marks, side = figure.data[-1], figure.layout["xaxis"]
        named = dict(zip(side.get("tickvals", ()), side.get("ticktext", ()), strict=True))
        for x, y, value in zip(marks["x"], marks["y"], marks["customdata"], strict=True):
            chosen = picture.picks(round(y), round(x))
            key, component = f"embedding.{chosen['stage']}", chosen["component"]
            assert named.get(int(x), str(component + 1)) == str(component + 1)
            there = Place(token=chosen.get("token", 1), component=component)
            assert np.isnan(value) or np.isclose(run[key][chosen_cell(run, there, key)], value)


def test_the_factor_of_embeddings_is_told_by_their_lengths_and_of_no_drawing() -> None:
    run, drawn = pipelines.run("text", SENTENCE), pipelines.run("digits", sketch.ink(sketch.example()))
    bare = np.linalg.norm(run.network.embedding.E.weight.numpy()[run.ids], axis=1).mean()
    places = np.linalg.norm(run["embedding.positions"], axis=1).mean()
    said = f"Before × √256 = 16, E[x] is {bare:.2f} long on average; positions are {places:.2f}"
    assert any(said in one.value.replace("\\", "") for one in open_part("one").caption) and not about_root(drawn)


def test_a_click_on_a_row_of_the_sentence_among_rows_of_E_chooses_that_word() -> None:
    run = pipelines.run("text", SENTENCE)
    near = worked_out.neighbours("text", run.ids[2])
    picture = nearest(run, Place(token=2), near, others=run.ids[1:-1])
    shown = [name.split(" · ")[0] for name in picture.drawn().layout["yaxis"]["ticktext"]]
    found = {name: picture.picks(row, 4) for row, name in enumerate(shown) if row}
    E = run.network.embedding.E.weight.numpy()
    fifth = int(np.argsort(-E[run.ids[2]], kind="stable")[4])
    assert all(one["component"] == fifth for one in found.values()), "of the column that was clicked"
    assert {name: run.tokens[one["token"]] for name, one in found.items() if "token" in one} == {
        name: name for name in shown[1:] if name in run.tokens
    }
    assert "cat" in shown and "token" in found["cat"]


def test_every_piece_stands_on_the_page_with_its_id() -> None:
    sentence = "unbelievable dogs 狗 ."
    app, trace = open_part("pieces", s=sentence), pipelines.run("text", sentence)
    table = app.dataframe[0].value
    assert table.iloc[:, 0].tolist() == trace.tokens
    assert table.iloc[:, 1].tolist() == trace.ids


def test_a_drawing_shows_its_square_patches_the_selected_one_framed() -> None:
    code = sketch.to_code(sketch.example(3))
    app = open_part("pieces", input="digit", token="26", ink=code)
    layout = chart(app, "patches")["layout"]
    (frame,) = layout["shapes"]
    assert "Patches of 4 × 4 pixels: 49 + [CLS]." in said(app)
    assert (frame["x0"] + 0.5, frame["y0"] + 0.5) == (24 % 7, 24 // 7) and layout["yaxis"]["scaleanchor"] == "x"
    of_cls = open_part("pieces", input="digit", token="1", ink=code)
    assert not chart(of_cls, "patches")["layout"].get("shapes"), "[CLS] is no patch"


@pytest.mark.parametrize("language", LANGUAGES)
def test_normalization_of_the_input_is_said(language: str) -> None:
    app = open_part("pieces", s="Paris and the café .", lang=language)
    (said,) = [note.value.replace("\\", "") for note in app.info]
    assert catalogue(language)["common.semicolon"].join(("Paris → paris", "café → cafe")) in said
    assert not open_part("pieces", s="paris and the cafe .", lang=language).info


def test_an_example_stands_where_a_sentence_cannot_be_read() -> None:
    app = open_part("order", s=SENTENCE, other="😀", forced="100.200", step="3", beam="2")
    assert app.button(key="order.2").proto.type == "primary"
    run_fine(app.button(key="order.3").click())
    choice = app.session_state["choice"]
    assert (choice.sentence, choice.other) == PAIRS["en"][1]
    assert (choice.forced, choice.step, choice.beam) == ((), None, 1)  # of the sentence before


def test_only_pairs_that_a_tokenizer_cuts_into_the_same_pieces_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(byte_level)
    monkeypatch.setenv("MODELS", str(folder))
    link = {"model": folder.name, "lang": "zh", "s": "the cats sat"}
    labels = [button.label for button in open_part("order", **link).button if button.key.startswith("order.")]
    assert labels[:-1] == ["我吃苹果。 ↔ 苹果吃我。", *map(" ↔ ".join, PAIRS["en"])], "the full stop is run, too"
    for language, pairs in {"zh": PAIRS["zh"][:1], "en": ()}.items():
        monkeypatch.setitem(PAIRS, language, pairs)
    assert catalogue("zh")["order.none"] in [note.value for note in open_part("order", **link).info]


@pytest.mark.parametrize(("sentence", "word"), [("the sleepless cat", "sleepless"), ("i love you .", "unbelievable")])
def test_tokenization_is_shown_step_by_step(sentence: str, word: str) -> None:
    app = open_part("pieces", s=sentence)
    (said,) = [box.value for box in app.markdown if "\n- " in box.value and "BPE" not in box.value]
    first, *lines = said.split("\n- ")
    found = [line.rsplit("**", 2)[1].replace("\\", "") for line in lines]
    assert found == pipelines.pipeline("text").reader.pieces(word) and len(found) > 1
    assert lines[0].startswith(f":gray[{word}]") and first.startswith(f"“{word}” is not in the vocabulary")


@pytest.mark.parametrize(
    ("sentence", "turned"),
    [
        ("she likes the happy dog .", "dog happy the likes she ."),
        ("the sleepless cat", "cat sleepless the"),
        ("我爱你。", "你爱我。"),
    ],
)
def test_word_order_is_that_of_the_readers_sentence_and_the_chosen_token_is_told(sentence: str, turned: str) -> None:
    own, other = (pipelines.run("text", one) for one in (sentence, turned))
    cosines = likeness(own, other, same_words(own.tokens, other.tokens))
    for token in (1, len(own.tokens) - 2):
        app = open_part("order", s=sentence, token=str(token + 1))
        line = numbers(figure(app)["data"][0]["y"])
        np.testing.assert_allclose(line, cosines[:, token], atol=1e-5)
        assert f"“{placed(own.tokens)[token]}” in one order and in the other" in said(app)


def test_the_longest_word_of_a_sentence_is_merged_letter_by_letter() -> None:
    app = open_part("pieces", s="she told unbelievable stories .")
    read = next(part.value for part in app.markdown if "BPE" in part.value)
    steps = [re.sub(r":gray\[|[\]*]", "", line).split() for line in read.splitlines() if line.startswith("- ")]
    parts = [["-", *"unbelievable"], *steps]
    for before, after in pairwise(parts):
        assert "".join(before) == "".join(after) == "-unbelievable" and len(after) < len(before)
    merges, words = worked_out.merges_of("text")
    assert len(merges) == 1000 and f"{words:,}" in read.replace("\\", "") and len(steps) > 5
    assert not any(pair in set(merges) for pair in pairwise(parts[-1][1:])), "nothing that could be merged is left"
