"""A fake of the alert store, which passes the contract suite of the real one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from typing_extensions import override

from monitor.alert.answers import ListedAnswer, NewAnswers
from monitor.alert.evaluation.memory import Round, RuleMemory, SeriesMemory
from monitor.alert.labelled import LabelledRate
from monitor.alert.ports import AlertStore
from monitor.alert.probed import MAX_AGE, RUNS, Probed
from monitor.alert.signal import Signal
from monitor.alert.state import Alert, State, Transition
from monitor.alert.target import HourSums
from monitor.alert.window import HOUR, Count, Counts, Span
from monitor.core.diagnosis import Diagnosis
from monitor.core.errors import Retriable


@dataclass(frozen=True, slots=True, kw_only=True)
class _Minute:
    labels: Mapping[str, str]
    minute: datetime
    total: int
    matching: Mapping[str, int]

    def counted(self, signal: Signal) -> int:
        """The answers of which the signal is a share."""
        if not signal.is_of_diagnosis:
            return self.total
        return sum(self.matching.get(diagnosis, 0) for diagnosis in Diagnosis)


@dataclass(slots=True)
class MemoryAlertStore(AlertStore):
    """An `AlertStore` in memory, for one thread. `out_of_reach` makes every method raise `Retriable`.

    `watermark_at` is what `watermark` gives, `states` what `momentary` gives; `true_rates` and `probes` are what
    `labelled` and `probed` give by the name of the verdict or score, the newest run of a probe first; `arrived` are
    answers that are not listed yet.
    """

    history: list[Transition] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    states: list[Counts] = field(default_factory=list)
    arrived: list[ListedAnswer] = field(default_factory=list)
    listed: list[ListedAnswer] = field(default_factory=list)
    true_rates: dict[str, list[LabelledRate]] = field(default_factory=dict)
    probes: dict[str, list[Probed]] = field(default_factory=dict)
    watermark_at: datetime | None = None
    out_of_reach: bool = False
    locked_by_another: bool = False
    _minutes: list[_Minute] = field(default_factory=list)
    _alerts: dict[str, Alert] = field(default_factory=dict)
    _memory: dict[str, RuleMemory] = field(default_factory=dict)

    def count(self, minute: datetime, labels: Mapping[str, str], total: int, **matching: int) -> None:
        """Adds answers to the rollup; `matching` counts the answers of each rate by its name."""
        start = minute.replace(second=0, microsecond=0)
        self._minutes.append(_Minute(labels=labels, minute=start, total=total, matching=matching))

    @contextmanager
    @override
    def evaluating(self) -> Iterator[bool]:
        self._reach()
        yield not self.locked_by_another

    @override
    def counts(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], spans: Sequence[Span]
    ) -> list[Counts]:
        self._reach()
        sums: dict[tuple[str, ...], list[Count]] = {} if by else {(): [Count()] * len(spans)}
        for row in self._minutes:
            if any(values and row.labels.get(label, "") not in values for label, values in selector.items()):
                continue
            group = tuple(row.labels.get(label, "") for label in by)
            for place, span in enumerate(spans):
                if span.start <= row.minute < span.end:
                    before = sums.setdefault(group, [Count()] * len(spans))[place]
                    matching = before.sum + row.matching.get(signal.name, 0)
                    total = before.total + row.counted(signal)
                    sums[group][place] = Count(total=total, sum=matching, squares=matching)
        return [
            Counts(labels=dict(zip(by, group, strict=True)), counts=tuple(counts))
            for group, counts in sorted(sums.items())
            if not by or any(count.total for count in counts)
        ]

    @override
    def hour_sums(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], span: Span
    ) -> list[HourSums]:
        hours = [Span(start=span.start + HOUR * i, end=span.start + HOUR * (i + 1)) for i in range(span.length // HOUR)]
        sums = [HourSums.of(counts.labels, counts.counts) for counts in self.counts(signal, selector, by, hours)]
        return [of_group for of_group in sums if of_group.hours]

    @override
    def momentary(self, signal: Signal, now: datetime) -> list[Counts]:
        del signal, now
        self._reach()
        return self.states

    @override
    def list_new_answers(self, now: datetime) -> None:
        del now
        self._reach()
        while self.arrived:
            self.listed.append(self.arrived.pop(0))

    @override
    def new_answers(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], *, after: int | None, most: int
    ) -> NewAnswers:
        del signal
        self._reach()
        wanted = [
            answer
            for answer in self.listed
            if answer.place > (after or 0)
            and all(not values or answer.labels.get(label, "") in values for label, values in selector.items())
        ]
        if len(wanted) > most:
            wanted = [answer for answer in wanted[:most] if answer.place < wanted[most].place]
            return NewAnswers(answers=wanted, through=wanted[-1].place)
        return NewAnswers(answers=wanted, through=max([after or 0, *(answer.place for answer in self.listed)]))

    @override
    def labelled(self, signal: Signal) -> list[LabelledRate]:
        self._reach()
        return list(self.true_rates.get(signal.name, ()))

    @override
    def probed(self, signal: Signal, *, also: Collection[int], now: datetime) -> list[Probed]:
        self._reach()
        return [
            replace(found, runs=tuple(r for place, r in enumerate(found.runs) if place < RUNS or r.number in also))
            for found in self.probes.get(signal.name, ())
            if now - found.runs[0].ended_at < MAX_AGE
        ]

    @override
    def active_spans(self, rule_digest: str, since: datetime) -> dict[str, list[Span]]:
        self._reach()
        spans: dict[str, list[Span]] = {}
        for change in self.history:
            alert = change.alert
            if alert.rule_digest != rule_digest or not change.changed:
                continue
            active = spans.setdefault(alert.fingerprint, [])
            if active and active[-1].end == _FOR_EVER:
                active[-1] = Span(start=active[-1].start, end=change.at)
            if alert.state.active:
                active.append(Span(start=change.at, end=_FOR_EVER))
        recent = {identity: [span for span in active if span.end > since] for identity, active in spans.items()}
        return {identity: active for identity, active in recent.items() if active}

    @override
    def watermark(self, now: datetime) -> datetime | None:
        del now
        self._reach()
        return self.watermark_at

    @override
    def alerts(self) -> list[Alert]:
        self._reach()
        return [alert for alert in self._alerts.values() if alert.state is not State.INACTIVE]

    @override
    def memory(self, rule_digest: str) -> RuleMemory:
        self._reach()
        return self._memory.get(rule_digest, RuleMemory())

    @override
    def save(self, done: Round) -> None:
        self._write(done.transitions)
        self.rounds.append(done)
        remembered: dict[str, SeriesMemory] = {**self.memory(done.rule_digest).by_fingerprint, **done.remembered}
        for identity in done.forgotten:
            remembered.pop(identity, None)
        failing = (self.memory(done.rule_digest).failing_since or done.at) if done.error else None
        self._memory[done.rule_digest] = replace(done.memory, failing_since=failing, by_fingerprint=remembered)

    @override
    def evaluated(self) -> dict[str, datetime]:
        self._reach()
        return {done.rule_digest: done.at for done in self.rounds if done.rule_digest in self._memory}

    @override
    def end(self, transitions: Sequence[Transition], gone: Collection[str]) -> None:
        self._write(transitions)
        for digest in gone:
            self._memory.pop(digest, None)

    def acknowledge(self, fingerprint: str, *, by: str, now: datetime) -> None:
        """Records what a person does."""
        self._alerts[fingerprint] = replace(self._alerts[fingerprint], acknowledged_by=by, acknowledged_at=now)

    def _write(self, transitions: Sequence[Transition]) -> None:
        self._reach()
        for change in transitions:
            stored = self._alerts.get(change.alert.fingerprint)
            begins = change.previous is None and stored is not None and stored.state is State.RESOLVED
            if not begins and _key(stored) != _key(change.previous):
                raise Retriable(f"the alert {change.alert.fingerprint} was changed by another evaluator")
        self._alerts.update({change.alert.fingerprint: self._acted_on(change.alert) for change in transitions})
        self.history += [change for change in transitions if change.changed]

    def _acted_on(self, alert: Alert) -> Alert:
        """The alert with what people have done to its episode since it was read."""
        stored = self._alerts.get(alert.fingerprint)
        if stored is None or stored.episode != alert.episode:
            return alert
        return replace(alert, acknowledged_by=stored.acknowledged_by, acknowledged_at=stored.acknowledged_at)

    def _reach(self) -> None:
        if self.out_of_reach:
            raise Retriable("the store is out of reach")


_FOR_EVER = datetime.max.replace(tzinfo=UTC)


def _key(alert: Alert | None) -> tuple[str, State] | None:
    return None if alert is None or alert.state is State.INACTIVE else (alert.episode, alert.state)
