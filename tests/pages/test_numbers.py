"""What a picture draws and says, recomputed in another way: a law for each picture function.

A law, given a run and a place, yields arrays that the figure must hold, words that the sentence must have, and
Not(words) that it must not have.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import permutations, product
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from model import Edit, Trace, load
from model.analysis import cosine_similarity, fixed, nearest_rows, placed, rollout, softmax
from model.measures.alike import MEAN, alike, of_cosine, of_pair, row_cosines
from model.measures.origins import KINDS, of_reads, shares
from model.measures.scaling import every_way, random_scores
from model.measures.siamese import AtWords
from model.measures.sources import made_of, of_lead, of_sum
from model.measures.without import Fate, answers, ffn_off, one_against_all
from model.translator import Task
from pages.add_and_norm import pictures as add_and_norm
from pages.add_and_norm import why_add_and_norm
from pages.answer import pictures as answer
from pages.attention import overlay, scaling
from pages.attention import pictures as attention
from pages.attention.origins import of_cell
from pages.attention.shares import heads_by_origin
from pages.drawing.figures import Figure
from pages.drawing.picture import Open, Picture
from pages.drawing.pictures.answers import likeliest_outputs
from pages.drawing.pictures.vectors import probe_looks
from pages.drawing.place import Place
from pages.drawing.state import sketch
from pages.drawing.text import LANGUAGES, quoted, speaking
from pages.drawing.text.numbers import decimal, percent, percents, two
from pages.feed_forward import pictures as feed_forward
from pages.heads import pictures as heads
from pages.layers import pictures as layers
from pages.queries_keys_values import pictures as queries_keys_values
from pages.screen.runs import pipelines, worked_out
from pages.tokens import pictures as tokens
from pages.translation import pictures as translation
from tests.networks import COVER, trace_of
from tests.pages.inputs import folder
from tests.pages.opening import raw_names, summed

DOG = "the dog chased the cat ."
HIDDEN = "the animal [MASK] not cross the street because it was too tired ."
TWICE = "the dog saw the cat and the cat saw the dog ."
FIVE, THREE = (sketch.ink(sketch.example(digit)) for digit in (5, 3))
A, FFN = "layers.1.attention.", "layers.1.ffn."
Subject = str | bytes | Task | Callable[[], Trace]
Law = Callable[[Trace, Place], Iterator[object]]


class Not(str):
    """Words that must not appear."""


class Row(NamedTuple):
    """A picture (or a function that returns only a sentence), its input and place, and its law."""

    make: Callable[[Trace, Place], Picture | str]
    subject: Subject
    edits: tuple[Edit, ...]
    place: Place
    law: Law


ROWS: dict[str, Row] = {}


def row(make: Callable, subject: Subject = DOG, *edits: Edit, **place: int | str) -> Callable[[Law], Law]:
    """Register the law below for this picture. place: layer 2 and token 2 by default."""

    def kept(law: Law) -> Law:
        many = sum(one.law is law for one in ROWS.values())
        at = Place(**{"layer": 1, "token": 1} | place)
        ROWS[law.__name__ + f" {many}" * bool(many)] = Row(make, subject, edits, at, law)
        return law

    return kept


@cache
def run_of(subject: Subject, edits: tuple[Edit, ...] = ()) -> Trace:
    if callable(subject):
        return subject()
    return pipelines.run({bytes: "digits", Task: "translation"}.get(type(subject), "text"), subject, edits)


def held(figure: Figure) -> Iterator[np.ndarray]:
    """All arrays of numbers in a figure."""
    for trace in figure.data:
        for side in {"x", "y", "z", "customdata"} & trace.keys():
            if (values := np.asarray(trace[side])).dtype.kind in "fiu":
                yield values


def words_in(part: object) -> Iterator[str]:
    """All texts in a figure: titles, names, tooltips, annotations."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping):
        for name, inside in part.items():
            yield from words_in(inside) if name != "meta" else ()
    elif isinstance(part, list | tuple):
        for inside in part:
            yield from words_in(inside)


@pytest.mark.parametrize("name", ROWS)
def test_no_name_of_the_code_stands_in_a_figure_or_its_title(name: str) -> None:
    row = ROWS[name]
    for language in LANGUAGES:
        with speaking(language):
            picture = row.make(run_of(row.subject, row.edits), row.place)
            if not isinstance(picture, Picture):
                return
            figure = picture.drawn()
            shown = [*words_in([figure.data, figure.layout]), picture.title or "", picture.says()]
        assert [words for words in shown if raw_names(words)] == []


@pytest.mark.parametrize("name", ROWS)
def test_the_code_of_a_picture_gives_its_numbers(name: str) -> None:
    row = ROWS[name]
    run = run_of(row.subject, row.edits)
    picture = row.make(run, row.place)
    if not isinstance(picture, Picture):
        return
    for line in filter(None, picture.code.splitlines()):
        eval(line, {"trace": run})  # what is copied runs
    for part in picture.parts:
        if part.code:
            np.testing.assert_array_equal(eval(part.code, {"trace": run}), part.array)


def marks(trace: dict) -> Iterator[list[int]]:
    """Clicks as a browser sends them, one for each clickable mark: its numbers, or row and column."""
    if trace.get("hoverinfo") == "skip" or "z" in trace or not {"x", "y"} <= trace.keys():
        return
    for place, (x, y) in enumerate(zip(trace["x"], trace["y"], strict=True)):
        own = trace["customdata"][place] if trace.get("customdata") is not None else None
        if isinstance(own, list | np.ndarray):
            yield [*own]
        elif all(np.asarray(end).dtype.kind in "fiu" and np.isfinite(end) for end in (x, y)):
            yield [round(float(y)), round(float(x))]


@pytest.mark.parametrize("name", ROWS)
def test_a_click_on_whichever_mark_chooses_or_does_nothing(name: str) -> None:
    row = ROWS[name]
    picture = row.make(run_of(row.subject, row.edits), row.place)
    if not isinstance(picture, Picture):
        return
    numbers = [part.drawn for part in picture.parts]
    picks = picture.picks_of(*numbers) if picture.picks_of else picture.picks
    for trace in picture.drawn().data if picks else ():
        for sent in marks(trace):
            assert isinstance(picks(*sent), Mapping | Open | None), sent


@pytest.mark.parametrize("name", ROWS)
def test_what_is_drawn_and_said_is_the_runs(name: str) -> None:
    row = ROWS[name]
    run = run_of(row.subject, row.edits)
    picture = row.make(run, row.place)
    said = (picture if isinstance(picture, str) else picture.says()).replace("\\", "").replace("−", "-")
    drawn = [] if isinstance(picture, str) else [*held(picture.drawn())]
    for wanted in row.law(run, row.place):
        if isinstance(wanted, str):
            assert (wanted in said) != isinstance(wanted, Not), said
        else:
            alike = [one for one in drawn if one.shape == np.shape(wanted)]
            assert any(np.allclose(one, wanted, 1e-5, 1e-5, True) for one in alike), (wanted, alike)


