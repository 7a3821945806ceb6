"""Who comes in: how fast an address may guess at codes, and the numbers by which phones are told apart.

Nothing of it is kept for longer than some minutes, and nothing on a disk.
"""

import hmac
import secrets
import time
from collections.abc import Hashable
from hashlib import sha256
from ipaddress import ip_address, ip_network
from threading import Lock

from cachetools import TTLCache

#: From so many wrong codes on, within so many seconds, an address waits for each that is looked up for it.
MOST_FAILURES, FAILURES_FOR = 60, 60.0
LOOKS = 20.0  # codes that are then looked up in a second
MOST_OF_ADDRESS = 600  # phones of one class that answer from an address
NUMBERS = 0.2  # that it may bring in a second, beyond so many at once
LONGEST_WAIT = 10.0  # seconds
HALF = 16  # hexadecimal digits: the first half of a number is drawn by lot, the second one signs it
TAG = 2  # of the first half that phones of an address share: one in 256 has them, so that they tell of no address


class BusyError(Exception):
    """So many wait in line that there is no use in waiting: it can be tried again."""


class Queue:
    """Lets through `rate` a second for each name, and `at_once` without waiting. Threads may share it."""

    def __init__(self, rate: float, at_once: int = 0) -> None:
        self._gap, self._ahead = 1 / rate, at_once / rate
        self._next: TTLCache[Hashable, float] = TTLCache(10_000, self._ahead + 2 * LONGEST_WAIT)
        self._lock = Lock()

    def wait(self, name: Hashable) -> float:
        """Join the queue: the seconds until it is one's turn. BusyError if they are more than LONGEST_WAIT."""
        with self._lock:
            now = time.monotonic()
            turn = max(self._next.get(name, now), now)
            seconds = max(0.0, turn - self._ahead - now)
            if seconds > LONGEST_WAIT:
                raise BusyError
            self._next[name] = turn + self._gap
            return seconds


class Door:
    """Where codes are tried, by phones and by who opens a page of the app with a class in its link."""

    def __init__(self) -> None:
        self._failures: TTLCache[str, int] = TTLCache(10_000, FAILURES_FOR)
        self._queue = Queue(LOOKS)
        self._lock = Lock()

    def wait(self, address: str) -> float:
        """Seconds until a code from there may be looked up: none, unless many were wrong. May raise BusyError.

        Until `was_right` it counts as a wrong one: else a thousand that are tried at once would all be looked up.
        """
        with self._lock:
            tried = self._failures.get(address, 0)
            seconds = self._queue.wait(address) if tried >= MOST_FAILURES else 0.0
            self._failures[address] = tried + 1
            return seconds

    def was_right(self, address: str) -> None:
        """A code from there was a right one."""
        with self._lock:
            self._failures[address] = max(0, self._failures.get(address, 0) - 1)


#: Those of this process: for codes; and for classes that an address starts, so many at once and then one in so long.
door, starts = Door(), Queue(1 / 300, 20)


def new_number(seal: str, address: str) -> str:
    """A number for a phone, which nobody can make up who does not know the seal of its class."""
    drawn = _signed(seal, f"address {address}")[:TAG] + secrets.token_hex((HALF - TAG) // 2)
    return drawn + _signed(seal, drawn)


def is_number(seal: str, device: str) -> bool:
    """Whether this is a number that a phone of the class was given."""
    return hmac.compare_digest(device[HALF:].encode(), _signed(seal, device[:HALF]).encode())


def _signed(seal: str, drawn: str) -> str:
    return hmac.new(seal.encode(), drawn.encode(), sha256).hexdigest()[:HALF]


def address_of(host: str, forwarded: str) -> str:
    """Client address: the last of X-Forwarded-For if a proxy on this machine sent it, else the peer. IPv6 is cut to
    /64. host: the peer, "" if it is this machine. forwarded: the header, "" without one.
    """
    try:
        if not host or ip_address(host).is_loopback:
            host = forwarded.rpartition(",")[2].strip() or host
        address = ip_address(host)
    except ValueError:
        return host[:50]
    return str(ip_network(f"{address}/64", strict=False)) if address.version == 6 else str(address)
