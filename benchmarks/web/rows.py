"""Makes interactions, assessments and rollups in the database itself, for `benchmarks/web/run.py`.

Texts are small: a question of 7 words, an answer of 15 with a unique reference, a document of 15, 0.5 kB per row with
its documents. Words are drawn from a vocabulary of 4,000 in which the n-th is 1/n as frequent as the first, and texts
from pools of 20,000, so that a search has common and rare words; a reference is in about ten rows of ten million.
Tables are unlogged: they are discarded afterwards, and reading them costs the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import psycopg

from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason
from monitor.store.tables.interactions import METRICS

DAYS = 88
REFERENCES = 1_000_000
_VOCABULARY, _POOL = 4_000, 20_000
_PARTITIONED = ("interaction", "assessment")

_WORDS = f"""
    CREATE UNLOGGED TABLE made_word AS
    SELECT n, substr(translate(md5(n::text), '0123456789', 'ghijklmnop'), 1, 3 + n % 7) AS word
    FROM generate_series(0, {_VOCABULARY - 1}) n
"""
_TEXTS = f"""
    INSERT INTO made_text
    SELECT %(kind)s, text_number - 1, said FROM (
        SELECT text_number, string_agg(word, ' ') AS said
        FROM generate_series(1, {_POOL}) text_number, generate_series(1, %(words)s) place,
             LATERAL (SELECT floor({_VOCABULARY} ^ random() + text_number * 0 + place * 0)::int - 1 AS n) drawn
             JOIN made_word USING (n)
        GROUP BY text_number
    ) every
"""
# Rows of one month. h, k and r are pseudo-random from the number: the same rows every time.
_ROWS = """
    CREATE UNLOGGED TABLE {month}_made AS
    SELECT g AS number,
        timestamptz '{start}' + (g - {first}) * (interval '1 second' * {seconds} / {many}) AS occurred_at,
        abs(hashint8(g)::bigint) AS h, abs(hashint8(g + 1000000007)::bigint) AS k,
        (abs(hashint8(g * 31 + 7)::bigint) % 10000) / 10000.0::real AS r
    FROM generate_series({first}, {last}) g
"""
_INTERACTION = f"""
    INSERT INTO {{table}} (app, id, occurred_at, stored_at, environment, conversation_id, turn, question, answer,
        retrieved_documents, model, prompt_version, tags, latency_ms, marks)
    SELECT {{app}}, 'q-' || number, occurred_at, occurred_at, {{environment}}, 'c-' || number / 4, 1 + number % 4,
        asked.said || '?', answered.said || ' ref' || h % {REFERENCES} || '.',
        jsonb_build_array(jsonb_build_object('id', 'kb-' || h % 500, 'text', found.said)),
        {{model}}, 'v' || h % 3, jsonb_build_object('topic', {{topic}}), 300 + h % 2000, '{{{{}}}}'
    FROM {{month}}_made
    JOIN made_text asked ON asked.kind = 'question' AND asked.n = h % {_POOL}
    JOIN made_text answered ON answered.kind = 'answer' AND answered.n = k % {_POOL}
    JOIN made_text found ON found.kind = 'answer' AND found.n = (h + k) % {_POOL}
    ORDER BY number
"""
_ASSESSMENT = """
    INSERT INTO {table} (app, id, profile_hash, occurred_at, profile_name, embedding_model, verdict, rule_verdict,
        reasons, refusal_kind, refusal_correct, p_grounded, p_refusal, p_self_generated, uncalibrated,
        sdq, sdrd, sda, qrd, qa, features, support, diagnosis)
    SELECT {app}, 'q-' || number, '0123456789abcdef', occurred_at, 'minilm', 'all-MiniLM-L6-v2', {verdict}, {verdict},
        CASE {verdict} WHEN 'grounded' THEN '{{}}'::text[] WHEN 'refusal' THEN '{{refusal_wording}}'
            ELSE CASE k % 5 WHEN 0 THEN '{{missing_fact,not_in_documents}}' WHEN 1 THEN '{{contradicts_documents}}'
                ELSE '{{not_in_documents}}' END::text[] END,
        CASE {verdict} WHEN 'refusal' THEN 'full' ELSE 'none' END,
        CASE {verdict} WHEN 'refusal' THEN k % 3 <> 0 END,
        1 - r * 0.9, r * 0.2, r * 0.7, true, 0.2 + 0.7 * r, 0.9 - 0.3 * r, 0.8 - 0.5 * r, 0.3 + r / 2, 0.1 + r / 2,
        '{{"joined": {{}}, "maximum": {{}}, "undefined": {{}}}}',
        '{{"origin": "extractive", "documents": []}}', {diagnosis}
    FROM {month}_made
