"""Problems of a rules file that no single value shows: names that are repeated or lead nowhere, steps in no order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta

from monitor.alert.rules.form import RuleForm, RulesForm
from monitor.core.text.duration import format_duration
from monitor.core.yaml.problems import Problem


def problems_between(form: RulesForm, receivers: Collection[str]) -> list[Problem]:
    """Each problem with its place; `receivers` are the names of the configured receivers."""
    intervals, rules = [named.name for named in form.time_intervals], [entry.name for entry in form.rules]
    problems: list[Problem] = [
        ((field, place, "name"), f"another {kind} is already named {name!r}")
        for field, kind, names in (("time_intervals", "time interval", intervals), ("rules", "rule", rules))
        for place, name in enumerate(names)
        if name in names[:place]
    ]
    for index, entry in enumerate(form.rules):
        found = [*_receivers(entry, receivers), *_intervals(entry, intervals), *_steps(entry, receivers)]
        if entry.runbook and "runbook" in entry.annotations:
            found.append((("runbook",), "is among the annotations already: name it once"))
        if entry.owner and "owner" in entry.annotations:
            found.append((("owner",), "is among the annotations already: name it once"))
        problems += [(("rules", index, *path), text) for path, text in found]
    return problems


def _receivers(entry: RuleForm, known: Collection[str]) -> Iterator[Problem]:
    for place, receiver in enumerate(entry.receivers or ()):
        if receiver not in known:
            yield ("receivers", place), _not_configured(receiver, known)


def _intervals(entry: RuleForm, known: Sequence[str]) -> Iterator[Problem]:
    fields = {"mute_time_intervals": entry.mute_time_intervals, "active_time_intervals": entry.active_time_intervals}
    for field, names in fields.items():
        for place, name in enumerate(names):
            if name not in known:
                listed = ", ".join(known) or "none"
                yield (field, place), f"no time interval is named {name!r}; named under time_intervals: {listed}"


def _steps(entry: RuleForm, known: Collection[str]) -> Iterator[Problem]:
    """Steps have to come one after the other, and each has to notify somebody new."""
    if entry.escalation and entry.receivers is None:
        yield ("escalation",), "the rule notifies every receiver from the beginning: list its first ones in `receivers`"
        return
    notified = dict.fromkeys(entry.receivers or (), "from the beginning")
    before = timedelta()
    for place, step in enumerate(entry.escalation):
        if step.after <= before:
            earlier = format_duration(before)
            yield ("escalation", place, "after"), f"must be longer than that of the step before, {earlier}"
        before = max(before, step.after)
        for nth, receiver in enumerate(step.receivers):
            where = ("escalation", place, "receivers", nth)
            if receiver not in known:
                yield where, _not_configured(receiver, known)
            elif receiver in notified:
                yield where, f"{receiver!r} is notified {notified[receiver]} already"
            notified.setdefault(receiver, f"after {format_duration(step.after)}")


def _not_configured(receiver: str, known: Collection[str]) -> str:
    return f"receiver {receiver!r} is not configured; configured: {', '.join(sorted(known)) or 'none'}"
