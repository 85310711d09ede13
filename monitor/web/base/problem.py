"""Problems as in RFC 9457: the body of an API error, and its description in OpenAPI."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict

MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """Why a request failed; `detail` is a sentence for people."""

    model_config = ConfigDict(extra="forbid")

    type: str
    title: str
    status: int
    detail: str


_DESCRIPTIONS = {
    HTTPStatus.BAD_REQUEST: "The request cannot be carried out as it is.",
    HTTPStatus.UNAUTHORIZED: "The request has no token, or one that is wrong, revoked or expired.",
    HTTPStatus.FORBIDDEN: "The role of the caller does not allow it.",
    HTTPStatus.NOT_FOUND: "Nothing is stored under this name.",
    HTTPStatus.CONFLICT: "The present state does not allow it; the detail says why.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is longer than 1 MiB.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "A parameter is unknown, or a parameter or the body does not match its schema.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The database is out of reach, or the query takes too long; the detail says which.",
}
_ALWAYS = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
NOT_FOUND, CONFLICT, TOO_LARGE = HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def problems(*more: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: the problems of every route, and `more`."""
    return {int(status): _response(status) for status in (*_ALWAYS, *more)}


def _response(status: HTTPStatus) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    return {"description": _DESCRIPTIONS[status], "content": {MEDIA_TYPE: {"schema": schema}}}
