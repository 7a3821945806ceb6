"""The part of a text that a question-answering head marks."""

from collections.abc import Sequence

import numpy as np

LONGEST = 15  # tokens, as in transformers' pipeline
APART = ("[CLS]", "[SEP]", "[PAD]")


def best_span(bounds: np.ndarray, tokens: Sequence[str]) -> tuple[int, int]:
    """First and last token of the part with the highest score, its start plus its end.

    bounds: (2, token). After a question, only the text is searched; in a single sentence, all but [CLS] and [SEP].
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
