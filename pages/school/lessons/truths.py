"""What is true of one run, for the questions of a lesson and of the pages: the true answer, the figures told with it,
and how clear it is. Nothing here knows Streamlit.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import combinations

import numpy as np

from model import Edit, EditError
from model.edits import head_off
from model.order import without_positions
from model.pipeline import SPECIAL_TOKENS
from model.sweep import sweep
from pages.school.lessons.case import Case, Truth, on_itself, unscaled
from pages.school.lessons.further import (
    before_training,
    behind_a_mask,
    empty_patches,
    encoder_runs,
    evenly,
    first_step,
    heads_side_by_side,
    learned_after,
    looked_for,
    looks_ahead,
    may_be_seen,
    neighbour,
    pieces_of_a_picture,
    read_at,
    same_word_elsewhere,
    weighs_most,
    without_ffn,
    without_places,
    word_and_place,
    written_by,
)
from pages.school.lessons.rows import Question
from pages.school.lessons.story import (
    best_fit,
    favourites,
    ffn_turns,
    in_the_race,
    looks_as_hard,
    only_token,
    read_class,
    read_to_write,
    twice_as_long,
)

MOST_BEANS = 24  # tokens among which beans can be shared by hand
CHANGED = 0.08  # from which on a deviation after LayerNorm is plainly not 1
CANDIDATES = 6  # tokens of which two change places
SEEN = 0.01  # the least share that a bar shows
DRAWN = 0.05  # that of a bar whose length is compared
UNEVEN = 1.5  # times an even step: what is much for one layer
ROUNDING = 1e-3  # what single precision may leave where nothing should change
MOST_TOGETHER = 12  # heads that are switched off together


# -- one for each question ----------------------------------------------------------------------------------------


def hidden_word(case: Case) -> Truth | None:
    """The word that the network would put there. margin: by how much its probability leads the next; nothing where that
    cannot be seen.
    """
    if not case.answers or "word" not in case.trace.axes("logits"):
        return None
    shares = case.shares(case.trace["logits"])
    first, second, third, *others = (int(i) for i in np.argsort(-shares)[:5])
    if case.names[first].startswith("##"):
        return None
    said: dict[str, object] = {"best": case.names[first], "second": case.names[second], "third": case.names[third]}
    said |= {"first": float(shares[first]), "then": float(shares[second]), "last": float(shares[third])}
    said |= {"size": len(shares)}
    bars = tuple((case.names[i], float(shares[i])) for i in (first, second, third, *others))
    margin = float(shares[first] - shares[second]) if shares[second] >= SEEN else 0.0
    return Truth(case.names[first], margin, said, bars, {"token": case.token}, literal=True)


def swapped(case: Case) -> Truth | None:
    """Without positions, two words change places: the answer stays the same. Taken are those whose swap moves the
    first answer most with positions. margin: by how much; nothing where anything moves without positions, too, or
    where the first answer there is too faint for a bar.
    """
    tokens, trace = case.tokens, case.trace
    near = sorted(case.visible, key=lambda i: abs(i - case.token))
    if (patches := trace.patches) is not None:  # those with most ink
        ink = np.zeros(len(tokens))
        ink[len(tokens) - len(patches) :] = patches.sum(axis=-1)
        near = sorted((i for i in case.visible if ink[i] > 0), key=lambda i: -ink[i])
    pairs = [pair for pair in combinations(sorted(near[:CANDIDATES]), 2) if tokens[pair[0]] != tokens[pair[1]]]
    if not case.answers or not pairs or not case.affords(len(pairs) + 4):
        return None
    none = without_positions(trace.graph)
    swaps = [Edit("embedding.tokens", "swap", token=one, from_token=other) for one, other in pairs]
    now, *moved = case.changed([[], *([swap] for swap in swaps)])
    output = int(now.argmax())
    strongest = int(np.argmax([abs(there[output] - now[output]) for there in moved]))
    there, (one, other) = moved[strongest], pairs[strongest]
    bare, bare_there = case.changed([[*none], [*none, swaps[strongest]]])
    still = float(np.abs(bare_there - bare).max())
    first = int(bare.argmax())
    figures = {"before": now[output], "after": there[output]}
    figures |= {"bare_before": bare[first], "bare_after": bare_there[first]}
    found = {name: float(share) for name, share in figures.items()}
    said = {"one": tokens[one], "other": tokens[other], **found}
    said |= {"answer": case.names[output], "bare": case.names[first]}
    seen = still <= ROUNDING and found["bare_before"] >= DRAWN
    margin = float(abs(there[output] - now[output])) if seen else 0.0
    place = {"token": one, "key": other}
    return Truth("same", margin, said, tuple(found.items()), place, options=("same", "different"))


def shared_out(case: Case) -> Truth | None:
    """How much the token takes from each in the head of its pair. margin: by how much the largest share leads."""
    pair = case.pair
    if pair is None or case.trace.picture is not None or len(case.tokens) > MOST_BEANS:
        return None
    row = case.trace[f"layers.{pair.layer}.attention.weights"][pair.head, pair.query]
    said = {**case.of_pair(pair), "beans": round(100 * float(row[pair.key])), "even": 100 / len(row)}
    names = tuple(case.tokens)
    bars = tuple((name, 100 * float(value)) for name, value in zip(names, row, strict=True))
    margin = float(row[pair.key] - np.partition(row, -2)[-2])
    answer = [100 * float(value) for value in row]
    return Truth(answer, margin, said, bars, pair.place, options=names, literal=True)


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
    bars = (("with", share), ("without", answer))
    return Truth(answer, answer - share, said, bars, pair.place, near=0.1)


def way_back(case: Case) -> Truth | None:
    """The weight from the other end of the pair. margin: how far the two are apart."""
    if (pair := case.pair) is None:
        return None
    weights = case.trace[f"layers.{pair.layer}.attention.weights"][pair.head]
    share, answer = float(weights[pair.query, pair.key]), float(weights[pair.key, pair.query])
    said = {**case.of_pair(pair), "share": share, "answer": answer}
    bars = (("there", share), ("back", answer))
    return Truth(answer, abs(share - answer), said, bars, pair.place, near=0.1)


def heads_off(case: Case) -> Truth | None:
    """How many heads, each switched off alone, change the first answer. margin: the narrowest lead of a first answer
    in all those runs; nothing where more than half of the heads do.
    """
    heads = case.every_head
    if not case.answers or len(heads) < 2 or not case.affords(len(heads) + MOST_TOGETHER + 1):
        return None
    off = [head_off(*where) for where in heads]
    now, alone = case.without_each[0], case.without_each[1:]
    best = int(now.argmax())
    two = np.sort(case.without_each, axis=1)[:, -2:]
    order = [int(i) for i in np.argsort(alone[:, best])]
    most = min(MOST_TOGETHER, len(off) - 1)
    rows = [[off[i] for i in order[:count]] for count in range(2, most + 1)]
    together = case.changed(rows) if rows else now[:0]  # of two heads one must stay
    fallen = [(count, row) for count, row in enumerate(together, 2) if row.argmax() != best]
    worst = order[0]
    said: dict[str, object] = {"best": case.names[best], "value": float(now[best]), "heads": len(heads)}
    said |= {"layer": heads[worst][0] + 1, "head": heads[worst][1] + 1, "left": float(alone[worst, best])}
    count = int((alone.argmax(axis=1) != best).sum())
    said |= {"count": count, "rest": len(heads) - count}
    if fallen:
        said |= {"together": fallen[0][0], "instead": case.names[int(fallen[0][1].argmax())]}
    bars = tuple((f"{heads[i][0] + 1}·{heads[i][1] + 1}", float(alone[i, best])) for i in order[:5])
    place = {"layer": heads[worst][0], "head": heads[worst][1], "token": case.token}
    margin = float((two[:, 1] - two[:, 0]).min()) if 2 * count <= len(heads) else 0.0
    told = ("why_some", "why") if count else ("why_none", *["why_together"] * bool(fallen), "why")
    near = max(1.0, count / 5)
    return Truth(count, margin, said, bars, place, span=(0, len(heads)), near=near, literal=True, told=told)


def sum_of_two(case: Case) -> Truth | None:
    """How long X + O is at the token. margin: how much of the two lengths added up is missing, as a share of them."""
    layer = case.pair.layer if case.pair else case.layers[0]
    attention = case.trace.graph.sublayers(layer)[0]
    keys = attention.before, attention.output, attention.sum
    before, found, added = (case.trace[key][case.token].astype(np.float64) for key in keys)
    x, o, answer = (float(np.linalg.norm(vector)) for vector in (before, found, added))
    if not x * o:
        return None
    angle = float(np.degrees(np.arccos(np.clip(before @ found / (x * o), -1, 1))))
    said = {
        "layer": layer + 1,
        "token": case.tokens[case.token],
        "x": x,
        "o": o,
        "answer": answer,
        "angle": round(angle),
    }
    span = (0.0, float(np.ceil(x + o + 1)))
    bars = (("x", x), ("o", o), ("sum", answer))
    place = {"layer": layer, "token": case.token}
    return Truth(answer, 1 - answer / (x + o), said, bars, place, span=span, near=0.05 * (x + o))


def spread_after_norm(case: Case) -> Truth | None:
    """The deviation of the token's numbers after LayerNorm: where it was furthest from 1 before, of the layers in which
    it is not 1 afterwards. margin: how far it is from 1 then, and from 0. Of RMSNorm nothing is asked.
    """
    graph = case.trace.graph
    if case.trace.config.norm == "rms":
        return None
    found = [(layer, i + 1, one) for layer in case.layers for i, one in enumerate(graph.sublayers(layer)) if one.norm]
    spread = [float(case.trace[one.norm][case.token].std()) for *_, one in found if one.norm]
    before_each = [float(case.trace[one.norm_reads][case.token].std()) for *_, one in found]
    margins = [min(abs(after - 1), after) for after in spread]
    clear = [i for i, margin in enumerate(margins) if margin >= CHANGED] or [int(np.argmax(margins))]
    shown = max(clear, key=lambda i: abs(before_each[i] - 1))
    (layer, sublayer, _), before, after = found[shown], before_each[shown], spread[shown]
    said = {"layer": layer + 1, "token": case.tokens[case.token], "before": before, "after": after, "number": sublayer}
    bars = (("before", before), ("normed", 1.0), ("after", after))
    place = {"layer": layer, "token": case.token, "sublayer": sublayer}
    return Truth("other", margins[shown], said, bars, place, options=("0", "1", "other"))


def first_known(case: Case) -> Truth | None:
    """From which layer on the final answer is the first. margin: by how much it leads there, and is behind before;
    nothing where it grows evenly.
    """
    if not case.answers:
        return None
    shares = case.pipeline.read_layers(case.trace, case.token).astype(np.float64)
    best = shares.argmax(axis=1)
    known = len(best) - 1
    while known and best[known - 1] == best[-1]:
        known -= 1
    if not known:
        return None
    final, before = int(best[-1]), int(best[known - 1])
    lead = shares[known, final] - np.partition(shares[known], -2)[-2]
    behind = shares[known - 1, before] - shares[known - 1, final]
    said = {"answer": case.names[final], "layer": known, "before": case.names[before], "layers": len(best) - 1}
    steps = np.diff(shares[:, final])
    said |= {"then": float(shares[known - 1, before]), "value": float(shares[-1, final])}
    said |= {"most": 1 + int(steps.argmax()), "gain": float(steps.max()), "even": float(steps.mean())}
    uneven = steps.max() >= UNEVEN * steps.mean() > 0
    bars = tuple((str(layer), float(row[final])) for layer, row in enumerate(shares))
    options = tuple(str(layer) for layer in range(len(best)))
    place = {"layer": known - 1, "token": case.token}
    return Truth(
        str(known), float(min(lead, behind)) if uneven else 0.0, said, bars, place, options=options, literal=True
    )


def alone(case: Case) -> Truth | None:
    """The weight of the token where each may look at itself only: see `on_itself`."""
    window = Edit("layers.{l}.attention.masked", "window", 0)
    if not case.affords(1):
        return None
    i, names = (
        case.token,
        [f"layers.{layer}.attention.{name}" for layer in case.layers for name in (case.score_of, "weights")],
    )
    run = sweep(case.pipeline, case.trace, [[window]], names, token=i)

    def of(name: str, layer: int, head: int) -> float:
        return float(run[f"layers.{layer}.attention.{name}"][0, head, i, i])

    return on_itself(case.heads, of, {"token": case.tokens[i]}, {"token": i}, case.score_of)


#: The measures that a question can name.
TRUTHS: dict[str, Callable[[Case], Truth | None]] = {
    truth.__name__: truth
    for truth in (
        hidden_word, swapped, shared_out, without_root, way_back, heads_off, sum_of_two, spread_after_norm,
        first_known, alone, read_class, best_fit, favourites, ffn_turns, in_the_race, looks_as_hard, read_to_write,
        only_token, twice_as_long, without_places, word_and_place, same_word_elsewhere, neighbour, pieces_of_a_picture,
        empty_patches, learned_after, looks_ahead, may_be_seen, encoder_runs, first_step, weighs_most, evenly,
        looked_for, before_training, written_by, heads_side_by_side, without_ffn, behind_a_mask, read_at,
    )
}  # fmt: skip


def truth_of(measure: str, case: Case) -> Truth | None:
    """What is true of this run; None where the question has no sense there, or is too much work."""
    try:
        return TRUTHS[measure](case)
    except EditError:  # this network has no such place to change
        return None


def clear_truth(question: Question, case: Case) -> Truth | None:
    """The true answer where the question is asked: where it is clear. What a teacher set down is."""
    if question.measure is None:
        own = question.own
        assert own is not None  # or there is nothing to ask
        return Truth(own.answer, 0.0, {}, (), {}, own.options, own.span, own.near, literal=True)
    truth = truth_of(question.measure, case)
    return truth if truth is not None and truth.margin >= question.least else None


def clearest_word(question: Question, case: Case, but: Collection[int]) -> int | None:
    """Of the words, all `but` a few, the one of which a question about a token and another is clearest; one that
    stands there once, if there is such. None where it cannot be asked of any.
    """
    count, margins = Counter(case.tokens), {}
    for token, name in enumerate(case.tokens):
        one = replace(case, token=token)
        truth = None if token in but or name in SPECIAL_TOKENS else clear_truth(question, one)
        if truth is not None and truth.place["key"] in one.visible:
            margins[token] = (count[name] == 1, truth.margin)
    return max(margins, key=margins.__getitem__, default=None)
