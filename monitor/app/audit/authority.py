"""Asks a calendar of OpenTimestamps for time stamps."""

from __future__ import annotations

from hashlib import sha256

from typing_extensions import override

from monitor.alert.receivers.http import Endpoint
from monitor.app.audit.stamper import Authority
from monitor.audit.stamp import StampKind, a_receipt, completed, pending_of

_NOT_FOUND = 404


class Calendar(Authority):
    """A calendar of OpenTimestamps: it promises to carry a hash into a Bitcoin block, and later proves that it did."""

    kind = StampKind.RECEIPT
    trusted = False  # the block is for a person to look up

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self.name = self._at("digest").host

    @override
    def stamp(self, content: bytes) -> bytes:
        """The receipt with the calendar's promise; raises Retriable or Fatal."""
        endpoint = self._at("digest")
        answer = endpoint.post(sha256(content).digest(), {"Content-Type": "application/octet-stream"})
        if not answer.done:
            raise endpoint.judged(answer)
        return a_receipt(content, answer.body)

    @override
    def complete(self, token: bytes) -> bytes | None:
        """The receipt that leads to a block, once the calendar has it: hours later, mostly."""
        commitment = pending_of(token)
        if commitment is None:
            return None
        # always the configured calendar: a receipt could name any host
        endpoint = self._at(f"timestamp/{commitment.hex()}")
        answer = endpoint.get()
        if answer.status == _NOT_FOUND:
            return None
        if not answer.done:
            raise endpoint.judged(answer)
        return completed(token, answer.body)

    @override
    def check(self, token: bytes, content: bytes) -> None:
        """Nothing here knows the blocks."""

    def _at(self, path: str) -> Endpoint:
        return Endpoint(f"{self._url}/{path}", name="the calendar", setting="MONITOR_AUDIT__CALENDAR_URL")
