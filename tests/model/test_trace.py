"""Recording and editing: edits take effect, hooks are removed, threads do not mix."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from cachetools import LRUCache

from model import Edit, Trace, load
from model.measures.sweep import sweep
from model.pipeline import MOST_SOURCES, Pipeline, _sources
from model.trace import record
from tests.networks import example, pipeline, trace_of
from tests.refusals import refused


def hooks_left(network: torch.nn.Module) -> int:
    return sum(len(module._forward_hooks) for module in network.modules())


#: Edits that read earlier values, draw randomly, or touch the residual stream.
SEVERAL = (
    Edit("layers.0.attention.heads", "zero", head=1),
    Edit("layers.1.attention.scaled", "unscaled"),
    Edit("layers.1.attention.weights", "even", head=0),
    Edit("layers.1.add_1", "noise", 0.5, seed=7),
    Edit("layers.2.ffn.hidden", "noise", 0.5, seed=3),
)


@pytest.mark.parametrize(
    ("name", "edits"), [("trained text", SEVERAL), ("trained digits", ()), ("pre-norm patches", SEVERAL)]
)
def test_what_a_large_run_computes_again_is_the_same_to_the_last_bit(
    name: str, edits: tuple[Edit, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = pipeline(name)
    whole = run(example(name), edits)
    monkeypatch.setattr("model.pipeline.MOST_INSIDE", 0)
    large = run(example(name), edits)
    assert large.keys() == whole.keys() and large.idle == whole.idle
    for key in reversed(whole.keys()):
        np.testing.assert_array_equal(large[key], whole[key])


def test_of_a_large_run_the_stream_and_the_weights_of_attention_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    run, sentence = load("text"), "i love you ."
    whole = run(sentence)
    monkeypatch.setattr("model.pipeline.MOST_INSIDE", sum(whole[key].nbytes for key in whole if "layers." in key) // 2)
    large = run(sentence)
    stream = {key for layer in range(6) for key in whole.graph.stream(layer)}
    stay = [key for key in whole if "layers." not in key or key in stream or key.endswith("attention.weights")]
    one_layer = [key for key in whole if key.startswith("layers.0.") and key not in stay]
    assert whole.nbytes == sum(whole[key].nbytes for key in whole)
    assert large.nbytes == sum(whole[key].nbytes for key in [*stay, *one_layer])


def test_who_reads_a_large_run_at_once_reads_the_right_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trace_of("trained text")
    monkeypatch.setattr("model.pipeline.MOST_INSIDE", 0)
    large = load("text")(example("trained text"))
    keys = [f"layers.{layer}.ffn.hidden" for layer in range(6)] * 10
    with ThreadPoolExecutor(10) as pool:
        for key, value in zip(keys, pool.map(large.__getitem__, keys), strict=True):
            np.testing.assert_array_equal(value, whole[key])


def test_numbers_beyond_all_bounds_are_found_inside_a_large_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.pipeline.MOST_INSIDE", 0)
    beyond = [Edit("layers.0.ffn.hidden", "scale", -1e4)] * 10  # GELU then gives 0 or ∞
    with refused("overflow") as error:
        load("text")("i love you .", edits=beyond)
    assert error.value.values["key"] == "layers.0.ffn.hidden"
    assert hooks_left(load("text").network) == 0


def test_a_careless_edit_in_place_spoils_no_other_value() -> None:
    # Without a mask, `scaled` and `masked` are one tensor: editing the second must not change the first.
    network, tensor = pipeline("trained text").network, pipeline("trained text").reader.read("i love you").tensor
    _, before = record(network, tensor)
    _, after = record(network, tensor, edits=[("layers.0.attention.masked", lambda v, _: v.zero_())])
    assert torch.equal(before["layers.0.attention.scaled"], after["layers.0.attention.scaled"])
    assert not after["layers.0.attention.masked"].any()


def test_no_hook_survives_a_run_or_an_exception() -> None:
    network, tensor = pipeline("trained text").network, pipeline("trained text").reader.read("i love you").tensor
    record(network, tensor)
    assert hooks_left(network) == 0

    def fail(*_: object) -> torch.Tensor:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        record(network, tensor, edits=[("layers.3.ffn.hidden", fail)])
    assert hooks_left(network) == 0
    with pytest.raises(IndexError):
        record(network, torch.full((1, 4), 10**6))
    assert hooks_left(network) == 0
    output, _ = record(network, tensor)
    assert torch.equal(output, record(network, tensor)[0])


def test_runs_sweeps_and_plain_passes_of_sixty_threads_do_not_mix() -> None:
    text = load("text")
    words = ["cat", "dog", "man", "woman", "house", "book"]
    jobs = []
    for i in range(60):
        sentence = f"the {words[i % 6]} sees {i} {words[(i + 1) % 6]} ."
        edit = (Edit(f"layers.{i % 6}.attention.heads", "zero", head=i % 8),) if i % 2 else ()
        jobs.append((sentence, edit))
    alone = [text(*job) for job in jobs]

    def bare(i: int) -> torch.Tensor:  # unrecorded use of the same network
        with torch.no_grad():
            return text.network(text.reader.read(jobs[i][0]).tensor)

    def swept() -> np.ndarray:
        return sweep(text, jobs[0][0], [jobs[i][1] for i in range(1, 12, 2)], token=1)["logits"]

    many = swept()
    with ThreadPoolExecutor(60) as pool:
        sweeps = [pool.submit(swept) for _ in range(3)]
        bares = [pool.submit(bare, i) for i in range(0, 60, 10)]
        together = list(pool.map(lambda job: text(*job), jobs))
        for i, future in zip(range(0, 60, 10), bares, strict=True):
            np.testing.assert_array_equal(future.result()[0].numpy(), text(jobs[i][0])["logits"])
        assert all(np.array_equal(one.result(), many) for one in sweeps)
    for one, other in zip(alone, together, strict=True):
        assert one.tokens == other.tokens
        for key in one:
            np.testing.assert_array_equal(one[key], other[key])


def test_the_runs_kept_for_patches_stay_within_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    text, sources = load("text"), ["you love me .", "she gave him a book .", "it rained ."]
    sizes = [text(source).nbytes for source in sources]
    kept, runs = LRUCache(sizes[0] + sizes[2], getsizeof=_sources.getsizeof), []
    assert _sources.getsizeof(SimpleNamespace(nbytes=10**12)) <= MOST_SOURCES, "one is kept, however large"
    monkeypatch.setattr("model.pipeline._sources", kept)
    pipelines = [Pipeline(name, text.network, text.reader) for name in ("one", "another")]
    for each in pipelines:
        monkeypatch.setattr(each, "run_of", lambda x: runs.append(x) or text.run_of(x))
    for source in (sources[0], sources[2], sources[0], sources[1], sources[1], sources[0]):
        pipelines[0]("i love you .", [Edit("layers.0.norm_1", "patch", token=1, from_token=1, source=source)])
    assert runs == [sources[0], sources[2], sources[1], sources[0]]
    assert pipelines[0].source(sources[0]) is not pipelines[1].source(sources[0]), "each has runs of its own"
    assert kept.currsize <= sizes[0] + sizes[2], "and all together stay within it"


@pytest.mark.parametrize("name", ["trained text", "trained digits", "told apart", "heads of their own width"])
def test_a_trace_is_read_from_its_file_without_its_network(name: str, tmp_path: Path) -> None:
    edits = (Edit("layers.0.ffn.output", "scale", 0.5),)
    trace, file = pipeline(name)(example(name), edits), tmp_path / "run.safetensors"
    trace.save(file)
    assert file.stat().st_size < trace.nbytes + 2_000_000  # the vocabulary for logits, but no weights
    read = Trace.load(file)
    assert read.keys() == trace.keys() and list(read.graph) == list(trace.graph) and repr(read) == repr(trace)
    for key in trace:
        np.testing.assert_array_equal(read[key], trace[key])
    assert (read.answer, read.edits, list(read.outputs)) == (trace.answer, trace.edits, list(trace.outputs))
    np.testing.assert_array_equal(np.asarray(read.subject), np.asarray(trace.subject))
    with pytest.raises(AttributeError, match="run its subject again"):
        read.network  # noqa: B018
    file.write_bytes(b"no run")
    with pytest.raises(ValueError, match="no file that"):
        Trace.load(file)


def test_where_a_run_cannot_be_written_it_is_said(tmp_path: Path) -> None:
    trace = load("text")("i love you")
    with pytest.raises(OSError, match="there is no folder"):
        trace.save(tmp_path / "none" / "run.safetensors")
    with pytest.raises(OSError, match="cannot be written"):
        trace.save(tmp_path)


@pytest.mark.parametrize("head", [8, -9, "1", 1.0, True, None])
def test_a_place_that_there_is_not_is_named_with_how_many_there_are(head: object) -> None:
    with pytest.raises(IndexError, match=r"there is no head .*: there are 8, counted from 0"):
        load("text")("i love you").show("layers.0.attention.weights", head=head)


def test_a_trace_of_a_sentence_names_it_and_a_wrong_key_names_the_right_one() -> None:
    trace = load("text")("i love you")
    said = repr(trace).splitlines()
    assert said[0] == "Trace of [CLS] i love you [SEP]: 5 tokens, 0 edits"
    (weights,) = [line for line in said if "layers.0.attention.weights" in line]
    assert weights.split(maxsplit=1)[1] == "head 8, query 5, key 5"
    with pytest.raises(KeyError, match=r"layers\.2\.attention\.weights"):
        trace["layers.2.attention.weight"]
    assert "6 layers, 8 heads" in repr(load("text"))


@pytest.mark.parametrize("name", ["trained digits", "trained translation"])
def test_a_table_has_every_number_under_the_tokens_that_it_belongs_to(name: str) -> None:
    trace = trace_of(name)
    for key in trace:
        whole = trace.to_frame(key)
        np.testing.assert_array_equal(whole.to_numpy().reshape(trace[key].shape), trace[key])
        assert list(whole.index.names) == list(trace.axes(key)[:-1] or trace.axes(key))
    weights = "layers.0.attention.weights"
    for axis, picked in (("head", (3,)), ("query", (slice(None), 0)), ("key", (slice(None), slice(None), 0))):
        one = trace.to_frame(weights, **{axis: picked[-1]})
        np.testing.assert_array_equal(one.to_numpy(), trace[weights][picked])
    named = [f"{place} {token}" for place, token in enumerate(trace.tokens)]
    assert list(trace.to_frame(weights, head=0).index) == list(trace.to_frame(weights, head=0).columns) == named


def test_a_table_to_look_at_says_what_of_and_shows_hidden_numbers_without_a_colour() -> None:
    trace = load("text")("the cat saw the dog", [Edit("layers.2.attention.masked", "causal")])
    shown = trace.show("layers.2.attention.masked", head=3)
    assert repr(shown).startswith("layers.2.attention.masked, head 3\n") and "0.00" not in repr(shown).split("\n")[2]
    page = shown._repr_html_()
    assert page.count("-inf") == 21 and page.count("rgba(214, 39, 40, 0.00)") >= 1
    assert shown.frame.to_numpy().shape == (7, 7)
    wide = trace.show("logits")
    assert len(wide._repr_html_()) < 500_000 and max(map(len, repr(wide).splitlines())) < 400


def test_an_axis_that_is_not_there_is_named() -> None:
    trace = load("text")("i love you")
    with pytest.raises(ValueError, match="no axis layer: there are head, query, key"):
        trace.to_frame("layers.0.attention.weights", layer=2)
