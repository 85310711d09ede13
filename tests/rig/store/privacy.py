"""Rows that privacy is about: interactions with everything that belongs to one, stored as the program does."""

from __future__ import annotations

from datetime import datetime

import psycopg

from monitor.core.message import Position
from monitor.core.model import Assessment, SupportingDocument
from monitor.store.privacy.erasure import Erasable, Erasure, ErasureTarget
from tests.factories.answers import NOON, an_assessment

SECRET = "Ask Jane Doe of Quillmere about it"  # stands in every text of what is stored
APP = "support-bot"
OF_CONVERSATION = ErasureTarget(app=APP, conversation="conversation-7")


def told(id_: str, at: datetime, **over: object) -> Assessment:
    known = {
        "id": id_,
        "app": APP,
        "occurred_at": at,
        "question": f"{SECRET}: how long are snapshots kept, {id_}?",
        "answer": f"{SECRET}.",
        "reference_answer": SECRET,
        "conversation_id": "conversation-7",
        "supporting_documents": (SupportingDocument(text=SECRET),),
        "tags": {"topic": "storage", "user": "jane"},
        "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
        "position": Position(topic="answers", partition=0, offset=int(id_.rpartition("-")[2])),
    }
    return an_assessment(**{**known, **over})


def surround(url: str, id_: str, at: datetime, app: str = APP) -> None:
    """A judgement, a label with a note, pending work and a secret."""
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO judgement (app, id, metric, model, prompt_hash, occurred_at, mode, score, reason, parts, "
            "calls, input_tokens, output_tokens, judged_at) VALUES (%s, %s, 'faithfulness', 'm', 'p', %s, 'separate', "
            "0.5, %s, %s, 1, 1, 1, now())",
            (app, id_, at, SECRET, f'{{"claims": ["{SECRET}"]}}'),
        )
        connection.execute(
            "INSERT INTO review (app, interaction_id, occurred_at, label, labelled_by, labelled_at, note, drawn, "
            "verdict, rule_verdict, profile_hash, p_grounded, p_refusal, p_self_generated) VALUES (%s, %s, %s, "
            "'grounded', 'eve', now(), %s, 'chosen', 'grounded', 'grounded', 'x', 1, 0, 0)",
            (app, id_, at, SECRET),
        )
        connection.execute(
            "INSERT INTO pending (kind, app, interaction_id, occurred_at, group_id, queued_at, not_before, last_error) "
            "VALUES ('judge', %s, %s, %s, 'monitor', now(), now(), %s)",
            (app, id_, at, SECRET),
        )
        connection.execute(
            "INSERT INTO audit_secret (app, id, secret) VALUES (%s, %s, 'secret') ON CONFLICT DO NOTHING", (app, id_)
        )


def erase(erasure: Erasure, wanted: ErasureTarget = OF_CONVERSATION) -> list[Erasable]:
    those = erasure.find(wanted)
    erasure.erase(wanted.app, those, by="eve", reason_given=True, now=NOON)
    return those


def everything(url: str) -> str:
    """All rows of all tables as text."""
    with psycopg.connect(url, options="-c timezone=UTC") as connection:
        tables = connection.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        ).fetchall()
        return "\n".join(
            f"{name}: {row}" for (name,) in tables for row in connection.execute(f"SELECT t::text FROM {name} t")
        )
