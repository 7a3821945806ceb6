"""Each input of a batch is computed as if alone, whatever is next to it, fills it up, or is changed."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from model import Edit, Pipeline, Trace, load
from model.batches import SORTED, alike
from tests.model.making import inputs_of, ours
from tests.networks import COVER, OTHERS, example, pipeline
from tests.refusals import refused

#: Edits that use other rows, the length, or positions, or are random for each token.
EDITS = (
    Edit("embedding.positions", "shift", 2),
    Edit("layers.0.attention.weights", "even", head=1),
    Edit("layers.0.attention.masked", "causal"),
    Edit("layers.0.attention.V", "noise", 0.5, seed=3),
    Edit("layers.0.add_2", "swap", token=0, from_token=2),
)


def exact(of: Pipeline) -> Pipeline:
    """In float64, where the order of sums does not matter."""
    return of.to(torch.float64)


def differ(one: Trace, other: Trace) -> float:
    """Largest difference of two traces, relative to each quantity's largest number; the masks must agree."""
    assert (one.tokens, one.keys(), one.idle) == (other.tokens, other.keys(), other.idle)
    found = 0.0
    for key in one:
        assert one[key].shape == other[key].shape, key
        np.testing.assert_array_equal(np.isinf(one[key]), np.isinf(other[key]))
        a, b = (np.where(np.isinf(run[key]), 0, run[key]) for run in (one, other))
        found = max(found, float(np.abs(a - b).max() / max(1, np.abs(b).max())))
    return found


@pytest.mark.parametrize("name", COVER)
def test_each_input_of_a_batch_is_as_if_it_were_alone(name: str) -> None:
    run = exact(pipeline(name))
    inputs = [example(name, which) for which in (1, 0, 2, 3, 0)[: 5 if run.config.input == "words" else 2]]
    traces = run.batch(inputs)
    assert len(traces) == len(inputs)
    for x, trace in zip(inputs, traces, strict=True):
        alone = run(x)
        assert differ(trace, alone) < 1e-6
        for guess, expected in zip(trace.answer, alone.answer, strict=True):
            assert (guess.token, guess.best) == (expected.token, expected.best)
            np.testing.assert_allclose(guess.probabilities, expected.probabilities, atol=1e-6)


@pytest.mark.parametrize("name", ["trained text", "000", "two sentences"])
def test_edits_hold_for_each_input_as_if_it_were_alone(name: str) -> None:
    run = exact(pipeline(name))
    edits = [edit for edit in EDITS if edit.operation != "shift" or run.config.positions == "learned"]
    inputs = [example(name, which) for which in (2, 1, 0)]
    for x, trace in zip(inputs, run.batch(inputs, edits), strict=True):
        alone = run(x, edits)
        assert differ(trace, alone) < 1e-6
        assert (trace.edits, trace.edited) == (alone.edits, alone.edited)
        assert np.abs(trace.Z - run(x).Z).max() > 1e-3


def test_a_patch_reaches_each_input() -> None:
    text, patch = load("text"), Edit("layers.1.norm_2", "patch", token=1, source="you love me .")
    for trace in text.batch(["i love you .", "a", "the cat sat ."], [patch]):
        np.testing.assert_array_equal(trace[patch.key][1], text("you love me .")[patch.key][1])


@pytest.mark.parametrize("name", ["BertForMaskedLM", "RobertaForMaskedLM"])
def test_a_checkpoints_positions_and_segments_are_those_of_the_input_alone(name: str) -> None:
    run = exact(ours(name))
    inputs = [*inputs_of(name), "the cat", f"the cat {run.reader.typed['[PAD]']} sat", "dog [SEP] it rained on a mat"]
    for x, trace in zip(inputs, run.batch(inputs), strict=True):
        alone = run(x)
        assert differ(trace, alone) < 1e-6
        assert (trace.segments, trace.rows) == (alone.segments, alone.rows)


def test_of_a_large_batch_the_inside_of_each_layer_is_computed_when_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, inputs = exact(load("text")), [example("trained text", which) for which in range(4)]
    alone = [run(x, EDITS[1:]) for x in inputs]
    monkeypatch.setattr("model.pipeline.MOST_INSIDE", 0)
    for whole, large in zip(alone, run.batch(inputs, EDITS[1:]), strict=True):
        assert large.large and large.nbytes < whole.nbytes
        assert differ(large, whole) < 1e-6


def test_a_trace_of_a_batch_keeps_nothing_of_the_others() -> None:
    text = load("text")
    (short, _), alone = text.batch(["a", "the cat sat on the mat and looked at the dog ."]), text("a")
    assert not short.large and short.nbytes == alone.nbytes
    assert max(value.untyped_storage().nbytes() for value in short._values.values()) == alone["logits"].nbytes


