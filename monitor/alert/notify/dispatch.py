"""Plans who is notified of what, and when: grouping, silences, inhibition and repetition, as in Alertmanager.

`plan` compares the current alerts with the last notification of each, never single events. A process that is killed
anywhere therefore finds in the next round what is still to be sent, and nothing is sent twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from monitor.alert.notification import SEVERITIES, Description, News, NotifiedAlert
from monitor.alert.notify.escalate import escalated, notified_since, unacknowledged_for
from monitor.alert.notify.inhibit import Inhibited
from monitor.alert.notify.notified import STATUSES, notified_alert
from monitor.alert.rule import Grouping, Rule
from monitor.alert.silence import Inhibition, Silence, silencing
from monitor.alert.state import Alert, State, digest_of, episode_of
from monitor.alert.window import gone_by

Key: TypeAlias = tuple[str, str]  # the receiver and the identity of the group


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertGroup:
    """Alerts that one receiver gets in one notification, from the first notification until all alerts are over.

    `number` is the number of the next notification. `told_at` is the time of the last notification about the alerts
    themselves (not about what a person did), `paged_at` of the last that began or repeated the episode. `said` holds
    each alert that is not over as it was last sent, by fingerprint. The field names are the columns of the table.
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
    """One notification to make: its alerts, and the group after it; `over` if the group ends with it.

    `pages`: the notification calls somebody, so it is worth looking again at what changed.
    """

    group: AlertGroup
    news: News
    alerts: tuple[NotifiedAlert, ...]
    over: bool = False
    pages: bool = False
    by: str | None = None
    escalated_after: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """An alert of a group as it would be sent now, and what keeps it quiet."""

    alert: NotifiedAlert
    silence: Silence | None = None
    inhibited: bool = False
    muted: bool = False

    @property
    def active(self) -> bool:
        return self.alert.status != "resolved"

    def notified(self, at: datetime | None) -> _Member:
        """The member, notified first at that time."""
        return replace(self, alert=replace(self.alert, notified_at=at))

    @property
    def quiet(self) -> bool:
        return self.inhibited or self.muted or self.silence is not None


def plan(
    alerts: Sequence[Alert],
    groups: Iterable[AlertGroup],
    now: datetime,
    *,
    grouping: Grouping,
    silences: Sequence[Silence] = (),
    inhibitions: Sequence[Inhibition] = (),
    rules: Sequence[Rule] = (),
    resend: Mapping[str, timedelta] | None = None,
    backlog: Collection[Key] = (),
) -> list[Flush]:
    """The notifications to make at `now`, at most one for each group, in no particular order.

    `alerts` has all active and resolved alerts; `rules` say who is notified later, and when nobody is. `resend` maps
    receivers that forget an alert unless it is repeated to how often to repeat it. `backlog` has the groups whose last
    notification still waits to be sent, so that repeating it would only lengthen the queue.
    """
    known: dict[Key, AlertGroup] = {(group.receiver, group.key): group for group in groups}
    # an alert stays in the group that first sent it until it is over, even if the grouping changes
    homes = {(g.receiver, identity): key for key, g in known.items() for identity in g.said}
    told: dict[str, dict[str, NotifiedAlert]] = {}
    for (receiver, identity), key in homes.items():
        told.setdefault(identity, {})[receiver] = known[key].said[identity]
    by_name = {rule.name: rule for rule in rules}
    members: dict[Key, list[_Member]] = {}
    labels: dict[Key, Mapping[str, str]] = {}
    for alert, member in _members(alerts, silences, inhibitions, by_name, now):
        shared = {name: value for name in grouping.by if (value := alert.matched.get(name))}
        later = escalated(alert, by_name.get(alert.rule), told.get(alert.fingerprint, {}), now)
        for receiver in dict.fromkeys((*alert.receivers, *later)):
            home = homes.pop((receiver, alert.fingerprint), None)
            key = home or (receiver, digest_of([receiver, shared]))
            labels[key] = shared
            addressed = replace(member.alert, escalated_after=later.get(receiver))
            members.setdefault(key, []).append(replace(member, alert=addressed))
    # a sent alert that is missing is over: it is pending again, or fires for other receivers
    for (_, identity), key in homes.items():
        over = replace(known[key].said[identity], status="resolved", resolved_at=now, silenced_until=None)
        members.setdefault(key, []).append(_Member(alert=over))
    flushes = []
    for key, in_group in members.items():
        forgets_after = (resend or {}).get(key[0])
        repeat_after = None if key in backlog else forgets_after
        # a receiver that forgets does its own grouping and waiting, and must not forget before it hears of the end
        timing = grouping if forgets_after is None else replace(grouping, wait=timedelta(), interval=timedelta())
        group = known.get(key)
        if group:
            flush = _continued(group, in_group, timing, now, repeat_after)
        else:
            flush = _first(key, labels[key], in_group, timing, now)
        if flush is not None:
            flushes.append(flush)
    return flushes


