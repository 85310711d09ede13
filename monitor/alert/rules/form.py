"""The pydantic models of a rules file; `parameters.py` reads the parameters of the methods."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator

from monitor.alert.methods import METHODS
from monitor.alert.methods.method import Method
from monitor.alert.notification import Severity
from monitor.alert.rule import LATENESS, Grouping, Rule, WhenError, WhenNoData
from monitor.alert.rules.parameters import duration
from monitor.alert.signal import ANSWER_LABELS, INGEST_LABELS, NAMES, Label, Signal, SignalKind
from monitor.alert.silence import Inhibition, Matcher, parse_matcher

_METHOD_OF = {SignalKind.NO_DATA: "absence", SignalKind.RANKS: "shift", SignalKind.TRUE_RATE: "rate"}
_TAKEN = (*ANSWER_LABELS, *INGEST_LABELS, "rule", "severity", "alertname")


def _storable(text: str) -> str:
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("contains a character that cannot be stored (U+0000 or half of a surrogate pair)")
    return text


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _without_repeats(values: list[str]) -> list[str]:
    if repeated := next((value for value in values if values.count(value) > 1), None):
        raise ValueError(f"{repeated!r} is listed twice")
    return values


def _one_line(name: str) -> str:
    if not name.isprintable() or name != name.strip():
        raise ValueError("must be one line of printable text without leading or trailing spaces")
    return name


def _known_method(method: str) -> str:
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
    return method


def _own_labels(labels: dict[str, str]) -> dict[str, str]:
    if taken := next((label for label in _TAKEN if label in labels), None):
        raise ValueError(f"{taken!r} is a label that monitor sets itself; choose another name")
    for label in labels:
        Matcher(label=label, operator="=", value="")  # raises if no matcher, and so no silence, could name the label
    return labels


def _signal(value: object) -> Signal:
    known = "{rate: …}, {mean: …}, {ranks: …}, {true_rate: …}, no_data, dead_letters, lag or ledger_imbalance"
    if isinstance(value, dict) and len(value) == 1:
        ((kind, name),) = value.items()
        if kind in NAMES and isinstance(name, str):
            if name not in NAMES[kind]:
                raise ValueError(f"unknown {kind} {name!r}; known: {', '.join(NAMES[SignalKind(kind)])}")
            return Signal(kind=SignalKind(kind), name=name)
    elif isinstance(value, str) and value in set(SignalKind) - set(NAMES):
        return Signal(kind=SignalKind(value))
    raise ValueError(f"{value!r} is not a signal; known: {known}")


def _matcher(value: object) -> Matcher:
    if not isinstance(value, str):
        raise ValueError('must be a matcher such as app="shop"')  # noqa: TRY004  pydantic expects this one
    return parse_matcher(value)


def _at_least_a_minute(length: timedelta) -> timedelta:
    if length < timedelta(minutes=1):
        raise ValueError("must be 1m or longer: people are paged again this often")
    return length


_Text = Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(_storable)]
_Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_storable), AfterValidator(_one_line)]
_Texts = Annotated[list[_Text], BeforeValidator(_listed), Field(min_length=1), AfterValidator(_without_repeats)]
_By = Annotated[list[Label], BeforeValidator(_listed), AfterValidator(_without_repeats)]
_Names = Annotated[list[_Name], BeforeValidator(_listed), AfterValidator(_without_repeats)]
_Duration = Annotated[timedelta, PlainValidator(duration)]
_Signal = Annotated[Signal, PlainValidator(_signal)]
_Matchers = Annotated[list[Annotated[Matcher, PlainValidator(_matcher)]], BeforeValidator(_listed), Field(min_length=1)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class GroupingForm(_Form):
    by: _Names = Field(default_factory=lambda: [*Grouping().by])
    wait: _Duration = Grouping().wait
    interval: _Duration = Grouping().interval
    repeat: Annotated[_Duration, AfterValidator(_at_least_a_minute)] = Grouping().repeat

    def grouping(self) -> Grouping:
        return Grouping(by=tuple(self.by), wait=self.wait, interval=self.interval, repeat=self.repeat)


class InhibitForm(_Form):
    source: _Matchers
    target: _Matchers
    equal: _Names = Field(default_factory=list)

    def inhibition(self) -> Inhibition:
        return Inhibition(source=tuple(self.source), target=tuple(self.target), equal=tuple(self.equal))


class RuleForm(_Form):
    """The fields of `Rule`. Other keys are parameters of the method."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    name: _Name
    signal: _Signal
    method: Annotated[str, AfterValidator(_known_method)] | None = None
    selector: dict[Label, _Texts] = Field(default_factory=dict)
    by: _By | None = None
    lateness: _Duration = LATENESS
    for_: _Duration = Field(timedelta(), alias="for")
    keep_firing_for: _Duration = timedelta()
    no_data: WhenNoData = "keep_last"
    error: WhenError = "error"
    severity: Severity = "warning"
    labels: Annotated[dict[_Name, _Text], AfterValidator(_own_labels)] = Field(default_factory=dict)
    annotations: dict[_Name, _Text] = Field(default_factory=dict)
    receivers: _Texts | None = None

    @property
    def chosen_method(self) -> str:
        """The named method, or the default for the signal."""
        return self.method or _METHOD_OF.get(self.signal.kind, "threshold")

    @property
    def parameters(self) -> dict[str, Any]:
        """The keys that belong to the method."""
        return dict(self.model_extra or {})

    def rule(self, method: Method) -> Rule:
        return Rule(
            name=self.name,
            signal=self.signal,
            method=method,
            selector={label: tuple(values) for label, values in self.selector.items()},
            by=tuple(self.signal.labels[:1] if self.by is None else self.by),
            lateness=self.lateness,
            for_=self.for_,
            keep_firing_for=self.keep_firing_for,
            no_data=self.no_data,
            error=self.error,
            severity=self.severity,
            labels=self.labels,
            annotations=self.annotations,
            receivers=None if self.receivers is None else tuple(self.receivers),
        )


KEYS = tuple(field.alias or name for name, field in RuleForm.model_fields.items())  # without the method's parameters


class RulesForm(_Form):
    """The whole file."""

    grouping: GroupingForm = GroupingForm()
    inhibit: list[InhibitForm] = Field(default_factory=list)
    rules: Annotated[list[RuleForm], Field(min_length=1)]
