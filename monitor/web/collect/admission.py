"""What may be under way at a time, and what one sender may send per second."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from threading import Lock

from cachetools import LRUCache

from monitor.web.collect.refusal import Refused, busy

_MAX_SENDERS = 10_000  # beyond these, the one that was quiet for longest is forgotten
_BURST_SECONDS = 10  # what a sender may save up while it is quiet
_LEAST_BYTES = 4_096  # a request counts as this many bytes at least: it costs a transaction
_STOPPING = 5.0  # seconds until a sender should try again, when another process may have taken over


class Place:
    """The place of one request; `grow` counts the bytes of its body as they arrive."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self.bytes = 0

    def grow(self, size: int) -> None:
        """Counts `size` more bytes.

        Raises:
            Refused: there is no memory for them.
        """
        self._admission.reserve(size)
        self.bytes += size


class Admission:
    """At most `most` requests are under way, with bodies of `most_bytes` in all. Safe to use from several threads."""

    def __init__(self, *, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._requests = 0
        self._bytes = 0
        self._closed = False
        self._lock = Lock()

    @contextmanager
    def place(self) -> Iterator[Place]:
        """A place for one request.

        Raises:
            Refused: there is none, or the server stops.
        """
        with self._lock:
            if self._closed:
                raise busy("the server is stopping; try again", retry_after=_STOPPING)
            if self._requests >= self._most:
                raise busy(f"{self._most:,} requests are under way; try again")
            self._requests += 1
        place = Place(self)
        try:
            yield place
        finally:
            with self._lock:
                self._requests -= 1
                self._bytes -= place.bytes

    def reserve(self, size: int) -> None:
        """Counts bytes of a place, see `Place.grow`."""
        with self._lock:
            if self._bytes + size > self._most_bytes:
                raise busy("too many large requests are under way; try again")
            self._bytes += size

    def close(self) -> None:
        """Gives no more places; requests under way keep theirs."""
        with self._lock:
            self._closed = True


class Allowance:
    """Bytes per second of each sender, saved up for ten seconds; each process counts alone.

    A sender is refused while it is in debt, and what it sends is counted afterwards: so one request may be larger than
    what was saved up, and the next ones wait for it. Times are seconds of a clock that never goes back.
    """

    def __init__(self, bytes_per_second: float) -> None:
        self._rate = bytes_per_second
        self._full = bytes_per_second * _BURST_SECONDS
        self._left: LRUCache[Hashable, tuple[float, float]] = LRUCache(_MAX_SENDERS)  # bytes left, and when
        self._lock = Lock()

    def check(self, sender: Hashable, now: float) -> None:
        """Whether `sender` may send.

        Raises:
            Refused: it is in debt.
        """
        with self._lock:
            left = self._left_of(sender, now)
        if left <= 0:
            raise Refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"this sender may send {self._rate:,.0f} bytes per second; try again",
                retry_after=(_LEAST_BYTES - left) / self._rate,
            )

    def count(self, sender: Hashable, size: int, now: float) -> None:
        """Counts a request whose body has `size` bytes, decompressed."""
        with self._lock:
            self._left[sender] = (self._left_of(sender, now) - max(size, _LEAST_BYTES), now)

    def _left_of(self, sender: Hashable, now: float) -> float:
        left, since = self._left.get(sender, (self._full, now))
        return min(self._full, left + (now - since) * self._rate)
