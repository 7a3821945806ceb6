"""Questions about the parts of a layer, and about what each layer adds."""

from dataclasses import replace

import numpy as np

from model import load
from model.analysis import mean_likeness
from model.cost import attention_cost, ffn_cost
from model.gradients import gradient_lengths, twin
from model.sources import Part, all_of_it, leads_of, made_of, nbytes
from model.sweep import sweep
from model.without import without
from pages.school.questions.case import CLEAR, Case, Truth, first_answer, lead_of
from pages.school.questions.pictures import activations, cosines, deviations, lens, row_of
from pages.school.questions.question import question

CHANGED = 0.08  # from which on a deviation after LayerNorm is plainly not 1
UNEVEN = 1.5  # times an even step: what is much for one layer
MOST_BYTES = 100_000_000  # that the parts of a run may take
ALIKE = 0.9  # a mean cosine from which on tokens are nearly the same
CLEARLY = 1.5  # times as long: a gradient that plainly reaches further


@question(
    "residual",
    "slide",
    least=0.3,
    minutes=4,
    page="add_and_norm",
    at={"panel": "without"},
    equation="layers.{l}.add_1",
    picture=cosines,
    covers=("without",),
)
def without_residual(case: Case) -> Truth | None:
    """How alike all tokens are after the last layer, as a mean cosine, where no sub-layer adds what it read. margin:
    how much more than with the residual connections; nothing where they are not nearly the same.
    """
    graph, last = case.trace.graph, case.layers[-1]
    if len(case.tokens) < 3 or not case.affords(2):
        return None
    key = graph.stream(last)[-1]
    run = sweep(case.pipeline, case.trace, [[], [*without(graph, "residual")]], [key], token=case.token)[key]
    share, answer = (float(alike) for alike in mean_likeness(run))
    said: dict[str, object] = {"share": share, "answer": answer, "layers": len(case.layers)}
    told, ours = ["why"], (load("text"), load("digits"))
    if case.pipeline in ours:  # of a checkpoint, a random twin would take long to draw
        X_0 = case.trace.states()[0]
        network = twin(case.trace.config)
        least = [gradient_lengths(network, X_0, case.token, residual).min() for residual in (True, False)]
        with_it, without_it = map(float, least)
        if with_it > CLEARLY * without_it:
            said |= {"with_it": with_it, "without_it": without_it}
            told.append("why_gradient")
    margin = answer - share if answer >= ALIKE else 0.0
    bars = (("with", share), ("without", answer))
    place = {"layer": last, "token": case.token}
    return Truth(answer, margin, said, bars, place, near=0.1, told=tuple(told))


@question(
    "norm",
    "tap",
    least=0.05,
    minutes=3,
    page="add_and_norm",
    at={"panel": "values"},
    equation="layers.{l}.norm_1",
    picture=deviations,
)
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
    said["d_model"] = case.trace.config.d_model
    bars = (("before", before), ("normed", 1.0), ("after", after))
    place = {"layer": layer, "token": case.token, "sublayer": sublayer}
    return Truth("other", margins[shown], said, bars, place, options=("0", "1", "other"))


@question(
    "thinks",
    "same",
    least=0.1,
    minutes=4,
    page="feed_forward",
    at={"panel": "without"},
    equation="layers.{l}.ffn.output",
    picture=activations,
    covers=("without",),
)
def without_ffn(case: Case) -> Truth | None:
    """Whether the first answer stays without the feed-forward networks. margin: how much of the probability moves."""
    truth = first_answer(case, [*without(case.trace.graph, "ffn")])
    return truth and replace(truth, told=(*truth.told, "why"))


