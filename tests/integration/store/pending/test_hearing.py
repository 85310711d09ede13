"""The judge's word revises the live assessment, moves the counts with it, and is sealed as what it is."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date, timedelta
from types import SimpleNamespace

import pytest

from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Span
from monitor.app.backtest import on_history
from monitor.app.pending.hearings import Hearings
from monitor.assess.chunks.diagnose import diagnose
from monitor.assess.classify.profile import load_profile
from monitor.assess.judge.metric import Outcome
from monitor.assess.judge.sampling import Sample, SamplingPolicy
from monitor.assess.judge.word import PRIOR, WordWeights
from monitor.core.diagnosis import Diagnosis
from monitor.core.errors import Retriable
from monitor.core.model import Probabilities, Verdict
from monitor.core.pending import Work
from monitor.report.weekly.week import Week
from monitor.review.label import Label
from monitor.store.alert.alerts import PostgresAlertStore
from monitor.store.audit.verify import verify
from monitor.store.interaction.assessments import AssessmentQueries
from monitor.store.pending.finish import finish_judged, finish_revised
from monitor.store.pending.hearing import Hearing
from monitor.store.report.operations import judged as judged_in_week
from monitor.store.review.judged_labels import JudgedLabels
from monitor.store.review.labels import Reviews
from tests.factories.alert.alerts import a_method, a_rule
from tests.factories.answers import (
    A_STAND_IN,
    FROM_THE_SIDECAR,
    NOON,
    a_batch,
    a_judgement,
    an_assessment,
)
from tests.factories.assess.diagnoses import CHUNKS, a_diagnosis
from tests.rig.store.audit_trail import Trail
from tests.rig.store.keys import KEY, QUEUE_KEY
from tests.rig.store.pending_work import LATER, assessed, claim
from tests.rig.store.writing import ROLLUP

PROFILE = load_profile("hash", "hash/64", "hash/64")
CLOSE = Probabilities(grounded=0.54, refusal=0.1, self_generated=0.36)  # .4 without a refusal
UNSUPPORTED = Outcome(score=0.25, parts={"statements": []})
APP = "support-bot"


def close_one(**over):
    return an_assessment(**{"profile_hash": PROFILE.hash, "probabilities": CLOSE, **over})


@pytest.fixture
def store(engine, writer):
    """Stores answers under a stored profile."""
    AssessmentQueries(engine).save_profile(PROFILE, NOON)

    def stored(*assessments):
        writer.write(a_batch(*assessments))

    return stored


def judged(claims, outcome=UNSUPPORTED, **over):
    return [(c, [a_judgement(outcome=outcome, **over)]) for c in claims]


def counted(rows):
    return rows("SELECT total, grounded, self_generated, not_in_documents, sda_count, heard FROM verdict_minute")


def test_a_word_turns_the_verdict_and_keeps_the_row_before(writer, store, queue, rows):
    store(close_one())
    assert counted(rows) == [(1, 1, 0, 0, 1, 0)]
    finish_judged(writer, judged(claim(queue, Work.JUDGE)), LATER)
    ((verdict, reasons, p, rest, revised_at, earlier, heard),) = rows(
        "SELECT verdict, reasons, p_self_generated::float8, p_grounded + p_refusal + p_self_generated, revised_at,"
        " earlier, evidence -> 'judge' FROM assessment"
    )
    after = 1 / (1 + math.exp(-(math.log(0.4 / 0.6) + PRIOR)))
    assert (verdict, reasons[-1], revised_at) == ("self_generated", "not_in_documents", LATER)
    assert (p, rest) == (pytest.approx(0.9 * after, abs=1e-6), pytest.approx(1))
    assert (earlier["verdict"], earlier["reasons"], "judge" in earlier["evidence"]) == ("grounded", [], False)
    assert heard == {
        "model": "gpt-test",
        "score": 0.25,
        "says": "unsupported",
        "labels": 0,
        "before": pytest.approx(0.4, abs=1e-6),
        "weight": pytest.approx(PRIOR, abs=1e-6),
        "turned": 1,
    }
    assert counted(rows) == [(1, 0, 1, 1, 1, 1)]
    assert rows("SELECT count(*) FROM assessment") == [(1,)]


@pytest.mark.parametrize(
    ("outcome", "over"),
    [
        (Outcome(score=None, reason="incomplete"), {}),  # a judge that failed, or refused
        (Outcome(score=0.65), {}),  # it neither supports nor contradicts
        (Outcome(score=0.0), {"metric": "context_relevance"}),
    ],
)
def test_a_judge_that_says_nothing_changes_nothing(writer, store, queue, rows, outcome, over):
    store(close_one())
    before = rows("SELECT * FROM assessment"), rows(ROLLUP)
    finish_judged(writer, judged(claim(queue, Work.JUDGE), outcome, **over), LATER)
    assert (rows("SELECT * FROM assessment"), rows(ROLLUP)) == before
    assert rows("SELECT count(*) FROM judgement") == [(1,)]


def test_an_answer_under_a_profile_that_is_not_stored_is_judged_and_not_revised(writer, store, queue, rows):
    store(close_one(profile_hash="0123456789abcdef"))
    finish_judged(writer, judged(claim(queue, Work.JUDGE)), LATER)
    assert rows("SELECT verdict, revised_at FROM assessment") == [("grounded", None)]


def test_a_word_that_came_before_the_sidecar_is_heard_again(writer, store, queue, rows):
    store(close_one(support=A_STAND_IN))
    finish_judged(writer, judged(claim(queue, Work.JUDGE)), NOON)
    revised = assessed(
        claim(queue, Work.SIDECAR), support=FROM_THE_SIDECAR, profile_hash=PROFILE.hash, probabilities=CLOSE
    )
    assert finish_revised(writer, revised, LATER) == []
    assert rows("SELECT verdict, evidence -> 'judge' ->> 'says', support ->> 'origin' FROM assessment") == [
        ("self_generated", "unsupported", "sidecar")
    ]
    assert counted(rows) == [(1, 0, 1, 1, 1, 1)]
    ((earlier,),) = rows("SELECT earlier FROM assessment")
    kept = [earlier, earlier["earlier"], earlier["earlier"]["earlier"]]  # the sidecar's, the judge's, the first one
    assert [(row["support"]["origin"], "judge" in row["evidence"], row.get("revised_at")) for row in kept] == [
        ("sidecar", False, LATER.isoformat()),
        ("extractive", True, NOON.isoformat()),
        ("extractive", False, None),
    ]


def test_what_the_sidecar_gave_before_the_judge_spoke_is_kept_with_what_was_before_it(writer, store, queue, rows):
    store(close_one(support=A_STAND_IN, verdict=Verdict.REFUSAL))
    revised = assessed(
        claim(queue, Work.SIDECAR), support=FROM_THE_SIDECAR, profile_hash=PROFILE.hash, probabilities=CLOSE
    )
    finish_revised(writer, revised, NOON)
    finish_judged(writer, judged(claim(queue, Work.JUDGE)), LATER)
    assert rows("SELECT earlier ->> 'verdict', earlier -> 'earlier' ->> 'verdict' FROM assessment") == [
        ("grounded", "refusal")
    ]


def test_a_verdict_that_is_revised_after_the_word_takes_its_count_back(writer, store, queue, rows):
    store(close_one(support=A_STAND_IN))
    finish_judged(writer, judged(claim(queue, Work.JUDGE)), NOON)
    refused = assessed(
        claim(queue, Work.SIDECAR), support=FROM_THE_SIDECAR, profile_hash=PROFILE.hash, verdict=Verdict.REFUSAL
    )
    finish_revised(writer, refused, LATER)
    assert counted(rows) == [(1, 0, 0, 0, 1, 0)]


UNUSED = (replace(CHUNKS[0], used=False),)


@pytest.mark.parametrize(
    ("given", "turned", "over"),
    [
        (Diagnosis.HEALTHY, Diagnosis.GENERATOR_INVENTED, {}),
        (Diagnosis.RETRIEVAL_REDUNDANT, Diagnosis.GENERATOR_IGNORED, {"chunks": UNUSED}),
        (Diagnosis.HEALTHY, Diagnosis.RETRIEVAL_MISSED, {"chunks": UNUSED, "threshold": 0.9}),
        (None, None, {}),  # of the release before
    ],
)
def test_the_diagnosis_suits_the_verdict_that_a_word_gives(writer, store, queue, rows, given, turned, over):
    store(close_one(diagnosis=given and a_diagnosis(given, **over)))
    before = rows(ROLLUP)
    finish_judged(writer, judged(claim(queue, Work.JUDGE)), NOON)
    asked = "SELECT verdict, diagnosis, earlier ->> 'diagnosis' FROM assessment"
    assert rows(asked) == [("self_generated", turned, given)]
    assert diagnosed(rows) == ({} if turned is None else {turned: 1})
    rows(
        "INSERT INTO pending (kind, app, interaction_id, occurred_at, group_id, queued_at, not_before)"
        " SELECT 'judge', app, id, occurred_at, 'monitor', occurred_at, occurred_at FROM interaction"
    )
    finish_judged(writer, judged(claim(queue, Work.JUDGE), Outcome(score=0.7), model="new"), LATER)
    assert rows("SELECT verdict FROM assessment") == [("grounded",)]
    back = given and diagnose(Verdict.GROUNDED, a_diagnosis(given, **over).chunks, a_diagnosis(given, **over).threshold)
    assert rows("SELECT diagnosis FROM assessment") == [(back,)]
    assert diagnosed(rows) == ({} if back is None else {back: 1})
    assert given is not Diagnosis.HEALTHY or rows(ROLLUP) == before


def test_a_diagnosis_in_the_form_of_another_release_stays_and_holds_up_no_word(writer, store, queue, rows):
    store(close_one(diagnosis=a_diagnosis(Diagnosis.HEALTHY)))
    rows("UPDATE assessment SET evidence = jsonb_set(evidence, '{retrieval,graph}', '7')")
    finish_judged(writer, judged(claim(queue, Work.JUDGE)), NOON)
    assert rows("SELECT verdict, diagnosis FROM assessment") == [("self_generated", "healthy")]


def test_a_word_that_leaves_the_verdict_leaves_the_diagnosis(writer, store, queue, rows):
    clear = Probabilities(grounded=0.9, refusal=0.05, self_generated=0.05)
    store(close_one(probabilities=clear, diagnosis=a_diagnosis(Diagnosis.RETRIEVAL_NOISY)))
    finish_judged(writer, judged(claim(queue, Work.JUDGE)), LATER)
    assert rows("SELECT verdict, diagnosis, revised_at FROM assessment") == [("grounded", "retrieval_noisy", LATER)]
    assert diagnosed(rows) == {Diagnosis.RETRIEVAL_NOISY: 1}


def test_a_diagnosis_without_its_chunks_stays(writer, store, queue, rows):
    store(close_one(diagnosis=a_diagnosis()))
    rows("UPDATE assessment SET evidence = evidence - 'retrieval'")
    finish_judged(writer, judged(claim(queue, Work.JUDGE)), LATER)
    assert rows("SELECT verdict, diagnosis FROM assessment") == [("self_generated", "healthy")]


def diagnosed(rows):
    """How many answers the rollups count under each diagnosis that any has; the same by the minute and by the hour."""
    names = ", ".join(f"sum({diagnosis})::integer" for diagnosis in Diagnosis)
    (by_minute,), (by_hour,) = (rows(f"SELECT {names} FROM {table}") for table in ("verdict_minute", "verdict_hour"))
    assert by_minute == by_hour
    return {diagnosis: n for diagnosis, n in zip(Diagnosis, by_minute, strict=True) if n}


def test_a_later_judgement_that_says_nothing_takes_the_word_back(writer, store, queue, rows):
    store(close_one())
    (first,) = claim(queue, Work.JUDGE)
    finish_judged(writer, judged([first]), NOON)
    without_score = Outcome(score=None, reason="incomplete")
    for hours, model, outcome in [(1, "failed", without_score), (2, "new", Outcome(score=0.7))]:
        rows(
            "INSERT INTO pending (kind, app, interaction_id, occurred_at, group_id, queued_at, not_before)"
            " SELECT 'judge', app, id, occurred_at, 'monitor', occurred_at, occurred_at FROM interaction"
        )
        assert counted(rows) == [(1, 0, 1, 1, 1, 1)]
        later = NOON + timedelta(hours=hours)
        finish_judged(writer, judged(claim(queue, Work.JUDGE, now=later), outcome, model=model), later)
    assert counted(rows) == [(1, 1, 0, 0, 1, 0)]
    ((verdict, reasons, p, says),) = rows(
        "SELECT verdict, reasons, p_self_generated::float8, evidence -> 'judge' ->> 'says' FROM assessment"
    )
    assert (verdict, reasons, p, says) == ("grounded", [], pytest.approx(0.36, abs=1e-6), None)


def test_an_app_whose_flags_the_judge_takes_away_does_not_page_against_its_own_past(writer, store, queue, engine, rows):
    """For two days three answers in ten are flagged, and the judge clears them, but not yet those of the last hours."""
    half = Probabilities(grounded=0.45, refusal=0.1, self_generated=0.45)
    store(
        *(
            close_one(
                id=f"q-{n}",
                occurred_at=NOON - timedelta(minutes=6 * n + 6),
                probabilities=half,
                verdict=Verdict.SELF_GENERATED if n % 10 < 3 else Verdict.GROUNDED,
                reasons=(),
            )
            for n in range(480)
        )
    )
    settled = [c for c in claim(queue, Work.JUDGE) if c.interaction.occurred_at < NOON - timedelta(hours=3)]
    flagged = [c for c in settled if int(c.interaction.id[2:]) % 10 < 3]
    finish_judged(writer, judged(flagged, Outcome(score=1.0, parts={"statements": []})), NOON)
    of_rows = rows("SELECT count(*) FROM assessment WHERE verdict = 'self_generated'")
    assert of_rows == rows("SELECT sum(self_generated)::bigint FROM verdict_minute") == [(9,)]
    assert rows("SELECT sum(heard)::integer FROM verdict_minute") == [(-len(flagged),)]
    above = a_method(above=Target(margin=0.01), window=timedelta(hours=1))
    rule = a_rule(signal=Signal(kind=SignalKind.RATE, name="self_generated"), method=above)
    span = Span(start=NOON - timedelta(hours=6), end=NOON)
    found = on_history(rule, SimpleNamespace(counting=PostgresAlertStore(engine)), span)
    assert (found.why_not, found.episodes) == (None, ())


def test_a_rescore_stays_as_it_is(writer, store, queue, rows):
    store(close_one())
    rows(
        'INSERT INTO assessment SELECT (jsonb_populate_record(a, \'{"profile_hash": "other", "live": false}\')).*'
        " FROM assessment a"
    )
    finish_judged(writer, judged(claim(queue, Work.JUDGE)), LATER)
    assert rows("SELECT live, verdict FROM assessment ORDER BY live") == [
        (False, "grounded"),
        (True, "self_generated"),
    ]


def test_the_trail_knows_the_revision_and_what_it_follows_from(engine, database):
    AssessmentQueries(engine).save_profile(PROFILE, NOON)
    trail = Trail(engine, database)
    trail.write(close_one(support=A_STAND_IN, diagnosis=a_diagnosis()), follow_ups=(Work.JUDGE, Work.SIDECAR))
    trail.turn()
    with trail._worker(Work.JUDGE) as (writer, claims):
        finish_judged(writer, judged(claims), LATER)
    trail.turn()
    with trail._worker(Work.SIDECAR) as (writer, claims):
        given = {"support": FROM_THE_SIDECAR, "profile_hash": PROFILE.hash, "probabilities": CLOSE}
        finish_revised(writer, assessed(claims, **given), LATER)
    trail.turn()
    assert verify(engine, [KEY], QUEUE_KEY, notes=trail.witness.notes).findings == ()
    trail.erase(close_one().interaction.id)
    trail.turn()
    assert verify(engine, [KEY], QUEUE_KEY, notes=trail.witness.notes).findings == ()


def test_a_judgement_keeps_the_probability_with_which_its_answer_was_taken(writer, store, queue, engine, rows):
    """A mean over one always taken and one that stands for ten is nearly that of the latter."""
    clear = Probabilities(grounded=0.9, refusal=0.05, self_generated=0.05)
    always = Sample(negatives=1.0, low_margin=0.3, rest=1.0)
    store(close_one(id="close"), close_one(id="clear", probabilities=clear), close_one(id="other"))
    hearing = Hearing(sampling=SamplingPolicy(sample=always))
    by_id = {c.interaction.id: c for c in claim(queue, Work.JUDGE)}
    finish_judged(writer, judged([by_id["close"]], Outcome(score=0.7)), LATER, hearing)
    finish_judged(writer, judged([by_id["clear"]], Outcome(score=0.6)), LATER)
    never = Hearing(sampling=SamplingPolicy(sample=Sample(negatives=0.0, low_margin=0.0, rest=0.0)))
    finish_judged(writer, judged([by_id["other"]], Outcome(score=None, reason="incomplete")), LATER, never)
    assert dict(rows("SELECT id, inclusion FROM judgement")) == {"close": 1.0, "clear": None, "other": None}
    rows("UPDATE judgement SET inclusion = 0.1 WHERE id = 'clear'")
    ((_, _, number, mean),) = AssessmentQueries(engine).judged_means()
    assert (number, mean) == (3, pytest.approx((0.7 + 10 * 0.6) / 11))
    with engine.connect() as connection:
        (told,) = judged_in_week(connection, APP, Week(monday=date(2025, 11, 17)))
    assert (told.judged, told.scored, told.worth) == (3, 2, 1)  # (1 + 10)² / (1² + 10²) = 1.2
    assert told.sum / told.worth == pytest.approx(mean)


def test_the_weights_are_learnt_from_labels_of_judged_answers_by_app(writer, store, queue, engine):
    ids = [f"q-{n}" for n in range(12)]
    store(*(close_one(id=id_) for id_ in ids))
    finish_judged(writer, judged(claim(queue, Work.JUDGE)), NOON)
    reviews = Reviews(engine)
    stood = reviews.standing([(APP, id_) for id_ in ids])
    refused, *others = stood.values()
    reviews.keep([Label(standing=refused, label=Verdict.REFUSAL, by="ann")], NOON)
    reviews.keep([Label(standing=one, label=Verdict.SELF_GENERATED, by="ann") for one in others], NOON)
    reviews.keep([Label(standing=one, label=Verdict.GROUNDED, by="bob") for one in others], NOON)  # the newest counts
    now = [NOON]
    hearings = Hearings(
        labels=JudgedLabels(engine),
        sampling=SamplingPolicy(sample=Sample(negatives=1.0, low_margin=0.2, rest=0.02)),
        now=lambda: now[0],
    )
    weights = hearings().weights[APP]
    assert weights.labels == 11
    assert weights.unsupported < PRIOR / 2
    assert weights.supported == pytest.approx(WordWeights().supported)
    reviews.keep([Label(standing=refused, label=Verdict.SELF_GENERATED, by="bob")], NOON)
    assert hearings().weights[APP].labels == 11  # within the hour
    now[0] += timedelta(hours=1)
    assert hearings().weights[APP].labels == 12


def test_weights_that_cannot_be_learnt_stay_as_they_were():
    class Gone:
        def by_app(self):
            raise Retriable("the database is gone")

    hearings = Hearings(
        labels=Gone(), sampling=SamplingPolicy(sample=Sample(negatives=1, low_margin=0, rest=0)), now=lambda: NOON
    )
    assert hearings().weights == {}
