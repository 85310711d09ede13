"""Lists stored answers as new, each once, for rules that judge single answers.

Writers commit in any order, so neither a time nor a counter says which rows are new. Each row names the transaction
that stored it: once every transaction below a number has ended, the rows below it are complete. One process lists at a
time, and gives places in the order in which it lists, so that a rule needs only the last place that it has read.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, RowMapping, text

from monitor.alert.answers import ListedAnswer, NewAnswers, chance_of
from monitor.alert.signal import Signal
from monitor.store.database import bounded
from monitor.store.tables.interactions import SCORE_BEFORE_JUDGE

MOST_LISTED = 5_000  # assessments read in one round
LONGEST_LABEL = 128  # characters
MOST_TURNS = 20  # answers of one conversation; further ones count for nothing
COLLECTED = timedelta(minutes=30)  # how long the answers of a conversation are collected, from the first on
AHEAD = timedelta(minutes=5)  # a time further ahead is of a clock that was set back: that conversation waits no longer
KEPT, MOST_KEPT = timedelta(days=7), 500_000  # answers in the list; a question answered alike is in it once
_LIMITS = {"most": MOST_LISTED, "turns": MOST_TURNS, "longest": LONGEST_LABEL}
# What is listed of an interaction `i`: its labels, and what it shares with others of its conversation, or its wording.
LISTED = """
    left(i.environment, :longest) AS environment, left(coalesce(i.model, ''), :longest) AS model,
    left(coalesce(i.tags ->> 'topic', ''), :longest) AS topic,
    hashtextextended(i.app || chr(31) || nullif(i.conversation_id, ''), 0) AS conversation,
    hashtextextended(
        i.app || chr(31) || i.environment || chr(31) || coalesce(i.model, '') || chr(31)
        || i.question || chr(31) || i.answer, 0
    ) AS same
"""
_PROGRESS = """
    SELECT transaction_id, app, id, since FROM new_answer_progress FOR UPDATE
"""
# From about as far back as the list goes: a first rule on ranks has not to wait for all that was ever stored.
_BEGIN = """
    INSERT INTO new_answer_progress (transaction_id, app, id, since)
    SELECT coalesce(min(transaction_id), 0), '', '', '1970-01-01T00:00Z'
    FROM (SELECT transaction_id FROM assessment WHERE live AND occurred_at >= :kept ORDER BY occurred_at LIMIT 1000) a
    ON CONFLICT DO NOTHING
"""
# LIMIT and OFFSET 0 keep the planner from joining whole months instead. Repetitions are left out before they are added,
# since each row takes a number, even one that is not added for a conflict.
_LIST = """
    WITH fresh AS MATERIALIZED (
        SELECT transaction_id, app, id, occurred_at, verdict, {score} AS score, sdq, qrd
        FROM assessment a
        WHERE live AND transaction_id >= :transaction_id AND transaction_id < :horizon
            AND (transaction_id, app, id) > (CAST(:transaction_id AS bigint), :app, :id)
        ORDER BY transaction_id, app, id LIMIT :most
    ), worded AS (
        SELECT f.*, i.*, row_number() OVER (PARTITION BY i.conversation ORDER BY f.transaction_id, f.id) AS turn
        FROM fresh f CROSS JOIN LATERAL (
            SELECT {listed} FROM interaction i
            WHERE i.app = f.app AND i.id = f.id AND i.occurred_at = f.occurred_at AND i.stored_at >= :since OFFSET 0
        ) i
    ), added AS (
        INSERT INTO new_answer (place, listed_at, app, id, occurred_at, environment, model, topic, conversation, same,
                                score, refusal, sdq, qrd)
        SELECT CASE WHEN conversation IS NULL THEN nextval('new_answer_place') END, :now, app, id, occurred_at,
            environment, model, topic, conversation, same, score, verdict = 'refusal', sdq, qrd
        FROM (
            SELECT w.*, row_number() OVER (PARTITION BY w.same ORDER BY w.transaction_id, w.app, w.id) AS repetition
            FROM worded w
            LEFT JOIN LATERAL (
                SELECT count(*) AS listed, count(o.place) AS placed FROM new_answer o
                WHERE o.conversation = w.conversation
            ) o ON true
            WHERE (w.conversation IS NULL OR (o.placed = 0 AND w.turn + o.listed <= :turns))
                AND NOT EXISTS (SELECT FROM new_answer k WHERE k.same = w.same OFFSET 0)
            ORDER BY w.transaction_id, w.app, w.id OFFSET 0
        ) ordered
        WHERE repetition = 1
        ON CONFLICT (same) DO NOTHING
    )
    SELECT count(*) OVER () AS read, transaction_id, app, id FROM fresh
    ORDER BY transaction_id DESC, app DESC, id DESC LIMIT 1
