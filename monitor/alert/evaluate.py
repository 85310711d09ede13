"""One round over all rules: count, observe, change state, queue the notifications."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from monitor.alert.methods import METHODS
from monitor.alert.notification import Example, Notification, notifications_of
from monitor.alert.rule import Rule
from monitor.alert.state import Alert, State, Transition, abandoned, fingerprint, lapsed, transition
from monitor.alert.window import minutes
from monitor.errors import Fatal, Retriable
from monitor.ports import AlertStore

log = logging.getLogger(__name__)

# Bad answers that show the rule's signal, with these labels of the answers, in [start, end); three are used.
Examples: TypeAlias = Callable[[Rule, Mapping[str, str], datetime, datetime], Sequence[Example]]
Link: TypeAlias = Callable[[Alert], str | None]


def evaluate(
    rules: Sequence[Rule],
    store: AlertStore,
    now: datetime,
    receivers: Collection[str],
    examples: Examples,
    *,
    link: Link | None = None,
) -> list[Transition]:
    """Evaluates every rule at `now` and returns what changed; nothing when another replica holds the evaluator's lock.

    The transitions of one rule and their notifications are saved in one transaction. A round killed at any point may
    be evaluated again. A rule that fails is logged and tried again in the next round; the others go on. `receivers`
    are the names configured; `link` says where people look at an alert.

    Raises:
        Retriable: the store is out of reach; what was saved before stays.
        Fatal: it will not come back.
    """
    with store.evaluating() as ours:
        if not ours:
            return []
        known = {alert.fingerprint: alert for alert in store.alerts()}
        changes: list[Transition] = []
        for rule in rules:
            addressed = rule if rule.receivers is not None else replace(rule, receivers=tuple(receivers))
            try:
                changes += _evaluate_rule(addressed, store, known, now, examples=examples, link=link)
            except (Retriable, Fatal):
                raise
            except Exception:  # one rule's failure must not silence the others
                log.exception("alert rule %r failed; it is tried again in the next round", rule.name)
        changes += _end_abandoned(rules, store, known, now, link)
        return changes


def _evaluate_rule(
    rule: Rule,
    store: AlertStore,
    known: Mapping[str, Alert],
    now: datetime,
    *,
    examples: Examples,
    link: Link | None,
) -> list[Transition]:
    """Of alerts whose labels do not occur in the window, firing ones hold and pending ones end."""
    start, end = minutes(rule.window, now)
    changes: list[Transition] = []
    notifications: list[Notification] = []
    seen: set[str] = set()
    for count in store.window_counts(rule.selector, rule.signal, rule.by, start, end):
        observation = METHODS[rule.method](rule, count)
        identity = fingerprint(rule, count.labels)
        seen.add(identity)
        change = transition(rule, known.get(identity), observation, now)
        if change is None:
            continue
        changes.append(change)
        if change.notifies:
            # from the window that began the breach, so that the message keeps its examples when it is resolved
            first, _ = minutes(rule.window, change.alert.active_since)
            shown = _examples(examples, rule, count.labels, min(first, start), end)
            notifications += notifications_of(change, examples=shown, url=link(change.alert) if link else None)
    changes += [
        lapsed(alert, now)
        for alert in known.values()
        if alert.rule_digest == rule.digest and alert.state is State.PENDING and alert.fingerprint not in seen
    ]
    if changes:
        store.save(changes, notifications)
    return changes


def _end_abandoned(
    rules: Sequence[Rule], store: AlertStore, known: Mapping[str, Alert], now: datetime, link: Link | None
) -> list[Transition]:
    measured = {rule.digest for rule in rules}
    orphans = (alert for alert in known.values() if alert.rule_digest not in measured)
    changes = [change for alert in orphans if (change := abandoned(alert, now))]
    if changes:
        told = (notifications_of(change, url=link(change.alert) if link else None) for change in changes)
        store.save(changes, [notification for notifications in told for notification in notifications])
    return changes


def _examples(
    examples: Examples, rule: Rule, labels: Mapping[str, str], start: datetime, end: datetime
) -> Sequence[Example]:
    try:
        return examples(rule, labels, start, end)
    except Exception:  # a page without examples beats no page
        log.exception("alert rule %r: no examples could be read", rule.name)
        return ()
