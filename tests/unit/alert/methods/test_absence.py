from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.methods.absence import Absence
from monitor.alert.methods.method import WrongParameter
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import Outcome
from tests.factories.alert.counts import START, observe, share

NO_DATA = Signal(kind=SignalKind.NO_DATA)


def seen(*totals: int, **given):
    """Window and hours before, this week and in the weeks before."""
    return observe(Absence(**given), *(share(0, total) for total in totals), signal=NO_DATA)


def test_silence_in_a_busy_hour_breaches():
    found = seen(0, 480, 40, 480, 44, 528)
    assert (found.outcome, found.value, found.samples) == (Outcome.BREACHING, 0.0, 0)
    assert found.bound == pytest.approx(40.0)


def test_one_answer_ends_it():
    assert seen(1, 480, 40, 480, 44, 528).outcome is Outcome.NORMAL


def test_a_quiet_night_and_a_holiday_page_nobody():
    assert seen(0, 480, 2, 480, 3, 480).outcome is Outcome.UNSURE  # the window is always quiet
    assert seen(0, 30, 40, 480, 44, 528).outcome is Outcome.UNSURE  # today there is little anyway
    assert seen(0, 480, 0, 0, 0, 0).outcome is Outcome.UNSURE  # nothing is known of the past


def test_a_silence_that_has_lasted_neither_fires_nor_resolves():
    assert seen(0, 0, 40, 480, 44, 528).outcome is Outcome.UNSURE


def test_chance_must_be_unlikely_too():
    assert seen(0, 72, 6, 72, 6, 72, expected=5).outcome is Outcome.UNSURE
    assert seen(0, 72, 6, 72, 6, 72, expected=5, alpha=0.01).outcome is Outcome.BREACHING


def test_it_counts_window_and_hours_before_of_each_week():
    spans = Absence(weeks=1).spans(START, lateness=timedelta(minutes=1), until=None)
    end = START - timedelta(minutes=1)
    assert [(end - span.start, span.length) for span in spans] == [
        (timedelta(minutes=15), timedelta(minutes=15)),
        (timedelta(hours=3, minutes=15), timedelta(hours=3)),
        (timedelta(days=7, minutes=15), timedelta(minutes=15)),
        (timedelta(days=7, hours=3, minutes=15), timedelta(hours=3)),
    ]


@pytest.mark.parametrize(
    "given", [{"weeks": 0}, {"weeks": 53}, {"expected": 0}, {"alpha": 0.9}, {"window": timedelta(seconds=1)}]
)
def test_wrong_parameters(given):
    with pytest.raises(WrongParameter) as error:
        Absence(**given)
    assert error.value.field == next(iter(given))
