"""A tokenizer that nobody has looked at, tried on some sentences in a process of its own.

What stands in a tokenizer.json can fail in ways that no `except Exception` catches, take all memory, or never end. So
it is first read here, where it can be ended: `tried` starts this very file as a script, with the text of the
tokenizer.json as its input. The script imports nothing of ours: that would load torch.
"""

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cachetools import TTLCache, cached

SECONDS = 20  # in which all sentences must be read; a vocabulary of 250,000 pieces takes about two
MOST_MEMORY = 2 * 2**30  # bytes; 250,000 pieces take 0.8 · 10⁹
KEPT = 600  # seconds: it may have been the machine that was too busy
MOST_PIECES = 20  # of each sign
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
    """What came of it. reason: "" where all went well, or "damaged", "tokenizer_fails", "tokenizer_slow"."""

    reason: str = ""
    why: str = ""  # of "tokenizer_fails": one line
    most: int = 0  # the largest id of a piece


@cached(TTLCache(16, KEPT), key=lambda text, seconds: (sha256(text.encode()).digest(), seconds))
def tried(text: str, seconds: float) -> Tried:
    """The tokenizer of this tokenizer.json, tried on all SENTENCES, alone and in pairs."""
    calm = os.environ | {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1", "RUST_BACKTRACE": "0"}
    script = [sys.executable, "-P", __file__]
    try:
        done = subprocess.run(script, input=text.encode(), capture_output=True, timeout=seconds, env=calm, check=False)
    except subprocess.TimeoutExpired:
        return Tried("tokenizer_slow")
    try:
        return Tried(**json.loads(done.stdout))
    except ValueError:  # it was ended before it said anything
        return Tried("tokenizer_fails", f"its process ended with {done.returncode}")


def _limit_memory() -> None:
    """At most MOST_MEMORY; and where the machine has none left, this process is the first to go."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    except (ImportError, ValueError, OSError):  # Windows has none, macOS not this one: there time is the only limit
        return


def _read_all(text: str) -> Tried:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_str(text)
        tokenizer.no_truncation()
        tokenizer.no_padding()
    except BaseException:  # whatever it is: a panic of Rust's is no Exception
        return Tried("damaged")
    most = max(tokenizer.get_vocab().values(), default=0)
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
    return Tried(most=most)


if __name__ == "__main__":
    _limit_memory()
    print(json.dumps(vars(_read_all(sys.stdin.buffer.read().decode()))))
