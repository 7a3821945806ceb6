"""The pieces of a vocabulary as a person reads them: the same marks for every family.

WordPiece writes un, ##happy. Byte-level BPE (RoBERTa) writes each byte as some sign, a space as Ġ; SentencePiece
(XLM-RoBERTa, CamemBERT) writes a space as ▁: these two mark where a word begins, not where it goes on. Here, as in
WordPiece, ## stands before what goes on a word. A sign, or a character of a script without spaces, stands as it is, and
has ␣ before it where its piece holds the space, too: so no two pieces look the same. What cannot be seen is written as
Python escapes it; bytes that are no whole character are, too: \\xe6. In a sentence, the pieces that make up one
character have its name: é 1/2, ##é 2/2.
"""

import re
from collections.abc import Iterator, Sequence
from unicodedata import category

from tokenizers import Tokenizer

from model.analysis import SPACE

JOINER = "\u200d"  # between the parts of an emoji
#: What is written in words that spaces part: it begins with a letter or figure, not with a Chinese character or kana.
WORD = re.compile(r"(?![\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[^\W_]")
AS_IT_IS = [*range(33, 127), *range(161, 173), *range(174, 256)]  # bytes that GPT-2's alphabet writes as themselves
#: GPT-2's alphabet: sign -> byte. All other bytes are the signs from number 256 on.
BYTES = {chr(byte): byte for byte in AS_IT_IS} | {
    chr(256 + i): byte for i, byte in enumerate(byte for byte in range(256) if byte not in AS_IT_IS)
}


def space_mark(tokenizer: Tokenizer) -> str:
    """What stands for a space in the tokenizer's pieces: "Ġ", "▁", or "" where it marks no spaces (WordPiece)."""
    kind = f"{tokenizer.pre_tokenizer!r} {tokenizer.decoder!r}"
    return "Ġ" if "ByteLevel" in kind else "▁" if "Metaspace" in kind else ""


def readable(piece: str, space: str) -> str:
    """A piece as it is shown; space: see `space_mark`."""
    return marked(bytes_of(piece, space).decode("utf-8", "surrogateescape")) if space else piece


def bytes_of(piece: str, space: str) -> bytes:
    """The text of a piece, in bytes: "ĠÃ©tÃ©" -> " été"; what was added to the alphabet's pieces is itself."""
    if space == "Ġ" and BYTES.keys() >= set(piece):
        return bytes(BYTES[sign] for sign in piece)
    return (piece if space == "Ġ" else piece.replace(space, " ")).encode()


def marked(text: str) -> str:
    """A piece of text with what tells whether it goes on a word: " cat" -> "cat", "s" -> "##s", " ." -> "␣."."""
    begins, rest = text.startswith(" "), text.removeprefix(" ")
    if WORD.match(rest):
        return _seen(rest) if begins else f"##{_seen(rest)}"
    return (SPACE if begins else "") + _seen(rest).replace(" ", SPACE)


def _seen(text: str) -> str:
    """A text with what cannot be seen as Python escapes it; a byte that is no character is a surrogate in it."""
    bare = (sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    return "".join("\\x" + one[-2:] if one.startswith("\\udc") else one for one in bare)


def unmarked(piece: str) -> str:
    """The piece where a sentence begins, or behind a space: it goes on nothing."""
    return piece.removeprefix(SPACE).removeprefix("##") or piece


def in_a_row(names: Sequence[str], pieces: Sequence[str], space: str) -> list[str]:
    """Names of pieces that stand side by side: of each that holds a part of a character, "é 1/2", "##é 2/2"."""
    texts = [bytes_of(piece, space) for piece in pieces]
    owners = [place for place, text in enumerate(texts) for _ in text]
    parts: list[list[tuple[str, int, int]]] = [[] for _ in pieces]  # a character, which part of it, of how many
    at = 0
    for character in _characters(b"".join(texts).decode("utf-8", "surrogateescape")):
        size = len(character.encode("utf-8", "surrogateescape"))
        places = sorted(set(owners[at : at + size]))
        at += size
        for number, place in enumerate(places, 1):
            parts[place].append((character, number, len(places)))
    return [_of_parts(own) if any(n > 1 for *_, n in own) else name for name, own in zip(names, parts, strict=True)]


def _of_parts(parts: Sequence[tuple[str, int, int]]) -> str:
    """The name of a piece by its characters, of which it holds the last part of the first, the first of the last."""
    (character, number, many), last = parts[0], parts[-1]
    later = f"##{_seen(character)} {number}/{many}" if number > 1 else ""
    own = "".join(one for one, number, _ in parts if number == 1)
    own = f"{later} {_seen(own)}".strip() if later else marked(own)
    own += f" 1/{last[2]}" * (last[1] == 1 < last[2])
    return own.replace("\\u200d", JOINER) if any(JOINER in one[1:-1] for one, *_ in parts) else own


def _characters(text: str) -> Iterator[str]:
    """The text in characters as they are seen: a letter with its accents, an emoji with its colour of skin."""
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
