"""Embeds texts with OpenAI, or with any server that speaks its API."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import openai
from typing_extensions import override

from monitor.assess.embed.windows import Vectors, join_windows, text_windows, unit, well_formed
from monitor.assess.llm.endpoint import DEFAULT_BASE_URL, check_key
from monitor.assess.ports import Embedder, Piecewise
from monitor.core.errors import Fatal, MonitorError, Retriable
from monitor.core.retry import retry_after
from monitor.core.stage import stage

_KNOWN_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_RETRIABLE = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}
_LONGEST_QUOTE = 300  # characters of a provider's error that a message repeats
_TWO_DIMENSIONAL = 2  # rows and columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a provider accepts. The defaults are OpenAI's for its embedding models.

    Tokens are counted as UTF-8 bytes, which they never outnumber: a token of a byte-level vocabulary is at least one
    byte. English has four times fewer tokens, so a request is smaller than it could be and an English text is split
    into windows from 8 kB on, but no text at all (base64, rare scripts, emoji) is refused for its length.
    """

    inputs: int = 2048  # per request
    request_tokens: int = 300_000
    input_tokens: int = 8_191


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    owner: int  # the position of the text that it belongs to
    text: str
    size: int  # UTF-8 bytes


class OpenAIEmbedder(Embedder, Piecewise):
    """Sentence vectors from an OpenAI-compatible server. It sends each request once; the caller retries.

    A text over the limit for one input is read in windows that end at sentence ends; its vector is the mean of theirs,
    weighted by length. An empty text, which the API refuses, is sent as a space. Any number of threads may call.

    An answer that does not match its request (count, indices, numbers that are not finite) is `Retriable`, since the
    next server behind the address may do better. A wrong number of dimensions is `Fatal`, since a setting is wrong.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str,
        base_url: str = DEFAULT_BASE_URL,
        dimensions: int | None = None,
        timeout: float = 60.0,
        limits: Limits | None = None,
    ) -> None:
        """Without `dimensions`, the model uses its own number. `timeout` applies to one request, in seconds.

        Raises:
            WrongSettings: the key is empty or cannot be sent in a header.
        """
        check_key(api_key, of="the embedding", setting="MONITOR_EMBEDDING__API_KEY")
        self._name = model
        self._key = api_key
        self._host = urlsplit(base_url).hostname or base_url
        self._chosen_dimensions = dimensions
        self._dimensions = dimensions or _KNOWN_DIMENSIONS.get(model)
        self._limits = limits or Limits()
        self._client = openai.OpenAI(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0)

    @property
    @override
    def model(self) -> str:
        """The model's name, with the number of dimensions if it was chosen."""
        return f"{self._name}/{self._chosen_dimensions}" if self._chosen_dimensions else self._name

    @property
    @override
    def dimensions(self) -> int:
        """The length of a vector. For an unknown model, the first use asks the provider."""
        if self._dimensions is None:
            self._dimensions = self._request(["dimensions"]).shape[1]
        return self._dimensions

    def close(self) -> None:
        self._client.close()

    @override
    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for places, found in self.pieces(texts):
            vectors[places] = found
        return vectors

    @override
    def pieces(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Vectors]]:
        windows = list(self._windows(texts))
        waiting = np.empty((0, self.dimensions), np.float32)  # windows of a text that the next request continues
        for start, end in self._requests(windows):
            vectors = np.concatenate([waiting, self._request([window.text for window in windows[start:end]])])
            members = windows[start - len(waiting) : end]
            first = members[0].owner
            stop = windows[end].owner if end < len(windows) else len(texts)
            done = [window for window in members if window.owner < stop]
            waiting = vectors[len(done) :]
            if done:
                owners = [window.owner - first for window in done]
                weights = [window.size for window in done]
                yield range(first, stop), join_windows(vectors[: len(done)], owners, weights, stop - first)

    def _windows(self, texts: Sequence[str]) -> Iterator[_Window]:
        for owner, given in enumerate(texts):
            text = well_formed(given) or " "
            for start, end in text_windows(text, self._limits.input_tokens):
                window = text[start:end]
                yield _Window(owner=owner, text=window, size=len(window.encode()))

    def _requests(self, windows: Sequence[_Window]) -> Iterator[tuple[int, int]]:
        """Ranges of `windows` that fit into one request each."""
        start = size = 0
        for end, window in enumerate(windows):
            if end - start == self._limits.inputs or size + window.size > self._limits.request_tokens:
                yield start, end
                start, size = end, 0
            size += window.size
        if windows:
            yield start, len(windows)

    def _request(self, inputs: Sequence[str]) -> Vectors:
        """Sends one request and returns the unit vectors of its inputs."""
        with stage("embed", model=self._name, server=self._host, texts=len(inputs)):
            return self._vectors_of(inputs)

    def _vectors_of(self, inputs: Sequence[str]) -> Vectors:
        try:
            response = self._client.embeddings.with_raw_response.create(
                model=self._name,
                input=list(inputs),
                dimensions=self._chosen_dimensions or openai.omit,
                encoding_format="base64",  # a quarter of the bytes; a server that ignores it sends numbers
            )
        except openai.APIStatusError as error:
            raise self._refusal(error) from None  # from None: the provider's text may repeat the key
        except openai.APIConnectionError as error:
            what = "does not answer in time" if isinstance(error, openai.APITimeoutError) else "is out of reach"
            raise Retriable(f"the embedding provider at {self._host} {what}") from None
        try:
            vectors = _vectors(response.http_response.json(), len(inputs))
        except (ValueError, TypeError, KeyError) as error:
            raise self._invalid(f"{type(error).__name__}: {error}") from None
        if self._dimensions is not None and vectors.shape[1] != self._dimensions:
            raise Fatal(
                f"{self._name} at {self._host} gives vectors of {vectors.shape[1]} dimensions, not {self._dimensions}: "
                "set MONITOR_EMBEDDING__DIMENSIONS to a number that the model supports, or leave it out"
            )
        lengths = np.linalg.norm(vectors, axis=1)
        if not np.all(np.isfinite(lengths) & (lengths > 0)):
            raise self._invalid("vectors that are zero or not finite")
        return unit(vectors)

    def _invalid(self, problem: str) -> Retriable:
        return Retriable(f"the embedding provider at {self._host} sent an invalid answer: {problem}")

    def _refusal(self, error: openai.APIStatusError) -> MonitorError:
        status = error.status_code
        who = f"the embedding provider at {self._host}"
        message = error.body.get("message") if isinstance(error.body, Mapping) else error.body
        quote = " ".join(str(message).replace(self._key, "[key]").split())[:_LONGEST_QUOTE]
        if status in _RETRIABLE or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return Retriable(
                f"{who} is busy or over its limit: {quote}", retry_after=retry_after(error.response.headers)
            )
        if status == HTTPStatus.UNAUTHORIZED:  # without a quote, which may show parts of the key
            return Fatal(f"{who} does not accept the API key: set MONITOR_EMBEDDING__API_KEY to a valid one")
        if status == HTTPStatus.FORBIDDEN:
            return Fatal(
                f"{who} does not let this API key use {self._name}: give the key access or use another ({quote})"
            )
        if status == HTTPStatus.NOT_FOUND:
            return Fatal(
                f"{who} does not know {self._name}: "
                f"check MONITOR_EMBEDDING__MODEL and MONITOR_EMBEDDING__BASE_URL ({quote})"
            )
        return Fatal(
            f"{who} refuses the request: check that {self._name} is an embedding model, that it supports the "
            f"dimensions in MONITOR_EMBEDDING__DIMENSIONS, and that it accepts long inputs ({quote})"
        )


def _vectors(body: Any, count: int) -> Vectors:
    """The vectors in the JSON of a response, ordered by index.

    Raises:
        ValueError, TypeError, KeyError: the JSON is not an embedding response for `count` inputs.
    """
    rows = {item["index"]: item["embedding"] for item in body["data"]}
    if len(body["data"]) != count or rows.keys() != set(range(count)):
        raise ValueError(f"{len(body['data'])} vectors for {count} inputs, or wrong indices")
    decoded = [
        np.frombuffer(base64.b64decode(row, validate=True), "<f4")
        if isinstance(row, str)
        else np.array(row, np.float32)
        for row in (rows[index] for index in range(count))
    ]
    vectors = np.stack(decoded)
    if vectors.ndim != _TWO_DIMENSIONAL or vectors.shape[1] == 0:
        raise ValueError("embeddings that are not vectors")
    return vectors