@question(
    "ffn",
    "same",
    least=0.1,
    minutes=4,
    page="layers",
    at={"panel": "lens"},
    equation="layers.{l}.ffn.output",
    picture=activations,
    covers=("after",),
)
def ffn_turns(case: Case) -> Truth | None:
    """Whether the first answer changes where the feed-forward network lifts the final one most, of the layers in which
    before and after it an answer leads clearly. margin: by how much it does.
    """
    if not case.answers:
        return None
    states = [case.trace[key] for layer in case.layers for key in case.trace.graph.stream(layer)[1:]]
    read = case.pipeline.read_states(np.stack(states), case.token).astype(np.float64)
    final = int(case.shares(case.trace["logits"]).argmax())
    lead = np.array([lead_of(shares) for shares in read])
    rise = np.where(np.minimum(lead[::2], lead[1::2]) >= CLEAR, read[1::2, final] - read[::2, final], 0.0)
    place = int(rise.argmax())
    before, after = read[2 * place], read[2 * place + 1]
    first, then = int(before.argmax()), int(after.argmax())
    said = {"layer": case.layers[place] + 1, "token": case.tokens[case.token], "answer": case.names[final]}
    said |= {"first": case.names[first], "first_share": float(before[first])}
    said |= {"then": case.names[then], "then_share": float(after[then])}
    said |= {"before": float(before[final]), "after": float(after[final])}
    bars = (("before", float(before[final])), ("after", float(after[final])))
    where = {"layer": case.layers[place], "token": case.token}
    answer = "same" if first == then else "different"
    return Truth(answer, float(rise[place]), said, bars, where, options=("same", "different"), told=(f"why_{answer}",))


@question("layer", "tap", least=0.02, minutes=4, hints=2, page="layers", at={"panel": "lens"}, picture=lens)
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


@question("author", "tap", least=0.1, minutes=4, page="answer", at={"panel": "wrote"}, picture=lens, covers=())
def written_by(case: Case) -> Truth | None:
    """The layer that has most in the lead of the first answer over the second: how far the lead falls where the head
    reads its vector without what that layer wrote. margin: by how much it leads the next layer, as a share of what all
    have.
    """
    if not case.answers or case.trace.graph.decoder or len(case.layers) < 2 or nbytes(case.trace) > MOST_BYTES:
        return None
    shares = case.shares(case.trace["logits"])
    best, second = (int(i) for i in np.argsort(-shares)[:2])
    whole = all_of_it(case.trace, best, second, case.token)
    parts = [part for part in made_of(case.trace, whole) if part.name.startswith("layers.")]
    layers = [[part for part in parts if part.name.startswith(f"layers.{layer}.")] for layer in case.layers]
    each = [Part("", None, sum(part.value for part in of)) for of in layers]
    leads = leads_of(case.trace, whole, [*each, *parts], best, second)
    of_layers, of_parts = leads[: len(each)], leads[len(each) :]
    first = int(of_layers.argmax())
    own = dict(zip((part.name for part in parts), of_parts.tolist(), strict=True))
    attention, ffn = (own[f"layers.{case.layers[first]}.{name}.output"] for name in ("attention", "ffn"))
    logits = np.atleast_2d(case.trace["logits"])[case.token if case.trace["logits"].ndim == 2 else 0]
    lead = float(logits[best] - logits[second])
    said = {"best": case.names[best], "second": case.names[second], "layer": case.layers[first] + 1}
    said |= {"lead": lead, "part": float(of_layers[first]), "attention": attention, "ffn": ffn}
    said |= {"left": lead - float(of_layers[first]), "even": float(of_layers.mean())}
    options = tuple(str(layer + 1) for layer in case.layers)
    bars = tuple(zip(options, of_layers.tolist(), strict=True))
    margin = lead_of(of_layers) / max(float(np.abs(of_layers).sum()), np.finfo(float).tiny)
    place = {"layer": case.layers[first], "token": case.token}
    told = ("why_attention" if attention > ffn else "why_ffn", "why")
    return Truth(options[first], margin, said, bars, place, options=options, literal=True, told=told)


@question(
    "twice",
    "tap",
    least=0.5,
    minutes=3,
    hints=2,
    page="shapes_and_cost",
    at={"panel": "cost"},
    picture=row_of("weights", covers=""),
    covers=("twice",),
)
def twice_as_long(case: Case) -> Truth | None:
    """How many times as many pairs of tokens there are in an input twice as long. It is always clear."""
    config, n = case.trace.config, len(case.tokens)
    if config.local:  # in some layers a token looks only at those that stand near
        return None
    cost, ffn = attention_cost(config, n), ffn_cost(config, n).number
    pairs = cost["scores"].number + cost["weighted_sum"].number
    said: dict[str, object] = {"n": n, "double": 2 * n, "looks": n * n, "more": 4 * n * n}
    said |= {"share": pairs / (pairs + cost["projections"].number + ffn)}
    said |= {"half": round(n * (cost["projections"].number + ffn) / pairs)}
    bars = (("now", n * n), ("twice", 4 * n * n))
    return Truth("× 4", 1.0, said, bars, {"token": case.token}, options=("× 2", "× 3", "× 4"))
