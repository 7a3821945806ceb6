"""Hooks are state on a network that all threads share, so only one run of it may wear them at a time.

Runs have their turn in the order in which they came. A lock alone would not see to that: who makes many runs, one
after the other, takes it again before anybody else is awake, and a visitor's click would wait for all of them.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Lock, get_ident
from weakref import WeakKeyDictionary

from torch import nn

from model import deadline


class Turns:
    """A line of threads, of which the first has the turn; it may take another one within it."""

    def __init__(self) -> None:
        self._line: deque[int] = deque()
        self._changed = Condition()

    @contextmanager
    def mine(self) -> Iterator[None]:
        """Wait until it is this thread's turn, which it has to the end of the block.

        Raises deadline.OverdueError once the time of the run is over.
        """
        me, left = get_ident(), deadline.left()
        with self._changed:
            within = bool(self._line) and self._line[0] == me
            if not within:
                self._line.append(me)
        try:
            with self._changed:
                if not self._changed.wait_for(lambda: self._line[0] == me, min(left, LONGEST)):
                    raise deadline.OverdueError("other runs took all the time")
            yield
        finally:
            if not within:
                with self._changed:
                    self._line.remove(me)
                    self._changed.notify_all()


LONGEST = 10**6  # seconds: a system waits no longer in one go
_turns: "WeakKeyDictionary[nn.Module, Turns]" = WeakKeyDictionary()
_taking = Lock()


def turn_of(network: nn.Module) -> Turns:
    """The line of those who want to put hooks on a network."""
    with _taking:
        return _turns.setdefault(network, Turns())
