"""A scripted OpenAI-compatible server: chat (also streamed, with tools), responses and embeddings, without a model.

It answers with the sentence of the prompt that shares most words with the question. Words become the dimensions of an
embedding, so that retrieval finds what a person would expect.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from zlib import crc32

DIMENSIONS = 256


def words(text: str) -> set[str]:
    return {word.removesuffix("s") for word in re.findall(r"[a-z]{3,}", text.lower())}


def vector(text: str) -> list[float]:
    values = [0.0] * DIMENSIONS
    for word in words(text):
        values[crc32(word.encode()) % DIMENSIONS] += 1.0
    return values if any(values) else [1.0, *values[1:]]


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content or [])


def answer(messages: list[dict[str, Any]]) -> str:
    asked = next((text_of(m["content"]) for m in reversed(messages) if m["role"] == "user"), "")
    question = next((line for line in reversed(asked.splitlines()) if "?" in line), asked)
    said = "\n".join(text_of(m.get("content")) for m in messages)
    sentences = [s.strip() for s in re.findall(r"[^.?!\n\"'{}\[\]]+\.", said)]
    wanted = words(question)
    best = max(sentences, key=lambda s: len(words(s) & wanted), default="")
    return best if words(best) & wanted else "I do not know."


def call_of(body: dict[str, Any]) -> dict[str, Any] | None:
    """The call of the first tool, unless a tool has answered since the last question."""
    messages = body["messages"]
    last = max((i for i, m in enumerate(messages) if m["role"] == "user"), default=-1)
    if not body.get("tools") or any(m["role"] == "tool" for m in messages[last:]):
        return None
    tool = body["tools"][0]["function"]
    argument = next(iter(tool["parameters"]["properties"]))
    arguments = json.dumps({argument: text_of(messages[last]["content"])})
    return {"id": "call_1", "type": "function", "function": {"name": tool["name"], "arguments": arguments}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/embeddings"):
            given = body["input"] if isinstance(body["input"], list) else [body["input"]]
            rows = [{"object": "embedding", "index": i, "embedding": vector(str(t))} for i, t in enumerate(given)]
            self.reply({"object": "list", "data": rows, "model": body["model"], "usage": usage(9, 0)})
        elif self.path.endswith("/chat/completions"):
            self.chat(body)
        else:
            self.reply({"error": {"message": f"no such path: {self.path}"}}, 404)

    def chat(self, body: dict[str, Any]) -> None:
        call = call_of(body)
        text = None if call else answer(body["messages"])
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if call:
            message["tool_calls"] = [call]
        base = {"id": "chatcmpl-1", "created": 1, "model": body["model"]}
        reason = "tool_calls" if call else "stop"
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self.reply({**base, "object": "chat.completion", "choices": [choice], "usage": usage(120, 12)})
            return
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"tool_calls": [{"index": 0, **call}]}] if call else [{"content": f"{w} "} for w in text.split()]
        chunks = [{**base, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
        chunks.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        chunks.append({**base, "choices": [], "usage": usage(120, 12)})
        lines = [f"data: {json.dumps({**chunk, 'object': 'chat.completion.chunk'})}\n\n" for chunk in chunks]
        self.send("".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")

    def reply(self, body: dict[str, Any], status: int = 200) -> None:
        self.send(json.dumps(body).encode(), "application/json", status)

    def send(self, body: bytes, content_type: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def usage(given: int, made: int) -> dict[str, int]:
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


@contextmanager
def serving() -> Iterator[str]:
    """The base URL of a server that runs for as long as the block."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
