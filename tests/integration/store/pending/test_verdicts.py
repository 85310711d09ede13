"""What is sent out of a stored verdict is the documented JSON of its assessment."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.core.assessment_json import assessment_json, encode
from monitor.core.evidence import Borrowed, StandaloneQuestion
from monitor.core.model import Metrics, Probabilities, Refusal, RefusalKind, Verdict
from monitor.core.pending import Work
from monitor.store.interaction.writer import Writer
from monitor.store.pending.verdicts import VerdictQueue
from tests.factories.answers import FROM_THE_SIDECAR, NOON, SOME_EVIDENCE, a_batch, an_assessment, clock
from tests.factories.assess.diagnoses import a_diagnosis
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.pending_work import LEASE

THIRDS = Probabilities(grounded=1 / 3, refusal=2 / 7, self_generated=8 / 21)
ASSESSMENTS = {
    "plain": an_assessment(),
    "rounded": an_assessment(
        metrics=Metrics(sdq=1 / 3, sdrd=2 / 3, sda=0.123456789, qrd=-1e-7, qa=None), probabilities=THIRDS, rank=5 / 7
    ),
    "to the microsecond": an_assessment(occurred_at=NOON + timedelta(microseconds=7)),
    "refused": an_assessment(
        verdict=Verdict.REFUSAL, refusal=Refusal(kind=RefusalKind.PARTIAL, correct=False), reference="a1b2", rank=0.5
    ),
    "diagnosed": an_assessment(diagnosis=a_diagnosis("generator_ignored", tau=-1 / 3, lost_in_the_middle=True)),
    "from the sidecar": an_assessment(support=FROM_THE_SIDECAR, evidence=replace(SOME_EVIDENCE, compared=0.5)),
}


@pytest.mark.parametrize("name", ASSESSMENTS)
def test_a_verdict_goes_out_as_the_json_of_its_assessment(engine, database, name):
    assessment = ASSESSMENTS[name]
    with closing(Writer(database, clock, queue_key=QUEUE_KEY, sends=lambda _: [Work.SEND_KAFKA])) as writer:
        writer.write(a_batch(assessment))
    (claimed,) = VerdictQueue(engine, Work.SEND_KAFKA).claim(NOON, most=10, lease=LEASE)
    assert json.loads(encode(claimed.assessment)) == json.loads(encode(assessment_json(assessment)))


def test_a_standalone_question_goes_out_without_its_text(engine, database):
    """Its text is not stored."""
    standalone = StandaloneQuestion(
        text="Where to purchase moving boxes?",
        cue_start=18,
        cue_end=23,
        borrowed=(Borrowed(id="q-0", start=4, end=16),),
    )
    assessment = an_assessment(standalone=standalone)
    with closing(Writer(database, clock, queue_key=QUEUE_KEY, sends=lambda _: [Work.SEND_KAFKA])) as writer:
        writer.write(a_batch(assessment))
    (claimed,) = VerdictQueue(engine, Work.SEND_KAFKA).claim(NOON, most=10, lease=LEASE)
    written = json.loads(encode(assessment_json(assessment)))
    written["standalone_question"]["text"] = None
    assert json.loads(encode(claimed.assessment)) == written
