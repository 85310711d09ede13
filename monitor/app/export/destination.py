"""The port of a destination of verdicts, and what its answers mean for what was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol
from urllib.parse import unquote

from monitor.alert.receivers.http import Answer, Endpoint
from monitor.core.errors import Fatal, Retriable, WrongSettings
from monitor.core.pending import Work
from monitor.core.text.plain import plain
from monitor.store.pending.verdicts import VerdictToSend

AT_ONCE = 50  # verdicts in a request
_QUOTED = 300  # characters of what a server says
_UNTIL_MENDED = 300.0  # seconds before a destination that refuses everything is asked again
_CONTENT = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}


class Refused(Fatal):
    """The destination takes something of the request never; what else was in it may be sent without that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One verdict of a request that was not taken, by its place in it. `later`: it may be taken some other time."""

    place: int
    why: str
    later: bool = False


class Destination(Protocol):
    """Takes verdicts. One thread calls it."""

    kind: Work
    at_once: int

    def send(self, verdicts: Sequence[VerdictToSend]) -> Sequence[Refusal]:
        """Sends verdicts, of which some may have been sent before; returns those that were not taken.

        Raises:
            Refused: something among them is refused for good; it is not known what.
            Retriable, Fatal: the destination is out of reach, or refuses us; some may have been taken.
        """

    def check(self) -> str:
        """Says what a reachable destination is; raises as `send` does."""

    def close(self) -> None:
        """Releases all resources."""


def problem(endpoint: Endpoint, answer: Answer, content: str) -> Refused | Retriable:
    """The error for an answer that is not a success.

    What a person must mend, such as a wrong key, is tried again after a while, since no verdict is at fault.
    """
    if answer.status in _CONTENT:
        said = quoted(answer.body.decode(errors="replace"))
        return Refused(f"{content} is refused: HTTP {answer.status} ({said})")
    error = endpoint.judged(answer)
    return error if isinstance(error, Retriable) else Retriable(str(error), retry_after=answer.wait or _UNTIL_MENDED)


def taken(endpoint: Endpoint, answer: Answer, content: str) -> Answer:
    """The answer, if it is a success.

    Raises:
        Refused, Retriable: see `problem`.
    """
    if not answer.done:
        raise problem(endpoint, answer, content)
    return answer


def quoted(said: str) -> str:
    """The beginning of what a server says, on one line of plain text."""
    return plain(said)[:_QUOTED]


def address(base: str, path: str) -> str:
    """`base` with `path` after it, once."""
    return base.rstrip("/").removesuffix(path) + path


def bearer(key: str | None) -> Mapping[str, str]:
    """The header that shows the key, if there is one."""
    return {} if key is None else {"Authorization": f"Bearer {key}"}


def header_pairs(given: str | None, setting: str) -> Mapping[str, str]:
    """Headers in the form of OTEL_EXPORTER_OTLP_HEADERS, from a setting of that name.

    Raises:
        WrongSettings: a part has no name or no value.
    """
    headers = {}
    for part in (given or "").split(","):
        name, equals, value = part.partition("=")
        if part.strip():
            if not equals or not name.strip():
                raise WrongSettings(f"{setting} must be name=value, separated by commas")
            headers[name.strip()] = unquote(value.strip())
    return headers
