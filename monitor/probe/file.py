"""Reads a file of probes: YAML, then the form, then probes; every error names the file, the line and the column."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time, timedelta
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    model_validator,
)

from monitor.alert.rules.parameters import duration
from monitor.core.errors import WrongSettings
from monitor.core.yaml.form import parse_form, read_text
from monitor.probe.golden import SET_NAME
from monitor.probe.target import Target
from monitor.probe.targets.command import CommandTarget
from monitor.probe.targets.function import FunctionTarget, load_function
from monitor.probe.targets.http import HttpSpec, HttpTarget, chat_spec
from monitor.probe.targets.json_path import JsonPath, parse_json_path
from monitor.probe.targets.template import asks, unfilled

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_FUNCTION = re.compile(r"[\w.]+:\w+\Z")
_LEAST_APART = timedelta(minutes=1)


def _path(value: object) -> JsonPath:
    if not isinstance(value, str):
        raise ValueError("must be a JSONPath such as $.answer")  # noqa: TRY004  pydantic expects this one
    return parse_json_path(value)


def _time_of_day(value: object) -> time:
    try:
        at = time.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        at = None
    if at is None or at.tzinfo is not None:
        raise ValueError('must be a time of day in UTC, in quotes, such as "06:30"')
    return at


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


def _function(name: str) -> str:
    if not _FUNCTION.match(name):
        raise ValueError("must be module:function")
    return name


def _command(words: list[str]) -> list[str]:
    if not words or not words[0]:
        raise ValueError("must name a program, and then its arguments")
    return words


def _extra(value: dict[str, Any]) -> dict[str, Any]:
    if taken := {"messages", "model", "user"} & value.keys():
        raise ValueError(f"cannot set {', '.join(sorted(taken))}: the probe does")
    return value


_Json = Annotated[Any, AfterValidator(_json)]
_Path = Annotated[JsonPath, PlainValidator(_path)]
_Duration = Annotated[timedelta, PlainValidator(duration)]
_PerSecond = Annotated[
    float, BeforeValidator(lambda n: float(n) if type(n) is int else n), Field(ge=0.001, allow_inf_nan=False)
]
_Url = Annotated[str, AfterValidator(_without_secrets), AfterValidator(_http_url)]
_Headers = Annotated[dict[str, str], AfterValidator(_headers)]
_Name = Annotated[str, Field(pattern=SET_NAME)]
_App = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\s][^\x00-\x1f]*$")]


def _filled_in(value: Any) -> Any:
    """Refuses placeholders that would be sent as they are."""
    if (problem := unfilled(value)) is not None:
        raise ValueError(problem)
    return value


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class HttpForm(_Form):
    """An HTTP API; see `targets/template.py` for placeholders."""

    url: _Url
    method: Annotated[str, Field(pattern=r"^[A-Z]{3,10}$")] = "POST"
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

    def target(self, *, timeout: float, per_second: float | None) -> Target:
        spec = HttpSpec(**{name: getattr(self, name) for name in type(self).model_fields})
        return HttpTarget(spec, timeout=timeout, per_second=per_second)


class ChatForm(_Form):
    """An OpenAI-compatible chat completions API."""

    base_url: _Url
    model: str
    api_key: str | None = None
    system: str | None = None
    extra: Annotated[dict[str, Any], AfterValidator(_json), AfterValidator(_extra)] = Field(default_factory=dict)

    def target(self, *, timeout: float, per_second: float | None) -> Target:
        spec = chat_spec(**{name: getattr(self, name) for name in type(self).model_fields})
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

    def target(self, *, timeout: float, per_second: float | None) -> Target:
        """The target, opened.

        Raises:
            WrongSettings: a secret cannot be read, or there is no such function.
        """
        if self.python is not None:
            function = load_function(self.python)
            return FunctionTarget(function, name=self.python, timeout=timeout, per_second=per_second)
        if self.command is not None:
            return CommandTarget(self.command, timeout=timeout, per_second=per_second)
        form = self.http or self.chat
        assert form is not None  # noqa: S101  the validator has seen to it
        return form.target(timeout=timeout, per_second=per_second)


class ProbeForm(_Form):
    name: _Name
    app: _App
    environment: _Name = "production"
    golden: _Name
    target: TargetForm
    retriever: TargetForm | None = None
    every: _Duration | None = None
    at: Annotated[time, PlainValidator(_time_of_day)] | None = None
    turns: Annotated[int, Field(ge=1, le=20)] = 1
    repeats: Annotated[int, Field(ge=1, le=9)] = 1
    concurrency: Annotated[int, Field(ge=1, le=256)] = 4
    per_second: _PerSecond | None = None
    timeout: _Duration = timedelta(seconds=60)
    version: str = ""

    @model_validator(mode="after")
    def _answering(self) -> Self:
        if self.target.http is not None and self.target.http.answer is None:
            raise ValueError("target: http: answer is missing: the JSONPath of the answer, such as $.answer")
        if self.retriever is not None and self.retriever.http is not None and self.retriever.http.documents is None:
            raise ValueError("retriever: http: documents is missing: the JSONPath of the documents' texts")
        return self

    @model_validator(mode="after")
    def _scheduled(self) -> Self:
        if self.every is not None and self.at is not None:
            raise ValueError("give every or at, not both")
        if self.every is not None and self.every < _LEAST_APART:
            raise ValueError("every must be 1m or longer")
        if not timedelta() < self.timeout <= timedelta(hours=1):
            raise ValueError("timeout must be above 0 and at most 1h")
        return self


class ProbesForm(_Form):
    probes: Annotated[list[ProbeForm], Field(min_length=1)]

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        (name, number) = Counter(probe.name for probe in self.probes).most_common(1)[0]
        if number > 1:
            raise ValueError(f"two probes are called {name!r}")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A probe: which chatbot to ask which golden set, how and when.

    `retriever` is asked with question and reference for the documents to judge with. `every` and `at` (a time of day
    in UTC) say when it runs by itself; with neither it runs when somebody starts it. `timeout` is that of an answer.
    """

    name: str
    app: str
    environment: str
    golden: str
    target: TargetForm
    retriever: TargetForm | None
    every: timedelta | None
    at: time | None
    turns: int
    repeats: int
    concurrency: int
    per_second: float | None
    timeout: timedelta
    version: str

    @property
    def scheduled(self) -> bool:
        return self.every is not None or self.at is not None

    def open_target(self) -> Target:
        """Opens the chatbot. Raises `WrongSettings` if a secret or a function is missing."""
        return self._opened(self.target)

    def open_retriever(self) -> Target | None:
        """Opens the retriever, if the probe names one; like `open_target`."""
        return None if self.retriever is None else self._opened(self.retriever)

    def _opened(self, form: TargetForm) -> Target:
        try:
            return form.target(timeout=self.timeout.total_seconds(), per_second=self.per_second)
        except WrongSettings as error:
            raise WrongSettings(f"the probe {self.name!r}: {error}") from None


def load_probes(path: Path) -> Mapping[str, Probe]:
    """The probes of a file, by name.

    Raises:
        WrongSettings: the file cannot be read or is wrong; the message has one line for each error.
    """
    return parse_probes(read_text(path, of="the probes"), name=str(path))


def parse_probes(text: str, *, name: str) -> Mapping[str, Probe]:
    """Like `load_probes`, but from text; messages call the file `name`."""
    form, _ = parse_form(text, ProbesForm, name=name)
    fields = Probe.__slots__
    return {one.name: Probe(**{field: getattr(one, field) for field in fields}) for one in form.probes}
