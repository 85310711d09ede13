"""Compares answers by model, environment, prompt version and topic, as JSON objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from monitor.core.figures.proportions import Share, adjusted, two_sided
from monitor.core.figures.verdict_counts import Verdicts
from monitor.core.model import Json
from monitor.report.weekly.compare import changed, share, significant
from monitor.report.weekly.facts import TwoWeeks
from monitor.report.weekly.operations import name_json

FALSE_DISCOVERIES = 0.05  # at most this share of what is named
FEWEST = 30  # answers in each of the two weeks needed to compare a value
MOST_GROUPS = 20
MOST_NAMED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A value with its answers of both weeks; `q` is adjusted for all values compared, None if it was not compared."""

    value: str
    both: TwoWeeks
    q: float | None

    @property
    def rise(self) -> float:
        """The change of the rate of negative answers."""
        return _negative(self.both.this).rate - _negative(self.both.before).rate


def compared(groups: Mapping[str, TwoWeeks]) -> list[Compared]:
    """All values with answers in either week, those with most answers first."""
    enough = [value for value, both in sorted(groups.items()) if min(both.this.total, both.before.total) >= FEWEST]
    p = [two_sided(_negative(groups[value].this), _negative(groups[value].before)) for value in enough]
    q = dict(zip(enough, adjusted(p).tolist(), strict=True)) if enough else {}
    found = [Compared(value=value, both=both, q=q.get(value)) for value, both in groups.items()]
    return sorted(found, key=lambda group: (-group.both.this.total, -group.both.before.total, group.value))


def group_json(groups: Mapping[str, TwoWeeks]) -> Json:
    """`{compared, left_out, values}`; each value has its shares of negative answers, their change and q."""
    values = compared(groups)
    return {
        "compared": sum(group.q is not None for group in values),
        "left_out": max(0, len(values) - MOST_GROUPS),
        "values": [_compared_json(group) for group in values[:MOST_GROUPS]],
    }


def topics_json(groups: Mapping[str, TwoWeeks]) -> Json:
    """The topics that got clearly worse or better, the largest change first, and how many were compared."""
    known = {topic: both for topic, both in groups.items() if topic}
    values = compared(known)
    clear = [group for group in values if group.q is not None and group.q <= FALSE_DISCOVERIES]
    worse = sorted((group for group in clear if group.rise > 0), key=lambda group: (-group.rise, group.value))
    better = sorted((group for group in clear if group.rise < 0), key=lambda group: (group.rise, group.value))
    without_topic = groups.get("", TwoWeeks()).this.total
    return {
        "topics": len(known),
        "compared": sum(group.q is not None for group in values),
        "answers_without_topic": without_topic,
        "worse": [_compared_json(group) for group in worse[:MOST_NAMED]],
        "better": [_compared_json(group) for group in better[:MOST_NAMED]],
        "largest": [_compared_json(group) for group in values[:MOST_NAMED]],
    }


def _compared_json(group: Compared) -> Json:
    now, before = _negative(group.both.this), _negative(group.both.before)
    return {
        "value": name_json(group.value),
        "this": share(now.matching, now.total),
        "before": share(before.matching, before.total),
        "change": changed(now, before),
        "q": None if group.q is None else significant(group.q),
    }


def _negative(counts: Verdicts) -> Share:
    return Share(matching=counts.negative, total=counts.total)
