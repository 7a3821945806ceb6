"""A fair lock: threads get their turn in the order in which they asked.

Hooks are state on a network that threads share, so only one run at a time may use them. A plain lock is unfair: a
thread with many runs takes it again before a waiting one wakes, and a visitor's click would wait for all of them.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Lock, get_ident
from weakref import WeakKeyDictionary

from torch import nn

from model import deadline


class Turns:
    """A queue of threads; the first has the turn. Reentrant."""

    def __init__(self) -> None:
        self._line: deque[int] = deque()
        self._changed = Condition()

    @contextmanager
    def mine(self) -> Iterator[None]:
        """Wait for this thread's turn and hold it for the block.

        Raises deadline.OverdueError once the time is over.
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


LONGEST = 10**6  # seconds; systems limit the timeout of a wait
_turns: "WeakKeyDictionary[nn.Module, Turns]" = WeakKeyDictionary()
_taking = Lock()


def turn_of(network: nn.Module) -> Turns:
    """The queue of threads that want to hook a network."""
    with _taking:
        return _turns.setdefault(network, Turns())
