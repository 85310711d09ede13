"""Sends requests to an OpenAI-compatible server with the openai client, each with a time limit for the whole."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from monitor.assess.llm.endpoint import DEFAULT_BASE_URL
from monitor.core.assessment_json import storable
from monitor.core.errors import MonitorError, Retriable
from monitor.core.retry import retry_after

_LARGEST_BODY = 16 * 2**20  # bytes
_LONGEST_QUOTE = 300  # characters of a server's message that an error repeats
_SHORTEST = 0.001  # seconds
_GAVE_UP = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT}
_BUSY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}
# Raised before the request is sent: there is no connection, a proxy refuses, the client does not take the URL.
_NOT_SENT = (
    *(httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout),
    *(httpx2.ProxyError, httpx2.UnsupportedProtocol),
)


class Refused(MonitorError):
    """The server answered with an error: `quote` is its message without the key, `wait` the pause it asks for (s)."""

    def __init__(self, status: int, quote: str, wait: float | None) -> None:
        super().__init__(f"status {status}: {quote}")
        self.status = status
        self.quote = quote
        self.wait = wait

    @property
    def worked(self) -> bool:
        """Whether the model may have worked on the request: something before it has waited in vain."""
        return self.status in _GAVE_UP

    @property
    def busy(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status in _BUSY or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR


class Unanswered(Retriable):
    """No complete answer came. `late` says that time ran out, `sent` that the server may have got the request."""

    def __init__(self, message: str, *, late: bool, sent: bool) -> None:
        super().__init__(message)
        self.late = late
        self.sent = sent


class Transport:
    """Sends chat completion requests, each once. Any number of threads may call."""

    def __init__(self, *, api_key: str, base_url: str | None) -> None:
        base_url = base_url or DEFAULT_BASE_URL
        self.host = urlsplit(base_url).netloc.rpartition("@")[2]  # without a password
        self._key = api_key
        self._closed = False
        self._client = openai.OpenAI(api_key=api_key, base_url=base_url, max_retries=0)

    def close(self) -> None:
        """Closes the connections. Requests in flight end with `Unanswered`."""
        self._closed = True
        self._client.close()

    def exchange(self, body: Mapping[str, Any], until: float) -> bytes:
        """The body of the answer to a request, if all of it comes before `until` (on the clock of `time.monotonic`).

        A body that is too long is cut off, so that it is no valid JSON.

        Raises:
            Refused: the server answered with an error.
            Unanswered: the server did not answer in time, or not at all.
        """
        try:
            return self._received(body, until)
        except openai.APIStatusError as error:
            raise self._refused(error) from None  # from None: the server's message may repeat the key
        except (openai.APIConnectionError, httpx2.RequestError, OSError, _LateError) as error:
            # The client wraps errors before the body; errors within the body come from the layer below.
            late = isinstance(error, openai.APITimeoutError | httpx2.TimeoutException | _LateError)
            what = "does not answer in time" if late else "is out of reach; MONITOR_LLM__BASE_URL says where it is"
            sent = not isinstance(error.__cause__ or error, _NOT_SENT)
            raise Unanswered(f"the language model at {self.host} {what}", late=late, sent=sent) from None
        except RuntimeError:
            if self._closed:
                raise Unanswered("the language model was closed", late=False, sent=True) from None
            raise

    def _received(self, body: Mapping[str, Any], until: float) -> bytes:
        """The client limits the time of each single read, so the total is checked here after each read."""
        content = bytearray()
        create = self._client.chat.completions.with_streaming_response.create
        # as an extra body, since the client would inspect every message of a normal one
        with create(
            model=body["model"], messages=[], extra_body=dict(body), timeout=max(until - monotonic(), _SHORTEST)
        ) as response:
            for chunk in response.iter_bytes():
                content += chunk
                if monotonic() > until:
                    raise _LateError
                if len(content) > _LARGEST_BODY:
                    break
        return bytes(content[:_LARGEST_BODY])

    def _refused(self, error: openai.APIStatusError) -> Refused:
        message = error.body.get("message") if isinstance(error.body, Mapping) else error.body
        quote = storable(" ".join(str(message).replace(self._key, "[key]").split()))[:_LONGEST_QUOTE]
        return Refused(error.status_code, quote, retry_after(error.response.headers))


class _LateError(MonitorError):
    """The answer was still arriving when the time was up."""
