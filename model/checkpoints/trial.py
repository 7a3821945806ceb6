"""Build an unknown tokenizer and try it on sample sentences, in a separate process.

Its files can make the library panic, use up memory, or loop forever. `tried` therefore runs this file as a script,
which can be killed, with the files' texts as its input. The script imports none of our modules, because `model` would
load torch; sentence_piece.py, which imports none either, is run by its path.
"""

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cachetools import TTLCache, cached

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from tokenizers.implementations import BertWordPieceTokenizer

SECONDS = 20  # for all sentences; a vocabulary of 250,000 pieces takes about two
MOST_MEMORY = 2 * 2**30  # bytes; 250,000 pieces need 0.8 · 10⁹
KEPT = 600  # seconds until a new trial: the machine may have been busy
MOST_PIECES = 20  # per character
MOST_ID = 10_000_000  # no weights have more rows, and to_str writes a tokenizer id by id
#: Special tokens by their keys in tokenizer_config.json -> our name (BERT's), then the names of RoBERTa and others.
ROLES = {
    "cls_token": ("[CLS]", "<s>", "<cls>"),
    "sep_token": ("[SEP]", "</s>", "<eos>"),
    "mask_token": ("[MASK]", "<mask>"),
    "unk_token": ("[UNK]", "<unk>"),
    "pad_token": ("[PAD]", "<pad>"),
}
LENGTH = 2000  # characters, the longest input of a page
SENTENCES = (
    "The cat's embeddings, [MASK] it slept by the door!",
    "i love you .",
    "我爱你，你也爱我吗？ ＡＩ café ﬁ ½ שלום مرحبا 한국어 ひらがな",
    "😀 👩‍👩‍👧 \ue000 \u0301 \u200d \x00 \x07 \t \\ \U000e0001",
    "",
    " ",
    "".join(map(chr, range(32, 127))) * (LENGTH // 95),
    "a" * LENGTH,
    "a " * (LENGTH // 2),
    " " * LENGTH,
    "1" * LENGTH,
    "." * LENGTH,
    "我" * LENGTH,
    "😀" * LENGTH,
    "[MASK]" * (LENGTH // 6),
)


@dataclass(frozen=True)
class Tried:
    """Result of a trial. reason: "", or a key of `errors.SENTENCES`. text: the tokenizer.json made from other files."""

    reason: str = ""
    why: str = ""  # one line, for "tokenizer_fails"
    most: int = 0  # largest id of a piece
    text: str = ""


def tried(kind: str, files: Sequence[str], said: Mapping[str, Any], seconds: float) -> Tried:
    """Build a tokenizer by MADE_OF[kind] from the files' texts, and try it on all SENTENCES, alone and in pairs.

    said: content of tokenizer_config.json.
    """
    return _tried(json.dumps((kind, files, said if kind in SETTINGS else {})).encode(), seconds)


@cached(TTLCache(16, KEPT), key=lambda given, seconds: (sha256(given).digest(), seconds))
def _tried(given: bytes, seconds: float) -> Tried:
    calm = os.environ | {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1", "RUST_BACKTRACE": "0"}
    script = [sys.executable, "-P", __file__]
    try:
        done = subprocess.run(script, input=given, capture_output=True, timeout=seconds, env=calm, check=False)
    except subprocess.TimeoutExpired:
        return Tried("tokenizer_slow")
    try:
        return Tried(**json.loads(done.stdout))
    except ValueError:  # the process died without a result
        return Tried("tokenizer_fails", f"its process ended with {done.returncode}")


# -- in the process ------------------------------------------------------------------------------------------------


def _limit_memory() -> None:
    """Limit memory to MOST_MEMORY, and be the first process killed when the machine runs out."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    except (ImportError, ValueError, OSError):  # missing on Windows, this limit on macOS: there only time is limited
        return


def _whole(text: str, _: Mapping[str, Any]) -> "Tokenizer":
    """From tokenizer.json."""
    from tokenizers import Tokenizer

    return Tokenizer.from_str(text)


def _word_piece(words: str, said: Mapping[str, Any]) -> "BertWordPieceTokenizer":
    """WordPiece from vocab.txt; normalisation by the settings, or by BERT's defaults."""
    from tokenizers.implementations import BertWordPieceTokenizer

    accents = said.get("strip_accents")
    return BertWordPieceTokenizer(
        {word.rstrip(): place for place, word in enumerate(words.removesuffix("\n").split("\n"))},
        lowercase=bool(said.get("do_lower_case", True)),
        strip_accents=None if accents is None else bool(accents),  # None: as `lowercase`
        handle_chinese_chars=bool(said.get("tokenize_chinese_chars", True)),
    )


def _letters(words: str, _: Mapping[str, Any]) -> "Tokenizer":
    """ESM's tokenizer: split into the entries of vocab.txt, the longest first; text between them is unknown."""
    from tokenizers import AddedToken, Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Sequence, Split, WhitespaceSplit
    from tokenizers.processors import TemplateProcessing

    signs = [line.strip() for line in words.splitlines()]
    vocabulary = {sign: place for place, sign in enumerate(signs)}
    usual = {role: next(name for name in names[::-1] if name in vocabulary) for role, names in ROLES.items()}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token=usual["unk_token"]))
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in usual.values()])
    known = "|".join(map(re.escape, sorted(filter(None, signs), key=len, reverse=True)))
    tokenizer.pre_tokenizer = Sequence([WhitespaceSplit(), Split(Regex(known), "isolated")])
    cls, sep = usual["cls_token"], usual["sep_token"]
    special = [(name, vocabulary[name]) for name in (cls, sep)]
    tokenizer.post_processor = TemplateProcessing(
        single=f"{cls} $A {sep}", pair=f"{cls} $A {sep} $B {sep}", special_tokens=special
    )
    return tokenizer


