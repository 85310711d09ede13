from __future__ import annotations

from monitor.alert.evaluation.together import FEW, Together
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import Span
from monitor.simulate.fakes.alerts import MemoryAlertStore
from tests.factories.alert.alerts import a_rule
from tests.factories.alert.notifications import at

NEGATIVE = Signal(kind=SignalKind.RATE, name="negative")
SPANS = (Span(start=at(0), end=at(5)), Span(start=at(5), end=at(6)))
BY = ("app", "environment")


def test_counts_of_each_are_those_of_a_query_for_it():
    store = MemoryAlertStore()
    rule = a_rule(by=BY, selector={"environment": ("prod", "test")})
    for app in range(3 * FEW):
        for environment in ("prod", "test", "dev"):
            store.count(at(app % 6), {"app": f"app{app}", "environment": environment}, 10 + app, negative=app)
    together = Together(rule, store)
    for app in (*range(3 * FEW), "unknown"):
        for environment in ("prod", "test"):
            asked = NEGATIVE, {"app": (f"app{app}",), "environment": (environment,)}, BY, SPANS
            assert together.counts(*asked) == store.counts(*asked)
            assert bool(together.counts(*asked)) is (app != "unknown")
