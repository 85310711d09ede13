"""What people do about alerts: acknowledge, silence; from a chat, the command line, and later the dashboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import uuid4

from monitor.alert.ports import Responses
from monitor.alert.silence import Matcher, Silence
from monitor.alert.state import Alert
from monitor.core.duration import format_duration

_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")  # in a pattern; a hyphen is not
OVER = "this is over: nothing of it fires any more"
LONGEST_SILENCE = timedelta(days=90)


class AlertActions:
    """The `Actions` port on what is stored; `now` is the clock."""

    def __init__(self, responses: Responses, now: Callable[[], datetime]) -> None:
        self._responses = responses
        self._now = now

    def acknowledge(self, episode: str, *, by: str) -> str:
        """As the port says."""
        _, alerts = self._responses.active_alerts(episode)
        if not alerts:
            return OVER
        done = self._responses.acknowledge(alerts, by=by, now=self._now())
        if done:
            return f"acknowledged: {_named(alerts)}; it is not repeated any more"
        _, alerts = self._responses.active_alerts(episode)  # somebody was quicker, or it has just ended
        others = sorted({alert.acknowledged_by for alert in alerts if alert.acknowledged_by})
        return f"acknowledged already by {', '.join(others)}" if others else OVER

    def silence(self, episode: str, length: timedelta, *, by: str) -> str:
        """As the port says. What is silenced is what the episode's alerts have in common, so one that joins too."""
        labels, alerts = self._responses.active_alerts(episode)
        if not alerts:
            return OVER
        try:
            silence = new_silence(matchers_of(labels, alerts), length, by=by, now=self._now(), comment=_named(alerts))
        except ValueError as error:
            return f"not silenced: {error}"
        self._responses.silence(silence, now=self._now())
        matched = ", ".join(map(str, silence.matchers))
        return f"silenced for {format_duration(length)}: {matched} (`monitor alerts unsilence {silence.id}` ends it)"


def new_silence(
    matchers: Sequence[Matcher], length: timedelta, *, by: str, now: datetime, comment: str = ""
) -> Silence:
    """A silence from `now` on, with an id of its own.

    Raises:
        ValueError: no matcher, one of nothing, or a length that is none or beyond `LONGEST_SILENCE`.
    """
    if not matchers or all(matcher.matches({}) for matcher in matchers):
        raise ValueError("it would silence every alert: name at least one label with a value")
    if not timedelta() < length <= LONGEST_SILENCE:
        raise ValueError(f"a silence lasts up to {format_duration(LONGEST_SILENCE)}")
    return Silence(
        id=uuid4().hex[:12], matchers=tuple(matchers), starts_at=now, ends_at=now + length, created_by=by,
        comment=comment,
    )  # fmt: skip


def matchers_of(labels: Mapping[str, str], alerts: Sequence[Alert]) -> list[Matcher]:
    """The rules of the alerts, the labels of their group, and those that all of them have in common."""
    common = set.intersection(*(set(alert.labels.items()) for alert in alerts))
    wanted = {**labels, **dict(sorted(common))}
    rules = sorted({alert.rule for alert in alerts})
    named = (
        Matcher(label="rule", operator="=", value=rules[0])
        if len(rules) == 1
        else Matcher(label="rule", operator="=~", value="|".join(_SPECIAL.sub(r"\\\g<0>", rule) for rule in rules))
    )
    return [named, *(Matcher(label=name, operator="=", value=value) for name, value in wanted.items())]


def _named(alerts: Sequence[Alert]) -> str:
    return ", ".join(sorted({alert.rule for alert in alerts}))
