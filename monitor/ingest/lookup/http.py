"""Finds texts by HTTP: one GET for each id, or one POST of all. The ids come from outside and are escaped.

Redirects are not followed, so no id can lead to another host, and answers are cut off at a limit.
"""

from __future__ import annotations

import json
import logging
import ssl
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from time import monotonic
from urllib.parse import quote, urlsplit

import httpx2
from typing_extensions import override

from monitor.core.errors import Retriable, WrongSettings
from monitor.core.model import Json
from monitor.core.retry import retry_after
from monitor.ingest.dotted_path import at_path
from monitor.ingest.lookup.lookup import MAX_TEXTS_BYTES, DocumentLookup, FoundTexts

log = logging.getLogger(__name__)
ID = "{id}"
_CONNECTIONS = 8
_LARGEST_TEXT = 4 * 2**20  # bytes of the answer to one GET
_AT_ONCE = 200  # ids of one POST
_GETS_AT_ONCE = 2 * _CONNECTIONS  # whose answers are in memory together
# The server does not know the document, or does not take its id. Ids come from outside: one that the server refuses
# must not pass for an outage, for which the turns of everybody else would wait.
_MISSING = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.GONE,
    HTTPStatus.REQUEST_URI_TOO_LONG,
    HTTPStatus.UNPROCESSABLE_ENTITY,
}
_BUSY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}


class HttpLookup(DocumentLookup):
    """Gets `url` with the id in the place of `{id}`; without `{id}`, posts `{"ids": [...]}` to it.

    `text_path` is where the text stands in an answer to GET, or in each item of an answer to POST; there `items_path`
    names the list, and `id_path` the id in an item. An answer to POST may also be an object of texts by id. `token` is
    sent as a bearer token. `timeout` in seconds bounds each request.

    Raises:
        WrongSettings: the URL is not http or https, or `{id}` stands in its host.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float,
        token: str | None = None,
        text_path: str = "text",
        id_path: str = "id",
        items_path: str = "",
    ) -> None:
        self._url = url
        self._text_path, self._id_path, self._items_path = text_path, id_path, items_path
        self._timeout = timeout
        try:
            parts = urlsplit(url)
            self._name = f"HTTP at {parts.hostname}" + (f":{parts.port}" if parts.port else "")
        except ValueError:
            raise WrongSettings("the look-up's URL is malformed") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname or ID in parts.netloc:
            raise WrongSettings("the look-up's URL must be http or https, with {id} after the host if it has one")
        headers = {"User-Agent": "rag-monitor", "Accept": "application/json", "Accept-Encoding": "identity"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self._client = httpx2.Client(
            timeout=timeout,
            headers=headers,
            follow_redirects=False,
            verify=ssl.create_default_context(),
            limits=httpx2.Limits(max_connections=_CONNECTIONS),
        )
        self._pool = ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="lookup")

    @override
    def texts(self, app: str, ids: Sequence[str]) -> Mapping[str, str]:
        found = FoundTexts(self._name)
        for key, text in self._posted_for(ids) if ID not in self._url else self._got_each(ids):
            if not found.add(key, text):
                break
        return found.by_id

    @override
    def describe(self) -> str:
        return self._name

    @override
    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._client.close()

    def _got_each(self, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
        # "." and ".." would name another place of the server, escaped or not
        safe = [key for key in ids if key.strip(".")]
        for start in range(0, len(safe), _GETS_AT_ONCE):
            some = safe[start : start + _GETS_AT_ONCE]
            for key, text in zip(some, list(self._pool.map(self._got, some)), strict=True):
                if text is not None:
                    yield key, text

    def _posted_for(self, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
        for start in range(0, len(ids), _AT_ONCE):
            yield from self._posted(ids[start : start + _AT_ONCE]).items()

    def _got(self, key: str) -> str | None:
        answer = self._answer("GET", self._url.replace(ID, quote(key, safe="")), None, _LARGEST_TEXT)
        text = at_path(answer, self._text_path)
        return text if isinstance(text, str) else None

    def _posted(self, ids: Sequence[str]) -> dict[str, str]:
        answer = at_path(self._answer("POST", self._url, {"ids": list(ids)}, MAX_TEXTS_BYTES), self._items_path)
        if isinstance(answer, dict):
            pairs = [(key, at_path(value, self._text_path)) for key, value in answer.items()]
            pairs += [(key, value) for key, value in answer.items() if isinstance(value, str)]
        elif isinstance(answer, list):
            pairs = [(str(at_path(item, self._id_path)), at_path(item, self._text_path)) for item in answer]
        else:
            pairs = []
        wanted = set(ids)
        return {key: text for key, text in pairs if key in wanted and isinstance(text, str)}

    def _answer(self, method: str, url: str, body: Json, largest: int) -> Json:
        """The JSON of an answer; None if the server does not know the document, or its text is too long."""
        deadline = monotonic() + self._timeout
        raw = bytearray()
        try:
            with self._client.stream(method, url, json=body) as response:
                if response.status_code in _MISSING:
                    return None
                if response.status_code != HTTPStatus.OK:
                    raise self._refused(response)
                for chunk in response.iter_raw():
                    raw += chunk
                    if len(raw) > largest:
                        log.warning("document look-up: %s: an answer over %d bytes is not read", self._name, largest)
                        return None
                    if monotonic() > deadline:
                        raise Retriable(f"{self._name}: the answer took longer than {self._timeout:g} s")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise Retriable(f"{self._name}: {type(error).__name__}") from None
        try:
            answer: Json = json.loads(raw)
        except (ValueError, RecursionError):
            raise Retriable(f"{self._name}: the answer is not JSON") from None
        return answer

    def _refused(self, response: httpx2.Response) -> Retriable:
        status = response.status_code
        if response.is_redirect:
            return Retriable(f"{self._name}: HTTP {status}: redirects are not followed; set the final URL")
        wait = retry_after(response.headers) if status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR else None
        return Retriable(f"{self._name}: HTTP {status}", retry_after=wait)
