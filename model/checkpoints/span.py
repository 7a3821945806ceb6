"""Which part of a text a question-answering head marks."""

from collections.abc import Sequence

import numpy as np

LONGEST = 15  # tokens; their library's pipeline takes none longer
APART = ("[CLS]", "[SEP]", "[PAD]")


def best_span(bounds: np.ndarray, tokens: Sequence[str]) -> tuple[int, int]:
    """The first and the last token of the part with the highest score: where it begins plus where it ends.

    bounds: (2, token). Of a question and a text, a part of the text; of one sentence, of all of it but its ends.
    """
    allowed = np.array([token not in APART for token in tokens])
    if "[SEP]" in tokens[:-1]:
        of_text = np.arange(len(tokens)) > list(tokens).index("[SEP]")
        allowed = allowed & of_text if (allowed & of_text).any() else allowed
    start, end = np.where(allowed, bounds, -np.inf)
    scores = start[:, None] + end
    first, last = np.indices(scores.shape)
    scores[(last < first) | (last >= first + LONGEST)] = -np.inf
    best = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(best[0]), int(best[1])
