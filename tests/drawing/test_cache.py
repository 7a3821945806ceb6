"""Visitors share the runs: each is computed once, and together they stay within so many bytes."""

import gc
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from model import InputError, Trace, load
from model.edits import head_off
from pages.drawing import cache
from pages.drawing.cache import digest, once_a_run, traces_up_to

SENTENCES = ("the cat sat .", "the dog sat .", "the bird sat .")


@pytest.fixture(scope="module")
def traces() -> dict[str, Trace]:
    return {sentence: load("text")(sentence) for sentence in SENTENCES}


def test_the_size_of_a_trace_is_that_of_its_arrays(traces: dict[str, Trace]) -> None:
    trace = traces[SENTENCES[0]]
    assert trace.nbytes == sum(4 * trace[key].size for key in trace)  # float32


def test_thirty_who_ask_at_once_cost_one_run(traces: dict[str, Trace]) -> None:
    runs, together = [], Barrier(30)

    @traces_up_to(10**9)
    def run(sentence: str) -> Trace:
        runs.append(sentence)
        time.sleep(0.1)
        return traces[sentence]

    def visitor(number: int) -> Trace:
        together.wait()
        return run(SENTENCES[number % 3])

    with ThreadPoolExecutor(30) as visitors:
        seen = list(visitors.map(visitor, range(30)))
    assert sorted(runs) == sorted(SENTENCES)
    assert all(trace is traces[SENTENCES[number % 3]] for number, trace in enumerate(seen))


def test_the_bytes_kept_stay_under_the_bound_and_a_class_that_takes_turns_finds_some(traces: dict[str, Trace]) -> None:
    runs, bound = [], 2 * traces[SENTENCES[0]].nbytes

    @traces_up_to(bound)
    def run(sentence: str) -> Trace:
        runs.append(sentence)
        return traces[sentence]

    for sentence in (*SENTENCES[:2], *SENTENCES[:2]):  # two have room
        assert run(sentence) is traces[sentence]
    assert runs == list(SENTENCES[:2])
    for sentence in SENTENCES * 30:  # whoever kept the latest would find none of these
        assert run(sentence) is traces[sentence]
        assert run.cache.currsize <= bound
    assert 30 < len(runs) < 75


def test_a_run_that_somebody_looks_at_outlives_one_that_nobody_does(
    traces: dict[str, Trace], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(cache, "monotonic", lambda: now[0])

    @traces_up_to(2 * max(trace.nbytes for trace in traces.values()))
    def run(sentence: str) -> Trace:
        return traces[sentence]

    left, looked_at, new = SENTENCES
    for _ in range(20):  # by chance it would be the wrong one in half of them
        run.cache_clear()
        run(left)
        run(looked_at)
        now[0] += cache.LATELY + 1
        run(looked_at)
        run(new)
        assert {key[0] for key in run.cache} == {looked_at, new}


def test_of_runs_larger_than_the_bound_two_are_kept(traces: dict[str, Trace]) -> None:
    runs = []

    @traces_up_to(1000)
    def run(sentence: str) -> Trace:
        runs.append(sentence)
        return traces[sentence]

    for sentence in SENTENCES[:2] * 2:
        assert run(sentence) is traces[sentence]
    assert runs == list(SENTENCES[:2])
    run(SENTENCES[2])
    assert len(run.cache) == 2 and SENTENCES[2] in {key[0] for key in run.cache}


def test_a_run_that_fails_is_tried_again(traces: dict[str, Trace]) -> None:
    failures = [InputError("empty")]

    @traces_up_to(10**9)
    def run(sentence: str) -> Trace:
        if failures:
            raise failures.pop()
        return traces[sentence]

    with pytest.raises(InputError):
        run(SENTENCES[0])
    assert run(SENTENCES[0]) is traces[SENTENCES[0]]


def test_what_is_made_of_a_run_is_made_once_and_goes_with_it() -> None:
    made = []

    @once_a_run
    def tokens(run: Trace) -> list[str]:
        made.append(run.subject)
        return list(run.tokens)

    pipeline = load("text")
    first, second = pipeline(SENTENCES[0]), pipeline(SENTENCES[1])
    assert tokens(first) is tokens(first) and tokens(second) == second.tokens
    assert made == [first.subject, second.subject]

    @once_a_run
    def nth(run: Trace, place: int) -> str:
        made.append(place)
        return run.tokens[place]

    made.clear()
    assert [nth(run, place) for place in (1, 2, 1) for run in (first, second)] == [
        run.tokens[place] for place in (1, 2, 1) for run in (first, second)
    ]
    assert made == [1, 1, 2, 2]
    gone = weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None, "what was made keeps no run"


def test_what_is_kept_is_worked_out_once_for_all_until_networks_are_forgotten(traces: dict[str, Trace]) -> None:
    made: list[object] = []

    @cache.kept(2, lambda value, _: (value,))
    def found(value: object, progress: object) -> float:
        made.append(value)
        time.sleep(0.05)
        return len(made)

    array, trace = np.arange(3.0), traces[SENTENCES[0]]
    again = array.copy(), load("text")(SENTENCES[0])
    with ThreadPoolExecutor(8) as visitors:
        assert len(set(visitors.map(lambda one: found(array, one), range(8)))) == 1 == len(made)
    assert found(again[0], None) == 1 and found(trace, None) == found(again[1], None) == 2
    assert cache.missing(found, array, None) is None is not cache.missing(found, array + 1, None)
    found(array + 1, None)
    assert found(trace, None) == 2 and cache.missing(found, array, None), "the latest are kept"
    cache.forget()
    assert cache.missing(found, trace, None)


def test_no_key_holds_a_photo() -> None:
    assert digest(b"a" * 10**6) == digest(b"a" * 10**6) != digest(b"b" * 10**6)
    assert len(digest(b"a" * 10**6)) == 32
    run, changed = (load("text")(SENTENCES[0], edits) for edits in ((), [head_off(0, 0)]))
    assert digest(run) == digest(load("text")(SENTENCES[0])) != digest(changed)
    assert digest((1, 2)) == (1, 2) and digest("a sentence") == "a sentence"
