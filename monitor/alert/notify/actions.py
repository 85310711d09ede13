"""Carries out what people do about alerts in chat, on the command line or on the pages: acknowledge and silence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import uuid4

from typing_extensions import override

from monitor.alert.ports import Actions, Responses
from monitor.alert.silence import Matcher, Silence
from monitor.alert.state import Alert
from monitor.core.text.duration import format_duration

_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")  # special in a pattern; a hyphen is not
OVER = "this episode is over: none of its alerts fires any more"
LONGEST_SILENCE = timedelta(days=90)


class AlertActions(Actions):
    """Acts on the stored alerts; `now` is the clock."""

    def __init__(self, responses: Responses, now: Callable[[], datetime]) -> None:
        self._responses = responses
        self._now = now

    @override
    def acknowledge(self, episode: str, *, by: str) -> str:
        _, alerts = self._responses.active_alerts(episode)
        if not alerts:
            return OVER
        done = self._responses.acknowledge(alerts, by=by, now=self._now())
        if done:
            return f"acknowledged: {_rule_names(alerts)}; it will not be repeated"
        _, alerts = self._responses.active_alerts(episode)  # somebody else was faster, or it has just ended
        others = sorted({alert.acknowledged_by for alert in alerts if alert.acknowledged_by})
        return f"already acknowledged by {', '.join(others)}" if others else OVER

    @override
    def silence(self, episode: str, length: timedelta, *, by: str) -> str:
        """Silences what the episode's alerts have in common, and so alerts that join later too."""
        labels, alerts = self._responses.active_alerts(episode)
        if not alerts:
            return OVER
        try:
            silence = new_silence(
                matchers_of(labels, alerts), length, by=by, now=self._now(), comment=_rule_names(alerts)
            )
        except ValueError as error:
            return f"not silenced: {error}"
        self._responses.silence(silence, now=self._now())
        matched = ", ".join(map(str, silence.matchers))
        return f"silenced for {format_duration(length)}: {matched} (`monitor alerts unsilence {silence.id}` ends it)"


def new_silence(
    matchers: Sequence[Matcher], length: timedelta, *, by: str, now: datetime, comment: str = ""
) -> Silence:
    """A silence from `now` on, with a new id.

    Raises:
        ValueError: the matchers match every alert, or `length` is not positive or longer than `LONGEST_SILENCE`.
    """
    if not matchers or all(matcher.matches({}) for matcher in matchers):
        raise ValueError("this would silence every alert: name at least one label with a value")
    if not timedelta() < length <= LONGEST_SILENCE:
        raise ValueError(f"a silence lasts at most {format_duration(LONGEST_SILENCE)}")
    return Silence(
        id=uuid4().hex[:12],
        matchers=tuple(matchers),
        starts_at=now,
        ends_at=now + length,
        created_by=by,
        comment=comment,
    )


def matchers_of(labels: Mapping[str, str], alerts: Sequence[Alert]) -> list[Matcher]:
    """Matchers for the alerts' rules, the labels of their group, and the labels that all of them have in common."""
    common = set.intersection(*(set(alert.labels.items()) for alert in alerts))
    shared = {**labels, **dict(sorted(common))}
    rules = sorted({alert.rule for alert in alerts})
    by_rule = (
        Matcher(label="rule", operator="=", value=rules[0])
        if len(rules) == 1
        else Matcher(label="rule", operator="=~", value="|".join(_SPECIAL.sub(r"\\\g<0>", rule) for rule in rules))
    )
    return [by_rule, *(Matcher(label=name, operator="=", value=value) for name, value in shared.items())]


def _rule_names(alerts: Sequence[Alert]) -> str:
    return ", ".join(sorted({alert.rule for alert in alerts}))
