"""What routes are asked with: stricter than a form, so that a typing slip is refused and not read as something else."""

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

HIGHEST_ID = 2**63 - 1  # that Postgres takes for one
LONGEST_TEXT = 1_000
MOST = 200  # of a page
_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)


def _moment(value: object) -> object:
    """RFC 3339 with a zone, and nothing else; what lies outside of Python's years is the first or last of them."""
    if not isinstance(value, str):
        return value
    match = _RFC3339.fullmatch(value)
    if match is None:
        raise ValueError("is no RFC 3339 time with a zone, as 2026-05-04T09:12:33Z")
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    fraction, sign, hours, minutes = match.groups()[6:]
    if int(hours or 0) > 23 or int(minutes or 0) > 59:  # noqa: PLR2004
        raise ValueError("is no time zone")
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
    micro = int((fraction or "0").ljust(6, "0"))
    leap = second == 60  # noqa: PLR2004  as RFC 3339 has it
    time = datetime(max(year, 1), month, day, hour, minute, second - leap, micro, tzinfo=UTC)
    try:
        return time - offset + timedelta(seconds=leap)
    except OverflowError:
        return time


def _flag(value: object) -> object:
    if value in {"true", "false"}:
        return value == "true"
    if isinstance(value, bool):
        return value
    raise ValueError("is neither true nor false")


def _number(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value, re.ASCII) is None:
        raise ValueError("is no integer")
    return value


def whole(value: object) -> object:
    """60.0 is an integer in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Text = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(storable)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT), AfterValidator(storable)]
Moment = Annotated[datetime, BeforeValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})]
Flag = Annotated[bool, BeforeValidator(_flag)]
Id = Annotated[int, Field(ge=1, le=HIGHEST_ID), BeforeValidator(_number)]
Limit = Annotated[int, Field(ge=1, le=MOST), BeforeValidator(_number), Query(description="How many at most.")]
Cursor = Annotated[
    str | None,
    Query(
        max_length=4 * LONGEST_TEXT,
        description="Where to go on: `next` of the page before. Valid for the same filters only.",
        json_schema_extra={"format": "cursor"},
    ),
]


@dataclass(frozen=True, slots=True)
class Named:
    """The dependency that gives app and id at the end of a path below `prefix` as they were written.

    In either of them a slash is %2F; the router, which has decoded the path before it takes it apart, cannot tell.
    """

    prefix: str

    def __call__(self, request: Request, app: Annotated[Name, Path()], id: Annotated[Name, Path()]) -> tuple[str, str]:  # noqa: A002  its name in the path
        """App and id; where slashes came bare, the first segment is the app."""
        raw: str = request.scope["raw_path"].decode("latin-1")
        own = [storable(unquote(part)) for part in raw.removeprefix(self.prefix).split("/")]
        return (own[0], own[1]) if len(own) == 2 else (app, id)  # noqa: PLR2004


def known_parameters(request: Request) -> None:
    """Raises `RequestValidationError` where the address has a parameter that the route has not, or one twice."""
    known = _parameters(request.scope["route"].dependant)
    seen = set[str]()
    for name, _ in request.query_params.multi_items():
        if name not in known:
            raise invalid(name, "is no parameter here")
        if name in seen and name not in _LISTS:
            raise invalid(name, "is given twice")
        seen.add(name)


def invalid(name: str, said: str) -> RequestValidationError:
    """What is raised for a parameter that is well-formed by itself, and wrong here."""
    return RequestValidationError([{"type": "value_error", "loc": ("query", name), "msg": said}])


_LISTS = frozenset({"verdict"})


def _parameters(dependant: Dependant) -> frozenset[str]:
    own = {field.alias for field in dependant.query_params}
    return frozenset(own.union(*(_parameters(its) for its in dependant.dependencies)))
