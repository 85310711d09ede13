"""Stores the results of pending work in one transaction with the end of its claims, so that each is stored once.

Claims that have passed to another worker in the meantime are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import compress
from typing import TYPE_CHECKING, Any

from monitor.assess.judge.metric import Judgement
from monitor.assess.llm.exchange import Prompt, prompts_hash
from monitor.audit.record import Row
from monitor.core.assessment_json import encode
from monitor.core.diagnosis import Diagnosis
from monitor.core.errors import Fatal
from monitor.core.model import Assessment, Interaction, Metrics, Reason, Verdict
from monitor.store.audit_queue import Kind
from monitor.store.audit_rows import SECRET, as_jsonb, part_of, read_rows, record_digest, row_record, stored_row
from monitor.store.interaction.minute_sums import CountedAssessment
from monitor.store.interaction.partitions import Partitions
from monitor.store.interaction.rows import ASSESSMENT_COLUMNS, as_earlier, assessment_row, key
from monitor.store.interaction.writer import Writer
from monitor.store.ledger.offsets import Account, lock_ledgers
from monitor.store.pending.hearing import BY_PRIOR, Hearing, hear, live_rows, stored_words, word_of
from monitor.store.pending.queue import Claim, forget, still_ours
from monitor.store.tables.interactions import METRICS

if TYPE_CHECKING:
    import psycopg

_MOVE = """
    UPDATE consumer_offset SET pending = pending - %s, assessed = assessed + %s
    WHERE group_id = %s AND topic = %s AND partition = %s
"""
_MAKE_WAY = """
    DELETE FROM assessment WHERE app = %s AND id = %s AND occurred_at = %s AND profile_hash = %s AND NOT live
"""
_BEFORE = """
    SELECT verdict, reasons, diagnosis, coalesce((evidence -> 'judge' ->> 'turned')::integer, 0),
        sdq::float8, sdrd::float8, sda::float8, qrd::float8, qa::float8 FROM assessment
    WHERE app = %s AND id = %s AND occurred_at = %s AND profile_hash = %s AND live FOR UPDATE
"""
_REVISE_TEMPLATE = """
    UPDATE assessment SET {values}, revised_at = %s, earlier = %s
    WHERE app = %s AND id = %s AND occurred_at = %s AND profile_hash = %s
