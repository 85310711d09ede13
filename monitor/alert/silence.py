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
    """`app="shop"`, `severity!="info"`, `topic=~"refund.*"`, `topic!~"…"`; a pattern must match the whole value.

    A missing label counts as empty. Patterns use RE2's syntax, as in Alertmanager: they have no look-around and no
    back references, so that matching takes linear time for every pattern.

    Raises:
        ValueError: a matcher cannot hold the label, or the pattern is too long or not a regular expression.
    """

    label: str
    operator: Operator
    value: str

    def __post_init__(self) -> None:
        if re.fullmatch(_LABEL, self.label) is None:
            raise ValueError(f"{self.label!r} is not a label name: white space, quotes, =, ! and ~ are not allowed")
        if self.operator not in get_args(Operator):
            raise ValueError(f"{self.operator!r} is not an operator; known: {', '.join(get_args(Operator))}")
        if self.operator in ("=~", "!~"):
            if len(self.value) > LONGEST_PATTERN:
                raise ValueError(f"the pattern is longer than {LONGEST_PATTERN} characters")
            try:
                _pattern(self.value)
            except SchemaError as error:
                problem = str(error).rpartition("rror: ")[2]
                raise ValueError(f"{self.value!r} is not a regular expression: {problem}") from None

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.label, "")
        if self.operator in ("=", "!="):
            return (value == self.value) is (self.operator == "=")
        return _pattern(self.value).isinstance_python(value) is (self.operator == "=~")

    def __str__(self) -> str:
        escaped = self.value.replace("\\", "\\\\").replace('"', '\\"')
        return f'{self.label}{self.operator}"{escaped}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Suppresses notifications of alerts that all `matchers` match, from `starts_at` until before `ends_at`."""

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
    """While an alert that `source` matches fires, alerts that `target` matches cause no notification.

    Both must have the same values of the `equal` labels; a label that one of them lacks counts as the same, since an
    alert about ingestion has no app. Alerts that match both sides do not inhibit each other, or nobody would be paged.
    """

    source: tuple[Matcher, ...]
    target: tuple[Matcher, ...]
    equal: tuple[str, ...] = ()

    def holds(self, source: Mapping[str, str], target: Mapping[str, str]) -> bool:
        """Whether a firing alert with labels `source` inhibits an alert with labels `target`."""
        if not (all_match(self.source, source) and all_match(self.target, target)):
            return False
        if all_match(self.source, target) and all_match(self.target, source):
            return False
        return all(source[name] == target[name] for name in self.equal if name in source and name in target)


def parse_matcher(text: str) -> Matcher:
    """Reads one matcher; the value may be in double quotes, with a backslash before each quote or backslash in it.

    Raises:
        ValueError: `text` is not a matcher.
    """
    match = _MATCHER.fullmatch(text)
    if match is None:
        raise ValueError(
            f'{text!r} is not a matcher: write it as rule="negative-rate", app="shop", app!="shop", app=~"shop.*" or '
            'app!~"shop.*"'
        )
    label, operator, value = match.groups()
    if (value[:1] == '"') is not (value[1:][-1:] == '"'):
        raise ValueError(f"{text!r}: a quote is not closed")
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = re.sub(r"\\([\\\"])", r"\1", value[1:-1])
    return Matcher(label=label, operator=cast("Operator", operator), value=value)


def all_match(matchers: Iterable[Matcher], labels: Mapping[str, str]) -> bool:
    """Whether every matcher matches `labels`."""
    return all(matcher.matches(labels) for matcher in matchers)


def silencing(silences: Sequence[Silence], labels: Mapping[str, str], now: datetime) -> Silence | None:
    """The silence that holds for an alert with `labels` at `now` and ends last; None if there is none."""
    holding = [silence for silence in silences if silence.holds(labels, now)]
    return max(holding, key=lambda silence: silence.ends_at, default=None)


@lru_cache(maxsize=1_000)
def _pattern(text: str) -> SchemaValidator:
    """Matches whole values with pydantic's engine, which never backtracks."""
    _compiled(text)  # alone first: `a)|(b` would escape from the anchors
    return _compiled(f"^(?s:{text})$")


def _compiled(pattern: str) -> SchemaValidator:
    return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
