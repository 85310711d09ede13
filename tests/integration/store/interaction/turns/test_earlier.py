"""Turns before a question on a real server: which ones, and what the look-up reads however long the conversation is."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from monitor.assess.conversation.turn import MOST_TURNS, WITHIN
from monitor.core.errors import MonitorError
from monitor.core.model import Mark, Unscored
from monitor.store.interaction.partitions import month_of
from monitor.store.interaction.turns.earlier import EARLIER, MOST_READ, EarlierTurns, parameters
from tests.factories.answers import NOON, a_batch, an_assessment, an_interaction, at

APP = "support-bot"


def said(number, minutes, **over):
    known = {"id": f"q-{number}", "app": APP, "conversation_id": "c", "question": f"Question {number}?"}
    return an_assessment(**{**known, "occurred_at": at(minutes), **over})


def asked(minutes=0.0, **over):
    known = {"id": "now", "app": APP, "conversation_id": "c", "occurred_at": at(minutes)}
    return an_interaction(**{**known, **over})


@pytest.fixture
def earlier(database):
    turns = EarlierTurns(database, milliseconds=20_000)
    yield turns
    turns.close()


def ids(found):
    return sorted(turn.id for turn in found)


def test_the_last_turns_before_it_of_its_app_and_conversation(writer, earlier):
    others = [said(7, -1, app="other-bot"), said(8, -1, conversation_id="d"), said(9, 1)]
    writer.write(a_batch(*(said(n, n - 10) for n in range(MOST_TURNS + 2)), *others))
    found = earlier.before({0: asked(), 1: asked(-8), 2: asked(conversation_id="e"), 3: asked(conversation_id=None)})
    assert ids(found[0]) == [f"q-{n}" for n in range(2, MOST_TURNS + 2)]
    assert [(turn.id, turn.question, turn.occurred_at) for turn in found[1] if turn.id == "q-1"] == [
        ("q-1", "Question 1?", at(-9))
    ]
    assert (ids(found[1]), found.keys()) == (["q-0", "q-1"], {0, 1})


def test_numbers_come_before_times_where_both_turns_have_one(writer, earlier):
    writer.write(a_batch(said(1, 5, turn=1), said(2, -5, turn=2), said(3, -1, turn=3), said(4, -2)))
    assert ids(earlier.before({0: asked(turn=2)})[0]) == ["q-1", "q-4"]


def test_a_turn_without_scores_counts_and_an_erased_one_does_not(writer, earlier, rows):
    failed = an_interaction(
        id="q-1", app=APP, conversation_id="c", occurred_at=at(-2), answer="", unscored=Unscored.CALL_FAILED
    )
    writer.write(a_batch(said(2, -1), said(3, -3), unscored=(failed,)))
    rows("UPDATE interaction SET conversation_id = NULL, question = '' WHERE id = 'q-2'")
    assert ids(earlier.before({0: asked()})[0]) == ["q-1", "q-3"]


def test_a_conversation_goes_on_over_the_end_of_a_month_but_not_after_a_week(writer, earlier):
    first = datetime(2026, 1, 1, 0, 5, tzinfo=UTC)
    times = [first - timedelta(minutes=10), first - WITHIN - timedelta(minutes=1), first - timedelta(minutes=1)]
    writer.write(a_batch(*(said(n, 0, occurred_at=when) for n, when in enumerate(times))))
    assert ids(earlier.before({0: asked(occurred_at=first)})[0]) == ["q-0", "q-2"]


def test_a_question_whose_time_is_out_of_range_is_not_looked_up(earlier):
    lost = asked(occurred_at=datetime(2900, 1, 1, tzinfo=UTC), marks=frozenset({Mark.TIME_OUT_OF_RANGE}))
    assert earlier.before({0: lost}) == {}


def test_a_hostile_conversation_id_is_a_value(writer, earlier):
    hostile = "c' OR true --%\\ \u202e"
    writer.write(a_batch(said(1, -1), said(2, -1, conversation_id=hostile)))
    assert ids(earlier.before({0: asked(conversation_id=hostile)})[0]) == ["q-2"]


def test_a_statement_that_takes_too_long_ends_and_the_next_one_is_answered(database, writer):
    writer.write(a_batch(said(1, -1)))
    hasty = EarlierTurns(database, milliseconds=100)
    with psycopg.connect(database) as other:
        other.execute("LOCK TABLE interaction IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(MonitorError, match="timeout"):
            hasty.before({0: asked()})
    assert ids(hasty.before({0: asked()})[0]) == ["q-1"]
    hasty.close()


# --- growth ---

_LONG = """
    INSERT INTO interaction (app, id, occurred_at, stored_at, environment, conversation_id, question, answer,
                             retrieved_documents, tags, marks)
    SELECT app, app || '-' || n, %s::timestamptz - make_interval(secs => n), now(), 'production', 'c', 'Question?', '',
           '[]', '{}', '{}'
    FROM unnest(%s::text[]) AS app, generate_series(1, %s) AS n ORDER BY n DESC
"""


def plan(database, interaction):
    """The nodes of the plan as it was executed, with the options of the look-up's session."""
    turns = EarlierTurns(database, milliseconds=20_000)
    turns.before({0: interaction})
    (row,) = turns._connection.execute(
        f"EXPLAIN (ANALYZE, FORMAT JSON) {EARLIER}", parameters([(0, interaction, month_of(interaction.occurred_at))])
    ).fetchone()
    turns.close()

    def nodes(node):
        yield node
        for child in node.get("Plans", ()):
            yield from nodes(child)

    found = row if isinstance(row, list) else json.loads(row)
    return list(nodes(found[0]["Plan"]))


def scans(nodes):
    return [node for node in nodes if node.get("Relation Name", "").startswith("interaction")]


@pytest.mark.parametrize("turns", [2_000, 4_000])
@pytest.mark.parametrize("apps", [[APP], [APP, "other-bot"]])
def test_no_conversation_is_read_whole_however_long_and_whoever_shares_its_id(
    turns, apps, database, writer, rows, earlier
):
    writer.write(a_batch(said(0, -60 * 24 * 5, conversation_id="d")))  # makes the partition of the month
    rows(_LONG, NOON, apps, turns)
    (scan,) = scans(plan(database, asked()))
    assert (scan["Node Type"], scan["Scan Direction"]) == ("Index Scan", "Backward")
    assert scan["Actual Rows"] <= MOST_READ
    assert ids(earlier.before({0: asked()})[0]) == [f"{APP}-{n}" for n in range(1, MOST_TURNS + 1)]  # those stored last


@pytest.mark.parametrize("months", [12, 24])
def test_months_without_such_turns_are_not_looked_at(months, database, writer):
    times = [NOON - timedelta(days=30 * n) for n in range(months)]
    writer.write(a_batch(*(said(n, 0, occurred_at=when) for n, when in enumerate(times))))
    (scan,) = scans(plan(database, asked(occurred_at=NOON + timedelta(minutes=1))))
    assert scan["Relation Name"] == f"interaction_{NOON:%Y_%m}"
