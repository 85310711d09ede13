"""What every `AlertStore` promises of counts by the minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from monitor.alert.signal import RATES, Signal, SignalKind
from monitor.alert.target import HourSums
from monitor.alert.window import Count, Span
from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason, Verdict
from tests.factories.alert.stored_alerts import ALL, rate, some
from tests.factories.answers import NOON, at
from tests.factories.assess.diagnoses import a_diagnosis


def counted(store, name, by=(), spans=(ALL,), **selector):
    """By label values: matching and total of each span."""
    found = store.counts(rate(name), selector, by, spans)
    assert all(list(its.labels) == list(by) for its in found)
    return {tuple(its.labels.values()): [(count.sum, count.total) for count in its.counts] for its in found}


def test_what_has_no_answer_is_left_out_but_for_the_whole(store):
    assert counted(store, "negative", ("app",)) == {}
    assert counted(store, "negative") == {(): [(0, 0)]}


def test_refusals_and_self_generated_answers_together_are_the_negative_ones(store, count):
    count(*some(5), *some(3, Verdict.REFUSAL), *some(2, Verdict.SELF_GENERATED))
    found = {name: counted(store, name)[()][0][0] for name in ("negative", *Verdict)}
    assert found == {"negative": 5, "grounded": 5, "refusal": 3, "self_generated": 2}


def test_of_a_rate_the_squares_are_the_sum(store, count):
    count(*some(3), *some(2, Verdict.REFUSAL))
    (found,) = store.counts(rate("refusal"), {}, (), [ALL])
    assert found.counts == (Count(total=5, sum=2, squares=2),)


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_counted(store, count, reason):
    count(*some(2, Verdict.SELF_GENERATED, reasons=(reason,)), *some(3, reasons=()))
    assert counted(store, reason.value, ("app",)) == {("support-bot",): [(2, 5)]}


@pytest.mark.parametrize("diagnosis", Diagnosis)
def test_every_diagnosis_is_counted_as_a_share_of_the_diagnosed_answers(store, count, diagnosis):
    other = next(each for each in Diagnosis if each is not diagnosis)
    count(
        *some(2, diagnosis=a_diagnosis(diagnosis)),
        *some(3, Verdict.REFUSAL, diagnosis=a_diagnosis(other)),
        *some(4),  # of the release before, which diagnoses nothing
        *some(5, app="before"),
    )
    assert counted(store, diagnosis.value, ("app",)) == {("support-bot",): [(2, 5)]}
    assert counted(store, diagnosis.value) == {(): [(2, 5)]}
    (sums,) = store.hour_sums(rate(diagnosis.value), {}, ("app",), ALL)
    assert (sums.labels, sums.hours, sums.total, sums.sum) == ({"app": "support-bot"}, 1, 5, 2)


@pytest.mark.parametrize("name", RATES)
def test_every_rate_can_be_asked_for(store, count, name):
    count(*some(1, diagnosis=a_diagnosis()))
    assert counted(store, name)[()][0][1] == 1


def test_there_is_one_for_each_combination_of_labels(store, count):
    count(
        *some(1, Verdict.REFUSAL, app="a", environment="production", model="m", tags={"topic": "billing"}),
        *some(2, app="a", environment="staging", model="m", tags={"topic": "billing"}),
        *some(3, Verdict.REFUSAL, app="b", environment="staging"),
        *some(4, app="b", environment="staging", tags={"other": "tag"}),
    )
    assert counted(store, "refusal", ("app", "environment")) == {
        ("a", "production"): [(1, 1)],
        ("a", "staging"): [(0, 2)],
        ("b", "staging"): [(3, 7)],
    }
    assert counted(store, "refusal", ("topic", "model")) == {("", ""): [(3, 7)], ("billing", "m"): [(1, 3)]}


def test_a_selector_takes_answers_with_one_of_the_values_of_every_label(store, count):
    count(*some(1, app="a", model="m"), *some(2, app="b", model="m"), *some(4, app="c", model="m"), *some(8, app="a"))

    def total(**chosen):
        return counted(store, "negative", **chosen)[()][0][1]

    assert total() == 15
    assert total(app=("a",)) == 9
    assert total(app=("a", "b")) == 11
    assert total(app=("a", "b"), model=("m",)) == 3
    assert total(app=("a",), model=("",)) == 8
    assert total(app=("nobody",)) == 0
    assert total(environment=("production",), topic=("",)) == 15


def test_each_span_holds_its_first_minute_and_not_its_last(store, count):
    for minute in (-1, 0, 1, 2):
        count(*some(10 ** (minute + 1), occurred_at=at(minute) + timedelta(seconds=59)))
    spans = [Span(start=at(0), end=at(2)), Span(start=at(2), end=at(9)), Span(start=at(5), end=at(9)), ALL]
    assert [total for _, total in counted(store, "negative", spans=spans)[()]] == [110, 1000, 0, 1111]


def test_what_has_something_in_one_span_has_a_count_for_each(store, count):
    count(*some(2), *some(3, app="b", occurred_at=at(60)))
    spans = [Span(start=at(0), end=at(1)), Span(start=at(60), end=at(61))]
    assert counted(store, "negative", ("app",), spans) == {("support-bot",): [(0, 2), (0, 0)], ("b",): [(0, 0), (0, 3)]}


def test_minutes_are_the_same_in_whatever_zone_they_are_asked_for(store, count):
    count(*some(2))
    zone = datetime(2025, 11, 21, tzinfo=UTC).astimezone(tz=None).tzinfo
    span = Span(start=at(0).astimezone(zone), end=at(1).astimezone(zone))
    assert counted(store, "negative", spans=[span]) == {(): [(0, 2)]}


def test_sums_over_hours_are_of_the_hours_with_answers(store, count):
    count(*some(3), *some(1, Verdict.REFUSAL), *some(2, Verdict.REFUSAL, occurred_at=at(125)), *some(5, app="b"))
    hours = Span(start=at(-60), end=at(240))
    assert store.hour_sums(rate("negative"), {}, ("app",), hours) == [
        HourSums(labels={"app": "b"}, hours=1, total=5, sum=0, sum_squares=0, products=0, total_squares=25),
        HourSums(labels={"app": "support-bot"}, hours=2, total=6, sum=3, sum_squares=5, products=8, total_squares=20),
    ]
    assert [s.total for s in store.hour_sums(rate("negative"), {"app": ("b",)}, (), hours)] == [5]
    assert store.hour_sums(rate("negative"), {"app": ("nobody",)}, (), hours) == []


def test_nothing_is_being_read_at_first(store):
    assert store.watermark(NOON) is None
    assert store.momentary(Signal(kind=SignalKind.LAG), NOON) == []
