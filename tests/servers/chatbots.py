"""Scripted chatbots over HTTP on 127.0.0.1: right, vague, lying, leaking, hanging, failing ones.

`POST /NAME` with `{"question", "history", "conversation"}` gives `{"answer", "sources": [{"text"}], "version"}`, or
what the chatbot of that name does instead; `POST /NAME/chat/completions` is the same chatbot with OpenAI's API. What it
says depends on the history that it is sent; only `busy` has a memory. The one question has the reference `RIGHT`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

QUESTION = "How long does a refund take?"
RIGHT = "A refund takes 14 days."
VAGUE = "It takes a while."
NO_IDEA = "I do not know."
LIE = "A refund takes 30 days."
LEAK = f"<reference>{RIGHT}</reference> The score is 5."
DOCUMENTS = ("Refunds: 14 days.", "We open at nine.")
VERSION = "2.1.0"
KEY = "TopSecretChatbotKey"
# What each says to the first, second, … question of a conversation; the last one for ever.
SAYS: Mapping[str, Sequence[str]] = {
    "right": (RIGHT,),
    "needs_two": (VAGUE, RIGHT),
    "never_knows": (NO_IDEA,),
    "lies": (LIE,),
    "leaks": (LEAK,),
    "contradicts": (LIE, RIGHT, LIE),
    "busy": (RIGHT,),  # 429 to the first request of each conversation
    "locked": (RIGHT,),  # 401 without `KEY`
}

TROUBLES: Mapping[str, tuple[int, Mapping[str, str], bytes]] = {
    "fails": (500, {}, b"<html>Internal Server Error</html>"),
    "moved": (307, {"Location": "/right"}, b""),
    "huge": (200, {}, json.dumps({"answer": "x" * 5 * 2**20}).encode()),
    "not_json": (200, {}, b"<html>\x1b[31mhello</html>"),
    "empty": (200, {}, b'{"detail": "no answer today"}'),
    "hangs": (200, {}, b"{}"),  # once it is let go
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that came in whole; the names of headers in small letters. `chat`: with OpenAI's API."""

    name: str
    chat: bool
    headers: Mapping[str, str]
    body: Any

    @property
    def conversation(self) -> str:
        return str(self.body["user" if self.chat else "conversation"])

    @property
    def messages(self) -> list[dict[str, str]]:
        """Those before the question."""
        return list(self.body["messages"][:-1] if self.chat else self.body["history"])


@dataclass(kw_only=True)
class Chatbots:
    """`url` is the root's; `asked` holds all requests in the order in which they came."""

    url: str = ""
    retry_after: str = "0"
    asked: list[Asked] = field(default_factory=list)
    let_go: Event = field(default_factory=Event)  # ends what hangs
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def answer(self, asked: Asked) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and content."""
        with self._lock:
            self.asked.append(asked)
            self._seen[asked.name, asked.conversation] += 1
            first = self._seen[asked.name, asked.conversation] == 1
        if asked.name == "busy" and first:
            return 429, {"Retry-After": self.retry_after}, b"slow down"
        key = asked.headers.get("authorization", "")
        if asked.name == "locked" and key != f"Bearer {KEY}":
            return 401, {}, f"wrong key {key}\x1b[31m".encode()
        if asked.name == "hangs":
            self.let_go.wait()
        if asked.name not in SAYS:
            return TROUBLES.get(asked.name, (404, {}, b"no such chatbot"))
        return 200, {"Content-Type": "application/json"}, json.dumps(_said(asked)).encode()


def _said(asked: Asked) -> dict[str, Any]:
    asked_before = sum(message["role"] == "user" for message in asked.messages)
    text = SAYS[asked.name][min(asked_before, len(SAYS[asked.name]) - 1)]
    if asked.chat:
        message = {"role": "assistant", "content": text}
        return {"model": VERSION, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    return {"answer": text, "sources": [{"text": document} for document in DOCUMENTS], "version": VERSION}


@contextmanager
def chatbots() -> Iterator[Chatbots]:
    """Runs the server on a free port for the block."""
    bots = Chatbots()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = json.loads(content) if content else None
            name, _, rest = self.path.strip("/").partition("/")
            asked = Asked(name=name, chat=rest == "chat/completions", headers=headers, body=body)
            status, more, said = bots.answer(asked)
            self.send_response_only(status)
            for name, value in more.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            try:
                self.wfile.write(said)
            except ConnectionError:
                self.close_connection = True  # who asked has gone

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    bots.url = f"http://127.0.0.1:{http.server_port}"
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield bots
    finally:
        bots.let_go.set()
        http.shutdown()
        thread.join()
        http.server_close()
