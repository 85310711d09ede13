"""Reads the diagnoses of two weeks, and the questions that were asked in one, word for word, with what became of them.

Diagnoses come from the rollup. Questions come from the rows: of a week with more than RETRIEVED answers an even
sample, counted by the database, so that at most _QUESTIONS of each kind leave it, whatever people ask.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, RowMapping, text

from monitor.core.diagnosis import Diagnosis
from monitor.core.errors import MonitorError
from monitor.report.findings.lacking import AskedQuestion, by_meaning, word_for_word
from monitor.report.weekly.facts import Diagnosed, Lacking
from monitor.report.weekly.week import Week
from monitor.store.report.rows import RETRIEVED, SAMPLED_ROWS, sample

log = logging.getLogger(__name__)
Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]
_QUESTIONS = 1_000  # missed ones, and as many others: what an embedder on the CPU takes in seven seconds
_LONGEST = 500  # characters of a question that are read
_FEWEST = 2  # questions that can be grouped

_DIAGNOSES = """
    SELECT (hour AT TIME ZONE 'UTC')::date AS day, {counts}
    FROM verdict_hour WHERE app = :app AND hour >= :before AND hour < :end GROUP BY 1
"""
_COUNTS = ", ".join(f"sum({each.value})::bigint AS {each.value}" for each in Diagnosis)
# A follow-up is read with the words that it borrows from earlier turns, whose texts are stored with those turns alone.
_ASKED = """
    WITH answer AS (
        SELECT a.id, a.occurred_at, a.verdict, a.diagnosis = 'retrieval_missed' AS missed, i.question, b.borrowed,
            lower(btrim(regexp_replace(concat_ws(' ', b.borrowed, i.question), '\\s+', ' ', 'g'))) AS key
        {sampled}
        CROSS JOIN LATERAL (
            SELECT left(i.question, :longest) AS question, i.conversation_id FROM interaction i
            WHERE i.app = a.app AND i.id = a.id AND i.occurred_at = a.occurred_at
                AND NOT 'erased' = ANY(i.marks) OFFSET 0
        ) i
        CROSS JOIN LATERAL (
            SELECT string_agg(left(substr(e.question, p.start + 1, p.stop - p.start), :longest), ' ' ORDER BY p.place)
                AS borrowed
            FROM (
                SELECT b.place, b.piece ->> 'id' AS id,
                    (b.piece ->> 'start')::int AS start, (b.piece ->> 'end')::int AS stop
                FROM jsonb_array_elements(
                    CASE WHEN i.conversation_id IS NOT NULL THEN a.evidence #> '{{standalone_question,borrowed}}' END
                ) WITH ORDINALITY b (piece, place)
            ) p
            JOIN interaction e ON e.app = a.app AND e.id = p.id
                AND e.occurred_at > a.occurred_at - interval '31 days'
                AND e.occurred_at < a.occurred_at + interval '1 day'
        ) b
        WHERE a.diagnosis IS NOT NULL
    ), asked AS (
        SELECT key, count(*) AS answers, count(*) FILTER (WHERE missed) AS missed,
            count(*) FILTER (WHERE missed AND verdict = 'refusal') AS refusals,
            count(*) FILTER (WHERE missed AND verdict = 'self_generated') AS self_generated,
            array_agg(DISTINCT floor(extract(epoch FROM occurred_at - :first) / 86400)::int)
                FILTER (WHERE missed) AS days,
            (array_agg(id ORDER BY missed DESC, occurred_at DESC, id))[1] AS id,
            (array_agg(question ORDER BY missed DESC, occurred_at DESC, id))[1] AS shown,
            (array_agg(borrowed ORDER BY missed DESC, occurred_at DESC, id))[1] AS borrowed
        FROM answer WHERE key <> '' GROUP BY key
    ), whole AS (
        SELECT sum(answers)::bigint AS all_answers, sum(missed)::bigint AS all_missed,
            count(*) FILTER (WHERE missed > 0) AS all_questions,
            count(*) FILTER (WHERE 2 * missed >= answers) AS missed_asked,
            count(*) FILTER (WHERE 2 * missed < answers) AS answered_asked
        FROM asked
    )
    SELECT whole.*, one.* FROM whole, (
        (SELECT * FROM asked WHERE missed > 0 ORDER BY missed DESC, key LIMIT :questions)
        UNION ALL (SELECT * FROM asked WHERE missed = 0 ORDER BY md5(key), key LIMIT :questions)
    ) one ORDER BY one.missed DESC, one.key
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The questions read of so many `answers` with a diagnosis, and how many there are of each kind."""

    answers: int = 0
    missed: int = 0
    questions: int = 0  # with an answer that is missed
    missed_asked: int = 0
    answered_asked: int = 0
    read: tuple[AskedQuestion, ...] = ()


def diagnosed(connection: Connection, app: str, week: Week) -> Diagnosed:
    """The diagnoses of the week and the one before; none where all answers are of earlier releases."""
    values = {"app": app, "before": week.before.start, "end": week.end}
    counts: dict[bool, defaultdict[Diagnosis, int]] = {True: defaultdict(int), False: defaultdict(int)}
    days: dict[bool, set[date]] = {True: set(), False: set()}
    for row in connection.execute(text(_DIAGNOSES.format(counts=_COUNTS)), values).mappings():
        this = row["day"] >= week.monday
        for each in Diagnosis:
            if row[each.value]:
                counts[this][each] += row[each.value]
                days[this].add(row["day"])
    return Diagnosed(
        this=dict(counts[True]), before=dict(counts[False]), days=len(days[True]), days_before=len(days[False])
    )


def asked(connection: Connection, app: str, week: Week, *, total: int) -> Asked:
    """The questions asked in the week's `total` answers, or in an even sample of them."""
    values: dict[str, Any] = sample(app, week.start, week.end, total, RETRIEVED)
    values |= {"longest": _LONGEST, "questions": _QUESTIONS}
    rows = connection.execute(text(_ASKED.format(sampled=SAMPLED_ROWS)), values).mappings().all()
    if not rows:
        return Asked()
    whole = rows[0]
    return Asked(
        answers=whole["all_answers"],
        missed=whole["all_missed"],
        questions=whole["all_questions"],
        missed_asked=whole["missed_asked"],
        answered_asked=whole["answered_asked"],
        read=tuple(_question(row) for row in rows),
    )


