"""A sealed store for tests of the audit trail: interactions with every outcome under several checkpoints."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from sqlalchemy import Engine

from monitor.app.audit.sealer import Sealer
from monitor.assess.judge.metric import Outcome
from monitor.audit.key import Signer
from monitor.core.model import Verdict
from monitor.core.pending import Work
from monitor.review.label import Label
from monitor.store.alert.responses import PostgresResponses
from monitor.store.audit.recovery import History, WitnessNotes
from monitor.store.audit.seal import Sealing
from monitor.store.interaction.writer import Writer
from monitor.store.pending.finish import finish_judged, finish_revised
from monitor.store.pending.queue import PendingQueue
from monitor.store.privacy.erasure import Erasure, ErasureTarget
from monitor.store.privacy.retention import CutOff, Retention
from monitor.store.review.labels import Reviews
from tests.factories.alert.alerts import a_silence
from tests.factories.answers import A_STAND_IN, FROM_THE_SIDECAR, NOON, a_batch, a_judgement, an_assessment, at, clock
from tests.factories.assess.diagnoses import EACH_DIAGNOSIS
from tests.rig.store.keys import QUEUE_KEY, SIGNER

APP = "support-bot"
OLD = NOON - timedelta(days=100)


class Notes:
    """A witness that keeps the notes it gets."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    shared = False

    def publish(self, note: str, key: str) -> None:
        self.notes.append(note)

    def read(self, *, recent: bool = False) -> WitnessNotes:
        return WitnessNotes(name="notes", notes=tuple(self.notes[-100:] if recent else self.notes))


def a_sealer(
    engine: Engine, witness: Notes | None = None, *, signer: Signer = SIGNER, previous: tuple[str, ...] = ()
) -> Sealer:
    """A sealer of its own, as another process has it."""
    return Sealer(
        sealing=Sealing(engine),
        history=History(engine, (signer.verifier_key, *previous)),
        signer=signer,
        previous_keys=previous,
        witnesses={} if witness is None else {"notes": witness},
    )


@dataclass
class Trail:
    """Writes, seals and signs."""

    engine: Engine
    database: str
    witness: Notes = field(default_factory=Notes)
    minutes: int = 0

    def __post_init__(self) -> None:
        self.sealer = a_sealer(self.engine, self.witness)

    def turn(self) -> int:
        self.minutes += 1
        return self.sealer.seal_and_sign(at(self.minutes))

    def write(self, *assessments, follow_ups=()) -> None:
        with closing(Writer(self.database, clock, follow_ups=lambda _: follow_ups, queue_key=QUEUE_KEY)) as writer:
            writer.write(a_batch(*assessments))

    def revise(self) -> None:
        """Replaces assessments with stand-in support by ones with support from the sidecar."""
        made = an_assessment(support=FROM_THE_SIDECAR)
        with self._worker(Work.SIDECAR) as (writer, claims):
            done = [(claim, replace(made, interaction=claim.interaction)) for claim in claims]
            finish_revised(writer, done, at(self.minutes))

    def judge(self) -> None:
        outcome = Outcome(score=None, reason="the model gave no question", parts={"questions": ["how long?"]})
        both = [a_judgement(), a_judgement(metric="answer_relevance", outcome=outcome)]
        with self._worker(Work.JUDGE) as (writer, claims):
            finish_judged(writer, [(claim, both) for claim in claims], at(self.minutes))

    @contextmanager
    def _worker(self, work: Work):
        later = NOON + timedelta(hours=1)
        claims = PendingQueue(self.engine).claim([work], later, most=500, lease=timedelta(minutes=5))
        with closing(Writer(self.database, clock, queue_key=QUEUE_KEY)) as writer:
            yield writer, claims

    def erase(self, *ids: str) -> None:
        erasure = Erasure(self.engine)
        erasure.erase(
            APP, erasure.find(ErasureTarget(app=APP, ids=ids)), by="ann", reason_given=True, now=at(self.minutes)
        )

    def retain(self, before, verdict=None) -> None:
        """Removes what occurred before a time, of one verdict or of all."""
        verdicts = (*Verdict, None) if verdict is None else (verdict,)
        cut_offs = [CutOff(app=APP, verdict=one, before=before) for one in verdicts]
        retention = Retention(self.engine)
        for month in retention.parts(cut_offs):
            if month is None or not retention.drop(month, cut_offs, by="monitor", now=at(self.minutes)):
                retention.remove(month, cut_offs, ("", ""), by="monitor", now=at(self.minutes))

    def people(self) -> None:
        """Acts of people: labels, and silences, one of which is ended."""
        reviews, responses = Reviews(self.engine), PostgresResponses(self.engine)
        stood = reviews.standing([(APP, "q-0-1"), (APP, "q-0-2")])
        reviews.keep([Label(standing=its, label=Verdict.REFUSAL, by="ann") for its in stood.values()], NOON)
        responses.silence(a_silence(id="s1"), now=NOON)
        responses.silence(a_silence(id="s2"), now=NOON)
        responses.unsilence("s2", by="bob", now=at(1))


def a_trail(engine: Engine, database: str, *, batches: int, size: int) -> Trail:
    """Batches with a checkpoint after each; some are revised, judged, labelled, erased or removed by retention."""
    trail = Trail(engine, database)
    for batch in range(batches):
        its = [
            an_assessment(
                id=f"q-{batch}-{number}",
                answer=f"It is kept {number} days.",
                question=f"How long is {number} kept?",
                conversation_id=f"c-{number}",
                occurred_at=OLD if number == 0 else at(batch),
                verdict=list(Verdict)[number % 3],
                diagnosis=(None, *EACH_DIAGNOSIS.values())[number % 7],
                support=A_STAND_IN if number % 4 == 0 else FROM_THE_SIDECAR,
                latency_ms=12.5 + number,
                tags={"topic": "storage"},
                model="gpt-test",
                turn=number,
            )
            for number in range(size)
        ]
        trail.write(*its, follow_ups={Work.SIDECAR, Work.JUDGE} if batch == 0 else set())
        if batch == 1:
            trail.judge()
            trail.people()
        if batch == 2:
            trail.revise()
            trail.erase("q-0-3", "q-1-3")
        trail.turn()
    trail.retain(NOON - timedelta(days=50))
    trail.turn()
    return trail
