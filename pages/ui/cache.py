"""A cache that all visitors share, bounded by the bytes it holds rather than by the number of entries."""

from collections.abc import Callable
from threading import Condition

from cachetools import RRCache, cached
from cachetools.keys import hashkey

from model import Trace


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