def _question(row: RowMapping) -> AskedQuestion:
    borrowed = row["borrowed"] or ""
    return AskedQuestion(
        text=f"{borrowed} {row['shown']}".strip(),
        shown=row["shown"],
        id=row["id"],
        answers=row["answers"],
        missed=row["missed"],
        refusals=row["refusals"],
        self_generated=row["self_generated"],
        days=frozenset(row["days"] or ()),
        follow_up=bool(borrowed),
    )


def lacking(known: Asked, *, of: int, embed: Embed | None) -> Lacking:
    """The questions that were missed, grouped; word for word alone without `embed`, or while it is out of reach."""
    read = sum(one.missed > 0 for one in known.read)
    vectors = _vectors([one.text for one in known.read], embed) if read >= _FEWEST else None
    groups = (
        word_for_word(known.read)
        if vectors is None
        else by_meaning(known.read, vectors, missed_asked=known.missed_asked, answered_asked=known.answered_asked)
    )
    return Lacking(
        answers=known.answers,
        of=of,
        missed=known.missed,
        questions=known.questions,
        read=read,
        by_meaning=vectors is not None or read < _FEWEST,
        groups=groups,
    )


def _vectors(texts: Sequence[str], embed: Embed | None) -> NDArray[np.float32] | None:
    """None where no embedder is in reach: the report is useful without."""
    if embed is None:
        return None
    try:
        return embed(texts)
    except MonitorError as error:
        log.warning("questions are grouped word for word, since they cannot be embedded: %s", error)
        return None
