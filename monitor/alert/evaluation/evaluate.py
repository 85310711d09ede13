"""Evaluates all rules once: count, observe, change states, save. `notify/dispatch.py` decides who is notified."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from monitor.alert.evaluation.evidence import with_evidence
from monitor.alert.evaluation.learning import with_baselines
from monitor.alert.evaluation.memory import Round, RuleMemory, SeriesMemory
from monitor.alert.evaluation.reading import read
from monitor.alert.evaluation.together import Together
from monitor.alert.methods.method import Memory
from monitor.alert.ports import AlertStore, SignalReader
from monitor.alert.probed import NOTHING_OF_LATE
from monitor.alert.rule import Rule
from monitor.alert.signal import SignalKind
from monitor.alert.state import Alert, State, Transition, abandoned, fingerprint, transition
from monitor.alert.target import LEARNT_OVER, LEAST_HOURS, LEAST_SAMPLES
from monitor.alert.window import Count, Counts, Observation, Outcome, gone_by
from monitor.core.errors import Fatal, MonitorError, Retriable
from monitor.core.stage import stage
from monitor.core.text.duration import spelled

log = logging.getLogger(__name__)

# How far reading may be behind before windows count as incomplete; progress is reported every few seconds.
BEHIND = timedelta(seconds=60)
# One failed evaluation means little; a rule that keeps failing means that nobody is watching.
ERROR_FOR = timedelta(minutes=5)
FORGET_AFTER = timedelta(days=1)
# A rule that no replica evaluated for this long is gone: replicas get a new rules file at different times.
ABANDON_AFTER = timedelta(minutes=5)
HELD = f"not judged yet: the usual level is learnt from {LEAST_HOURS} hours with answers, and {LEAST_SAMPLES} answers"
_PASSING = frozenset({"keep_last", "normal"})  # of `no_data`: those by which a probe without runs has no alert
SEEN_AGAIN = timedelta(minutes=5)  # the precision of `seen_at`, so that not every round writes every row


def evaluate(rules: Sequence[Rule], store: AlertStore, now: datetime, receivers: Collection[str]) -> list[Transition]:
    """Evaluates every rule at `now` and returns the changes of state; the caller holds the evaluator's lock.

    The result of each rule is saved in one transaction, so a round that was killed can be evaluated again. A rule that
    fails, for example because its query takes too long, is tried again in the next round, and the others go on. It
    counts as `error` once it has failed for `ERROR_FOR`, or for the rule's `for` if that is longer. `receivers` are the
    names of the configured receivers.

    Raises:
        Retriable, Fatal: no rule could be saved: the store is out of reach.
    """
    alerts = store.alerts()
    watermark = store.watermark(now)
    changes: list[Transition] = []
    failures: list[MonitorError] = []
    measured = {rule.digest: rule for rule in rules}
    if any(rule.signal.kind is SignalKind.RANKS for rule in rules):
        _list_new_answers(store, now)
    for digest, rule in measured.items():
        addressed = rule if rule.receivers is not None else replace(rule, receivers=tuple(receivers))
        known = {alert.fingerprint: alert for alert in alerts if alert.rule_digest == digest}
        try:
            with stage("rule", rule=rule.name):
                done = _round(addressed, store, known, watermark, now)
                store.save(done)
            changes += [change for change in done.transitions if change.changed]
        except (Retriable, Fatal) as error:
            known_by = {"rule": rule.name}
            log.error("alert rule %r: the result could not be saved: %s", rule.name, error, extra=known_by)  # noqa: TRY400  not a defect
            failures.append(error)
    if failures and len(failures) == len(measured):
        raise failures[0]
    return changes + _end_abandoned(store, alerts, measured, now)


def _list_new_answers(store: AlertStore, now: datetime) -> None:
    """Lists new answers for the rules; if that fails, they go on with those listed, and the next round tries again."""
    try:
        store.list_new_answers(now)
    except (Retriable, Fatal) as error:
        log.warning("new answers could not be listed: %s; the next round tries again", error)


def _end_abandoned(
    store: AlertStore, alerts: Sequence[Alert], measured: Collection[str], now: datetime
) -> list[Transition]:
    """Ends the alerts of rules that no replica evaluates any more, and forgets those rules."""
    evaluated = store.evaluated()
    gone = [d for d, at in evaluated.items() if d not in measured and gone_by(at, now) >= ABANDON_AFTER]
    unknown = {*measured, *evaluated}
    orphans = [alert for alert in alerts if alert.rule_digest in gone or alert.rule_digest not in unknown]
    ended = [change for alert in orphans if (change := abandoned(alert, now))]
    store.end(ended, gone)
    return ended


def _round(
    rule: Rule, store: AlertStore, known: Mapping[str, Alert], watermark: datetime | None, now: datetime
) -> Round:
    memory = store.memory(rule.digest)
    try:
        if not rule.signal.is_momentary and watermark is not None and watermark < now - max(rule.lateness, BEHIND):
            return Round(rule=rule.name, rule_digest=rule.digest, at=now, memory=memory, stale=True)
        return evaluate_rule(rule, store, memory, known, now)
    except (Retriable, Fatal) as error:  # if the whole store is out of reach, saving the result raises again
        log.warning("alert rule %r failed: %s; the next round tries again", rule.name, error)
        return _failed(rule, memory, known, str(error), now)
    except Exception as error:  # one rule's failure must not silence the others
        log.exception("alert rule %r failed because of a defect; the next round tries again", rule.name)
        return _failed(rule, memory, known, type(error).__name__, now)


def evaluate_rule(
    rule: Rule, signals: SignalReader, memory: RuleMemory, known: Mapping[str, Alert], now: datetime
) -> Round:
    """The result of one rule at `now`, from its memory and its `known` alerts, by fingerprint; saves nothing."""
    stored = memory.by_fingerprint
    memory = with_baselines(rule, signals, memory, now)
    counted, spans, place = read(rule, signals, memory, now)
    together = Together(rule, signals)
    remembered: dict[str, SeriesMemory] = {}
    transitions: list[Transition] = []
    for counts in (*counted, *_silent(rule, counted, spans, memory, known)):
        identity = fingerprint(rule, counts.labels)
        before = memory.by_fingerprint.get(identity)
        alert = known.get(identity)
        observation, kept = _observed(rule, counts, before, now)
        # a method that remembers has judged new answers alone: it is not asked again
        bound = None if kept is not None else rule.method.target.bound(before.baseline if before else None)
        observation = with_evidence(rule, together, observation, alert, now, bound=bound)
        if alert is not None and (why := _gone(rule, counts, before, now)) is not None:
            change = abandoned(alert, now, note=f"ended because {why}")
        else:
            change = transition(rule, alert, observation, now)
        if change is not None:
            transitions.append(change)
        after = _remembered(counts, before, kept, now)
        if after != stored.get(identity):
            remembered[identity] = after
    if (recovery := _recovery(rule, known, now)) is not None:
        transitions.append(recovery)
    # a baseline is kept as long as the period it is learnt from, or nothing would be known on a Monday
    has_past = rule.method.target.is_learnt or rule.signal.kind in (SignalKind.RANKS, SignalKind.PROBE)
    kept_for = LEARNT_OVER if has_past else FORGET_AFTER
    forgotten = [
        identity
        for identity, series in memory.by_fingerprint.items()
        if series.seen_at < now - kept_for and not (identity in known and _goes_on(known[identity]))
    ]
    return Round(
        rule=rule.name,
        rule_digest=rule.digest,
        at=now,
        memory=replace(memory, until=now, place=place),
        transitions=tuple(transitions),
        remembered={identity: series for identity, series in remembered.items() if identity not in forgotten},
        forgotten=tuple(forgotten),
    )


def _silent(
    rule: Rule, counted: Sequence[Counts], spans: int, memory: RuleMemory, known: Mapping[str, Alert]
) -> list[Counts]:
    """Empty counts for labels that had something before."""
    seen = {fingerprint(rule, counts.labels) for counts in counted}
    labels = {identity: series.labels for identity, series in memory.by_fingerprint.items()}
    for identity, alert in known.items():
        if _goes_on(alert) and not _is_substitute(alert, rule):
            labels[identity] = _answer_labels(alert, rule)
    nothing = (Count(),) * spans
    return [Counts(labels=own, counts=nothing) for identity, own in labels.items() if identity not in seen]


def _observed(
    rule: Rule, counts: Counts, before: SeriesMemory | None, now: datetime
) -> tuple[Observation, Memory | None]:
    memory = before.memory if before else None
    bound = rule.method.target.bound(before.baseline if before else None)
    if bound is None:
        return _unsure(counts, HELD), memory
    return rule.method.observe(counts, signal=rule.signal, bound=bound, memory=memory, now=now)


def _gone(rule: Rule, counts: Counts, before: SeriesMemory | None, now: datetime) -> str | None:
    """Why nothing is expected to come any more, as for an app that was switched off; None if something may.

    The newest run of a probe counts until it is too old, so nobody knows of what it told whether it has ended: that is
    said where `normal` would end the alert as if the answers were right again.
    """
    if _holds(counts):
        return None
    if rule.signal.is_of_probe:
        return f"{NOTHING_OF_LATE}: whether it is better is not known" if rule.no_data in _PASSING else None
    silent = rule.no_data == "keep_last" and before is not None and before.seen_at < now - FORGET_AFTER
    return f"nothing has arrived for {spelled(FORGET_AFTER)}" if silent else None


def _holds(counts: Counts) -> bool:
    """Whether something came; a run of a probe did, even if the chatbot answered none of its questions."""
    return counts.probed is not None or any(count.total for count in counts.counts)


def _remembered(counts: Counts, before: SeriesMemory | None, memory: Memory | None, now: datetime) -> SeriesMemory:
    if before is None:
        return SeriesMemory(labels=counts.labels, seen_at=now, memory=memory)
    again = _holds(counts) and before.seen_at < now - SEEN_AGAIN
    return replace(before, memory=memory, seen_at=now if again else before.seen_at)


def _failed(rule: Rule, memory: RuleMemory, known: Mapping[str, Alert], error: str, now: datetime) -> Round:
    """Puts the rule's pending and active alerts into error, plus one without labels as a substitute for all others."""
    found: list[Observation] = []
    if now - (memory.failing_since or now) >= max(ERROR_FOR, rule.for_):
        detail = f"the rule cannot be evaluated: {error}"
        labels = [_answer_labels(alert, rule) for alert in known.values() if _goes_on(alert)]
        # nobody watches the labels that do not fire: an alert without labels stands for them
        found = [_nothing(own, Outcome.ERROR, detail) for own in ([*labels, {}] if {} not in labels else labels)]
    changes = [transition(rule, known.get(fingerprint(rule, o.labels)), o, now) for o in found]
    return Round(
        rule=rule.name,
        rule_digest=rule.digest,
        at=now,
        memory=memory,
        transitions=tuple(change for change in changes if change),
        error=error,
    )


