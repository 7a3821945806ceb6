"""Admission: limits on guessing class codes per address, and the numbers that identify phones.

Everything is kept for minutes only, and never on disk.
"""

import hmac
import secrets
import time
from collections.abc import Hashable
from hashlib import sha256
from ipaddress import ip_address, ip_network
from threading import Lock

from cachetools import TTLCache

#: After so many wrong codes within so many seconds, each further lookup for the address waits.
MOST_FAILURES, FAILURES_FOR = 60, 60.0
LOOKS = 20.0  # lookups per second after that
MOST_OF_ADDRESS = 600  # phones of one class that may vote from an address
NUMBERS = 0.2  # new phones per second of an address, after the first MOST_OF_ADDRESS
LONGEST_WAIT = 10.0
HALF = 16  # hexadecimal digits: the first half of a phone's number is random, the second signs it
TAG = 2  # leading digits shared by phones of an address; one address in 256 has the same, so they do not identify it


class BusyError(Exception):
    """The queue is too long; try again later."""


class Queue:
    """Rate limit: `rate` a second for each name, and `at_once` without waiting. Thread-safe."""

    def __init__(self, rate: float, at_once: int = 0) -> None:
        self._gap, self._ahead = 1 / rate, at_once / rate
        self._next: TTLCache[Hashable, float] = TTLCache(10_000, self._ahead + 2 * LONGEST_WAIT)
        self._lock = Lock()

    def wait(self, name: Hashable) -> float:
        """Join the queue and return the seconds to wait. Raises BusyError if above LONGEST_WAIT."""
        with self._lock:
            now = time.monotonic()
            turn = max(self._next.get(name, now), now)
            seconds = max(0.0, turn - self._ahead - now)
            if seconds > LONGEST_WAIT:
                raise BusyError
            self._next[name] = turn + self._gap
            return seconds


class Door:
    """Rate limit for class codes, tried by phones or by links that contain a code."""

    def __init__(self) -> None:
        self._failures: TTLCache[str, int] = TTLCache(10_000, FAILURES_FOR)
        self._queue = Queue(LOOKS)
        self._lock = Lock()

    def wait(self, address: str) -> float:
        """Seconds to wait before a code from this address may be looked up: 0 unless many were wrong. May raise
        BusyError.

        The attempt counts as wrong until `was_right`, so that attempts in parallel are limited as well.
        """
        with self._lock:
            tried = self._failures.get(address, 0)
            seconds = self._queue.wait(address) if tried >= MOST_FAILURES else 0.0
            self._failures[address] = tried + 1
            return seconds

    def was_right(self, address: str) -> None:
        """Report that a code from this address was right."""
        with self._lock:
            self._failures[address] = max(0, self._failures.get(address, 0) - 1)


#: Limits of this process: for codes; and for starting classes, 20 at once, then one in 300 seconds per address.
door, starts = Door(), Queue(1 / 300, 20)


def new_number(seal: str, address: str) -> str:
    """A new number for a phone, which cannot be forged without the seal of the class."""
    drawn = _signed(seal, f"address {address}")[:TAG] + secrets.token_hex((HALF - TAG) // 2)
    return drawn + _signed(seal, drawn)


def is_number(seal: str, device: str) -> bool:
    """Whether this number was given to a phone of the class."""
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
