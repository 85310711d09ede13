"""Matchers, silences and inhibition, in Alertmanager's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Literal, TypeAlias, cast, get_args

from pydantic_core import SchemaError, SchemaValidator, core_schema

Operator: TypeAlias = Literal["=", "!=", "=~", "!~"]

LONGEST_PATTERN = 500
_LABEL = r"[^=!~\s\"]+"
_MATCHER = re.compile(rf"\s*({_LABEL}?)\s*(=~|!~|!=|=)\s*(.*?)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matcher:
    """`app="shop"`, `severity!="info"`, `topic=~"refund.*"`, `topic!~"…"`; a pattern has to match the whole value.

    A label that an alert does not have counts as empty. Patterns are in RE2's syntax, as Alertmanager's: without look-
    around and back references, so that matching takes time in proportion to the value, whatever the pattern.

    Raises:
        ValueError: the label cannot be written in a matcher; the pattern is no regular expression, or too long.
    """

    label: str
    operator: Operator
    value: str

    def __post_init__(self) -> None:
        if re.fullmatch(_LABEL, self.label) is None:
            raise ValueError(f"{self.label!r} cannot name a label: no white space, quotes, =, ! or ~")
        if self.operator not in get_args(Operator):
            raise ValueError(f"{self.operator!r} is no operator; known: {', '.join(get_args(Operator))}")
        if self.operator in ("=~", "!~"):
            if len(self.value) > LONGEST_PATTERN:
                raise ValueError(f"a pattern of more than {LONGEST_PATTERN} characters")
            try:
                _pattern(self.value)
            except SchemaError as error:
                problem = str(error).rpartition("rror: ")[2]
                raise ValueError(f"{self.value!r} is no regular expression: {problem}") from None

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether `labels` has it so."""
        value = labels.get(self.label, "")
        if self.operator in ("=", "!="):
            return (value == self.value) is (self.operator == "=")
        return _pattern(self.value).isinstance_python(value) is (self.operator == "=~")

    def __str__(self) -> str:
        escaped = self.value.replace("\\", "\\\\").replace('"', '\\"')
        return f'{self.label}{self.operator}"{escaped}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Alerts that all `matchers` match are told of to nobody from `starts_at` until `ends_at`."""

    id: str
    matchers: tuple[Matcher, ...]
    starts_at: datetime
    ends_at: datetime
    created_by: str
    comment: str = ""

    def holds(self, labels: Mapping[str, str], now: datetime) -> bool:
        """Whether it silences an alert with `labels` at `now`."""
        return self.starts_at <= now < self.ends_at and all_match(self.matchers, labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inhibition:
    """While an alert that `source` matches fires, those that `target` matches are not told of.

    Only where both have the same values of the `equal` labels; a label that one of them lacks counts as the same, since
    an alert about reading has no app. Alerts that both sides match do not inhibit one another, or none would be told.
    """

    source: tuple[Matcher, ...]
    target: tuple[Matcher, ...]
    equal: tuple[str, ...] = ()

    def holds(self, source: Mapping[str, str], target: Mapping[str, str]) -> bool:
        """Whether an alert with labels `source` that fires inhibits one with labels `target`."""
        if not (all_match(self.source, source) and all_match(self.target, target)):
            return False
        if all_match(self.source, target) and all_match(self.target, source):
            return False
        return all(source[name] == target[name] for name in self.equal if name in source and name in target)


def parse_matcher(text: str) -> Matcher:
    """Reads one matcher; the value may stand in double quotes, with a backslash before a quote or backslash in it.

    Raises:
        ValueError: it is none.
    """
    match = _MATCHER.fullmatch(text)
    if match is None:
        raise ValueError(f'{text!r} is no matcher: write it as app="shop", app!="shop", app=~"shop.*" or app!~"shop.*"')
    label, operator, value = match.groups()
    if (value[:1] == '"') is not (value[1:][-1:] == '"'):
        raise ValueError(f"{text!r}: one of its quotes has no counterpart")
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = re.sub(r"\\([\\\"])", r"\1", value[1:-1])
    return Matcher(label=label, operator=cast("Operator", operator), value=value)


def all_match(matchers: Iterable[Matcher], labels: Mapping[str, str]) -> bool:
    """Whether every one of them matches."""
    return all(matcher.matches(labels) for matcher in matchers)


def silencing(silences: Sequence[Silence], labels: Mapping[str, str], now: datetime) -> Silence | None:
    """Of the silences that hold now for an alert with `labels`, the one that ends last; None where none does."""
    holding = [silence for silence in silences if silence.holds(labels, now)]
    return max(holding, key=lambda silence: silence.ends_at, default=None)


@lru_cache(maxsize=1_000)
def _pattern(text: str) -> SchemaValidator:
    """Accepts what `text` matches as a whole, by the engine of pydantic, which never backtracks."""
    _compiled(text)  # by itself first: `a)|(b` would escape from the anchors
    return _compiled(f"^(?s:{text})$")


def _compiled(pattern: str) -> SchemaValidator:
    return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