# -- attention -------------------------------------------------------------------------------------------------------


@row(attention.mean_through_layers, layer=2, token=3)
def through_the_layers_the_row_is_the_mean_of_the_heads(run, at):
    means = run.over_layers("attention.weights").mean(axis=1)[:, at.token]
    yield from (means, f"{means[at.layer].max():.2f}")


@row(attention.attention_map, "the cat sat [SEP] the dog ran", layer=2, head=1, token=2, between="AB")
def of_one_sentence_that_looks_at_another_it_is_said_what_is_not_shown(run, at):
    shown = run["layers.2.attention.weights"][1, 2, 5:]
    yield from (f": {shown.max():.2f}", f"the others get {1 - shown.sum():.1%} of this row")


@row(attention.attention_map, DOG, Edit("layers.2.attention.masked", "causal"), layer=2, head=1)
def a_weight_that_the_mask_hides_is_drawn_as_none(run, at):
    weights = run["layers.2.attention.weights"][1]
    yield np.where(np.tri(len(weights)), weights, np.nan)


@row(partial(scaling.why_scaled, d_k=512), layer=2, head=3)
@row(partial(scaling.why_scaled, d_k=512), DOG, Edit("layers.2.attention.masked", "causal"), layer=2, head=3)
def why_scores_are_divided_is_told_of_random_vectors(run, at):
    undivided, divided, _ = every_way(random_scores(512), 512)
    yield from (f"√512 = 22.6, here {undivided.spread:.1f}; divided by it, {divided.spread:.1f}.",)
    yield f"falls from {divided.slope:.3f} to {undivided.slope:.3f}"


@row(partial(scaling.why_scaled, d_k=4), layer=2, head=3)
def short_vectors_need_no_division(run, at):
    undivided, divided, _ = every_way(random_scores(4), 4)
    yield f"undivided, too: {undivided.slope:.3f}; divided, {divided.slope:.3f}"


@row(partial(overlay.over_one, key="layers.2.attention.weights"), FIVE, layer=2, head=2, token=8)
def weights_lie_over_the_drawing(run, at):
    own, inked = run["layers.2.attention.weights"][2, 8], run.patches.max(axis=1) >= 0.05
    yield own
    yield f"Patches with ink (a pixel of 0.05 or more; here {inked.sum()}) get {own[1:][inked].sum():.0%};"
    yield f"would give them {inked.sum() / len(own):.0%}."


@row(overlay.over_heads, FIVE, token=8)
def of_all_heads_over_the_drawing_the_strongest_and_its_patch_are_named(run: Trace, at: Place) -> Iterator[object]:
    every = run.over_layers("attention.weights")[:, :, 8, 1:]
    layer, head, patch = np.unravel_index(every.argmax(), every.shape)
    yield f"{every.max():.3f}, on “{run.tokens[1 + patch]}” in layer {layer + 1}, head {head + 1}"


@row(partial(overlay.over_layers, name="mean"), FIVE, token=8)
def of_the_last_layers_mean_over_the_drawing_the_strongest_patch_is_named(run: Trace, at: Place) -> Iterator[object]:
    last = run.over_layers("attention.weights")[-1].mean(axis=0)[8]
    yield f"gives the patches {last[1:].sum():.3f} and [CLS] {last[0]:.3f}."
    yield f"“{run.tokens[1 + last[1:].argmax()]}” gets most: {last[1:].max():.3f}"


# -- heads -----------------------------------------------------------------------------------------------------------


@row(heads.written, token=3, head=2)
def what_heads_write_has_the_lengths_that_are_drawn(run, at):
    yield np.linalg.norm(run[A + "contributions"], axis=-1).T


@row(heads.all_heads, layer=2, head=3)
def the_table_of_all_heads_has_a_row_for_each_query(run, at):
    table = heads.all_heads(run, at).tabled()
    np.testing.assert_array_equal(table.loc[(3, 4, 2)], run["layers.2.attention.weights"][3, 1])
    yield "Heads (48): "


@row(partial(heads.mixed, focus=A + "concat"), head=2)
def the_columns_that_a_head_fills_are_where_its_row_stands(run, at):
    d_k = run.config.d_k
    np.testing.assert_array_equal(run[A + "concat"][:, 2 * d_k : 3 * d_k], run[A + "heads"][2])
    framed = [
        (one["xref"], one["x0"], one["x1"]) for one in heads.mixed(run, at, A + "concat").drawn().layout["shapes"]
    ]
    assert ("x", 2 * d_k + 0.5, 3 * d_k + 0.5) in framed
    yield f"columns {2 * d_k + 1} to {3 * d_k} of"


def changed(run: Trace, rows: Sequence[Sequence[Edit]], token: int) -> list[np.ndarray]:
    """Probabilities at a token in a separate run for each of the edits."""
    return [softmax(pipelines.pipeline("text")(run.subject, edits)["logits"][token]) for edits in rows]


def needed(run: Trace, at: Place) -> Picture:
    rows = one_against_all(run.graph, at.layer)
    return heads.needed(run, at, answers(pipelines.pipeline("text"), run.subject, rows, at.token))


@row(needed, HIDDEN, token=3, head=2)
def one_head_against_all_shows_what_the_runs_without_it_and_with_it_alone_answer(run, at):
    runs = changed(run, one_against_all(run.graph, 1), 3)
    best = [int(p.argmax()) for p in runs]
    yield from ([p[best[0]] for p in some] for some in (runs[1:9], runs[9:]))
    yield f" {best[1:9].count(best[0])} of 8 runs without one head"
    yield f" {best[9:].count(best[0]) or 'none'} of the 8 runs with one head alone"
    named = {bar["name"]: list(bar["y"]) for bar in needed(run, at).drawn().data}
    assert named["without it"] == pytest.approx([p[best[0]] for p in runs[1:9]], abs=1e-5)
    assert best[3] != best[0]
    yield f"Without head 3 it is “{run.outputs[best[3]]}”"


@row(heads_by_origin, partial(trace_of, "pre-norm words"), head=2)
def each_head_is_a_bar_of_its_shares_of_this_run(run, at):
    known = of_reads(run)
    every = [shares(run, run.graph.sublayers(layer)[0], head, known) for layer, head in np.ndindex(3, 4)]
    yield from ([of[kind] for of in every] for kind in KINDS)
    means = [percents([np.mean([of[kind] for of in some]) for kind in KINDS]) for some in (every[:4], every[-4:])]
    word, place, brought, _ = (" → ".join(ends) for ends in zip(*means, strict=True))
    yield f"own word {word}, position {place}, brought from others {brought}."


# -- feed-forward ----------------------------------------------------------------------------------------------------


def no_words(neuron: int) -> Sequence[str]:
    return []


@row(feed_forward.curve, token=3, neuron=2)
def the_curve_holds_every_neuron_of_the_selected_token(run, at):
    u = run[FFN + "hidden"][3]
    yield from (u, run[FFN + "activation"][3], f"Neurons below 0: {(u < 0).sum()} of 1,024.")


