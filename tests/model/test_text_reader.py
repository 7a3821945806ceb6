"""From sentence to pieces and back: no character is lost, and unknown ones are named."""

import re

import pytest

from model import InputError, load
from model.loading import load_tokenizer
from model.pipeline import MOST_CHARACTERS, TextReader

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


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["a cat", "a dog"], r"ids.* is a str; several sentences are read with batch\(…\)$"),
        ((2, 5.0, 3), "ids.* is a float; "),
        (b"a cat", "ids.* is a bytes$"),
        (7, "ids.* is a int$"),
    ],
)
def test_what_is_no_sentence_is_named_with_what_would_be_one(given: object, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        load("translation" if isinstance(given, int) else "text")(given)


@pytest.mark.parametrize("ids", [(), (2, -1, 3), (2, 12_000, 3), (5,) * 65])
def test_ids_that_cannot_be_read_are_named(reader: TextReader, ids: tuple[int, ...]) -> None:
    said = f"1 to 64 ids are read, each from 0 to 11999; these are {len(ids)}, "
    with pytest.raises(ValueError, match=re.escape(said)):
        reader.read(ids)


def test_an_unknown_sign_keeps_its_place_and_is_named(reader: TextReader) -> None:
    reading = reader.read("the 😀 cat שלום 龘 sat")
    assert reading.tokens == ["[CLS]", "the", "[UNK]", "cat", "[UNK]", "[UNK]", "sat", "[SEP]"]
    (note,) = reading.notes
    assert note.reason == "unknown" and note.values["symbols"] == ["😀", "שלום", "龘"]
    assert not reader.read("the [UNK] sat").notes, "it is the piece itself"


FULL_WIDTH = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(33, 127) if chr(code).isalnum()})


def test_signs_of_a_keyboard_are_known_and_what_is_written_otherwise_is_read_as_usual(reader: TextReader) -> None:
    assert "[UNK]" not in reader.read(" ".join(map(chr, range(33, 80)))).tokens
    assert "[UNK]" not in reader.read(" ".join(map(chr, range(80, 127)))).tokens
    assert reader.read(signs := "，！？：；（）…").tokens[1:-1] == list(signs)
    assert reader.read("½ ﬁsh ①").tokens == reader.read("1⁄2 fish 1").tokens
    for sentence in ("AI and 123", "我在 NEW york 住了10年。"):
        wide = sentence.translate(FULL_WIDTH)
        assert wide != sentence and reader.read(wide).ids == reader.read(sentence).ids


@pytest.mark.parametrize("typed", ["", " ", "[CLS]", "[SEP] [CLS]", "[SEP] " * 70 + "cat"])
def test_a_sentence_without_a_word_that_is_read_is_empty(reader: TextReader, typed: str) -> None:
    with pytest.raises(InputError, match="empty"):
        reader.read(typed)


@pytest.mark.parametrize(
    ("sentence", "simplified"),
    [
        ("Paris is nice .", [("Paris", "paris")]),
        ("a café , a cafe\u0301 and PARIS", [("café", "cafe"), ("cafe\u0301", "cafe"), ("PARIS", "paris")]),
        ("ＡＩ和１２３", [("ＡＩ", "ai"), ("１２３", "123")]),
        ("我在2024年用iPhone15拍了3.14张照片。", [("iPhone15", "iphone15")]),
        ("i love you [MASK] .", []),
        ("我爱你。", []),
        ("한국 , 한국", []),
    ],
)
def test_what_is_read_otherwise_than_typed_is_named(
    reader: TextReader, sentence: str, simplified: list[tuple[str, str]]
) -> None:
    assert reader.simplified(sentence) == simplified
    for typed, read in simplified:
        assert reader.read(typed).tokens == reader.read(read).tokens


def test_a_sign_without_a_meaning_is_named_and_no_stand_in_for_another(reader: TextReader) -> None:
    reading = reader.read("i love \ue000 you \uf8ff")
    assert reading.tokens == ["[CLS]", "i", "love", "[UNK]", "you", "[UNK]", "[SEP]"]
    assert reading.notes[0].values == {"symbols": ["\ue000", "\uf8ff"]}
    assert reader.read("ﷺ i love you").notes[0].values == {"symbols": ["ﷺ"]}  # one character, four pieces


def test_a_long_word_is_cut_like_any_other(reader: TextReader) -> None:
    assert [len(reader.read("x" * n).tokens) for n in (40, 41)] == [42, 43]


def test_a_mask_beyond_the_cut_is_mentioned(reader: TextReader) -> None:
    early, late = "[MASK] " + "word " * 80, "[MASK] " + "word " * 80 + "[MASK] [MASK]"
    assert [note.reason for note in reader.read(early).notes] == ["truncated"]
    (_, note) = reader.read(late).notes
    assert (note.reason, note.values) == ("mask_cut", {"count": 2})
    assert reader.read("word " * 500 + "[MASK]").notes[1].values == {"count": 1}  # cut off before tokenization


def test_a_text_is_cut_by_what_the_model_reads() -> None:
    long = "the cat sat on the mat . " * 900
    assert len(long) > 10 * MOST_CHARACTERS
    reading = TextReader(load_tokenizer(), 8192).read(long)
    assert len(reading.tokens) == 7 * 900 + 2 and reading.notes == ()
    assert len(TextReader(load_tokenizer(), 512).read(long).tokens) == 512