"""
_STAND = """
    UPDATE new_answer_progress SET transaction_id = :transaction_id, app = :app, id = :id, since = :since
"""
_PLACE_CONVERSATIONS = """
    UPDATE new_answer n SET place = c.place
    FROM (
        SELECT conversation, nextval('new_answer_place') AS place
        FROM (
            SELECT conversation FROM new_answer WHERE place IS NULL GROUP BY conversation
            HAVING min(listed_at) <= :collected OR min(listed_at) > :ahead ORDER BY min(number) LIMIT :most
        ) due
    ) c
    WHERE n.conversation = c.conversation AND n.place IS NULL
"""
# Numbers have no gaps to speak of, so a number counts answers.
_PURGE = """
    DELETE FROM new_answer WHERE number IN (
        SELECT number FROM (SELECT number, listed_at FROM new_answer ORDER BY number LIMIT :most) oldest
        WHERE listed_at < :before OR number <= (SELECT max(number) FROM new_answer) - :kept
    )
"""
_NEW = """
    SELECT place, app, id, environment, model, topic, occurred_at, CAST({value} AS double precision) AS value
    FROM new_answer WHERE place > :after AND place <= :last AND {value} IS NOT NULL {conditions}
    ORDER BY place, number LIMIT :most
"""
_VALUES = {"score": "score", "refusal": "CAST(refusal AS integer)", "sdq": "sdq", "qrd": "qrd"}


class NewAnswerList:
    """Every method may raise `Retriable`. Safe to use from several threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def fill(self, now: datetime) -> None:
        """Lists up to `MOST_LISTED` answers stored since the last call; removes as many that are no longer kept."""
        with bounded(self._engine) as connection:
            connection.execute(text("SET LOCAL jit = off; SET LOCAL enable_seqscan = off"))
            known = connection.execute(text(_PROGRESS)).mappings().first()  # others wait here
            if known is None:
                connection.execute(text(_BEGIN), {"kept": now - KEPT})
                known = connection.execute(text(_PROGRESS)).mappings().one()
            ended = connection.scalar(
                text("SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)")
            )
            stand = dict(known)
            if ended < known["transaction_id"]:
                # The database was restored elsewhere, where transactions are counted anew. Answers of before are
                # passed over: their numbers will come again.
                stand |= {"transaction_id": ended, "app": "", "id": "", "since": now}
            listing = text(_LIST.format(score=SCORE_BEFORE_JUDGE, listed=LISTED))
            limits = {"horizon": ended, "now": now, **_LIMITS}
            last = connection.execute(listing, {**stand, **limits}).mappings().first()
            if last is None or last["read"] < MOST_LISTED:
                stand |= {"transaction_id": ended, "app": "", "id": ""}
            else:
                stand |= {name: last[name] for name in ("transaction_id", "app", "id")}
            connection.execute(text(_STAND), stand)
            connection.execute(
                text(_PLACE_CONVERSATIONS),
                {"collected": now - COLLECTED, "ahead": now + AHEAD, "most": MOST_LISTED},
            )
            connection.execute(text(_PURGE), {"most": MOST_LISTED, "before": now - KEPT, "kept": MOST_KEPT})

    def read(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], *, after: int | None, most: int
    ) -> NewAnswers:
        """As `SignalReader.new_answers` says; `most` is twice `MOST_TURNS` or more."""
        chosen = {label: list(values) for label, values in selector.items() if values}
        conditions = " ".join(f"AND {label} = ANY(CAST(:of_{label} AS text[]))" for label in chosen)
        values: dict[str, Any] = {f"of_{label}": allowed for label, allowed in chosen.items()}
        with bounded(self._engine) as connection:
            last = connection.scalar(text("SELECT max(place) FROM new_answer")) or 0
            query = _NEW.format(value=_VALUES[signal.name], conditions=conditions)
            rows = connection.execute(text(query), {**values, "after": after or 0, "last": last, "most": most})
            found = [_listed(row) for row in rows.mappings()]
        if len(found) < most:
            return NewAnswers(answers=found, through=max(last, after or 0))
        # the last conversation may not be complete
        whole = [answer for answer in found if answer.place < found[-1].place]
        return NewAnswers(answers=whole, through=whole[-1].place)


def _listed(row: RowMapping) -> ListedAnswer:
    return ListedAnswer(
        place=row["place"],
        labels={label: row[label] for label in ("app", "environment", "model", "topic")},
        topic=row["topic"],
        at=row["occurred_at"],
        value=row["value"],
        chance=chance_of(row["app"], row["id"]),
    )