def _byte_level(pieces: str, merges: str, said: Mapping[str, Any]) -> "Tokenizer":
    """RoBERTa's byte-level BPE from vocab.json and merges.txt."""
    from tokenizers import AddedToken, Tokenizer, decoders
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from tokenizers.processors import RobertaProcessing

    vocabulary = json.loads(pieces)
    lines = [line for line in merges.removesuffix("\n").split("\n") if line and not line.startswith("#version")]
    pairs = (line.rstrip("\r").split(" ") for line in lines)
    tokenizer = Tokenizer(BPE(vocabulary, [(first, second) for first, second in pairs]))
    space = bool(said.get("add_prefix_space", False))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=space)
    tokenizer.decoder = decoders.ByteLevel()
    names = {role: next(name for name in usual[::-1] if name in vocabulary) for role, usual in ROLES.items()}
    mask = AddedToken(names["mask_token"], lstrip=True, special=True)
    others = [AddedToken(name, special=True) for role, name in names.items() if role != "mask_token"]
    tokenizer.add_special_tokens([*others, mask])
    sep, cls = ((names[role], vocabulary[names[role]]) for role in ("sep_token", "cls_token"))
    tokenizer.post_processor = RobertaProcessing(sep, cls, add_prefix_space=space)
    return tokenizer


def _sentence_piece(data: str, _: Mapping[str, Any]) -> "Tokenizer":
    """From a .spm file, decoded as latin-1."""
    from tokenizers import Tokenizer

    beside = runpy.run_path(str(Path(__file__).with_name("sentence_piece.py")))
    return Tokenizer.from_str(beside["tokenizer_json"](data.encode("latin-1")))


MADE_OF: dict[str, Callable[..., Any]] = {
    "whole": _whole, "words": _word_piece, "letters": _letters, "bytes": _byte_level, "sentence_piece": _sentence_piece
}  # fmt: skip
SETTINGS = ("words", "bytes")  # kinds that use tokenizer_config.json


def _read_all(kind: str, files: Sequence[str], said: Mapping[str, Any]) -> Tried:
    try:
        tokenizer = MADE_OF[kind](*files, said)
        most = max(tokenizer.get_vocab().values(), default=0)
        if most > MOST_ID:
            return Tried(most=most)
        text = "" if kind == "whole" else tokenizer.to_str()
        tokenizer.no_truncation()
        tokenizer.no_padding()
    except BaseException as error:  # including Rust's PanicException, which is no Exception
        return Tried("not_unigram" if type(error).__name__ == "NotUnigramError" else "damaged")
    try:
        for one, other in zip(SENTENCES, (*SENTENCES[1:], SENTENCES[0]), strict=True):
            for given in ((one,), (one, other)):
                ids = tokenizer.encode(*given).ids
                if len(ids) > MOST_PIECES * (sum(map(len, given)) + 10):
                    return Tried("tokenizer_fails", f"{len(ids)} pieces of {sum(map(len, given))} signs")
                most = max(most, *ids, 0)
            if tokenizer.normalizer:
                tokenizer.normalizer.normalize_str(one)
    except BaseException as error:
        return Tried("tokenizer_fails", (str(error).splitlines() or [type(error).__name__])[0][:100])
    return Tried(most=most, text=text)


if __name__ == "__main__":
    _limit_memory()
    print(json.dumps(vars(_read_all(*json.load(sys.stdin.buffer)))))
