"""Questions: each answer against another computation, and no question whose claim would be false."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from model import Edit, Pipeline, examples
from model.analysis import placed, softmax
from model.edits import head_off
from model.measures.cost import shape_walk
from model.measures.telling import telling_word
from model.translator import Translator
from pages import server
from pages.drawing.figures import BLUE, GREY, GUESS, ORANGE
from pages.drawing.picture import Picture
from pages.drawing.state import sketch
from pages.drawing.text import LANGUAGES, catalogue
from pages.drawing.text.numbers import First, decimal, last, percent
from pages.drawing.text.numbers import first as the_first
from pages.school.classroom import join
from pages.school.lessons.lesson import LESSONS, TOUR
from pages.school.questions import QUESTIONS
from pages.school.questions.case import GIVEN_AWAY, MOST_WEIGHED, PLAINLY, Case, Truth, first_answer, is_right, short
from pages.school.questions.pictures import CAUSAL, Look, answer_bars, lens, pictures, title_of
from pages.school.questions.positions import DRAWN
from pages.school.questions.question import clear_truth, truth_of
from pages.school.teaching.report import STYLE
from pages.screen.frame.contents import NAMES
from pages.screen.runs import pipelines
from tests import networks
from tests.school.making import (
    SENTENCE,
    _keys_like_queries,
    _mixed_already,
    _no_answer,
    _no_favourite,
    _no_order,
    _no_thought,
    _nothing_added,
    _nothing_found,
    doctored,
)

#: The network of a question, unless it is the one for hidden words.
NETWORK = {"digit": "digits", "gathered": "digits", "looks": "digits", "source": "translation", "once": "translation"}


def case(pipeline: Pipeline) -> Case:
    if isinstance(pipeline, Translator):
        return Case(pipeline, pipeline("she went to the shop to buy some bread ."), 0, pipeline.reader.vocabulary)
    if pipeline.config.input == "words":
        trace = pipeline(SENTENCE)
        return Case(pipeline, trace, trace.tokens.index("[MASK]"), pipeline.reader.vocabulary)
    return Case(pipeline, pipeline(sketch.ink(sketch.example(3))), 0, pipeline.reader.labels)


@cache
def told(key: str, kind: str = "") -> tuple[Case, Truth]:
    """A question as asked of the trained network."""
    here = case(pipelines.pipeline(kind or NETWORK.get(key, "text")))
    truth = clear_truth(QUESTIONS[key], here)
    assert truth is not None
    return here, truth


def row(here: Case, truth: Truth, *, back: bool = False, scaled: bool = True) -> np.ndarray:
    """A row of attention weights, from Q and K."""
    layer, head, query, key = (truth.place[name] for name in ("layer", "head", "token", "key"))
    Q, K = (here.trace[f"layers.{layer}.attention.{name}"][head] for name in "QK")
    scores = Q[key if back else query] @ K.T
    return softmax(scores / (Q.shape[-1] ** 0.5 if scaled else 1))


def test_the_hidden_word_is_the_one_that_the_run_answers() -> None:
    here, truth = told("word")
    (guess,) = here.trace.answer
    assert truth.answer == guess.best and guess.best != "[MASK]"
    assert truth.margin == pytest.approx(guess.probabilities[0] - guess.probabilities[1], abs=1e-5)


def test_without_positions_two_words_change_places_unseen() -> None:
    here, truth = told("places")
    swap = Edit("embedding.tokens", "swap", token=truth.place["token"], from_token=truth.place["key"])
    none = Edit("embedding.positions", "zero")
    output, bare = (list(here.names).index(str(truth.said[name])) for name in ("answer", "bare"))
    for name, edits in {"before": [], "after": [swap], "bare_before": [none], "bare_after": [none, swap]}.items():
        shares = here.shares(here.pipeline(SENTENCE, edits)["logits"])
        assert truth.said[name] == pytest.approx(float(shares[bare if "bare" in name else output]), abs=1e-4)
    assert truth.said["bare_before"] >= DRAWN, "what is compared can be seen"
    assert truth.said["bare_before"] == pytest.approx(truth.said["bare_after"], abs=1e-4)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("你爱我[MASK]", [{"你", "我"}]),
        ("我们[MASK]他们。", [{"我们", "他们"}]),
        ("我[MASK]你们。", []),  # not as long
        ("其他人[MASK]我。", []),
        ("小猫喜欢[MASK]小狗。", [{"猫", "狗"}]),
        ("马路上有[MASK]和鱼缸。", []),
        ("今天天气很好，我们[MASK]公园玩吧。", []),
        ("妈妈说她很[MASK]这本书。", []),
        ("我 love 你 [MASK] .", [{"我", "你"}]),
        ("unhappily he [MASK] ran .", [{"he", "ran"}]),
        ("the dog [MASK] .", [{"the", "dog"}]),
        ("the dog did n't [MASK] .", [{"the", "dog"}, {"the", "did"}, {"dog", "did"}]),
        ("he 's [MASK] .", []),
        ("[MASK] .", []),
    ],
)
def test_words_that_change_places_are_whole_and_of_one_kind(sentence: str, words: list[set[str]]) -> None:
    """No word pieces, no full stop; if no whole words are known, nothing is asked."""
    pipeline = pipelines.pipeline("text")
    trace = pipeline(sentence)
    here = Case(pipeline, trace, trace.tokens.index("[MASK]"), pipeline.reader.vocabulary)
    truth = truth_of(QUESTIONS["places"], here)
    assert {truth.said["one"], truth.said["other"]} in words if truth else not words


def test_shares_and_both_directions_come_of_q_and_k_and_the_root_of_d_k() -> None:
    here, weights = told("weights")
    np.testing.assert_allclose(np.array(weights.answer) / 100, row(here, weights), atol=1e-5)
    assert np.argmax(weights.answer) == weights.place["key"]
    here, back = told("back")
    assert back.answer == pytest.approx(row(here, back, back=True)[back.place["token"]], abs=1e-5)
    here, root = told("root")
    layer, head, query, key = (root.place[name] for name in ("layer", "head", "token", "key"))
    name = f"layers.{layer}.attention."
    run = here.pipeline(SENTENCE, [Edit(name + "scaled", "unscaled", head=head)])
    assert root.answer == pytest.approx(float(run[name + "weights"][head, query, key]), abs=1e-5)
    assert root.answer == pytest.approx(row(here, root, scaled=False)[key], abs=1e-5)
    Q, K = (here.trace[name + one][head].astype(np.float64) for one in "QK")
    assert root.said["flat"] == pytest.approx(softmax(Q[query] @ K.T / Q.shape[-1])[key], abs=1e-5)


def test_heads_are_counted_one_run_each() -> None:
    here, truth = told("heads", "digits")
    ink = sketch.ink(sketch.example(3))
    runs = [
        here.pipeline(ink, [Edit(f"layers.{layer}.attention.heads", "zero", head=head)]).answer[0].best
        for layer in here.layers
        for head in range(here.trace.config.heads)
    ]
    assert truth.answer == sum(best != truth.said["best"] for best in runs) and truth.said["heads"] == len(runs)


def test_the_mean_of_heads_is_never_sharper_than_they_are() -> None:
    here, truth = told("blur")
    rows = here.trace[f"layers.{truth.place['layer']}.attention.weights"][:, here.token]
    assert truth.answer == pytest.approx(float(np.mean(rows, axis=0).max()), abs=1e-6)
    assert truth.said["each"] == pytest.approx(float(rows.max(axis=1).mean()), abs=1e-6)
    assert truth.said["count"] == len({int(row.argmax()) for row in rows}) > 1
    for case_ in cases_of("text"):
        truth = truth_of(QUESTIONS["blur"], case_)
        assert truth is not None and truth.margin >= 0


def test_without_residual_connections_all_tokens_are_one_in_a_run_of_its_own() -> None:
    here, truth = told("residual")
    key = here.trace.graph.stream(len(here.layers) - 1)[-1]
    sums = [Edit(f"layers.{layer}.add_{number}", "without") for layer in here.layers for number in (1, 2)]
    for run, alike in ((here.trace, truth.said["share"]), (here.pipeline(SENTENCE, sums), truth.answer)):
        unit = run[key].astype(np.float64)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        cosines = (unit @ unit.T)[np.triu_indices(len(unit), 1)]
        assert alike == pytest.approx(cosines.mean(), abs=1e-4)
    assert truth.answer > 0.9


@pytest.mark.parametrize("kind", ["text", "digits"])
def test_without_layernorm_the_numbers_grow_as_in_a_run_of_its_own(kind: str) -> None:
    here, truth = told("norm", kind)
    Z = here.trace.graph.Z
    bare = here.pipeline(here.trace.subject, [Edit(f"layers.{{l}}.norm_{number}", "bypass") for number in (1, 2)])
    for run, said in ((here.trace, "now"), (bare, "bare")):
        assert float(str(truth.said[said])) == pytest.approx(float(run[Z][here.token].std()), rel=1e-3)
    times = float(str(truth.said["bare"])) / float(str(truth.said["now"]))
    nearest = min((1, 10, 100, 1000), key=lambda power: abs(np.log10(times / power)))
    assert truth.answer == (f"× {nearest}" if nearest < 1000 else "thousandfold") != "× 1"


@pytest.mark.parametrize("kind", ["text", "digits"])
def test_from_its_layer_on_the_answer_stays_the_first_and_was_not_before(kind: str) -> None:
    here, truth = told("layer", kind)
    states = torch.from_numpy(here.trace.states())
    with torch.inference_mode():
        logits = here.pipeline.network.read_out(here.pipeline.network.norm(states)).numpy()
    best = [here.names[int(row.argmax())] for row in (logits[:, here.token] if logits.ndim == 3 else logits)]
    known = int(truth.answer)
    assert set(best[known:]) == {truth.said["answer"]} and best[known - 1] == truth.said["before"] != best[known]


def test_digit_answer_depends_on_attention_of_cls_and_not_of_patches() -> None:
    here, truth = told("gathered")
    moved = dict(truth.bars)
    assert truth.answer == "at_cls" and moved["at_patch"] == moved["at_patches"] == 0 < moved["at_cls"]
    gone = [Edit(here.trace.graph.embedded, "zero", token=token) for token in range(1, len(here.tokens))]
    assert moved["early"] == pytest.approx(np.abs(changed(here, *gone) - changed(here)).sum() / 2, abs=1e-4)
    assert moved["early"] > 0.2, "what is read there was in the patches"


def test_without_W_O_a_head_writes_in_its_own_places_only_and_with_it_in_all() -> None:
    here, truth = told("mixed")
    unmixed, key = Edit("layers.{l}.attention.output", "unmixed"), "layers.0.attention.output"
    for edits, changes in (([unmixed], truth.answer), ([], truth.said["d_model"])):
        whole, less = (here.pipeline(SENTENCE, [*edits, *off])[key][here.token] for off in ([], [head_off(0, 0)]))
        assert (whole != less).sum() == changes


def test_a_head_brings_the_weighted_sum_of_all_values() -> None:
    here, truth = told("values")
    layer, head, column = truth.place["layer"], truth.place["head"], truth.said["column"] - 1
    V = here.trace[f"layers.{layer}.attention.V"][head].astype(np.float64)
    mixed, means = row(here, truth) @ V, V.mean(axis=0)
    assert truth.answer == pytest.approx(float(mixed[column]), abs=1e-4)
    assert truth.said["mean"] == pytest.approx(float(means[column]), abs=1e-4)
    assert column == int((np.abs(mixed - means) / np.ptp(V, axis=0)).argmax()), "where the weights tell most"


@pytest.mark.parametrize("size", [0.004, 0.064, 0.15, 0.92, 1.18, 9.46, 12.34, 123.4])
def test_a_number_below_nothing_is_written_as_precisely_as_above(size: float) -> None:
    below, above = (float(short(value).replace("−", "-")) for value in (-size, size))
    assert abs(below + size) <= 0.005 * max(1, size) and (size < 0.01 or below == -above)


def test_cls_attends_to_ink() -> None:
    here, truth = told("looks")
    layers, heads = here.trace.graph.layers(), here.trace.config.heads
    inked = [1 + place for place, patch in enumerate(here.trace.patches) if patch.any()]
    each = [float(here.trace[f"layers.{i}.attention.weights"][head, 0, inked].sum()) for i, head in here.every_head]
    assert truth.answer == pytest.approx(sum(each) / (layers * heads), abs=1e-5)
    assert truth.said["even"] == pytest.approx(len(inked) / len(here.tokens))


@pytest.mark.parametrize("sentence", [SENTENCE, "the animal [MASK] not cross the street because it was too tired ."])
def test_one_head_is_asked_about_whose_other_rows_do_not_tell_and_no_other_such_matters_more(sentence: str) -> None:
    pipeline = pipelines.pipeline("text")
    trace = pipeline(sentence)
    here = Case(pipeline, trace, trace.tokens.index("[MASK]"), pipeline.reader.vocabulary)
    assert here.pair is not None
    fit, *asked = (truth_of(QUESTIONS[key], here) for key in ("fit", "weights", "values", "back"))
    assert fit and fit.place == here.pair.place
    assert all(truth and truth.place["key"] not in (fit.place["key"], here.token) for truth in asked), "untold"
    assert len({truth.place["head"] for truth in asked if truth}) == 1
    best, left = int(changed(here).argmax()), {}
    for layer, head in here.every_head:
        weights = here.trace[f"layers.{layer}.attention.weights"][head, here.token]
        second, first = np.sort(weights)[-2:]
        key, most = int(weights.argmax()), here.trace[f"layers.{layer}.attention.weights"][head].argmax(axis=1)
        alike = [most[i] == key or most[i] - i == key - here.token for i in range(len(most)) if i != here.token]
        if key in here.visible and first - second >= PLAINLY and np.mean(alike) < GIVEN_AWAY:
            left[layer, head] = (second - first, float(changed(here, head_off(layer, head))[best]))
    plainest = sorted(left, key=left.__getitem__)[:MOST_WEIGHED]
    assert min(plainest, key=lambda where: left[where][1]) == (here.pair.layer, here.pair.head)


def test_the_class_is_the_one_that_the_run_answers() -> None:
    here, truth = told("digit")
    (guess,) = here.trace.answer
    assert truth.answer == guess.best and dict(truth.bars) == pytest.approx(
        dict(zip(guess.labels, guess.probabilities, strict=True)), abs=1e-5
    )


def test_the_best_key_has_the_largest_product_with_the_query() -> None:
    here, truth = told("fit")
    layer, head, i, j = (truth.place[name] for name in ("layer", "head", "token", "key"))
    Q, K = (here.trace[f"layers.{layer}.attention.{name}"][head].astype(np.float64) for name in "QK")
    fits = [float(Q[i] @ key) for key in K]
    assert max(fits) == fits[j] and truth.options[j] == truth.answer
    assert [value for _, value in truth.bars] == pytest.approx(fits, abs=1e-3)
    assert truth.said["own"] == pytest.approx(fits[i], abs=1e-3)
    assert truth.said["selves"] == sum(int((K @ q).argmax()) == place for place, q in enumerate(Q))


def test_what_a_step_reads_comes_of_its_query_and_the_keys_of_the_source() -> None:
    here, truth = told("source")
    layer, head, step, source = (truth.place[name] for name in ("layer", "head", "step", "token"))
    Q, K = (here.trace[f"decoder.layers.{layer}.cross.{name}"][head] for name in "QK")
    weights = softmax(Q[step] @ K.T / Q.shape[-1] ** 0.5)
    assert weights.argmax() == source and truth.said["share"] == pytest.approx(float(weights[source]), abs=1e-5)
    assert here.trace.written[step] == truth.said["piece"] and here.trace.tokens[source] == truth.said["key"]


def test_without_the_ffn_the_answer_has_what_a_run_without_gives_it() -> None:
    here, truth = told("thinks")
    now, bare = changed(here), changed(here, Edit("layers.{l}.ffn.output", "zero"))
    assert truth.said["before"] == pytest.approx(float(now.max()), abs=1e-4)
    assert truth.answer == pytest.approx(float(bare[now.argmax()]), abs=1e-4)


@pytest.mark.parametrize("name", [name for name in networks.COVER if networks.CONFIGS[name].input == "words"])
def test_what_is_said_to_take_four_times_and_twice_the_work_does_by_the_table_of_costs(name: str) -> None:
    pipeline, trace = networks.pipeline(name), networks.trace_of(name)
    config, truth = trace.config, truth_of(QUESTIONS["twice"], Case(pipeline, trace, 0, []))
    if truth is None:
        assert config.local or config.distance_terms
        return
    steps = [[one for one in shape_walk(config, n) if one.layer == 0] for n in (truth.said["n"], truth.said["double"])]
    work = [{one.key: one.multiply_adds.number or one.output.size for one in each} for each in steps]
    times = {key.removeprefix("layers.0."): work[1][key] / now for key, now in work[0].items()}
    assert {*times.values()} == {2, 4}
    fourfold = {key.removeprefix("attention.") for key in times if times[key] == 4}
    assert fourfold - {"scaled", "relative", "biased", "masked"} == {"scores", "weights", "heads"}
    assert all(re.search(r"Q Kᵀ. ?softmax. ?A V", catalogue(language)["lesson.twice.why"]) for language in LANGUAGES)
    assert truth.answer == "× 4" and truth.said["more"] == 4 * truth.said["looks"] == 4 * len(trace.tokens) ** 2
    adds = {one.key.removeprefix("layers.0.attention."): one.multiply_adds.number for one in steps[0]}
    assert truth.said["part"] == percent(sum(adds[key] for key in fourfold) / sum(adds.values()))


def test_a_page_that_shows_one_head_is_asked_about_that() -> None:
    here, _ = told("fit")
    for layer, head in [(2, 3), (4, 1)]:
        chosen, asked = replace(here, layer=layer, head=head), 0
        for key in ("fit", "weights", "back", "root"):
            if truth := truth_of(QUESTIONS[key], chosen):
                assert (truth.place["layer"], truth.place["head"]) == (layer, head)
                asked += 1
        assert asked > 2
        truth = truth_of(QUESTIONS["blur"], replace(chosen, head=None))
        assert truth is not None and truth.place["layer"] == layer


def changed(here: Case, *edits: Edit) -> np.ndarray:
    """Probabilities in a separate run with these edits."""
    return here.shares(here.pipeline(here.trace.subject, edits)["logits"])


def test_without_positions_the_first_answer_is_that_of_a_run_without() -> None:
    here, truth = told("bare")
    now, bare = changed(here), changed(here, Edit("embedding.positions", "zero"))
    assert truth.answer == pytest.approx(float(bare[now.argmax()]), abs=1e-4)
    assert truth.margin == pytest.approx(float(now.max() - bare[now.argmax()]), abs=1e-4)


def test_with_a_causal_mask_the_first_answer_is_that_of_a_run_with_it() -> None:
    here, truth = told("causal")
    now, masked = changed(here), changed(here, CAUSAL)
    best = int(now.argmax())
    assert truth.said["answer"] == here.names[best]
    assert truth.answer == truth.said["after"] == pytest.approx(float(masked[best]), abs=1e-4)
    assert truth.margin == pytest.approx(float(now[best] - masked[best]), abs=1e-4)


@pytest.mark.parametrize(("second", "one_leads"), [(0.3085, False), (0.304, True)])
def test_no_answer_is_called_the_first_where_pages_write_two_alike(
    second: float, one_leads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = told("causal")
    now, then = changed(here), np.zeros(len(here.names))
    then[3], then[9] = 0.312, second
    monkeypatch.setattr(Case, "changed", lambda case, edits: [now, then])
    truth = first_answer(here, [CAUSAL])
    assert truth is not None and (truth.margin > 0) is one_leads


def test_the_encoder_runs_once_while_a_translation_is_written() -> None:
    """And once more for the recording pass, like the decoder."""
    here, truth = told("once")
    ran = {"encoder": 0, "decoder": 0}
    network = here.pipeline.network

    def count(side: str) -> Callable[..., None]:
        def hook(*_: object) -> None:
            ran[side] += 1

        return hook

    hooks = [network.layers[0].register_forward_hook(count("encoder"))]
    hooks.append(network.decoder.layers[0].register_forward_hook(count("decoder")))
    try:
        run = here.pipeline(here.trace.subject, beams=1)
    finally:
        for hook in hooks:
            hook.remove()
    assert ran == {"encoder": truth.answer + 1, "decoder": len(run.written) + 1}
    assert truth.said["steps"] == len(here.trace.written) > 2


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("word", _no_answer), ("places", _no_order), ("weights", _no_favourite), ("root", _no_favourite),
        ("back", _no_favourite), ("heads", _no_answer), ("blur", _no_favourite), ("norm", _nothing_added),
        ("layer", _no_answer), ("fit", _no_favourite), ("thinks", _no_thought), ("mixed", _mixed_already),
        ("causal", _nothing_found), ("bare", _no_order), ("values", _no_favourite),
    ],
)  # fmt: skip
def test_what_would_be_false_in_a_run_is_not_asked(key: str, change: Callable[[nn.Module], None]) -> None:
    told(key)  # of the trained network it is
    assert clear_truth(QUESTIONS[key], case(doctored(change))) is None


def test_best_key_is_not_asked_where_it_is_the_tokens_own() -> None:
    """Otherwise the common mistake would be right."""
    alike = case(doctored(_keys_like_queries))
    fixed = [replace(alike, layer=layer, head=head) for layer, head in alike.every_head]
    own = [here for here in fixed if _best(here) == here.token]
    assert own and not any(clear_truth(QUESTIONS["fit"], here) for here in own)


def _best(here: Case) -> int:
    return int(here.trace[f"layers.{here.layer}.attention.scores"][here.head, here.token].argmax())


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda question: question.key)
def test_guess_and_truth_can_be_sent_and_the_common_mistake_is_not_right(question) -> None:
    _, truth = told(question.key)
    assert json.loads(json.dumps(truth.answer)) == truth.answer and json.dumps(truth.said)
    assert_filled(question.key, truth)
    assert is_right(question.gesture, truth.answer, truth)
    assert question.gesture != "slide" or truth.answer in dict(truth.bars).values(), "over which a guess is laid"
    mistakes = {
        "word": truth.said.get("second"), "weights": [1, 1, 1], "norm": "× 1", "root": truth.said.get("share"),
        "back": truth.said.get("share"), "heads": 24, "layer": "0", "blur": truth.said.get("each"),
        "residual": truth.said.get("share"), "fit": truth.said.get("query"), "twice": "× 2",
        "once": truth.said.get("steps"), "thinks": truth.said.get("before"),
        "values": truth.said.get("mean"), "mixed": truth.said.get("d_model"), "bare": truth.said.get("before"),
        "looks": truth.said.get("even"), "causal": truth.said.get("before"),
    }  # fmt: skip
    otherwise = next((name for name in truth.options if name != truth.answer), None)
    assert not is_right(question.gesture, mistakes.get(question.key, otherwise), truth)


#: Whom a text after the answer names as ahead of others, if anybody is.
AHEAD: dict[str, tuple[str, Callable[[Case], First]]] = {
    "digit": ("second", lambda case: the_first(np.sort(case.shares(case.trace["logits"]))[:-1], decimal)),
    "heads": ("head", lambda case: last(case.without_each[1:, case.without_each[0].argmax()], decimal)),
    "layer": (
        "before",
        lambda case: the_first(case.pipeline.read_layers(case.trace, case.token)[_known(case) - 1], decimal),
    ),
    "word": ("best", lambda case: the_first(case.shares(case.trace["logits"]), decimal)),
}


def _known(case: Case) -> int:
    truth = clear_truth(QUESTIONS["layer"], case)
    assert truth
    return int(truth.answer)


@pytest.mark.parametrize("key", AHEAD)
def test_what_is_said_after_the_answer_names_none_of_several_that_are_written_alike(key: str) -> None:
    name, found_in = AHEAD[key]
    digits = pipelines.pipeline("digits")
    drawn = [Case(digits, digits(image), 0, digits.reader.labels) for image in examples.digits()[::2]]
    found = set()
    for here in [*drawn, *cases_of("text")][:20]:
        if truth := clear_truth(QUESTIONS[key], here):
            for language in LANGUAGES:
                said = " ".join(catalogue(language)[text_of(key, text)] for text in truth.told)
                ahead = found_in(here).ahead
                assert (f"{{{name}}}" in said) == ahead, (key, here.tokens)
            found.add(ahead)
    assert found == ({True, False} if key in ("digit", "heads") else {True})


#: Sentences with an uncertain answer.
OPEN = ("the old man [MASK] a book in the garden .", "she put the [MASK] on the table .", "我[MASK]这本书。")


def test_where_the_network_is_unsure_what_a_part_is_worth_is_still_asked_and_no_change_is_wrong() -> None:
    text = pipelines.pipeline("text")
    here = [*cases_of("text"), *(Case(text, run, run.tokens.index("[MASK]"), text.reader.vocabulary)
            for run in map(text, OPEN))]  # fmt: skip
    for key in ("bare", "thinks"):
        truths = [clear_truth(QUESTIONS[key], one) for one in here]
        assert all(truths[-len(OPEN) :]), key
        assert not any(is_right("slide", truth.said["before"], truth) for truth in truths if truth)


#: Sentences of a reader: with the word hidden by him, else with the most informative one.
OWN = (
    "my little brother lost his key in the park .", "the old man [MASK] a book in the garden .",
    "the doctor gave the child some medicine because she was ill .", "we will visit our grandparents next summer .",
    "the cat sat on the mat and looked at the bird .", "he did not eat the apple because it was too old .",
    "老师给学生们讲了一个故事。", "我弟弟在公园里丢了钥匙。", "因为下雨，我们今天没有去学校。", "妈妈在厨房里做饭。",
    "他想去北京学习中文。", "猫在桌子上看着那只鸟。",
)  # fmt: skip


@cache
def own_cases(kind: str) -> list[Case]:
    """Cases of the tour for the sentences above, or for four digits."""
    pipeline = pipelines.pipeline(kind)
    if kind == "digits":
        return cases_of(kind)[:4]
    if kind == "translation":
        ours = [sentence for sentence in chain.from_iterable(examples.SENTENCES) if "[MASK]" not in sentence]
        runs = [
            pipeline(sentence.replace("[MASK]", "read"))
            for sentence in (*OWN, *ours[::5], "今天天气很好，我们去公园玩吧。")
        ]
        return [Case(pipeline, run, 0, pipeline.reader.vocabulary) for run in runs]
    whole = [sentence for sentence in OWN if "[MASK]" not in sentence]
    gaps = map(pipeline, set(OWN) - set(whole))
    found = [Case(pipeline, run, run.tokens.index("[MASK]"), pipeline.reader.vocabulary) for run in gaps]
    return [*found, *(hidden_case(pipeline, sentence) for sentence in whole)]


def own_truths(key: str) -> list[tuple[Case, Truth]]:
    """This question's answer for each case in which it is asked."""
    kinds = [NETWORK[key]] if key in NETWORK else ["text", "digits"]
    found = [(case, clear_truth(QUESTIONS[key], case)) for kind in kinds for case in own_cases(kind)]
    return [(case, truth) for case, truth in found if truth]


