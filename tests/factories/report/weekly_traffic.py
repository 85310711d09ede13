"""Made-up rows of some weeks that differ clearly: what weekly reports are tried on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from random import Random

import psycopg
from psycopg.types.json import Jsonb

from monitor.assess.score.features import FEATURES
from monitor.core.batch import Batch
from monitor.core.diagnosis import Chunk, ChunkDiagnosis, Diagnosis
from monitor.core.evidence import AlignedSentence, Evidence
from monitor.core.message import Offset, Position
from monitor.core.model import (
    Assessment,
    Document,
    Origin,
    Probabilities,
    Reason,
    Refusal,
    RefusalKind,
    Support,
    SupportingDocument,
    Verdict,
)
from monitor.report.weekly.week import Week
from tests.factories.answers import SOME_METRICS, a_dead_letter, an_assessment

WEEK = Week(monday=date(2025, 11, 10))
APP, OTHER_APP = "support-bot", "shop"
TOPICS = {"refunds": (0.12, 0.5), "billing": (0.45, 0.15), "backups": (0.2, 0.2), "dns": (0.2, 0.2), "": (0.2, 0.2)}
SUBJECTS = {
    "refunds": "the refund of an order",
    "billing": "an invoice that is wrong",
    "backups": "restoring a backup",
    "dns": "a record that does not resolve",
    "": "something else",
}
IDLE = "kb-idle"  # retrieved often, and behind nothing
SUSPECT = "kb-refunds-new"  # new in the report's week, and made up from
REASONS = {
    Verdict.GROUNDED: (),
    Verdict.REFUSAL: (Reason.REFUSAL_WORDING,),
    Verdict.SELF_GENERATED: (Reason.NOT_IN_DOCUMENTS, Reason.MISSING_FACT),
}


def assessments(*, app: str = APP, per_day: int = 40, weeks: int = 4, seed: int = 5) -> Iterator[Assessment]:
    """Those of the report's week and of the weeks before it, in order of time."""
    random = Random(seed)
    first = WEEK.end - timedelta(weeks=weeks)
    for day in range(7 * weeks):
        for number in range(per_day + day % 3 * 4):
            moment = first + timedelta(days=day, seconds=number * 86_000 / (per_day + 10), microseconds=number)
            yield _one(random, app, f"{app}-{day:02}-{number:04}", moment)


def _one(random: Random, app: str, id_: str, moment: datetime) -> Assessment:
    this_week = moment >= WEEK.start
    topic = random.choice([*TOPICS])
    new = this_week and topic == "refunds" and random.random() < 0.7
    rate = TOPICS[topic][this_week] + (0.25 if new else 0.0)
    verdict = Verdict.GROUNDED
    if random.random() < rate:
        verdict = Verdict.SELF_GENERATED if new or random.random() < 0.6 else Verdict.REFUSAL
    names = [f"kb-{topic or 'other'}-{place}" for place in random.sample(range(4), 2)]
    names += [SUSPECT] * new + [IDLE] * (random.random() < 0.3)
    own = random.randrange(len(names[:2]))
    carried = verdict is Verdict.GROUNDED
    subject = SUBJECTS[topic]
    answer = {
        Verdict.GROUNDED: f"Open the settings, choose {subject}, and follow the steps.",
        Verdict.REFUSAL: f"I am sorry, but I cannot help with {subject}.",
        Verdict.SELF_GENERATED: f"As for {subject}: call +49 30 1234567, it takes {random.randrange(90)} days.",
    }[verdict]
    p = random.uniform(0.02, 0.45) if verdict.negative else random.uniform(0.5, 0.99)
    refuses = verdict is Verdict.REFUSAL
    kind = RefusalKind.FULL if refuses else RefusalKind.PARTIAL if random.random() < 0.05 else RefusalKind.NONE
    later = moment >= WEEK.start + timedelta(days=3)
    return an_assessment(
        id=id_,
        metrics=replace(SOME_METRICS, qrd=_match(id_, refuses=refuses)),
        app=app,
        occurred_at=moment,
        question=f"What about {subject}, case {random.randrange(60)}?",
        answer=answer,
        environment=random.choice(["production", "production", "staging"]),
        model=random.choice(["kestrel-large", "kestrel-mini", None]),
        prompt_version=random.choice(["v1", None]) if not this_week else random.choice(["v1", "v2"]),
        tags={"topic": topic} if topic else {},
        retrieved_documents=tuple(Document(id=name, text=f"About {subject}: {name}.") for name in names),
        verdict=verdict,
        rule_verdict=random.choice([verdict, verdict, *Verdict]),
        reasons=REASONS[verdict],
        refusal=Refusal(kind=kind, correct=random.choice([True, False, None]) if refuses else None),
        probabilities=Probabilities(grounded=p, refusal=(1 - p) * 0.9 if refuses else 0.0, self_generated=0.0),
        uncalibrated=not later,
        profile_name="own" if later else "minilm",
        profile_hash="bbbbbbbbbbbbbbbb" if later else "aaaaaaaaaaaaaaaa",
        support=_support(random, names[own]),
        evidence=_evidence(random, names, own, carried=carried),
        diagnosis=_diagnosis(id_, own, verdict, this_week=this_week),
    )


