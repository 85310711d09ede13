"""API: the operations of the JSON API for people, from the same description that programs read."""

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
    """One of an operation's; `form` says what it takes."""

    name: str
    place: str
    required: bool
    form: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A method of an address; `fields` are those of the JSON that it is sent."""

    method: str
    path: str
    name: str
    tag: str
    summary: str
    says: str
    parameters: tuple[Parameter, ...]
    fields: tuple[Parameter, ...]
    statuses: tuple[str, ...]


@router.get("/api")
def api(request: Request, who: Annotated[Identity, Depends(Needs(Permission.VIEW))]) -> HTMLResponse:
    """The page."""
    document = request.app.openapi()
    found = list(operations(document))
    tags = dict.fromkeys(its.tag for its in found)
    by_tag = {tag: [its for its in found if its.tag == tag] for tag in tags}
    base = (request.app.state.application.settings.public_url or str(request.base_url)).rstrip("/")
    return page(request, "base/api.html", who, by_tag=by_tag, document=request.app.openapi_url, base=base)


def operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    """Those that an OpenAPI document describes, in its order."""
    schemas = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for method, its in methods.items():
            body = its.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            yield Operation(
                method=method.upper(),
                path=path,
                name=its["operationId"],
                tag=its["tags"][0],
                summary=its["summary"],
                says=its.get("description", ""),
                parameters=tuple(_parameter(one, schemas) for one in its.get("parameters", ())),
                fields=tuple(_fields(_named(body, schemas), schemas)),
                statuses=tuple(its["responses"]),
            )


def _parameter(one: Mapping[str, Any], schemas: Mapping[str, Any]) -> Parameter:
    return Parameter(
        name=one["name"], place=one["in"], required=one.get("required", False), form=_form(one["schema"], schemas),
        says=one.get("description", ""),
    )  # fmt: skip


def _fields(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[Parameter]:
    for name, its in schema.get("properties", {}).items():
        yield Parameter(
            name=name, place="body", required=name in schema.get("required", ()), form=_form(its, schemas),
            says=its.get("description", ""),
        )  # fmt: skip


def _form(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    """In a few words."""
    its = _named(schema, schemas)
    if choices := [one for one in its.get("anyOf", ()) if one.get("type") != "null"]:
        return " or ".join(_form(one, schemas) for one in choices)
    if "enum" in its:
        return ", ".join(map(str, its["enum"]))
    if its.get("type") == "array":
        return f"several of: {_form(its['items'], schemas)}"
    if its.get("type") == "object" and "properties" in its:
        return f"{{{', '.join(its['properties'])}}}"
    known = {"date-time": "RFC 3339 time"}
    low, high = its.get("minimum"), its.get("maximum")
    words = known.get(its.get("format", ""), its.get("type", "anything"))
    return words if low is None or high is None else f"{words} {low} to {high}"


def _named(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that a reference names, or itself."""
    reference = schema.get("$ref")
    found: Mapping[str, Any] = schemas[reference.rpartition("/")[2]] if reference else schema
    return found
