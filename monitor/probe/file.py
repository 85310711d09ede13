"""Reads a file of probes: YAML, then the form, then probes; every error names the file, the line and the column."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import time, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, model_validator

from monitor.alert.rules.parameters import duration
from monitor.core.errors import WrongSettings
from monitor.core.yaml.form import located, parse_form, read_text
from monitor.core.yaml.marked import MarkedYaml
from monitor.probe.golden import SET_NAME
from monitor.probe.target import Target
from monitor.probe.targets.form import TargetForm

_LEAST_APART = timedelta(minutes=1)
_APP = re.compile(r"[^\s\x00-\x1f][^\x00-\x1f]{0,199}\Z")


def _time_of_day(value: object) -> time:
    try:
        at = time.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        at = None
    if at is None or at.tzinfo is not None:
        raise ValueError('must be a time of day in UTC, in quotes, such as "06:30"')
    return at


def _a_minute_or_more(length: timedelta) -> timedelta:
    if length < _LEAST_APART:
        raise ValueError("must be 1m or longer")
    return length


def _up_to_an_hour(length: timedelta) -> timedelta:
    if not timedelta() < length <= timedelta(hours=1):
        raise ValueError("must be above 0 and at most 1h")
    return length


def _name(text: str) -> str:
    if not re.fullmatch(SET_NAME, text):
        raise ValueError("must have 1 to 100 characters, none of them a slash or a control character, no space first")
    return text


def _app(text: str) -> str:
    if not _APP.match(text):
        raise ValueError("must have 1 to 200 characters, none of them a control character, no space first")
    return text


def _answering(target: TargetForm) -> TargetForm:
    if target.http is not None and target.http.answer is None:
        raise ValueError("http.answer is missing: the JSONPath of the answer, such as $.answer")
    return target


def _retrieving(retriever: TargetForm) -> TargetForm:
    if retriever.http is not None and retriever.http.documents is None:
        raise ValueError("http.documents is missing: the JSONPath of the documents' texts")
    return retriever


_Duration = Annotated[timedelta, PlainValidator(duration)]
_PerSecond = Annotated[
    float, BeforeValidator(lambda n: float(n) if type(n) is int else n), Field(ge=0.001, allow_inf_nan=False)
]
_Name = Annotated[str, AfterValidator(_name)]
_App = Annotated[str, AfterValidator(_app)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ProbeForm(_Form):
    name: _Name
    app: _App
    environment: _Name = "production"
    golden: _Name
    target: Annotated[TargetForm, AfterValidator(_answering)]
    retriever: Annotated[TargetForm, AfterValidator(_retrieving)] | None = None
    every: Annotated[_Duration, AfterValidator(_a_minute_or_more)] | None = None
    at: Annotated[time, PlainValidator(_time_of_day)] | None = None
    turns: Annotated[int, Field(ge=1, le=20)] = 1
    repeats: Annotated[int, Field(ge=1, le=9)] = 1
    concurrency: Annotated[int, Field(ge=1, le=256)] = 4
    per_second: _PerSecond | None = None
    timeout: Annotated[_Duration, AfterValidator(_up_to_an_hour)] = timedelta(seconds=60)
    version: str = ""

    @model_validator(mode="after")
    def _scheduled(self) -> Self:
        if self.every is not None and self.at is not None:
            raise ValueError("give every or at, not both")
        return self


class ProbesForm(_Form):
    probes: Annotated[list[ProbeForm], Field(min_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A probe: which chatbot to ask which golden set, how and when.

    `retriever` is asked with question and reference for the documents to judge with. `every` and `at` (a time of day
    in UTC) say when it runs by itself; with neither it runs when somebody starts it. `timeout` is that of an answer.
    `place` says where one of its values stands, given the keys that lead to it.
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
    place: Callable[..., str] = field(repr=False, compare=False)

    @property
    def scheduled(self) -> bool:
        return self.every is not None or self.at is not None

    def open_target(self) -> Target:
        """Opens the chatbot. Raises `WrongSettings` if a secret or a function is missing."""
        return self._opened(self.target, "target")

    def open_retriever(self) -> Target | None:
        """Opens the retriever, if the probe names one; like `open_target`."""
        return None if self.retriever is None else self._opened(self.retriever, "retriever")

    def _opened(self, form: TargetForm, key: str) -> Target:
        timeout = self.timeout.total_seconds()
        return form.target(timeout=timeout, per_second=self.per_second, place=partial(self.place, key))


def load_probes(path: Path) -> Mapping[str, Probe]:
    """The probes of a file, by name.

    Raises:
        WrongSettings: the file cannot be read or is wrong; the message has one line for each error.
    """
    return parse_probes(read_text(path, of="the probes"), name=str(path))


def parse_probes(text: str, *, name: str) -> Mapping[str, Probe]:
    """Like `load_probes`, but from text; messages call the file `name`."""
    form, document = parse_form(text, ProbesForm, name=name)
    lines: dict[str, int] = {}
    found: dict[str, Probe] = {}
    for index, one in enumerate(form.probes):
        place = partial(_place, name, document, index)
        if one.name in found:
            raise WrongSettings(f"{place('name')}: the probe in line {lines[one.name]} has this name already")
        lines[one.name] = document.mark(("probes", index, "name")).line
        given = {key: getattr(one, key) for key in ProbeForm.model_fields}
        found[one.name] = Probe(**given, place=place)
    return found


def _place(name: str, document: MarkedYaml, index: int, *keys: int | str) -> str:
    return located(name, document, ("probes", index, *keys))
