"""A question with a small form, a clock for tests, and a server for what the scripted one cannot do."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread

import pytest

from monitor.errors import MonitorError
from monitor.llm.exchange import Block, Form, Prompt, Purpose, Request, Spend
from monitor.testing import MemoryBudget
from tests.llm_server import LLMServer

PATIENCE = 20.0  # seconds that a test waits for another thread when something is wrong
PRICE = 2.0


class Opinion(Form):
    supported: bool
    why: str


PROMPT = Prompt(name="opinion.v1", text="Say whether the document supports the claim.", form=Opinion)
GOOD = '{"supported": true, "why": "it says so"}'
OPINION = Opinion(supported=True, why="it says so")


def request(*texts: str) -> Request[Opinion]:
    return Request(prompt=PROMPT, blocks=tuple(Block(name=f"document {n}", text=t) for n, t in enumerate(texts, 1)))


ASKED = request("The sky is blue.")


def failure(model, asked=ASKED, **given) -> MonitorError:
    with pytest.raises(MonitorError) as caught:
        model.ask(asked, **given)
    return caught.value


def agree(server: LLMServer, budget: MemoryBudget, spend: Spend | None = None) -> None:
    """Every request that came was taken from the budget before, none else, and all tokens were counted."""
    counted = budget.counted.get(Purpose.SIDECAR, Spend())
    assert budget.taken == ({Purpose.SIDECAR: len(server.chats)} if server.chats else {})
    assert counted.input_tokens + counted.output_tokens == server.tokens
    assert (counted.cost or 0.0) == pytest.approx(server.tokens * PRICE / 1e6)
    if spend is not None:
        assert spend.calls == len(server.chats)
        assert spend.input_tokens + spend.output_tokens == server.tokens
        assert (spend.cost or 0.0) == pytest.approx(server.tokens * PRICE / 1e6)


class Clock:
    """Stands still but for waits, which end at once."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.now += seconds
        return False

    def is_set(self) -> bool:
        return False

    def set(self) -> None:
        """Nobody waits."""


@contextmanager
def raw_server(*pieces: bytes, pause: float = 0.0, then_hang: bool = False) -> Iterator[tuple[str, list[bool]]]:
    """Answers every request with these bytes, one piece after the other.

    Gives its URL and a list that says of each request whether its client stayed to the end.
    """
    ending, stayed = Event(), []

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(PATIENCE)
            head, _, body = _until_blank_line(connection)
            length = next(int(h[15:]) for h in head.lower().split(b"\r\n") if h.startswith(b"content-length:"))
            while len(body) < length:
                body += connection.recv(2**16)
            stayed.append(_sent(connection, pieces, pause, ending))
            if then_hang and stayed[-1]:
                connection.recv(1)  # until the client leaves

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threads: list[Thread] = []

        def accept() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                threads.append(Thread(target=serve, args=(connection,)))
                threads[-1].start()

        accepting = Thread(target=accept)
        accepting.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1", stayed
        finally:
            ending.set()
            listening.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in threads:
                thread.join()


def _until_blank_line(connection: socket.socket) -> tuple[bytes, bytes, bytes]:
    received = b""
    while b"\r\n\r\n" not in received:
        got = connection.recv(2**16)
        if not got:
            raise ConnectionError
        received += got
    return received.partition(b"\r\n\r\n")


def _sent(connection: socket.socket, pieces: Sequence[bytes], pause: float, ending: Event) -> bool:
    for piece in pieces:
        try:
            connection.sendall(piece)
        except OSError:
            return False
        if ending.wait(pause):
            return False
    return True
