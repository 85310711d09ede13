"""What a server's refusal is about, told by its status and by the words that servers use."""

from __future__ import annotations

from http import HTTPStatus

from monitor.core.errors import MonitorError

_ABOUT_THE_REQUEST = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
}
_SETTINGS = (
    *("valid model", "model name", "unknown model", "does not exist", "model not exist"),  # "(not a / in)valid model"
    *("api key", "insufficient", "billing"),
)
_FLAGGED = ("flagged", "moderation")  # OpenRouter's words for a text that a model's filter stops
_TOO_LONG = (
    "context length",
    "context_length",
    "context size",
    "context window",
    "too long",
    "maximum context",
    "too many tokens",
)


class AdaptedError(MonitorError):
    """The server does not accept a parameter, and the next request will not use it."""


def is_about_settings(status: int, quote: str, data: str) -> bool:
    """Whether no request will be answered before somebody changes the settings or the account.

    Words that are in `data`, which the request was about, say nothing: the server may only repeat them.
    """
    told, sent = quote.lower(), " ".join(data.lower().split())
    if status == HTTPStatus.BAD_REQUEST:
        return any(word in told and word not in sent for word in _SETTINGS)
    if status == HTTPStatus.FORBIDDEN and any(word in told for word in _FLAGGED):
        return False
    return status not in _ABOUT_THE_REQUEST


def is_too_long(status: int, quote: str) -> bool:
    """Whether the request is longer than the server or the model takes."""
    return status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or any(word in quote.lower() for word in _TOO_LONG)
