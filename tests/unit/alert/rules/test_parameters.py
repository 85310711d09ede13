from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Literal

import pytest

from monitor.alert.methods.method import WrongParameter
from monitor.alert.methods.threshold import Threshold
from monitor.alert.rules.parameters import WrongParameters, parse_parameters
from monitor.alert.target import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    length: timedelta
    factor: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    name: ClassVar[str] = "sample"

    target: Target
    window: timedelta = timedelta(minutes=5)
    least: int = 1
    share: float | None = None
    sure: bool = False
    kind: Literal["page", "ticket"] | None = None
    inner: tuple[Inner, ...] = ()

    def __post_init__(self) -> None:
        if self.least > 99:
            raise WrongParameter("least", "is more than 99")


def problems(**values):
    with pytest.raises(WrongParameters) as caught:
        parse_parameters(Sample, values)
    return [(".".join(map(str, path)), problem) for path, problem in caught.value.problems]


def test_every_kind_of_field_is_read_by_its_type():
    read = parse_parameters(
        Sample,
        {
            "target": "baseline + 1pp",
            "window": "1h30m",
            "least": 3,
            "share": 1,
            "sure": True,
            "kind": "page",
            "inner": [{"length": "5m"}, {"length": 0, "factor": 2}],
        },
    )
    assert read == Sample(
        target=Target(margin=0.01),
        window=timedelta(minutes=90),
        least=3,
        share=1.0,
        sure=True,
        kind="page",
        inner=(Inner(length=timedelta(minutes=5)), Inner(length=timedelta(), factor=2.0)),
    )
    assert isinstance(read.share, float)


def test_the_rest_has_defaults():
    assert parse_parameters(Sample, {"target": 0.3}) == Sample(target=Target(value=0.3))


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("fro", 1, "unknown key"),
        ("name", "x", "unknown key"),
        ("target", True, "must be a number"),
        ("target", "base", "is not a target"),
        ("target", [1], "must be a number"),
        ("target", float("nan"), "is not a target"),
        ("target", 10**400, "is too large"),
        ("window", 5, "is not a duration"),
        ("window", "5", "is not a duration"),
        ("window", True, "is not a duration"),
        ("window", None, "is not a duration"),
        ("least", 1.0, "must be a whole number"),
        ("least", True, "must be a whole number"),
        ("least", "1", "must be a whole number"),
        ("least", 10**400, "is too large"),
        ("least", 100, "is more than 99"),
        ("share", "x", "must be a number"),
        ("share", float("inf"), "must be finite"),
        ("share", 10**400, "is too large"),
        ("sure", 1, "must be true or false"),
        ("kind", "call", "must be one of page, ticket"),
        ("kind", ["page"], "must be one of page, ticket"),
        ("inner", {"length": "5m"}, "must be a list"),
        ("inner", ["5m"], "must be a mapping"),
    ],
)
def test_what_is_wrong_is_named(name, value, problem):
    ((path, message),) = problems(**{"target": 0.3, name: value})
    assert path.startswith(name)
    assert problem in message


def test_all_problems_are_listed_with_their_paths():
    found = problems(window="x", inner=[{"length": "5m"}, {"length": "5", "factor": "y", "more": 1}, {}])
    assert [path for path, _ in found] == [
        "target",
        "window",
        "inner.1.more",
        "inner.1.length",
        "inner.1.factor",
        "inner.2.length",
    ]
    assert found[0][1] == found[-1][1] == "is missing"


def test_a_mistyped_key_gets_a_suggestion():
    with pytest.raises(WrongParameters) as caught:
        parse_parameters(Threshold, {"above": 0.3, "windw": "5m", "severty": "x", "groups": 1}, elsewhere=["severity"])
    *similar, (path, other) = caught.value.problems
    assert similar == [
        (("windw",), "unknown key; did you mean window?"),
        (("severty",), "unknown key; did you mean severity?"),
    ]
    assert path == ("groups",)
    assert other.startswith("unknown key; known: above, below, ")