def _diagnosis(id_: str, own: int, verdict: Verdict, *, this_week: bool) -> ChunkDiagnosis | None:
    """What the documents lack this week is refused, as a rule; now and then none was made."""
    draw = Random(f"diagnosis of {id_}")
    if draw.random() < 0.05:
        return None
    found = Diagnosis.HEALTHY if verdict is Verdict.GROUNDED else Diagnosis.GENERATOR_INVENTED
    if verdict.negative and draw.random() < (0.7 if this_week else 0.3):
        found = Diagnosis.RETRIEVAL_MISSED
    used = verdict is Verdict.GROUNDED and draw.random() < 0.5
    chunks = [(own, used), (1 - own, False)]
    return ChunkDiagnosis(
        diagnosis=found,
        threshold=0.5,
        chunks=tuple(
            Chunk(document=place, start=0, end=5, relevance=0.5, bm25=0.5, semantic=0.5, rank=rank, used=is_used)
            for rank, (place, is_used) in enumerate(chunks, start=1)
        ),
    )


def _match(id_: str, *, refuses: bool) -> float | None:
    """How well documents and question match: worse where the bot refuses, as a rule, and sometimes unknown."""
    draw = Random(id_)
    return None if draw.random() < 0.05 else draw.uniform(0.1, 0.6) if refuses else draw.uniform(0.3, 0.9)


def _support(random: Random, document: str) -> Support:
    """Mostly extractive, which says nothing of what supports; now and then the generator's own word."""
    origin = Origin.LOGGED if random.random() < 0.1 else Origin.EXTRACTIVE
    return Support(origin=origin, documents=(SupportingDocument(text="About", document_id=document, start=0, end=5),))


def _evidence(random: Random, names: list[str], own: int, *, carried: bool) -> Evidence:
    if random.random() < 0.05:
        return Evidence(features={})
    return Evidence(
        features=dict.fromkeys(FEATURES),
        alignment=(
            AlignedSentence(
                answer_start=0,
                answer_end=20,
                document=own,
                document_id=names[own],
                start=0,
                end=10,
                score=random.uniform(0.6, 0.95) if carried else random.uniform(0.1, 0.59),
                contradicts=random.random() < 0.05,
            ),
            # the idle document's passage contradicts, whatever its score
            *(
                AlignedSentence(
                    answer_start=20,
                    answer_end=30,
                    document=place,
                    document_id=name,
                    start=0,
                    end=10,
                    score=0.9,
                    contradicts=True,
                )
                for place, name in enumerate(names)
                if name == IDLE
            ),
        ),
    )


