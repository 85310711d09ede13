"""A scripted OpenAI-compatible server on 127.0.0.1: /v1/embeddings over real HTTP.

It refuses what OpenAI's reference (https://platform.openai.com/docs/api-reference/embeddings/create) says is refused:
too many inputs, too long or empty ones, unknown models. A token is counted as one UTF-8 byte, the strictest reading
of a byte-level vocabulary. `script` holds what the next requests meet instead of an orderly answer.
"""

from __future__ import annotations

import base64
import json
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from zlib import crc32

import numpy as np

KEY = "sk-test-7531-TopSecretKey"
MODEL = "text-embedding-3-small"
DIMENSIONS = 1536

MAX_INPUTS = 2048
MAX_INPUT_TOKENS = 8192
MAX_REQUEST_TOKENS = 300_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What a request meets: an HTTP answer, or no answer at all. A header of None is left out."""

    status: int = 200
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: str = ""
    hang_up: bool = False


HANG_UP = Trouble(hang_up=True)


def refusal(status: int, message: str, *, code: str | None = None, **headers: str | None) -> Trouble:
    """OpenAI's error JSON."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Trouble(status=status, headers=named, body=json.dumps({"error": error}))


def answer(rows: Any) -> Trouble:
    """A 200 whose `data` is whatever the test wants."""
    return Trouble(body=json.dumps({"object": "list", "data": rows, "model": MODEL}))


def row(index: Any, embedding: Any) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": embedding}


def vector_of(text: str, dimensions: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The vector that the server gives a text: of a length other than 1, and the same on every machine."""
    return np.random.default_rng(crc32(text.encode())).normal(size=dimensions).astype(np.float32)


@dataclass(slots=True, kw_only=True)
class OpenAIServer:
    """What came, and what is to be answered."""

    base_url: str = ""
    key: str = KEY
    models: dict[str, int] = field(default_factory=lambda: {MODEL: DIMENSIONS})
    ignores_base64: bool = False  # some compatible servers answer in numbers whatever is asked for
    script: deque[Trouble | None] = field(default_factory=deque)  # None: one orderly answer
    requests: list[dict[str, Any]] = field(default_factory=list)  # bodies, in the order of arrival
    lock: Lock = field(default_factory=Lock)

    @property
    def inputs(self) -> list[str]:
        """Every text that came, in order."""
        return [text for request in self.requests for text in request["input"]]

    def respond(self, path: str, headers: Any, body: dict[str, Any]) -> Trouble:
        with self.lock:
            self.requests.append(body)
            scripted = self.script.popleft() if self.script else None
        return scripted or self._orderly(path, headers, body)

    def _orderly(self, path: str, headers: Any, body: dict[str, Any]) -> Trouble:
        if headers.get("Authorization") != f"Bearer {self.key}":
            # Unlike OpenAI, some compatible servers repeat the key in full.
            return refusal(401, f"Incorrect API key provided: {headers.get('Authorization')}", code="invalid_api_key")
        if path != "/v1/embeddings":
            return refusal(404, f"Unknown request URL: POST {path}", code="unknown_url")
        if body["model"] not in self.models:
            return refusal(404, f"The model `{body['model']}` does not exist", code="model_not_found")
        inputs: list[str] = [body["input"]] if isinstance(body["input"], str) else body["input"]
        problem = _problem(inputs)
        if problem:
            return refusal(400, problem)
        full = self.models[body["model"]]
        dimensions = body.get("dimensions", full)
        if not 0 < dimensions <= full:
            return refusal(400, f"Invalid value for 'dimensions': {dimensions}")
        numbers = self.ignores_base64 or body.get("encoding_format", "float") == "float"
        vectors = [vector_of(text, dimensions) for text in inputs]
        rows = [
            row(index, vector.tolist() if numbers else base64.b64encode(vector.tobytes()).decode())
            for index, vector in enumerate(vectors)
        ]
        return answer(rows[::-1])  # the order of `data` is not promised


def _problem(inputs: list[str]) -> str | None:
    sizes = [len(text.encode()) for text in inputs]
    if not inputs or not all(sizes):
        return "'$.input' is invalid: it is empty or holds an empty string"
    if len(inputs) > MAX_INPUTS:
        return f"'$.input' is invalid: {len(inputs)} inputs, the maximum is {MAX_INPUTS}"
    if max(sizes) > MAX_INPUT_TOKENS:
        return f"This model's maximum context length is {MAX_INPUT_TOKENS} tokens, however you requested {max(sizes)}"
    if sum(sizes) > MAX_REQUEST_TOKENS:
        return f"Requested {sum(sizes)} tokens, max {MAX_REQUEST_TOKENS} tokens per request"
    return None


@contextmanager
def openai_server() -> Iterator[OpenAIServer]:
    """The server, for the length of the block."""
    state = OpenAIServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            reply = state.respond(self.path, self.headers, json.loads(body))
            if reply.hang_up:
                self.close_connection = True
                return
            content = reply.body.encode()
            self.send_response_only(reply.status)
            standard = {"Date": self.date_time_string(), "Content-Type": "application/json"}
            for name, value in {**standard, **reply.headers, "Content-Length": str(len(content))}.items():
                if value is not None:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Tests want no access log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True  # a connection that a client keeps open must not hold up the end
        state.base_url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
