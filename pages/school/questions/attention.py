"""Questions about attention: scores, weights, their division, the mask, and what a weight says."""

from dataclasses import replace

import numpy as np

from model import Edit, Pipeline, load
from model.analysis import placed
from model.gradients import twin
from model.origins import by_kind, by_place, of_reads
from model.pipeline import SPECIAL_TOKENS
from model.sources import nbytes, of_attention
from model.sweep import sweep
from pages.school.questions.case import CLEAR, SHARE, Case, Pair, Truth, first_answer, lead_of, on_itself, unscaled
from pages.school.questions.pictures import (
    heads_of_layer,
    own_scores,
    row_behind,
    row_of,
    weight_times_value,
    weights_undivided,
)
from pages.school.questions.question import question

MOST_OPTIONS = 24  # tokens of which one can be tapped
SURE = 0.2  # how clear it is why a head looks there, from which on no other is tried
MOST_BYTES = 100_000_000  # that the parts of a run may take
EVEN = 0.05  # how far from an even share a weight may be that is told as such


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
    at={"stage": "scaled"},
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
    bars = (("with", share), ("without", answer))
    return Truth(answer, answer - share, said, bars, pair.place, near=0.1)


@question(
    "back",
    "slide",
    least=0.3,
    minutes=4,
    page="attention",
    at={"stage": "weights"},
    equation="layers.{l}.attention.weights",
    picture=row_of("weights", covers="key"),
    covers=("back",),
)
def way_back(case: Case) -> Truth | None:
    """The weight from the other end of the pair. margin: how far the two are apart."""
    if (pair := case.pair) is None:
        return None
    weights = case.trace[f"layers.{pair.layer}.attention.weights"][pair.head]
    share, answer = float(weights[pair.query, pair.key]), float(weights[pair.key, pair.query])
    said = {**case.of_pair(pair), "share": share, "answer": answer}
    bars = (("there", share), ("back", answer))
    return Truth(answer, abs(share - answer), said, bars, pair.place, near=0.1)