@row(feed_forward.curve, token=3)
@row(feed_forward.curve, token=3, neuron=2)
@row(feed_forward.curve, partial(trace_of, "several labels"), layer=0)
@row(feed_forward.curve, DOG, Edit(FFN + "hidden", "scale", token=3, value=9.0), token=3, neuron=2)
def the_curve_shows_its_bend_the_chosen_neuron_and_most_others_and_says_how_many_not(run, at):
    u, picture = run[at.of("layers.{l}.ffn.hidden")][at.token], feed_forward.curve(run, at)
    low, high = picture.drawn().layout["xaxis"]["range"]
    assert low <= -3 < 2 <= high and low <= u[at.neuron or 0] <= high
    assert high - low <= 6 or np.abs(u).max() > 2
    outside = int(((u < low) | (u > high)).sum())
    assert outside <= 0.1 * u.size
    yield from (u, f"Neurons outside {low:.1f} to {high:.1f}, not drawn: {outside}." if outside else "")


@row(feed_forward.curve)
@row(feed_forward.curve, partial(trace_of, "003"), layer=0, token=0)
@row(feed_forward.curve, partial(trace_of, "several labels"), layer=0)
def it_is_said_how_low_the_activation_function_goes(run, at):
    u, h = (run[at.of(f"layers.{{l}}.ffn.{name}")] for name in ("hidden", "activation"))
    act = {"gelu": F.gelu, "relu": F.relu, "silu": F.silu}[run.config.activation]
    np.testing.assert_allclose(h, act(torch.tensor(u)), atol=1e-4)
    least = f"{ {'gelu': -0.17, 'relu': 0.0, 'silu': -0.28}[run.config.activation]:.2f}"
    yield f"gives {least}" if run.config.activation == "relu" else f"no less than {least}"


@row(partial(feed_forward.loudest, words=no_words))
@row(partial(feed_forward.loudest, words=no_words), token=3, neuron=999)
@row(partial(feed_forward.loudest, words=no_words), FIVE, token=8)
@row(partial(feed_forward.loudest, words=no_words), partial(trace_of, "gated words"), token=5)
def the_loudest_neurons_and_the_chosen_one_stand_at_every_token(run, at):
    gated = FFN + "product" in run
    fed = run[FFN + ("product" if gated else "activation")]
    loud = np.abs(fed) if gated else fed
    order = np.argsort(-loud[at.token])
    listed = order[:12] if at.neuron in (None, *order[:12]) else [*order[:11], at.neuron]
    chosen = order[0] if at.neuron is None else at.neuron
    where = int(loud[:, chosen].argmax())
    yield from (fed[:, listed].T, fed[at.token, listed], np.maximum(np.sort(fed[at.token])[::-1], 0))
    title = feed_forward.loudest(run, at, no_words).drawn().layout["annotations"][-1]["text"]
    assert f"<b>{(loud[at.token] > 0.1).sum()} of {loud.shape[1]:,} neurons" in title
    yield f"neuron {order[0] + 1} is the most active"
    yield from (f"{fed[at.token, order[0]]:.2f}", f"Neuron {chosen + 1} has", f"{fed[where, chosen]:.2f}")


def without_a_neuron(run: Trace, at: Place) -> Picture:
    rows = run.edits, (*run.edits, Edit(FFN + "activation", "zero", neuron=at.neuron))
    found = answers(pipelines.pipeline("text"), run.subject, rows, at.token)
    return feed_forward.loudest(run, at, no_words, found)


@row(without_a_neuron, HIDDEN, token=3, neuron=133)
def what_the_answer_loses_without_a_neuron_is_that_of_the_run_without_it(run, at):
    off = load("text")(HIDDEN, edits=[Edit(FFN + "activation", "zero", neuron=133)])
    before, after = (softmax(one["logits"][3].astype(float)) for one in (run, off))
    best = int(before.argmax())
    p, left = decimal(before[best]), decimal(after[best])
    yield f"The answer “{run.outputs[best]}” has {p}; without neuron 134 it has {left}."


def test_of_a_neuron_without_which_the_answer_stays_nothing_more_is_said() -> None:
    assert "without neuron" not in without_a_neuron(run_of(HIDDEN), Place(layer=1, token=3, neuron=5)).says()


def without_ffn(run: Trace, at: Place) -> Picture:
    found = answers(pipelines.pipeline("text"), run.subject, ffn_off(run.graph, at.layer), at.token)
    return feed_forward.without_ffn(run, at, found)


@row(without_ffn, HIDDEN, layer=4, token=3)
@row(without_ffn, HIDDEN, layer=5, token=3)
def without_ffn_the_first_guesses_are_those_of_the_changed_runs(run, at):
    runs = changed(run, ffn_off(run.graph, at.layer), at.token)
    yield from (quoted(run.outputs[p.argmax()]) for p in runs)
    yield (str if runs[0].argmax() == runs[1].argmax() else Not)("stays")
    assert "range" not in without_ffn(run, at).drawn().layout["yaxis"], "it ends at the largest"


# -- residual connections and LayerNorm ------------------------------------------------------------------------------


FATE = Fate(np.zeros(7), np.arange(10.0, 17.0))


def on_the_way(run: Trace, at: Place, focus: str = "norm") -> Picture:
    of = add_and_norm.AddNorm(run, at)
    return add_and_norm.maps(run, at, {"output": of.sub.output, "sum": of.sub.sum, "norm": of.norm}[focus], None)


@row(add_and_norm.one_vector, layer=2)
@row(add_and_norm.one_vector, layer=4, sublayer=2, token=3)
@row(add_and_norm.one_vector, FIVE, layer=0, token=0)
def arrows_have_the_lengths_and_angles_of_the_vectors(run, at):
    part = run.graph.sublayers(at.layer)[at.sublayer - 1]
    x, o, both, after = (run[key][at.token].astype(float) for key in (part.before, part.output, part.sum, part.norm))
    lengths = [np.linalg.norm(one) for one in (x, o, both, after)]
    first = x / lengths[0]
    rest = o - o @ first * first
    plane = np.stack([first, rest / np.linalg.norm(rest)])
    tips = np.stack([x, o, both, after]) @ plane.T
    side = np.sign(tips[2][0] * tips[3][1] - tips[2][1] * tips[3][0])
    way = np.arctan2(*tips[2][::-1]) + side * np.radians(turned(both, after))  # as far from the sum as is said
    tips[3] = lengths[3] * np.array([np.cos(way), np.sin(way)])
    yield from (*tips.T, *(f"{length:.1f}" for length in lengths))
    yield from (f"angle of {np.degrees(np.arctan2(*tips[1][::-1])):.0f}°", f"by {turned(both, after):.0f}°")


def turned(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.degrees(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))))