"""
_REVISE = _REVISE_TEMPLATE.format(values=", ".join(f"{name} = %s" for name in ASSESSMENT_COLUMNS))
_JUDGEMENT_COLUMNS = (
    *("app", "id", "occurred_at", "metric", "model", "prompt_hash", "mode", "score", "reason", "parts"),
    *("calls", "input_tokens", "output_tokens", "cost", "judged_at", "inclusion"),
)
_JUDGED_TEMPLATE = "INSERT INTO judgement ({columns}) VALUES ({values}) ON CONFLICT DO NOTHING RETURNING true"
_JUDGED = _JUDGED_TEMPLATE.format(
    columns=", ".join(_JUDGEMENT_COLUMNS), values=", ".join(["%s"] * len(_JUDGEMENT_COLUMNS))
)
_PROMPT = "INSERT INTO prompt (hash, prompts, stored_at) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"


def finish_assessed(writer: Writer, done: Sequence[tuple[Claim, Assessment]]) -> int:
    """Stores first assessments, and moves their messages in the ledger from pending to assessed; returns how many.

    Raises:
        Retriable: the database is out of reach for now; a second call stores nothing twice.
    """
    made = {claim.id: assessment for claim, assessment in done}
    with writer.transaction() as connection:
        ours = still_ours(connection, [claim for claim, _ in done])
        moves: Counter[Account] = Counter(
            (claim.group, at.topic, at.partition) for claim in ours if (at := claim.interaction.position) is not None
        )
        lock_ledgers(connection, moves)
        with connection.cursor() as cursor:
            cursor.executemany(_MOVE, [(n, n, *account) for account, n in moves.items()])
            # a rescore under the current profile may have come first
            cursor.executemany(_MAKE_WAY, [_place(made[claim.id]) for claim in ours])
        forget(connection, ours)
        writer.add(connection, [made[claim.id] for claim in ours])
    return len(ours)


def finish_revised(
    writer: Writer, done: Sequence[tuple[Claim, Assessment]], now: datetime, hearing: Hearing = BY_PRIOR
) -> list[Claim]:
    """Replaces assessments whose support was a stand-in, and keeps the old ones in `earlier`.

    If the judge has spoken by then, its word is given to the new ones too.

    Returns the claims without a live assessment under the same profile to revise; these are still claimed.

    Raises:
        Retriable: the database is out of reach for now; a second call stores nothing twice.
    """
    made = {claim.id: assessment for claim, assessment in done}
    with writer.transaction() as connection:
        ours = sorted(still_ours(connection, [claim for claim, _ in done]), key=lambda claim: claim.id)
        before = {claim.id: _before(connection, made[claim.id]) for claim in ours}
        there = [claim for claim in ours if before[claim.id] is not None]
        after = [made[claim.id] for claim in there]
        _revise(writer, connection, after, now)
        live = live_rows(connection, {claim.id: claim.interaction for claim in there})
        heard = hear(writer, connection, stored_words(connection, live.values()), hearing, now)
        moved = {(new.interaction.app, new.interaction.id): new for _, new in heard}
        writer.recount(  # once: the counts of a transaction are written by one statement
            connection,
            before=[old for old in before.values() if old is not None],
            after=[moved.get(key(a), a) for a in after],
        )
        forget(connection, there)
        writer.follow_up(connection, after)
    return [claim for claim in ours if before[claim.id] is None]


def _revise(writer: Writer, connection: psycopg.Connection, after: Sequence[Assessment], now: datetime) -> None:
    """Replaces rows, which are locked; what they keep of the rows before is sealed as this process read it."""
    stood = read_rows(connection, Kind.ASSESSMENT, [(*key(a), a.profile_hash) for a in after])
    rows, revises, updates = [], {}, []
    for a in after:
        part, values = (*key(a), a.profile_hash), assessment_row(a)
        before = stood[part]
        earlier = as_earlier(before)
        updates.append((*values, now, earlier, *_place(a)))
        row = stored_row(Kind.ASSESSMENT, ASSESSMENT_COLUMNS, values)
        rows.append({**row, "revised_at": now, "earlier": as_jsonb(earlier)})
        if before[SECRET] is not None:
            revises[part] = record_digest(row_record(Kind.ASSESSMENT, before, bytes(before[SECRET])))
    with connection.cursor() as cursor:
        cursor.executemany(_REVISE, updates)
    writer.queue_to_seal(connection, Kind.ASSESSMENT, rows, revises)


def finish_judged(
    writer: Writer, claims: Sequence[tuple[Claim, Sequence[Judgement]]], now: datetime, hearing: Hearing = BY_PRIOR
) -> None:
    """Stores judgements, and gives the live assessments the judge's word.

    Raises:
        Retriable: the database is out of reach for now; a second call stores nothing twice.
    """
    made = {claim.id: judgements for claim, judgements in claims}
    with writer.transaction() as connection:
        ours = still_ours(connection, [claim for claim, _ in claims])
        if not ours:
            return
        Partitions().ensure(connection, (claim.interaction for claim in ours))
        save_prompts(connection, (j.prompts for claim in ours for j in made[claim.id]), now)
        live = live_rows(connection, {claim.id: claim.interaction for claim in ours})
        values = [
            _judgement_row(claim.interaction, j, now, hearing.inclusion(live.get(claim.id)))
            for claim in ours
            for j in made[claim.id]
        ]
        with connection.cursor() as cursor:
            cursor.executemany(_JUDGED, values, returning=True)
            new = [result.fetchone() is not None for result in cursor.results()]
        rows = [stored_row(Kind.JUDGEMENT, _JUDGEMENT_COLUMNS, row) for row in values]
        _check_stored(connection, rows)
        writer.queue_to_seal(connection, Kind.JUDGEMENT, list(compress(rows, new)))
        words = [
            (live[claim.id], word)
            for claim in ours
            if claim.id in live and (word := word_of(made[claim.id])) is not None
        ]
        if heard := hear(writer, connection, words, hearing, now):
            writer.recount(connection, before=[old for old, _ in heard], after=[new for _, new in heard])
        forget(connection, ours)
        writer.send_out(connection, [claim.interaction for claim in ours])  # judgements go out too


def _check_stored(connection: psycopg.Connection, rows: Sequence[Row]) -> None:
    """Raises Fatal where a judgement is neither new nor stored before: something in the database keeps it out."""
    keys = [(row["app"], row["id"], part_of(Kind.JUDGEMENT, row)) for row in rows]
    if missing := set(keys) - set(read_rows(connection, Kind.JUDGEMENT, keys)):
        app, id_, _ = min(missing)
        raise Fatal(f"the database did not store a judgement of {id_} in {app}, and gave no error")


def save_prompts(connection: psycopg.Connection, asked: Iterable[Sequence[Prompt[Any]]], now: datetime) -> None:
    """Stores each sequence of prompts once, under the hash that results name: names, texts and answer schemas."""
    by_hash = {prompts_hash(prompts): prompts for prompts in asked if prompts}
    rows = [
        (hash_, encode([{"name": p.name, "text": p.text, "schema": p.schema} for p in prompts]), now)
        for hash_, prompts in sorted(by_hash.items())
    ]
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_PROMPT, rows)


def _place(a: Assessment) -> tuple[object, ...]:
    return a.interaction.app, a.interaction.id, a.interaction.occurred_at, a.profile_hash


def _before(connection: psycopg.Connection, made: Assessment) -> CountedAssessment | None:
    row = connection.execute(_BEFORE, _place(made)).fetchone()
    if row is None:
        return None
    verdict, reasons, diagnosis, heard, *metrics = row
    return CountedAssessment(
        interaction=made.interaction,
        verdict=Verdict(verdict),
        reasons=[Reason(reason) for reason in reasons],
        metrics=Metrics(**dict(zip(METRICS, metrics, strict=True))),
        heard=heard,
        diagnosis=None if diagnosis is None else Diagnosis(diagnosis),
    )


def _judgement_row(it: Interaction, judgement: Judgement, now: datetime, inclusion: float | None) -> tuple[object, ...]:
    outcome, spend = judgement.outcome, judgement.spend
    return (
        it.app,
        it.id,
        it.occurred_at,
        judgement.metric,
        judgement.model,
        judgement.prompt_hash,
        judgement.mode,
        outcome.score,
        outcome.reason,
        encode(outcome.parts),
        spend.calls,
        spend.input_tokens,
        spend.output_tokens,
        spend.cost,
        now,
        inclusion,
    )
