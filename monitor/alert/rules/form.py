"""The pydantic models of a rules file; `parameters.py` reads the parameters of the methods, `times.py` times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, timedelta, tzinfo
from typing import Annotated, Any, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, model_validator

from monitor.alert.methods import METHODS
from monitor.alert.methods.method import Method
from monitor.alert.mute import MuteTimes, Range, TimeInterval
from monitor.alert.notification import Severity
from monitor.alert.rule import LATENESS, Grouping, Rule, Step, WhenError, WhenNoData
from monitor.alert.rules import times
from monitor.alert.rules.parameters import duration
from monitor.alert.signal import ANSWER_LABELS, INGEST_LABELS, NAMES, PROBE_LABELS, Label, Signal, SignalKind
from monitor.alert.silence import Inhibition, Matcher, parse_matcher
from monitor.alert.wording import http_url

_METHOD_OF = {
    SignalKind.NO_DATA: "absence",
    SignalKind.RANKS: "shift",
    SignalKind.TRUE_RATE: "rate",
    SignalKind.PROBE: "decline",
}
_PAGE = re.compile(r"(?:[\w-][\w.-]*/)*[\w-][\w.-]*(?:#[\w-]+)?")
_TAKEN = (*ANSWER_LABELS, *INGEST_LABELS, *PROBE_LABELS, "rule", "severity", "alertname")


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
    known = ", ".join(f"{{{kind}: …}}" for kind in NAMES)
    known += ", no_data, unscored_rate, dead_letters, lag or ledger_imbalance"
    if isinstance(value, dict) and len(value) == 1:
        ((kind, name),) = value.items()
        if kind in NAMES and isinstance(name, str):
            if name not in NAMES[kind]:
                raise ValueError(f"there is no {{{kind}: {name}}}; known: {', '.join(NAMES[SignalKind(kind)])}")
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


def _some(rules: list[RuleForm]) -> list[RuleForm]:
    if not rules:
        raise ValueError("has no rules, so nobody would ever be alerted")
    return rules


def _runbook(text: str) -> str:
    if http_url(text) is None and _PAGE.fullmatch(text) is None:
        raise ValueError(
            "must be an http or https URL, or a page of the documentation such as docs/on-call/runbooks.md#true-rate"
        )
    return text


def _a_minute_to_a_week(length: timedelta) -> timedelta:
    if length < timedelta(minutes=1):
        raise ValueError("must be 1m or longer: somebody needs the time to acknowledge")
    if length > timedelta(days=7):
        raise ValueError("must be 7d or shorter")
    return length


_Text = Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(_storable)]
_Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_storable), AfterValidator(_one_line)]
_Texts = Annotated[list[_Text], BeforeValidator(_listed), Field(min_length=1), AfterValidator(_without_repeats)]
_By = Annotated[list[Label], BeforeValidator(_listed), AfterValidator(_without_repeats)]
_Names = Annotated[list[_Name], BeforeValidator(_listed), AfterValidator(_without_repeats)]
_Duration = Annotated[timedelta, PlainValidator(duration)]
_Signal = Annotated[Signal, PlainValidator(_signal)]
_Weekdays = Annotated[Range, PlainValidator(times.weekdays)]
_DaysOfMonth = Annotated[Range, PlainValidator(times.days_of_month)]
_Months = Annotated[Range, PlainValidator(times.months)]
_Years = Annotated[Range, PlainValidator(times.years)]
_MinuteOfDay = Annotated[int, PlainValidator(times.minute_of_day)]
_Location = Annotated[tzinfo, PlainValidator(times.location)]
_Matchers = Annotated[list[Annotated[Matcher, PlainValidator(_matcher)]], BeforeValidator(_listed), Field(min_length=1)]


Intervals: TypeAlias = Mapping[str, tuple[TimeInterval, ...]]  # by name


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


class TimesForm(_Form):
    start_time: _MinuteOfDay
    end_time: _MinuteOfDay

    @model_validator(mode="after")
    def _ends_later(self) -> Self:
        if self.end_time <= self.start_time:
            raise ValueError("end_time must be later than start_time: write a night as two, to 24:00 and from 00:00")
        return self


class IntervalForm(_Form):
    times: list[TimesForm] = Field(default_factory=list)
    weekdays: list[_Weekdays] = Field(default_factory=list)
    days_of_month: list[_DaysOfMonth] = Field(default_factory=list)
    months: list[_Months] = Field(default_factory=list)
    years: list[_Years] = Field(default_factory=list)
    location: _Location = UTC

    def interval(self) -> TimeInterval:
        return TimeInterval(
            times=tuple((span.start_time, span.end_time) for span in self.times),
            weekdays=tuple(self.weekdays),
            days_of_month=tuple(self.days_of_month),
            months=tuple(self.months),
            years=tuple(self.years),
            location=self.location,
        )


class NamedIntervalsForm(_Form):
    name: _Name
    time_intervals: Annotated[list[IntervalForm], Field(min_length=1)]


class StepForm(_Form):
    after: Annotated[_Duration, AfterValidator(_a_minute_to_a_week)]
    receivers: _Texts

    def step(self) -> Step:
        return Step(after=self.after, receivers=tuple(self.receivers))


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
    escalation: list[StepForm] = Field(default_factory=list)
    runbook: Annotated[_Text, AfterValidator(_runbook)] | None = None
    owner: _Name | None = None
    mute_time_intervals: _Names = Field(default_factory=list)
    active_time_intervals: _Names = Field(default_factory=list)

    @property
    def chosen_method(self) -> str:
        """The named method, or the default for the signal."""
        if self.method is not None:
            return self.method
        return "threshold" if self.signal.is_of_questions else _METHOD_OF.get(self.signal.kind, "threshold")

    @property
    def parameters(self) -> dict[str, Any]:
        """The keys that belong to the method."""
        given = dict(self.model_extra or {})
        # of a run there is always an answer, or none came: it needs no number of questions
        return (
            {"min_samples": 1, **given} if self.signal.is_of_questions and self.chosen_method == "threshold" else given
        )

    def rule(self, method: Method, intervals: Intervals, *, docs_url: str | None) -> Rule:
        """The rule; a runbook that is a page of the documentation is looked for under `docs_url`."""
        page = self.runbook if self.runbook is not None and http_url(self.runbook) is None else None
        by = self.signal.labels if self.signal.is_of_probe else self.signal.labels[:1]  # runs have nothing in common
        return Rule(
            name=self.name,
            signal=self.signal,
            method=method,
            selector={label: tuple(values) for label, values in self.selector.items()},
            by=tuple(by if self.by is None else self.by),
            lateness=self.lateness,
            for_=self.for_,
            keep_firing_for=self.keep_firing_for,
            no_data=self.no_data,
            error=self.error,
            severity=self.severity,
            labels=self.labels,
            annotations=self.annotations,
            receivers=None if self.receivers is None else tuple(self.receivers),
            escalation=tuple(step.step() for step in self.escalation),
            runbook=_address(page, docs_url) if docs_url and page is not None else self.runbook,
            owner=self.owner,
            mute=MuteTimes(
                muted={name: intervals[name] for name in self.mute_time_intervals},
                active={name: intervals[name] for name in self.active_time_intervals},
            ),
        )


def _address(page: str, docs_url: str) -> str:
    """The page below `docs_url`, or where `{page}` in that stands for its name, as in the address of a built site."""
    if "{page}" not in docs_url:
        return f"{docs_url.rstrip('/')}/{page}"
    path, sharp, section = page.partition("#")
    return docs_url.replace("{page}", path.removeprefix("docs/").removesuffix(".md")) + sharp + section


KEYS = tuple(field.alias or name for name, field in RuleForm.model_fields.items())  # without the method's parameters


class RulesForm(_Form):
    """The whole file."""

    grouping: GroupingForm = GroupingForm()
    inhibit: list[InhibitForm] = Field(default_factory=list)
    time_intervals: list[NamedIntervalsForm] = Field(default_factory=list)
    rules: Annotated[list[RuleForm], AfterValidator(_some)]

    @property
    def intervals(self) -> Intervals:
        """The named time intervals."""
        return {named.name: tuple(entry.interval() for entry in named.time_intervals) for named in self.time_intervals}
