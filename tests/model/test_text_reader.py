"""From sentence to pieces and back: no sign is lost, and what is not in the vocabulary is named."""

import pytest

from model import load
from model.pipeline import TextReader

SENTENCES = [
    "the animal did not cross the street because it was too tired .",
    "Unbelievable! She's 27, isn't she? (Or re-reading \"it\" #3 @ 50% & more…)",
    "我爱你，你也爱我吗？",
    "他在 New York 住了10年。",
]


@pytest.fixture
def reader() -> TextReader:
    return load("text").reader


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_pieces_are_the_sentence(reader: TextReader, sentence: str) -> None:
    tokens = reader.read(sentence).tokens
    assert tokens[0] == "[CLS]" and tokens[-1] == "[SEP]"
    assert "".join(token.removeprefix("##") for token in tokens[1:-1]) == "".join(sentence.lower().split())


@pytest.mark.parametrize("sentence", SENTENCES)
def test_decoded_pieces_are_read_as_the_same_pieces(reader: TextReader, sentence: str) -> None:
    reading = reader.read(sentence)
    assert reader.read(reader.tokenizer.decode(reading.ids)).ids == reading.ids
    assert reader.read(tuple(reading.ids)).tokens == reading.tokens


def test_an_unknown_sign_keeps_its_place_and_is_named(reader: TextReader) -> None:
    reading = reader.read("the 😀 cat שלום 龘 sat")
    assert reading.tokens == ["[CLS]", "the", "[UNK]", "cat", "[UNK]", "[UNK]", "sat", "[SEP]"]
    (note,) = reading.notes
    assert note.reason == "unknown" and note.values["symbols"] == ["😀", "שלום", "龘"]


@pytest.mark.parametrize("signs", [range(33, 80), range(80, 127)])
def test_every_sign_on_a_keyboard_is_known(reader: TextReader, signs: range) -> None:
    assert "[UNK]" not in reader.read(" ".join(map(chr, signs))).tokens
