from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.methods.burn_rate import PRESETS, BurnRate, BurnWindow
from monitor.alert.methods.method import WrongParameter
from monitor.alert.target import Target
from monitor.alert.window import Count, Outcome
from tests.factories.alert.counts import START, observe, share

PAGE = BurnRate(allowed=Target(value=0.02))
CALM = share(1, 100)


def pair(long: int = 60, short: int = 5, factor: float = 10.0) -> BurnWindow:
    return BurnWindow(long=timedelta(minutes=long), short=timedelta(minutes=short), factor=factor)


def test_the_presets_are_the_workbooks():
    presets = {
        name: [(w.long.total_seconds() / 3600, w.short.total_seconds() / 60, w.factor) for w in windows]
        for name, windows in PRESETS.items()
    }
    assert presets == {"page": [(1, 5, 14.4), (6, 30, 6)], "ticket": [(24, 120, 3), (72, 360, 1)]}


def test_it_counts_long_and_short_of_each_pair():
    spans = PAGE.spans(START, lateness=timedelta(minutes=2), until=None)
    assert [span.length // timedelta(minutes=1) for span in spans] == [60, 5, 360, 30]
    assert {span.end for span in spans} == {START - timedelta(minutes=2)}


def test_both_windows_must_exceed():
    both = observe(PAGE, share(40, 100), share(4, 10), CALM, CALM)
    assert both.outcome is Outcome.BREACHING
    assert (both.value, both.bound) == (0.4, 0.02)
    assert both.detail == (
        "20.0 times in 1h, 20.0 times in 5m (fires above 14.4 times in both); "
        "0.5 times in 6h, 0.5 times in 30m (fires above 6 times in both)"
    )
    assert observe(PAGE, share(40, 100), share(1, 10), CALM, CALM).outcome is Outcome.NORMAL
    assert observe(PAGE, share(10, 100), share(9, 10), CALM, CALM).outcome is Outcome.NORMAL


def test_one_pair_is_enough():
    assert observe(PAGE, CALM, CALM, share(20, 100), share(2, 10)).outcome is Outcome.BREACHING


def test_an_empty_short_window_leaves_it_open():
    assert observe(PAGE, share(40, 100), Count(), CALM, CALM).outcome is Outcome.UNSURE


def test_a_pair_with_too_few_has_no_voice():
    assert observe(PAGE, share(20, 20), share(2, 2), CALM, CALM).outcome is Outcome.NORMAL
    assert observe(PAGE, share(20, 20), share(2, 2), share(20, 29), share(2, 2)).outcome is Outcome.UNSURE
    assert observe(PAGE, Count(), Count(), Count(), Count()).outcome is Outcome.NO_DATA


def test_a_factor_out_of_reach_is_refused_with_the_highest():
    with pytest.raises(
        WrongParameter, match=r"^allowed: .*14\.4 .*0\.08 allowed.* burn rate is 12\.5; allow less than 0\.0694"
    ):
        BurnRate(allowed=Target(value=0.08))
    BurnRate(allowed=Target(value=0.08), preset="ticket")


def test_a_learnt_rate_out_of_reach_is_an_error_unless_another_pair_breaches():
    learnt = BurnRate(allowed=Target(margin=0.01))
    calm = observe(learnt, CALM, CALM, CALM, CALM, bound=0.1)
    assert calm.outcome is Outcome.ERROR
    assert "14.4" in str(calm.detail)
    assert observe(learnt, CALM, CALM, share(70, 100), share(7, 10), bound=0.1).outcome is Outcome.BREACHING


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: BurnRate(allowed=Target(value=1.5)), "allowed"),
        (lambda: BurnRate(allowed=Target(value=0.01), preset="page", windows=(pair(),)), "windows"),
        (lambda: BurnRate(allowed=Target(value=0.01), preset="loud"), "preset"),
        (lambda: BurnRate(allowed=Target(value=0.01), min_samples=0), "min_samples"),
        (lambda: pair(long=5, short=5), "short"),
        (lambda: pair(factor=0.0), "factor"),
    ],
)
def test_wrong_parameters(make, field):
    with pytest.raises(WrongParameter) as error:
        make()
    assert error.value.field == field


def test_windows_of_ones_own():
    own = BurnRate(allowed=Target(value=0.05), windows=(pair(),))
    assert own.window == timedelta(hours=1)
    assert observe(own, share(60, 100), share(6, 10)).outcome is Outcome.BREACHING
