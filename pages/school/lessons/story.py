"""What else is true of one run: what the pages ask in their stories. Nothing here knows Streamlit."""

import numpy as np

from model.analysis import placed
from model.cost import attention_cost, ffn_cost
from model.translator import TranslationTrace
from pages.school.lessons.case import Case, Pair, Truth, lead_of, on_itself

MOST_OPTIONS = 24  # tokens, or classes, of which one can be tapped
CLEAR = 0.02  # by which a first answer must lead where it is asked whether it stays
COUNTED = 0.01  # the share from which on an answer is counted
HARD = 0.5  # the weight from which on a head looks hard at a token
ALIKE, FAINTER = 0.15, 1 / 3  # weights that are nearly the same, and effects that are not


def read_class(case: Case) -> Truth | None:
    """The class that the network reads in the input. margin: by how much its probability leads the next."""
    if not case.answers or "word" in case.trace.axes("logits") or len(case.names) > MOST_OPTIONS:
        return None
    shares = case.shares(case.trace["logits"])
    first, second = (int(i) for i in np.argsort(-shares)[:2])
    said = {"best": case.names[first], "second": case.names[second], "size": len(shares)}
    said |= {"first": float(shares[first]), "then": float(shares[second])}
    bars = tuple((name, float(share)) for name, share in zip(case.names, shares, strict=True))
    margin, options = float(shares[first] - shares[second]), tuple(case.names)
    return Truth(case.names[first], margin, said, bars, {"token": case.token}, options=options, literal=True)


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


def favourites(case: Case) -> Truth | None:
    """How many different tokens the heads of a layer take most from, at the token. margin: the least lead of such a
    favourite; nothing where "all the same" would be right. Of several layers, the one in which that is clearest.
    """
    heads, i = case.trace.config.heads, case.token
    if heads < 2 or len(case.tokens) < 2:
        return None
    near, found, margin = float(heads > 4), case.layers[0], 0.0
    for layer in case.layers:
        weights = case.trace[f"layers.{layer}.attention.weights"][:, i]
        lead = min(map(lead_of, weights))
        if len(set(weights.argmax(axis=-1))) > 1 + near and lead > margin:
            found, margin = layer, lead
    name = f"layers.{found}.attention."
    weights, names = case.trace[name + "weights"][:, i], placed(case.tokens)
    best = weights.argmax(axis=-1)
    places, times = np.unique(best, return_counts=True)
    pushes = np.linalg.norm(case.trace[name + "contributions"][:, i].astype(np.float64), axis=-1)
    loudest = int(pushes.argmax())
    said = {"layer": found + 1, "token": names[i], "heads": heads, "count": len(places)}
    said |= {"most": names[places[times.argmax()]], "times": int(times.max())}
    said |= {"loudest": loudest + 1, "push": float(pushes[loudest]), "faintest": float(pushes.min())}
    bars = tuple((f"{head + 1} · {names[key]}", float(weights[head, key])) for head, key in enumerate(best))
    place = {"layer": found, "head": loudest, "token": i}
    return Truth(len(places), margin, said, bars, place, span=(1, heads), near=near, literal=True)


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


def in_the_race(case: Case) -> Truth | None:
    """How many words or classes get COUNTED or more. margin: how many: of few, "only one" would nearly be right."""
    if not case.answers:
        return None
    shares = case.shares(case.trace["logits"])
    count, order = int((shares >= COUNTED).sum()), np.argsort(-shares)
    said = {"best": case.names[int(order[0])], "first": float(shares[order[0]]), "count": count, "size": len(shares)}
    said |= {"together": float(shares[shares >= COUNTED].sum())}
    bars = tuple((case.names[int(i)], float(shares[i])) for i in order[:10])
    span = (1, len(shares))
    return Truth(count, float(count), said, bars, {"token": case.token}, span=span, factor=2.0, literal=True)


