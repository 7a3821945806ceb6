"""Questions about attention: scores, weights, their division, the mask, and what a weight says."""

from collections.abc import Iterator

import numpy as np

from model.analysis import placed
from model.pipeline import SPECIAL_TOKENS
from pages.school.questions.case import NEAR, Case, Pair, Truth, lead_of, share_left, unscaled
from pages.school.questions.pictures import CAUSAL, row_behind, row_of, values_mixed, weights_undivided
from pages.school.questions.question import question

MOST_OPTIONS = 24  # tokens of which one can be tapped
GROWN = 0.2  # least growth of a weight that counts
MOST_ADDED = 20  # most values shown as numbers in a picture


@question(
    "fit",
    "tap",
    least=0.7,
    minutes=4,
    page="attention",
    at={"stage": "scores"},
    equation="layers.{l}.attention.scores",
    picture=row_of("scores"),
)
def best_fit(case: Case) -> Truth | None:
    """Whose key matches the token's query best, in the head of its pair. margin: lead of its scaled score.

    None if that is the token itself, or if a score is more than q · k. T5 does not scale: its plain scores count.
    """
    if (pair := case.pair) is None or case.trace.picture is not None or len(case.tokens) > MOST_OPTIONS or case.adds_up:
        return None
    i, name = case.token, f"layers.{pair.layer}.attention."
    scaled = case.trace[name + ("scaled" if case.divides else "scores")][pair.head, i]
    found = pair._replace(key=int(scaled.argmax()))
    if found.key == i:
        return None
    scores = case.trace[name + "scores"][pair.head]
    names, fits_itself = placed(case.tokens), scores.argmax(axis=1) == np.arange(len(scores))
    said = {**case.of_pair(found), "score": float(scores[i, found.key])}
    said["own"] = float(scores[i, i])
    said |= {"selves": int(fits_itself.sum()), "all": len(names)}
    bars = tuple((name, float(score)) for name, score in zip(names, scores[i], strict=True))
    return Truth(names[found.key], lead_of(scaled), said, bars, found.place, options=tuple(names), literal=True)


@question(
    "weights",
    "chips",
    least=0.15,
    minutes=4,
    page="attention",
    at={"stage": "weights"},
    equation="layers.{l}.attention.weights",
    picture=row_of("weights"),
)
def shared_out(case: Case) -> Truth | None:
    """How the token divides its weight, in the head of its pair. margin: lead of the largest weight."""
    pair = case.next_pair
    if pair is None or case.trace.picture is not None or len(case.tokens) > MOST_OPTIONS:
        return None
    row = case.trace[f"layers.{pair.layer}.attention.weights"][pair.head, pair.query]
    said = {**case.of_pair(pair), "share": float(row[pair.key]), "rest": 1 - float(row[pair.key])}
    said |= {"others": len(row) - 1, "even": 1 / len(row)}
    names = tuple(placed(case.tokens))
    bars = tuple((name, 100 * float(value)) for name, value in zip(names, row, strict=True))
    answer, told = [100 * float(value) for value in row], ("why", "why_softmax", *["why_divided"] * case.divides)
    return Truth(answer, lead_of(row), said, bars, pair.place, options=names, literal=True, told=told)


@question(
    "values",
    "slide",
    least=0.25,
    minutes=4,
    page="attention",
    at={"tab": "steps", "stage": "heads"},
    equation="layers.{l}.attention.heads",
    picture=values_mixed,
    bars=True,
)
def mixed_values(case: Case) -> Truth | None:
    """A component of the head's output at the token: the weighted sum of the values.

    The component farthest from the plain mean of the values is asked. margin: that distance, relative to the values'
    span.
    """
    pair = case.next_pair
    if pair is None or case.trace.picture is not None or len(case.tokens) > MOST_ADDED:
        return None
    name = f"layers.{pair.layer}.attention."
    values = case.trace[name + "V"][pair.head]
    row, mixed = case.trace[name + "weights"][pair.head, pair.query], case.trace[name + "heads"][pair.head, pair.query]
    means, spans = values.mean(axis=0), np.ptp(values, axis=0)
    away = np.abs(mixed - means) / np.maximum(spans, np.finfo(np.float32).tiny)
    column = int(away.argmax())
    least, most = float(values[:, column].min()), float(values[:, column].max())
    answer, mean = float(mixed[column]), float(means[column])
    said = {**case.of_pair(pair), "column": column + 1, "share": float(row[pair.key]), "answer": answer, "mean": mean}
    said |= {"value": float(values[pair.key, column]), "others": len(row) - 1, "d_k": len(mixed)}
    bars = (("mixed", answer), ("mean", mean))
    span = float(np.floor(10 * least) / 10), float(np.ceil(10 * most) / 10)
    return Truth(answer, float(away[column]), said, bars, pair.place, span=span, near=(most - least) / 10)


