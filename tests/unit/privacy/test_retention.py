"""What is kept for how long, and from when on it goes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.app.privacy.retention import policy_of, whole_months
from monitor.cli.operate.privacy import retention_json
from monitor.core.errors import WrongSettings
from monitor.core.model import Verdict
from monitor.core.settings.privacy import RetentionSettings
from monitor.privacy.retention import CutOff, Policy
from monitor.store.privacy.retention import DueRows
from tests.factories.answers import NOON

DAY = timedelta(days=1)


def policy(**over):
    return policy_of(RetentionSettings(**over))


def cuts(said, *apps):
    return {(cut.app, cut.verdict): (NOON - cut.before) / DAY for cut in said.cut_offs(apps, NOON)}


def every(app, days):
    return dict.fromkeys([(app, verdict) for verdict in (*Verdict, None)], days)


def test_everything_is_kept_forever_unless_something_is_said():
    assert policy() == Policy()
    assert not policy().limited
    assert cuts(policy(), "shop") == {}


def test_a_length_holds_for_every_app_and_verdict():
    assert cuts(policy(keep="400d"), "a", "b") == every("a", 400) | every("b", 400)


def test_a_verdict_may_be_kept_longer_shorter_or_forever():
    said = policy(keep="400d", by_verdict={"grounded": "30d", "self_generated": "forever"})
    assert cuts(said, "a") == {("a", Verdict.GROUNDED): 30, ("a", Verdict.REFUSAL): 400, ("a", None): 400}


def test_a_verdict_alone_leaves_the_others_forever():
    said = policy(by_verdict={"grounded": "30d"})
    assert said.limited
    assert cuts(said, "a") == {("a", Verdict.GROUNDED): 30}


def test_what_is_said_of_an_app_stands_before_what_is_said_of_all():
    said = policy(
        keep="400d",
        by_verdict={"grounded": "30d"},
        by_app={"shop": {"keep": "1y"}, "bank": {"by_verdict": {"refusal": "2w"}}, "court": {"keep": "forever"}},
    )
    assert cuts(said, "shop") == every("shop", 365)
    assert cuts(said, "bank") == every("bank", 400) | {("bank", Verdict.GROUNDED): 30, ("bank", Verdict.REFUSAL): 14}
    assert cuts(said, "court") == {}


def test_a_cut_off_says_of_what_and_before_when():
    assert policy(by_verdict={"refusal": "7d"}).cut_offs(["a"], NOON) == [
        CutOff(app="a", verdict=Verdict.REFUSAL, before=NOON - 7 * DAY)
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"keep": "400 days"}, r"MONITOR_RETENTION__KEEP: '400 days' is not a duration"),
        ({"keep": "0"}, "MONITOR_RETENTION__KEEP: would keep nothing at all"),
        ({"keep": "101y"}, "longer than 100 years"),
        ({"by_verdict": {"grounded": "x"}}, "BY_VERDICT: grounded: 'x' is not a duration"),
        ({"by_app": {"shop": {"keep": "x"}}}, "BY_APP: shop: keep: 'x'"),
        ({"by_app": {"shop": {"by_verdict": {"refusal": "x"}}}}, "BY_APP: shop: refusal: 'x'"),
    ],
)
def test_what_is_no_length_is_named(given, said):
    with pytest.raises(WrongSettings, match=said):
        policy(**given)


# --- as it is shown ---


def a_due(**over):
    known = {"app": "shop", "verdict": Verdict.GROUNDED, "month": NOON.date().replace(day=1), "before": NOON}
    return DueRows(**{**known, "stored": 3, "due": 3, **over})


def test_a_month_goes_as_a_whole_only_where_nothing_of_it_is_kept():
    month = NOON.date().replace(day=1)
    assert whole_months([a_due(), a_due(app="bank")]) == {month}
    assert whole_months([a_due(), a_due(app="bank", before=None, due=0)]) == set()
    assert whole_months([a_due(month=None)]) == set()


def test_json_says_what_goes():
    found = retention_json([a_due(), a_due(app="bank", before=None, due=0)], dry_run=True)
    assert found == {
        "dry_run": True,
        "interactions": 3,
        "probe_runs": 0,
        "parts": [
            {
                "app": "shop",
                "verdict": "grounded",
                "month": "2025-11",
                "before": NOON,
                "interactions": 3,
                "of": 3,
                "whole_month": False,
            }
        ],
    }
