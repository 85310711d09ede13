"""One customer's answers, by conversation, trace or tag: listed, counted for an export, and erased."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest

from monitor.core.model import Verdict
from monitor.privacy.tag_digest import tag_digest, tag_digests
from monitor.store.interaction.filters import ExactValues, Filters, answers_with
from monitor.store.interaction.listing.list import InteractionList
from monitor.store.privacy.erasure import Erasure, ErasureTarget
from tests.factories.answers import NOON, a_batch, an_assessment, at

PHONE, OLD_KEY, NEW_KEY = "+49 30 12345678", bytes(32), bytes([1]) * 32
APP = "support-bot"
YEAR = timedelta(days=365)
FILTERS = Filters(since=NOON - YEAR, until=NOON + YEAR)
DIGESTS = tag_digests((NEW_KEY, OLD_KEY), "user", PHONE)


def _told(number, **over):
    return an_assessment(id=f"q-{number}", app=APP, occurred_at=at(-number), **over)


@pytest.fixture
def stored(writer):
    redacted = {"user": "[phone]", "topic": "storage"}
    writer.write(
        a_batch(
            _told(1, conversation_id="c-1", trace_id="t-1", tags={"user": PHONE}),  # before redaction was switched on
            _told(2, conversation_id="c-1", tags=redacted, tag_digests=frozenset({tag_digest(OLD_KEY, "user", PHONE)})),
            _told(3, trace_id="t-1", tags=redacted, tag_digests=frozenset({tag_digest(NEW_KEY, "user", PHONE)})),
            _told(4, tags=redacted, tag_digests=frozenset({tag_digest(NEW_KEY, "user", "+49 30 99999999")})),
            _told(5, conversation_id="c-2", tags={"topic": PHONE}, verdict=Verdict.REFUSAL),
        )
    )


@pytest.mark.parametrize(
    ("exact", "expected"),
    [
        (ExactValues(conversation="c-1"), ["q-1", "q-2"]),
        (ExactValues(conversation="c"), []),
        (ExactValues(trace="t-1"), ["q-1", "q-3"]),
        (ExactValues(conversation="c-1", trace="t-1"), ["q-1"]),
        (ExactValues(tag=("user", PHONE)), ["q-1"]),
        (ExactValues(tag=("user", PHONE), tag_digests=DIGESTS), ["q-1", "q-2", "q-3"]),
        (ExactValues(tag=("user", "[phone]")), ["q-2", "q-3", "q-4"]),
        (ExactValues(tag=("topic", PHONE), tag_digests=tag_digests((NEW_KEY,), "topic", PHONE)), ["q-5"]),
    ],
)
@pytest.mark.usefixtures("stored")
def test_answers_are_listed_by_the_exact_value(engine, exact, expected):
    listing = InteractionList(engine).page(replace(FILTERS, exact=exact))
    assert [row.id for row in listing.rows] == expected
    found = answers_with(engine, exact, app=None, start=FILTERS.since, end=FILTERS.until)
    assert found == [(APP, id_) for id_ in reversed(expected)]
    assert answers_with(engine, exact, app="other", start=FILTERS.since, end=FILTERS.until) == []


@pytest.mark.usefixtures("stored")
def test_other_filters_and_pages_hold_too(engine):
    both, answers = ExactValues(tag=("user", "[phone]")), InteractionList(engine)
    grounded = replace(FILTERS, exact=both, verdicts=frozenset({Verdict.GROUNDED}), app=APP, words="snapshots")
    first = answers.page(grounded, most=2)
    assert [row.id for row in first.rows] == ["q-2", "q-3"]
    assert [row.id for row in answers.page(grounded, most=2, older_than=first.older).rows] == ["q-4"]
    refused = replace(grounded, exact=ExactValues(conversation="c-2"))
    assert answers.page(refused).rows == ()
    assert [row.id for row in answers.page(replace(refused, verdicts=frozenset({Verdict.REFUSAL}))).rows] == ["q-5"]


@pytest.mark.usefixtures("stored")
def test_an_index_answers_each(database):
    queries = (
        ("interaction_2026|_conversation_id_idx", "conversation_id = 'c-1'"),
        ("trace_id_idx", "trace_id = 't-1'"),
        ("tags_idx", """tags @> '{"user": "x"}'"""),
        ("tag_digests_idx", "tag_digests IS NOT NULL AND tag_digests && ARRAY['x']"),
    )
    with psycopg.connect(database) as connection:
        connection.execute("SET enable_seqscan = off")
        for index, condition in queries:
            plan = connection.execute(f"EXPLAIN SELECT id FROM interaction WHERE {condition}").fetchall()
            assert any(part in line for (line,) in plan for part in index.split("|")), plan


@pytest.mark.usefixtures("stored")
def test_an_erasure_by_trace_or_redacted_tag_leaves_no_digest(engine, rows):
    erasure = Erasure(engine)
    for wanted in (
        ErasureTarget(app=APP, trace="t-1"),
        ErasureTarget(app=APP, tag=("user", PHONE), tag_digests=DIGESTS),
    ):
        erasure.erase(APP, erasure.find(wanted), by="eve", reason_given=True, now=NOON)
        assert erasure.find(wanted) == []
    assert rows("SELECT id FROM interaction WHERE tag_digests IS NOT NULL") == [("q-4",)]
    assert rows("SELECT id FROM interaction WHERE 'erased' = ANY (marks) ORDER BY id") == [("q-1",), ("q-2",), ("q-3",)]
