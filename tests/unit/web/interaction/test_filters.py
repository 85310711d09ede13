from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

import pytest

from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason, Verdict
from monitor.store.interaction.filters import Labelled, MetricRange, RefusalCorrectness
from monitor.web.interaction.filters import parse_query
from tests.factories.answers import NOON


def ask(query):
    return parse_query(parse_qsl(query, keep_blank_values=True), NOON)


def test_without_a_filter_it_is_the_last_day():
    its = ask("")
    assert (its.filters.since, its.filters.until) == (NOON - timedelta(days=1), NOON)
    assert its.fields == {"span": "24h"}
    assert (its.chips, its.faults) == ((), ())


def test_every_field_is_read():
    its = ask(
        "span=7d&app=shop&environment=staging&model=large&topic=billing&verdict=refusal&reason=missing_fact"
        "&diagnosis=retrieval_missed&refusal=over&metric=sdq&low=0.25&high=0.5&labelled=wrong&words=refund+-urgent"
    )
    f = its.filters
    assert f.since == NOON - timedelta(days=7)
    assert (f.app, f.environment, f.model, f.topic) == ("shop", "staging", "large", "billing")
    assert (f.verdicts, f.reason, f.refusal) == ({Verdict.REFUSAL}, Reason.MISSING_FACT, RefusalCorrectness.OVER)
    assert f.diagnoses == {Diagnosis.RETRIEVAL_MISSED}
    assert (f.metric, f.labelled) == (MetricRange(metric="sdq", low=0.25, high=0.5), Labelled.WRONG)
    assert (f.words, its.faults) == ("refund -urgent", ())


@pytest.mark.parametrize("query", ["verdict=negative", "verdict=refusal&verdict=self_generated"])
def test_negative_is_both(query):
    its = ask(query)
    assert its.filters.verdicts == {Verdict.REFUSAL, Verdict.SELF_GENERATED}
    assert its.fields["verdict"] == "negative"


@pytest.mark.parametrize("part", ["retriever", "generator"])
def test_each_part_has_its_diagnoses(part):
    its = ask(f"diagnosis={part}")
    of_part = {d for d in Diagnosis if (d.of_retriever if part == "retriever" else d.of_generator)}
    assert its.filters.diagnoses == of_part
    assert [chip.text for chip in its.chips] == [f"{part} at fault"]


def test_turns_without_scores_have_no_diagnosis():
    its = ask("unscored=any&diagnosis=healthy")
    assert "diagnosis" not in its.fields
    assert its.faults == ("Diagnosis: turns without scores are not filtered by this",)


def test_times_are_read_as_utc_and_take_the_place_of_the_span():
    its = ask("since=2025-11-01T10:00&until=2025-11-02T00:00%2B02:00")
    assert its.filters.since == datetime(2025, 11, 1, 10, tzinfo=UTC)
    assert its.filters.until == datetime(2025, 11, 1, 22, tzinfo=UTC)
    assert "span" not in its.fields


@pytest.mark.parametrize(
    "query",
    [
        "verdict=good",
        "reason=none",
        "refusal=x",
        "labelled=x",
        "diagnosis=x",
        "metric=auc",
        "span=1y",
        "since=yesterday",
        "until=0001-01-01",
        "metric=sdq&low=much",
        "metric=sdq&high=nan",
        "metric=sdq&low=7",
        "low=0.5",
    ],
)
def test_what_cannot_be_read_is_named_and_left_out(query):
    its = ask(query)
    assert len(its.faults) == 1
    assert its.filters == ask(query.split("&", maxsplit=1)[0] if query.startswith("metric=sdq") else "").filters


def test_every_filter_has_a_chip_that_leaves_the_others():
    its = ask("app=shop&metric=sda&low=0.5&verdict=negative")
    assert [chip.text for chip in its.chips] == ["app: shop", "negative: refusal or self-generated", "SDA at least 0.5"]
    assert its.chips[0].without == {"span": "24h", "verdict": "negative", "metric": "sda", "low": "0.5"}
    assert its.chips[2].without == {"span": "24h", "app": "shop", "verdict": "negative"}


def test_blank_fields_of_the_form_are_no_filters():
    assert ask("words=&app=+&verdict=&low=&high=&metric=") == ask("")


def test_what_postgres_cannot_hold_is_replaced():
    assert ask("app=%00").filters.app == "\ufffd"
