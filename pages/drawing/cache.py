"""Caches that all visitors share: of runs, bounded in bytes, and of results computed from networks and runs.

Constants of the program are cached by functools.
"""

from collections.abc import Callable, Hashable
from functools import wraps
from hashlib import sha256
from random import choice
from threading import Condition
from time import monotonic
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from cachetools import Cache, LRUCache, cached
from cachetools.keys import hashkey

from model import Trace
from model.pipeline import forget_sources

LATELY = 10.0  # seconds that a visitor looks before the next click
LONG = 6_000_000  # bytes: some thirty tokens. Longer runs count four times, so that they fill at most a quarter
MOST_A_RUN = 8  # results of one function
P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable)

_clear: list[Callable[[], object]] = []


def kept(most: int, decides: Callable[..., tuple] | None = None) -> Callable[[F], F]:
    """A decorator that keeps the latest `most` results for all visitors, until `forget`.

    Arguments are hashable, arrays, runs, or tuples of these. decides: the arguments -> the values that decide the
    result, where not all do. When many threads ask for one result, one computes it and the others wait. Exceptions are
    not kept. Nobody may change a result.
    """

    def key(*arguments: object, **named: object) -> tuple:
        values = decides(*arguments, **named) if decides else (*arguments, *sorted(named.items()))
        return hashkey(*map(digest, values))

    return _until_forgotten(cached(LRUCache(most), key, condition=Condition()))


def _until_forgotten(keep: Callable[[Any], Any]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        keeps = keep(function)
        _clear.append(keeps.cache_clear)
        return keeps

    return decorate


def missing(function: Callable, *arguments: object) -> tuple | None:
    """The key of a result that a `kept` function lacks; None if it has the result."""
    key: tuple = function.cache_key(*arguments)  # type: ignore[attr-defined]
    return None if key in function.cache else key  # type: ignore[attr-defined]


def forget() -> None:
    """Empty what `kept` and `traces_up_to` keep, and let go of the networks behind it."""
    for clear in _clear:
        clear()
    forget_sources()


def digest(value: Any) -> Hashable:
    """What stands for a value in a key: for bytes, perhaps a visitor's photo, a hash; for a run its input and edits,
    which decide it where another argument names the pipeline.
    """
    if isinstance(value, Trace):
        return digest(value[value.graph.embedded]), value.edits
    if isinstance(value, np.ndarray):
        return value.shape, sha256(value.tobytes()).digest()
    if isinstance(value, tuple | list):
        return tuple(map(digest, value))
    return sha256(value).digest() if isinstance(value, bytes) else value


class _Runs(Cache):
    """A cache of runs. When it is full, a random run goes: one that nobody asked for lately, if there is one."""

    def __init__(self, most: int) -> None:
        super().__init__(most, getsizeof=lambda trace: min(trace.nbytes * (4 if trace.nbytes > LONG else 1), most // 2))
        self._asked: dict[Hashable, float] = {}

    def __getitem__(self, key: Hashable) -> Trace:
        trace: Trace = super().__getitem__(key)
        self._asked[key] = monotonic()
        return trace

    def __setitem__(self, key: Hashable, trace: Trace) -> None:
        super().__setitem__(key, trace)
        self._asked[key] = monotonic()

    def __delitem__(self, key: Hashable) -> None:
        super().__delitem__(key)
        del self._asked[key]

    def clear(self) -> None:
        super().clear()
        self._asked.clear()

    def popitem(self) -> tuple[Hashable, Trace]:
        forgotten = [key for key, asked in self._asked.items() if asked < monotonic() - LATELY]
        key = choice(forgotten or list(self))
        return key, self.pop(key)


def traces_up_to(
    most: int, key: Callable[..., tuple] = hashkey
) -> Callable[[Callable[..., Trace]], Callable[..., Trace]]:
    """A decorator that keeps runs, at most `most` bytes of them; arguments, or what `key` makes of them, are hashable.

    When they do not all fit, a random one goes: in a class that clicks in turn, the oldest is needed next. Two fit
    whatever their size, so that no click computes both a run and its original anew. When many visitors ask for one
    run, one thread computes it and the others wait. Exceptions are not kept. `forget`, or the function's
    `cache_clear()`, empties it.
    """
    return _until_forgotten(cached(_Runs(most), key, condition=Condition()))


def once_a_run(make: Callable[Concatenate[Trace, P], T]) -> Callable[Concatenate[Trace, P], T]:
    """A decorator for small results of a run and a few other arguments: some are kept as long as the run lives."""
    made: WeakKeyDictionary[Trace, dict[Hashable, T]] = WeakKeyDictionary()

    @wraps(make)
    def of(run: Trace, *arguments: P.args, **named: P.kwargs) -> T:
        kept, key = made.setdefault(run, {}), hashkey(*arguments, **named)
        if (found := kept.get(key)) is None:
            found = make(run, *arguments, **named)
            if len(kept) >= MOST_A_RUN:
                kept.clear()
            kept[key] = found
        return found

    return of
