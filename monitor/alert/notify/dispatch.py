"""Who is told what, and when: grouping, silences, inhibition and repetition, as Alertmanager has them.

`plan` looks at where the alerts stand and at what was last told of them, never at single events. So a process that is
killed anywhere finds in the next round what is still to be told, and nothing is told twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from monitor.alert.notification import SEVERITIES, Description, News, NotifiedAlert, Status
from monitor.alert.rule import Grouping
from monitor.alert.silence import Inhibition, Silence, all_match, silencing
from monitor.alert.state import Alert, State, digest_of, episode_of
from monitor.alert.window import gone_by

Key: TypeAlias = tuple[str, str]  # receiver, and the group's identity


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertGroup:
    """Alerts that one receiver is told of together, from the first that was told to when all are over.

    `number` is that of the next notification; `told_at` the time of the last one that told how the alerts stand (not
    just that somebody acted), `paged_at` of the last that began or repeated it. `said` is what was last told of each
    alert that is not over, by fingerprint.
    """

    key: str
    receiver: str
    labels: Mapping[str, str]
    episode: str
    number: int
    told_at: datetime
    paged_at: datetime
    said: Mapping[str, NotifiedAlert] = field(default_factory=dict)
    description: Description | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flush:
    """One notification to be made: the group as it stands after it, or over, and what is told.

    `pages`: somebody is called, so it is worth looking again at what changed.
    """

    group: AlertGroup
    news: News
    alerts: tuple[NotifiedAlert, ...]
    over: bool = False
    pages: bool = False
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """An alert of a group as it would be told of now, with what keeps it quiet."""

    told: NotifiedAlert
    silence: Silence | None = None
    inhibited: bool = False

    @property
    def active(self) -> bool:
        return self.told.status != "resolved"

    @property
    def quiet(self) -> bool:
        return self.inhibited or self.silence is not None


_STATUS: Mapping[State, Status] = {
    State.FIRING: "firing",
    State.NO_DATA: "no_data",
    State.ERROR: "error",
    State.RESOLVED: "resolved",
}


def plan(
    alerts: Sequence[Alert],
    groups: Iterable[AlertGroup],
    now: datetime,
    *,
    grouping: Grouping,
    silences: Sequence[Silence] = (),
    inhibitions: Sequence[Inhibition] = (),
    resend: Mapping[str, timedelta] | None = None,
    backlog: Collection[Key] = (),
) -> list[Flush]:
    """The notifications that are to be made at `now`, at most one for a group, in no order.

    `alerts` are all that are active or resolved. `resend` names receivers that forget an alert of which they hear
    nothing, and how often they are to be told; `backlog` are groups whose last notification still waits to be sent, so
    that being told once more would only queue.
    """
    known: dict[Key, AlertGroup] = {(group.receiver, group.key): group for group in groups}
    # told of once, an alert stays in its group until it is over, whatever the grouping becomes meanwhile
    homes = {(g.receiver, identity): key for key, g in known.items() for identity in g.said}
    members: dict[Key, list[_Member]] = {}
    labels: dict[Key, Mapping[str, str]] = {}
    for alert, member in _members(alerts, silences, inhibitions, now):
        shared = {name: value for name in grouping.by if (value := alert.matched.get(name))}
        for receiver in alert.receivers:
            home = homes.pop((receiver, alert.fingerprint), None)
            key = home or (receiver, digest_of([receiver, shared]))
            labels[key] = shared
            members.setdefault(key, []).append(member)
    # what was told of and is not here any more is over: it pends anew, or it fires for others now
    for (_, identity), key in homes.items():
        over = replace(known[key].said[identity], status="resolved", resolved_at=now, silenced_until=None)
        members.setdefault(key, []).append(_Member(told=over))
    flushes = []
    for key, its in members.items():
        again = (resend or {}).get(key[0])
        often = None if key in backlog else again
        # whoever forgets is told at once: it groups and waits by itself, and must not forget before it hears the end
        timing = grouping if again is None else replace(grouping, wait=timedelta(), interval=timedelta())
        group = known.get(key)
        flush = _gone_on(group, its, timing, now, often) if group else _begun(key, labels[key], its, timing, now)
        if flush is not None:
            flushes.append(flush)
    return flushes


def _members(
    alerts: Sequence[Alert], silences: Sequence[Silence], inhibitions: Sequence[Inhibition], now: datetime
) -> Iterator[tuple[Alert, _Member]]:
    firing = [alert for alert in alerts if alert.state is State.FIRING]
    sources = [
        (inhibition, source)
        for inhibition in inhibitions
        for source in firing
        if all_match(inhibition.source, source.matched)
    ]
    for alert in alerts:
        if alert.state in _STATUS:
            inhibited = any(
                inhibition.holds(source.matched, alert.matched)
                for inhibition, source in sources
                if source.fingerprint != alert.fingerprint
            )
            silence = silencing(silences, alert.matched, now)
            yield alert, _Member(told=notified_alert(alert, silence), silence=silence, inhibited=inhibited)


def _gone_on(
    group: AlertGroup, members: Sequence[_Member], grouping: Grouping, now: datetime, resend: timedelta | None
) -> Flush | None:
    told = {m.told.fingerprint: m for m in members if m.told.fingerprint in group.said}
    fresh = [m for m in members if m.told.fingerprint not in group.said and m.active and not m.quiet]
    over = not fresh and not any(m.active for m in told.values())
    news, by = _news(group, told, fresh, over=over, grouping=grouping, now=now)
    pages = news == "repeated" or (news == "changed" and _calls(told.values(), fresh))
    if news is None and resend is not None and not over and gone_by(group.told_at, now) >= resend:
        news = "repeated"
    if news is None:
        return None
    said = {identity: m.told if m.active else group.said[identity] for identity, m in told.items()}
    told_at = now
    if news in ("acknowledged", "silenced"):  # at once, and of nothing else: who came and went is told in its time
        shown = [m for m in told.values() if m.active]
        told_at = group.told_at  # nor later for it
    else:
        shown = [*told.values(), *fresh]
        said = {m.told.fingerprint: m.told for m in shown if m.active}
    paged_at = now if pages else group.paged_at
    after = replace(group, number=group.number + 1, told_at=told_at, paged_at=paged_at, said=said)
    return Flush(group=after, news=news, alerts=_in_order(shown), over=over, pages=pages, by=by)


def _calls(told: Iterable[_Member], fresh: Sequence[_Member]) -> bool:
    """Whether who joined calls somebody: worse than what people were called for, or nobody is listening any more."""
    active = [m.told for m in told if m.active]
    worst = min((SEVERITIES.index(its.severity) for its in active), default=len(SEVERITIES))
    heard = any(its.acknowledged_by for its in active)
    return bool(fresh) and (heard or any(SEVERITIES.index(m.told.severity) < worst for m in fresh))


def _begun(
    key: Key, labels: Mapping[str, str], members: Sequence[_Member], grouping: Grouping, now: datetime
) -> Flush | None:
    shown = [m for m in members if m.active and not m.quiet]
    first = min((m.told.fired_at for m in shown), default=None)
    if first is None or gone_by(first, now) < grouping.wait:
        return None
    receiver, identity = key
    group = AlertGroup(
        key=identity,
        receiver=receiver,
        labels=labels,
        episode=episode_of(identity, now),  # not `first`, which may be that of an episode before: one was silenced
        number=1,
        told_at=now,
        paged_at=now,
        said={m.told.fingerprint: m.told for m in shown},
    )
    return Flush(group=group, news="firing", alerts=_in_order(shown), pages=True)


def _news(
    group: AlertGroup,
    told: Mapping[str, _Member],
    fresh: Sequence[_Member],
    *,
    over: bool,
    grouping: Grouping,
    now: datetime,
) -> tuple[News | None, str | None]:
    """What is to be told of the group, and who did it."""
    pairs = [(group.said[identity], m) for identity, m in told.items()]
    for before, m in pairs:
        if m.active and m.told.acknowledged_by and m.told.acknowledged_by != before.acknowledged_by:
            return "acknowledged", m.told.acknowledged_by
    for before, m in pairs:
        if m.active and m.silence is not None and before.silenced_until is None:
            return "silenced", m.silence.created_by
    # the episode of an alert is not looked at: one that comes back before anybody was told makes no noise
    changed = bool(fresh) or any(m.told.status != before.status for before, m in pairs if not (m.active and m.quiet))
    if changed and gone_by(group.told_at, now) >= grouping.interval:
        return ("resolved" if over else "changed"), None
    burning = [(before, m) for before, m in pairs if m.active and not m.quiet]
    if any(before.silenced_until is not None for before, _ in burning):  # the silence is over, and it burns still
        return "repeated", None
    unheard = any(m.told.acknowledged_by is None for _, m in burning)
    if unheard and gone_by(group.paged_at, now) >= grouping.repeat:
        return "repeated", None
    return None, None


def _in_order(members: Sequence[_Member]) -> tuple[NotifiedAlert, ...]:
    """The worst first, what is over last."""

    def order(member: _Member) -> tuple[bool, int, datetime]:
        return not member.active, SEVERITIES.index(member.told.severity), member.told.fired_at

    return tuple(member.told for member in sorted(members, key=order))


def notified_alert(alert: Alert, silence: Silence | None) -> NotifiedAlert:
    """What is told of an alert over which `silence` holds, or none; it is firing, in error or resolved."""
    finite = (alert.lower > float("-inf"), alert.upper < float("inf"))
    return NotifiedAlert(
        fingerprint=alert.fingerprint,
        episode=alert.episode,
        rule=alert.rule,
        signal=alert.signal,
        method=alert.method,
        labels=alert.labels,
        annotations=alert.annotations,
        severity=alert.severity,
        status=_STATUS[alert.state],
        unit=alert.unit,
        value=alert.value,
        lower=alert.lower if finite[0] else None,
        upper=alert.upper if finite[1] else None,
        bound=alert.bound,
        below=alert.below,
        samples=alert.samples,
        window=alert.window,
        detail=alert.detail,
        started_at=alert.active_since,
        fired_at=alert.fired_at or alert.active_since,
        resolved_at=alert.resolved_at if alert.state is State.RESOLVED else None,
        acknowledged_by=alert.acknowledged_by,
        silenced_until=silence.ends_at if silence is not None and alert.state.active else None,
        note=alert.note,
    )
