"""The API page: lists the operations of the JSON API for people, from the OpenAPI document that programs read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs
from monitor.web.base.page import page

router = APIRouter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of an operation, or a field of its body; `accepts` is its type in words."""

    name: str
    place: str
    required: bool
    accepts: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A method of an address; `fields` are those of the JSON in the request."""

    method: str
    path: str
    name: str
    tag: str
    summary: str
    description: str
    parameters: tuple[Parameter, ...]
    fields: tuple[Parameter, ...]
    statuses: tuple[str, ...]


@router.get("/api")
def api(request: Request, who: Annotated[Identity, Depends(Needs(Permission.VIEW))]) -> HTMLResponse:
    by_tag: dict[str, list[Operation]] = {}
    for operation in operations(request.app.openapi()):
        by_tag.setdefault(operation.tag, []).append(operation)
    base = (request.app.state.application.settings.public_url or str(request.base_url)).rstrip("/")
    return page(request, "base/api.html", who, by_tag=by_tag, document=request.app.openapi_url, base=base)


def operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    """The operations of an OpenAPI document, in its order."""
    schemas = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            body = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            yield Operation(
                method=method.upper(),
                path=path,
                name=described["operationId"],
                tag=described["tags"][0],
                summary=described["summary"],
                description=described.get("description", ""),
                parameters=tuple(_parameter(each, schemas) for each in described.get("parameters", ())),
                fields=tuple(_fields(_resolved(body, schemas), schemas)),
                statuses=tuple(described["responses"]),
            )


def _parameter(described: Mapping[str, Any], schemas: Mapping[str, Any]) -> Parameter:
    return Parameter(
        name=described["name"],
        place=described["in"],
        required=described.get("required", False),
        accepts=_type_words(described["schema"], schemas),
        description=described.get("description", ""),
    )


def _fields(body: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[Parameter]:
    for name, schema in body.get("properties", {}).items():
        yield Parameter(
            name=name,
            place="body",
            required=name in body.get("required", ()),
            accepts=_type_words(schema, schemas),
            description=schema.get("description", ""),
        )


def _type_words(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    """A schema in a few words."""
    schema = _resolved(schema, schemas)
    if choices := [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]:
        return " or ".join(_type_words(choice, schemas) for choice in choices)
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"one or more of: {_type_words(schema['items'], schemas)}"
    if schema.get("type") == "object" and "properties" in schema:
        return f"{{{', '.join(schema['properties'])}}}"
    known = {"date-time": "RFC 3339 time"}
    low, high = schema.get("minimum"), schema.get("maximum")
    words = known.get(schema.get("format", ""), schema.get("type", "anything"))
    return words if low is None or high is None else f"{words} {low} to {high}"


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that `schema` refers to, or `schema` itself."""
    reference = schema.get("$ref")
    found: Mapping[str, Any] = schemas[reference.rpartition("/")[2]] if reference else schema
    return found
