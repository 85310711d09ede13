"""A question with a small form, a clock for tests, and a server for what the scripted one cannot do."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

import pytest

from monitor.assess.llm.exchange import Block, Form, Prompt, Purpose, Request, Spend
from monitor.core.errors import MonitorError
from monitor.simulate.fakes.flow import MemoryBudget
from tests.servers.llm import LLMServer

PATIENCE = 20.0  # seconds that a test waits for another thread when something is wrong
PRICE = 2.0


class Opinion(Form):
    supported: bool
    why: str


PROMPT = Prompt(name="opinion.v1", text="Say whether the document supports the claim.", form=Opinion)
GOOD = '{"supported": true, "why": "it says so"}'
ANOTHER = '{"supported": false, "why": "it says nothing of it"}'
OPINION = Opinion(supported=True, why="it says so")


def request(*texts: str) -> Request[Opinion]:
    return Request(prompt=PROMPT, blocks=tuple(Block(name=f"document {n}", text=t) for n, t in enumerate(texts, 1)))


ASKED = request("The sky is blue.")


def failure(model, asked=ASKED, **given) -> MonitorError:
    with pytest.raises(MonitorError) as caught:
        model.ask(asked, **given)
    return caught.value


def agree(server: LLMServer, budget: MemoryBudget, spend: Spend | None = None) -> None:
    """Every request that came was reserved before, none else, and all tokens were counted.

    A reservation without an answer is kept, and is in `spend` too.
    """
    counted = budget.counted.get(Purpose.SIDECAR, Spend())
    kept = sum((reservation.spend for reservation in budget.reserved), Spend())
    assert budget.calls() == len(server.chats)
    assert counted.input_tokens + counted.output_tokens == server.tokens
    assert (counted.cost or 0.0) == pytest.approx(server.tokens * PRICE / 1e6)
    if spend is not None:
        assert spend.calls == len(server.chats)
        tokens = server.tokens + kept.input_tokens + kept.output_tokens
        assert spend.input_tokens + spend.output_tokens == tokens
        assert (spend.cost or 0.0) == pytest.approx(tokens * PRICE / 1e6)


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
def raw_server(content: bytes, *, then_hang: bool = False) -> Iterator[tuple[str, list[bytes]]]:
    """Answers every request with these bytes and hangs up, or waits until the client does.

    Gives its URL and the heads of what came.
    """
    heads: list[bytes] = []
    threads: list[Thread] = []

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(PATIENCE)
            head, body = _request(connection)
            length = int(re.search(rb"(?i)content-length: *(\d+)", head)[1])
            while len(body) < length:
                body += connection.recv(2**16)
            heads.append(head)
            connection.sendall(content)
            if then_hang:
                connection.recv(1)

    def accept() -> None:
        with suppress(OSError):  # how the end is told
            while True:
                threads.append(Thread(target=serve, args=(listening.accept()[0],)))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        accepting = Thread(target=accept)
        accepting.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1", heads
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in threads:
                thread.join()


def _request(connection: socket.socket) -> tuple[bytes, bytes]:
    """The head of a request, and what came of its body."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(2**16) or b"\r\n\r\n"
    head, _, body = received.partition(b"\r\n\r\n")
    return head, body