def looks_as_hard(case: Case) -> Truth | None:
    """Of two heads that look about as hard at another word, the one that the answer cannot do without. margin: how much
    of the probability moves without it; the other one moves a third of that at most.
    """
    heads = case.every_head
    if not case.answers or len(heads) < 2 or not case.affords(len(heads) + 1):
        return None
    weights = np.array([case.trace[f"layers.{layer}.attention.weights"][head, case.token] for layer, head in heads])
    keys, weight = weights.argmax(axis=-1), weights.max(axis=-1)
    now, *without = case.without_each
    moved = np.abs(np.array(without) - now).sum(axis=-1) / 2
    hard = [i for i in range(len(heads)) if keys[i] in case.visible and weight[i] > HARD]
    if not hard:
        return None
    one = max(hard, key=lambda i: moved[i])
    rest = [i for i in hard if abs(weight[i] - weight[one]) <= ALIKE and moved[i] <= FAINTER * moved[one]]
    if not rest:
        return None
    other = max(rest, key=lambda i: weight[i])
    best, names = int(now.argmax()), placed(case.tokens)
    called = {i: f"{heads[i][0] + 1}·{heads[i][1] + 1}" for i in (one, other)}
    said: dict[str, object] = {"token": names[case.token], "best": case.names[best], "value": float(now[best])}
    for which, i in (("needed", one), ("spared", other)):
        said |= {which: called[i], f"{which}_key": names[keys[i]], f"{which}_weight": float(weight[i])}
        said |= {f"{which}_moved": float(moved[i]), f"{which}_left": float(without[i][best])}
    first, second = sorted((one, other))
    for which, i in (("first", first), ("second", second)):
        said |= {which: called[i], f"{which}_key": names[keys[i]], f"{which}_weight": float(weight[i])}
    bars = tuple((called[i], float(moved[i])) for i in (first, second))
    layer, head = heads[one]
    place = {"layer": layer, "head": head, "token": case.token, "key": int(keys[one])}
    options = called[first], called[second]
    return Truth(called[one], float(moved[one]), said, bars, place, options=options, literal=True)


def read_to_write(case: Case) -> Truth | None:
    """Of a translation: which word of the source a step reads most. Taken is the last step of a head of the
    cross-attention that writes a word and takes most of what it takes from one; of several heads, that of the clearest.
    margin: how much it takes.
    """
    trace = case.trace
    if not isinstance(trace, TranslationTrace) or len(trace.tokens) > MOST_OPTIONS:
        return None
    decoder = trace.graph.decoder
    assert decoder is not None  # a translation has one
    words = [step for step, piece in enumerate(trace.written) if piece[:1].isalnum() and case.step in (None, step)]
    sources = [i for i, name in enumerate(trace.tokens) if name[:1].isalnum()]
    layers = range(decoder.layers) if case.layer is None else [case.layer]
    heads = range(decoder.heads) if case.head is None else [case.head]
    found, margin = None, 0.0
    for layer, head in ((layer, head) for layer in layers for head in heads):
        weights = trace[f"decoder.layers.{layer}.cross.weights"][head]
        clear = [step for step in words if weights[step].max() >= HARD and int(weights[step].argmax()) in sources]
        if clear and float(weights[clear[-1]].max()) > margin:
            found, margin = (layer, head, clear[-1]), float(weights[clear[-1]].max())
    if found is None:
        return None
    layer, head, step = found
    row, names = trace[f"decoder.layers.{layer}.cross.weights"][head, step], placed(trace.tokens)
    key = int(row.argmax())
    said = {"layer": layer + 1, "head": head + 1, "piece": trace.written[step], "key": names[key]}
    said |= {"share": float(row[key]), "tokens": len(names), "even": 1 / len(names)}
    bars = tuple((name, float(value)) for name, value in zip(names, row, strict=True))
    place = {"layer": layer, "head": head, "step": step, "token": key}
    return Truth(names[key], margin, said, bars, place, options=tuple(names[i] for i in sources), literal=True)


def only_token(case: Case) -> Truth | None:
    """The weight of an only token: see `on_itself`."""
    if len(case.tokens) > 1:
        return None

    def of(name: str, layer: int, head: int) -> float:
        return float(case.trace[f"layers.{layer}.attention.{name}"][head, 0, 0])

    score_of = case.score_of
    highest = max(of(score_of, *where) for where in case.heads)
    return on_itself(case.heads, of, {"heads": len(case.heads), "highest": highest}, {"token": 0}, score_of)


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