@pytest.mark.parametrize("key", ["back", "bare", "causal", "thinks"])
def test_slider_near_a_tiny_effect_is_right_and_no_change_is_wrong(key: str) -> None:
    truths = [truth for _, truth in own_truths(key)]
    assert len(truths) >= 8
    for truth in truths:
        (_, before), (_, after) = truth.bars
        assert is_right("slide", after + np.clip((before - after) / 2, -0.09, 0.09), truth)
        assert not is_right("slide", before, truth) and not is_right("slide", after + 0.15, truth)


def test_of_own_sentences_a_step_is_asked_that_plainly_reads_one_word_and_no_other_step_as_much() -> None:
    found = own_truths("source")
    assert len(found) >= 8
    for case, truth in found:
        trace = case.trace
        together = np.mean([trace[f"decoder.layers.{layer}.cross.weights"].mean(axis=0) for layer in range(3)], axis=0)
        step, token = truth.place["step"], truth.place["token"]
        piece = trace.written[step]
        assert len(piece) > 2 or piece > "\u2fff", "to, it and of are read wherever a word is made ready"
        assert together[:, token].argmax() == step, (trace.written, truth.said["piece"], truth.answer)
        words = [placed(trace.tokens).index(name) for name in truth.options if name != truth.answer]
        assert len(words) > 1
        assert together[step, words].max() < together[step, token] / 2, "another token is no honest guess"
        beside = {trace.tokens[i] for i in (token - 1, token + 1)} if ord(trace.tokens[token][0]) > 0x2FFF else set()
        assert not beside & set(truth.options), "of a word of two signs, either is an honest guess"


