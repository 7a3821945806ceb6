"""Questions about attention: scores, weights, their division, the mask, and what a weight says."""

from dataclasses import replace

import numpy as np

from model.analysis import placed
from model.pipeline import SPECIAL_TOKENS
from pages.school.questions.case import Case, Pair, Truth, first_answer, lead_of, near_share, unscaled
from pages.school.questions.pictures import CAUSAL, row_behind, row_of, weights_undivided
from pages.school.questions.question import question

MOST_OPTIONS = 24  # tokens of which one can be tapped


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
    """Whose key fits the query of the token best. margin: by how much its scaled score leads the next; nothing where
    that is the token itself. Of several heads, the one in which that is clearest of another word. T5 scales no scores.
    Nothing is asked where a score is more than q · k.
    """
    if case.trace.picture is not None or not case.visible or len(case.tokens) > MOST_OPTIONS or case.adds_up:
        return None
    i, found, margin = case.token, None, 0.0
    for layer, head in case.heads:
        scaled = case.trace[f"layers.{layer}.attention.{'scaled' if case.divides else 'scores'}"][head, i]
        key, lead = int(scaled.argmax()), lead_of(scaled)
        if key != i and (key in case.visible or len(case.heads) == 1) and lead > margin:
            found, margin = Pair(layer, head, i, key), lead
    if found is None:
        return None
    scores = case.trace[f"layers.{found.layer}.attention.scores"][found.head]
    names, fits_itself = placed(case.tokens), scores.argmax(axis=1) == np.arange(len(scores))
    said = {**case.of_pair(found), "query": names[i], "key": names[found.key], "score": float(scores[i, found.key])}
    said |= {"own": float(scores[i, i]), "back": float(scores[found.key, i])}
    said |= {"selves": int(fits_itself.sum()), "all": len(names)}
    bars = tuple((name, float(score)) for name, score in zip(names, scores[i], strict=True))
    return Truth(names[found.key], margin, said, bars, found.place, options=tuple(names), literal=True)


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
    """How much the token takes from each in the head of its pair. margin: by how much the largest share leads."""
    pair = case.pair
    if pair is None or case.trace.picture is not None or len(case.tokens) > MOST_OPTIONS:
        return None
    row = case.trace[f"layers.{pair.layer}.attention.weights"][pair.head, pair.query]
    said = {**case.of_pair(pair), "share": float(row[pair.key]), "rest": 1 - float(row[pair.key])}
    said |= {"others": len(row) - 1, "even": 1 / len(row)}
    names = tuple(case.tokens)
    bars = tuple((name, 100 * float(value)) for name, value in zip(names, row, strict=True))
    margin = float(row[pair.key] - np.partition(row, -2)[-2])
    answer = [100 * float(value) for value in row]
    return Truth(answer, margin, said, bars, pair.place, options=names, literal=True)


@question(
    "root",
    "slide",
    least=0.2,
    minutes=4,
    page="attention",
    at={"panel": "root"},
    equation="layers.{l}.attention.scaled",
    picture=weights_undivided,
)
def without_root(case: Case) -> Truth | None:
    """What the weight of the pair would be without ÷ √d_k. margin: by how much it grows."""
    if (pair := case.pair) is None or not case.divides:
        return None
    name = f"layers.{pair.layer}.attention."
    share = float(case.trace[name + "weights"][pair.head, pair.query, pair.key])
    score = float(case.trace[name + "scores"][pair.head, pair.query, pair.key])
    answer = float(unscaled(case.trace, pair.layer, pair.head, pair.query)[pair.key])
    d_k = case.trace.config.d_k
    said = {**case.of_pair(pair), "score": score, "d_k": d_k, "root": d_k**0.5, "share": share, "answer": answer}
    said["flat"] = flat = float(unscaled(case.trace, pair.layer, pair.head, pair.query, d_k)[pair.key])
    said |= {"scaled": score / d_k**0.5, "inverse": d_k**-0.5, "even": 1 / len(case.tokens)}
    bars = (("with", share), ("without", answer), ("by_d_k", flat))
    return Truth(answer, answer - share, said, bars, pair.place, near=near_share(answer))


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
    """The weight from the other end of the pair. margin: how far the two are apart."""
    if (pair := case.pair) is None:
        return None
    weights = case.trace[f"layers.{pair.layer}.attention.weights"][pair.head]
    share, answer = float(weights[pair.query, pair.key]), float(weights[pair.key, pair.query])
    said = {**case.of_pair(pair), "share": share, "answer": answer}
    bars = (("there", share), ("back", answer))
    return Truth(answer, abs(share - answer), said, bars, pair.place, near=near_share(answer))


@question(
    "causal",
    "same",
    least=0.1,
    minutes=4,
    page="translation",
    at={"panel": "inside", "block": "attention", "stage": "masked"},
    equation="layers.{l}.attention.masked",
    picture=row_behind,
    bars=True,
)
def behind_a_mask(case: Case) -> Truth | None:
    """Whether the first answer stays where no token may look at those behind it. margin: how much of the probability
    moves; nothing where no word stands behind the token.
    """
    behind = [name for name in case.tokens[case.token + 1 :] if name not in SPECIAL_TOKENS]
    if case.trace.picture is not None or not behind:
        return None
    truth = first_answer(case, [CAUSAL])
    return truth and replace(truth, told=(*truth.told, "why"))
