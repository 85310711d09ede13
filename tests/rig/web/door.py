"""The door in this process: a real server over an intake in memory, with made-up tokens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Event, Thread

from monitor.core.errors import Retriable
from monitor.core.settings.collect import CollectSettings
from monitor.simulate.fakes.intake import MemoryIntake
from monitor.store.tokens import Token, digest
from monitor.web.collect.server import collect_server

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)


def a_token(role: str = "collect", app: str | None = None, **over: object) -> Token:
    fields = dict.fromkeys(Token.__slots__)
    return Token(**{**fields, "id": "t1", "name": "bot", "role": role, "app": app, "used_at": NOW, **over})


@dataclass
class MadeUpTokens:
    """Stands in for `Access`: `tokens` by their secrets. `looks` counts how often they were read."""

    tokens: dict[str, Token] = field(default_factory=dict)
    trouble: Retriable | None = None
    looks: int = 0
    used: list[str] = field(default_factory=list)

    def valid(self, now: datetime) -> dict[bytes, Token]:
        self.looks += 1
        if self.trouble is not None:
            raise self.trouble
        return {digest(secret): token for secret, token in self.tokens.items() if token.holds(now)}

    def closed(self) -> bool:
        return bool(self.tokens)

    def record_use(self, token: Token, now: datetime) -> Token:
        self.used.append(token.id)
        return replace(token, used_at=now)


@dataclass(kw_only=True)
class Running:
    """A server that runs: `http` is the address above its paths, `grpc` host and port."""

    http: str
    grpc: str
    intake: MemoryIntake
    tokens: MadeUpTokens
    stop: Event
    thread: Thread


@contextmanager
def a_door(
    intake: MemoryIntake | None = None, tokens: MadeUpTokens | None = None, **settings: object
) -> Iterator[Running]:
    """A server on free ports of this machine; leaving stops it."""
    intake, tokens, stop, up = intake or MemoryIntake(), tokens or MadeUpTokens(), Event(), Event()
    ports: list[int | None] = []

    def ready(port: int, grpc_port: int | None) -> None:
        ports.extend((port, grpc_port))
        up.set()

    def serve() -> None:
        try:
            collect_server(
                intake,
                tokens,
                CollectSettings(port=0, grpc_port=0, **settings),
                now=lambda: NOW,
                stop=stop,
                ready=ready,
            )
        finally:
            up.set()

    thread = Thread(target=serve)
    thread.start()
    try:
        up.wait()
        assert ports, "the server did not start"
        yield Running(
            http=f"http://127.0.0.1:{ports[0]}",
            grpc=f"127.0.0.1:{ports[1]}",
            intake=intake,
            tokens=tokens,
            stop=stop,
            thread=thread,
        )
    finally:
        stop.set()
        thread.join()
