"""The filters of a list of interactions as query parameters of the API, which are refused if they are wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import Query, Request
from pydantic import AfterValidator

from monitor.app.wiring.application import Application
from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason, Verdict
from monitor.store.interaction.filters import (
    ExactValues,
    Filters,
    Labelled,
    MetricRange,
    RefusalCorrectness,
    parsed_tag,
)
from monitor.web.base.parameters import Moment, Text

DAY, FIRST = timedelta(days=1), datetime.min.replace(tzinfo=UTC)
_SINCE = "First time, included; default: a day before `until`, or with a conversation, trace or tag any time."
_METRIC = r"(sdq|sdrd|sda|qrd|qa):(-?(1|0(\.\d{1,6})?))?\.\.(-?(1|0(\.\d{1,6})?))?"


def _checked_tag(text: str) -> str:
    parsed_tag(text)
    return text


Tag = Annotated[Text, AfterValidator(_checked_tag)]


def read_filters(
    request: Request,
    *,
    since: Annotated[Moment | None, Query(description=_SINCE)] = None,
    until: Annotated[Moment | None, Query(description="Last time, excluded; default: now.")] = None,
    app: Annotated[Text | None, Query()] = None,
    environment: Annotated[Text | None, Query()] = None,
    model: Annotated[Text | None, Query()] = None,
    topic: Annotated[Text | None, Query()] = None,
    verdict: Annotated[
        list[Verdict] | None, Query(max_length=len(Verdict), description="Any of these verdicts.")
    ] = None,
    reason: Annotated[Reason | None, Query()] = None,
    diagnosis: Annotated[
        list[Diagnosis] | None, Query(max_length=len(Diagnosis), description="Any of these diagnoses.")
    ] = None,
    refusal: Annotated[
        RefusalCorrectness | None, Query(description="Only correct refusals, or only over-refusals.")
    ] = None,
    metric: Annotated[
        str | None,
        Query(pattern=f"^{_METRIC}$", description="A range such as `sda:0.1..0.5`; either bound may be left out."),
    ] = None,
    labelled: Annotated[Labelled | None, Query(description="Whether people have labelled the answer.")] = None,
    suspicious: Annotated[
        bool,
        Query(description="Only answers to look at first: with a rank up to 0.1, or self-generated without a rank."),
    ] = False,
    conversation: Annotated[Text | None, Query(description="The exact id of a conversation.")] = None,
    trace: Annotated[Text | None, Query(description="The exact id of a trace.")] = None,
    tag: Annotated[
        Tag | None,
        Query(
            description="`NAME=VALUE`, the exact value; finds redacted tags too.", json_schema_extra={"format": "tag"}
        ),
    ] = None,
    words: Annotated[Text | None, Query(description="Words to find in the question or the answer.")] = None,
) -> Filters:
    """The filters of a list; without times, of the last 24 hours, or with an exact value of all times."""
    application: Application = request.app.state.application
    end = application.now() if until is None else until
    exact = ExactValues(conversation=conversation, trace=trace, tag=None if tag is None else parsed_tag(tag))
    usual = FIRST if exact else max(end, FIRST + DAY) - DAY
    return Filters(
        since=usual if since is None else since,
        until=end,
        app=app,
        environment=environment,
        model=model,
        topic=topic,
        verdicts=frozenset(verdict or ()),
        reason=reason,
        diagnoses=frozenset(diagnosis or ()),
        refusal=refusal,
        metric=None if metric is None else _range(metric),
        labelled=labelled,
        suspicious=suspicious,
        words=words,
        exact=exact,
    )


def _range(text: str) -> MetricRange:
    name, _, bounds = text.partition(":")
    low, _, high = bounds.partition("..")
    return MetricRange(metric=name, low=float(low) if low else None, high=float(high) if high else None)
