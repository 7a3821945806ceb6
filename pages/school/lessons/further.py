"""What else is true of one run: what the lessons on places, drawings, encoder and decoder, and attention ask. Nothing
here knows Streamlit.
"""

from dataclasses import replace

import numpy as np

from model import Edit, Pipeline, learning, load
from model.analysis import cosine_similarity, placed, places_reached
from model.gradients import twin
from model.order import without_positions
from model.origins import by_kind, by_place, of_reads
from model.pipeline import SPECIAL_TOKENS
from model.sources import Part, all_of_it, leads_of, made_of, nbytes, of_attention
from model.sweep import sweep
from model.translator import TranslationTrace
from model.without import without
from pages.school.lessons.case import SHARE, Case, Pair, Truth, lead_of, on_itself

MOST_OPTIONS = 24  # tokens of which one can be tapped
CLEAR = 0.02  # by which a first answer must lead where it is asked whether it stays
SURE = 0.2  # how clear it is why a head looks there, from which on no other is tried
MOST_BYTES = 100_000_000  # that the parts of a run may take
EVEN = 0.05  # how far from an even share a weight may be that is told as such
FEW = 3  # pieces that are written: of fewer, "once for each" is nearly once


# -- places --------------------------------------------------------------------------------------------------------


def without_places(case: Case) -> Truth | None:
    """Whether the first answer stays without positions. margin: how much of the probability moves."""
    return _first_answer(case, without_positions(case.trace.graph))


def word_and_place(case: Case) -> Truth | None:
    """How long the sum of the token's own vector and that of its place is. margin: how much of the two lengths added up
    is missing, as a share of them.
    """
    keys = ("embedding.tokens", "embedding.positions", "embedding.sum")
    if any(key not in case.trace for key in keys) or "embedding.segments" in case.trace:  # of two, not of three
        return None
    x, p, both = (float(np.linalg.norm(case.trace[key][case.token].astype(np.float64))) for key in keys)
    if not x * p:
        return None
    angle = np.degrees(np.arccos(np.clip((both**2 - x**2 - p**2) / (2 * x * p), -1, 1)))
    said = {"token": case.tokens[case.token], "x": x, "p": p, "answer": both, "together": x + p}
    said |= {"d_model": case.trace.config.embedded, "angle": round(float(angle))}
    span, near = (0.0, float(np.ceil(x + p + 1))), 0.05 * (x + p)
    bars = (("x", x), ("p", p), ("sum", both))
    return Truth(both, 1 - both / (x + p), said, bars, {"token": case.token}, span=span, near=near)


def same_word_elsewhere(case: Case) -> Truth | None:
    """How alike a token's vector here and in the place of another is, as a cosine. Taken is the least alike place of
    those that are there. margin: how far that is from 1.
    """
    if len(case.tokens) < 3 or "embedding.segments" in case.trace:
        return None
    if "embedding.positions" not in case.trace:
        return None
    if case.trace.graph.stream(0)[0] != "embedding.sum":  # a LayerNorm or a matrix stands before the first layer
        return None
    own, places = case.trace["embedding.tokens"][case.token], case.trace["embedding.positions"]
    others = [i for i in range(len(case.tokens)) if i != case.token]
    alike = cosine_similarity((own + places).astype(np.float64))[case.token]
    there = min(others, key=lambda i: alike[i])
    answer = float(alike[there])
    said = {"token": placed(case.tokens)[case.token], "here": case.token + 1, "there": there + 1, "answer": answer}
    bars, place = (("itself", 1.0), ("there", answer)), {"token": case.token}
    return Truth(answer, 1 - answer, said, bars, place, span=(0.0, 1.0), near=0.1)


def neighbour(case: Case) -> Truth | None:
    """What is left without positions of the weight that a head gives to the token beside. Taken is the head that loses
    most of it. margin: how much.
    """
    beside = [i for i in (case.token - 1, case.token + 1) if i in case.visible]
    if case.trace.picture is not None or not beside or not case.affords(1):
        return None
    keys = [f"layers.{layer}.attention.weights" for layer in case.layers]
    bare = sweep(case.pipeline, case.trace, [without_positions(case.trace.graph)], keys, token=case.token)
    found, margin, answer = None, 0.0, 0.0
    for layer, head in case.heads:
        key = f"layers.{layer}.attention.weights"
        for place in beside:
            left = float(bare[key][0, head, case.token, place])
            lost = float(case.trace[key][head, case.token, place]) - left
            if lost > margin:
                found, margin, answer = Pair(layer, head, case.token, place), lost, left
    if found is None:
        return None
    share = answer + margin
    said = {**case.of_pair(found), "share": share, "answer": answer, "even": 1 / len(case.tokens)}
    bars = (("with", share), ("without", answer))
    return Truth(answer, margin, said, bars, found.place, near=0.1)