@question(
    "alone",
    "slide",
    least=0.5,
    minutes=3,
    page="attention",
    at={"stage": "scaled"},
    equation="layers.{l}.attention.weights",
    picture=own_scores,
    covers=(),
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


@question(
    "brings",
    "tap",
    least=0.04,
    minutes=5,
    page="attention",
    at={"stage": "heads"},
    equation="layers.{l}.attention.heads",
    picture=weight_times_value,
)
def weighs_most(case: Case) -> Truth | None:
    """From which token a head brings most, where that is not the one that it takes most from: weight × the length of
    the value. Taken is the head in which that is clearest. margin: by how much it leads the next in that, as a share of
    it, or in the weights the other one, whichever is less.
    """
    trace, i = case.trace, case.token
    if trace.picture is not None or not 2 < len(case.tokens) <= MOST_OPTIONS:
        return None
    found, margin = None, 0.0
    for layer, head in case.heads:
        name = f"layers.{layer}.attention."
        row = trace[name + "weights"][head, i].astype(np.float64)
        brought = row * np.linalg.norm(trace[name + "V"][head].astype(np.float64), axis=-1)
        looked, most = int(row.argmax()), int(brought.argmax())
        clear = min(lead_of(row), lead_of(brought) / float(brought.max()))
        if looked != most and clear > margin:
            found, margin = (layer, head, looked, most, row, brought), clear
    if found is None:
        return None
    layer, head, looked, most, row, brought = found
    names = placed(case.tokens)
    said = {"layer": layer + 1, "head": head + 1, "query": names[i], "key": names[looked], "share": float(row[looked])}
    said |= {"most": names[most], "less": float(row[most])}
    said |= {"long": float(brought[most] / row[most]), "short": float(brought[looked] / row[looked])}
    bars = tuple((name, float(value)) for name, value in zip(names, brought, strict=True))
    place = {"layer": layer, "head": head, "token": i, "key": looked}
    return Truth(names[most], margin, said, bars, place, options=tuple(names), literal=True)


@question(
    "reason",
    "tap",
    least=0.2,
    minutes=4,
    page="attention",
    at={"stage": "weights", "why": "true"},
    equation="layers.{l}.attention.scaled",
    picture=row_of("weights", covers=""),
    covers=(),
)
def looked_for(case: Case) -> Truth | None:
    """Through what a token finds the one that it takes most from: its word, its place, or what attention brought there
    from others. Taken is the head with the largest share, if not nearly all, in which that is clear. margin: by how
    much the largest leads, as a share of all three.
    """
    trace, i, found, margin = case.trace, case.token, None, 0.0
    if trace.picture is not None or not case.visible or nbytes(trace) > MOST_BYTES or not by_place(trace.graph):
        return None

    known = of_reads(trace)
    rows = {where: trace[f"layers.{where[0]}.attention.weights"][where[1], i] for where in case.heads}
    for (layer, head), row in sorted(rows.items(), key=lambda one: -one[1].max()):
        key = int(row.argmax())
        if key not in case.visible or not SHARE[0] <= row[key] <= SHARE[1] or margin >= SURE:
            continue
        attention = trace.graph.sublayers(layer)[0]
        of = of_attention(trace, attention, head, queries=slice(i, i + 1), known=known)
        visible = np.isfinite(trace[f"layers.{layer}.attention.masked"][head, i : i + 1])
        _, above = of.above_mean(0, key, visible)
        kinds = by_kind(of, above)
        parts = {f"by_{kind}": kinds[kind] for kind in ("word", "place", "brought")}
        clear = lead_of(np.array([*parts.values()])) / sum(abs(part) for part in parts.values())
        if above.sum() > 0 and clear > margin:
            found, margin = (layer, head, key, float(row[key]), parts), clear
    if found is None:
        return None
    layer, head, key, share, parts = found
    answer = max(parts, key=parts.__getitem__)
    said = {**case.of_pair(Pair(layer, head, i, key)), "share": share, "part": parts[answer]}
    names = placed(case.tokens)
    said |= {"query": names[i], "key": names[key], "place": parts["by_place"], "brought": parts["by_brought"]}
    place = {"layer": layer, "head": head, "token": i, "key": key}
    return Truth(answer, margin, said, tuple(parts.items()), place, options=tuple(parts), told=(f"why_{answer}", "why"))


@question(
    "random",
    "slide",
    least=0.3,
    minutes=3,
    hints=2,
    page="attention",
    at={"stage": "weights", "twin": "true", "shown": "beside"},
    equation="layers.{l}.attention.weights",
    picture=row_of("weights", covers=""),
    covers=("random",),
)
def before_training(case: Case) -> Truth | None:
    """How much a token gave, in the same head with random weights, to the one that it takes most from. margin: how much
    less that is; nothing where the random head does not look nearly evenly there.
    """
    pair, ours = case.pair, (load("text"), load("digits"))
    if pair is None or case.pipeline not in ours or pair.key not in case.visible or not case.affords(1):
        return None
    key, reader = f"layers.{pair.layer}.attention.weights", case.pipeline.reader
    run = Pipeline(case.pipeline.name, twin(case.trace.config), reader)(tuple(case.trace.ids) or case.trace.subject)
    share, answer = (float(one[key][pair.head, pair.query, pair.key]) for one in (case.trace, run))
    even = 1 / len(case.tokens)
    said = {**case.of_pair(pair), "share": share, "answer": answer, "even": even, "count": len(case.tokens)}
    margin = share - answer if abs(answer - even) <= EVEN else 0.0
    return Truth(answer, margin, said, (("trained", share), ("random", answer)), pair.place, near=0.1)


@question(
    "even",
    "same",
    least=0.3,
    minutes=4,
    page="what_if",
    at={"panel": "inside"},
    equation="layers.{l}.attention.weights",
    picture=heads_of_layer,
    covers=("after", "other"),
)
def evenly(case: Case) -> Truth | None:
    """Whether the first answer stays where all heads of a layer look evenly at all tokens. Taken is the layer in which
    that moves least of the probability. margin: how little, as a share of what the layer that moves most does.
    """
    if not case.answers or len(case.tokens) < 2 or not case.affords(len(case.layers)):
        return None
    changes = [[Edit(f"layers.{layer}.attention.weights", "even")] for layer in case.layers]
    now, *even = case.changed([[], *changes])
    moved = [float(np.abs(there - now).sum() / 2) for there in even]
    least, most = int(np.argmin(moved)), int(np.argmax(moved))
    there, best = even[least], int(now.argmax())
    said = {"layer": case.layers[least] + 1, "answer": case.names[best], "before": float(now[best])}
    said |= {"after": float(there[best]), "then": case.names[int(there.argmax())], "moved": moved[least]}
    said |= {"other": case.layers[most] + 1, "other_moved": moved[most], "other_left": float(even[most][best])}
    bars = (("before", float(now[best])), ("after", float(there[best])), ("other", float(even[most][best])))
    answer = "same" if there.argmax() == best else "different"
    place = {"layer": case.layers[least], "token": case.token}
    clear = min(lead_of(now), lead_of(there)) >= CLEAR and answer == "same"
    margin = 1 - moved[least] / moved[most] if clear and moved[most] else 0.0
    return Truth(answer, margin, said, bars, place, options=("same", "different"))


@question(
    "causal",
    "same",
    least=0.1,
    minutes=4,
    page="attention",
    at={"stage": "masked"},
    equation="layers.{l}.attention.masked",
    picture=row_behind,
    covers=("without",),
)
def behind_a_mask(case: Case) -> Truth | None:
    """Whether the first answer stays where no token may look at those behind it. margin: how much of the probability
    moves; nothing where no word stands behind the token.
    """
    behind = [name for name in case.tokens[case.token + 1 :] if name not in SPECIAL_TOKENS]
    if case.trace.picture is not None or not behind:
        return None
    truth = first_answer(case, [Edit("layers.{l}.attention.masked", "causal")])
    said = {"behind": len(case.tokens) - case.token - 1}
    return truth and replace(truth, said=truth.said | said, told=(*truth.told, "why"))
