"""A tokenizer that nobody has looked at, made and tried on some sentences in a process of its own.

What stands in its files can fail in ways that no `except Exception` catches, take all memory, or never end. So they are
first read here, where that can be ended: `tried` starts this very file as a script, with the texts of the files as its
input. The script imports nothing of ours but its neighbour without imports: `model` would load torch.
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

SECONDS = 20  # in which all sentences must be read; a vocabulary of 250,000 pieces takes about two
MOST_MEMORY = 2 * 2**30  # bytes; 250,000 pieces take 0.8 · 10⁹
KEPT = 600  # seconds: it may have been the machine that was too busy
MOST_PIECES = 20  # of each sign
MOST_ID = 10_000_000  # more than the rows of any weights that are read; a tokenizer is written id by id
#: The roles of tokens that stand for no word, as tokenizer_config.json names them -> as we print them, which is what
#: BERT calls them; and as RoBERTa and its kin call them.
ROLES = {
    "cls_token": ("[CLS]", "<s>", "<cls>"),
    "sep_token": ("[SEP]", "</s>", "<eos>"),
    "mask_token": ("[MASK]", "<mask>"),
    "unk_token": ("[UNK]", "<unk>"),
    "pad_token": ("[PAD]", "<pad>"),
}
LENGTH = 2000  # of the longest sentences: pages read no more
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
    """What came of it. reason: "" where all went well, else a key of `errors.SENTENCES`. text: the tokenizer.json that
    was made of other files.
    """

    reason: str = ""
    why: str = ""  # of "tokenizer_fails": one line
    most: int = 0  # the largest id of a piece
    text: str = ""


def tried(kind: str, files: Sequence[str], said: Mapping[str, Any], seconds: float) -> Tried:
    """The tokenizer that MADE_OF[kind] makes of the texts of these files, tried on all SENTENCES, alone and in pairs.

    said: what tokenizer_config.json says.
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
    except ValueError:  # it was ended before it said anything
        return Tried("tokenizer_fails", f"its process ended with {done.returncode}")


# -- in the process ------------------------------------------------------------------------------------------------


def _limit_memory() -> None:
    """At most MOST_MEMORY; and where the machine has none left, this process is the first to go."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    except (ImportError, ValueError, OSError):  # Windows has none, macOS not this one: there time is the only limit
        return


def _whole(text: str, _: Mapping[str, Any]) -> "Tokenizer":
    """Of a tokenizer.json."""
    from tokenizers import Tokenizer

    return Tokenizer.from_str(text)


def _word_piece(words: str, said: Mapping[str, Any]) -> "BertWordPieceTokenizer":
    """With the words of vocab.txt; a text is made plain as the settings say, or by default."""
    from tokenizers.implementations import BertWordPieceTokenizer

    accents = said.get("strip_accents")
    return BertWordPieceTokenizer(
        {word.rstrip(): place for place, word in enumerate(words.removesuffix("\n").split("\n"))},
        lowercase=bool(said.get("do_lower_case", True)),
        strip_accents=None if accents is None else bool(accents),  # None: where all is in small letters
        handle_chinese_chars=bool(said.get("tokenize_chinese_chars", True)),
    )


def _letters(words: str, _: Mapping[str, Any]) -> "Tokenizer":
    """As ESM cuts: into the signs of vocab.txt, the longest first; what stands between two of them is unknown."""
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
    """As RoBERTa cuts: with the pieces of vocab.json, put together by merges.txt."""
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
    """Of a .spm file, each byte of which is a sign here."""
    from tokenizers import Tokenizer

    beside = runpy.run_path(str(Path(__file__).with_name("sentence_piece.py")))
    return Tokenizer.from_str(beside["tokenizer_json"](data.encode("latin-1")))


MADE_OF: dict[str, Callable[..., Any]] = {
    "whole": _whole, "words": _word_piece, "letters": _letters, "bytes": _byte_level, "sentence_piece": _sentence_piece
}  # fmt: skip
SETTINGS = ("words", "bytes")  # that heed tokenizer_config.json


def _read_all(kind: str, files: Sequence[str], said: Mapping[str, Any]) -> Tried:
    try:
        tokenizer = MADE_OF[kind](*files, said)
        most = max(tokenizer.get_vocab().values(), default=0)
        if most > MOST_ID:
            return Tried(most=most)
        text = "" if kind == "whole" else tokenizer.to_str()
        tokenizer.no_truncation()
        tokenizer.no_padding()
    except BaseException as error:  # whatever it is: a panic of Rust's is no Exception
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
