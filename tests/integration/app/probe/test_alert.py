"""An alert on a probe as the application is wired: the message leads to the run that it is about."""

from __future__ import annotations

from datetime import timedelta

from monitor.alert.rules.file import parse_rules
from monitor.app.wiring.application import Application
from monitor.core.settings.load import load_settings
from monitor.probe.result import RunState
from monitor.simulate.fakes.outbox import MemoryReceiver
from tests.factories.probe.runs import AT, item, result, run

RULES = """\
grouping: {wait: 0s}
rules:
  - {name: probe-declined, signal: {probe: correctness}}
"""


def test_the_message_leads_to_the_run(database, monkeypatch):
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)
    monkeypatch.setenv("MONITOR_PUBLIC_URL", "https://monitor.example.org/")
    receiver = MemoryReceiver()
    rules = parse_rules(RULES, name="rules.yaml", receivers=["memory"])
    with Application(load_settings(), now=lambda: AT + timedelta(hours=1)) as application:
        runs = application.probing.runs
        for n, scores in enumerate(([5, 4] * 10, [4, 2] * 10)):
            one = runs.begin(run(items=20, began_at=AT), mark=f"{n}")
            for place, score in enumerate(scores):
                runs.save(one.number, place, result(item(place), score))
            runs.end(one.number, RunState.DONE, now=AT)
        loop = application.alerting.loop(rules=lambda: rules, receivers={"memory": receiver})
        loop.evaluate(application.now())
        loop.deliver(application.now())
    (sent,) = receiver.sent
    assert sent.run_url == f"https://monitor.example.org/probes/{one.number}"
