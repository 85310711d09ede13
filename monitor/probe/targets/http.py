"""A chatbot behind an HTTP API that takes and gives JSON; chat completions are one of its forms."""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as Late
from contextlib import closing
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookiejar import DefaultCookiePolicy
from threading import Event, Lock
from time import monotonic
from typing import Any, Final, NamedTuple

import httpx2
from typing_extensions import override

from monitor.core.assessment_json import storable
from monitor.core.errors import Fatal, WrongSettings
from monitor.core.model import Json
from monitor.core.pool import Pool
from monitor.core.retry import delay_before, retry_after
from monitor.core.text.plain import plain
from monitor.probe.target import LARGEST, MOST_DOCUMENTS, ChatbotAnswer, ChatbotFailed, Exchange, Target
from monitor.probe.targets.json_path import JsonPath, parse_json_path
from monitor.probe.targets.pace import Pace
from monitor.probe.targets.secrets import quotable
from monitor.probe.targets.stream import EVENTS, whole_completion
from monitor.probe.targets.template import MESSAGES, fill

MARK_HEADER: Final = "X-Monitor-Probe"
_CHOSEN = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED}
_BUSY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}
_LOOKED_AT = 4_000  # bytes of an answer of which an error repeats some
_QUOTED = 200  # characters of an answer that an error repeats
_THREADS = 256
_REMEMBERED = 1_000  # conversations whose cookies are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSpec:
    """A request and where its answer stands; `body` is a template (`template.py`), None for a request without one.

    `stream` makes of server-sent events the JSON that would have come in one piece; None: they are not read.
    """

    url: str
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # with their secrets
    body: Json
    answer: JsonPath | None  # None: of a retriever, which gives documents only
    documents: JsonPath | None = None
    version: JsonPath | None = None
    stream: Callable[[bytes], Any] | None = None


class _Reply(NamedTuple):
    status: int
    content: bytes
    streamed: bool  # as server-sent events
    wait: float | None  # seconds after which to ask again, if it names them


def chat_spec(
    *, base_url: str, model: str, api_key: str | None, system: str | None, extra: Mapping[str, Json]
) -> HttpSpec:
    """Chat completions as OpenAI has them, with the mark of the conversation as `user`."""
    messages: list[Json] = [MESSAGES] if system is None else [{"role": "system", "content": system}, MESSAGES]
    return HttpSpec(
        url=f"{base_url.rstrip('/')}/chat/completions",
        headers={} if api_key is None else {"Authorization": f"Bearer {api_key}"},
        body={"model": model, "messages": messages, "user": "{conversation}", **extra},
        answer=parse_json_path("$.choices[0].message.content"),
        version=parse_json_path("$.model"),
        stream=whole_completion,
    )


