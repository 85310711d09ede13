"""Turns the keys of a rule into the fields of its method: a field's type decides how its value is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import timedelta
from math import isfinite
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from monitor.alert.methods.method import WrongParameter
from monitor.alert.target import Target, parse_target
from monitor.core.text.duration import parse_duration
from monitor.core.yaml.problems import Problem, unknown_key

T = TypeVar("T")
_LARGEST = 2**53  # up to here every whole number is an exact float


class WrongParameters(Exception):
    """Some values are unknown, missing or wrong; `problems` lists each with its path."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(f"{'.'.join(map(str, path))}: {problem}" for path, problem in problems))
        self.problems = problems


def parse_parameters(of: type[T], values: Mapping[str, Any], *, elsewhere: Collection[str] = ()) -> T:
    """Builds the dataclass `of` from `values`, with defaults for the missing fields.

    `elsewhere` lists keys that are allowed too and read by others; they only serve as suggestions for mistyped keys.

    Raises:
        WrongParameters: some values are unknown, missing or wrong.
    """
    hints = get_type_hints(of)
    known = {f.name: f for f in fields(of)}  # type: ignore[arg-type]  # every T here is a dataclass
    keys = (*known, *elsewhere)
    unknown: list[Problem] = [((name,), unknown_key(name, keys)) for name in values if name not in known]
    problems: list[Problem] = []
    given: dict[str, Any] = {}
    for name, field in known.items():
        if name in values:
            try:
                given[name] = _read(hints[name], values[name])
            except WrongParameters as error:
                problems += [((name, *path), problem) for path, problem in error.problems]
            except ValueError as error:
                problems.append(((name,), str(error)))
        elif field.default is MISSING and field.default_factory is MISSING:
            problems.append(((name,), "is missing"))
    if problems:
        raise WrongParameters(unknown + problems)
    try:
        made = of(**given)
    except WrongParameter as error:
        raise WrongParameters([*unknown, ((error.field,), error.problem)]) from None
    if unknown:
        raise WrongParameters(unknown)
    return made


def duration(value: object) -> timedelta:
    """Reads a duration in Prometheus's notation, or a bare 0.

    Raises:
        ValueError: `value` is not a duration.
    """
    if isinstance(value, str) or (value == 0 and not isinstance(value, bool)):
        return parse_duration(str(value))
    raise ValueError(f"{value!r} is not a duration: write it as 30s, 5m, 1h30m or 1d")


def _read(hint: Any, value: Any) -> Any:
    origin, choices = get_origin(hint), get_args(hint)
    if origin is tuple:
        if not isinstance(value, list):
            raise ValueError("must be a list")
        return tuple(_each(choices[0], value))
    if NoneType in choices:
        return _read(next(choice for choice in choices if choice is not NoneType), value)
    if is_dataclass(hint) and hint is not Target:
        if not isinstance(value, dict):
            raise ValueError("must be a mapping of keys to values")
        return parse_parameters(hint, value)  # type: ignore[arg-type]  # is_dataclass does not narrow to a type
    if origin is Literal:
        return _chosen(choices, value)
    return _single(hint, value)


def _chosen(choices: tuple[Any, ...], value: Any) -> Any:
    if value not in choices:
        raise ValueError(f"must be one of {', '.join(map(str, choices))}")
    return value


def _each(hint: Any, values: list[Any]) -> list[Any]:
    read, problems = [], []
    for place, value in enumerate(values):
        try:
            read.append(_read(hint, value))
        except WrongParameters as error:
            problems += [((place, *path), problem) for path, problem in error.problems]
        except ValueError as error:
            problems.append(((place,), str(error)))
    if problems:
        raise WrongParameters(problems)
    return read


def _single(hint: Any, value: Any) -> Any:
    if hint is timedelta:
        return duration(value)
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ValueError("is too large")
    if hint is Target:
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ValueError("must be a number, `baseline + 1pp` or `max(0.30, baseline + 15pp)`")
        return parse_target(value)
    expected = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}[hint]
    accepted = (int, float) if hint is float else hint
    if not isinstance(value, accepted) or (isinstance(value, bool) and hint is not bool):
        raise ValueError(f"must be {expected}")
    if hint is float and not isfinite(value):
        raise ValueError("must be finite")
    return float(value) if hint is float else value
