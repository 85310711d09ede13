"""What the pages show in browser tests: 100,000 stored interactions, an alert that fires, hostile texts, and the rest.

Some hundred interactions go the whole way (`monitor replay`, with the real model); the database multiplies them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

import psycopg
from sqlalchemy import Engine

from monitor.assess.judge.correctness.grade import Grade
from monitor.core.assessment_json import encode, retrieval_json
from monitor.core.diagnosis import Chunk, ChunkDiagnosis, Diagnosis, Repeated
from monitor.core.model import Interaction, Reason, Verdict
from monitor.probe.result import RunState, Turn
from monitor.simulate.scenarios import Phase
from monitor.simulate.traffic import Bot, event
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.runs import ProbeRuns
from monitor.store.tables.interactions import HISTOGRAM_BINS, METRICS
from tests.factories.probe.runs import item, result, run

APP = "support-bot"
INTERACTIONS = 100_000
GOOD = {Verdict.GROUNDED: 94, Verdict.REFUSAL: 3, Verdict.SELF_GENERATED: 3}
BAD = {Verdict.GROUNDED: 30, Verdict.REFUSAL: 50, Verdict.SELF_GENERATED: 20}
RULES = """
grouping: {wait: 0s, interval: 0s}
rules:
  - name: negative-rate
    signal: {rate: negative}
    by: [app]
    above: 0.3
    window: 1h
    min_samples: 20
    lateness: 0s
    severity: critical
    annotations: {summary: "Too many answers are not carried by documents."}
"""
DIAGNOSED = "diagnosed"  # the id of an answer with 304 chunks
TEXTS = (
    "A snapshot is a copy of a disk. A deleted snapshot is kept for 7 days. It is billed until then.",
    f"Write to ada@example.org: {'-' * 60} <script>window.ran = 1</script>",
    "".join(f"Chunk {number} is about something else. " for number in range(300)),
)
RAN = "window.ran = (window.ran || 0) + 1"
HOSTILE = (
    f"<script>{RAN}</script>",
    f"<img src=x onerror='{RAN}'>",
    f"<svg onload='{RAN}'><animate onbegin='{RAN}' attributeName=x dur=1s></svg>",
    f'</td></table></div><iframe srcdoc="<script>parent.{RAN.removeprefix("window.")}</script>"></iframe>',
    f"\"'><body onfocus='{RAN}' autofocus><input autofocus onfocus='{RAN}'>",
    "<style>body { display: none !important } * { background: url(http://192.0.2.7/seen) }</style>",
    "<link rel=stylesheet href=http://192.0.2.7/seen.css><base href=http://192.0.2.7/>",
    f"[here](javascript:{RAN}) javascript:{RAN} <a href='javascript:{RAN}'>here</a>",
    "{{ 7 * 7 }} {% raw %} ${7*7} <%= 7*7 %>",
    "\u202egnitirw thgir-ot-tfel\u202c \u0000 \ud83d\ude00 " + "long" * 500,
    "<!--",
    "]]>",
    "<template><p>",
    "<form action=http://192.0.2.7/><button>Sign in</button></form>",
)
# Each copy lies a little further back in the 60 days before; ids say which they are a copy of.
_COPY = """
    WITH numbered AS (
        SELECT *, row_number() OVER (ORDER BY occurred_at, app, id) AS place FROM {table} WHERE app = %(app)s
    )
    INSERT INTO {table} ({columns})
    SELECT {values} FROM numbered, generate_series(1, %(copies)s) copy
"""
_KEYS = """
    INSERT INTO interaction_key (app, id, month)
    SELECT app, id, date_trunc('month', occurred_at AT TIME ZONE 'UTC')::date FROM interaction ON CONFLICT DO NOTHING
"""
# Without metrics, whose sums no page shows; a trigger adds it all to the hours.
_ROLL_UP = f"""
    INSERT INTO verdict_minute (minute, app, environment, model, topic, total,
        {", ".join(Verdict)}, {", ".join(Reason)}, {", ".join(Diagnosis)},
        {", ".join(f"{m}_count, {m}_sum, {m}_bins" for m in METRICS)})
    SELECT date_trunc('hour', occurred_at), app, environment, coalesce(model, ''), coalesce(tags ->> 'topic', ''),
        count(*),
        {", ".join(f"count(*) FILTER (WHERE verdict = '{v}')" for v in Verdict)},
        {", ".join(f"count(*) FILTER (WHERE '{r}' = ANY (reasons))" for r in Reason)},
        {", ".join(f"count(*) FILTER (WHERE diagnosis = '{d}')" for d in Diagnosis)},
        {", ".join(f"0, 0, array_fill(0, ARRAY[{HISTOGRAM_BINS}])" for _ in METRICS)}
    FROM interaction JOIN assessment USING (app, id, occurred_at) WHERE id LIKE '%~%' GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT DO NOTHING