@question(
    "root",
    "slide",
    least=GROWN,
    minutes=4,
    page="attention",
    at={"tab": "root"},
    equation="layers.{l}.attention.scaled",
    picture=weights_undivided,
)
def without_root(case: Case) -> Truth | None:
    """A weight without division by √d_k: that of the pair, or if it grows little, of the head in which it grows most.
    margin: its growth.
    """
    if not case.divides or not case.visible:
        return None
    grown = [(after - before, pair, before, after) for pair, before, after in _undivided(case)]
    if not grown:
        return None
    of_pair = [one for one in grown if one[1] == case.next_pair and one[0] >= GROWN]
    _, pair, share, answer = (of_pair or [max(grown)])[0]
    score = float(case.trace[f"layers.{pair.layer}.attention.scores"][pair.head, pair.query, pair.key])
    d_k = case.trace.config.d_k
    said = {**case.of_pair(pair), "score": score, "d_k": d_k, "root": d_k**0.5, "share": share}
    said["flat"] = flat = float(unscaled(case.trace, pair.layer, pair.head, pair.query, d_k)[pair.key])
    said |= {"scaled": score / d_k**0.5}
    bars = (("with", share), ("without", answer), ("by_d_k", flat))
    return Truth(answer, answer - share, said, bars, pair.place, near=NEAR)


def _undivided(case: Case) -> Iterator[tuple[Pair, float, float]]:
    """For each head, the token's largest weight, if on another word: divided by √d_k, and not."""
    for layer, head in case.heads:
        row = case.trace[f"layers.{layer}.attention.weights"][head, case.token]
        pair = Pair(layer, head, case.token, int(row.argmax()))
        if pair.key in case.visible or len(case.heads) == 1:
            yield pair, float(row[pair.key]), float(unscaled(case.trace, layer, head, case.token)[pair.key])


@question(
    "back",
    "slide",
    least=0.3,
    minutes=4,
    page="attention",
    at={"stage": "weights"},
    equation="layers.{l}.attention.weights",
    picture=row_of("weights", covers="key"),
    bars=True,
)
def way_back(case: Case) -> Truth | None:
    """The reverse weight of the pair. margin: difference of the two."""
    if (pair := case.next_pair) is None:
        return None
    weights = case.trace[f"layers.{pair.layer}.attention.weights"][pair.head]
    share, answer = float(weights[pair.query, pair.key]), float(weights[pair.key, pair.query])
    said = {**case.of_pair(pair), "share": share}
    bars = (("there", share), ("back", answer))
    return Truth(answer, abs(share - answer), said, bars, pair.place, near=NEAR)


@question(
    "causal",
    "slide",
    least=0.1,
    minutes=4,
    page="translation",
    at={"tab": "inside", "block": "attention", "stage": "masked"},
    equation="layers.{l}.attention.masked",
    picture=row_behind,
    bars=True,
)
def behind_a_mask(case: Case) -> Truth | None:
    """The probability of the first answer if no token may attend to later ones. margin: its change; None if no word
    follows the token.
    """
    behind = [name for name in case.tokens[case.token + 1 :] if name not in SPECIAL_TOKENS]
    if case.trace.picture is not None or not behind:
        return None
    return share_left(case, [CAUSAL], either=True)
