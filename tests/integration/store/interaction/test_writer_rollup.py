"""The writer's rollup by minute."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.core.diagnosis import Diagnosis
from monitor.core.model import (
    Metrics,
    Reason,
    Verdict,
)
from monitor.store.interaction.rollup import MOST_VALUES, LabelCap
from monitor.store.interaction.writer import Writer
from monitor.store.tables.interactions import HISTOGRAM_BINS, METRICS, OTHER
from tests.factories.answers import NOON, an_assessment, clock
from tests.factories.assess.diagnoses import EACH_DIAGNOSIS
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.writing import ROLLUP, write

NUMBERS = count()
similarities = st.none() | st.integers(-66, 66).map(lambda n: n / 64)  # exact as REAL, some just beyond [-1, 1]
assessments = st.builds(
    an_assessment,
    app=st.sampled_from(["a", "b"]),
    environment=st.sampled_from(["production", "staging"]),
    model=st.sampled_from([None, "m"]),
    tags=st.sampled_from([{}, {"topic": "billing"}, {"topic": ""}, {"other": "x"}]),
    occurred_at=st.integers(0, 240).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    verdict=st.sampled_from(Verdict),
    reasons=st.lists(st.sampled_from(Reason), unique=True, max_size=4).map(tuple),
    metrics=st.builds(Metrics, **dict.fromkeys(METRICS, similarities)),
    diagnosis=st.none() | st.sampled_from(list(EACH_DIAGNOSIS.values())),
)
PLAIN = f"""
    SELECT date_trunc('minute', occurred_at, 'UTC'), app, i.environment, coalesce(i.model, ''),
           coalesce(i.tags ->> 'topic', ''), count(*),
           {", ".join(f"count(*) FILTER (WHERE verdict = '{v}')" for v in Verdict)},
           {", ".join(f"count(*) FILTER (WHERE '{r}' = ANY (reasons))" for r in Reason)},
           {", ".join(f"count({m})" for m in METRICS)},
           {", ".join(f"coalesce(sum({m}::float8), 0)" for m in METRICS)},
           {", ".join(f"array_agg({m}::float8) FILTER (WHERE {m} IS NOT NULL)" for m in METRICS)},
           {", ".join(f"count(*) FILTER (WHERE diagnosis = '{d}')" for d in Diagnosis)}
    FROM interaction AS i JOIN assessment USING (app, id, occurred_at) GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