class HttpTarget(Target):
    """Asks over HTTP. A busy chatbot is asked again when it says, as long as the time limit allows.

    Redirects are not followed: the question and the key are meant for this server only. Cookies stay in the
    conversation in which they were set: by a session of another one, the chatbot would know what it was asked there.

    Raises:
        WrongSettings: the address is no http or https URL.
    """

    def __init__(self, spec: HttpSpec, *, timeout: float, per_second: float | None) -> None:
        """`timeout` is that of an answer, in seconds, with all attempts."""
        self._spec = spec
        self._timeout = timeout
        self._pace = Pace(per_second)
        self._closed = Event()
        self._answered = False
        self._pool = Pool(_THREADS, "chatbot over http")
        try:
            url = httpx2.URL(spec.url)
        except (httpx2.InvalidURL, ValueError):
            url = httpx2.URL("")
        if url.scheme not in {"http", "https"} or not url.host:
            raise WrongSettings("url: must be an http or https URL")
        self._place = f"http {url.scheme}://{url.netloc.decode('ascii')}{url.path}"  # without user and query
        logging.getLogger("httpx2").setLevel(logging.WARNING)  # it logs every request with its URL
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
        self._client = httpx2.Client(timeout=timeout, follow_redirects=False, limits=limits)
        self._client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))  # it keeps none itself
        self._cookies: OrderedDict[str, httpx2.Cookies] = OrderedDict()  # by conversation
        self._lock = Lock()

    @property
    @override
    def place(self) -> str:
        return self._place

    @override
    def close(self) -> None:
        self._closed.set()
        self._pace.close()
        self._pool.close()
        self._client.close()

    @override
    def ask(self, question: str, *, history: Sequence[Exchange], conversation: str) -> ChatbotAnswer:
        self._pace.enter()
        if not history:
            self._begun(conversation)
        until, attempt = monotonic() + self._timeout, 0
        body = fill(self._spec.body, question=question, history=history, conversation=conversation)
        while True:
            reply = self._in_time(body, conversation, until)
            if HTTPStatus.OK <= reply.status < HTTPStatus.MULTIPLE_CHOICES:
                return self._read(reply)
            error = self._refused(reply.status, reply.content)
            busy = reply.status in _BUSY or reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR
            delay = delay_before(attempt, reply.wait, 1.0)
            attempt += 1
            if not busy or monotonic() + delay >= until or self._closed.wait(delay):
                raise error

    def _begun(self, conversation: str) -> None:
        with self._lock:
            self._cookies[conversation] = httpx2.Cookies()
            while len(self._cookies) > _REMEMBERED:
                self._cookies.popitem(last=False)

    def _in_time(self, body: Json, conversation: str, until: float) -> _Reply:
        """What the request brings, given up when the time is over: limits of the client begin anew with each byte."""
        future = self._pool.submit(lambda: self._sent(body, conversation, until))
        try:
            return future.result(max(until - monotonic(), 0.001))
        except Late:
            raise self._late() from None
        except CancelledError:
            raise ChatbotFailed("out_of_reach", f"{self.place} is not asked any more") from None

    def _sent(self, body: Json, conversation: str, until: float) -> _Reply:
        headers = {"Content-Type": "application/json", "Accept": "application/json", **self._spec.headers}
        sent = json.dumps(body).encode()
        content = bytearray()
        cookies = self._cookies.get(conversation, httpx2.Cookies())
        try:
            request = self._client.build_request(
                self._spec.method,
                self._spec.url,
                content=None if body is None else sent,
                headers={**headers, MARK_HEADER: conversation},
                timeout=max(until - monotonic(), 0.001),
            )
            cookies.set_cookie_header(request)
            with closing(self._client.send(request, stream=True)) as response:
                cookies.extract_cookies(response)
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > LARGEST:
                        raise ChatbotFailed("too_long", f"{self.place} sent more than {LARGEST // 2**20} MiB")
                    if monotonic() > until:
                        raise self._late()
        except httpx2.TimeoutException:
            raise self._late() from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, RuntimeError) as error:
            raise ChatbotFailed("out_of_reach", f"{self.place} is out of reach ({type(error).__name__})") from None
        return _Reply(
            status=response.status_code,
            content=bytes(content),
            streamed=response.headers.get("Content-Type", "").lower().startswith(EVENTS),
            wait=retry_after(response.headers),
        )

    def _late(self) -> ChatbotFailed:
        return ChatbotFailed("timeout", f"{self.place} gave no answer in {self._timeout:g} s")

    def _refused(self, status: int, content: bytes) -> ChatbotFailed | Fatal:
        words = f"{self.place}: HTTP {status} ({self._quoted(content)})"
        if self._answered and status != HTTPStatus.UNAUTHORIZED:  # it is this question: filters answer so
            return ChatbotFailed("refused", words)
        if status in _CHOSEN:
            return Fatal(f"{words}: check the target's url and headers in the probes file")
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            return Fatal(f"{words}: redirects are not followed; set url to the address it redirects to")
        return ChatbotFailed("refused", words)

    def _read(self, reply: _Reply) -> ChatbotAnswer:
        content, stream = reply.content, self._spec.stream if reply.streamed else None
        try:
            value = json.loads(content) if stream is None else stream(content)
        except (ValueError, RecursionError):
            what = "no JSON" if stream is None else "a stream that breaks off"
            raise ChatbotFailed("malformed", f"{self.place} sent {what}: {self._quoted(content)}") from None
        texts = _texts(self._spec.answer, value)
        if self._spec.answer is not None and not texts:
            what = f"nothing at {self._spec.answer.text}"
            raise ChatbotFailed("malformed", f"{self.place} sent {what}: {self._quoted(content)}")
        self._answered = True
        documents = _texts(self._spec.documents, value)[:MOST_DOCUMENTS]
        return ChatbotAnswer(
            text="\n".join(texts),
            documents=tuple(documents),
            version=next(iter(_texts(self._spec.version, value)), None),
        )

    def _quoted(self, content: bytes) -> str:
        """The beginning of an answer, without the secrets that it may repeat."""
        return plain(quotable(content[:_LOOKED_AT].decode("utf-8", "replace"), self._spec.headers.values())[:_QUOTED])


def _texts(path: JsonPath | None, value: Any) -> list[str]:
    found = [] if path is None else path.find(value)
    return [storable(one if isinstance(one, str) else json.dumps(one)) for one in found if one is not None]
