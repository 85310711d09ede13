"""The chunks that the judge's work brings, and the spread of the scores that earlier chunks got."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.assess.judge.metric import Outcome
from monitor.assess.threshold import UNKNOWN, shrunk
from monitor.core.model import Verdict
from monitor.core.pending import Work
from monitor.store.interaction.follow_ups import enqueue
from monitor.store.pending.chunk_scores import NEWEST, ChunkScores
from monitor.store.pending.finish import finish_judged
from tests.factories.answers import NOON, a_batch, a_judgement, an_assessment
from tests.factories.assess.diagnoses import a_chunk, a_diagnosis
from tests.rig.store.pending_work import LATER, claim

CHUNKS = (a_chunk(0, 0, 9, used=True), a_chunk(0, 10, 20))


def queued(writer, *assessments, kinds=(Work.JUDGE,)):
    writer.write(a_batch(*assessments))
    with writer.transaction() as connection:
        enqueue(connection, "monitor", NOON, [(kind, a.interaction) for a in assessments for kind in kinds])


def relevance(*scores, **over):
    parts = {"chunks": [{"document": 0, "start": n, "end": n + 1, "score": s} for n, s in enumerate(scores)]}
    return a_judgement(metric="chunk_relevance", outcome=Outcome(score=0.5, parts=parts), **over)


def test_the_judge_s_work_brings_verdict_and_chunks_of_the_live_diagnosis(writer, queue):
    it = an_assessment(verdict=Verdict.SELF_GENERATED, diagnosis=a_diagnosis(chunks=CHUNKS, threshold=0.25))
    queued(writer, it, kinds=(Work.JUDGE, Work.SIDECAR))
    found = {c.kind: c for c in claim(queue, Work.JUDGE, Work.SIDECAR)}
    assert found[Work.JUDGE].verdict is Verdict.SELF_GENERATED
    assert found[Work.JUDGE].diagnosis == it.diagnosis
    assert (found[Work.SIDECAR].verdict, found[Work.SIDECAR].diagnosis) == (None, None)


def test_a_row_of_an_earlier_release_brings_no_chunks(writer, queue):
    queued(writer, an_assessment())
    (found,) = claim(queue, Work.JUDGE)
    assert (found.verdict, found.diagnosis) == (Verdict.GROUNDED, None)


@pytest.mark.parametrize("stored", ['{"chunks": [{"document": 0}]}', '{"chunks": 7}', "{}", "[]", '"x"', "null"])
def test_a_diagnosis_in_another_form_is_none(writer, queue, rows, stored):
    queued(writer, an_assessment(diagnosis=a_diagnosis(chunks=CHUNKS)))
    rows(f"UPDATE assessment SET evidence = jsonb_set(evidence, '{{retrieval}}', '{stored}')")
    (found,) = claim(queue, Work.JUDGE)
    assert (found.verdict, found.diagnosis) == (Verdict.GROUNDED, None)


def test_only_the_live_assessment_counts(writer, queue, rows):
    queued(writer, an_assessment(diagnosis=a_diagnosis(chunks=CHUNKS)))
    rows("UPDATE assessment SET live = false")
    (found,) = claim(queue, Work.JUDGE)
    assert (found.refuses, found.verdict, found.diagnosis) == (False, None, None)


def test_without_judgements_nothing_is_known_of_an_app(engine):
    assert ChunkScores(engine, "gpt-test").spread("support-bot") == UNKNOWN


def test_the_spread_is_that_of_the_scores_of_one_app_by_one_model(writer, queue, engine):
    queued(writer, *[an_assessment(id=f"a-{n}") for n in range(4)], an_assessment(id="b", app="other"))
    judgements = {
        "a-0": relevance(0.9, 0.1),
        "a-1": relevance(0.7),
        "a-2": relevance(0.2, model="another"),
        "a-3": a_judgement(metric="chunk_relevance", outcome=Outcome(score=None, reason="incomplete", parts={})),
        "b": relevance(0.3),
    }
    claims = claim(queue, Work.JUDGE)
    finish_judged(writer, [(c, [judgements[c.interaction.id]]) for c in claims], LATER)
    found = ChunkScores(engine, "gpt-test").spread("support-bot")
    expected = shrunk([0.9, 0.1, 0.7], UNKNOWN)
    assert (found.mean, found.sd) == (pytest.approx(expected.mean), pytest.approx(expected.sd))


def test_only_the_newest_judgements_are_read(writer, queue, engine):
    old = [an_assessment(id=f"old-{n}", occurred_at=NOON - timedelta(minutes=n + 1)) for n in range(3)]
    new = [an_assessment(id=f"new-{n}", occurred_at=NOON + timedelta(seconds=n)) for n in range(NEWEST)]
    queued(writer, *old, *new)
    claims = claim(queue, Work.JUDGE)
    finish_judged(
        writer,
        [(c, [relevance(0.0 if c.interaction.id.startswith("old") else 1.0)]) for c in claims],
        LATER,
    )
    assert ChunkScores(engine, "gpt-test").spread("support-bot") == shrunk([1.0] * NEWEST, UNKNOWN)
