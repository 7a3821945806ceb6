"""What all visitors share: runs, as many as fit into so many bytes, and what pages make of a run."""

from collections.abc import Callable, Hashable
from functools import wraps
from hashlib import sha256
from random import choice
from threading import Condition
from time import monotonic
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from cachetools import Cache, cached
from cachetools.keys import hashkey

from model import Trace
from model.pipeline import forget_sources

LATELY = 10.0  # seconds: so long a visitor looks before the next click
LONG = 6_000_000  # bytes: a run of some thirty tokens. It counts four times, so that long ones together hold a quarter
MOST_A_RUN = 8  # of the same kind
P = ParamSpec("P")
T = TypeVar("T")


_kept: list[Callable[[], object]] = []


def of_networks(function: T) -> T:
    """A decorator for what has a `cache_clear()` and keeps what networks computed: `forget` lets go of it."""
    cleared_by(function.cache_clear)  # type: ignore[attr-defined]
    return function


def cleared_by(clear: Callable[[], object]) -> None:
    """Call this, too, where `forget` lets go of all."""
    _kept.append(clear)


def forget() -> None:
    """Let go of all that is kept of networks, and of the networks that it was computed with."""
    for clear in _kept:
        clear()
    forget_sources()


def digest(subject: Hashable) -> Hashable:
    """What stands for an input in a key: of bytes, which may be a visitor's photo, no key shall keep more."""
    return sha256(subject).digest() if isinstance(subject, bytes) else subject


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
    raises is not kept. Forget all with the function's `cache_clear()`.
    """
    return cached(_Runs(most), key, condition=Condition())


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
