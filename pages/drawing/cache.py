"""What all visitors share: runs, as many as fit into so many bytes, and what is worked out of networks and runs.

Constants of the program are kept by functools; all else here.
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

LATELY = 10.0  # seconds: so long a visitor looks before the next click
LONG = 6_000_000  # bytes: a run of some thirty tokens. It counts four times, so that long ones together hold a quarter
MOST_A_RUN = 8  # of the same kind
P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable)

_clear: list[Callable[[], object]] = []


def kept(most: int, decides: Callable[..., tuple] | None = None) -> Callable[[F], F]:
    """A decorator that keeps the latest `most` results for all visitors, until `forget`.

    Arguments are hashable, or arrays, runs and tuples of these; decides: which of them, or what of them, decides the
    result, where not all do. Where many ask for the same at once, one thread works it out and the others wait. What
    raises is not kept. Nobody may change a result.
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
    """What a result of a function that is `kept` would be kept by; None where it is there already."""
    key: tuple = function.cache_key(*arguments)  # type: ignore[attr-defined]
    return None if key in function.cache else key  # type: ignore[attr-defined]


def forget() -> None:
    """Let go of all that is kept of networks, and of the networks that it was computed with."""
    for clear in _clear:
        clear()
    forget_sources()


def digest(value: Any) -> Hashable:
    """What stands for a value in a key: of bytes, which may be a visitor's photo, no key shall keep more; of a run,
    given its pipeline, what went in and the edits on the way.
    """
    if isinstance(value, Trace):
        return digest(value[value.graph.embedded]), value.edits
    if isinstance(value, np.ndarray):
        return value.shape, sha256(value.tobytes()).digest()
    if isinstance(value, tuple | list):
        return tuple(map(digest, value))
    return sha256(value).digest() if isinstance(value, bytes) else value


class _Runs(Cache):
    """Runs, of which one that nobody asked for lately goes first; where there is none, any."""

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

    Where they do not all fit, one goes by chance: in a class that clicks in turn the oldest is the next to be wanted.
    Two are kept whatever their size, so that a run and the same with changes need not be done at each click.
    Where many visitors ask for the same run at once, one thread computes it and the others wait for it. A run that
    raises is not kept. Forget all with the function's `cache_clear()`, as `forget` does.
    """
    return _until_forgotten(cached(_Runs(most), key, condition=Condition()))


def once_a_run(make: Callable[Concatenate[Trace, P], T]) -> Callable[Concatenate[Trace, P], T]:
    """A decorator for what is made of a run and little else, and is small: a few are kept as long as it is."""
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
