"""The pieces of a vocabulary as a person reads them: the same marks for every family.

WordPiece writes un, ##happy. Byte-level BPE (RoBERTa) writes each byte as some sign, a space as Ġ; SentencePiece
(XLM-RoBERTa, CamemBERT) writes a space as ▁: these two mark where a word begins, not where it goes on. Here, as in
WordPiece, ## stands before what goes on a word. A sign, or a character of a script without spaces, stands as it is, and
has ␣ before it where its piece holds the space, too: so no two pieces look the same. What cannot be seen is written as
Python escapes it; bytes that are no whole character are, too: \\xe6.
"""

import re

from tokenizers import Tokenizer

SPACE = "␣"
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
    if space == "Ġ":
        return marked(from_bytes(piece))
    return marked(piece.replace(space, " ")) if space else piece


def from_bytes(piece: str) -> str:
    """The text of a byte-level piece: "ĠÃ©tÃ©" -> " été"; what was added to the alphabet's pieces is itself."""
    if not BYTES.keys() >= set(piece):
        return piece
    return bytes(BYTES[sign] for sign in piece).decode("utf-8", "backslashreplace")


def marked(text: str) -> str:
    """A piece of text with what tells whether it goes on a word: " cat" -> "cat", "s" -> "##s", " ." -> "␣."."""
    begins, rest = text.startswith(" "), text.removeprefix(" ")
    shown = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in rest)
    if WORD.match(rest):
        return shown if begins else f"##{shown}"
    return (SPACE if begins else "") + shown.replace(" ", SPACE)


def unmarked(piece: str) -> str:
    """The piece where a sentence begins, or behind a space: it goes on nothing."""
    return piece.removeprefix(SPACE).removeprefix("##") or piece
