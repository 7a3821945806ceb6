"""What all visitors share: runs, as many as fit into so many bytes, and what pages make of a run."""

from collections.abc import Callable, Hashable
from functools import wraps
from hashlib import sha256
from threading import Condition
from typing import TypeVar
from weakref import WeakKeyDictionary

from cachetools import RRCache, cached
from cachetools.keys import hashkey

from model import Trace
from model.pipeline import forget_sources

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


def traces_up_to(
    most: int, key: Callable[..., tuple] = hashkey
) -> Callable[[Callable[..., Trace]], Callable[..., Trace]]:
    """A decorator that keeps runs, at most `most` bytes of them; arguments, or what `key` makes of them, are hashable.

    Where they do not all fit, one goes by chance: in a class that clicks in turn the oldest is the next to be wanted.
    Two are kept whatever their size, so that a run and the same with changes need not be done at each click.
    Where many visitors ask for the same run at once, one thread computes it and the others wait for it. A run that
    raises is not kept. Forget all with the function's `cache_clear()`.
    """
    return cached(RRCache(most, getsizeof=lambda trace: min(trace.nbytes, most // 2)), key, condition=Condition())


def once_a_run(make: Callable[[Trace], T]) -> Callable[[Trace], T]:
    """A decorator for what is made of a run alone, and is small: it is kept as long as the run is."""
    made: WeakKeyDictionary[Trace, T] = WeakKeyDictionary()

    @wraps(make)
    def of(run: Trace) -> T:
        if run not in made:
            made[run] = make(run)
        return made[run]

    return of
