"""The state of the scripted server: its settings, the requests received, and the regular answers."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from time import time
from typing import Any

from tests.servers.llm.batches import Batches
from tests.servers.llm.chat import CHAT_MODEL, ChatRequest, completion, format_problem
from tests.servers.llm.embeddings import DIMENSIONS, MODEL, embed, inputs_of
from tests.servers.llm.schemas import mark, schema_in, valid_for
from tests.servers.llm.troubles import (
    CHAT_PATH,
    HANG_UP,
    Request,
    Trouble,
    refusal,
    replied,
    server_error,
    too_many_requests,
)

KEY = "sk-test-7531-TopSecretKey"


def made_up(request: ChatRequest) -> str:
    """A valid value for the schema of the request or in its prompt; a short sentence if there is no schema."""
    schema = request.schema or schema_in(request.text)
    if schema is not None:
        return json.dumps(valid_for(schema, request.text))
    sentence = f"This is answer {mark(request.text)}."
    return json.dumps({"answer": sentence}) if request.response_format else sentence


@dataclass(slots=True, kw_only=True)
class LLMServer:
    """The requests received, and the answers to come.

    `script` and `chat_script` hold the troubles of the next requests; None stands for a regular answer.
    """

    base_url: str = ""
    key: str | None = KEY  # None accepts any key
    latency: float = 0.0  # seconds before every regular answer
    fail_rate: float = 0.0  # the share of requests without a script that fail, evenly spread
    log: Callable[[str], object] = lambda _: None  # gets a line for each request

    models: dict[str, int] = field(default_factory=lambda: {MODEL: DIMENSIONS})
    ignores_base64: bool = False  # some compatible servers always answer in numbers

    chat_models: set[str] = field(default_factory=lambda: {CHAT_MODEL})
    answer: Callable[[ChatRequest], object] = made_up  # a str is the content itself, anything else becomes JSON
    structured: str = "json_schema"  # or json_object, or text: the strictest response_format that is accepted
    takes_max_tokens: bool = True
    takes_temperature: bool = True

    script: deque[Trouble | None] = field(default_factory=deque)
    chat_script: deque[Trouble | None] = field(default_factory=deque)  # for chat requests, including those in batches
    batches: Batches = field(default_factory=Batches)

    requests: list[dict[str, Any]] = field(default_factory=list)  # JSON bodies, in the order of arrival
    chats: list[ChatRequest] = field(default_factory=list)  # all of them, including those that failed or are in batches
    arrived: int = 0  # requests of all kinds
    in_flight: int = 0  # chat requests
    most_in_flight: int = 0
    calls: int = 0  # chat completions sent completely
    tokens: int = 0  # billed for those
    lock: Lock = field(default_factory=Lock)

    @property
    def inputs(self) -> list[str]:
        """All texts that clients asked to embed, in order."""
        return [text for request in self.requests for text in inputs_of(request)]

    @contextmanager
    def at_work(self, request: Request) -> Iterator[None]:
        """Counts a request among those in flight."""
        chat = int(request.path == CHAT_PATH)
        with self.lock:
            self.in_flight += chat
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            yield
        finally:
            with self.lock:
                self.in_flight -= chat

    def receive(self, request: Request) -> Trouble:
        """Records the request and returns the trouble that it meets."""
        with self.lock:
            self.arrived += 1
            if request.body is not None:
                self.requests.append(request.body)
            if request.chat:
                self.chats.append(request.chat)
            for script in (self.chat_script, self.script) if request.path == CHAT_PATH else (self.script,):
                if script:
                    return script.popleft() or Trouble()
            failures = int(self.arrived * self.fail_rate)
            fails = failures > int((self.arrived - 1) * self.fail_rate)
        return (too_many_requests(1), server_error(), HANG_UP)[failures % 3] if fails else Trouble()

    def fulfil(self, request: Request, trouble: Trouble) -> Trouble:
        """Answers a request. `trouble` may give the message of the model."""
        authorization = request.headers.get("Authorization")
        if self.key is not None and authorization != f"Bearer {self.key}":
            # Unlike OpenAI, some compatible servers repeat the key in full.
            return refusal(401, f"Incorrect API key provided: {authorization}", code="invalid_api_key")
        match request.method, request.path:
            case "GET", "/v1/models":
                return self._list_models()
            case "POST", "/v1/embeddings" if request.body is not None:
                return embed(request.body, self.models, only_numbers=self.ignores_base64)
            case "POST", "/v1/chat/completions" if request.chat:
                return self._chat(request.chat, trouble)
            case "POST", "/v1/embeddings" | "/v1/chat/completions":
                return refusal(400, "We could not parse the JSON body of your request, or it lacks what is required.")
        return self.batches.respond(request, self._chat_in_batch)

    def _list_models(self) -> Trouble:
        names = sorted({*self.models, *self.chat_models})
        models = [{"id": name, "object": "model", "created": int(time()), "owned_by": "tests"} for name in names]
        return replied({"object": "list", "data": models})

    def _chat_in_batch(self, request: ChatRequest) -> Trouble:
        """Answers a chat request in a batch, where refusals happen but nothing happens to the connection."""
        with self.lock:
            self.chats.append(request)
            trouble = self.chat_script.popleft() if self.chat_script else None
        return trouble if trouble and trouble.status != 200 else self._chat(request, trouble or Trouble())

    def _chat(self, request: ChatRequest, trouble: Trouble) -> Trouble:
        if refused := self._refused(request):
            return refused
        message = trouble.message
        if message is None:
            answer = self.answer(request)
            content = answer if isinstance(answer, str) else json.dumps(answer)
            message = {"role": "assistant", "content": content, "refusal": None}
        with self.lock:
            body = completion(request, message, trouble.finish_reason, self.calls + 1)
            if not trouble.cut:
                self.calls += 1
                self.tokens += body["usage"]["total_tokens"]
        return replied(body)

    def _refused(self, request: ChatRequest) -> Trouble | None:
        body, temperature = request.body, request.body.get("temperature", 1)
        if request.model not in self.chat_models:
            return refusal(404, f"The model `{request.model}` does not exist", code="model_not_found")
        if body.get("stream"):
            return refusal(400, "Unsupported value: 'stream' does not support true here.", param="stream")
        if "max_tokens" in body and not self.takes_max_tokens:
            instead = "is not supported with this model. Use 'max_completion_tokens' instead."
            message = f"Unsupported parameter: 'max_tokens' {instead}"
            return refusal(400, message, code="unsupported_parameter", param="max_tokens")
        if temperature != 1 and not self.takes_temperature:
            only = "with this model. Only the default (1) value is supported."
            message = f"Unsupported value: 'temperature' does not support {temperature:g} {only}"
            return refusal(400, message, code="unsupported_value", param="temperature")
        problem = format_problem(request, self.structured)
        return refusal(400, problem, param="response_format") if problem else None
