"""What went wrong, as RFC 9457 has it, and how OpenAPI is told of it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict

MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """Why a request was not answered; `detail` is a sentence for people."""

    model_config = ConfigDict(extra="forbid")

    type: str
    title: str
    status: int
    detail: str


_SAYS = {
    HTTPStatus.BAD_REQUEST: "The request cannot be carried out as it stands.",
    HTTPStatus.UNAUTHORIZED: "No token, or one that opens nothing.",
    HTTPStatus.FORBIDDEN: "The role of whoever asks does not allow it.",
    HTTPStatus.NOT_FOUND: "Nothing of that name is stored.",
    HTTPStatus.CONFLICT: "What is stored does not allow it now.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is longer than 1 MiB.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "A parameter is unknown, or it or the body is not of the declared form.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The database is out of reach, or this would take too long: the detail says which.",
}
_ALWAYS = (
    HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.SERVICE_UNAVAILABLE,
)  # fmt: skip
NOT_FOUND, CONFLICT, TOO_LARGE = HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def problems(*more: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: those that any route may give, and `more`."""
    return {int(status): _response(status) for status in (*_ALWAYS, *more)}


def _response(status: HTTPStatus) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    return {"description": _SAYS[status], "content": {MEDIA_TYPE: {"schema": schema}}}
