"""`Reporter`: what a chatbot calls for each answer that it gives."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import unquote, urlsplit

from monitor.client.delivery import Delivery, log
from monitor.client.event import taken, tokens
from monitor.client.send_file import FileSender
from monitor.client.send_http import HttpSender
from monitor.client.send_kafka import KafkaSender
from monitor.client.sender import Sender

URL, APP, TOKEN = "MONITOR_CLIENT_URL", "MONITOR_CLIENT_APP", "MONITOR_CLIENT_TOKEN"


class Reporter:
    """Reports the answers of one chatbot. Any thread may use it, and a process that was forked too.

    `url` is where events go: `http://host:4318` or `https://…`, `kafka://host:9092,host2:9092/topic`, or
    `file:///path.jsonl`. `url`, `app` and `token` come from MONITOR_CLIENT_URL, _APP and _TOKEN if they are not given.
    Without a URL, or with one that cannot be used, nothing is reported, and `problem` and a line in the log say why:
    no method ever raises an error or waits for the destination, except `flush` and `close` for as long as they are
    told.

    `max_events` and `max_bytes` bound what is queued; more is dropped and counted in `dropped`. `timeout`: seconds for
    one attempt to send. `kafka` are further options for `kafka.KafkaProducer`.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        app: str | None = None,
        token: str | None = None,
        environment: str | None = None,
        max_events: int = 10_000,
        max_bytes: int = 32 * 2**20,
        timeout: float = 10.0,
        kafka: Mapping[str, Any] | None = None,
    ) -> None:
        url = url or os.environ.get(URL)
        token = token or os.environ.get(TOKEN)
        self._always = {"app": app or os.environ.get(APP), "environment": environment}
        self._delivery: Delivery | None = None
        self.problem: str | None = None

        def new_sender() -> Sender:
            return _sender(url or "", token=token, timeout=timeout, kafka=kafka or {})

        try:
            new_sender().close()  # opens no connection
            self._delivery = Delivery(new_sender, max_events=max_events, max_bytes=max_bytes)
        except ValueError as error:
            self.problem = str(error)
            log.warning("nothing is reported to the monitor: %s", error)

    def record(
        self,
        *,
        question: str,
        retrieved_documents: Iterable[Any] | None,
        answer: str | None,
        supporting_documents: Iterable[Any] | None = None,
        conversation_id: str | None = None,
        model: str | None = None,
        tags: Mapping[str, Any] | None = None,
        latency_ms: float | None = None,
        usage: Any = None,
        id: str | None = None,
        **fields: Any,
    ) -> str:
        """Queues one answer, and returns its id at once: `feedback` takes it, and so does a search in the monitor.

        `retrieved_documents` are texts, mappings with `text`, or documents of LangChain, LlamaIndex or Haystack. None
        says that the chatbot looked nothing up, and an `answer` of None that the call failed: such a turn is counted,
        not scored. `supporting_documents` are what the generator says it used, None if it was not asked (see
        `SUPPORT_PROMPT`). `usage` are tokens as a provider's client returns them. Objects are read a moment later, in
        another thread: give copies of what changes. `fields` are further fields of a native event: `turn`,
        `prompt_version`, `trace_id`, `reference_answer`, `occurred_at` in seconds since 1970 or as a `datetime`.
        """
        key = id or os.urandom(16).hex()
        if self._delivery is None or not self._delivery.has_room():
            return key
        try:
            event = {
                "id": key,
                "occurred_at": time.time(),
                "question": question,
                "retrieved_documents": None if retrieved_documents is None else taken(retrieved_documents),
                "answer": answer,
                "supporting_documents": None if supporting_documents is None else taken(supporting_documents),
                "conversation_id": conversation_id,
                "model": model,
                "tags": None if tags is None else dict(tags),
                "latency_ms": latency_ms,
                "usage": tokens(usage),
                **self._always,
                **fields,
            }
            if event["occurred_at"] is None:  # the chatbot has a place for the time, and no time in it
                event["occurred_at"] = time.time()
            if answer is None:
                event["unscored"] = "call_failed"
            elif retrieved_documents is None:
                event["unscored"] = "no_retrieval"
            self._delivery.put(event)
        except Exception as error:
            self._delivery.drop(error)
        return key

    def feedback(self, id: str, *, thumbs: Literal["up", "down"], comment: str | None = None) -> None:
        """Queues what an end user said of the answer with this id."""
        if self._delivery is None:
            return
        try:
            word = {"id": str(id), "thumb": thumbs, "comment": comment}
            said = {name: value for name, value in word.items() if value is not None}
            event = {"feedback": [said], "occurred_at": time.time(), **self._always}
            self._delivery.put(event)
        except Exception as error:
            self._delivery.drop(error)

    def drop(self, error: Exception) -> None:
        """Counts an answer that could not be recorded, and says why in the log, once in a while."""
        if self._delivery is not None:
            self._delivery.drop(error)

    @property
    def dropped(self) -> int:
        """How many events were given up in this process: the queue was full, or the destination refused them."""
        return 0 if self._delivery is None else self._delivery.dropped

    @property
    def sent(self) -> int:
        """How many events the destination has taken from this process."""
        return 0 if self._delivery is None else self._delivery.sent

    def flush(self, timeout: float = 5.0) -> bool:
        """Waits up to `timeout` seconds until all that is queued is sent or dropped; returns whether it is.

        In a coroutine: `await asyncio.to_thread(reporter.flush)`.
        """
        return self._delivery is None or self._delivery.flush(timeout)

    def close(self, timeout: float = 5.0) -> bool:
        """Sends what is queued within `timeout` seconds and ends; happens by itself when the process ends."""
        return self._delivery is None or self._delivery.close(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _sender(url: str, *, token: str | None, timeout: float, kafka: Mapping[str, Any]) -> Sender:
    """The sender for a URL.

    Raises:
        ValueError: it is none that can be used; the message does not repeat what may be a password.
    """
    if not url:
        raise ValueError(f"no URL is given and {URL} is not set")
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise ValueError(f"the URL holds a user or a password: give the token as token=… or {TOKEN}")
    if parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0:
        return HttpSender(url, token=token, timeout=timeout)
    topic = parts.path.strip("/")
    if parts.scheme == "kafka" and parts.netloc and topic and "/" not in topic:
        return KafkaSender(parts.netloc.split(","), topic, timeout=timeout, options=kafka)
    if parts.scheme == "file" and not parts.netloc and topic:
        return FileSender(unquote(parts.path))
    raise ValueError(
        f"the URL must be http(s)://host:port, kafka://host:port/topic or file:///path, not {parts.scheme or url}://…"
    )
