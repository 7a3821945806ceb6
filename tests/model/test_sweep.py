"""A sweep computes many runs at once: row i is the run with edits i alone."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest

from model import Edit, load
from model.analysis import softmax
from model.measures.order import without_positions
from model.measures.sweep import effects, moved, number, sweep
from model.trace import hooked
from model.turns import turn_of
from tests.edited import before_mask, pair_of
from tests.networks import COVER, pipeline
from tests.refusals import refused

SENTENCE = "the dog chased the cat ."


def rows_for(name: str) -> list[tuple[Edit, ...]]:
    """Edits of all kinds and places, in no order, some combined."""
    config, (_, other) = pipeline(name).config, pair_of(name)
    last = config.layers - 1
    patch = (Edit(f"layers.{last}.norm_2", "patch", token=0, source=other),)
    return [
        (Edit(f"layers.{last}.attention.heads", "zero", head=1),),
        (),
        (Edit("embedding.tokens", "noise", 1.0, seed=2),),
        (Edit(list(pipeline(name).graph.quantities)[-1 if config.head in ("none", "numbers") else -2], "scale", 0.5),),
        (Edit(before_mask(name), "temperature", 3.0),),
        (Edit("layers.0.add_1", "without"), Edit(f"layers.{last}.ffn.hidden", "zero", neuron=3)),
        without_positions(pipeline(name).graph),
        (Edit("layers.{l}.norm_1", "bypass"),),
        (Edit("layers.{l}.attention.masked", "causal"), Edit("layers.{l}.attention.weights", "even")),
        *([] if config.channels > 1 else [patch]),
        (Edit(f"layers.{last}.add_2", "set", 0.3, token=0),),
        (
            *([Edit("embedding.positions", "shift", 1)] if config.places_added else []),
            Edit("layers.0.attention.scaled", "unscaled") if config.divided else Edit("layers.0.norm_2", "bypass"),
        ),
    ]


@pytest.mark.parametrize("name", COVER)
def test_each_row_is_the_run_with_its_edits_alone(name: str) -> None:
    subject, _ = pair_of(name)
    whole, edits = pipeline(name), rows_for(name)
    end = whole(subject).keys()[-1]  # the logits, or Z without a head
    wanted = (end, whole.graph.embedded, "layers.0.attention.weights", "layers.0.norm_2")
    found = sweep(whole, subject, edits, wanted)
    for key in wanted:
        assert len(found[key]) == len(edits)
    for place, row in enumerate(edits):
        alone = whole(subject, row)
        for key in wanted:
            size = max(1, np.abs(alone[key]).max())
            np.testing.assert_allclose(found[key][place], alone[key], atol=1e-5 * size, err_msg=f"{row} {key}")
    assert not np.allclose(found[end][0], found[end][1], atol=1e-6)
    assert not any(module._forward_hooks for module in whole.network.modules())


@pytest.mark.parametrize(("token", "late"), [(0, True), (4, False)])  # late: an edit after the last attention
def test_the_answer_at_one_token_is_that_token_of_the_whole_answer(token: int, late: bool) -> None:
    text = load("text")
    edits = [row for row in rows_for("trained text") if late or not any("5" in edit.key for edit in row)]
    edits = [row for row in edits if late or all("{l}" not in e.key and e.key != "logits" for e in row)]
    whole = sweep(text, "i love you .", edits)["logits"]
    one = sweep(text, "i love you .", edits, token=token)["logits"]
    assert one.shape == (len(edits), text.config.vocab_size)
    np.testing.assert_allclose(one, whole[:, token], atol=1e-5 * np.abs(whole).max())


def test_what_the_answer_does_not_need_is_whole_if_it_is_wanted() -> None:
    found = sweep(load("text"), SENTENCE, [()], ("layers.5.ffn.output",), token=2)
    np.testing.assert_allclose(
        found["layers.5.ffn.output"][0], load("text")(SENTENCE)["layers.5.ffn.output"], atol=1e-5
    )


def test_small_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    edits = rows_for("trained digits")
    subject, _ = pair_of("trained digits")
    at_once = sweep(load("digits"), subject, edits)["logits"]
    monkeypatch.setattr("model.sweep.MOST_NUMBERS", 1)
    shares: list[float] = []
    one_by_one = sweep(load("digits"), subject, edits, progress=shares.append)["logits"]
    np.testing.assert_allclose(at_once, one_by_one, atol=1e-4)
    np.testing.assert_allclose(list(dict.fromkeys(shares)), np.arange(len(edits) + 1) / len(edits))


def test_a_sweep_of_the_translator_holds_its_target() -> None:
    translator = load("translation")
    trace = translator(SENTENCE, into="zh", beams=1)
    edits = [
        (),
        (Edit("layers.2.attention.heads", "zero", head=1),),
        (Edit("decoder.layers.1.cross.heads", "zero", head=2),),
        (Edit("embedding.sum", "remove", token=2), Edit("decoder.layers.0.attention.scaled", "unscaled")),
        (Edit("decoder.layers.0.attention.Q", "noise", 2.0), Edit("decoder.layers.2.cross.weights", "even")),
    ]
    keys = ("logits", "decoder.layers.0.attention.weights", "layers.5.norm_2")
    found = sweep(translator, trace, edits, keys)
    np.testing.assert_allclose(found["logits"][0], trace["logits"], atol=1e-4)
    for place, row in enumerate(edits):
        alone = translator(SENTENCE, row, into="zh", beams=1)
        # Equal as long as the changed run wrote the same words.
        same = [a == b for a, b in zip(alone.target_ids, trace.target_ids, strict=False)]
        n = same.index(False) if False in same else len(same)
        np.testing.assert_allclose(found["logits"][place][:n], alone["logits"][:n], atol=2e-4)
        np.testing.assert_allclose(found["layers.5.norm_2"][place], alone["layers.5.norm_2"], atol=1e-4)
    at_one = sweep(translator, trace, edits, token=1)["logits"]
    np.testing.assert_allclose(at_one, found["logits"][:, 1], atol=1e-4)


def test_the_number_is_a_difference_of_logits_or_a_probability() -> None:
    logits = np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 0.0]], np.float32)
    np.testing.assert_allclose(number(logits, 2, 0), [3, 0])
    np.testing.assert_allclose(number(logits, 1), [np.exp(2) / np.exp([1, 2, 4]).sum(), 1 / 3], rtol=1e-6)
    turned = Edit("logits", "scale", -1.0)  # reverses the ranking
    answer = effects(load("digits"), pair_of("trained digits")[0], [(), (turned,)], of=3, against=1)
    order = np.argsort(-load("digits")(pair_of("trained digits")[0])["logits"]).tolist()
    best = [min(places.index(3), places.index(1)) + 1 for places in (order, order[::-1])]
    assert answer.rank.tolist() == best and answer.moved[0] == 0 and answer.moved[1] > 0.5


@pytest.mark.parametrize(("name", "token"), [("trained text", 4), ("trained digits", None)])
def test_what_is_moved_is_what_some_answers_lose_and_others_gain(name: str, token: int | None) -> None:
    whole, (subject, _), edits = pipeline(name), pair_of(name), rows_for(name)
    found = moved(whole, subject, edits, token)
    for share, row in zip(found, edits, strict=True):
        p, q = (softmax(np.atleast_2d(run["logits"])[token or 0]) for run in (whole(subject), whole(subject, row)))
        assert share == pytest.approx(np.maximum(q - p, 0).sum(), abs=1e-4)
        assert share == pytest.approx(np.maximum(p - q, 0).sum(), abs=1e-4)
    assert found[1] < 1e-6 < found.max() <= 1


def test_of_many_inputs_each_is_as_if_it_were_alone() -> None:
    text, edits = load("text"), rows_for("trained text")[:4]
    inputs, tokens = [SENTENCE, text("i love you ."), "a cat ."], [2, 4, 1]
    shares: list[float] = []
    found = sweep(text, inputs, edits, token=tokens, progress=shares.append)["logits"]
    for x, token, rows, share in zip(inputs, tokens, found, moved(text, inputs, edits, tokens), strict=True):
        np.testing.assert_array_equal(rows, sweep(text, x, edits, token=token)["logits"])
        np.testing.assert_array_equal(share, moved(text, x, edits, token))
    assert shares == [1 / 3, 2 / 3, 1]
    np.testing.assert_array_equal(sweep(text, inputs, edits, token=1)["logits"][2], found[2])
    with pytest.raises(ValueError, match="say at which token"):
        sweep(text, inputs, edits)
    with pytest.raises(TypeError, match="one token"):
        sweep(text, SENTENCE, edits, token=tokens)


@pytest.mark.parametrize(
    ("edits", "wanted", "token", "reason"),
    [
        ([[Edit("layers.9.norm_1", "zero")]], ("logits",), None, "key"),
        ([[]], ("answer",), None, "key"),
        ([[], [Edit("layers.0.norm_1", "zero", token=99)]], ("logits",), 0, "index"),
        (
            [[Edit("layers.1.attention.masked", "hide", head=0, token=0, looked_at=i) for i in range(64)]],
            ("logits",),
            0,
            "nothing_left",
        ),
    ],
)
def test_what_does_not_fit_is_said_and_no_hook_stays(
    edits: list, wanted: tuple, token: int | None, reason: str
) -> None:
    with refused(reason):
        sweep(load("text"), SENTENCE, edits, wanted, token)
    assert not any(module._forward_hooks for module in load("text").network.modules())


@pytest.mark.parametrize("after", [1, 5])
def test_who_hears_of_the_progress_can_end_a_sweep_in_the_middle_and_the_network_is_free(after: int) -> None:
    digits, (subject, _) = load("digits"), pair_of("trained digits")
    edits = [[Edit("layers.4.ffn.hidden", "zero", neuron=i)] for i in range(256)]  # several batches
    heard: list[float] = []

    def hear(share: float) -> None:
        heard.append(share)
        if len(heard) == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(digits, subject, edits, progress=hear)
    assert len(heard) == after and heard == sorted(heard)
    assert not any(module._forward_hooks for module in digits.network.modules())
    with ThreadPoolExecutor(1) as other:
        other.submit(digits, subject).result(30)


def test_who_comes_while_many_runs_are_made_has_the_next_turn_and_on_another_network_no_wait() -> None:
    text, order = load("text"), []
    begun = Event()

    def many() -> None:
        for turn in range(20):
            with hooked(text.network, {}):
                order.append("many")
                begun.set()
                if turn == 0:
                    while len(turn_of(text.network)._line) < 2:  # until the other waits in line
                        time.sleep(0.001)

    def one() -> None:
        begun.wait(30)
        load("digits")(pair_of("trained digits")[0])
        order.append("elsewhere")
        with hooked(text.network, {}), hooked(text.network, {}):  # a turn may be taken again by its owner
            order.append("one")

    with ThreadPoolExecutor(2) as pool:
        for job in [pool.submit(many), pool.submit(one)]:
            job.result(60)
    assert order[:3] == ["many", "elsewhere", "one"] and len(order) == 22
