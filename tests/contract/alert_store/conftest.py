"""Both alert stores: in memory and in Postgres."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.alert.probed import Probed, ProbedRun
from monitor.probe.result import RunState
from monitor.simulate.fakes.alerts import MemoryAlertStore
from monitor.store.alert.alerts import PostgresAlertStore
from monitor.store.probe.runs import ProbeRuns
from tests.factories.answers import a_batch
from tests.factories.probe.runs import AT, item, result, run


@pytest.fixture(params=["memory", "postgres"])
def backend(request):
    return request.param


@pytest.fixture
def store(backend, request):
    return MemoryAlertStore() if backend == "memory" else PostgresAlertStore(request.getfixturevalue("engine"))


@pytest.fixture
def count(backend, store, request):
    """Puts assessments where the store counts them."""

    def in_memory(*assessments):
        for a in assessments:
            it = a.interaction
            labels = {
                "app": it.app,
                "environment": it.environment,
                "model": it.model or "",
                "topic": it.tags.get("topic", ""),
            }
            shown = Counter([a.verdict, *a.reasons, *(["negative"] if a.verdict.negative else [])])
            shown.update([a.diagnosis.diagnosis] if a.diagnosis else [])
            store.count(it.occurred_at, labels, 1, **shown)

    def in_postgres(*assessments):
        request.getfixturevalue("writer").write(a_batch(*assessments))

    return in_memory if backend == "memory" else in_postgres


@pytest.fixture
def probe(backend, store, request):
    """Stores a run of a probe with these scores of its questions (0: not sure) and returns its number.

    All of them end at `probe.ended_at`.
    """
    ended_at = AT + timedelta(minutes=5)
    labels = ("probe", "app", "environment")

    def in_memory(*scores, **changes):
        of = run(**changes)
        named = {f"q{place}": float(score) for place, score in enumerate(scores)}
        number = 1 + sum(len(found.runs) for found in store.probes.get("unsure", ()))
        told = {
            "correctness": {item: score for item, score in named.items() if score},
            "unsure": {item: float(not score) for item, score in named.items()},
        }
        for name, values in told.items():
            one = ProbedRun(
                number=number,
                ended_at=ended_at,
                chatbot=of.chatbot,
                turns=of.turns,
                items=len(scores),
                judged=len(scores),
                values=values,
            )
            key = {label: getattr(of, label) for label in labels}
            probes = store.probes.setdefault(name, [])
            before = next((found for found in probes if found.labels == key), Probed(**key, runs=()))
            store.probes[name] = [*(p for p in probes if p is not before), replace(before, runs=(one, *before.runs))]
        return number

    def in_postgres(*scores, **changes):
        runs = ProbeRuns(request.getfixturevalue("engine"))
        one = runs.begin(run(items=len(scores), **changes), mark=f"{len(runs.runs(most=99))}")
        for place, score in enumerate(scores):
            runs.save(one.number, place, result(item(place), score))
        runs.end(one.number, RunState.DONE, now=ended_at)
        return one.number

    written = in_memory if backend == "memory" else in_postgres
    written.ended_at = ended_at
    return written
