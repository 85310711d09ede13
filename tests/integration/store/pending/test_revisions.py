"""Revised verdicts change the rollup, and the replaced ones are kept."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from threading import Barrier

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.app.pending.assessing import AssessingWorker
from monitor.app.pending.queue import Queue
from monitor.core.model import Metrics, Reason, StandIn, Support, Verdict
from monitor.core.pending import Work
from monitor.store.interaction.rollup import MOST_VALUES, LabelCap
from monitor.store.interaction.writer import Writer
from monitor.store.pending.finish import finish_revised
from monitor.store.pending.queue import PendingQueue
from monitor.store.tables.interactions import METRICS, OTHER
from tests.factories.answers import (
    A_STAND_IN,
    FROM_THE_SIDECAR,
    NOON,
    a_batch,
    an_assessment,
    clock,
)
from tests.factories.assess.diagnoses import EACH_DIAGNOSIS
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.pending_work import LATER, Reader, assessed, claim, the_queue
from tests.rig.store.writing import ROLLUP

similarities = (
    st.none()
    | st.floats(-1, 1, width=32)
    | st.floats(-1, 1).filter(lambda x: not 0 < abs(x) < 1e-30)
    | st.integers(-20, 20).map(lambda n: n / 20)
)  # the ends of bins too
decided = st.fixed_dictionaries(
    {
        "verdict": st.sampled_from(Verdict),
        "reasons": st.lists(st.sampled_from(Reason), unique=True, max_size=4).map(tuple),
        "metrics": st.builds(Metrics, **dict.fromkeys(METRICS, similarities)),
        "diagnosis": st.none() | st.sampled_from(list(EACH_DIAGNOSIS.values())),
    }
)
placed = st.fixed_dictionaries(
    {
        "app": st.sampled_from(["a", "b"]),
        "environment": st.sampled_from(["production", "staging"]),
        "model": st.sampled_from([None, "m", "n", "o"]),
        "tags": st.sampled_from([{}, {"topic": "one"}, {"topic": "two"}, {"topic": "three"}, {"topic": "x" * 200}]),
        "occurred_at": st.integers(0, 120).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    }
)
COUNTED = 5 + 1 + len(Verdict) + len(Reason) + len(METRICS)  # columns of ROLLUP before the sums


def rollup(rows):
    """Equal, except for the last digits of the sums."""
    return [
        (
            *row[:COUNTED],
            *(pytest.approx(value, abs=1e-9) for value in row[COUNTED : COUNTED + len(METRICS)]),
            *row[COUNTED + len(METRICS) :],
        )
        for row in rows(ROLLUP)
    ]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drawn=st.lists(st.tuples(placed, decided, st.none() | decided), min_size=1, max_size=12), split=st.integers(0, 12)
)
def test_the_rollup_is_as_if_the_revised_verdicts_had_been_given_at_first(writer, queue, rows, drawn, split):
    everything = (
        "TRUNCATE interaction_key, interaction, assessment, verdict_minute, rollup_label, pending, audit_secret"
    )

    def written(first, revised):
        """Runs with a cap on labels that some of them exceed."""
        rows(everything)
        writer._labels = LabelCap({**MOST_VALUES, "topic": 2, "model": 2})
        found = [
            an_assessment(id=str(n), **where, **(then if revised and then is not None else now), support=A_STAND_IN)
            for n, (where, now, then) in enumerate(first)
        ]
        writer.write(a_batch(*found[:split]))
        writer.write(a_batch(*found[split:]))

    written(drawn, revised=True)
    expected = rows(ROLLUP)
    written(drawn, revised=False)
    claims = {int(c.interaction.id): c for c in claim(queue, Work.SIDECAR)}
    done = [
        (claims[n], an_assessment(interaction=claims[n].interaction, **then, support=FROM_THE_SIDECAR))
        for n, (_, _, then) in enumerate(drawn)
        if then is not None
    ]
    writer._labels.forget()  # as in another process
    assert finish_revised(writer, done, LATER) == []
    assert expected == rollup(rows)
    minutes = rows("SELECT * FROM verdict_minute")
    finish_revised(writer, done, LATER)
    assert rows("SELECT * FROM verdict_minute") == minutes


@pytest.mark.parametrize(
    "change", ["UPDATE rollup_label SET value = 'two' WHERE label = 'app'", "TRUNCATE rollup_label"]
)
def test_a_revision_is_counted_where_the_answer_was_whatever_has_a_place_now(writer, queue, rows, change):
    writer._labels = LabelCap({**MOST_VALUES, "app": 1})
    found = [an_assessment(id=name, app=name, verdict=Verdict.REFUSAL, support=A_STAND_IN) for name in ("one", "two")]
    writer.write(a_batch(*found))
    rows(change)
    writer._labels.forget()
    finish_revised(writer, assessed(claim(queue, Work.SIDECAR), support=FROM_THE_SIDECAR), LATER)
    counted = "app, sum(total)::integer, sum(grounded)::integer, sum(refusal)::integer"
    assert sorted(rows(f"SELECT {counted} FROM verdict_minute GROUP BY 1")) == sorted(
        [("one", 1, 1, 0), (OTHER, 1, 1, 0)]
    )


def test_what_was_before_is_kept_with_the_revision(writer, queue, rows):
    metrics = Metrics(sdq=0.1, sdrd=None, sda=-0.3, qrd=1.0, qa=1 / 3)
    writer.write(a_batch(an_assessment(verdict=Verdict.REFUSAL, metrics=metrics, support=A_STAND_IN)))
    every = "to_jsonb(a) - ARRAY['app', 'id', 'occurred_at', 'live', 'revised_at', 'earlier', 'transaction_id']"
    ((before,),) = rows(f"SELECT {every} FROM assessment a")
    assert rows("SELECT revised_at, earlier FROM assessment") == [(None, None)]
    done = assessed(claim(queue, Work.SIDECAR), support=FROM_THE_SIDECAR)
    finish_revised(writer, done, LATER)
    ((earlier, after),) = rows(f"SELECT earlier, {every} FROM assessment a")
    assert rows("SELECT revised_at, live FROM assessment") == [(LATER, True)]
    assert earlier == before
    assert (earlier["verdict"], earlier["sda"], earlier["sdrd"]) == ("refusal", -0.3, None)
    assert earlier["support"]["stands_in"] == {"because": "no answer", "queued": True}
    assert after["verdict"] == "grounded"
    assert after["support"]["origin"] == "sidecar"
    assert rows("SELECT sum(total)::integer, sum(grounded)::integer, sum(refusal)::integer FROM verdict_minute") == [
        (1, 1, 0)
    ]


def test_a_revision_leaves_the_verdict_of_a_rescore_alone(writer, queue, rows, rescore):
    Reader(writer).write(assessed=["a", "b"])
    rescore("another", "a", "b")
    beside = "SELECT * FROM assessment WHERE NOT live ORDER BY id"
    before = rows(beside)
    assert finish_revised(writer, assessed(claim(queue, Work.SIDECAR), verdict=Verdict.REFUSAL), LATER) == []
    assert rows(beside) == before != []
    assert rows("SELECT verdict, revised_at FROM assessment WHERE live") == [("refusal", LATER)] * 2


def test_a_verdict_of_another_profile_is_not_revised_and_that_is_seen(writer, queue, rows, rescore):
    """Nor is the assessment of a rescore under the current profile."""
    Reader(writer).write(assessed=["a", "b"])
    rescore("of today", "a", "b")
    before = rows("SELECT * FROM assessment ORDER BY id, live"), rows("SELECT * FROM verdict_minute")

    class Today:
        def assess(self, interactions):
            return [
                an_assessment(interaction=it, profile_hash="of today", support=FROM_THE_SIDECAR) for it in interactions
            ]

    work = Queue(pending=queue, now=clock, max_attempts=5)
    worker = AssessingWorker(queue=work, writer=writer, assess=Today().assess, kinds=[Work.ASSESS, Work.SIDECAR])
    assert worker.round() == 2
    assert worker.round() is None
    assert (rows("SELECT * FROM assessment ORDER BY id, live"), rows("SELECT * FROM verdict_minute")) == before
    assert queue.counts(LATER)[0].given_up == 2
    assert all("another profile" in row["last_error"] for row in queue.rows(kind=None, given_up=True, most=9))


def test_a_stand_in_that_is_worth_no_further_call_is_the_end_of_it(writer, queue, rows):
    Reader(writer).write(assessed=["a"])
    final = Support(origin=A_STAND_IN.origin, documents=(), stands_in=StandIn(because="model_refused", queued=False))

    class Refused:
        def assess(self, interactions):
            return [an_assessment(interaction=it, support=final) for it in interactions]

    work = Queue(pending=queue, now=clock, max_attempts=5)
    worker = AssessingWorker(queue=work, writer=writer, assess=Refused().assess, kinds=[Work.SIDECAR])
    assert worker.round() == 1
    assert the_queue(rows) == [("judge", "a")]
    assert rows("SELECT support -> 'stands_in' ->> 'because' FROM assessment") == [("model_refused",)]


def test_revisions_of_the_same_minute_at_once_are_all_counted(database, engine, rows):
    with closing(Writer(database, clock, follow_ups=lambda _: [Work.SIDECAR], queue_key=QUEUE_KEY)) as writer:
        writer.write(a_batch(*(an_assessment(id=str(n), model=f"m{n % 5}") for n in range(120))))
    meet = Barrier(3)

    def work(_):
        mine = PendingQueue(engine)
        with closing(Writer(database, clock, queue_key=QUEUE_KEY)) as writer:
            meet.wait()
            while claims := claim(mine, most=5):
                assert finish_revised(writer, assessed(claims, verdict=Verdict.REFUSAL, reasons=()), LATER) == []

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))
    assert rows("SELECT sum(total)::integer, sum(grounded)::integer, sum(refusal)::integer FROM verdict_minute") == [
        (120, 0, 120)
    ]
    assert rows("SELECT count(*) FROM assessment WHERE revised_at IS NULL") == [(0,)]
