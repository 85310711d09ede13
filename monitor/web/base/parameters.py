"""Parameter types of the API: stricter than a form, so that a typing error is refused and not misread."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated
from urllib.parse import unquote

from fastapi import Path, Query, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from monitor.core.assessment_json import storable

MAX_ID = 2**63 - 1  # of a Postgres bigint
MAX_TEXT_CHARS = 1_000
MAX_PAGE = 200  # entries
MAX_LARGE = 20  # entries of which each is up to some 100 kB in the database
_MAX_OFFSET_HOUR, _MAX_OFFSET_MINUTE = 23, 59
_LEAP_SECOND = 60
_APP_AND_ID = 2  # segments of a path
_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)


def _parse_time(value: object) -> object:
    """Accepts only RFC 3339 with a zone; a time outside Python's years becomes the first or last of them."""
    if not isinstance(value, str):
        return value
    match = _RFC3339.fullmatch(value)
    if match is None:
        raise ValueError("is not an RFC 3339 time with a zone, such as 2026-05-04T09:12:33Z")
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    fraction, sign, hours, minutes = match.groups()[6:]
    if int(hours or 0) > _MAX_OFFSET_HOUR or int(minutes or 0) > _MAX_OFFSET_MINUTE:
        raise ValueError("has no valid time zone")
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
    micro = int((fraction or "0").ljust(6, "0"))
    leap = second == _LEAP_SECOND
    time = datetime(max(year, 1), month, day, hour, minute, second - leap, micro, tzinfo=UTC)
    try:
        return time - offset + timedelta(seconds=leap)
    except OverflowError:
        return time


def _parse_flag(value: object) -> object:
    if value in {"true", "false"}:
        return value == "true"
    if isinstance(value, bool):
        return value
    raise ValueError("is neither true nor false")


def parse_integer(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value, re.ASCII) is None:
        raise ValueError("is not an integer")
    return value


def integral(value: object) -> object:
    """Turns 60.0 into 60: both are the same integer in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS), AfterValidator(storable)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS), AfterValidator(storable)]
Moment = Annotated[datetime, BeforeValidator(_parse_time), WithJsonSchema({"type": "string", "format": "date-time"})]
Flag = Annotated[bool, BeforeValidator(_parse_flag)]
Id = Annotated[int, Field(ge=1, le=MAX_ID), BeforeValidator(parse_integer)]
Limit = Annotated[
    int, Field(ge=1, le=MAX_PAGE), BeforeValidator(parse_integer), Query(description="The most entries to return.")
]
LargeLimit = Annotated[
    int, Field(ge=1, le=MAX_LARGE), BeforeValidator(parse_integer), Query(description="The most entries to return.")
]
Cursor = Annotated[
    str | None,
    Query(
        max_length=4 * MAX_TEXT_CHARS,
        description="Where to continue: `next` of the page before, under the same filters.",
        json_schema_extra={"format": "cursor"},
    ),
]


@dataclass(frozen=True, slots=True)
class AppAndId:
    """The dependency that reads app and id from the end of a path below `prefix`, before the router decodes it.

    A slash within app or id is written as %2F; the router decodes the path first, and then cannot tell it apart.
    """

    prefix: str

    def __call__(
        self, request: Request, app: Annotated[Name, Path()], id_: Annotated[Name, Path(alias="id")]
    ) -> tuple[str, str]:
        """App and id; when slashes are not escaped, the first segment is the app."""
        raw: str = request.scope["raw_path"].decode("latin-1")
        segments = [storable(unquote(part)) for part in raw.removeprefix(self.prefix).split("/")]
        return (segments[0], segments[1]) if len(segments) == _APP_AND_ID else (app, id_)


def reject_unknown_parameters(request: Request) -> None:
    """Raises `RequestValidationError` when the address has a parameter that the route does not have, or one twice."""
    known = _parameter_names(request.scope["route"].dependant)
    seen = set[str]()
    for name, _ in request.query_params.multi_items():
        if name not in known:
            raise parameter_error(name, "is not a parameter here")
        if name in seen and name not in _LISTS:
            raise parameter_error(name, "is given twice")
        seen.add(name)


def parameter_error(name: str, message: str) -> RequestValidationError:
    """The error for a parameter that is well-formed, but wrong for this route."""
    return RequestValidationError([{"type": "value_error", "loc": ("query", name), "msg": message}])


_LISTS = frozenset({"diagnosis", "verdict"})


def _parameter_names(dependant: Dependant) -> frozenset[str]:
    own = {field.alias for field in dependant.query_params}
    return frozenset(own.union(*map(_parameter_names, dependant.dependencies)))
