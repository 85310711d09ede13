"""What HTTP and gRPC have in common: who sends, how much may be under way, and keeping what was sent."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from threading import Lock

from monitor.app.collect.intake import Intake
from monitor.core.errors import InvalidMessage, Retriable
from monitor.core.message import DeadLetter
from monitor.core.settings.collect import CollectSettings
from monitor.core.trace import Collected
from monitor.ingest.traces.otlp import read_request
from monitor.web.collect.admission import Admission, Allowance
from monitor.web.collect.body import decompressed, too_long
from monitor.web.collect.events import Headers, messages
from monitor.web.collect.otlp import Receipt, Signal
from monitor.web.collect.refusal import Refused, busy, not_kept
from monitor.web.collect.senders import Sender, Senders

log = logging.getLogger(__name__)
_LARGE = 2**20  # bytes; what larger bodies become takes many times as much memory, so one is read at a time
_PATIENCE = 5.0  # seconds that a large body waits for another one
_QUIET = 10.0  # seconds between two lines of the log about the same trouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """How many events were kept, and which were not."""

    accepted: int
    rejected: Sequence[DeadLetter]


class Door:
    """Keeps what senders send. Every method may raise `Refused`; nothing was kept then. Safe in several threads."""

    def __init__(
        self,
        intake: Intake,
        senders: Senders,
        settings: CollectSettings,
        now: Callable[[], datetime],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.senders = senders
        self.settings = settings
        self.admission = Admission(most=settings.max_requests, most_bytes=settings.max_request_bytes)
        self._intake = intake
        self._now = now
        self._clock = clock
        self._allowance = Allowance(settings.bytes_per_second)
        self._large = Lock()
        self._log_again_at: dict[str, float] = {}

    def sender(self, secret: str | None, *, from_here: bool) -> Sender:
        """Who sends, see `Senders.identify`; refused while it has sent more than it may."""
        try:
            sender = self.senders.identify(secret, from_here=from_here)
        except Retriable as error:
            raise self._not_kept(error) from None
        except Refused as refused:
            self._warn("a sender is refused: %s", refused.problem)
            raise
        self._allowance.check(sender.id, self._clock())
        return sender

    def telemetry(self, signal: Signal, body: bytes, encoding: str, sender: Sender, *, as_json: bool) -> Receipt:
        """Keeps the spans or log records of a request; the body has the encoding that `check_encoding` gave."""
        body = self._opened(body, encoding, sender)
        with self._one_at_a_time(body):
            if as_json and body.strip() == b"{}":  # carries nothing, which is a success
                return Receipt()
            try:
                read = read_request(body, logs=signal is Signal.LOGS, json=as_json)
            except InvalidMessage as error:
                problem = f"the body {error.problem}" if error.path == "$" else str(error)
                raise Refused(HTTPStatus.BAD_REQUEST, problem) from None
            if not read.spans and not read.logs:
                return Receipt(rejected=read.rejected, problem=read.problem)
            collected = Collected(received_at=self._now(), app=sender.app, spans=read.spans, logs=read.logs)
            try:
                full = self._intake.spans(collected)
            except Retriable as error:
                raise self._not_kept(error) from None
        problem = read.problem or ("their trace has reached its limits" if full else "")
        return Receipt(rejected=read.rejected + full, problem=problem)

    def interactions(self, body: bytes, encoding: str, media_type: str, headers: Headers, sender: Sender) -> Taken:
        """Keeps the events of a request, all that are readable or none."""
        body = self._opened(body, encoding, sender)
        with self._one_at_a_time(body):
            events = messages(body, media_type, headers, self._now(), self.settings.max_events)
            try:
                rejected = self._intake.events(events, app=sender.app) if events else ()
            except Retriable as error:
                raise self._not_kept(error) from None
        return Taken(accepted=len(events) - len(rejected), rejected=rejected)

    def _opened(self, body: bytes, encoding: str, sender: Sender) -> bytes:
        limit = self.settings.max_body_bytes
        body = decompressed(body, encoding, limit)
        self._allowance.count(sender.id, len(body), self._clock())
        if len(body) > limit:
            raise too_long(limit)
        return body

    @contextmanager
    def _one_at_a_time(self, body: bytes) -> Iterator[None]:
        if len(body) <= _LARGE:
            yield
            return
        if not self._large.acquire(timeout=_PATIENCE):
            raise busy("other large requests are under way; try again")
        try:
            yield
        finally:
            self._large.release()

    def _not_kept(self, error: Retriable) -> Refused:
        self._warn("requests cannot be kept; senders are told to try again: %s", error)
        return not_kept(error)

    def _warn(self, trouble: str, why: object) -> None:
        """Logs a trouble, but not for each of many requests."""
        now = self._clock()
        if now >= self._log_again_at.get(trouble, -math.inf):
            self._log_again_at[trouble] = now + _QUIET
            log.warning(trouble, why)