def _recovery(rule: Rule, known: Mapping[str, Alert], now: datetime) -> Transition | None:
    """The end of the substitute alert that was raised while the rule failed."""
    for alert in known.values():
        if _goes_on(alert) and _is_substitute(alert, rule):
            return transition(rule, alert, _nothing(_answer_labels(alert, rule), Outcome.NORMAL), now)
    return None


def _goes_on(alert: Alert) -> bool:
    return alert.state.active or alert.state is State.PENDING


def _is_substitute(alert: Alert, rule: Rule) -> bool:
    """Whether the alert has no labels of answers although the rule groups by labels."""
    return bool(rule.by) and not _answer_labels(alert, rule)


def _answer_labels(alert: Alert, rule: Rule) -> dict[str, str]:
    """The labels of the answers, without the rule's own labels."""
    return {label: alert.labels[label] for label in rule.by if label in alert.labels}


def _unsure(counts: Counts, detail: str) -> Observation:
    return replace(_nothing(counts.labels, Outcome.UNSURE, detail), samples=counts.counts[0].total)


def _nothing(labels: Mapping[str, str], outcome: Outcome, detail: str | None = None) -> Observation:
    return Observation(
        labels=labels, outcome=outcome, value=None, samples=0, lower=0.0, upper=1.0, bound=0.0, detail=detail
    )
