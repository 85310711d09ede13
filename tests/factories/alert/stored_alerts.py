"""An alert in each state, and transitions saved in a store."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from monitor.alert.evaluation.memory import Round, RuleMemory, SeriesMemory
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.state import State, Transition
from monitor.alert.window import Span
from monitor.core.model import Verdict
from tests.factories.alert.alerts import an_alert
from tests.factories.answers import NOON, an_assessment, at

EMPTY = RuleMemory()
ALL = Span(start=NOON - timedelta(days=1), end=NOON + timedelta(days=1))


def rate(name: str) -> Signal:
    return Signal(kind=SignalKind.RATE, name=name)


def some(number, verdict=Verdict.GROUNDED, **over):
    """`number` assessments alike, each with an id of its own."""
    some.made += number
    return [an_assessment(id=f"q-{some.made - i}", verdict=verdict, **over) for i in range(number)]


some.made = 0
PENDING = an_alert(
    state=State.PENDING,
    fired_at=None,
    receivers=(),
    active_since=at(0),
    labels={"app": "a", "team": 'Søren’s "A"'},
)
FIRING = replace(PENDING, state=State.FIRING, fired_at=at(2), receivers=("console", "slack"), value=0.5, samples=80)
DIGEST = PENDING.rule_digest


def change(previous, alert, minute=0.0) -> Transition:
    return Transition(previous=previous, alert=alert, at=at(minute))


def save(store, *changes, minute=0.0, memory=EMPTY, **more) -> None:
    store.save(
        Round(rule="negative-rate", rule_digest=DIGEST, at=at(minute), memory=memory, transitions=changes, **more)
    )


SHOP = SeriesMemory(labels={"app": "shop"}, seen_at=at(1))