def test_source_of_a_function_word_is_not_asked() -> None:
    (case,) = (case for case in own_cases("translation") if "to" in case.trace.written and "玩" in case.trace.tokens)
    assert clear_truth(QUESTIONS["source"], case)
    assert clear_truth(QUESTIONS["source"], replace(case, step=case.trace.written.index("to"))) is None


def test_of_own_sentences_the_picture_of_the_layers_names_no_answer_that_comes_first_anywhere() -> None:
    """Even a second rank would reveal the covered cell."""
    found = own_truths("layer")
    assert len(found) >= 8
    for case, truth in found:
        firsts = {case.names[i] for i in case.pipeline.read_layers(case.trace, case.token).argmax(axis=1)}
        (before, after) = (_named(lens(Look("layer", "tap", case, truth, shown=shown))) for shown in (False, True))
        assert not before & firsts and firsts <= after and len(before) > 1


def _named(picture: Picture) -> set[str]:
    """Words written in its cells."""
    cells = picture.drawn().data[0]["text"]
    return {name for row in cells for name in row}


def text_of(key: str, name: str) -> str:
    """Key of a question's text, its own or one shared with another."""
    return f"lesson.{name}" if "." in name else f"lesson.{key}.{name}"


def test_a_question_has_all_its_words_and_a_picture() -> None:
    for key, question in QUESTIONS.items():
        words = [*(name for name in told(key)[1].told if "." not in name), "ask", "short", "otherwise", "needs"]
        words += [f"hint_{number + 1}" for number in range(question.hints)]
        assert question.hints and question.measure and question.picture and question.page in NAMES
        for language in LANGUAGES:
            held = {name for name in catalogue(language) if name.startswith(f"lesson.{key}.")}
            others = {name for name in held if re.search(r"\.(axis|bar_\w+|why\w*)$", name)}
            assert {f"lesson.{key}.{word}" for word in words} | others == held, "nothing is missing, and nothing idle"
            assert not any(re.search(r"(?<!{)\b[A-Za-z]_\w", catalogue(language)[name]) for name in held), (
                "phones, reports and paper set no subscripts"
            )
            assert not any(re.search(r"\w · [\w(]|(?<!\d)\.\d", catalogue(language)[name]) for name in held), (
                "a product stands on one line, a number begins with a digit"
            )
            hints = " ".join(catalogue(language)[name] for name in held if ".hint_" in name)
            assert not re.search(r"\bOpen\b|打开(“|权重|这个头|注意力)", hints), "phones have no page"