# -- drawings ------------------------------------------------------------------------------------------------------


def pieces_of_a_picture(case: Case) -> Truth | None:
    """Of how many tokens a picture is read. It is always clear where it is cut."""
    trace, config = case.trace, case.trace.config
    answers = config.head == "classifier" and len(config.read_alone) == config.tokens_in_front > 0
    if trace.patches is None or len(trace.patches) < 2 or not answers:
        return None
    side, count = config.patches_per_side, len(case.tokens)
    said = {"side": side, "patches": side * side, "front": config.tokens_in_front, "count": count}
    said |= {"pixels": config.image_size, "size": config.image_size // side, "all": config.image_size**2}
    bars = (("patches", side * side), ("front", config.tokens_in_front))
    return Truth(count, 1.0, said, bars, {"token": 0}, span=(1, config.image_size**2), near=config.tokens_in_front)


def empty_patches(case: Case) -> Truth | None:
    """How much a head takes from patches without ink. Taken is the head that takes most. margin: how much less that is
    than if it looked evenly.
    """
    patches = case.trace.patches
    if patches is None or case.trace.config.channels != 1 or len(patches) < 2:
        return None
    empty = np.zeros(len(case.tokens), bool)
    empty[len(case.tokens) - len(patches) :] = ~(patches > 0).any(axis=-1)
    if not empty.any() or empty.sum() == len(patches):
        return None
    shares = {
        (layer, head): float(case.trace[f"layers.{layer}.attention.weights"][head, case.token, empty].sum())
        for layer, head in case.heads
    }
    (layer, head), answer = max(shares.items(), key=lambda item: item[1])
    said = {"layer": layer + 1, "head": head + 1, "token": case.tokens[case.token], "answer": answer}
    even = float(empty.mean())
    said |= {"empty": int(empty.sum()), "patches": len(patches), "even": even, "rest": 1 - answer}
    bars = (("empty", answer), ("rest", 1 - answer))
    return Truth(answer, even - answer, said, bars, {"layer": layer, "head": head, "token": case.token}, near=0.1)


def read_at(case: Case) -> Truth | None:
    """At which token the class of a picture is read: how much of the probability moves when what the last layer made of
    it is set to zero. margin: by how much [CLS] leads the patch with most ink, and all patches together.
    """
    patches, config = case.trace.patches, case.trace.config
    if patches is None or len(patches) < 2 or config.tokens_in_front != 1 or not case.answers or not case.affords(4):
        return None
    end, last = len(case.tokens), case.trace.graph.Z
    most = end - len(patches) + int(patches.sum(axis=-1).argmax())
    gone = ([0], [most], range(end - len(patches), end))
    now, *without_them = case.changed([[], *([Edit(last, "zero", token=token) for token in some] for some in gone)])
    moved = [float(np.abs(there - now).sum() / 2) for there in without_them]
    options = ("at_cls", "at_patch", "at_patches")
    said = {"best": case.names[int(now.argmax())], "patches": len(patches), "moved": moved[0], "rest": max(moved[1:])}
    bars = tuple(zip(options, moved, strict=True))
    return Truth("at_cls", moved[0] - max(moved[1:]), said, bars, {"token": 0}, options=options)


# -- the parts of a layer ------------------------------------------------------------------------------------------


def heads_side_by_side(case: Case) -> Truth | None:
    """Whether the first answer stays where W_O is left out of all layers, and heads only stand side by side. margin:
    how much of the probability moves; nothing where W_O hands on a head's numbers in its own places only.
    """
    if case.trace.config.heads < 2:
        return None
    truth = _first_answer(case, [Edit("layers.{l}.attention.output", "unmixed")])
    if truth is None:
        return None
    config, reached = case.trace.config, case.trace.config.embedded
    for layer in case.layers:
        parts = case.trace[f"layers.{layer}.attention.contributions"][:, case.token]
        reached = min(reached, int(places_reached(parts).min()))
    said = truth.said | {"heads": config.heads, "d_k": config.d_k, "d_model": config.d_model, "reached": reached}
    return replace(truth, said=said, told=(*truth.told, "why"), margin=truth.margin if reached > config.d_k else 0.0)


def without_ffn(case: Case) -> Truth | None:
    """Whether the first answer stays without the feed-forward networks. margin: how much of the probability moves."""
    truth = _first_answer(case, [*without(case.trace.graph, "ffn")])
    return truth and replace(truth, told=(*truth.told, "why"))


def behind_a_mask(case: Case) -> Truth | None:
    """Whether the first answer stays where no token may look at those behind it. margin: how much of the probability
    moves; nothing where no word stands behind the token.
    """
    behind = [name for name in case.tokens[case.token + 1 :] if name not in SPECIAL_TOKENS]
    if case.trace.picture is not None or not behind:
        return None
    truth = _first_answer(case, [Edit("layers.{l}.attention.masked", "causal")])
    said = {"behind": len(case.tokens) - case.token - 1}
    return truth and replace(truth, said=truth.said | said, told=(*truth.told, "why"))


def learned_after(case: Case) -> Truth | None:
    """From which snapshot of its training on the network gives more than half to what it reads in this drawing at the
    end. margin: how far from a half that is there, or at the snapshot before, whichever is nearer.
    """
    if case.pipeline is not load("digits") or not case.affords(learning.SNAPSHOTS):
        return None
    ink, steps = case.trace.subject, [f"{one.step:,}" for one in learning.snapshots()]
    rows = [case.shares(learning.after(number)(ink)["logits"]) for number in range(learning.SNAPSHOTS)]
    best = int(rows[-1].argmax())
    shares = [float(row[best]) for row in rows]
    first = max((number + 1 for number, share in enumerate(shares) if share < 0.5), default=0)
    if first in (0, len(shares)):  # from the start by chance, or never
        return None
    said: dict[str, object] = {"answer": steps[first], "before": steps[first - 1], "all": steps[-1]}
    said |= {"best": case.names[best], "share": shares[first], "less": shares[first - 1]}
    said["accuracy"] = learning.snapshots()[first].accuracy
    margin = min(shares[first] - 0.5, 0.5 - shares[first - 1])
    bars = tuple(zip(steps, shares, strict=True))
    return Truth(steps[first], margin, said, bars, {}, options=tuple(steps), literal=True)


# -- encoder and decoder -------------------------------------------------------------------------------------------


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


def encoder_runs(case: Case) -> Truth | None:
    """How often the encoder runs while a translation is written: once. margin: how many steps are more than that."""
    trace = case.trace
    if not isinstance(trace, TranslationTrace):
        return None
    steps = len(trace.written)
    said = {"steps": steps, "tokens": len(trace.tokens), "text": trace.beams[0].text if trace.beams else ""}
    bars = (("encoder", 1), ("decoder", steps))
    return Truth(1, float(steps - 1), said, bars, {}, span=(1, max(steps, 2)))


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


# -- what attention is not -----------------------------------------------------------------------------------------


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


# -- why it looks there, and who wrote the answer ------------------------------------------------------------------


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


def _first_answer(case: Case, edits: list[Edit]) -> Truth | None:
    """Whether the first answer stays with these changes. margin: how much of the probability moves; nothing where
    before none leads clearly, or after it none leads the one that was first.
    """
    if not case.answers or not case.visible or not case.affords(1):
        return None
    now, there = case.changed([[], edits])
    best, then = int(now.argmax()), int(there.argmax())
    said: dict[str, object] = {"token": case.tokens[case.token], "answer": case.names[best]}
    said |= {"before": float(now[best]), "after": float(there[best])}
    said |= {"then": case.names[then], "then_share": float(there[then])}
    moved = float(np.abs(there - now).sum() / 2)
    answer = "same" if best == then else "different"
    lead = lead_of(there) if best == then else float(there[then] - there[best])  # over whom it is asked about
    clear = min(lead_of(now), lead) >= CLEAR
    bars, place = (("with", float(now[best])), ("without", float(there[best]))), {"token": case.token}
    options, margin = ("same", "different"), moved if clear else 0.0
    return Truth(answer, margin, said | {"moved": moved}, bars, place, options=options, told=(f"why_{answer}",))