@row(lambda run, at: add_and_norm.one_by_one(run, at, "layers.2.norm_1"), layer=2, token=4)
def what_is_added_and_normed_stands_number_by_number(run: Trace, at: Place) -> Iterator[object]:
    x, o, both, after = (run[f"layers.{part}"][4] for part in ("1.norm_2", "2.attention.output", "2.add_1", "2.norm_1"))
    np.testing.assert_allclose(x + o, both, atol=1e-5)
    yield np.stack([x, o, both, after])


@row(add_and_norm.on_the_way, layer=2, token=4)
def the_lengths_of_a_token_on_its_way_are_recorded(run, at):
    parts = [part for layer in range(6) for part in run.graph.sublayers(layer)]
    every = [[np.linalg.norm(run[key][4]) for key in (part.before, part.sum, part.norm)] for part in parts]
    yield from (np.ravel(every), f"in {sum(both > before for before, both, _ in every)} of 12")


@row(on_the_way, layer=3)
@row(on_the_way, layer=5, sublayer=2)
def the_four_maps_are_recorded_and_the_first_two_add_up_to_the_third(run, at):
    part = run.graph.sublayers(at.layer)[at.sublayer - 1]
    yield from (run[part.before], run[part.output], run[part.before] + run[part.output], run[part.norm])
    yield "standard deviation 1, then"


@row(partial(on_the_way, focus="sum"), layer=0, token=2, component=0)
@row(partial(on_the_way, focus="sum"), layer=3, token=2, component=0)
def the_sum_of_a_cell_is_that_of_the_numbers_that_stand_there(run, at):
    part = run.graph.sublayers(at.layer)[0]
    x, o = (round(float(run[key][2, 0]), 4) for key in (part.before, part.output))
    yield f"{x:.4f} + " + (f"({o:.4f})" if o < 0 else f"{o:.4f}") + f" = {x + o:.4f}"


@row(partial(on_the_way, focus="output"), DOG, Edit("embedding.sum", "remove", token=2), layer=0)
def a_token_that_was_taken_away_is_left_out_of_the_typical_push(run, at):
    before, found = (np.linalg.norm(run[key], axis=1) for key in ("embedding.sum", "layers.0.attention.output"))
    assert before[2] == 0
    yield f"(the median) is {np.median(np.delete(found, 2) / np.delete(before, 2)):.0%} as long"


@row(on_the_way, DOG, Edit("layers.0.add_1", "zero", token=2), layer=0, token=2)
def of_a_vector_of_zeros_no_standard_deviation_of_1_is_told(run, at):
    yield "standard deviation 0.000 to 1.000, then"


@row(lambda run, at: why_add_and_norm.gradients_by_layer(run, at, np.full((2, 7), 0.007)))
def a_small_gradient_is_not_rounded_up(run, at):
    yield "0.007 times"


@row(lambda run, at: why_add_and_norm.lengths_by_layer(run, at, FATE, FATE._replace(length=FATE.length * 1e4)))
def lengths_stand_with_the_norms_and_without(run, at):
    yield from (FATE.length, FATE.length * 1e4, "length of 160,000", "with 16")


# -- layers ----------------------------------------------------------------------------------------------------------


@row(layers.path, token=2)
def the_path_shows_its_shortest_view(run, at):
    walked = np.linalg.norm(np.diff(run.states()[:, 2], axis=0), axis=-1)
    yield from (f"in all {run.config.d_model} dimensions", f"layer {walked.argmax() + 1}", f"{walked.max():.1f}")
    _, chosen, dots, every, *_ = (np.asarray(drawn["x"]) for drawn in layers.path(run, at).drawn().data)
    x = every.reshape(7, len(run.tokens))
    assert (chosen == x[:, 2]).all() and (dots == [*x[0], *x[-1], *chosen]).all() and (x[0] != x[-1]).any()
    apart = np.linalg.norm(run.states()[0] - run.states()[-1], axis=-1)
    assert (np.abs(x[0] - x[-1]) <= apart + 1e-3).all()  # a projection shortens


@row(layers.lengths_on_the_way)
@row(layers.lengths_on_the_way, DOG, Edit("layers.{l}.ffn.output", "zero"))
def of_a_sublayer_that_adds_nothing_no_layer_adds_most(run, at):
    yield np.linalg.norm(run.states()[:, 1], axis=-1)
    for sub, name in {"attention": "Attention", "ffn": "The FFN"}.items():
        added = np.array([np.linalg.norm(run[f"layers.{layer}.{sub}.output"][1]) for layer in range(6)])
        yield f"{name} adds most in layer {added.argmax() + 1}" if added.any() else Not(f"{name} adds most")


def guesses(run: Trace, at: Place) -> layers.Guesses:
    return layers.guesses(pipelines.pipeline("text").read_layers(run, at.token), at.output)


def lens(run: Trace, at: Place) -> Picture:
    return layers.words(run, at, guesses(run, at))


def logits_on_the_way(run: Trace, at: Place) -> np.ndarray:
    return run.network.read_out(run.network.norm(torch.tensor(run.states())[:, at.token])).numpy(force=True)


@row(lens, "the cat sat on the [MASK] .", token=6)
@row(lens, "the cat sat on the [MASK] .", token=6, output=2000)
def the_lens_follows_a_word_from_rank_to_rank(run, at):
    (guess,), logits = run.answer, logits_on_the_way(run, at)
    word = logits[-1].argmax() if at.output is None else at.output
    ranks = 1 + (logits > logits[:, [word]]).sum(axis=1)
    yield from (ranks, np.stack([np.arange(7), ranks])[1])
    if at.output is None:
        yield from (f"“{guess.best}”", f"{guess.probabilities[0]:.2f}")
    else:
        yield f"“{run.outputs[word]}” begins at rank {ranks[0]:,} of {len(logits[0]):,} and ends at rank {ranks[-1]:,}."


def lens_of_classes(run: Trace, at: Place) -> Picture:
    return layers.classes(run, at, pipelines.pipeline("digits").read_layers)


@row(lens_of_classes, FIVE)
@row(lens_of_classes, FIVE, output=3)
def the_lens_of_classes_is_the_race_that_words_have(run, at):
    shares = pipelines.pipeline("digits").read_layers(run, at.token)
    digit = shares[-1].argmax() if at.output is None else at.output
    ranks = 1 + (shares > shares[:, [digit]]).sum(axis=1)
    yield from (ranks, np.stack([np.arange(len(ranks)), ranks])[1])
    assert lens_of_classes(run, at).drawn().data[0]["textfont"]["size"] >= 10, "legible on a phone"
    if at.output is not None:
        yield f"“{digit}” begins at rank {ranks[0]} of 10 and ends at rank {ranks[-1]}."


@row(lens, "the [MASK] sat on the mat .", token=2)
def where_the_answer_led_before_and_lost_the_lead_both_are_said(run, at):
    yield from ("“girl”", "from layer 6 on. It also led earlier (after layer 4), then lost the lead")