def batches(its: list[Assessment], *, dead: int = 3) -> Iterator[Batch]:
    """As if they came from partition 0 of a topic, with some dead letters and one duplicate at the end."""
    last, offset = None, 0
    for start in range(0, len(its), 500):
        some = its[start : start + 500]
        placed = [_placed(a, offset + place) for place, a in enumerate(some)]
        letters = ()
        extra: tuple[Assessment, ...] = ()
        if start + 500 >= len(its):
            extra = (_placed(some[0], offset + len(some)),)
            letters = tuple(
                a_dead_letter(topic="rag", offset=offset + len(some) + 1 + n, problem="is not JSON <b>at all</b>")
                for n in range(dead)
            )
        number = len(some) + len(extra) + len(letters)
        reached = Offset(topic="rag", partition=0, expected=last, next=offset + number, begin=offset, received=number)
        yield Batch(assessments=(*placed, *extra), dead_letters=letters, received=number, offsets=(reached,))
        last = offset = offset + number


def _placed(a: Assessment, offset: int) -> Assessment:
    return replace(a, interaction=replace(a.interaction, position=Position(topic="rag", partition=0, offset=offset)))


def watch(connection: psycopg.Connection) -> None:
    """Alerts, silences, judgements, labels and calls of the week, some of the week before, and some of neither."""
    for fingerprint, rule, labels in (
        ("f1", "negative-rate", {"app": APP}),
        ("f2", "lag", {}),
        ("f3", "negative-rate", {"app": OTHER_APP}),
    ):
        connection.execute(_ALERT, (fingerprint, rule, Jsonb(labels)))
    events = (
        ("f1", "e0", at(days=-2), "inactive", "firing"),
        ("f1", "e0", at(days=-1), "firing", "resolved"),
        ("f1", "e1", at(hours=-2), "inactive", "pending"),
        ("f1", "e1", at(hours=-1), "pending", "firing"),
        ("f1", "e1", at(hours=4), "firing", "resolved"),
        ("f1", "e2", at(days=2), "pending", "firing"),
        ("f1", "e2", at(days=2, hours=1), "firing", "no_data"),
        ("f1", "e2", at(days=2, hours=3), "no_data", "resolved"),
        ("f1", "e3", at(days=3), "inactive", "pending"),
        ("f1", "e3", at(days=3, hours=1), "pending", "inactive"),
        ("f2", "e4", at(days=6, hours=20), "pending", "firing"),
        ("f2", "e4", at(days=8), "firing", "resolved"),
        ("f3", "e5", at(days=1), "pending", "firing"),
        ("f1", "e6", at(days=7, hours=1), "pending", "firing"),
    )
    for event in events:
        connection.execute(_EVENT, event)
    acts = (
        (at(minutes=-20), "ann", "f1", "e1"),
        (at(days=2, minutes=9), "ben", "f1", "e2"),
        (at(days=2, minutes=30), "ann", "f1", "e2"),
        (at(days=7, hours=2), "ben", "f2", "e4"),
    )
    for act in acts:
        connection.execute(_ACTION, act)
    silences = (
        ("s1", ['app="support-bot"'], at(days=1), at(days=1, hours=2), "ann", "new index"),
        ("s2", ['app="shop"'], at(days=1), at(days=2), "ann", "not ours"),
        ("s3", ['severity="info"'], at(days=-1), at(days=9), "ben", ""),
        ("s4", ['app=~"support.*"'], at(days=-3), at(days=-2), "ben", "over"),
    )
    for day in (-1, 0, 3, 6, 7):
        connection.execute("INSERT INTO watched_day VALUES (%s)", (at(days=day).date(),))
    for silence in silences:
        connection.execute("INSERT INTO silence VALUES (%s, %s, %s, %s, %s, %s)", silence)
    _label(connection)
    _use(connection)
    connection.execute(_RESCORED)


