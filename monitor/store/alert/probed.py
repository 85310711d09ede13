"""Reads the newest runs of probes for alert rules, with the scores of their items."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from math import isfinite
from typing import TypeAlias

from sqlalchemy import Connection, Engine, text

from monitor.alert.probed import LOOKED_BACK, MAX_AGE, RUNS, Probed, ProbedRun
from monitor.alert.signal import UNJUDGED
from monitor.probe.result import ProbeRun
from monitor.store.database import bounded
from monitor.store.probe.newest import newest_runs, run_figures

_SCORES = text("""
    SELECT run, item, state, correctness, wscore FROM probe_result
    WHERE run = ANY(:runs) AND state IN ('graded', 'unsure')
""")
# Digests, because texts are long; only sets of which a probe has asked more than one version are compared.
_TEXTS = text("""
    SELECT i.name, i.version, i.id, sha256(convert_to(i.question, 'UTF8')) || sha256(convert_to(i.reference, 'UTF8'))
    FROM golden_item i JOIN unnest(CAST(:names AS text[]), CAST(:versions AS integer[])) AS asked (name, version)
    ON i.name = asked.name AND i.version = asked.version WHERE NOT i.erased
""")


def probed_runs(engine: Engine, name: str, *, also: Collection[int], now: datetime) -> list[Probed]:
    """The probes whose newest run ended in the last `MAX_AGE`; `name` is that of a signal of kind `probe`.

    Earlier runs have only the values of questions that the newest one asks alike, with the same reference.

    Raises:
        Retriable: the database is out of reach.
    """
    if name == UNJUDGED:
        return _ended_runs(engine, now=now)
    values: dict[int, dict[str, float]] = {}
    judged: dict[int, int] = {}
    with bounded(engine) as connection:
        runs = newest_runs(connection, most=RUNS, since=now - LOOKED_BACK, also=also)
        for row in connection.execute(_SCORES, {"runs": [run.number for run in runs]}):
            judged[row.run] = judged.get(row.run, 0) + 1
            if name == "unsure":
                value: float | None = float(not row.correctness)  # as in `Scored.is_unsure`
            else:
                value = None if row.state == "unsure" else getattr(row, name)
            if value is not None and isfinite(value):
                values.setdefault(row.run, {})[row.item] = value
        probes = [[*group] for _, group in groupby(runs, key=lambda run: (run.probe, run.app, run.environment))]
        texts = _texts(connection, probes)
    found = []
    for group in probes:
        own = (
            _probed(run, judged.get(run.number, 0), _alike(values.get(run.number, {}), run, group[0], texts))
            for run in group
        )
        found.append(_of_probe(group[0], tuple(own)))
    return [probe for probe in found if now - probe.runs[0].ended_at < MAX_AGE]


def _ended_runs(engine: Engine, *, now: datetime) -> list[Probed]:
    """The newest run of each probe, with the number of its judged questions: also one that an error ended."""
    with bounded(engine) as connection:
        runs = newest_runs(connection, most=1, since=now - LOOKED_BACK, failed=True)
        figures = run_figures(connection, [run.number for run in runs])
    found = (_of_probe(run, (_probed(run, figures[run.number].unsure.count, {}),)) for run in runs)
    return [probe for probe in found if now - probe.runs[0].ended_at < MAX_AGE]


def _of_probe(newest: ProbeRun, runs: tuple[ProbedRun, ...]) -> Probed:
    return Probed(probe=newest.probe, app=newest.app, environment=newest.environment, runs=runs)


def _probed(run: ProbeRun, judged: int, values: Mapping[str, float]) -> ProbedRun:
    return ProbedRun(
        number=run.number,
        ended_at=run.ended_at or run.began_at,
        chatbot=run.chatbot,
        turns=run.turns,
        items=run.items,
        judged=judged,
        values=values,
        error=run.error,
    )


_Texts: TypeAlias = Mapping[tuple[str, int], Mapping[str, bytes]]  # of the items of each version of a golden set, by id


def _texts(connection: Connection, probes: Sequence[Sequence[ProbeRun]]) -> _Texts:
    several = [group for group in probes if len({run.golden_hash for run in group}) > 1]
    sets = sorted({(run.golden, run.golden_version) for group in several for run in group})
    found: dict[tuple[str, int], dict[str, bytes]] = {}
    if sets:
        asked = {"names": [name for name, _ in sets], "versions": [version for _, version in sets]}
        for name, version, item, digest in connection.execute(_TEXTS, asked):
            found.setdefault((name, version), {})[item] = digest
    return found


def _alike(values: Mapping[str, float], run: ProbeRun, newest: ProbeRun, texts: _Texts) -> Mapping[str, float]:
    if run.golden_hash == newest.golden_hash:
        return values
    then, now = (texts.get((one.golden, one.golden_version), {}) for one in (run, newest))
    return {item: value for item, value in values.items() if item in then and then[item] == now.get(item)}
