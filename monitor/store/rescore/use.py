"""Puts the verdicts of a profile in use: its assessments become the live ones, which all lists and counts read.

Nothing is lost: the assessment that was live stays, and becomes the live one again in the same way. Both rows are
sealed anew, each as what follows from what it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from monitor.core.model import Interaction
from monitor.store.audit_queue import Kind
from monitor.store.audit_rows import SECRET, Key, read_rows, record_digest, row_record
from monitor.store.interaction.rows import counted_row
from monitor.store.interaction.writer import Writer
from monitor.store.pending.hearing import Hearing, Live, hear, stored_words
from monitor.store.rescore.answers import RescoreKey
from monitor.store.tables.interactions import assessment

if TYPE_CHECKING:
    import psycopg

# In the order in which every writer locks. An erasure or retention at the same time waits, or comes first.
_BOTH = """
    SELECT i.app, i.id, i.occurred_at, i.environment, i.model, i.tags, a.profile_hash
    FROM unnest(%s::text[], %s::text[], %s::timestamptz[]) AS w (app, id, at)
    JOIN interaction i ON i.app = w.app AND i.id = w.id AND i.occurred_at = w.at
    JOIN assessment a ON a.app = i.app AND a.id = i.id AND a.occurred_at = i.occurred_at AND a.live
    JOIN assessment b ON b.app = i.app AND b.id = i.id AND b.occurred_at = i.occurred_at
        AND b.profile_hash = %s AND NOT b.live
    WHERE NOT 'erased' = ANY(i.marks)
    ORDER BY i.app, i.id FOR SHARE OF i FOR UPDATE OF a, b
"""
_SWITCH = """
    UPDATE assessment SET live = %s, transaction_id = %s
    WHERE app = %s AND id = %s AND occurred_at = %s AND profile_hash = %s
"""


def put_in_use(
    writer: Writer, keys: Sequence[RescoreKey], profile_hash: str, *, hearing: Hearing, now: datetime
) -> Counter[str]:
    """Makes the profile's assessments of these answers the live ones, and moves the counts that alerts read.

    A judge's word on an answer is given to the new one too. Answers without an assessment under the profile stay as
    they are. Returns how many gave way, by the hash of the profile that they were under.

    Raises:
        Retriable: the database is out of reach for now; a second call changes nothing twice.
    """
    with writer.transaction() as connection:
        places = [[key.app for key in keys], [key.id for key in keys], [key.occurred_at for key in keys]]
        found = connection.execute(_BOTH, (*places, profile_hash)).fetchall()
        answers = {(row[0], row[1]): (_labelled(row), str(row[6])) for row in found}
        outgoing = {key: (*key, hash_) for key, (_, hash_) in answers.items()}
        incoming = {key: (*key, profile_hash) for key in answers}
        rows = read_rows(connection, Kind.ASSESSMENT, [*outgoing.values(), *incoming.values()])
        pairs = [  # without those of an earlier release that the sealer has not taken in yet
            (answers[key][0], rows[outgoing[key]], rows[incoming[key]])
            for key in answers
            if rows[outgoing[key]][SECRET] is not None
        ]
        switched = [_switched(new, live=True) for _, _, new in pairs]
        _switch(connection, pairs)
        _seal(writer, connection, [(old, _switched(old, live=False)) for _, old, _ in pairs])
        _seal(writer, connection, [(new, row) for (_, _, new), row in zip(pairs, switched, strict=True)])
        live = [Live(it, row) for (it, _, _), row in zip(pairs, switched, strict=True)]
        words = stored_words(connection, [one for one in live if "judge" not in one.row["evidence"]])
        heard = {
            (new.interaction.app, new.interaction.id): new for _, new in hear(writer, connection, words, hearing, now)
        }
        writer.recount(
            connection,
            before=[counted_row(it, old) for it, old, _ in pairs],
            after=[heard.get((it.app, it.id), counted_row(it, row)) for it, row in live],
        )
    return Counter(str(old["profile_hash"]) for _, old, _ in pairs)


def _labelled(row: Sequence[Any]) -> Interaction:
    """The interaction with the labels that the rollup counts by, without its texts."""
    app, id_, occurred_at, environment, model, tags, _ = row
    return Interaction(
        app=app,
        id=id_,
        occurred_at=occurred_at,
        question="",
        answer="",
        retrieved_documents=(),
        environment=environment,
        model=model,
        tags=tags,
    )


def _switched(row: Mapping[str, Any], *, live: bool) -> dict[str, Any]:
    return {**row, "live": live}


def _switch(
    connection: psycopg.Connection, pairs: Sequence[tuple[Interaction, Mapping[str, Any], Mapping[str, Any]]]
) -> None:
    """Swaps which row is live. The number by which new answers are listed goes along: no answer is listed twice."""
    changes = [
        (live, number, it.app, it.id, it.occurred_at, row["profile_hash"])
        for it, old, new in pairs
        for live, number, row in ((False, None, old), (True, old["transaction_id"], new))
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_SWITCH, changes)


def _seal(
    writer: Writer, connection: psycopg.Connection, changed: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
) -> None:
    """Queues rows to be sealed as what follows from the rows before."""
    revises: dict[Key, str] = {
        (before["app"], before["id"], before["profile_hash"]): record_digest(
            row_record(Kind.ASSESSMENT, before, bytes(before[SECRET]))
        )
        for before, _ in changed
    }
    rows = [{column.name: after[column.name] for column in assessment.columns} for _, after in changed]
    writer.queue_to_seal(connection, Kind.ASSESSMENT, rows, revises)