"""


def histogram(values):
    """Bins of 0.05 over [-1, 1], each with its lower end; 1 is in the last."""
    return Counter(min(max(int((value + 1) * 20 // 1), 0), HISTOGRAM_BINS - 1) for value in values or ())


def trimmed(places):
    """The array of these bins, from the first with an answer to the last, as psycopg reads it."""
    return [places[bin_] for bin_ in range(min(places), max(places) + 1)] if places else []


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(assessments, min_size=1, max_size=12), min_size=1, max_size=4))
def test_the_rollup_is_what_plain_sql_counts(writer, rows, batches):
    rows("TRUNCATE interaction_key, interaction, assessment, audit_secret, verdict_minute")
    for number, batch in enumerate(batches):
        fresh = [replace(a, interaction=replace(a.interaction, id=f"{number}-{i}")) for i, a in enumerate(batch)]
        write(writer, *fresh, *fresh[:2])  # a duplicate is not counted twice
    counted = len(("minute", "app", "environment", "model", "topic", "total", *Verdict, *Reason, *METRICS, *METRICS))
    heard = 0  # no judge has spoken
    ends = counted + len(METRICS)
    plain = [
        (*row[:counted], *(trimmed(histogram(values)) for values in row[counted:ends]), heard, *row[ends:])
        for row in rows(PLAIN)
    ]
    assert rows(ROLLUP) == plain


def test_a_histogram_has_a_place_for_every_similarity(writer, rows):
    ends = [-1.0, -0.99, -0.95, 0.0, 0.95, 0.999, 1.0, 1.0000002, -1.0000002]
    write(writer, *(an_assessment(id=str(v), metrics=Metrics(sdq=v, sdrd=v, sda=v, qrd=v, qa=v)) for v in ends))
    ((bins, first, counted),) = rows("SELECT qa_bins, array_lower(qa_bins, 1), qa_count FROM verdict_minute")
    assert counted == len(ends) == sum(bins)
    assert {place: n for place, n in enumerate(bins, first) if n} == {1: 3, 2: 1, 21: 1, 40: 4}


def test_labels_beyond_the_cap_are_counted_together(writer, rows):
    writer._labels = LabelCap({**MOST_VALUES, "topic": 2})
    for number in range(5):
        write(writer, an_assessment(id=str(number), tags={"topic": f"topic {number}"}))
    write(writer, an_assessment(id="known", tags={"topic": "topic 1"}), an_assessment(id="none"))
    assert dict(rows("SELECT topic, total FROM verdict_minute")) == {"topic 0": 1, "topic 1": 2, OTHER: 3, "": 1}
    assert rows("SELECT count(*) FROM interaction WHERE tags ->> 'topic' = 'topic 4'") == [(1,)]


def test_values_beyond_the_cap_cost_no_question_each(writer):
    """A producer may give each answer a topic of its own."""

    class Counting:
        def __init__(self, connection):
            self.connection, self.asked = connection, 0

        def execute(self, *given):
            self.asked += 1
            return self.connection.execute(*given)

    cap = LabelCap({**MOST_VALUES, "topic": 2})
    with writer.transaction() as connection:
        counting = Counting(connection)
        names = cap.resolve(counting, [("topic", str(number)) for number in range(100)] + [("topic", ""), ("app", "a")])
    assert counting.asked <= 15
    assert sorted(value for (label, _), value in names.items() if label == "topic") == sorted(
        ["", "0", *["other"] * 99]
    )
    assert names["app", "a"] == "a"


def test_the_cap_holds_over_several_writers_and_restarts(database, rows):
    for run in range(3):
        writer = Writer(database, clock, queue_key=QUEUE_KEY)
        writer._labels = LabelCap({**MOST_VALUES, "app": 2})
        write(writer, *(an_assessment(id=str(n), app=f"{run}-{n}") for n in range(3)))
        writer.close()
    assert rows("SELECT count(*) FROM rollup_label WHERE label = 'app'") == [(2,)]
    assert rows("SELECT sum(total)::bigint FROM verdict_minute WHERE app = %s", OTHER) == [(7,)]


def test_a_label_seen_before_is_known_however_many_came_since(writer, rows):
    writer._labels = LabelCap(dict.fromkeys(MOST_VALUES, 1))
    for number in range(100):
        write(writer, an_assessment(id=str(number), tags={"topic": f"topic {number}"}))
    assert rows("SELECT sum(total)::bigint FROM verdict_minute") == [(100,)]


def test_names_that_came_once_give_way_to_one_that_keeps_coming(database, rows):
    """A thousand random names, and an app that is set up after them."""

    def answers(*apps):
        writer = Writer(database, clock, queue_key=QUEUE_KEY)  # which has no memory
        write(writer, *(an_assessment(id=f"{app}-{next(NUMBERS)}", app=app) for app in apps))
        writer.close()

    random_names = [f"random-{n}" for n in range(MOST_VALUES["app"])]
    answers("old")
    answers(*random_names)
    answers("new")
    assert rows("SELECT value FROM rollup_label WHERE value = 'new'") == []
    rows("UPDATE rollup_label SET seen_at = seen_at - interval '1 day'")
    answers("old", "new", "newer")
    assert sorted(rows("SELECT value FROM rollup_label WHERE value NOT LIKE 'random-%' AND label = 'app'")) == [
        ("new",),
        ("newer",),
        ("old",),
    ]
    assert rows("SELECT count(*) FROM rollup_label WHERE label = 'app'") == [(MOST_VALUES["app"],)]
    assert rows("SELECT sum(total)::bigint FROM verdict_minute WHERE app = 'new'") == [(1,)]
    answers(*(f"more-{n}" for n in range(MOST_VALUES["app"])))  # what was seen today does not give way
    assert rows("SELECT count(*) FROM rollup_label WHERE value IN ('new', 'newer', 'old')") == [(3,)]
    assert rows("SELECT count(*) FROM rollup_label WHERE label = 'app'") == [(MOST_VALUES["app"],)]


def test_a_process_that_runs_for_long_learns_that_there_is_room(writer, rows):
    passing = [0.0]
    writer._labels = LabelCap({**MOST_VALUES, "topic": 1}, clock=lambda: passing[0])
    topic = [an_assessment(id=str(n), tags={"topic": "new"}) for n in range(3)]
    write(writer, an_assessment(id="first", app="another", tags={"topic": "old"}))
    write(writer, topic[0])
    rows("UPDATE rollup_label SET seen_at = seen_at - interval '2 days' WHERE value = 'old'")
    write(writer, topic[1])
    passing[0] = 3_600.0
    write(writer, topic[2])
    assert dict(rows("SELECT topic, total FROM verdict_minute")) == {"old": 1, OTHER: 2, "new": 1}


def test_what_is_seen_is_noted_once_in_an_hour(database, rows):
    def answer(number):
        writer = Writer(database, clock, queue_key=QUEUE_KEY)
        write(writer, an_assessment(id=str(number)))
        writer.close()
        return rows("SELECT xmin::text FROM rollup_label WHERE label = 'app'")

    first = answer(1)
    assert answer(2) == first
    rows("UPDATE rollup_label SET seen_at = seen_at - interval '1 hour'")
    before = rows("SELECT xmin::text FROM rollup_label WHERE label = 'app'")
    assert answer(3) != before


def test_a_label_as_long_as_an_event_may_have_it_is_counted(writer, rows):
    """An index entry of Postgres holds 2,704 bytes, and incompressible text takes its full length."""
    chance = random.Random(1)

    def long(characters):
        return "".join(chr(chance.randrange(0x20000, 0x2A000)) for _ in range(characters))  # four bytes each

    it = an_assessment(
        id=long(512),
        app=long(128),
        environment=long(128),
        model=long(256),
        tags={"topic": long(1024)},
    )
    assert write(writer, it).assessed == 1
    assert rows("SELECT sum(total)::bigint FROM verdict_minute") == [(1,)]