def cases_of(network: str) -> list[Case]:
    """Cases of one network, for different inputs."""
    pipeline = pipelines.pipeline(network)
    if network == "translation":
        return [Case(pipeline, pipeline(x), 0, pipeline.reader.vocabulary) for x in examples.SENTENCES[0]]
    if network != "text":
        drawings = examples.digits()[:6]
        return [Case(pipeline, pipeline(image), 0, pipeline.reader.labels) for image in drawings]
    return [hidden_case(pipeline, sentence) for sentence in chain.from_iterable(examples.SENTENCES[:3])]


def hidden_case(pipeline: Pipeline, sentence: str) -> Case:
    """The case of the pages: with the most informative word hidden."""
    run = pipeline(sentence)
    token = telling_word(pipeline, run)
    hidden = pipeline(pipeline.reader.hide(run.ids, [token]))
    return Case(pipeline, hidden, token, pipeline.reader.vocabulary)


def assert_filled(key: str, truth: Truth) -> None:
    """Assert that all placeholders of its texts are filled, in both languages."""
    names = [*truth.told, "ask", "otherwise", "short", *(f"hint_{i + 1}" for i in range(QUESTIONS[key].hints))]
    names += [f"bar_{name}" for name, _ in truth.bars if not truth.literal]
    for language in LANGUAGES:
        said = " ".join(catalogue(language)[text_of(key, name)] for name in names)
        assert set(re.findall(r"\{(\w+)\}", said)) <= truth.said.keys(), key


