"""Which pieces of a translation stand for which of the source: what cross-attention is compared with.

Nobody has aligned our sentence pairs by hand. So there are two yardsticks: a statistical alignment, and the few pairs
that leave no doubt, such as a figure or a full stop that stands once on either side.
"""

from collections import Counter

import numpy as np

ROUNDS = 6  # of expectation and maximisation
NOTHING = 0  # the source piece, [PAD]'s id, of target pieces that nothing stands for
SAME_SIGN = {",": "，", ".": "。", "?": "？", "!": "！", ":": "：", ";": "；"}


class Model1:
    """t(target piece | source piece), learned from sentence pairs by counting what stands together.

    IBM model 1 (Brown et al. 1993, section 4.1): every target piece is written by one source piece, or by none, and any
    source piece is as likely as any other before it is known what they are.
    """

    def __init__(self, sources: list[list[int]], targets: list[list[int]], pieces: int) -> None:
        """sources, targets: ids of both sides of each pair, without special tokens; pieces: the vocabulary's size."""
        self.pieces = pieces
        # One row for each target piece of each pair with each source piece of the same pair, NOTHING among them.
        together, asked, count = [], [], 0
        for source, target in zip(sources, targets, strict=True):
            s, t = np.array([NOTHING, *source]), np.array(target)
            together.append((s[None] * pieces + t[:, None]).ravel())
            asked.append(np.repeat(np.arange(count, count + len(t)), len(s)))
            count += len(t)
        self.known, row = np.unique(np.concatenate(together), return_inverse=True)
        asked = np.concatenate(asked)
        source_of = self.known // pieces
        self.t = np.ones(len(self.known))
        for _ in range(ROUNDS):
            likely = self.t[row]
            expected = np.bincount(row, likely / np.bincount(asked, likely)[asked])
            self.t = expected / np.bincount(source_of, expected)[source_of]

    def table(self, source: list[int], target: list[int]) -> np.ndarray:
        """t(target piece | source piece) as (target, source); 0 for what was never seen together."""
        wanted = np.array(source)[None] * self.pieces + np.array(target)[:, None]
        place = np.searchsorted(self.known, wanted).clip(max=len(self.known) - 1)
        return np.where(self.known[place] == wanted, self.t[place], 0)


def align(forth: Model1, back: Model1, source: list[int], target: list[int]) -> np.ndarray:
    """(target, source) of booleans: True where each is the other's likeliest partner.

    Both directions must agree (Och and Ney 2003, section 4): few pieces are aligned, and few of those wrongly.
    """
    there, again = forth.table(source, target), back.table(target, source).T
    nothing = forth.table([NOTHING], target)
    chosen = (there == there.max(1, keepdims=True)) & (there > nothing)
    return chosen & (again == again.max(0, keepdims=True)) & (again > 0)


def anchors(source: list[str], target: list[str]) -> np.ndarray:
    """(target, source) of booleans: True for equal pieces and signs of the same meaning, each once on its side."""

    def named(tokens: list[str]) -> list[str]:
        return [SAME_SIGN.get(token, token) for token in tokens]

    source, target = named(source), named(target)
    left, right = Counter(source), Counter(target)
    once = {word for word in left if left[word] == right[word] == 1 and word != "[UNK]"}
    return np.array([[s == t and s in once for s in source] for t in target])
