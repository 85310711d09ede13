"""Reads how stored follow-up questions were read, from the turns that they borrow words from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, text

from monitor.assess.conversation.complete import ReadAs, borrowed_ids, read_again
from monitor.assess.conversation.turn import LONGEST_QUESTION, WITHIN

_AROUND = WITHIN + timedelta(days=1)
# What may be moved by `_AROUND`; a producer may give any time of the years 1 to 9999.
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC) + _AROUND, datetime.max.replace(tzinfo=UTC) - _AROUND
# Both kinds of bounds in time are needed: by the first two the planner leaves out months, by the others the executor.
_QUESTIONS = text("""
    SELECT i.app, i.id, left(i.question, :longest) AS question
    FROM unnest(CAST(:apps AS text[]), CAST(:ids AS text[]), CAST(:times AS timestamptz[])) AS w (app, id, asked_at)
    JOIN interaction i ON i.app = w.app AND i.id = w.id
        AND i.occurred_at >= w.asked_at - CAST(:around AS interval)
        AND i.occurred_at <= w.asked_at + CAST(:around AS interval)
    WHERE i.occurred_at BETWEEN :first AND :last
""")


def readings(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[ReadAs | None]:
    """How each question was read; None where it was read as it stands.

    A row has `app`, `question` and `occurred_at` of an interaction, and in `standalone_question` what was stored of
    its reading, None for none.
    """
    wanted = [
        (row["app"], id_, row["occurred_at"])
        for row in rows
        if row["standalone_question"]
        for id_ in borrowed_ids(row["standalone_question"])
    ]
    if not wanted:
        return [None] * len(rows)
    apps, ids, times = zip(*wanted, strict=True)
    values = {
        "apps": list(apps),
        "ids": list(ids),
        "times": list(times),
        "around": _AROUND,
        "longest": LONGEST_QUESTION,
        "first": max(min(times), _FIRST) - _AROUND,
        "last": min(max(times), _LAST) + _AROUND,
    }
    questions: dict[str, dict[str, str]] = {}
    for found in connection.execute(_QUESTIONS, values):
        questions.setdefault(found.app, {})[found.id] = found.question
    return [
        read_again(row["question"], stored, questions.get(row["app"], {}))
        if (stored := row["standalone_question"])
        else None
        for row in rows
    ]


def reading_json(read: ReadAs | None) -> dict[str, Any] | None:
    """`{text, problem, borrowed: [{id, text}], as_asked: {sdq, qrd, qa}}`; texts are in clear."""
    if read is None:
        return None
    return {
        "text": read.text,
        "problem": read.problem,
        "borrowed": [{"id": id_, "text": words} for id_, words in read.pieces],
        "as_asked": dict(read.as_asked),
    }