def _label(connection: psycopg.Connection) -> None:
    """Judgements of every seventh answer, offers of every fifth, labels of some of those."""
    random = Random(3)
    found = connection.execute(
        "SELECT app, id, occurred_at FROM interaction WHERE app IN (%s, %s) ORDER BY app, id", (APP, OTHER_APP)
    ).fetchall()
    for place, (app, id_, occurred_at) in enumerate(found):
        if place % 7 == 0:
            for metric in ("faithfulness", "answer_relevance"):
                score = None if place % 35 == 0 else round(random.random(), 3)
                connection.execute(_JUDGED, (app, id_, metric, occurred_at, score, occurred_at))
        if place % 5 == 0:
            drawn = "random" if place % 10 == 0 else "margin"
            connection.execute(_OFFER, (app, id_, drawn, occurred_at, occurred_at))
            people = [name for name, every in (("ann", 15), ("ben", 20)) if place % every == 0]
            for name in people:
                label = random.choice(["grounded", "refusal", "self_generated"])
                connection.execute(_LABEL, (label, name, occurred_at, drawn, app, id_))


def _use(connection: psycopg.Connection) -> None:
    """Calls of models, and messages that arrived."""
    for hours in (-200, -1, 0, 3, 167, 168):
        connection.execute(_USAGE, (at(hours=hours), "judge", "gpt-test"))
        connection.execute(_USAGE, (at(hours=hours), "sidecar", "gpt-test"))
    for minutes, source in ((-1, "rag"), (0, "rag"), (9000, "rag"), (3, "other"), (10_081, "rag")):
        connection.execute("INSERT INTO ingest_minute VALUES (%s, %s, 50, 2)", (at(minutes=minutes), source))
    for partition, hour, behind in ((0, 5, 4), (1, 4, 1)):
        through = datetime(2025, 11, 17, hour, tzinfo=UTC)
        connection.execute(
            "INSERT INTO reading VALUES ('monitor', 'rag', %s, %s, %s, %s)", (partition, through, behind, through)
        )


def at(**shift: float) -> datetime:
    """A time from the beginning of the week."""
    return WEEK.start + timedelta(**shift)


_ALERT = """
    INSERT INTO alert (fingerprint, episode, rule, rule_digest, signal, labels, severity, threshold, "window",
                       annotations, receivers, state, active_since, samples, lower, upper)
    VALUES (%s, 'e', %s, 'd', 'rate of negative', %s, 'critical', 0.3, '5 min', '{}', '{slack}', 'firing', now(), 1, 0,
        1)
"""
_EVENT = """
    INSERT INTO alert_event (fingerprint, episode, at, from_state, to_state, samples, lower, upper)
    VALUES (%s, %s, %s, %s, %s, 1, 0, 1)
"""
_ACTION = """
    INSERT INTO alert_action (at, by, action, fingerprint, episode, comment) VALUES (%s, %s, 'acknowledge', %s, %s, '')
"""
_JUDGED = """
    INSERT INTO judgement (app, id, metric, model, prompt_hash, occurred_at, mode, score, parts, calls, input_tokens,
        output_tokens, cost, judged_at)
    VALUES (%s, %s, %s, 'gpt-test', 'h', %s, 'combined', %s, '{}', 2, 100, 10, 0.0025, %s)
"""
_OFFER = "INSERT INTO review_offer VALUES (%s, %s, %s, %s, 'ann', %s)"
_LABEL = """
    INSERT INTO review (app, interaction_id, occurred_at, label, labelled_by, labelled_at, drawn, verdict, rule_verdict,
        profile_hash, p_grounded, p_refusal, p_self_generated)
    SELECT app, id, occurred_at, %s, %s, %s, %s, verdict, rule_verdict, profile_hash, p_grounded, p_refusal,
        p_self_generated
    FROM assessment WHERE app = %s AND id = %s AND live
"""
_USAGE = "INSERT INTO llm_usage VALUES (%s, %s, %s, 3, 300, 30, 0.0125)"
_RESCORED = """
    INSERT INTO assessment
    SELECT (a.r).* FROM (
        SELECT jsonb_populate_record(NULL::assessment, to_jsonb(a) || '{"live": false, "profile_hash": "rescored",
            "verdict": "refusal", "refusal_correct": false}') AS r
        FROM assessment a WHERE a.app = 'support-bot'
    ) a
"""
