from __future__ import annotations

import pytest

from monitor.core.figures.proportions import Share
from monitor.report.weekly.compare import BETTER, change_verdict, changed, rounded, share, significant


def of(matching, total):
    return Share(matching=matching, total=total)


def test_a_share_with_its_interval():
    found = share(81, 263)
    assert (found["count"], found["of"], found["share"]) == (81, 263, 0.307985)
    # Newcombe (1998), Two-sided confidence intervals for the single proportion, table I, method 3
    assert (found["lower"], found["upper"]) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert share(0, 20) == {"count": 0, "of": 20, "share": 0.0, "lower": 0.0, "upper": 0.161125}
    assert share(0, 0) == {"count": 0, "of": 0, "share": None, "lower": None, "upper": None}


def test_a_change_with_its_interval():
    # Newcombe (1998), Interval estimation for the difference, table II, method 10: 56/70 − 48/80
    found = changed(of(56, 70), of(48, 80))
    assert (found["difference"], found["lower"], found["upper"]) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert found["clear"] is True
    assert changed(of(0, 0), of(1, 2)) is None
    assert changed(of(1, 2), of(0, 0)) is None


def test_figures_are_rounded_the_same_way_each_time():
    assert str(rounded(-1e-9)) == "0.0"
    assert rounded(None) is None
    assert significant(0.000123456) == 0.000123
    assert significant(0.0) == 0.0


def test_the_verdict_of_a_change_is_worse_only_if_it_is_clear():
    assert changed(of(150, 1000), of(50, 1000))["verdict"] == "worse"
    assert changed(of(50, 1000), of(150, 1000))["verdict"] == "better"
    assert changed(of(150, 1000), of(50, 1000), more=BETTER)["verdict"] == "better"
    unclear = changed(of(55, 1000), of(50, 1000))
    assert (unclear["verdict"], change_verdict(unclear)) == ("no clear change", "no clear change")


def test_a_report_of_an_earlier_release_has_only_clear():
    assert change_verdict({"difference": 0.1, "clear": True}) == "worse"
    assert change_verdict({"difference": -0.1, "clear": True}) == "better"
    assert change_verdict({"difference": 0.1, "clear": False}) == "no clear change"
    assert change_verdict(None) is None
