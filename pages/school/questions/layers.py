"""Questions about the parts of a layer, and about what each layer adds."""

from dataclasses import replace

import numpy as np

from model.activations import ACTIVATIONS
from model.analysis import mean_likeness
from model.measures.cost import attention_cost, ffn_cost
from model.measures.without import without
from pages.drawing.text.numbers import percent
from pages.school.questions.case import NEAR, Case, Truth, leads, share_left
from pages.school.questions.pictures import activations, cosines, deviations, lens, row_of
from pages.school.questions.question import question

UNEVEN = 1.5  # times a uniform step: a large change for one layer
ALIKE = 0.9  # mean cosine from which tokens count as nearly the same
TIMES = "× 1", "× 10", "× 100", "thousandfold"  # as large; the last or more


@question(
    "residual",
    "slide",
    least=0.3,
    minutes=4,
    page="add_and_norm",
    at={"tab": "ablation"},
    equation="layers.{l}.add_1",
    picture=cosines,
    bars=True,
)
def without_residual(case: Case) -> Truth | None:
    """Mean cosine of all tokens after the last layer without residual connections. margin: increase; 0 if tokens are
    not nearly the same.
    """
    if len(case.tokens) < 3 or not case.affords(2):
        return None
    states = case.without("residual")
    layers = states.shape[1]
    share, answer = (float(alike) for alike in mean_likeness(states[:, -1]))
    said = {"share": share, "layers": layers}
    margin = answer - share if answer >= ALIKE else 0.0
    bars = (("with", share), ("without", answer))
    place = {"layer": layers - 1, "token": case.token}
    return Truth(answer, margin, said, bars, place, near=NEAR)


@question(
    "norm",
    "tap",
    least=0.15,
    minutes=3,
    page="add_and_norm",
    at={"tab": "ablation"},
    equation="layers.{l}.norm_1",
    picture=deviations,
)
def without_norm(case: Case) -> Truth | None:
    """How many times larger the token's numbers are after the last layer without any LayerNorm. margin: powers of ten
    to the next option; 0 if they hardly grow. None for RMSNorm.
    """
    config = case.trace.config
    if config.norm == "rms" or not case.trace.graph.norms or not case.affords(2):
        return None
    now, bare = (float(value) for value in case.without("norm")[:, -1, case.token].std(axis=-1))
    power = float(np.log10(bare / now)) if bare > 0 < now else 0.0
    place = min(max(round(power), 0), len(TIMES) - 1)
    margin = min(power - place + 0.5, 1.0 if place == len(TIMES) - 1 else place + 0.5 - power) if place else 0.0
    said = {"token": case.tokens[case.token], "now": now, "bare": bare, "d_model": config.d_model}
    said["learned"] = "γ · x" if "norm" in config.unbiased else "γ · x + β"
    bars, told = (("with", now), ("without", bare)), ("why", "why_before" if config.norm_first else "why_after")
    return Truth(TIMES[place], margin, said, bars, {"token": case.token}, options=TIMES, told=told)


@question(
    "thinks",
    "slide",
    least=0.1,
    minutes=4,
    page="feed_forward",
    at={"tab": "without"},
    equation="layers.{l}.ffn.output",
    picture=activations,
    bars=True,
)
def without_ffn(case: Case) -> Truth | None:
    """The probability of the first answer without feed-forward networks. margin: how much of it they contribute."""
    if (truth := share_left(case, [*without(case.trace.graph, "ffn")])) is None:
        return None
    config = case.trace.config
    said: dict[str, object] = {"d_model": config.d_model, "d_ff": config.d_ff}
    said["activation"] = ACTIVATIONS[config.activation].name
    told = ("why", *["why_plain"] * (config.ffn == "plain"))
    return replace(truth, said=truth.said | said, told=told)


@question("layer", "tap", least=0.01, minutes=4, page="layers", at={"tab": "lens"}, picture=lens)
def first_known(case: Case) -> Truth | None:
    """After how many layers the final answer is first, and stays so. margin: its lead there and deficit before; 0 if
    it grows evenly.
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
    said = {"answer": case.names[final], "layer": known, "layers": len(best) - 1}
    said |= {"before": case.names[before], "then": float(shares[known - 1, before])}
    steps = np.diff(shares[:, final])
    uneven = steps.max() >= UNEVEN * steps.mean() > 0
    clear = uneven and leads(shares[-1]) and leads(shares[known - 1])
    bars = tuple((str(layer), float(row[final])) for layer, row in enumerate(shares))
    options = tuple(str(layer) for layer in range(len(best)))
    place = {"layer": known - 1, "token": case.token}
    return Truth(
        str(known), float(min(lead, behind)) if clear else 0.0, said, bars, place, options=options, literal=True
    )


@question(
    "twice",
    "tap",
    least=0.5,
    minutes=3,
    hints=2,
    page="shapes_and_cost",
    at={"tab": "cost"},
    picture=row_of("weights", covers=""),
    bars=True,
)
def twice_as_long(case: Case) -> Truth | None:
    """How many times as many pairs of tokens an input twice as long has. Always clear."""
    config, n = case.trace.config, len(case.tokens)
    if config.local or config.distance_terms or n < 2:  # not all are compared, or more than once; or it stays one
        return None
    cost, ffn = attention_cost(config, n), ffn_cost(config, n).number
    pairs = cost["scores"].number + cost["weighted_sum"].number
    said: dict[str, object] = {"n": n, "double": 2 * n, "looks": n * n, "more": 4 * n * n}
    said |= {"part": percent(pairs / (pairs + cost["projections"].number + ffn))}
    said |= {"half": round(n * (cost["projections"].number + ffn) / pairs)}
    bars = (("now", n * n), ("twice", 4 * n * n))
    return Truth("× 4", 1.0, said, bars, {"token": case.token}, options=("× 2", "× 3", "× 4"))
