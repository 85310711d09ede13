"""Sends requests to the provider's batch endpoint, which answers them within a day at half the price.

https://platform.openai.com/docs/guides/batch
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import openai

from monitor.assess.llm.endpoint import DEFAULT_BASE_URL
from monitor.core.errors import Fatal, Retriable

DISCOUNT = 0.5
WITHIN_HOURS = 24
_URL: Final = "/v1/chat/completions"
_ENDED = {"completed", "expired", "cancelled", "failed"}
_BUSY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAnswers:
    """The results of a batch that has ended, by the name of the request; a request in neither mapping was not tried.

    `failed` says why the batch as a whole failed.
    """

    completions: Mapping[str, object]
    problems: Mapping[str, str]
    failed: str | None = None


class BatchEndpoint:
    """Uploads chat completion requests as batches and fetches their results."""

    def __init__(self, *, api_key: str, base_url: str | None, timeout: float = 60.0) -> None:
        self._client = openai.OpenAI(
            api_key=api_key, base_url=base_url or DEFAULT_BASE_URL, timeout=timeout, max_retries=0
        )

    def close(self) -> None:
        self._client.close()

    def upload(self, bodies: Mapping[str, Mapping[str, Any]]) -> str:
        """Uploads requests by name and returns the provider's id of the file.

        Raises:
            Retriable, Fatal: the provider did not accept the file.
        """
        lines = [
            json.dumps({"custom_id": name, "method": "POST", "url": _URL, "body": body})
            for name, body in bodies.items()
        ]
        with _provider_errors():
            return self._client.files.create(file=("judge.jsonl", "\n".join(lines).encode()), purpose="batch").id

    def create(self, file: str) -> str:
        """Starts a batch with the requests of a file and returns the provider's id of the batch.

        Raises:
            Retriable, Fatal: the provider did not accept the batch.
        """
        with _provider_errors():
            return self._client.batches.create(input_file_id=file, endpoint=_URL, completion_window="24h").id

    def look(self, batch_id: str) -> tuple[str, BatchAnswers | None]:
        """The status of the batch, and its answers once it has ended.

        Raises:
            Retriable, Fatal: the provider did not tell the status.
        """
        completions: dict[str, object] = {}
        problems: dict[str, str] = {}
        with _provider_errors():
            batch = self._client.batches.retrieve(batch_id)
            if batch.status not in _ENDED:
                return batch.status, None
            for file in filter(None, (batch.output_file_id, batch.error_file_id)):
                for line in self._client.files.content(file).text.strip().split("\n"):
                    _add(json.loads(line), completions, problems)
        messages = [error.message for error in (batch.errors and batch.errors.data) or [] if error.message]
        failed = "; ".join(messages) or "no reason was given" if batch.status == "failed" else None
        return batch.status, BatchAnswers(completions=completions, problems=problems, failed=failed)


def _add(result: Any, completions: dict[str, object], problems: dict[str, str]) -> None:
    match result:
        case {"custom_id": str(name), "response": {"status_code": 200, "body": body}}:
            completions[name] = body
        case {"custom_id": str(name), "error": {"message": str(message)}}:
            problems[name] = message
        case {"custom_id": str(name), "response": {"status_code": status}}:
            problems[name] = f"status {status}"
        case _:
            raise ValueError("a line of the results is not a result")


@contextmanager
def _provider_errors() -> Iterator[None]:
    try:
        yield
    except openai.APIStatusError as error:
        if error.status_code in _BUSY or error.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Retriable(f"the batch endpoint is busy: status {error.status_code}") from None
        remedy = "check MONITOR_LLM__BASE_URL and …_API_KEY, or set MONITOR_JUDGE__BATCH=false"
        raise Fatal(f"the batch endpoint refuses the request: status {error.status_code}; {remedy}") from None
    except openai.APIConnectionError:
        raise Retriable("the batch endpoint is out of reach") from None
    except (ValueError, RecursionError) as error:
        raise Retriable(f"the batch endpoint sent an invalid answer: {error}") from None