@row(lens, "the cat sat on [MASK] mat .", token=5)
def where_the_answer_never_lost_the_lead_that_is_not_said(run, at):
    yield from ("“the”", "is the first guess from layer 2 on. The")


@row(layers.similarity, token=2)
def similarities_are_the_cosines_of_the_stream(run, at):
    alike = cosine_similarity(run.states()[2])
    yield from (alike, f"{np.delete(alike[2], 2).max():.2f}")
    two = ~np.eye(len(alike), dtype=bool)
    before, after = (cosine_similarity(states)[two].mean() for states in (run.states()[0], run.states()[-1]))
    yield f"{before:.2f} before the first layer and {after:.2f} after the last"


@row(layers.origin, TWICE, token=8)
def the_rollout_is_that_of_the_layer_and_of_words_that_stand_twice_it_says_which(run, at):
    yield from (rollout(run.over_layers("attention.weights"))[1], "“cat (8)”")


def compared_by_layers(run: Trace, place: Place) -> Picture:
    other = run_of(TWICE)
    curves = {"token": row_cosines(run.states()[:, place.token], other.states()[:, 1])}
    return layers.by_layers(run, place, curves, "dog (1)")


@row(compared_by_layers, DOG)
def two_words_that_are_written_alike_drift_apart(run, at):
    pairs = zip(run.states()[:, at.token], run_of(TWICE).states()[:, 1], strict=True)
    apart = [float(cosine_similarity([one], [other])[0, 0]) for one, other in pairs]
    yield from (np.array(apart), f"with {apart[0]:.2f} and end with {apart[-1]:.2f}")


# -- queries, keys, values -------------------------------------------------------------------------------------------


@row(partial(queries_keys_values.matrix, role="Q"), layer=2, head=5)
@row(partial(queries_keys_values.matrix, role="V"), FIVE, head=1)
def the_slice_of_a_matrix_makes_the_vectors_of_its_head(run, at):
    role = "Q" if run.ids else "V"
    W, d_k = getattr(run.network.layers[at.layer].attention, f"W_{role}"), run.config.d_k
    own = slice(at.head * d_k, (at.head + 1) * d_k)
    weights = W.weight.numpy().T[:, own]
    yield weights
    vectors = run.stream(at.layer)[0] @ weights + W.bias.numpy()[own]
    np.testing.assert_allclose(vectors, run[at.of(f"layers.{{l}}.attention.{role}")][at.head], atol=1e-4)


@row(queries_keys_values.products, token=2)
@row(queries_keys_values.products, token=2, key=4)
@row(queries_keys_values.products, FIVE, token=2)
def a_query_is_laid_over_the_key_that_fits_best_or_is_chosen(run, at):
    scores = run[A + "scores"][0, at.token]
    key = int(scores.argmax()) if at.key is None else at.key
    q, k = run[A + "Q"][0, at.token], run[A + "K"][0, key]
    order = np.argsort(-(q * k).astype(float), kind="stable")
    yield from (np.stack([k, q])[:, order], (q * k)[order], np.broadcast_to(order + 1, (2, len(q))))
    yield f"Components in which query and key have the same sign: {(q * k > 0).sum()},"
    yield f"The sum is the score, {scores[key]:.2f}."


@row(queries_keys_values.passed_on, token=2)
@row(queries_keys_values.passed_on, token=2, key=1)  # 26.90 ÷ √32 is 4.76, written, and 4.75, recorded
@row(queries_keys_values.passed_on, FIVE, token=2)
@row(queries_keys_values.passed_on, partial(trace_of, "told apart"), token=2)
@row(queries_keys_values.passed_on, partial(trace_of, "by distance"), token=2)
def the_weight_times_the_value_of_the_key_goes_into_the_output(run: Trace, at: Place) -> Iterator[object]:
    scores, weights, V = (run[A + name][0] for name in ("scores", "weights", "V"))
    key = int(scores[at.token].argmax()) if at.key is None else at.key
    weight = weights[at.token, key]
    others = np.delete(np.arange(len(V)), key)
    yield np.stack([weight * V[key], weights[at.token, others] @ V[others], weights[at.token] @ V])
    seen = run[A + "masked"][0, at.token, key]
    scaled = run[A + "scaled"][0, at.token, key] if A + "scaled" in run else None
    score = two(float(scores[at.token, key])).replace("−", "-")
    yield f"a weight of {decimal(float(weight))}"
    if scaled != seen:  # none is divided, or a number for the distance is added
        yield from (f"Softmax reads {two(float(seen))} here".replace("−", "-"), Not("÷"))
    else:
        root = (scores[at.token, key] / scaled) ** 2
        given, then = (two(value).replace("−", "-") for value in (float(score) / root**0.5, float(scaled)))
        yield f"{score} ÷ √{root:.0f} {'=' if given == then else '≈'} {then};"


@row(queries_keys_values.plane, token=2, head=3)
def the_plane_is_a_projection_and_says_how_much_it_keeps(run, at):
    marks = {mark.get("name"): mark for mark in queries_keys_values.plane(run, at).drawn().data}
    flat = [np.stack([marks[name][axis] for axis in "xy"], axis=1) for name in ("query", "key")]
    whole = [run[A + role][3] for role in "QK"]
    between, real = (np.linalg.norm(q[:, None] - k[None], axis=-1) for q, k in (flat, whole))
    assert (between <= real + 1e-4).all()
    kept, every = (((both - both.mean(0)) ** 2).sum() for both in map(np.concatenate, (flat, whole)))
    yield f"**{kept / every:.0%}**"


@row(queries_keys_values.scores, token=2, head=3)
def the_row_of_scores_is_that_of_the_token(run, at):
    yield run[A + "scores"][3, 2:3]


# -- tokens ----------------------------------------------------------------------------------------------------------


@row(tokens.one_sum, token=2)
def a_token_and_its_position_are_one_sum(run, at):
    added, summed = [run[f"embedding.{name}"][2] for name in ("tokens", "positions")], run["embedding.sum"][2]
    np.testing.assert_allclose(sum(added), summed, atol=1e-5)
    shown = np.stack([*added, summed])
    names = tokens.one_sum(run, at).drawn().layout["yaxis"]["ticktext"]
    assert f"row {run.ids[2]} of E" in names[0]
    yield np.hstack([shown[:, ::2], shown[:, 1::2]])


@row(tokens.one_sum, lambda: load(str(folder("NarrowElectraForMaskedLM")))(DOG), token=2)
def embeddings_narrower_than_the_sum_stand_in_its_first_columns(run, at):
    narrow, wide = run["embedding.tokens"][2], run["embedding.projection"][2]
    assert len(narrow) < len(wide)
    rows = [key for key in run if key.startswith("embedding.")]
    yield np.stack([np.pad(run[key][2], (0, len(wide) - len(run[key][2])), constant_values=np.nan) for key in rows])


def near(run: Trace, at: Place, **more: object) -> Picture:
    return tokens.nearest(run, at, worked_out.neighbours("text", run.ids[at.token]), **more)


