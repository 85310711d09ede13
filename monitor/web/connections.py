"""The limits of a connection: clients that do not go on with a request, or are too many, keep nobody else out."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket

from h11 import CLOSED, IDLE, SEND_BODY
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from monitor.core.errors import WrongSettings

log = logging.getLogger(__name__)
_FULL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n"


class LimitedConnection(H11Protocol):
    """A connection of uvicorn, which by itself waits for a request for ever, and accepts any number of connections.

    A client has `head_seconds` for the head of a request, `body_seconds` for its body, and as long to take what was
    written at a time. Over TLS it has `goodbye_seconds` to answer that the connection closes, for which asyncio would
    wait 30 s: clients that keep a connection for later do not answer. Beyond `most` connections the one that has kept
    us waiting for longest is closed; a new one gets 503 if there is none.
    """

    head_seconds = 10.0
    body_seconds = 30.0
    goodbye_seconds = 1.0
    most = 500

    _phase: object = None  # what we wait for: IDLE is a head, SEND_BODY a body, CLOSED a goodbye
    since = 0.0  # when the client began to keep us waiting, by the loop's clock
    _timer: asyncio.TimerHandle | None = None
    _untaken: asyncio.TimerHandle | None = None  # runs while the client has not taken all that was written

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        # `pause_writing` as soon as the client does not take something; with 0, TLS pauses before there is anything
        transport.set_write_buffer_limits(high=1, low=0)
        self._expect(IDLE)
        if len(self.connections) > self.most and not self._made_room():
            log.warning("a connection was refused: %d are open and busy", self.most)
            transport.write(_FULL)
            transport.close()

    @override
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect(self.conn.their_state)

    @override
    def on_response_complete(self) -> None:
        self.since = self.loop.time()  # an idle connection gives way like one that hesitates
        super().on_response_complete()
        self._expect(self.conn.their_state)  # the next request may have come with this one, and only half of it

    @override
    def shutdown(self) -> None:
        super().shutdown()
        self._expect(self.conn.their_state)

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self.since = self.loop.time()
        self._untaken = self.loop.call_later(self.body_seconds, self.give_up)

    @override
    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_untaken()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._expect(None)
        self._end_untaken()
        super().connection_lost(exc)

    def _expect(self, phase: object) -> None:
        """Starts the time for a head, a body or a goodbye, unless it runs; ends it in other phases."""
        if phase is not None and self.transport.is_closing() and self._untaken is None:
            phase = CLOSED
        if phase is self._phase:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._phase, self.since = phase, self.loop.time()
        times = {IDLE: self.head_seconds, SEND_BODY: self.body_seconds, CLOSED: self.goodbye_seconds}
        if phase in times:
            self._timer = self.loop.call_later(times[phase], self.give_up)

    def _end_untaken(self) -> None:
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None

    def give_up(self) -> None:
        """Closes the connection without another word."""
        self._end_untaken()
        self.transport.abort()

    def keeps_us_waiting(self) -> bool:
        """Whether the next step is the client's, not ours."""
        if self._untaken is not None:  # also while closing, which waits until all is taken
            return True
        cycle: RequestResponseCycle | None = self.cycle
        answered = cycle is None or cycle.response_complete
        return not self.transport.is_closing() and (answered or self.conn.their_state is SEND_BODY)

    def _made_room(self) -> bool:
        """Closes the connection of the client that has kept us waiting for longest; False if we keep all waiting."""
        waiting = [
            other
            for other in self.connections
            if isinstance(other, LimitedConnection) and other is not self and other.keeps_us_waiting()
        ]
        if not waiting:
            return False
        min(waiting, key=lambda other: other.since).give_up()
        return True


def listening(host: str, port: int, settings: str) -> socket.socket:
    """A socket that listens.

    Raises:
        WrongSettings: it cannot; the message names `settings`.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listens = socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        why = str(error.strerror).partition(" (while")[0]  # Python repeats the address behind it
        if error.errno == errno.EADDRINUSE:
            why += "; another process listens there: end it, or set another port"
        raise WrongSettings(f"{settings}: cannot listen at {authority(host, port)}: {why}") from None
    # connections inherit it; asyncio does not set it on a socket made here, and every response would wait 40 ms
    listens.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listens


def authority(host: str, port: int) -> str:
    """Host and port as a URL has them: an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