def _members(
    alerts: Sequence[Alert],
    silences: Sequence[Silence],
    inhibitions: Sequence[Inhibition],
    rules: Mapping[str, Rule],
    now: datetime,
) -> Iterator[tuple[Alert, _Member]]:
    inhibited = Inhibited(inhibitions, [alert for alert in alerts if alert.state is State.FIRING])
    for alert in alerts:
        if alert.state in STATUSES:
            silence = silencing(silences, alert.matched, now)
            muted = alert.rule in rules and rules[alert.rule].mute.why(now) is not None
            notified = notified_alert(alert, silence)
            yield alert, _Member(alert=notified, silence=silence, inhibited=inhibited(alert), muted=muted)


def _continued(
    group: AlertGroup, members: Sequence[_Member], grouping: Grouping, now: datetime, resend: timedelta | None
) -> Flush | None:
    sent = {
        identity: m.notified(notified_since(group.said[identity], m.alert, now))
        for m in members
        if (identity := m.alert.fingerprint) in group.said
    }
    fresh = [m.notified(now) for m in members if m.alert.fingerprint not in group.said and m.active and not m.quiet]
    over = not fresh and not any(m.active for m in sent.values())
    news, by = _news(group, sent, fresh, over=over, grouping=grouping, now=now)
    escalation = unacknowledged_for(m.alert for m in fresh) if news == "changed" else None
    pages = news == "repeated" or (news == "changed" and (escalation is not None or _calls(sent.values(), fresh)))
    if news is None and resend is not None and not over and gone_by(group.told_at, now) >= resend:
        news = "repeated"
    if news is None:
        return None
    said = {identity: m.alert if m.active else group.said[identity] for identity, m in sent.items()}
    told_at = now
    if news in ("acknowledged", "silenced"):  # sent at once and alone; other changes keep their own time
        shown = [m for m in sent.values() if m.active]
        told_at = group.told_at
    else:
        shown = [*sent.values(), *fresh]
        said = {m.alert.fingerprint: m.alert for m in shown if m.active}
    paged_at = now if pages else group.paged_at
    after = replace(group, number=group.number + 1, told_at=told_at, paged_at=paged_at, said=said)
    return Flush(
        group=after, news=news, alerts=_in_order(shown), over=over, pages=pages, by=by, escalated_after=escalation
    )


def _calls(sent: Iterable[_Member], fresh: Sequence[_Member]) -> bool:
    """Whether the new alerts page: they are worse than the sent ones, or one of these was acknowledged already."""
    active = [m.alert for m in sent if m.active]
    worst = min((SEVERITIES.index(alert.severity) for alert in active), default=len(SEVERITIES))
    acknowledged = any(alert.acknowledged_by for alert in active)
    return bool(fresh) and (acknowledged or any(SEVERITIES.index(m.alert.severity) < worst for m in fresh))


def _first(
    key: Key, labels: Mapping[str, str], members: Sequence[_Member], grouping: Grouping, now: datetime
) -> Flush | None:
    shown = [m.notified(now) for m in members if m.active and not m.quiet]
    first = min((m.alert.fired_at for m in shown), default=None)
    if first is None or gone_by(first, now) < grouping.wait:
        return None
    receiver, identity = key
    group = AlertGroup(
        key=identity,
        receiver=receiver,
        labels=labels,
        episode=episode_of(identity, now),  # not `first`: it may belong to an earlier, silenced episode
        number=1,
        told_at=now,
        paged_at=now,
        said={m.alert.fingerprint: m.alert for m in shown},
    )
    return Flush(
        group=group,
        news="firing",
        alerts=_in_order(shown),
        pages=True,
        escalated_after=unacknowledged_for(m.alert for m in shown),
    )


def _news(
    group: AlertGroup,
    sent: Mapping[str, _Member],
    fresh: Sequence[_Member],
    *,
    over: bool,
    grouping: Grouping,
    now: datetime,
) -> tuple[News | None, str | None]:
    """The news about the group, and the person behind it, if any."""
    pairs = [(group.said[identity], m) for identity, m in sent.items()]
    for before, m in pairs:
        if m.active and m.alert.acknowledged_by and m.alert.acknowledged_by != before.acknowledged_by:
            return "acknowledged", m.alert.acknowledged_by
    for before, m in pairs:
        if m.active and m.silence is not None and before.silenced_until is None:
            return "silenced", m.silence.created_by
    # an alert's episode does not matter: one that ends and comes back between two notifications makes no noise
    changed = bool(fresh) or any(m.alert.status != before.status for before, m in pairs if not (m.active and m.quiet))
    if changed and gone_by(group.told_at, now) >= grouping.interval:
        return ("resolved" if over else "changed"), None
    burning = [(before, m) for before, m in pairs if m.active and not m.quiet]
    unsilenced = any(before.silenced_until is not None for before, _ in burning)
    if unsilenced:  # the silence has ended, and the alert still fires
        return "repeated", None
    unacknowledged = any(m.alert.acknowledged_by is None for _, m in burning)
    if unacknowledged and gone_by(group.paged_at, now) >= grouping.repeat:
        return "repeated", None
    return None, None


def _in_order(members: Sequence[_Member]) -> tuple[NotifiedAlert, ...]:
    """The worst first, resolved alerts last."""

    def order(member: _Member) -> tuple[bool, int, datetime]:
        return not member.active, SEVERITIES.index(member.alert.severity), member.alert.fired_at

    return tuple(member.alert for member in sorted(members, key=order))
