"""Erases the texts and secrets of a person's interactions, and the spans that they were read from.

Figures, verdicts and times stay. Golden items that were made of them go too, and what a chatbot answered to these.

Without its secret a leaf of the audit trail can no longer be opened, but it still proves that there was an interaction.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Engine, bindparam, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA

from monitor.audit.record import ASSESSMENT_PERSONAL, INTERACTION_DIGESTS, INTERACTION_PERSONAL, JUDGEMENT_PERSONAL
from monitor.core.model import Json, Mark
from monitor.store.audit_queue import Act, Kind, hold_sealing, queue_act
from monitor.store.collect.purge import erase_traces
from monitor.store.database import retriable
from monitor.store.interaction.filters import ExactValues
from monitor.store.pending.call_off import call_off
from monitor.store.privacy.quotations import QuotedContent, blank_erased, hold_alerting
from monitor.store.probe.proof import BLANK_TURN
from monitor.store.report.reports import blank_reported
from monitor.store.tables.interactions import interaction

FIELDS = (*INTERACTION_PERSONAL, *INTERACTION_DIGESTS, *ASSESSMENT_PERSONAL, *JUDGEMENT_PERSONAL, "note")
BATCH = 500  # interactions of one transaction
_UNQUOTED = 8  # characters of an id that is searched in dead letters without JSON quotes too
_i = interaction.c
_MADE = text("""
    SELECT source_id, count(*) AS made FROM golden_item
    WHERE source_app = :app AND source_id = ANY(CAST(:ids AS text[])) AND NOT erased GROUP BY source_id
""")
_GONE = "unnest(CAST(:ids AS text[]), CAST(:times AS timestamptz[])) AS gone (id, occurred_at)"
_SAME = "t.app = :app AND t.id = gone.id AND t.occurred_at = gone.occurred_at"
_STATEMENTS = (
    """
        UPDATE interaction t
        SET question = '', answer = '', retrieved_documents = '[]', supporting_documents = NULL,
            reference_answer = NULL, conversation_id = NULL, tags = '{{}}', trace_id = NULL, span_id = NULL,
            tag_digests = NULL,
            marks = ARRAY(SELECT DISTINCT mark FROM unnest(t.marks || CAST(:mark AS text)) AS mark ORDER BY mark)
        FROM {gone} WHERE {same}
    """,
    """
        UPDATE assessment t
        SET support = jsonb_build_object('origin', t.support -> 'origin', 'documents', '[]'::jsonb), earlier = NULL,
            evidence = '{{"alignment": [], "missing": []}}'
                || jsonb_build_object('features', coalesce(t.evidence -> 'features', '{{}}'))
                || jsonb_strip_nulls(jsonb_build_object('judge', t.evidence -> 'judge'))
        FROM {gone} WHERE {same}
    """,
    "UPDATE judgement t SET parts = '{{}}', reason = NULL FROM {gone} WHERE {same}",
    "UPDATE review t SET note = NULL FROM {gone} WHERE t.app = :app AND t.interaction_id = gone.id",
    "DELETE FROM feedback t USING {gone} WHERE t.app = :app AND t.interaction_id = gone.id",
    """
        UPDATE probe_result t
        SET secret = NULL
        FROM {gone}
        JOIN golden_item g ON g.source_app = :app AND g.source_id = gone.id
        JOIN probe_run r ON r.golden = g.name AND r.golden_version = g.version
        WHERE t.run = r.number AND t.item = g.id
    """,
    """
        UPDATE probe_turn t
        SET {blank}
        FROM {gone}
        JOIN golden_item g ON g.source_app = :app AND g.source_id = gone.id
        JOIN probe_run r ON r.golden = g.name AND r.golden_version = g.version
        JOIN probe_result p ON p.run = r.number AND p.item = g.id
        WHERE t.run = p.run AND t.place = p.place
    """,
    """
        UPDATE golden_item t SET question = '', reference = '', tags = '{{}}', secret = NULL, erased = true
        FROM {gone} WHERE t.source_app = :app AND t.source_id = gone.id
    """,
    "DELETE FROM new_answer t USING {gone} WHERE {same}",
    "DELETE FROM audit_secret t USING {gone} WHERE t.app = :app AND t.id = gone.id",
)
_PATIENCE = text("SET LOCAL lock_timeout = '30s'")  # waits for a round of alerting, the sealer, a worker
_LETTERS = text("""
    SELECT id FROM dead_letter d
    WHERE EXISTS (
        SELECT FROM unnest(:terms) AS term
        WHERE position(term IN d.value) > 0 OR position(term IN coalesce(d.key, '')) > 0
            OR EXISTS (SELECT FROM unnest(d.header_values) AS value WHERE position(term IN value) > 0)
    )
    ORDER BY id
