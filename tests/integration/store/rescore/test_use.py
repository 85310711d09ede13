"""Verdicts of another profile that are put in use: counts move along, both rows stay provable, there is a way back."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta

import pytest

from monitor.assess.classify.profile import load_profile
from monitor.assess.judge.metric import Outcome
from monitor.core.model import Metrics, Probabilities, Verdict
from monitor.core.pending import Work
from monitor.store.alert.new_answers import NewAnswerList
from monitor.store.audit.verify import verify
from monitor.store.audit_queue import Kind
from monitor.store.interaction.assessments import AssessmentQueries
from monitor.store.interaction.rescore import add_assessments
from monitor.store.interaction.writer import Writer
from monitor.store.pending.finish import finish_judged
from monitor.store.pending.hearing import Hearing
from monitor.store.pending.queue import PendingQueue
from monitor.store.rescore.answers import RescoreAnswers, RescoreSpan
from monitor.store.rescore.comparison import compare
from monitor.store.rescore.use import put_in_use
from tests.factories.answers import FROM_THE_SIDECAR, NOON, a_judgement, an_assessment, at, clock
from tests.rig.store.audit_trail import Trail
from tests.rig.store.keys import KEY, QUEUE_KEY
from tests.rig.store.pending_work import LATER, claim
from tests.rig.store.writing import ROLLUP

G, R, S = Verdict.GROUNDED, Verdict.REFUSAL, Verdict.SELF_GENERATED
OLD = an_assessment().profile_hash
PROFILE = load_profile("hash", "hash/64", "hash/64")
OTHER_METRICS = Metrics(sdq=-0.5, sdrd=None, sda=0.25, qrd=0.125, qa=0.0)
LIVE = "SELECT id, verdict, profile_hash FROM assessment WHERE live ORDER BY id"


def span(profile_hash=PROFILE.hash, **over):
    known = {"since": NOON - timedelta(hours=1), "until": NOON + timedelta(hours=1), "app": None}
    return RescoreSpan(profile_hash=profile_hash, **{**known, **over})


@pytest.fixture
def writer(database):
    with closing(Writer(database, clock, queue_key=QUEUE_KEY)) as writer:
        yield writer


@pytest.fixture
def trail(engine, database):
    AssessmentQueries(engine).save_profile(PROFILE, NOON)
    return Trail(engine, database)


@pytest.fixture
def rescored(trail, writer):
    """Stores answers with one verdict shown and another one under the profile."""

    def stored(verdicts, follow_ups=(), **over):
        trail.write(*(an_assessment(id=id_, verdict=old) for id_, (old, _) in verdicts.items()), follow_ups=follow_ups)
        made = [
            an_assessment(id=id_, verdict=new, profile_hash=PROFILE.hash, metrics=OTHER_METRICS, **over)
            for id_, (_, new) in verdicts.items()
        ]
        with writer.transaction() as connection:
            writer.queue_to_seal(connection, Kind.ASSESSMENT, add_assessments(connection, made).rows)

    return stored


@pytest.fixture
def switch(engine, writer):
    def switched(profile_hash, **over):
        keys, _ = RescoreAnswers(engine).keys(span(profile_hash))
        return put_in_use(writer, keys, profile_hash, hearing=Hearing(**over), now=LATER)

    return switched


def sound(trail):
    found = verify(trail.engine, [KEY], QUEUE_KEY, notes=trail.witness.notes)
    assert list(found.findings) == []


def test_lists_and_counts_move_and_go_back_and_both_rows_are_proved_at_each_step(rescored, switch, trail, rows):
    rescored({"a": (G, S), "b": (S, G), "c": (G, G)})
    sound(trail)
    before, counted = rows(LIVE), rows(ROLLUP)
    trail.turn()
    assert switch(PROFILE.hash) == {OLD: 3}
    assert rows(LIVE) == [
        ("a", "self_generated", PROFILE.hash),
        ("b", "grounded", PROFILE.hash),
        ("c", "grounded", PROFILE.hash),
    ]
    assert rows("SELECT total, grounded, self_generated, sdrd_count, qa_sum FROM verdict_minute") == [(3, 2, 1, 0, 0.0)]
    assert rows("SELECT total, grounded, self_generated, sdrd_count FROM verdict_hour") == [(3, 2, 1, 0)]
    sound(trail)  # while both wait
    trail.turn()
    sound(trail)
    assert switch(PROFILE.hash) == {}
    assert switch(OLD) == {PROFILE.hash: 3}
    assert (rows(LIVE), rows(ROLLUP)) == (before, counted)
    trail.turn()
    sound(trail)


def test_what_is_switched_past_the_program_is_found(rescored, switch, trail, engine):
    rescored({"a": (G, S), "b": (G, S)})
    switch(PROFILE.hash)
    trail.turn()
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE assessment SET live = NOT live WHERE id = 'a'")
    found = verify(engine, [KEY], QUEUE_KEY, notes=trail.witness.notes).findings
    assert {finding.subject for finding in found} == {"a"}
    assert all("live" in finding.sentence for finding in found)


def test_an_answer_is_listed_as_new_once(rescored, switch, engine, rows):
    rescored({"a": (G, S)})
    answers = NewAnswerList(engine)
    answers.fill(NOON)
    switch(PROFILE.hash)
    rescored({"b": (G, S)})
    switch(PROFILE.hash)
    for _ in range(2):
        answers.fill(NOON)
    assert rows("SELECT count(DISTINCT transaction_id), count(transaction_id) FROM assessment WHERE live") == [(2, 2)]
    assert rows("SELECT count(*) FROM assessment WHERE NOT live AND transaction_id IS NOT NULL") == [(0,)]


def test_the_word_of_the_judge_goes_along_and_is_heard_once(rescored, switch, trail, engine, writer, rows):
    close = Probabilities(grounded=0.54, refusal=0.1, self_generated=0.36)
    rescored({"a": (G, G)}, {Work.JUDGE}, probabilities=close)
    unsupported = Outcome(score=0.25, parts={"statements": []})
    finish_judged(
        writer, [(c, [a_judgement(outcome=unsupported)]) for c in claim(PendingQueue(engine), Work.JUDGE)], LATER
    )
    for _ in range(2):
        switch(PROFILE.hash)
        assert rows("SELECT verdict, evidence -> 'judge' ->> 'turned' FROM assessment WHERE live") == [
            ("self_generated", "1")
        ]
        assert rows("SELECT total, self_generated, heard FROM verdict_minute") == [(1, 1, 1)]
        switch(OLD)
    assert rows("SELECT count(*) FROM assessment WHERE earlier -> 'earlier' IS NOT NULL") == [(0,)]
    trail.turn()
    sound(trail)


def test_erased_answers_and_those_without_a_second_verdict_keep_theirs(rescored, switch, trail, engine, rows):
    rescored({"a": (G, S), "erased": (G, S)})
    trail.write(an_assessment(id="alone"))
    trail.erase("erased")
    totals = RescoreAnswers(engine).totals(span())
    assert (totals.answers, totals.assessed, totals.left) == (3, 2, 1)
    assert switch(PROFILE.hash) == {OLD: 1}
    assert rows(LIVE) == [
        ("a", "self_generated", PROFILE.hash),
        ("alone", "grounded", OLD),
        ("erased", "grounded", OLD),
    ]
    trail.turn()
    sound(trail)


def test_moves_are_counted_by_app_from_and_to_with_examples(rescored, engine):
    rescored({**{f"a-{n}": (G, S) for n in range(5)}, "b": (S, S)})
    still, moved = sorted(compare(engine, span()), key=lambda move: move.answers)
    assert (still.shown, still.other, still.examples) == (S, S, ())
    assert (moved.app, moved.shown, moved.other, moved.answers, moved.in_use) == ("support-bot", G, S, 5, 0)
    assert [(e.id, e.p_shown, e.p_other) for e in moved.examples] == [(f"a-{n}", 0.125, 0.75) for n in range(3)]
    assert compare(engine, span(app="another")) == []
    assert compare(engine, span(until=NOON)) == []


def test_the_support_of_a_sidecar_is_what_a_rescore_scores(trail, engine):
    trail.write(an_assessment(support=FROM_THE_SIDECAR), an_assessment(id="q-2"))
    answers = RescoreAnswers(engine)
    found = answers.texts(answers.keys(span())[0])
    assert [support.origin for _, support in found] == [FROM_THE_SIDECAR.origin, an_assessment().support.origin]
    assert found[0][1] == FROM_THE_SIDECAR
    assert at(0) == found[0][0].occurred_at
