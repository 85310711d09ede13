"""What the audit trail holds of golden sets and of the runs of probes, so that nobody can change them unnoticed.

The act of a version of a golden set, or of a run that ended, holds a digest of its rows. The texts of a row are in that
digest as a commitment under the row's secret (`monitor.audit.commitment`). An erasure or a retention deletes the texts
with the secret: then nothing tells what they were, and the scores can still be proven.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, select

from monitor.audit.canonical import canonical
from monitor.audit.commitment import commitment, field_key
from monitor.audit.record import portable
from monitor.core.model import Json
from monitor.store.audit_queue import Act, Kind
from monitor.store.tables.probe import probe_result, probe_run, probe_turn

OTHER_TEXTS: Final = " of other texts"  # follows the digest of rows whose texts do not fit their commitments
TEXTS_REMOVED: Final = "probe texts"  # the subject of the act that a retention removed texts of runs
_r, _p, _t = probe_run.c, probe_result.c, probe_turn.c
_SCORES: Final = tuple(column.name for column in _p if column.name not in {"run", "secret"})
_PLAIN: Final = ("place", "turn", "scores", "reason", "latency_ms")  # of a turn; the other columns are texts
_TEXTS: Final = tuple(column.name for column in _t if column.name not in {"run", *_PLAIN})
# What an erasure or a retention makes of a turn. Of a failure its kind stays, before the colon.
BLANK_TURN: Final = """
    question = '', answer = '', documents = '[]', composed = NULL, feedback = '', leaks = ARRAY[]::text[],
    failure = split_part(failure, ':', 1)
"""
_RUN: Final = ("probe", "environment", "chatbot", "candidate", "state", "items", "target", "turns", "repeats", "judge")
_ITEM: Final = ("id", "question", "reference", "tags", "source_app", "source_id")


def item_committed(secret: bytes, row: Mapping[Any, Any]) -> str:
    """The commitment to the row of a golden item."""
    return commitment(field_key(secret, "item"), [portable(row[name]) for name in _ITEM])


def turns_committed(secret: bytes, turns: Iterable[Mapping[Any, Any]]) -> str:
    """The commitment to the rows of the turns about an item, in their order."""
    return commitment(field_key(secret, "turns"), [[portable(turn[name]) for name in _TEXTS] for turn in turns])


def items_digest(rows: Sequence[Mapping[Any, Any]]) -> str | None:
    """The digest of the items of a version, in their order; None if one of them was stored without a commitment."""
    lines: list[list[Json]] = [
        [row["place"], row["id"], row["source_app"], row["source_id"], row["committed"]] for row in rows
    ]
    fit = all(
        row["erased"] if row["secret"] is None else item_committed(bytes(row["secret"]), row) == row["committed"]
        for row in rows
    )
    return _digest(lines, rows, fit=fit)


def run_act(connection: Connection, row: Mapping[Any, Any]) -> Act:
    """The act that a run, which is over, ended: what was asked, who judged, and the digest of what is stored of it.

    `row` is that of the run. Reads its results and their texts.
    """
    body: dict[str, Json] = {
        **{name: row[name] for name in _RUN},
        "golden": f"{row['golden']} {row['golden_version']}",
        "golden_hash": row["golden_hash"],
        "prompts_hash": row["prompts_hash"],
        "began_at": row["began_at"].isoformat(),
        "mark": sha256(row["mark"].encode()).hexdigest(),
    }
    if (digest := _results_digest(connection, row["number"])) is not None:
        body["results"] = digest
    return Act(kind=Kind.PROBE, by="monitor", at=row["ended_at"], app=row["app"], subject=str(row["number"]), body=body)


def run_acts(connection: Connection) -> list[Act]:
    """The act of each stored run that is over; reads one run at a time."""
    over = select(probe_run).where(_r.ended_at.is_not(None)).order_by(_r.number)
    return [run_act(connection, row) for row in connection.execute(over).mappings().all()]


def _results_digest(connection: Connection, number: int) -> str | None:
    rows = connection.execute(select(probe_result).where(_p.run == number).order_by(_p.place)).mappings().all()
    turns: dict[int, list[Mapping[Any, Any]]] = {}
    found = select(probe_turn).where(_t.run == number).order_by(_t.place, _t.turn)
    for turn in connection.execute(found).mappings():
        turns.setdefault(turn["place"], []).append(turn)
    fit = all(
        all(map(_is_blank, turns.get(row["place"], ())))
        if row["secret"] is None
        else turns_committed(bytes(row["secret"]), turns.get(row["place"], ())) == row["committed"]
        for row in rows
    )
    lines = [[portable(row[name]) for name in _SCORES] for row in rows]
    lines += [[portable(turn[name]) for name in _PLAIN] for of_item in turns.values() for turn in of_item]
    return _digest(lines, rows, fit=fit)


def _is_blank(turn: Mapping[Any, Any]) -> bool:
    texts = [turn[name] for name in _TEXTS if name != "failure"]
    return not any(texts) and ":" not in (turn["failure"] or "")


def _digest(lines: Sequence[list[Json]], rows: Sequence[Mapping[Any, Any]], *, fit: bool) -> str | None:
    if any(row["committed"] is None for row in rows):
        return None
    digest = sha256(b"\n".join(map(canonical, lines))).hexdigest()
    return digest if fit else f"{digest}{OTHER_TEXTS}"
