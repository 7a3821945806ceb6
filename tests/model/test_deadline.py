"""A run is stopped when its time is over, in the middle of its work, and leaves nothing behind."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
import torch
from torch import Tensor

from model import Edit, deadline, load
from model.deadline import OverdueError, within
from model.measures.sweep import sweep
from model.search import beam_search
from model.trace import hooked

SENTENCE = "the cat sat on the big red box ."
SOURCES = [f"{SENTENCE} {word}" for word in ("one", "two", "three")]
OTHERS = [Edit("layers.0.attention.heads", "patch", token=1, source=source) for source in SOURCES]
WORK: dict[str, Callable[[], object]] = {
    "a run": lambda: load("text")(SENTENCE),
    "a run with vectors of others": lambda: load("text")(SENTENCE, OTHERS),
    "a translation": lambda: load("translation")(SENTENCE),
    "a translation with changes in the decoder": lambda: load("translation")(
        SENTENCE, [Edit("decoder.layers.0.cross.weights", "even")]
    ),
    "a sweep": lambda: sweep(
        load("text"), SENTENCE, [[Edit("layers.0.ffn.output", "zero", token=i)] for i in range(9)]
    ),
}


class Clock:
    """A clock that advances a second each time it is read."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        self.now += 1
        return self.now


@pytest.mark.parametrize("name", WORK)
def test_work_ends_at_the_next_step_after_its_time_is_over(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, work = Clock(), WORK[name]
    load("text").source.cache.clear()
    monkeypatch.setattr(deadline, "monotonic", clock)
    with within(10**9):
        work()
    looks = clock.now
    assert looks > 15, "it looks at the clock on its way"
    load("text").source.cache.clear()
    half = looks // 2
    clock.now = 0
    with within(half), pytest.raises(OverdueError):
        work()
    assert clock.now <= half + 3, "nothing is computed after that"
    with within(10**9):
        work()  # the network is free again, and unchanged


@pytest.mark.parametrize("forced", [(), (3,) * 50], ids=["free", "forced"])
def test_a_search_ends_between_two_steps(forced: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []

    def step(so_far: Tensor) -> Tensor:
        steps.append(so_far)
        return torch.arange(5.0).log_softmax(-1).expand(len(so_far), -1)

    monkeypatch.setattr(deadline, "monotonic", Clock())
    with within(7), pytest.raises(OverdueError):
        beam_search(step, start=1, end=0, beams=2, longest=100, forced=forced)
    assert len(steps) == 7


def test_whoever_waits_for_the_network_does_not_wait_longer_than_his_time() -> None:
    network, busy, done = load("text").network, Event(), Event()

    def hold() -> None:
        with hooked(network, {}):
            busy.set()
            done.wait(30)

    with ThreadPoolExecutor(1) as other:
        holding = other.submit(hold)
        busy.wait(30)
        with within(0.05), pytest.raises(OverdueError):
            load("text")(SENTENCE)
        assert not holding.done(), "it was he who gave up"
        done.set()


def test_the_innermost_time_counts_and_after_it_the_one_before() -> None:
    with within(-1):
        with within(100):
            deadline.check()
            assert 99 < deadline.left() <= 100
        assert deadline.left() == 0
        with pytest.raises(OverdueError):
            deadline.check()
    deadline.check()