@row(near, token=2)
def the_neighbours_of_a_word_are_the_nearest_rows_of_E_that_are_words(run, at):
    E, names = run.network.embedding.E.weight.numpy(), pipelines.pipeline("text").reader.vocabulary
    near, cosines = nearest_rows(E, run.ids[2], most=100, leave_out=range(5))
    words = [place for place, i in enumerate(near) if re.fullmatch("[a-z]{2,}", names[i])][:6]
    order = np.argsort(-E[run.ids[2]], kind="stable")
    yield from (E[[run.ids[2], *near[words]]][:, order], f"“{names[near[words[0]]]}”, cosine {cosines[words[0]]:.2f}")


@row(lambda run, at: near(run, at, others=run.ids[1:-1]), token=2)
def below_the_neighbours_of_a_word_stand_the_least_similar_words_of_the_sentence(
    run: Trace, at: Place
) -> Iterator[object]:
    E, own = run.network.embedding.E.weight.numpy(), run.ids[2]
    words, _, rows = worked_out.neighbours("text", own)
    names = pipelines.pipeline("text").reader.vocabulary
    left = [i for i in dict.fromkeys(run.ids[1:-1]) if i != own and names[i] not in words]
    alike = cosine_similarity(E[[own, *left]])[0, 1:]
    far = [left[i] for i in np.argsort(alike)[:3][::-1]]
    order = np.argsort(-E[own], kind="stable")
    yield np.vstack([rows, np.full_like(rows[:1], np.nan), E[far]])[:, order]


@row(lambda run, at: near(run, at, others=run.ids[1:-1]), HIDDEN, token=3)
def a_token_that_is_no_word_stands_over_the_words_of_the_sentence(run: Trace, at: Place) -> Iterator[object]:
    E, own = run.network.embedding.E.weight.numpy(), run.ids[3]
    words = [i for i in dict.fromkeys(run.ids[1:-1]) if i != own]
    alike = cosine_similarity(E[[own, *words]])[0, 1:]
    by_likeness = [words[i] for i in np.argsort(-alike, kind="stable")[:9]]
    rows = np.vstack([E[[own]], np.full((1, E.shape[1]), np.nan), E[by_likeness]])
    yield from (rows[:, np.argsort(-E[own], kind="stable")], f"cosine {alike.max():.2f}")


@row(tokens.all_positions, token=3)
@row(tokens.all_positions, token=1)
def the_waves_of_all_positions_stand_sines_first(run: Trace, at: Place) -> Iterator[object]:
    table = run["embedding.positions"]
    twice = [place for place, token in enumerate(run.tokens) if token == "the"]
    np.testing.assert_array_equal(*run["embedding.tokens"][twice])
    alike = cosine_similarity(run["embedding.sum"][twice])[0, 1]
    yield from (np.hstack([table[:, ::2], table[:, 1::2]]), f"{alike:.4f}")


@row(tokens.all_positions, "we sing songs .", token=0)
def positions_are_alike_as_they_are_near(run: Trace, at: Place) -> Iterator[object]:
    alike = cosine_similarity(run["embedding.positions"])[at.token]
    yield from (f"{alike[1]:.2f} to its neighbours", f"{alike[-1]:.2f} to the furthest")


def table_of(run: Trace) -> np.ndarray:
    return run.network.embedding.positions.table.numpy().astype(np.float64)


@row(tokens.components)
@row(tokens.components, component=16)
def the_waves_are_columns_of_the_table_of_positions(run, at):
    yield "Component 1 repeats after about 6.3 positions"  # 2π
    yield from table_of(run)[:, [0, 16, 32, 64, 128]].T


@row(tokens.similarity_of_words)
def positions_are_alike_by_cosine_and_differ_in_as_few_directions_as_is_said(run, at):
    alike, table = cosine_similarity(table_of(run)), table_of(run)
    yield from (alike, f"{np.diagonal(alike, 1).mean():.2f} on average between neighbours")
    parts = np.linalg.svd(table - table.mean(axis=0), compute_uv=False) ** 2
    few = int(np.argmax(parts.cumsum() >= 0.99 * parts.sum())) + 1
    yield f"in {few} of 256 directions"


@row(partial(tokens.pixels_of_one, seen=None), THREE, token=25)
def the_selected_patch_stands_there_as_numbers(run, at):
    yield run.patches[24:25]


# -- answers ---------------------------------------------------------------------------------------------------------


@row(partial(answer.at_temperature, tau=3.0), "the cat [MASK] on the mat .", token=3)
@row(partial(answer.at_temperature, tau=2.0), "the cat sat on the [MASK] .", token=6)
def bars_are_the_softmax_of_the_logits_over_tau(run, at):
    own, now = (softmax(run["logits"][at.token].astype(np.float64) / by) for by in (1, 3 if at.token == 3 else 2))
    order = np.argsort(-own)[:10]
    yield from (now[order], own[order], f"gets {decimal(now[order[0]])} instead of {decimal(own[order[0]])}")
    many, few = (sum(decimal(p) in ("0.01", "1.00") or p >= 0.01 for p in every[every > 1e-3]) for every in (now, own))
    yield f"With 1% or more: {f'{many} of' if many else 'none of the'} 12,000 instead of {few}."


def before_and_after(run: Trace, at: Place) -> Picture:
    look = {"said": "", "title": "", "choose": lambda output: {}}
    return likeliest_outputs(run, at, unchanged=run_of(run.subject), **look)


@row(before_and_after, HIDDEN, Edit("layers.1.ffn.output", "zero"), token=3)
def a_bar_moved_from_the_answer_before_the_change_to_that_with_it(run: Trace, at: Place) -> Iterator[object]:
    before, now = (softmax(one["logits"][3].astype(np.float64)) for one in (run_of(run.subject), run))
    shown = [*np.argsort(-before)[:10], now.argmax()]
    moved = max(shown, key=lambda word: abs(now[word] - before[word]))
    yield f"“{run.outputs[moved]}” moved most, from {decimal(before[moved])} to {decimal(now[moved])}."


def led(run: Trace) -> tuple[int, int]:
    """The two most likely outputs."""
    logits = run["logits"][run.tokens.index("[MASK]")] if run.ids else run["logits"]
    second, best = np.argsort(logits)[-2:]
    return int(best), int(second)


def by_heads(run: Trace, at: Place) -> Picture:
    return answer.heads_and_ffns(run, of_lead(run, *led(run), at.token, heads=True), led(run), at.token, {})


