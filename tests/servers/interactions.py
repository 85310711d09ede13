"""A scripted `POST /v1/interactions`: it takes batches of events as the monitor does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

from tests.servers.webhook import Answer, HttpServer, Request, http_server


class Door:
    """`batches` are what it has taken. Requests wait until `held` is set, as it is at first; `came` says that one came.

    `troubles` are what the next requests meet; `refuses` may give what a batch meets, or None for those that are good.
    """

    server: HttpServer

    def __init__(self) -> None:
        self.batches: list[list[Any]] = []
        self.requests: list[Request] = []
        self.troubles: list[Answer] = []
        self.refuses: Callable[[list[Any]], Answer | None] = lambda _: None
        self.came = Event()
        self.held = Event()
        self.held.set()

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def events(self) -> list[Any]:
        return [event for batch in self.batches for event in batch]

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        self.came.set()
        self.held.wait(10)
        if self.troubles:
            return self.troubles.pop(0)
        events = request.json
        if refused := self.refuses(events):
            return refused
        self.batches.append(events)
        return accepted(len(events))


def accepted(number: int, *rejected: dict[str, Any]) -> Answer:
    return Answer(status=202, body=json.dumps({"accepted": number, "rejected": rejected}))


@contextmanager
def door() -> Iterator[Door]:
    """Runs one on a free port for the block."""
    scripted = Door()
    with http_server(scripted.answer) as scripted.server:
        try:
            yield scripted
        finally:
            scripted.held.set()
