"""Questions about heads: why there are several, what W_O does, and what one of them is worth."""

import numpy as np

from model.analysis import placed
from model.edits import head_off
from pages.drawing.text.numbers import decimal, last
from pages.school.questions.case import NEAR, Case, Truth, leads
from pages.school.questions.pictures import concatenated, every_head, heads_and_mean
from pages.school.questions.question import question

MOST_TOGETHER = 12  # heads that are switched off together


@question(
    "blur",
    "slide",
    least=0.15,
    minutes=4,
    page="heads",
    equation="layers.{l}.attention.heads",
    picture=heads_and_mean,
    bars=True,
)
def blurred(case: Case) -> Truth | None:
    """The largest weight of the token in the mean of a layer's heads, for the layer in which heads differ most. margin:
    how much larger the mean of the heads' largest weights is.
    """
    heads, i = case.trace.config.heads, case.token
    if heads < 2 or len(case.tokens) < 3:
        return None
    rows = {layer: case.trace[f"layers.{layer}.attention.weights"][:, i].astype(np.float64) for layer in case.layers}
    found = max(rows, key=lambda layer: rows[layer].max(axis=-1).mean() - rows[layer].mean(axis=0).max())
    weights = rows[found]
    answer, each = float(weights.mean(axis=0).max()), float(weights.max(axis=-1).mean())
    said = {"layer": found + 1, "token": placed(case.tokens)[i], "heads": heads, "each": each}
    said |= {"d_k": case.trace.config.d_k, "count": len(set(weights.argmax(axis=-1).tolist()))}
    bars = (("each", each), ("mean", answer))
    place = {"layer": found, "head": int(weights.max(axis=-1).argmax()), "token": i}
    return Truth(answer, each - answer, said, bars, place, near=NEAR)


@question(
    "mixed",
    "number",
    least=1,
    minutes=4,
    page="heads",
    at={"tab": "mixed", "stage": "output"},
    equation="layers.{l}.attention.output",
    picture=concatenated,
    bars=True,
)
def heads_side_by_side(case: Case) -> Truth | None:
    """How many numbers of a row a head could change without W_O, when heads are only concatenated. margin: how many
    more with it.
    """
    config = case.trace.config
    d_k, heads, d_model = config.d_k, config.heads, config.d_model
    if heads < 2 or heads * d_k != d_model:
        return None
    parts = (case.trace[f"layers.{layer}.attention.contributions"][:, case.token] for layer in case.layers)
    reached = min(int(np.count_nonzero(each, axis=-1).min()) for each in parts)
    said = {"token": placed(case.tokens)[case.token], "heads": heads, "d_k": d_k, "d_model": d_model}
    bars = (("with", reached), ("without", d_k))
    return Truth(d_k, reached - d_k, said, bars, {"token": case.token}, span=(1, d_model))


@question("heads", "number", least=0.01, minutes=6, page="what_if", at={"tab": "heads"}, picture=every_head)
def heads_off(case: Case) -> Truth | None:
    """How many heads, each switched off alone, change the first answer. margin: the smallest lead of a first answer in
    these runs; 0 if more than half of the heads do.
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
    fallen = [(count, row) for count, row in enumerate(together, 2) if row.argmax() != best and leads(row)]
    worst = order[0]
    said = {"best": case.names[best], "heads": len(heads)}
    said |= {"layer": heads[worst][0] + 1, "head": heads[worst][1] + 1, "left": float(alone[worst, best])}
    count = int((alone.argmax(axis=1) != best).sum())
    said |= {"count": count, "rest": len(heads) - count}
    if fallen:
        said |= {"together": fallen[0][0], "instead": case.names[int(fallen[0][1].argmax())]}
    bars = tuple((f"{heads[i][0] + 1}·{heads[i][1] + 1}", float(alone[i, best])) for i in order[:5])
    place = {"layer": heads[worst][0], "head": heads[worst][1], "token": case.token}
    margin = float((two[:, 1] - two[:, 0]).min()) if 2 * count <= len(heads) else 0.0
    told = ("why_some" if count else "why_none", *["why_worst"] * last(alone[:, best], decimal).ahead)
    told += (*["why_together"] * bool(fallen and not count), "why")
    near = max(1.0, count / 5)
    return Truth(count, margin, said, bars, place, span=(0, len(heads)), near=near, literal=True, told=told)