def test_lessons_have_three_to_ten_of_our_questions_and_their_words() -> None:
    for name, lesson in LESSONS.items():
        assert 3 <= len(lesson.questions) <= 10 and len(set(lesson.keys)) == len(lesson.keys)
        assert lesson.minutes == sum(question.minutes for question in lesson.questions) <= 45
        assert all(QUESTIONS[key] == lesson[key] for key in lesson.keys)
        for language in LANGUAGES:
            assert {f"lesson.titles.{name}", f"lesson.abouts.{name}"} <= catalogue(language).keys()
    assert {key for lesson in (TOUR, *LESSONS.values()) for key in lesson.keys} == QUESTIONS.keys()


def test_the_tour_asks_each_idea_once_and_another_way_where_the_first_is_not_clear() -> None:
    assert TOUR.stations() == [key for key in TOUR.keys if key not in dict(TOUR.instead).values()]
    for first, other in TOUR.instead:
        assert TOUR.stations([first]) == [other if key == first else key for key in TOUR.stations()]
        assert not {first, other} & set(TOUR.stations([first, other]))


@pytest.mark.parametrize("name", [*networks.CONFIGS, "translation"])
def test_of_any_network_a_question_is_left_out_or_has_finite_figures_for_all_its_texts(name: str) -> None:
    """Networks of every kind, at the first, a middle or the last token in turn."""
    pipeline = networks.pipeline(name)
    trace = networks.trace_of(name)
    config = pipeline.config
    names = [f"class {number}" for number in range(config.classes)] if config.head == "classifier" else None
    names = names or [str(number) for number in range(config.vocab_size)]
    places = (0, None, None), (len(trace.tokens) - 1, 0, None), (len(trace.tokens) // 2, 0, min(1, config.heads - 1))
    token, layer, head = places[[*networks.CONFIGS, "translation"].index(name) % 3]
    here = Case(pipeline, trace, token, names, layer, head)
    for key, question in QUESTIONS.items():
        if (truth := truth_of(question, here)) is None:
            continue
        assert key != "twice" or trace.config.input != "flat", "always one token"
        figures = [value for value in truth.said.values() if isinstance(value, float | int)]
        figures += [truth.margin, *(value for _, value in truth.bars)]
        assert np.isfinite(figures).all() and json.dumps([truth.answer, truth.said, truth.bars, truth.place])
        assert_filled(key, truth)
        assert is_right(question.gesture, truth.answer, truth) or question.gesture == "chips"


@dataclass(frozen=True)
class Level(Case):
    """A case in which, after any edit, the two most likely answers have the same displayed probability."""

    since: int = 0
    calls: list[int] = field(default_factory=list)

    def changed(self, edits: list[list[Edit]]) -> np.ndarray:
        rows, level = super().changed(edits), len(self.calls) >= self.since
        self.calls.append(len(edits))
        return np.array([nearly_level(row) if level and edit else row for row, edit in zip(rows, edits, strict=True)])


def nearly_level(shares: np.ndarray) -> np.ndarray:
    """Probabilities with the second raised to just below the first."""
    second, first = shares.argsort()[-2:]
    level = shares.copy()
    level[second] = 0.999999 * shares[first]
    return level


@pytest.mark.parametrize(("key", "since"), [*((key, 0) for key in QUESTIONS), ("heads", 1)])
def test_no_answer_comes_first_after_a_change_where_two_are_written_alike(key: str, since: int) -> None:
    here = case(pipelines.pipeline(NETWORK.get(key, "text")))
    level = Level(here.pipeline, here.trace, here.token, here.names, since=since)
    truth = clear_truth(QUESTIONS[key], level)
    said = "".join(catalogue("en").get(f"lesson.{key}.{name}", "") for name in truth.told) if truth else ""
    first = [name for name in ("then", "instead") if truth and isinstance(truth.said.get(name), str)]
    assert not any(f"{{{name}}}" in said for name in first), said


def test_no_layer_is_where_an_answer_comes_first_that_ends_level(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Pipeline.read_layers
    here, truth = told("layer")
    for row in (truth.place["layer"], -1):

        def level(*args: object, row: int = row) -> np.ndarray:
            shares = read(*args).copy()
            shares[row] = nearly_level(shares[row])
            return shares

        monkeypatch.setattr(Pipeline, "read_layers", level)
        assert clear_truth(QUESTIONS["layer"], case(here.pipeline)) is None, row


@pytest.mark.parametrize("key", [key for key, question in QUESTIONS.items() if question.gesture in ("tap", "word")])
def test_bars_mark_the_answer_by_its_colour_and_another_guess_by_a_dashed_frame(key: str) -> None:
    here, truth = told(key)
    question = QUESTIONS[key]
    bars, others = [name for name, _ in truth.bars], truth.options or here.names[:3]
    for guess in (None, truth.answer, *(name for name in others if name != truth.answer)):
        for shown in (False, True):
            look = Look(question.row, question.gesture, here, truth, guess, shown)
            for picture in pictures(question.picture, question.bars, look):
                drawn = picture.drawn()
                if drawn.data[0]["type"] != "bar" or drawn.data[0].get("orientation") != "h":
                    continue
                colours = drawn.data[0]["marker"]["color"]
                answers = [i for i, colour in enumerate(colours) if colour == BLUE and GREY in colours]
                dashed = [shape for shape in drawn.layout.get("shapes", []) if shape["line"].get("dash")]
                keys = bars if picture.title != title_of("answer") else drawn.layout["yaxis"]["ticktext"]
                told_of = [key.partition(" (")[0] for key in keys]
                right = truth.answer if truth.answer in told_of else told_of[-1]
                assert answers == [i for i, key in enumerate(told_of) if shown and key == right]
                assert len(dashed) == (shown and guess in told_of and guess != truth.answer)


@pytest.mark.parametrize(
    "key", [key for key, question in QUESTIONS.items() if question.gesture not in ("word", "chips")]
)
def test_of_several_numbers_the_answer_alone_has_the_colour_of_the_network(key: str) -> None:
    """Where the answer is none of them, it is what became of the last one; of heads all are the network's."""
    here, truth = told(key)
    bar = answer_bars(Look(key, QUESTIONS[key].gesture, here, truth, shown=True)).drawn().data[0]
    numbers = [truth.answer if name == truth.answer else number for name, number in truth.bars]
    blue = [place for place, colour in enumerate(bar["marker"]["color"]) if colour == BLUE]
    last = [*range(len(numbers))] if key == "heads" else [len(numbers) - 1]
    assert blue == ([numbers.index(truth.answer)] if truth.answer in numbers else last)


def test_the_network_the_class_and_a_reader_have_a_colour_each_on_projector_phone_and_paper() -> None:
    phone = (Path(join.__file__).parent / "join.css").read_text("utf-8")
    projector = (Path(server.__file__).parent / "style.css").read_text("utf-8")
    found = {
        BLUE: ((phone, "--true: "), (projector, ".said .own { background: "), (STYLE, "i.own { background: ")),
        ORANGE: ((projector, ".said .vote { background: "), (STYLE, "i.vote { background: ")),
        GUESS: ((phone, "--own: "),),
    }
    for colour, places in found.items():
        assert {sheet.partition(before)[2][:7].upper() for sheet, before in places} == {colour.upper()}
