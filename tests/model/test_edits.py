"""An edit replaces one equation, and everything else follows from the new value."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from model import Edit, EditError, Trace, examples, load
from model.edits import MOST_EDITS, OPERATIONS, operations_at
from model.measures.sweep import sweep
from tests.edited import FILLED, KINDS, before_mask, edited_runs, pair_of, run, some_keys
from tests.equations import close, computed
from tests.networks import QUICK, example, pipeline, trace_of
from tests.refusals import refused
from tests.sums import edited_sums_add_up, origins_add_up

# -- an edit is one equation with another right side ----------------------------------------------------------------

#: New value of a quantity, from its unedited value and the values that it reads.
Equation = Callable[..., np.ndarray]


def obeys(name: str, trace: Trace, changed: Sequence[tuple[str, Equation]]) -> None:
    """Assert every quantity by its operation, and those at the changed keys or rows by their new equations."""
    for key in trace:
        expected, reads = computed(trace, pipeline(name).network, key)
        for where, equation in changed:
            if where in (key, trace.quantity(key).row):
                expected = equation(expected, *reads)
        try:
            close(trace[key], expected.astype(np.float32))
        except AssertionError as error:
            raise AssertionError(key) from error


def seen_where(condition: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Equation:
    """A mask: visible where condition(query, key), and always on the diagonal."""

    def equation(M: np.ndarray, *_: np.ndarray) -> np.ndarray:
        query, key = np.ogrid[: M.shape[-2], : M.shape[-1]]
        return np.where(condition(query, key) | (query == key), M, -np.inf)

    return equation


def put(number: float, *place: int | slice) -> Equation:
    def equation(value: np.ndarray, *_: np.ndarray) -> np.ndarray:
        new = value.copy()
        new[place] = number
        return new

    return equation


def even(_: np.ndarray, M: np.ndarray) -> np.ndarray:
    return np.isfinite(M) / np.isfinite(M).sum(-1, keepdims=True)


def one_hot(A: np.ndarray, _: np.ndarray) -> np.ndarray:
    return np.eye(A.shape[-1])[A.argmax(-1)]


MASKED, WEIGHTS = "layers.{l}.attention.masked", "layers.{l}.attention.weights"
CAUSAL = (Edit(MASKED, "causal"), seen_where(lambda query, key: key <= query))
quick = pytest.mark.parametrize("name", QUICK)
#: Edits of all layers, for any network.
EVERYWHERE: dict[str, list[tuple[Edit, Equation]]] = {
    "without √d_k": [(Edit("layers.{l}.attention.scaled", "unscaled"), lambda _, S: S)],
    "temperature": [(Edit("before the mask", "temperature", 2.5), lambda S, *_: S / 2.5)],
    "hard": [(Edit(WEIGHTS, "hard"), one_hot)],
    "even": [(Edit(WEIGHTS, "even"), even)],
    "causal": [CAUSAL],
    "window": [(Edit(MASKED, "window", 2), seen_where(lambda query, key: abs(key - query) <= 2))],
    "one key hidden": [(Edit(MASKED, "hide", looked_at=0), seen_where(lambda query, key: key != 0))],
    "causal, in a window, and even": [
        (Edit(WEIGHTS, "even"), even),
        (Edit(MASKED, "window", 3), seen_where(lambda query, key: abs(key - query) <= 3)),
        CAUSAL,
    ],
    "no residual of attention": [(Edit("layers.{l}.add_1", "without"), lambda _, X, found: found)],
    "no residual of the FFN": [(Edit("layers.{l}.add_2", "without"), lambda _, X, found: found)],
    "no LayerNorm": [
        (Edit(key, "bypass"), lambda _, x: x) for key in ("layers.{l}.norm_1", "layers.{l}.norm_2", "norm")
    ],
    "a head off": [(Edit("layers.{l}.attention.heads", "zero", head=1), put(0, 1))],
}


@quick
def test_an_edit_in_all_layers_is_that_equation_changed_and_all_else_follows(name: str) -> None:
    """Each network with every third edit, so that each edit meets every third network."""
    of, before = pipeline(name), trace_of(name)
    for what in [*EVERYWHERE][QUICK.index(name) % 3 :: 3]:
        changes = EVERYWHERE[what]
        if (what == "without √d_k" and not of.config.divided) or (what == "a head off" and of.config.heads == 1):
            continue
        changes = [
            (replace(edit, key=before_mask(name)) if edit.operation == "temperature" else edit, equation)
            for edit, equation in changes
            if edit.key != "norm" or of.config.final_norm
        ]
        edits = [edit for edit, _ in changes]
        after = run(name, *edits)
        obeys(name, after, [(edit.key, equation) for edit, equation in changes])
        trivial = set(after.idle) == set(edits)
        assert np.array_equal(before.Z, after.Z) == trivial, what
        assert not trivial or len(before.tokens) == 1, "only a single token can make a choice of where to look idle"


@pytest.mark.parametrize(
    ("edit", "equation"),
    [
        (Edit("layers.1.attention.masked", "hide", head=3, token=1, looked_at=1), put(-np.inf, 3, 1, 1)),
        (Edit(MASKED, "special"), seen_where(lambda query, key: (key > 0) & (key < key.max()))),
        (Edit("layers.2.attention.heads", "zero", head=3), put(0, 3)),
        (Edit("layers.1.attention.scaled", "scale", 3.0), lambda S, *_: 3 * S),
        (Edit("layers.1.attention.weights", "set", 0.25, head=2, token=1), put(0.25, 2, 1)),
        (Edit("layers.1.attention.weights", "zero", token=1, looked_at=2), put(0, slice(None), 1, 2)),
        (Edit("layers.0.ffn.activation", "set", 5.0, token=2, neuron=17), put(5, 2, 17)),
        (Edit("embedding.positions", "zero"), lambda x, *_: 0 * x),
    ],
)
def test_an_edit_of_a_part_is_that_part_changed_and_all_else_follows(edit: Edit, equation: Equation) -> None:
    after = run("trained text", edit)
    obeys("trained text", after, [(edit.key, equation)])
    assert not np.array_equal(after.Z, trace_of("trained text").Z)


@quick
def test_a_removed_token_is_zero_and_seen_by_nobody_else(name: str) -> None:
    key, n = pipeline(name).graph.embedded, len(trace_of(name).tokens)
    for read in pipeline(name).config.read_alone:
        with pytest.raises(EditError, match="read"):
            run(name, Edit(key, "remove", token=read))
    if n > 1:
        after = run(name, Edit(key, "remove", token=2), Edit(key, "remove", token=3))
        hidden = seen_where(lambda query, key: (key != 2) & (key != 3))
        obeys(name, after, [(key, put(0, slice(2, 4))), (MASKED, hidden), ("pool.cross.masked", hidden)])


def test_what_is_hidden_stays_hidden_in_whatever_order() -> None:
    whole, x = pipeline("trained text"), example("trained text")
    remove = Edit("embedding.sum", "remove", token=2)
    again = Edit("layers.0.attention.masked", "patch", source=x)
    for edits in ((remove, again), (again, remove)):
        weights = whole(x, edits)["layers.0.attention.weights"]
        assert not np.delete(weights[:, :, 2], 2, axis=1).any()


# -- positions and places ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["trained text", "trained digits"])
def test_shuffled_and_shifted_positions_are_rows_of_the_table(name: str) -> None:
    key, before = "embedding.positions", trace_of(name)
    table = pipeline(name).network.embedding.positions.table.numpy()
    shifted = run(name, Edit(key, "shift", 3))[key]
    np.testing.assert_array_equal(shifted, np.roll(table, -3, axis=0)[: len(shifted)])
    np.testing.assert_array_equal(run(name, Edit(key, "shift", -3))[key][3], before[key][0])
    shuffled = run(name, Edit(key, "shuffle", seed=5))
    order = [int(np.flatnonzero((before[key] == row).all(-1))[0]) for row in shuffled[key]]
    assert sorted(order) == list(range(len(order))) != order
    np.testing.assert_allclose(shuffled["embedding.sum"], before["embedding.tokens"] + shuffled[key])
    assert not np.array_equal(run(name, Edit(key, "shuffle", seed=6))[key], shuffled[key])


def test_two_words_that_change_places_are_the_other_sentence() -> None:
    swapped = load("text")("我爱你", [Edit("embedding.tokens", "swap", token=1, from_token=3)])
    np.testing.assert_array_equal(swapped["logits"], load("text")("你爱我")["logits"])


# -- values from elsewhere ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_all_of_a_quantity_from_another_run_makes_the_rest_that_run(name: str) -> None:
    one, other = pair_of(name)
    whole = pipeline(name)
    there, last = whole(other), whole.config.layers - 1
    for key in ("embedding.sum", f"layers.{last}.{'add_1' if whole.config.norm_first else 'norm_1'}"):
        after = whole(one, [Edit(key, "patch", source=other)])
        order = after.keys()
        for later in order[order.index(key) :]:
            np.testing.assert_array_equal(after[later], there[later])
        assert not np.array_equal(after.Z, whole(one).Z)


@pytest.mark.parametrize("name", ["trained text", "trained digits"])
def test_a_run_patched_with_itself_is_itself(name: str) -> None:
    _, same = pair_of(name)
    before = pipeline(name)(same)
    for key in some_keys(pipeline(name)):
        edit = Edit(key, "patch", source=same)
        after = pipeline(name)(same, [edit])
        assert all(np.array_equal(before[key], after[key]) for key in before)
        assert after.idle == {edit: "already"}


def test_a_token_may_come_from_another_place_and_a_sentence_of_another_length() -> None:
    text, longer = load("text"), "the old dog chased the cat ."
    there = text(longer)
    after = text("i love you .", [Edit("layers.2.norm_1", "patch", token=2, from_token=6, source=longer)])
    np.testing.assert_array_equal(after["layers.2.norm_1"][2], there["layers.2.norm_1"][6])
    key = "layers.0.attention.weights"
    cell = Edit(key, "patch", head=1, token=2, looked_at=3, from_token=6, from_looked_at=7, source=longer)
    after = text("i love you .", [cell])[key]
    assert after[1, 2, 3] == there[key][1, 6, 7]
    assert (after != text("i love you .")[key]).sum() == 1


def test_the_mean_is_that_of_the_corpus() -> None:
    key = "layers.2.attention.heads"
    traces = [load("text")(sentence) for pair in examples.SENTENCES for sentence in pair]
    mean = np.concatenate([trace[key] for trace in traces], axis=1).mean(axis=1)  # (head, d_k)
    after = run("trained text", Edit(key, "mean", head=5))[key]
    np.testing.assert_allclose(after[5], np.broadcast_to(mean[5], after[5].shape), atol=1e-5)
    np.testing.assert_array_equal(after[:5], trace_of("trained text")[key][:5])
    pictures = np.stack([load("digits")(picture)["layers.1.norm_1"] for picture in examples.digits()])
    after = run("trained digits", Edit("layers.1.norm_1", "mean", token=9))["layers.1.norm_1"]
    np.testing.assert_allclose(after[9], pictures.mean(axis=0)[9], atol=1e-5)


# -- no edit does nothing in silence ----------------------------------------------------------------------------------

REFUSED = {"place", "axis", "index", "grows", "nothing_left", "read", "no_special", "no_corpus"}


@pytest.mark.parametrize("name", [*KINDS, "trained translation"])
def test_no_edit_does_nothing_in_silence_and_whatever_it_does_all_sums_add_up(name: str) -> None:
    """A quantity computed after the edit changes, or an error or the trace says why it cannot."""
    done = 0
    for before, edit, after in edited_runs(name):
        if isinstance(after, EditError):
            assert after.reason in REFUSED
            continue
        done += 1
        place = next(i for i, key in enumerate(before) if edit.key in (key, before.quantity(key).row))
        # Scores are intermediate: a change that stops there has no effect.
        behind = [key for key in list(before)[place + 1 :] if not key.endswith(("scores", "scaled", "masked"))]
        changed = [key for key in behind or [edit.key] if not np.array_equal(before[key], after[key])]
        assert bool(changed) != bool(after.idle), (edit, after.idle, changed)
        edited_sums_add_up(after)
        if "{l}" in edit.key:
            origins_add_up(after)
    assert done > 6


@pytest.mark.parametrize(
    ("name", "edit", "why"),
    [
        ("trained text", Edit("layers.0.attention.heads", "scale", 1.0), "already"),
        ("trained text", Edit("layers.0.attention.masked", "window", 64), "already"),
        ("trained text", Edit("embedding.positions", "shift", 64), "already"),
        ("trained flat", Edit("layers.0.attention.Q", "noise", 1.0), "alone"),
        ("trained flat", Edit("layers.0.attention.scaled", "unscaled"), "alone"),
        ("trained flat", Edit("layers.0.attention.weights", "hard"), "already"),
        ("trained digits", Edit("layers.4.norm_2", "zero", token=7), "unread"),
        ("trained translation", Edit("decoder.layers.1.attention.scores", "set", 3.0, token=1, looked_at=2), "hidden"),
        ("trained translation", Edit("decoder.layers.1.attention.Q", "zero", token=0), "alone"),
        ("trained translation", Edit("decoder.layers.1.attention.masked", "causal"), "already"),
    ],
)
def test_an_edit_that_can_change_nothing_says_why(name: str, edit: Edit, why: str) -> None:
    loud = Edit("embedding.tokens", "scale", 1.5)
    subject = "i love you ." if name == "trained translation" else example(name)
    assert pipeline(name)(subject, [edit]).idle == {edit: why}
    assert pipeline(name)(subject, [loud, edit]).idle == {edit: why}


def test_relu_hides_what_happens_below_zero() -> None:
    hidden = trace_of("003")["layers.0.ffn.hidden"]
    low, high = int(hidden[0].argmin()), int(hidden[0].argmax())
    below = [Edit("layers.0.ffn.hidden", "set", -5.0, neuron=low), Edit("layers.0.ffn.hidden", "zero", neuron=low)]
    assert run("003", *below).idle == dict.fromkeys(below, "inactive")
    assert not run("003", Edit("layers.0.ffn.hidden", "zero", neuron=high)).idle


#: Pipeline, a sentence or other subject, an edit that does not fit, and the reason.
MISFITS = [
    ("text", Edit("layers.0.attention.heads", "explode"), "operation"),
    ("text", Edit("layers.6.attention.heads", "zero"), "key"),
    ("text", Edit("answer", "zero"), "key"),  # computed but not recorded
    ("text", Edit("layers.0.norm_1", "temperature", 2.0), "place"),
    ("by distance", Edit("layers.{l}.attention.scaled", "temperature", 2.0), "place"),
    ("text", Edit("transform.1", "mean"), "place"),  # other runs do not record it
    ("text", Edit("layers.0.attention.heads", "zero", head=8), "index"),
    ("text", Edit("layers.{l}.ffn.hidden", "zero", neuron=1024), "index"),
    ("text", Edit("layers.0.norm_1", "patch", token=1, from_token=99, source="you love me ."), "index"),
    ("text", Edit("layers.0.norm_1", "zero", head=1), "axis"),
    ("text", Edit("layers.0.attention.heads", "zero", head=True), "index"),  # as an index, True means all
    ("text", Edit("layers.0.attention.heads", "zero", head=1.0), "index"),  # type: ignore[arg-type]
    ("text", Edit("layers.0.norm_1", "zero", 2.0), "field"),
    ("text", Edit("layers.0.norm_1", "set", math.nan), "value"),
    ("text", Edit("layers.0.norm_1", "noise", 1.0, seed=-1), "value"),
    ("text", Edit("layers.0.attention.scaled", "temperature", 0.0), "value"),
    ("text", Edit("layers.0.attention.masked", "window", 1.5), "value"),
    ("text", Edit("layers.0.norm_1", "patch", source="a much longer sentence than that ."), "shape"),
    ("text", Edit("layers.0.norm_1", "patch", source=(2, 10**6, 3)), "source"),
    ("digits", Edit("layers.0.norm_1", "patch", source=b"you"), "source"),
    ("digits", Edit("embedding.sum", "remove", token=0), "read"),
    ("flat", Edit("layers.0.attention.masked", "special"), "no_special"),
    ("flat", Edit("layers.0.attention.masked", "hide", token=0, looked_at=0), "nothing_left"),
    ("translation", Edit("decoder.layers.0.norm_1", "patch", source="you love me ."), "grows"),
    ("translation", Edit("decoder.layers.0.cross.masked", "hide"), "nothing_left"),
]


@pytest.mark.parametrize(("name", "edit", "reason"), MISFITS)
def test_an_edit_that_does_not_fit_says_why(name: str, edit: Edit, reason: str) -> None:
    name = name if name == "by distance" else f"trained {name}"
    subject = "i love you ." if name in ("trained text", "trained translation") else example(name)
    with pytest.raises(EditError) as error:
        pipeline(name)(subject, edits=[edit])
    assert (error.value.reason, error.value.edits) == (reason, (edit,))
    assert not any(module._forward_hooks for module in pipeline(name).network.modules())


@pytest.mark.parametrize(
    ("operation", "needed"), [(operation, field) for operation, row in OPERATIONS.items() for field in row.needs]
)
def test_an_edit_without_what_it_needs_says_what_is_missing(operation: str, needed: str) -> None:
    where = pipeline("trained text").graph
    key = next(quantity.key for quantity in where if operation in operations_at(where, quantity.key))
    given = {"value": 1.0, "token": 1, "from_token": 2, "source": "you love me ."}
    fields = {name: given[name] for name in OPERATIONS[operation].needs if name != needed}
    with pytest.raises(EditError, match=re.escape(f"'{operation}' at '{key}' needs {needed}=")):
        run("trained text", Edit(key, operation, **fields))


@pytest.mark.parametrize("kind", [np.int64, np.uint8, torch.tensor], ids=lambda kind: kind.__name__)
def test_numbers_of_numpy_and_torch_are_numbers(kind: Callable[[int], int]) -> None:
    plain = Edit("layers.1.attention.weights", "scale", 2, head=3, token=1, looked_at=2)
    theirs = Edit("layers.1.attention.weights", "scale", kind(2), head=kind(3), token=kind(1), looked_at=kind(2))
    assert theirs == plain and hash(theirs) == hash(plain) and type(theirs.head) is int
    halves = {Edit("norm", "scale", half) for half in (np.float32(0.5), torch.tensor(0.5))}
    assert halves == {Edit("norm", "scale", 0.5)}
    np.testing.assert_array_equal(run("trained text", theirs)["logits"], run("trained text", plain)["logits"])


def test_too_many_edits_and_too_large_numbers_are_refused() -> None:
    with pytest.raises(EditError, match="many"):
        run("trained text", *[Edit("norm", "zero")] * (MOST_EDITS + 1))
    with pytest.raises(EditError, match="overflow"):  # pre-norm: nothing rescales the stream
        run("pre-norm words", *[Edit("layers.{l}.add_2", "scale", 1e4)] * 4)


# -- while a translator writes ----------------------------------------------------------------------------------------

WHILE_WRITING = [
    Edit("layers.{l}.attention.masked", "window", 1),
    Edit("layers.3.norm_1", "patch", token=2, source="you love me ."),
    Edit("decoder.layers.{l}.attention.scaled", "temperature", 4.0),
    Edit("decoder.layers.{l}.attention.scaled", "unscaled"),
    Edit("decoder.layers.{l}.attention.masked", "zero"),
    Edit("decoder.layers.{l}.attention.masked", "special"),
    Edit("decoder.layers.{l}.cross.weights", "even"),
    Edit("decoder.layers.{l}.cross.K", "zero", token=3),
    Edit("decoder.layers.1.attention.scores", "noise", 5.0, seed=1),
    Edit("decoder.embedding.positions", "shift", 5),
    Edit("decoder.embedding.sum", "remove", token=1),
    Edit("decoder.layers.2.add_1", "without"),
    Edit("decoder.layers.2.norm_2", "bypass"),
    Edit("logits", "set", -30.0, neuron=77),
]


@pytest.mark.parametrize("edit", WHILE_WRITING, ids=str)
def test_an_edit_holds_at_every_step_of_the_writing(edit: Edit) -> None:
    """The words are chosen by the numbers in the trace, with one beam or three."""
    translator, beams = load("translation"), (1, 3)[WHILE_WRITING.index(edit) % 2]
    trace = translator("the dog chased the cat .", [edit], into="zh", beams=beams)
    words = [translator.reader.vocabulary.index(token) for token in trace.beams[0].tokens]
    log_p = torch.tensor(trace["logits"]).log_softmax(-1).numpy()
    assert trace.beams[0].log_probability == pytest.approx(sum(log_p[range(len(words)), words]), abs=2e-3)
    if beams == 1:
        assert words == trace["logits"].argmax(-1).tolist()
    assert trace.idle == {}


@pytest.mark.parametrize("at", ["masked", "weights"])
def test_a_lawful_change_leaves_masks_masks_and_weights_shares(at: str) -> None:
    key = f"layers.0.attention.{at}"
    lawful = [name for name in operations_at(pipeline("003").graph, key) if OPERATIONS[name].lawful]
    assert len(lawful) > 1
    for name in lawful:
        trace = run("trained text", Edit(key, name, **FILLED.get(name, {})))
        np.testing.assert_allclose(trace["layers.0.attention.weights"].sum(-1), 1, atol=1e-5)
        masked, scaled = (trace[f"layers.0.attention.{of}"] for of in ("masked", "scaled"))
        assert ((masked == scaled) | (masked == -np.inf)).all() and not np.isnan(
            trace["layers.0.attention.heads"]
        ).any()


# -- by a function, and in the head ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["trained text", "pre-norm words"])
def test_a_function_does_what_an_operation_of_a_name_does(name: str) -> None:
    heads = "layers.0.attention.heads"
    for whole, named in ((torch.zeros_like, Edit(heads, "zero", head=1)), (lambda v: v * 2, Edit(heads, "scale", 2.0))):
        by_name, by_function = run(name, named), run(name, replace(named, operation=whole, value=None))
        assert by_function.edited == by_name.edited
        for key in by_name:
            np.testing.assert_array_equal(by_function[key], by_name[key])


@pytest.mark.parametrize("name", ["trained digits", "pre-norm words"])
def test_a_function_is_given_what_the_trace_has_and_may_leave_it(name: str) -> None:
    given: list[Tensor] = []
    for key in (row := trace_of(name)):
        edit = Edit(key, lambda value: given.append(value) or value)
        after = run(name, edit)
        np.testing.assert_array_equal(given[-1].numpy(), row[key])
        np.testing.assert_array_equal(after[row.keys()[-1]], row[row.keys()[-1]])
        assert after.idle[edit]


def test_a_function_shows_nothing_that_a_mask_hides() -> None:
    masked = "layers.0.attention.masked"
    trace = load("text")("i love you .", [Edit(masked, "causal"), Edit(masked, lambda M: torch.zeros_like(M))])
    assert np.isinf(trace[masked]).any()


@pytest.mark.parametrize("function", [lambda v: v[0], lambda v: 3, lambda v: v.numpy()])
def test_a_function_that_hands_on_something_else_is_told_what_was_expected(function: Callable) -> None:
    with refused("result") as error:
        load("text")("i love you .", [Edit("layers.0.add_1", function)])
    assert error.value.values["before"] == (6, 256)
    with refused("undefined"):
        load("text")("i love you .", [Edit("layers.0.add_1", lambda value: value * math.nan)])


@pytest.mark.parametrize("name", ["trained text", "two sentences", "narrow words", "several labels", "span"])
def test_inside_the_head_an_edit_changes_what_follows_it_there(name: str) -> None:
    of, before = pipeline(name), trace_of(name)
    answer = before.keys()[-1]
    modules = [key for key, _ in of.network.named_modules() if key.startswith(("transform.", "pooler.", "of_bounds"))]
    assert modules
    for key in modules:
        flip = Edit(key, lambda value: -value)
        changed = run(name, flip)
        assert changed.edited == {key} and f"  {key} " in repr(changed)
        obeys(name, changed, [(key, lambda value, *_: -value)])
        assert np.abs(changed[answer] - before[answer]).max() > 1e-3
        swept = sweep(of, example(name), [[flip], []], wanted=[answer])[answer]
        np.testing.assert_allclose(swept, [changed[answer], before[answer]], atol=1e-4)
