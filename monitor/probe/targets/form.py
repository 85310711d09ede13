"""The form of a target in the file of probes, and the target that it makes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, model_validator

from monitor.probe.target import Target
from monitor.probe.targets.command import CommandTarget
from monitor.probe.targets.function import FunctionTarget, load_function
from monitor.probe.targets.http import HttpSpec, HttpTarget, chat_spec
from monitor.probe.targets.json_path import JsonPath, parse_json_path
from monitor.probe.targets.secrets import header_value
from monitor.probe.targets.template import asks, unfilled

Place: TypeAlias = Callable[..., str]  # of a field of the target, given its keys: what messages about it begin with

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_FUNCTION = re.compile(r"[\w.]+:\w+\Z")
_METHOD = re.compile(r"[A-Z]{3,10}\Z")


def _path(value: object) -> JsonPath:
    if not isinstance(value, str):
        raise ValueError("must be a JSONPath such as $.answer")  # noqa: TRY004  pydantic expects this one
    return parse_json_path(value)


def _json(value: Any) -> Any:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError("holds what JSON cannot, such as a date or a number that is not finite") from None
    return value


def _without_secrets(value: Any) -> Any:
    """Refuses `${file:…}` and `${env:…}` where nothing fills them in."""
    if any(mark in json.dumps(value, default=str) for mark in ("${file:", "${env:")):
        raise ValueError("secrets are filled into headers and api_key only: write ${file:…} or ${env:…} there")
    return value


def _http_url(text: str) -> str:
    try:
        url = urlsplit(text)
        known = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError:
        known = False
    if not known:
        raise ValueError("must be an http or https URL")
    return text


def _headers(headers: dict[str, str]) -> dict[str, str]:
    for name in headers:
        if not _HEADER.match(name):
            raise ValueError(f"{name!r} cannot be the name of a header")
    return headers


def _method(name: str) -> str:
    if not _METHOD.match(name):
        raise ValueError("must be a method of HTTP in capital letters, such as POST")
    return name


def _function(name: str) -> str:
    if not _FUNCTION.match(name):
        raise ValueError("must be module:function")
    return name


def _command(words: list[str]) -> list[str]:
    if not words or not words[0]:
        raise ValueError("must name a program, and then its arguments")
    return words


def _filled_in(value: Any) -> Any:
    """Refuses placeholders that would be sent as they are."""
    if (problem := unfilled(value)) is not None:
        raise ValueError(problem)
    return value


def _extra(value: dict[str, Any]) -> dict[str, Any]:
    if taken := {"messages", "model", "user"} & value.keys():
        raise ValueError(f"cannot set {', '.join(sorted(taken))}: the probe does")
    return value


_Json = Annotated[Any, AfterValidator(_json)]
_Path = Annotated[JsonPath, PlainValidator(_path)]
_Url = Annotated[str, AfterValidator(_without_secrets), AfterValidator(_http_url)]
_Headers = Annotated[dict[str, str], AfterValidator(_headers)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class HttpForm(_Form):
    """An HTTP API; see `targets/template.py` for placeholders."""

    url: _Url
    method: Annotated[str, AfterValidator(_method)] = "POST"
    headers: _Headers = Field(default_factory=dict)
    body: Annotated[_Json, AfterValidator(_without_secrets), AfterValidator(_filled_in)] = None
    answer: _Path | None = None
    documents: _Path | None = None
    version: _Path | None = None

    @model_validator(mode="after")
    def _asked(self) -> Self:
        if not asks(self.body):
            raise ValueError('body holds neither "{question}" nor "{messages}", so nothing would be asked')
        return self

    def target(self, *, timeout: float, per_second: float | None, place: Place) -> Target:
        given = {name: getattr(self, name) for name in type(self).model_fields}
        headers = {name: header_value(text, of=place("headers", name)) for name, text in self.headers.items()}
        spec = HttpSpec(**{**given, "headers": headers})
        return HttpTarget(spec, timeout=timeout, per_second=per_second)


class ChatForm(_Form):
    """An OpenAI-compatible chat completions API."""

    base_url: _Url
    model: str
    api_key: str | None = None
    system: str | None = None
    extra: Annotated[dict[str, Any], AfterValidator(_json), AfterValidator(_extra)] = Field(default_factory=dict)

    def target(self, *, timeout: float, per_second: float | None, place: Place) -> Target:
        given = {name: getattr(self, name) for name in type(self).model_fields}
        api_key = self.api_key and header_value(self.api_key, of=place("api_key"))
        spec = chat_spec(**{**given, "api_key": api_key})
        return HttpTarget(spec, timeout=timeout, per_second=per_second)


class TargetForm(_Form):
    """One of four kinds of targets."""

    http: HttpForm | None = None
    chat: ChatForm | None = None
    python: Annotated[str, AfterValidator(_function)] | None = None
    command: Annotated[list[str], AfterValidator(_command)] | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if sum(getattr(self, name) is not None for name in type(self).model_fields) != 1:
            raise ValueError("name one of http, chat, python and command")
        return self

    def target(self, *, timeout: float, per_second: float | None, place: Place) -> Target:
        """The target, opened; messages say where it stands by `place`.

        Raises:
            WrongSettings: a secret cannot be read, or there is no such function.
        """
        if self.python is not None:
            function = load_function(self.python, of=place("python"))
            return FunctionTarget(function, name=self.python, timeout=timeout, per_second=per_second)
        if self.command is not None:
            return CommandTarget(self.command, timeout=timeout, per_second=per_second)
        kind, form = ("http", self.http) if self.http is not None else ("chat", self.chat)
        assert form is not None  # noqa: S101  the validator has seen to it
        return form.target(timeout=timeout, per_second=per_second, place=partial(place, kind))
