"""What the recipes for text read, and what they hold back to be measured on."""

import hashlib
import lzma
from pathlib import Path

LANGUAGES = ("en", "zh")
Pair = dict[str, str]  # language -> sentence


def sentences(data: Path, language: str) -> list[str]:
    with lzma.open(data / "text" / f"{language}.txt.xz", "rt", encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def letters(sentence: str) -> str:
    """What is left of a sentence whatever its case and punctuation."""
    return "".join(c for c in sentence.lower() if c.isalpha())


def held_out(sentence: str) -> bool:
    """True for the one sentence in a hundred that is never trained on to guess its hidden words."""
    return int.from_bytes(hashlib.sha256(letters(sentence).encode()).digest()[:4]) % 100 == 0


def read_pairs(data: Path) -> tuple[list[Pair], list[Pair]]:
    """(training, held out): no English sentence of one is in the other, and no Chinese sentence either."""
    with lzma.open(data / "pairs" / "pairs.tsv.xz", "rt", encoding="utf-8") as file:
        pairs = [dict(zip(LANGUAGES, line.rstrip("\n").split("\t"), strict=True)) for line in file]
    held = [pair for pair in pairs if held_out(pair["en"])]
    seen = {pair["zh"] for pair in held}
    return [pair for pair in pairs if not held_out(pair["en"]) and pair["zh"] not in seen], held


def held_sentences(data: Path, language: str) -> list[str]:
    """The sentences that are trained on neither to guess their words nor to translate them."""
    translated = {letters(pair[language]) for pair in read_pairs(data)[0]}
    return [line for line in sentences(data, language) if held_out(line) and letters(line) not in translated]