@pytest.mark.parametrize("name", COVER)
def test_the_bars_of_a_lead_add_up_to_it_or_say_that_digits_are_hidden(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trace_of(name)
    if "logits" not in run:
        return
    monkeypatch.setattr(answer, "outputs_of", lambda run: ["one", "two", "three"])
    several, count = run["logits"].ndim == 2, run["logits"].shape[-1]
    for token, outputs in product((1, 2) if several else (0,), permutations(range(min(count, 3)), 2)):
        logits = run["logits"][token] if several else run["logits"]
        lead = of_lead(run, *outputs, token)
        picture = answer.built_up(run, lead, outputs, {})
        bars = picture.drawn().data[0]["text"]
        *parts, total = summed(bars)
        digits = len(bars[-1].partition(".")[2])
        assert parts == [float(fixed(part, digits)) for part in lead.parts.values()], name
        assert ("more digits than are shown" in picture.sentence) == bars[-1].startswith("≈")
        assert total == pytest.approx(float(logits[outputs[0]] - logits[outputs[1]]), abs=0.006)


@row(by_heads, FIVE, token=0)
@row(by_heads, "the cat [MASK] on the mat .", token=3)
def heads_and_ffns_are_cells(run, at):
    parts = of_lead(run, *led(run), at.token, heads=True).parts
    columns = [*(f"attention.heads[{head}]" for head in range(run.config.heads)), "ffn.output"]
    table = np.array([[parts[f"layers.{layer}.{column}"] for column in columns] for layer in range(run.config.layers)])
    logits = (run["logits"][at.token] if run.ids else run["logits"]).astype(float)
    lead = logits[led(run)[0]] - logits[led(run)[1]]
    drawn = np.asarray(by_heads(run, at).drawn().data[0]["z"], float)
    assert np.nansum(drawn) == pytest.approx(lead, abs=1e-4), "all cells add up to the lead"
    yield from (with_the_rest(table, lead), f"add up to {lead:.2f}.")


def with_the_rest(table: np.ndarray, total: float) -> np.ndarray:
    """A table with a row above and a column beside it, in whose corner stands what is missing to a total."""
    cells = np.pad(table, ((1, 0), (0, 1)), constant_values=np.nan)
    cells[0, -1] = total - table.sum()
    return cells


def cells_of(run: Trace) -> np.ndarray:
    """Terms of the cosine of two sentences' mean rows: zᵢ · z′ⱼ / (n m |u| |v|)."""
    one, two = (torch.from_numpy(each.Z).double() for each in (run, run_of(HIDDEN)))
    return (one @ two.T / (one.sum(0).norm() * two.sum(0).norm())).numpy()


def pair_map(run: Trace, place: Place) -> Picture:
    other = run_of(HIDDEN)
    return answer.alike_map(run, place, other, of_cosine(run, other, MEAN), (1, 2))


@row(pair_map, DOG)
def pairs_of_tokens_add_up_to_the_cosine(run, at):
    cells, means = cells_of(run), (torch.from_numpy(each.Z).double().mean(0) for each in (run, run_of(HIDDEN)))
    row, column = np.unravel_index(cells.argmax(), cells.shape)
    yield from (cells, f"{cells.size} cells", f"cosine, {float(F.cosine_similarity(*means, dim=0)):.4f}")
    yield from (placed(run.tokens)[row], placed(run_of(HIDDEN).tokens)[column], f"{cells.max():.4f}")


@row(lambda run, at: answer.sentence_map(run, at, run_of(HIDDEN), cells_of(run)), f"{DOG} {DOG}")
def pairs_of_sentences_add_up_to_the_cosine(run, at):
    yield [[float(part.sum())] for part in np.split(cells_of(run), [run.tokens.index(".") + 1])]


@row(lambda run, at: answer.row_sums(run, at, of_cosine(run, run_of(HIDDEN), MEAN)), DOG)
def rows_of_pairs_are_what_each_token_adds(run, at):
    sums = cells_of(run).sum(axis=1)
    drawn = answer.row_sums(run, at, cells_of(run)).drawn().data[0]
    lengths = np.asarray(drawn["x"], float)
    assert len(lengths) == len(sums) + 1 and np.abs(lengths[:-1] - sums).max() < 1e-3
    assert lengths[-1] == pytest.approx(sums.sum(), abs=6e-4) and lengths[:-1].sum() == pytest.approx(lengths[-1])
    yield f"“{placed(run.tokens)[int(sums.argmax())]}”"


@row(lambda run, at: answer.row_sums(run_of(HIDDEN), at, cells_of(run).T, "columns"), DOG)
def columns_of_pairs_are_what_each_token_of_the_other_adds(run, at):
    sums = cells_of(run).sum(axis=0)
    yield f"“{placed(run_of(HIDDEN).tokens)[int(sums.argmax())]}”"


@row(lambda run, at: answer.row_sums(run, at, of_cosine(run, run, MEAN), "shares", total="sum"), DOG)
def shares_of_a_vector_lie_along_it_and_add_up_to_it(run, at):
    z = torch.from_numpy(run.Z).double()
    v = z.mean(0)
    shares = (z @ v / (len(z) * v @ v)).numpy()
    drawn = answer.row_sums(run, at, of_cosine(run, run, MEAN), "shares", total="sum").drawn().data[0]
    lengths = np.asarray(drawn["x"], float)
    assert np.abs(lengths[:-1] - shares).max() < 1e-3 and lengths[-1] == pytest.approx(1, abs=6e-4)
    yield f"“{placed(run.tokens)[int(shares.argmax())]}”"


THROUGH = AtWords(np.array([[0.25, -0.5], [0.125, 0.75]]), -0.0625, 0.015625)


@row(lambda run, at: answer.alike_map(run, at, run, THROUGH.cells, (0, 0), through=THROUGH), DOG)
def pairs_of_words_add_up_to_the_cosine_with_what_is_left(run, at):
    yield from (THROUGH.cells, "up to 0.6250", "With -0.062", "cosine, 0.5781", ": 0.7500")


@row(lambda run, at: answer.cell_by_heads(run, of_pair(run, run_of(HIDDEN), (at.token, 1), MEAN)), DOG, token=3)
def heads_and_ffns_bring_a_cell(run: Trace, at: Place) -> Iterator[object]:
    other = torch.from_numpy(run_of(HIDDEN).Z).double()
    scale = 1 / (torch.from_numpy(run.Z).double().sum(0).norm() * other.sum(0).norm())
    parts = of_sum(run, run.graph.Z, heads=True)
    columns = [*(f"attention.heads[{head}]" for head in range(run.config.heads)), "ffn.output"]
    value = {name: float(part[at.token] @ (other[1] * scale).numpy()) for name, part in parts.items()}
    table = np.array([[value[f"layers.{layer}.{column}"] for column in columns] for layer in range(run.config.layers)])
    yield with_the_rest(table, sum(value.values()))
    layer, head = np.unravel_index(np.abs(table[:, :-1]).argmax(), table[:, :-1].shape)
    yield from (f"layer {layer + 1}, head {head + 1}", f"{abs(table[layer, head]):.4f}")
    whole = of_pair(run, run_of(HIDDEN), (at.token, 1), MEAN)
    output = next(part for part in made_of(run, whole) if part.name == f"layers.{layer}.attention.output")
    taken = [float(part.value / table[layer, head]) for part in made_of(run, made_of(run, output)[head])]
    source = int(np.argmax(taken))
    weight = run[f"layers.{layer}.attention.weights"][head, at.token, source]
    yield f"“{placed(run.tokens)[source]}”, which gets {weight:.2f}"


LINES = ["the cat slept .", "a dog ran .", "money is in the bank ."]


def found_lines(run: Trace, place: Place) -> Picture:
    return answer.search_results(run, place, alike(load("text"), run, LINES), LINES)


@row(found_lines, DOG)
def lines_are_sorted_by_their_cosine_with_the_tokens_that_add_most(run, at):
    u, others = torch.tensor(run.Z).double().mean(0), [run_of(line) for line in LINES]
    cosines = [float(F.cosine_similarity(u, torch.tensor(other.Z).double().mean(0), dim=0)) for other in others]
    order = sorted(range(3), key=lambda line: -cosines[line])
    yield from (np.array([cosines[line] for line in order]), f"“{LINES[order[0]]}”", f"{max(cosines):.3f}")
    picture = found_lines(run, at)
    *_, names = (trace["text"] for trace in picture.drawn().data)
    adds = [torch.tensor(others[line].Z).double() @ u for line in order]
    for line, name, added in zip(order, names, adds, strict=True):
        strongest = placed(others[line].tokens)[int(added.argmax())]
        assert f"{cosines[line]:.2f}  {strongest}" in name.replace("\\", "")
    assert picture.picks(1, 0)["other"] == LINES[order[1]]


def looks_of_probe(run: Trace, at: Place) -> Picture:
    return probe_looks(run, at, run.picture.mean(axis=0))


@row(looks_of_probe, partial(trace_of, "a probe"))
def each_heads_hover_names_the_patch_that_the_probe_looks_at_most(run: Trace, at: Place) -> Iterator[object]:
    weights = run["pool.cross.weights"][:, 0]
    (hover,) = (trace["text"] for trace in looks_of_probe(run, at).drawn().data if trace.get("text"))
    assert hover == [f"{run.tokens[int(head.argmax())]} {head.max():.3f}" for head in weights]
    yield f"sum to 1. Strongest: {weights.max():.3f}, on"


# -- translation -----------------------------------------------------------------------------------------------------


def next_pieces(run: Trace, at: Place) -> Picture:
    return translation.next_pieces(run, at, pipelines.pipeline("translation").target_vocabulary)


@row(next_pieces, Task("我 love 你 ."), step=2)
@row(next_pieces, Task(DOG), step=0)
def the_likeliest_pieces_are_those_of_the_step(run, at):
    p = softmax(run["logits"][at.step])
    longest = max(len(run.tokens), len(run.target_tokens))
    best = np.sort(p)[::-1][: min(max(5, longest), 12)]  # a row for each word beside them
    yield best if p[run.written_ids[at.step]] in best else [*best, p[run.written_ids[at.step]]]


@row(translation.lines, Task("我爱你。"), layer=2, head=4, step=2)
@row(translation.lines, Task(DOG), layer=2, head=4, step=0)
def a_step_attends_in_its_row_of_the_run(run, at):
    weights = run["decoder.layers.2.cross.weights"][4, at.step]
    yield from (
        f"writes “{run.written[at.step]}”",
        f"In the source, it attends most to “{run.tokens[weights.argmax()]}”: {weights.max():.0%}",
    )
    shown = [text for one in translation.lines(run, at).drawn().data for text in one.get("text", ())]
    for logits, one, piece in zip(run["logits"], run.written_ids, run.written, strict=True):
        p = softmax(logits)[one]
        assert [
            ("color" in text) == (p < 0.295) for text in shown if f"{piece}<" in text and f"> {percent(p)}<" in text
        ]
    picks = translation.lines(run, at).picks
    assert [picks(-1, place)["step"] for place in (1, 2)] == [0, 1]  # each that writes what stands there


@row(translation.without_mask, Task(DOG), layer=2, head=4, step=2)
def what_would_leak_without_the_mask_is_what_a_head_without_it_takes(run, at):
    edit = Edit("decoder.layers.2.attention.masked", "unmasked", head=4)
    task = Task(DOG, written=run.written_ids)
    free = pipelines.run("translation", task, (edit,))["decoder.layers.2.attention.weights"][4, 2]
    own = run["decoder.layers.2.attention.weights"][4, 2]
    assert not own[3:].any() and run.target_tokens[3] == run.written[2]
    yield from (free, own, f"would take {free[3:].sum():.0%} from later pieces")
    yield f", {free[3]:.0%} from “{run.written[2]}” itself"


# -- sums ----------------------------------------------------------------------------------------------------------


def score_by_origin(run: Trace, at: Place) -> str:
    found = dict(zip(("place", "word", "brought", "rest"), run[A + "scores"][at.head, at.token, :4], strict=True))
    return of_cell(SimpleNamespace(run=run), "it", found)


@pytest.mark.parametrize(
    ("make", "pattern"),
    [
        (queries_keys_values.products, r"together (\S+)\. .*, together (\S+)\. The sum is the score, (\S+)\."),
        (score_by_origin, r"\((?P<total>\S+)\) comes from: .* (\S+), .* (\S+), .* (\S+), .* (\S+)\."),
    ],
)
def test_numbers_of_a_sum_add_up_as_they_are_printed(make: Callable, pattern: str) -> None:
    run = run_of(HIDDEN)
    for token, head in product(range(len(run.tokens)), range(0, 8, 3)):
        picture = make(run, Place(layer=1, head=head, token=token))
        said = (picture if isinstance(picture, str) else picture.says()).replace("−", "-").replace("\\", "")
        found = re.search(pattern, said)
        assert found, said
        numbers = [float(one.strip("()")) for one in found.groups()]
        total = numbers.pop(0 if "total" in found.groupdict() else -1)
        assert round(sum(numbers) - total, 4) == 0, said


#: Derived quantities that hold under any edit: what each layer added, a score that softmax reads, and whether
#: positions are sinusoidal.
WHATEVER = {"heads_by_origin", "passed_on layers.1.attention.masked", "all_positions embedding.sum"}


def test_a_picture_relies_on_what_it_reads_together_with_what_it_is_made_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise it could say that a number is computed from others where an edit has replaced it."""
    read, recorded, missing = set(), Trace.__getitem__, set()
    monkeypatch.setattr(Trace, "__getitem__", lambda run, key: read.add(key) or recorded(run, key))
    for row in ROWS.values():
        make, run = getattr(row.make, "func", row.make), run_of(row.subject, row.edits)
        read.clear()
        picture = row.make(run, row.place)
        if isinstance(picture, Picture) and make.__name__ not in WHATEVER and {*picture.reads, *picture.shares}:
            picture.says()
            told = {*picture.reads, *picture.shares, picture.quantity and picture.quantity.key}
            of = {key: {*run.graph[key].reads} for key in read if key in run.graph}
            missing |= {f"{make.__name__} {key}" for key in of.keys() - told if of[key] and of[key] <= read}
    assert missing <= WHATEVER
