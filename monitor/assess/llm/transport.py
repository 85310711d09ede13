"""Requests to an OpenAI-compatible server by the openai client, each bounded as a whole."""

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

_LARGEST_BODY = 16 * 2**20
_LONGEST_QUOTE = 300  # characters of a server's words that a message repeats
_SHORTEST = 0.001  # seconds
_BUSY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}


class Refused(MonitorError):
    """The server answered with an error: `said` are its words without the key, `wait` the seconds that it asks for."""

    def __init__(self, status: int, said: str, wait: float | None) -> None:
        super().__init__(f"status {status}: {said}")
        self.status = status
        self.said = said
        self.wait = wait

    @property
    def busy(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status in _BUSY or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR


class Unanswered(Retriable):
    """No whole answer came; `late`: for want of time."""

    def __init__(self, message: str, *, late: bool) -> None:
        super().__init__(message)
        self.late = late


class Transport:
    """Sends chat completion requests, each once. Any number of threads may call."""

    def __init__(self, *, api_key: str, base_url: str | None) -> None:
        base_url = base_url or DEFAULT_BASE_URL
        self.host = urlsplit(base_url).netloc.rpartition("@")[2]  # no password
        self._key = api_key
        self._closed = False
        self._client = openai.OpenAI(api_key=api_key, base_url=base_url, max_retries=0)

    def close(self) -> None:
        """Closes the connections; what is on its way ends with `Unanswered`."""
        self._closed = True
        self._client.close()

    def exchange(self, body: Mapping[str, Any], until: float) -> bytes:
        """The body of the answer to a request, if all of it comes before `until` (of `time.monotonic`).

        Of one that is too long it is a part, which is no JSON.

        Raises:
            Refused: the server answered with an error.
            Unanswered: it did not answer in time, or at all.
        """
        try:
            return self._received(body, until)
        except openai.APIStatusError as error:
            raise self._refused(error) from None  # from None: what the server wrote may repeat the key
        except (openai.APIConnectionError, httpx2.RequestError, OSError, _LateError) as error:
            # The client names what happens before the body, the layer below it what happens in it.
            late = isinstance(error, openai.APITimeoutError | httpx2.TimeoutException | _LateError)
            what = "does not answer in time" if late else "is out of reach"
            raise Unanswered(f"the language model at {self.host} {what}", late=late) from None
        except RuntimeError:
            if self._closed:
                raise Unanswered("the language model was closed", late=False) from None
            raise

    def _received(self, body: Mapping[str, Any], until: float) -> bytes:
        """The client itself bounds each read only, so the time is looked at after each."""
        content = bytearray()
        create = self._client.chat.completions.with_streaming_response.create
        # as extra body, since the client would look through every message of a plain one
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
        words = error.body.get("message") if isinstance(error.body, Mapping) else error.body
        said = storable(" ".join(str(words).replace(self._key, "[key]").split()))[:_LONGEST_QUOTE]
        return Refused(error.status_code, said, retry_after(error.response.headers))


class _LateError(MonitorError):
    """The answer was still coming when its time was up."""
