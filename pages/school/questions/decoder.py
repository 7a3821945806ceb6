"""Questions about encoder and decoder."""

import numpy as np

from model.analysis import placed
from model.translator import TranslationTrace
from pages.school.questions.case import Case, Truth, on_itself
from pages.school.questions.pictures import cross_attention, mean_of_all, own_scores, staircase
from pages.school.questions.question import question

MOST_OPTIONS = 24  # tokens of which one can be tapped
HARD = 0.5  # the weight from which on a head looks hard at a token
FEW = 3  # pieces that are written: of fewer, "once for each" is nearly once


@question(
    "ahead",
    "slide",
    least=0.15,
    minutes=4,
    page="heads",
    at={"panel": "average"},
    equation="layers.{l}.attention.weights",
    picture=mean_of_all,
    covers=(),
)
def looks_ahead(case: Case) -> Truth | None:
    """How much of what the token takes, on average over all heads, stands behind it. margin: how much."""
    trace, i = case.trace, case.token
    if trace.picture is not None or i + 1 >= len(case.tokens):
        return None
    rows = trace.over_layers("attention.weights")[:, :, i].astype(np.float64)  # (layer, head, key)
    ahead, back = float(rows[..., i + 1 :].sum(-1).mean()), float(rows[..., :i].sum(-1).mean())
    said = {"token": placed(case.tokens)[i], "answer": ahead, "back": back, "own": 1 - ahead - back}
    said |= {"heads": rows.shape[0] * rows.shape[1]}
    bars = (("back", back), ("own", 1 - ahead - back), ("ahead", ahead))
    return Truth(ahead, ahead, said, bars, {"token": i}, near=0.1)


@question(
    "source", "tap", least=0.6, minutes=3, hints=2, page="translation", run="translation", picture=cross_attention
)
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


@question(
    "seen",
    "number",
    least=1,
    minutes=4,
    hints=2,
    page="translation",
    at={"panel": "inside", "block": "attention", "stage": "masked"},
    run="translation",
    picture=staircase,
)
def may_be_seen(case: Case) -> Truth | None:
    """At how many tokens of what it writes a step of the decoder may look: those so far. margin: how many are hidden
    from it in the pass that works out all steps at once.
    """
    trace = case.trace
    if not isinstance(trace, TranslationTrace) or len(trace.target_tokens) < FEW:
        return None
    step = len(trace.target_tokens) // 2
    row = trace["decoder.layers.0.attention.masked"][0, step]
    seen = int(np.isfinite(row).sum())
    said = {"step": step + 1, "piece": trace.written[step], "all": len(row), "count": seen, "hidden": len(row) - seen}
    said |= {"first": trace.target_tokens[0], "last": trace.target_tokens[step]}
    bars = (("seen", seen), ("hidden", len(row) - seen))
    place = {"layer": 0, "head": 0, "step": step}
    return Truth(seen, float(len(row) - seen), said, bars, place, span=(0, len(row)))


@question(
    "once",
    "number",
    least=2,
    minutes=3,
    hints=2,
    page="translation",
    run="translation",
    picture=cross_attention,
    covers=("encoder",),
)
def encoder_runs(case: Case) -> Truth | None:
    """How often the encoder runs while a translation is written: once. margin: how many steps are more than that."""
    trace = case.trace
    if not isinstance(trace, TranslationTrace):
        return None
    steps = len(trace.written)
    said = {"steps": steps, "tokens": len(trace.tokens), "text": trace.beams[0].text if trace.beams else ""}
    bars = (("encoder", 1), ("decoder", steps))
    return Truth(1, float(steps - 1), said, bars, {}, span=(1, max(steps, 2)))


@question(
    "first",
    "slide",
    least=0.5,
    minutes=3,
    hints=2,
    page="translation",
    at={"panel": "inside", "block": "attention", "stage": "weights"},
    run="translation",
    picture=own_scores,
    covers=(),
)
def first_step(case: Case) -> Truth | None:
    """The weight of the first row of a decoder's self-attention, where nothing else is there yet: see `on_itself`."""
    trace = case.trace
    if not isinstance(trace, TranslationTrace):
        return None
    decoder = trace.graph.decoder
    assert decoder is not None  # a translation has one

    def of(name: str, layer: int, head: int) -> float:
        return float(trace[f"decoder.layers.{layer}.attention.{name}"][head, 0, 0])

    heads = [(layer, head) for layer in range(decoder.layers) for head in range(decoder.heads)]
    return on_itself(heads, of, {"token": trace.target_tokens[0]}, {"step": 0})
