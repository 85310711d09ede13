"""The requests to the scripted server, and the troubles that they meet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Any

from tests.servers.llm.chat import ChatRequest, readable

CHAT_PATH = "/v1/chat/completions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An HTTP request. `body` is its JSON object, if it is one; `chat` is the body as a chat request, if it is one."""

    method: str
    path: str
    headers: Message
    content: bytes
    body: dict[str, Any] | None
    chat: ChatRequest | None

    @classmethod
    def read(cls, method: str, path: str, headers: Message, content: bytes) -> Request:
        try:
            body = json.loads(content)
        except (ValueError, RecursionError):
            body = None
        body = body if isinstance(body, dict) else None
        chat = ChatRequest(body=body) if body and path == CHAT_PATH and readable(body) else None
        return cls(method=method, path=path, headers=headers, content=content, body=body, chat=chat)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What happens to a request. The defaults are no trouble: `status` 200 without a `body` is the regular answer.

    The first fields are an HTTP answer in place of the regular one; a header of None is left out. The other fields are
    the content of the regular answer, or how it gets lost.
    """

    status: int = 200
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: str | None = None

    message: Mapping[str, Any] | None = None  # the assistant's message in a chat completion
    finish_reason: str = "stop"
    silence: float = 0.0  # seconds before the answer
    trickle: float = 0.0  # seconds that the bytes of the answer are spread over
    hang_up: bool = False  # the connection closes without a byte
    cut: bool = False  # the connection closes after half of the body

    @property
    def answered(self) -> bool:
        """Whether the endpoint answers regularly."""
        return not self.hang_up and self.body is None and self.status == 200


HANG_UP = Trouble(hang_up=True)
CUT = Trouble(cut=True)


def replied(content: Any) -> Trouble:
    """A 200 with this content as JSON."""
    return Trouble(body=json.dumps(content))


def refusal(
    status: int, message: str, *, code: str | None = None, param: str | None = None, **headers: str | None
) -> Trouble:
    """OpenAI's error JSON."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    error = {"message": message, "type": kind, "param": param, "code": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Trouble(status=status, headers=named, body=json.dumps({"error": error}))


def too_many_requests(retry_after: float | None = None) -> Trouble:
    """A rate limit that asks to come back after `retry_after` seconds, or does not say when."""
    after = None if retry_after is None else f"{retry_after:g}"
    return refusal(429, "Rate limit reached for requests", code="rate_limit_exceeded", Retry_After=after)


def server_error() -> Trouble:
    return refusal(500, "The server had an error while processing your request. Sorry about that!")


def not_json() -> Trouble:
    """A 200 from a proxy or a sign-in page that is not the API."""
    return Trouble(headers={"Content-Type": "text/html"}, body="<!doctype html><title>Sign in</title>")


def hang(seconds: float) -> Trouble:
    """Silence, then the regular answer, unless the server stops or the client leaves before."""
    return Trouble(silence=seconds)


def trickle(seconds: float) -> Trouble:
    """The regular answer, head and body, byte by byte over this time."""
    return Trouble(trickle=seconds)


def completed(content: str, finish_reason: str = "stop") -> Trouble:
    """A chat completion with this content, whatever the request asks for."""
    return Trouble(message={"role": "assistant", "content": content, "refusal": None}, finish_reason=finish_reason)


def model_refusal(text: str) -> Trouble:
    """A chat completion in which the model refuses."""
    return Trouble(message={"role": "assistant", "content": None, "refusal": text})
