"""Sixty concurrent visitors of one server receive no word, drawing or edit of each other."""

import asyncio
import re

import numpy as np
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from model.loading import load_tokenizer
from pages.drawing.state import sketch
from pages.drawing.text import catalogue
from tests.classroom.server import Server
from tests.classroom.visitor import Visitor

WRITERS, DRAWERS, EDITORS = 35, 15, 10


async def words_of_their_own(server: Server) -> list[list[str]]:
    """Two words for each writer: single tokens, part of no other word, and absent from the pages themselves."""
    said = " ".join(catalogue("en").values())
    for link in ("s=the+cat+sat+.", "input=digit"):
        neutral = Visitor(server.address, listen=True)
        await neutral.open("attention", link)
        said += b"".join(neutral.heard).decode(errors="ignore")
        await neutral.close()
    vocabulary = load_tokenizer().get_vocab()
    rarest_first = sorted(vocabulary, key=vocabulary.get, reverse=True)
    words = [word for word in rarest_first if re.fullmatch("[a-z]{7,}", word)]
    all_words = " ".join(words)
    apart = [word for word in words if word not in said.lower() and all_words.count(word) == 1]
    return [apart[2 * number : 2 * number + 2] for number in range(WRITERS)]


def codes_of_their_own() -> list[str]:
    """Link codes of drawings, one for each drawer: examples with random dots."""
    dice = np.random.default_rng(0)
    pictures = [sketch.example_digits()[number % 10] / 255 for number in range(DRAWERS)]
    return [sketch.to_code(sketch.from_picture(np.maximum(one, dice.random((28, 28)) > 0.98))) for one in pictures]


async def write(visitor: Visitor, words: list[str]) -> None:
    """Open a link with a sentence, then type another."""
    await visitor.open("attention", f"s=the+{words[0]}+.&layer=2")
    await visitor.set(s=f"a {words[1]} and a dog .")


async def draw(visitor: Visitor, code: str) -> None:
    await visitor.open("attention", f"input=digit&ink={code}&layer=2")


async def edit(visitor: Visitor, strength: str) -> None:
    await visitor.open("attention", f"s=the+cat+sat+.&layer=2&edits=layers.0.attention.heads~scale~value.{strength}")
    await visitor.set(head=3)


def charts(visitor: Visitor) -> str:
    """The figures sent to a visitor."""
    messages = [ForwardMsg.FromString(data) for data in visitor.heard]
    return " ".join(message.delta.new_element.bidi_component.bytes.decode(errors="replace") for message in messages)


async def test_sixty_visitors_at_once_find_no_word_no_drawing_and_no_edit_of_each_other(server: Server) -> None:
    words, codes = await words_of_their_own(server), codes_of_their_own()
    assert len({word for pair in words for word in pair}) == 2 * WRITERS
    assert len(set(codes)) == DRAWERS
    strengths = [f"0.7310{number}1" for number in range(EDITORS)]
    writers = [Visitor(server.address, listen=True) for _ in words]
    drawers = [Visitor(server.address, listen=True) for _ in codes]
    editors = [Visitor(server.address, listen=True) for _ in strengths]
    await asyncio.gather(*map(write, writers, words), *map(draw, drawers, codes), *map(edit, editors, strengths))
    everyone = [*writers, *drawers, *editors]
    signs = words + [[code] for code in codes] + [[strength] for strength in strengths]
    for number, visitor in enumerate(everyone):
        heard = b"".join(visitor.heard).decode(errors="ignore")
        assert [sign for sign in signs[number] if sign not in heard] == [], "what others look for must be there"
        others = [sign for other, its in enumerate(signs) if other != number for sign in its]
        assert [sign for sign in others if sign in heard] == []
    for visitor, pair in zip(writers, words, strict=True):
        assert all(word in charts(visitor) for word in pair)
    for visitor in everyone:
        await visitor.close()
