"""Events that flow through an application whose providers are scripted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from threading import Event
from threading import enumerate as threads
from typing import Any

from monitor.app.wiring.application import Application
from monitor.core.batch import Tally
from monitor.core.message import Offset, Position
from monitor.core.settings.load import Settings
from monitor.store.ledger.ledger import Ledger
from tests.factories.answers import (
    a_message,
)
from tests.rig.ingest.consuming import answer
from tests.servers.llm import (
    CHAT_MODEL,
    KEY,
)

TOPIC = "answers"
FOR_EVER = 3600
EVERYTHING = (
    "SELECT app, id, occurred_at, verdict, rule_verdict, reasons, refusal_kind, p_grounded, p_refusal, sdq, sdrd, sda,"
    " qrd, qa, features, support, profile_hash, live FROM assessment ORDER BY app, id"
)


@dataclass
class Partition:
    """Messages as a reader of one partition of Kafka gives them."""

    values: list[bytes]
    reached: int = 0
    told: int = 0

    def poll(self, *, max_messages: int, **_: object) -> list[Any] | None:
        given = [
            a_message(value, position=Position(topic=TOPIC, partition=0, offset=self.reached + n))
            for n, value in enumerate(self.values[self.reached : self.reached + max_messages])
        ]
        self.reached += len(given)
        return given or None

    def offsets(self) -> list[Offset]:
        found = Offset(
            topic=TOPIC,
            partition=0,
            expected=self.told or None,
            begin=self.told,
            next=self.reached,
            received=self.reached - self.told,
        )
        self.told = self.reached
        return [found] if found.received else []

    def hold(self) -> None: ...

    def stored(self, offsets: object) -> None: ...

    def close(self) -> None: ...


def flow(application: Application, values: list[bytes], *, start: int = 0) -> Tally:
    """All of them from `start` on as `consume` does it, but without its workers."""
    application.prepare()
    flow = application.flow(
        Partition(values, start, start), app=None, dialect=None, stop=Event(), written=lambda *_: None, set_aside=True
    )
    return flow.run()


def in_balance(engine):
    rows, recounted = Ledger(engine).read(recount=True)
    assert [row for row in rows if not row.balanced] + [one for one in recounted if not one.balanced] == []
    names = ("received", "assessed", "duplicate", "dead", "pending")
    return Counter({name: sum(row.counts[name] for row in rows) for name in names})


def event(n: int) -> bytes:
    return answer(f"q-{n}", answer=f"Deleted snapshots are kept for {n} days.")


def replace_settings(settings: Settings, **over: Any) -> Settings:
    return Settings(**{**{name: getattr(settings, name) for name in settings.model_fields_set}, **over})


def llm(server, **over):
    return {"base_url": server.base_url, "api_key": KEY, "model": CHAT_MODEL, **over}


def judging(server, **over):
    """Settings for a judge who judges everything, with one call for each."""
    judge = {"mode": "separate", "metrics": ["answer_relevance"], "sample": {"rest": 1.0}, "budget_share": 1.0}
    return {"llm": llm(server), "judge": {**judge, **over}}


def judged(rows) -> list[tuple]:
    return rows("SELECT count(*), count(DISTINCT (app, id)) FROM judgement")


def no_worker_left():
    return not [thread for thread in threads() if thread.name in {"JudgingWorker", "AssessingWorker"}]
