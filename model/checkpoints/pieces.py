"""Pieces of a vocabulary in a readable form, the same for every family.

WordPiece marks pieces that continue a word: un, ##happy. Byte-level BPE (RoBERTa) and SentencePiece (XLM-RoBERTa,
CamemBERT) instead mark the space before a word, with Ġ or ▁; byte-level BPE also writes each byte as a character. Here,
## marks continuations in all of them. Punctuation and scripts without spaces are unmarked, with ␣ in front if the piece
includes a space, so that no two pieces look the same. Invisible characters and incomplete bytes are escaped as in
Python: \\xe6. In a sentence, pieces that together form one character are named after it: é 1/2, ##é 2/2.
"""

import re
from collections.abc import Iterator, Sequence
from unicodedata import category

from tokenizers import Tokenizer

from model.analysis import SPACE

JOINER = "\u200d"  # joins the parts of an emoji
#: Start of a word in a script with spaces: a letter or digit, but no Chinese character or kana.
WORD = re.compile(r"(?![\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[^\W_]")
AS_IT_IS = [*range(33, 127), *range(161, 173), *range(174, 256)]  # bytes that GPT-2's alphabet writes as themselves
#: GPT-2's alphabet, character -> byte; the other bytes are written as the characters from 256 on.
BYTES = {chr(byte): byte for byte in AS_IT_IS} | {
    chr(256 + i): byte for i, byte in enumerate(byte for byte in range(256) if byte not in AS_IT_IS)
}


def space_mark(tokenizer: Tokenizer) -> str:
    """The character for a space in the tokenizer's pieces: "Ġ", "▁", or "" if it marks none (WordPiece)."""
    kind = f"{tokenizer.pre_tokenizer!r} {tokenizer.decoder!r}"
    return "Ġ" if "ByteLevel" in kind else "▁" if "Metaspace" in kind else ""


def readable(piece: str, space: str) -> str:
    """A piece in readable form; for `space`, see `space_mark`."""
    return marked(bytes_of(piece, space).decode("utf-8", "surrogateescape")) if space else piece


def bytes_of(piece: str, space: str) -> bytes:
    """Bytes of a piece's text: "ĠÃ©tÃ©" -> " été". Other pieces, such as added tokens, are encoded as UTF-8."""
    if space == "Ġ" and BYTES.keys() >= set(piece):
        return bytes(BYTES[sign] for sign in piece)
    return (piece if space == "Ġ" else piece.replace(space, " ")).encode()


def marked(text: str) -> str:
    """Mark whether a text continues a word: " cat" -> "cat", "s" -> "##s", " ." -> "␣."."""
    begins, rest = text.startswith(" "), text.removeprefix(" ")
    if WORD.match(rest):
        return _seen(rest) if begins else f"##{_seen(rest)}"
    return (SPACE if begins else "") + _seen(rest).replace(" ", SPACE)


def _seen(text: str) -> str:
    """Escape invisible characters as Python does; bytes that are no character arrive as surrogates."""
    bare = (sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    return "".join("\\x" + one[-2:] if one.startswith("\\udc") else one for one in bare)


def unmarked(piece: str) -> str:
    """A piece at the start of a sentence or after a space, without its mark of continuation."""
    return piece.removeprefix(SPACE).removeprefix("##") or piece


def in_a_row(names: Sequence[str], pieces: Sequence[str], space: str) -> list[str]:
    """Names of consecutive pieces; parts of a character become "é 1/2", "##é 2/2"."""
    texts = [bytes_of(piece, space) for piece in pieces]
    owners = [place for place, text in enumerate(texts) for _ in text]
    parts: list[list[tuple[str, int, int]]] = [[] for _ in pieces]  # (character, number of its part, number of parts)
    at = 0
    for character in _characters(b"".join(texts).decode("utf-8", "surrogateescape")):
        size = len(character.encode("utf-8", "surrogateescape"))
        places = sorted(set(owners[at : at + size]))
        at += size
        for number, place in enumerate(places, 1):
            parts[place].append((character, number, len(places)))
    return [_of_parts(own) if any(n > 1 for *_, n in own) else name for name, own in zip(names, parts, strict=True)]


def _of_parts(parts: Sequence[tuple[str, int, int]]) -> str:
    """Name of a piece that may begin with the last part of a character and end with the first part of another."""
    (character, number, many), last = parts[0], parts[-1]
    later = f"##{_seen(character)} {number}/{many}" if number > 1 else ""
    own = "".join(one for one, number, _ in parts if number == 1)
    own = f"{later} {_seen(own)}".strip() if later else marked(own)
    own += f" 1/{last[2]}" * (last[1] == 1 < last[2])
    return own.replace("\\u200d", JOINER) if any(JOINER in one[1:-1] for one, *_ in parts) else own


def _characters(text: str) -> Iterator[str]:
    """Split a text into visible characters: letters with accents, emoji with skin tone, flags."""
    found = ""
    for sign in text:
        accent = category(sign).startswith("M") or "\U0001f3fb" <= sign <= "\U0001f3ff" or sign == JOINER
        flag = len(found) == 1 and all("\U0001f1e6" <= letter <= "\U0001f1ff" for letter in found + sign)
        if found and not found.isspace() and (accent or flag or found.endswith(JOINER)):
            found += sign
        else:
            if found:
                yield found
            found = sign
    if found:
        yield found
