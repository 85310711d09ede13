"""Parses the filters of the interaction list from its address, leniently, since people also write it by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import TypeVar

from monitor.assess.explain import METRIC_NAMES
from monitor.core.assessment_json import storable
from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason, Unscored, Verdict
from monitor.core.reason_words import DIAGNOSIS_WORDS, REASON_WORDS, UNSCORED_WORDS, diagnosis_name
from monitor.store.interaction.filters import (
    ExactValues,
    Filters,
    Labelled,
    MetricRange,
    RefusalCorrectness,
    parsed_tag,
)
from monitor.store.tables.interactions import METRICS
from monitor.web.interaction.overview_figures import DEFAULT_SPAN, SPANS

MAX_CHARS = 1_000  # of a value
NEGATIVE = "negative"
VERDICTS: Mapping[str, str] = {
    NEGATIVE: "negative: refusal or self-generated",
    Verdict.GROUNDED: "grounded",
    Verdict.REFUSAL: "refusal",
    Verdict.SELF_GENERATED: "self-generated",
}
REFUSALS: Mapping[str, str] = {RefusalCorrectness.CORRECT: "correct refusal", RefusalCorrectness.OVER: "over-refusal"}
LABELLED: Mapping[str, str] = {
    Labelled.NO: "not labelled",
    Labelled.YES: "labelled",
    Labelled.WRONG: "labelled as another verdict",
}
SUSPICIOUS: Mapping[str, str] = {"yes": "look at first: rare for its app"}
ANY = "any"
LACKING = frozenset(reason for reason in Unscored if reason.lacking)
UNSCORED: Mapping[str, str] = {ANY: "turns that cannot be scored"} | {
    reason.value: f"turns that {UNSCORED_WORDS[reason]}" for reason in Unscored
}
REASONS: Mapping[str, str] = {reason.value: REASON_WORDS[reason] for reason in Reason}
RETRIEVER, GENERATOR = "retriever", "generator"
DIAGNOSES: Mapping[str, str] = {RETRIEVER: "retriever at fault", GENERATOR: "generator at fault"} | {
    its.value: f"{diagnosis_name(its)}: {DIAGNOSIS_WORDS[its]}" for its in Diagnosis
}
METRIC_WORDS: Mapping[str, str] = {name: f"{name.upper()}: {METRIC_NAMES[name]}" for name in METRICS}
# All fields of the form, in the order of their chips.
FIELDS = (
    *("span", "since", "until", "app", "environment", "model", "topic", "verdict", "reason", "diagnosis"),
    *("refusal", "metric", "low", "high", "labelled", "suspicious", "unscored", "conversation", "trace"),
    *("tag", "words"),
)
_ABOUT_ANSWERS = {
    "verdict": "Verdict",
    "reason": "Reason",
    "diagnosis": "Diagnosis",
    "refusal": "Refusal",
    "metric": "Metric",
    "low": "At least",
    "high": "At most",
    "labelled": "Labels",
    "suspicious": "Look at first",
    "words": "Words",
}
_FIRST = datetime(1, 1, 2, tzinfo=UTC)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """An active filter in words, and the query without it."""

    text: str
    without: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """The fields as typed, the filters that they mean, and the faults in them."""

    fields: Mapping[str, str]
    filters: Filters
    faults: tuple[str, ...]

    @property
    def chips(self) -> tuple[Chip, ...]:
        """The active filters, without the span."""
        return tuple(_chips(self))


def parse_query(pairs: Iterable[tuple[str, str]], now: datetime) -> ListQuery:
    """Parses the query of an address; fields that cannot be read are left out and named among the faults.

    The last of several values counts, but both negative verdicts together mean `NEGATIVE`.
    """
    pairs = list(pairs)
    query = dict(pairs)
    if {value for name, value in pairs if name == "verdict"} == {v.value for v in Verdict if v.negative}:
        query["verdict"] = NEGATIVE
    fields = {name: storable(query[name].strip())[:MAX_CHARS] for name in FIELDS if query.get(name, "").strip()}
    faults: list[str] = []

    def read(name: str, what: str, parse: Callable[[str], _T]) -> _T | None:
        if name not in fields:
            return None
        try:
            return parse(fields[name])
        except (ValueError, OverflowError):
            faults.append(f"{what}: “{fields[name][:100]}” is not a valid value")
            del fields[name]
            return None

    tag = read("tag", "Tag", parsed_tag)
    exact = ExactValues(conversation=fields.get("conversation"), trace=fields.get("trace"), tag=tag)
    since, until = read("since", "From", _moment), read("until", "To", _moment)
    span = read("span", "Span", lambda name: _known(name, SPANS)) or DEFAULT_SPAN
    end = until or now
    start = since or max(end, _FIRST + SPANS[span].length) - SPANS[span].length
    always = bool(exact) and since is None and "span" not in fields  # one customer's answers have no usual span
    verdict = read("verdict", "Verdict", lambda name: _known(name, VERDICTS))
    metric = read("metric", "Metric", lambda name: _known(name, METRIC_WORDS))
    low, high = read("low", "At least", _figure), read("high", "At most", _figure)
    if metric is None and (low is not None or high is not None):
        faults.append("At least, at most: choose a metric")
    filters = Filters(
        since=_FIRST if always else start,
        until=end,
        app=fields.get("app"),
        environment=fields.get("environment"),
        model=fields.get("model"),
        topic=fields.get("topic"),
        verdicts=_verdicts(verdict),
        reason=read("reason", "Reason", Reason),
        diagnoses=_diagnoses(read("diagnosis", "Diagnosis", lambda name: _known(name, DIAGNOSES))),
        refusal=read("refusal", "Refusal", RefusalCorrectness),
        metric=MetricRange(metric=metric, low=low, high=high) if metric and not low is high is None else None,
        labelled=read("labelled", "Labels", Labelled),
        suspicious=read("suspicious", "Look at first", lambda name: _known(name, SUSPICIOUS)) is not None,
        unscored=_reasons(read("unscored", "Not scored", lambda name: _known(name, UNSCORED))),
        words=fields.get("words"),
        exact=exact,
    )
    if filters.unscored:
        faults += [f"{_ABOUT_ANSWERS[name]}: turns without scores are not filtered by this" for name in _about(fields)]
    if since is None and until is None and not always:
        fields["span"] = span
    return ListQuery(fields=fields, filters=filters, faults=tuple(faults))


def _chips(query: ListQuery) -> Iterator[Chip]:
    words = {
        "verdict": VERDICTS,
        "reason": REASONS,
        "diagnosis": DIAGNOSES,
        "refusal": REFUSALS,
        "labelled": LABELLED,
        "suspicious": SUSPICIOUS,
        "unscored": UNSCORED,
    }
    for name, value in query.fields.items():
        if name in {"span", "low", "high"} or (name == "metric" and query.filters.metric is None):
            continue
        removed = {"metric", "low", "high"} if name == "metric" else {name}
        text = words[name][value] if name in words else f"{name}: {value}"
        if (metric := query.filters.metric) is not None and name == "metric":
            text = f"{metric.metric.upper()} {_bounds(metric)}"
        without = {field: typed for field, typed in query.fields.items() if field not in removed}
        yield Chip(text=text, without=without)


def _bounds(metric: MetricRange) -> str:
    if metric.low is None:
        return f"at most {metric.high:g}"
    return f"at least {metric.low:g}" if metric.high is None else f"{metric.low:g} to {metric.high:g}"


def _reasons(name: str | None) -> frozenset[Unscored]:
    return frozenset(() if name is None else LACKING if name == ANY else (Unscored(name),))


def _about(fields: dict[str, str]) -> list[str]:
    """Removes the fields that only answers with a verdict have, and returns their names."""
    return [name for name in _ABOUT_ANSWERS if fields.pop(name, None) is not None]


def _verdicts(name: str | None) -> frozenset[Verdict]:
    if name is None:
        return frozenset()
    return frozenset(v for v in Verdict if v.negative) if name == NEGATIVE else frozenset({Verdict(name)})


def _diagnoses(name: str | None) -> frozenset[Diagnosis]:
    if name == RETRIEVER:
        return frozenset(its for its in Diagnosis if its.of_retriever)
    if name == GENERATOR:
        return frozenset(its for its in Diagnosis if its.of_generator)
    return frozenset() if name is None else frozenset({Diagnosis(name)})


def _known(name: str, known: Mapping[str, object]) -> str:
    if name not in known:
        raise ValueError(name)
    return name


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    if moment < _FIRST:
        raise ValueError(text)
    return moment


def _figure(text: str) -> float:
    value = float(text)
    if not isfinite(value) or abs(value) > 1:
        raise ValueError(text)
    return value