def test_many_inputs_are_several_batches_of_about_as_long_ones() -> None:
    lengths = [*range(1, 100)] * 2
    chunks = alike(lengths)
    assert sorted(i for chunk in chunks for i in chunk) == list(range(len(lengths)))
    assert len(chunks) > 1 and all(len(chunk) * max(lengths[i] for i in chunk) < 2 * 2100 for chunk in chunks)
    assert alike([]) == [] and load("text").batch([]) == []


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("trained text", False),
        ("trained text", True),
        ("trained digits", False),
        (next(iter(OTHERS)), True),
    ],
)
def test_of_a_generator_no_more_than_some_batches_are_read_ahead(
    monkeypatch: pytest.MonkeyPatch, name: str, whole: bool
) -> None:
    monkeypatch.setattr("model.pipeline.MOST_TOKENS", 5)
    run, most = exact(pipeline(name)), 5 if whole else 5 * SORTED
    inputs, keep = [example(name, which) for which in (0, 1, 0, 0, 1) * 3], None if whole else ["layers.0.norm_2"]
    expected = run.batch(inputs, keep=keep)
    lengths, taken = [len(trace.tokens) for trace in expected], 0

    def one_by_one() -> Iterator[object]:
        nonlocal taken
        for taken, x in enumerate(inputs, 1):  # noqa: B007
            yield x

    found = run.batch(one_by_one(), keep=keep)
    assert taken == 0
    for place, trace in enumerate(found):
        assert differ(trace, expected[place]) < 1e-6
        assert sum(lengths[place:taken]) < most + max(lengths)
    assert place + 1 == taken == len(inputs)


def test_a_batch_says_which_input_cannot_be_read() -> None:
    with refused("empty") as error:
        load("text").batch(["i love you .", " "])
    assert "inputs[1]" in error.value.__notes__[0]
    with pytest.raises(TypeError, match="list of inputs"):
        load("text").batch("i love you .")


def test_sentences_to_translate_are_translated_each_by_itself() -> None:
    translator, sentences = load("translation"), ["我爱你。", "the cat sleeps ."]
    found = [trace.translation for trace in translator.batch(sentences)]
    assert found == [translator(sentence).translation for sentence in sentences]


@pytest.mark.parametrize("name", ["trained text", "trained digits", "trained translation"])
def test_a_copy_with_other_numbers_finds_the_same(name: str) -> None:
    run, x = pipeline(name), example(name)
    exactly, roughly, usual = run.to(torch.float64)(x), run.to(torch.bfloat16)(x), run(x)
    assert exactly["logits"].dtype == np.float64 and roughly["logits"].dtype == np.float32
    for key in usual:
        shown = [np.where(np.isinf(trace[key]), 0, trace[key]) for trace in (usual, exactly)]
        np.testing.assert_allclose(*shown, atol=1e-5 * max(1, np.abs(shown[1]).max()))
    if name != "trained translation":  # it may write something else
        assert 1e-5 < np.abs(roughly["logits"] - usual["logits"]).max() / np.abs(usual["logits"]).max() < 0.05
    assert run.network.logits.weight.dtype == torch.float32, "and the network is as it was"


@pytest.mark.parametrize("edits", [(), (Edit("layers.0.attention.V", "noise", 0.5, seed=3),)])
@pytest.mark.parametrize("name", ["trained text", "000", "two sentences"])
def test_of_a_batch_stay_the_keys_that_are_asked_for(name: str, edits: tuple[Edit, ...]) -> None:
    run = exact(pipeline(name))
    inputs = [example(name, which) for which in (2, 1, 0)]
    keys = ["layers.0.attention.weights", run.graph.Z]
    for kept, whole in zip(run.batch(inputs, edits, keep=keys), run.batch(inputs, edits), strict=True):
        assert kept.keys() == keys and (kept.tokens, kept.edits, kept.idle) == (whole.tokens, whole.edits, whole.idle)
        for key in keys:
            np.testing.assert_array_equal(kept[key], whole[key])
        assert kept.nbytes == sum(whole[key].nbytes for key in keys)
        assert [guess.best for guess in kept.answer] == [guess.best for guess in whole.answer]
    with pytest.raises(KeyError, match="weights"):
        run.batch(inputs, keep=["layers.0.attention.weight"])


def test_translations_hold_what_was_asked_for_alone() -> None:
    pipeline, inputs = load("translation"), ["i love you .", "the cat sat on the mat ."]
    keys = ["decoder.layers.0.cross.weights", pipeline.graph.Z]
    for kept, x in zip(pipeline.batch(inputs, keep=keys), inputs, strict=True):
        whole = pipeline(x)
        assert kept.keys() == keys and kept.written == whole.written and kept.translation == whole.translation
        for key in keys:
            np.testing.assert_array_equal(kept[key], whole[key])
        assert kept.nbytes == sum(whole[key].nbytes for key in keys)
    with pytest.raises(KeyError, match="weights"):
        pipeline.batch(inputs, keep=["decoder.layers.0.cross.weight"])