"""


def events(now: datetime) -> Iterator[str]:
    """Lines to replay: a good day, a bad hour up to `now`, and hostile ones."""
    bot = Bot(app=APP, random=Random(8))
    good, bad = (Phase(name="", lasts=timedelta(days=1), per_minute=1, mix=mix) for mix in (GOOD, BAD))
    for number in range(160):
        yield _line(bot.answer(number, now - timedelta(hours=2 + number / 8), good).interaction)
    for number in range(160, 220):
        yield _line(bot.answer(number, now - timedelta(minutes=(220 - number) * 0.9), bad).interaction)
    for number, text in enumerate(HOSTILE):
        yield (
            json.dumps(
                {
                    "id": f"hostile/{number}?<b>&#",
                    "app": APP,
                    "occurred_at": (now - timedelta(minutes=1)).isoformat(),
                    "question": f"Why? {text}",
                    "answer": f"It is so. {text}",
                    "conversation_id": f"c-{text[:20]}",
                    "model": f"m{text[:30]}",
                    "tags": {"topic": f"t{text[:30]}"},
                    "prompt_version": text[:30],
                    "retrieved_documents": [{"id": f"d{text[:30]}", "text": f"It is so. {text}", "source": text[:60]}],
                }
            )
            + "\n"
        )
    yield (
        json.dumps(
            {
                "id": DIAGNOSED,
                "app": APP,
                "occurred_at": (now - timedelta(minutes=2)).isoformat(),
                "question": "How long is a deleted snapshot kept?",
                "answer": "A deleted snapshot is kept for 7 days. It can be restored at no cost.",
                "retrieved_documents": [{"id": f"d{n}", "text": text} for n, text in enumerate(TEXTS)],
            }
        )
        + "\n"
    )
    for text in HOSTILE[:3]:
        yield json.dumps({"id": text, "app": APP, "question": 7, "answer": text}) + "\n"
    yield "<script>window.ran = 1</script>\n"


def diagnose(url: str) -> None:
    """Gives the answer DIAGNOSED a made-up diagnosis: kept, redundant and very many other chunks."""
    long = [TEXTS[2].index(f"Chunk {number} ") for number in range(300)]
    places = [(0, 0, 32), (0, 32, 70), (0, 70, len(TEXTS[0])), (1, 0, len(TEXTS[1]))]
    places += [(2, start, end) for start, end in zip(long, [*long[1:], len(TEXTS[2])], strict=True)]
    chunks = tuple(
        Chunk(
            document=document,
            start=start,
            end=end,
            relevance=0.9 if number in {1, 2, 3, 50, 51} else 0.1,
            bm25=0.5,
            semantic=0.5,
            rank=1 if number == 1 else number + 1 + (number == 0),
            used=number == 1,
            repeats=Repeated(chunk=1, cosine=0.95, tfidf=0.4) if number in {3, 51} else None,
        )
        for number, (document, start, end) in enumerate(places)
    )
    found = ChunkDiagnosis(
        diagnosis=Diagnosis.GENERATOR_INVENTED,
        chunks=chunks,
        threshold=0.5,
        relevance=0.9,
        tau=-1 / 3,
        used_rank=1,
        lost_in_the_middle=True,
        examined=0.75,
        by="<b>a model</b>",
    )
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "UPDATE assessment SET diagnosis = %s, evidence = evidence || %s::jsonb WHERE id = %s",
            [found.diagnosis, encode({"retrieval": retrieval_json(found)}), DIAGNOSED],
        )


def probe(engine: Engine) -> None:
    """Stores two runs of a probe, whose texts are hostile."""
    began = datetime.now(UTC) - timedelta(days=2)
    items = [
        item(number, question=f"{text} {number}", reference=text, tags={"of": text[:9]})
        for number, text in enumerate(HOSTILE * 4)
    ]
    GoldenSets(engine).save("support", items, by="tests", now=began)
    runs = ProbeRuns(engine)
    for n, chatbot in enumerate(("v1", HOSTILE[0])):
        at = began + timedelta(days=n)
        stored = runs.begin(run(began_at=at, chatbot=chatbot, items=len(items), turns=2), mark=f"{n}")
        for place, of in enumerate(items):
            text = HOSTILE[place % len(HOSTILE)]
            turn = Turn(
                question=text,
                answer=text,
                documents=(text,),
                composed=text,
                grade=Grade(scores=(5 - n,), feedback=text),
                leaks=(text,),
            )
            answered = result(of, 5 - n, 5 - n, turns=(turn, turn))
            runs.save(stored.number, place, answered if place % 5 else result(of))
        runs.end(stored.number, RunState.DONE, now=at + timedelta(minutes=9), error=text)


def multiply(url: str) -> None:
    """Copies what is stored until there are INTERACTIONS, with their share of the rollups."""
    with psycopg.connect(url, autocommit=True) as connection:
        (stored,) = connection.execute("SELECT count(*) FROM interaction WHERE app = %s", [APP]).fetchone()
        copies = INTERACTIONS // stored
        for table in ("interaction", "assessment"):
            columns = [
                name
                for (name,) in connection.execute(
                    "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0",
                    [table],
                )
            ]
            earlier = (
                "occurred_at - interval '2 days' - copy * interval '58 days' / %(copies)s - place * interval '1 s'"
            )
            values = {"id": "id || '~' || copy", "occurred_at": earlier}
            if table == "interaction":
                values |= {"source_topic": "NULL", "source_partition": "NULL", "source_offset": "NULL"}
            statement = _COPY.format(
                table=table, columns=", ".join(columns), values=", ".join(values.get(name, name) for name in columns)
            )
            connection.execute(statement, {"app": APP, "copies": copies})
        connection.execute(_KEYS)
        connection.execute(_ROLL_UP)
        connection.execute("ANALYZE")


def _line(it: Interaction) -> str:
    return json.dumps(event(it)) + "\n"
