"""The alerts about monitor itself through gaps, restarts and outages: in each story some fire, and no others."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.rig.deploy.promtool import HOUR, STAGE, WELL, growing, lasting, promtool, series


@dataclass(frozen=True, kw_only=True)
class Story:
    """Series by name, and each alert that ever fires, with its labels and the minutes from and to which it does."""

    series: dict[str, str]
    fires: dict[str, tuple[int, int]]
    every: int = 1  # minutes between samples
    evaluated: int = 1  # minutes between evaluations
    until: int = 3 * HOUR  # minutes


def figures(**labels: str) -> dict[str, str]:
    """An installation whose figures are read, and whose rules are evaluated."""
    named = ", ".join(f'{name}="{value}"' for name, value in labels.items())
    return {
        f"monitor_up{{{named}}}": lasting(1),
        f"monitor_figures_age_seconds{{{named}}}": lasting(2),
        f'monitor_rule_evaluated_timestamp_seconds{{{named + ", " * bool(named)}rule="a"}}': growing(0, 60),
    }


def old_numbers(values: str) -> dict[str, str]:
    """What was lost and given up long ago, all with the same values."""
    return {
        'monitor_notifications_given_up{receiver="slack"}': values,
        'monitor_pending{kind="judge", state="given_up"}': values,
        'monitor_dead_letters{source="rag"}': values,
        'monitor_offsets_skipped_total{source="rag", reason="expired"}': values,
    }


OUTAGE = {  # from minute 60 to 90
    "monitor_up": "1x59 stale _x29 1x90",
    "monitor_figures_age_seconds": "2x59 stale _x29 2x90",
    'monitor_rule_evaluated_timestamp_seconds{rule="a"}': "0+60x59 stale _x29 5400+60x90",
}
GAP = {  # from minute 60 to 66; without a mark of its beginning, it is one from minute 64
    "monitor_up": "1x59 _x7 1x120",
    "monitor_figures_age_seconds": "2x59 _x7 2x120",
    'monitor_rule_evaluated_timestamp_seconds{rule="a"}': "0+60x59 _x7 4020+60x120",
}
UNSEEN = {"MonitorUnseen": (65, 89)}
STORIES = {
    "a gap in the data is no rise": Story(series={**OUTAGE, **old_numbers("3x59 stale _x29 3x90")}, fires=UNSEEN),
    "a short gap is none either": Story(series={**GAP, **old_numbers("3x59 _x7 3x120")}, fires={}),
    "numbers that fall are no rise": Story(series={**figures(), **old_numbers("9x59 4x120")}, fires={}),
    "numbers that went away with the last piece rise again from 0": Story(
        series={
            **figures(),
            'monitor_notifications_given_up{receiver="slack"}': "3x59 stale _x59 1x60",
            'monitor_pending{kind="judge", state="given_up"}': "5x59 stale _x59 3x60",
        },
        fires={
            'MonitorNotificationsGivenUp{receiver="slack"}': (121, 179),
            'MonitorPendingGivenUp{kind="judge"}': (121, 179),
        },
    ),
    "numbers that went away during an outage rise again from 0": Story(
        series={
            **OUTAGE,
            'monitor_notifications_given_up{receiver="slack"}': "3x59 stale _x39 1x80",
            'monitor_pending{kind="judge", state="given_up"}': "5x59 stale _x39 3x80",
        },
        fires={
            **UNSEEN,
            'MonitorNotificationsGivenUp{receiver="slack"}': (151, 159),
            'MonitorPendingGivenUp{kind="judge"}': (151, 159),
        },
    ),
    "what is old is not new to a new Prometheus": Story(series={**figures(), **old_numbers(lasting(3))}, fires={}),
    "a new Prometheus sees what rises in its first hour": Story(
        series={**figures(), **old_numbers("3x9 4x180")},
        fires={
            'MonitorNotificationsGivenUp{receiver="slack"}': (11, 69),
            'MonitorPendingGivenUp{kind="judge"}': (11, 69),
            'MonitorMessagesLost{source="rag", reason="expired"}': (11, 69),
            'MonitorDeadLetters{source="rag"}': (15, 24),
        },
    ),
    "a loss is counted when reading goes on after an outage": Story(
        series={**OUTAGE, 'monitor_offsets_skipped_total{source="rag", reason="expired"}': "0x59 stale _x29 5000x90"},
        fires={**UNSEEN, 'MonitorMessagesLost{source="rag", reason="expired"}': (91, 149)},
    ),
    "an outage of ten days": Story(
        series={
            "monitor_up": "1x23 stale _x2879 1x48",
            "monitor_figures_age_seconds": "2x23 stale _x2879 2x48",
            'monitor_rule_evaluated_timestamp_seconds{rule="a"}': "0+300x23 stale _x2879 871200+300x48",
            'monitor_offsets_skipped_total{source="rag", reason="expired"}': "0x23 stale _x2879 5000x48",
        },
        fires={
            "MonitorUnseen": (135, 14_505),
            'MonitorMessagesLost{source="rag", reason="expired"}': (14_535, 14_565),
        },
        every=5,
        evaluated=15,
        until=14_640,
    ),
    "a restart gives the figures another instance": Story(
        series={
            **figures(),
            'monitor_offsets_skipped_total{instance="one", source="rag", reason="expired"}': "0x59",
            'monitor_offsets_skipped_total{instance="two", source="rag", reason="expired"}': "_x70 5000x110",
            'monitor_notifications_given_up{instance="one", receiver="slack"}': "5x59",  # purged while it was down
            'monitor_notifications_given_up{instance="two", receiver="slack"}': "_x70 0x9 1x100",
        },
        fires={
            'MonitorMessagesLost{source="rag", reason="expired"}': (71, 129),
            'MonitorNotificationsGivenUp{receiver="slack"}': (126, 139),
        },
    ),
    "a series begins at its number": Story(
        series={
            **figures(),
            'monitor_dead_letters{source="new"}': "_x90 400x90",
            'monitor_offsets_skipped_total{source="new", reason="unreadable"}': "_x90 20x90",
        },
        fires={
            'MonitorDeadLetters{source="new"}': (95, 104),
            'MonitorMessagesLost{source="new", reason="unreadable"}': (91, 149),
        },
    ),
    "two installations: the database of one is away": Story(
        series={
            **figures(installation="staging"),
            'monitor_up{installation="production"}': "1x59 0x120",
            'monitor_figures_age_seconds{installation="production"}': "2x59 stale",
            'monitor_rule_evaluated_timestamp_seconds{installation="production", rule="a"}': "0+60x59 stale",
        },
        fires={'MonitorDatabaseAway{installation="production"}': (62, 180)},
    ),
    "two installations: one evaluates nothing": Story(
        series={
            **figures(installation="staging"),
            **figures(installation="production"),
            'monitor_rule_evaluated_timestamp_seconds{installation="production", rule="a"}': "0+60x59 3540x120",
        },
        fires={'MonitorNothingEvaluates{installation="production"}': (65, 180)},
    ),
    "two installations: one is out of sight": Story(
        series={
            **figures(installation="staging"),
            'monitor_up{installation="production"}': "1x59 stale",
            'monitor_figures_age_seconds{installation="production"}': "2x59 stale",
            'monitor_rule_evaluated_timestamp_seconds{installation="production", rule="a"}': "0+60x59 stale",
            'monitor_build_info{installation="never seen"}': "1x180",
        },
        fires={
            'MonitorUnseen{installation="production"}': (65, 180),
            'MonitorUnseen{installation="never seen"}': (5, 180),
        },
    ),
    "two installations: one loses what the other has lost long ago": Story(
        series={
            **figures(installation="staging"),
            **figures(installation="production"),
            'monitor_notifications_given_up{installation="staging", receiver="slack"}': lasting(7),
            'monitor_notifications_given_up{installation="production", receiver="slack"}': "0x99 1x80",
        },
        fires={'MonitorNotificationsGivenUp{installation="production", receiver="slack"}': (101, 159)},
    ),
    "a single daily run fails": Story(
        series={
            **figures(),
            f'{STAGE}_count{{stage="probe", outcome="done"}}': lasting(5),
            f'{STAGE}_count{{stage="probe", outcome="failed"}}': "0x60 1x120",
            f'{STAGE}_count{{stage="report", outcome="failed"}}': "_x60 1x120",
        },
        fires={},
    ),
    "many attempts fail at once, and no more": Story(
        series={**figures(), f'{STAGE}_count{{stage="chat", outcome="failed"}}': "0x60 40x120"}, fires={}
    ),
    "rules were never evaluated": Story(
        series={"monitor_up": lasting(1), "monitor_figures_age_seconds": lasting(2)},
        fires={"MonitorNothingEvaluates": (3, 180)},
    ),
    "nothing is evaluated after a clock that was an hour ahead is set back": Story(
        series={**WELL, 'monitor_rule_evaluated_timestamp_seconds{rule="a"}': "3600+60x59 7140x60 7260+60x60"},
        fires={"MonitorNothingEvaluates": (3, 116)},
    ),
    "a rule was removed while the clock was ahead": Story(
        series={**figures(), 'monitor_rule_evaluated_timestamp_seconds{rule="gone"}': lasting(3 * HOUR * 60)},
        fires={},
    ),
    "rules are evaluated every five minutes": Story(
        series={
            **WELL,
            'monitor_rule_evaluated_timestamp_seconds{rule="a"}': " ".join(f"{60 * n}x4" for n in range(0, 181, 5)),
        },
        fires={},
    ),
    "the figures of a slow database come and go": Story(
        series={
            "monitor_up": lasting(1),
            "monitor_figures_age_seconds": " ".join(["30 90 stale stale stale"] * 36),
            'monitor_rule_evaluated_timestamp_seconds{rule="a"}': " ".join(
                f"{300 * n} {300 * n} stale stale stale" for n in range(36)
            ),
            'monitor_notifications_given_up{receiver="slack"}': " ".join(["3 3 stale stale stale"] * 36),
        },
        fires={},
    ),
    "a receiver was taken out of the settings": Story(  # its notifications are given up a day after they were made
        series={**figures(), 'monitor_notifications_waiting{receiver="teams"}': "0x9 3x60 0x110"},
        fires={'MonitorNotificationsLate{receiver="teams"}': (20, 70)},
    ),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=list(STORIES))
def test_in_each_story_those_alerts_fire_and_no_others(story, tmp_path):
    """From the first minute to the last, without a break."""
    of = "alertname, installation, source, reason, kind, receiver, stage"
    minutes = f'timestamp(ALERTS{{alertstate="firing"}})[{story.until + story.evaluated}m:{story.evaluated}m]'
    rounds = {alert: (last - first) // story.evaluated + 1 for alert, (first, last) in story.fires.items()}
    expected: dict[str, dict[str, float]] = {
        f"min by ({of}) (min_over_time({minutes})) / 60": {alert: first for alert, (first, _) in story.fires.items()},
        f"max by ({of}) (max_over_time({minutes})) / 60": {alert: last for alert, (_, last) in story.fires.items()},
        f"max by ({of}) (count_over_time({minutes}))": rounds,
    }
    checks = [
        {
            "expr": query,
            "eval_time": f"{story.until}m",
            "exp_samples": [{"labels": _labels(alert), "value": value} for alert, value in values.items()],
        }
        for query, values in expected.items()
    ]
    test = {"interval": f"{story.every}m", "input_series": series(story.series), "promql_expr_test": checks}
    promtool(tmp_path, test, every=f"{story.evaluated}m")


def _labels(alert: str) -> str:
    name, _, others = alert.removesuffix("}").partition("{")
    return "{" + ", ".join(filter(None, [f'alertname="{name}"', others])) + "}"