""").bindparams(bindparam("terms", type_=ARRAY(BYTEA)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureTarget:
    """The interactions of `app` to erase: with these ids, of a conversation or trace, or with a tag.

    `tag_digests` as in `ExactValues`.
    """

    app: str
    conversation: str | None = None
    trace: str | None = None
    ids: tuple[str, ...] = ()
    tag: tuple[str, str] | None = None
    tag_digests: tuple[str, ...] = ()

    def conditions(self) -> list[ColumnElement[bool]]:
        """The conditions in SQL, all of which must hold."""
        exact = ExactValues(
            conversation=self.conversation, trace=self.trace, tag=self.tag, tag_digests=self.tag_digests
        )
        found = [_i.app == self.app, *exact.conditions()]
        if self.ids:
            found.append(_i.id.in_(self.ids))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasable:
    """A stored interaction; `erased`: it was erased before."""

    id: str
    occurred_at: datetime
    erased: bool


class Erasure:
    """Finds and erases interactions; every method may raise `Retriable` and may be called again."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, wanted: ErasureTarget) -> list[Erasable]:
        """The stored interactions that match, oldest first. An erased one is found by its id only."""
        query = select(_i.id, _i.occurred_at, _i.marks).where(*wanted.conditions()).order_by(_i.occurred_at, _i.id)
        with retriable(), self._engine.connect() as connection:
            return [
                Erasable(id=row.id, occurred_at=row.occurred_at, erased=Mark.ERASED in row.marks)
                for row in connection.execute(query)
            ]

    def dead_letters(self, wanted: ErasureTarget, found: Sequence[Erasable]) -> list[int]:
        """Ids of the dead letters whose bytes, key or headers contain the id of the conversation, trace or interaction.

        A short id counts only in double quotes, as in JSON.
        """
        ids = {
            *wanted.ids,
            *(interaction.id for interaction in found),
            *(id_ for id_ in (wanted.conversation, wanted.trace) if id_),
        }
        terms = [term for id_ in sorted(ids) for term in _terms(id_)]
        if not terms:
            return []
        with retriable(), self._engine.connect() as connection:
            return list(connection.execute(_LETTERS, {"terms": terms}).scalars())

    def golden_items(self, app: str, interactions: Sequence[Erasable]) -> int:
        """How many golden items, in all versions of all sets, were made of these interactions."""
        with retriable(), self._engine.connect() as connection:
            return sum(_golden_items(connection, app, [interaction.id for interaction in interactions]).values())

    def erase(self, app: str, interactions: Sequence[Erasable], *, by: str, reason_given: bool, now: datetime) -> None:
        """Erases at most `BATCH` interactions in one transaction, with an act for each."""
        with retriable(), self._engine.begin() as connection:
            connection.execute(_PATIENCE)
            hold_alerting(connection)
            hold_sealing(connection)
            ids = [interaction.id for interaction in interactions]
            times = [interaction.occurred_at for interaction in interactions]
            said = _quoted_content(connection, app, ids)
            traces = _traces(connection, app, ids)
            golden = _golden_items(connection, app, ids)
            values = {"app": app, "mark": Mark.ERASED.value, "ids": ids, "times": times}
            # Pending work goes first: then a worker on it has stored its result. And it goes last: such a worker may
            # have queued follow-up work.
            call_off(connection, gone=_GONE, app=":app", values=values)
            for statement in _STATEMENTS:
                connection.execute(text(statement.format(gone=_GONE, same=_SAME, blank=BLANK_TURN)), values)
            call_off(connection, gone=_GONE, app=":app", values=values)
            blank_erased(connection, app, said)
            blank_reported(connection, app, set(ids))
            erase_traces(connection, app, [*ids, *traces])
            body: dict[str, Json] = {"fields": list(FIELDS), "reason_given": reason_given}
            for id_ in ids:
                told = {**body, "golden_items": golden[id_]} if id_ in golden else body
                queue_act(connection, Act(kind=Kind.ERASURE, by=by, at=now, app=app, subject=id_, body=told))


def _quoted_content(connection: Connection, app: str, ids: Sequence[str]) -> dict[str, QuotedContent]:
    """What alerts may quote of the interactions, by id; locks their rows in the order of all writers."""
    documents = func.jsonb_path_query_array(_i.retrieved_documents, text("'$[*].id'")).label("documents")
    query = select(_i.id, _i.question, _i.tags, documents).where(_i.app == app, _i.id.in_(ids)).order_by(_i.id)
    return {
        row.id: QuotedContent(question=row.question, tags=row.tags, documents=row.documents)
        for row in connection.execute(query.with_for_update())
    }


def _golden_items(connection: Connection, app: str, ids: Sequence[str]) -> dict[str, int]:
    made = connection.execute(_MADE, {"app": app, "ids": ids})
    return {row.source_id: row.made for row in made}


def _traces(connection: Connection, app: str, ids: Sequence[str]) -> list[str]:
    query = select(_i.trace_id).where(_i.app == app, _i.id.in_(ids), _i.trace_id.is_not(None)).distinct()
    return list(connection.scalars(query))


def _terms(id_: str) -> list[bytes]:
    quoted = {json.dumps(id_).encode(), json.dumps(id_, ensure_ascii=False).encode(errors="replace")}
    return sorted(quoted | ({id_.encode(errors="replace")} if len(id_) >= _UNQUOTED else set()))