"""
# shares of apps 50, 20, 20, 10 %; refusals 4 %, self-generated 3 %
_NAMES = {
    "app": "(ARRAY['support','support','support','support','support','shop','shop','bank','bank','travel'])"
    "[1 + h % 10]",
    "environment": "CASE WHEN k % 20 = 0 THEN 'staging' ELSE 'production' END",
    "model": "CASE WHEN k % 12 = 0 THEN 'trial-3' WHEN h % 10 < 7 THEN 'large-1' ELSE 'small-2' END",
    "topic": "(ARRAY['billing','login','delivery','returns','backup','other things'])[1 + h / 10 % 6]",
    "verdict": "CASE WHEN r < 0.93 THEN 'grounded' WHEN r < 0.97 THEN 'refusal' ELSE 'self_generated' END",
}
# one in 20 of the grounded answers is noisy, one in 5,000 redundant
_NAMES["diagnosis"] = (
    "CASE WHEN r >= 0.97 THEN CASE WHEN k % 2 = 0 THEN 'retrieval_missed' ELSE 'generator_invented' END "
    "WHEN r >= 0.93 THEN CASE WHEN k % 3 = 0 THEN 'generator_ignored' ELSE 'retrieval_missed' END "
    "WHEN k % 20 = 0 THEN 'retrieval_noisy' WHEN k % 5000 = 1 THEN 'retrieval_redundant' ELSE 'healthy' END"
)
_COUNTED = {
    "refusal_wording": "count(*) FILTER (WHERE verdict = 'refusal')",
    "missing_fact": "count(*) FILTER (WHERE verdict = 'self_generated' AND k % 5 = 0)",
    "contradicts_documents": "count(*) FILTER (WHERE verdict = 'self_generated' AND k % 5 = 1)",
    "not_in_documents": "count(*) FILTER (WHERE verdict = 'self_generated' AND k % 5 <> 1)",
}
_ZEROS = ", ".join(f"{metric}_count, {metric}_sum" for metric in METRICS)
_REASONS = [reason.value for reason in Reason]
_DIAGNOSES = [diagnosis.value for diagnosis in Diagnosis]
_COUNTED |= {name: f"count(*) FILTER (WHERE diagnosis = '{name}')" for name in _DIAGNOSES}
_BINS = ", ".join("'[31:34]={{1,0,2,1}}'::bigint[]" for _ in METRICS)  # as long as they usually are
# No page reads the metrics' sums.
_MINUTES = f"""
    INSERT INTO verdict_minute (minute, app, environment, model, topic, total, grounded, refusal, self_generated,
        {", ".join(_REASONS + _DIAGNOSES)}, {_ZEROS}, {", ".join(f"{metric}_bins" for metric in METRICS)})
    SELECT minute, {{app}}, {{environment}}, {{model}}, {{topic}}, count(*),
        count(*) FILTER (WHERE verdict = 'grounded'), count(*) FILTER (WHERE verdict = 'refusal'),
        count(*) FILTER (WHERE verdict = 'self_generated'),
        {", ".join(_COUNTED.get(name, "0") for name in _REASONS + _DIAGNOSES)},
        {", ".join("0, 0" for _ in METRICS)}, {_BINS}
    FROM (
        SELECT *, {{verdict}} AS verdict, {{diagnosis}} AS diagnosis, date_trunc('minute', occurred_at) AS minute
        FROM {{month}}_made
    ) made
    GROUP BY 1, 2, 3, 4, 5
"""
_HOURS = f"""
    INSERT INTO verdict_hour (hour, app, environment, model, topic, total, grounded, refusal, self_generated,
        {", ".join(_REASONS + _DIAGNOSES)}, {_ZEROS}, {", ".join(f"{metric}_squares" for metric in METRICS)})
    SELECT date_trunc('hour', minute), app, environment, model, topic, sum(total), sum(grounded), sum(refusal),
        sum(self_generated), {", ".join(f"sum({name})" for name in _REASONS + _DIAGNOSES)},
        {", ".join("0, 0" for _ in METRICS)}, {", ".join("0" for _ in METRICS)}
    FROM verdict_minute WHERE minute >= date_trunc('minute', timestamptz '{{start}}') AND minute < '{{end}}'
    GROUP BY 1, 2, 3, 4, 5
"""


def make(url: str, rows: int, now: datetime) -> None:
    """Fills a migrated database with `rows` interactions of the `DAYS` before `now`, ready to be read.

    `interaction_key` stays empty: only writers read it.
    """
    since = now - timedelta(days=DAYS)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_WORDS)
        connection.execute("CREATE UNLOGGED TABLE made_text (kind text, n int, said text)")
        for kind, words in (("question", 7), ("answer", 15)):
            connection.execute(_TEXTS, {"kind": kind, "words": words})
        connection.execute("VACUUM ANALYZE made_text")
    months = list(_months(since, now))
    seconds = (now - since).total_seconds()
    firsts = [round(rows * (start - since).total_seconds() / seconds) for start, _ in months] + [rows]
    spans = list(zip(months, firsts, firsts[1:], strict=False))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda one: _month(url, *one[0], range(one[1], one[2])), spans))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _months(since: datetime, now: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The months that the span touches, cut to it."""
    start = since
    while start < now:
        after = datetime(start.year + start.month // 12, start.month % 12 + 1, 1, tzinfo=UTC)
        yield start, min(after, now)
        start = after


def _month(url: str, start: datetime, end: datetime, numbers: range) -> None:
    name = f"{start:%Y_%m}"
    month = date(start.year, start.month, 1)
    after = date(month.year + month.month // 12, month.month % 12 + 1, 1)
    values = {
        "month": f"m{name}",
        "first": numbers.start,
        "last": numbers.stop - 1,
        "many": max(len(numbers), 1),
        "start": start.isoformat(),
        "end": end.isoformat(),
        "seconds": (end - start).total_seconds(),
    }
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET monitor.hours = 'written'")  # by us, and not by the triggers of migration 0007
        connection.execute("SET synchronous_commit = off; SET maintenance_work_mem = '512MB'; SET work_mem = '256MB'")
        connection.execute(_ROWS.format(**values))
        for table, insert in zip(_PARTITIONED, (_INTERACTION, _ASSESSMENT), strict=True):
            part = f"{table}_{name}"
            connection.execute(f"CREATE UNLOGGED TABLE {part} (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)")
            connection.execute(insert.format(table=part, **values, **_NAMES))
            connection.execute(
                f"ALTER TABLE {table} ATTACH PARTITION {part} FOR VALUES FROM ('{month}Z') TO ('{after}Z')"
            )
        connection.execute(_MINUTES.format(**values, **_NAMES))
        connection.execute(_HOURS.format(**values))
        connection.execute(f"DROP TABLE m{name}_made")
