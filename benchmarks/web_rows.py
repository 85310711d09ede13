"""Interactions, assessments and rollups made in the database itself, for `benchmarks/web.py`.

Texts are small: a question of 8 words, an answer of 25 with a reference of its own, a document of 25, 0.5 kB a row with
its documents. Words are drawn from a vocabulary of 4,000 in which the n-th is 1/n as frequent as the first, and texts
from pools of 20,000, so that a search has common and rare words; a reference stands in about ten rows of ten million.
Tables are unlogged: they are thrown away, and reading them is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import psycopg

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
    SELECT %(kind)s, array_agg(said) FROM (
        SELECT string_agg(word, ' ') AS said
        FROM generate_series(1, {_POOL}) text_number, generate_series(1, %(words)s) place,
             LATERAL (SELECT floor({_VOCABULARY} ^ random() + text_number * 0 + place * 0)::int - 1 AS n) drawn
             JOIN made_word USING (n)
        GROUP BY text_number
    ) every
"""
# Rows of one month. h, k and r are pseudo-random from the number: the same rows every time.
_ROWS = f"""
    CREATE UNLOGGED TABLE {{month}}_made AS
    SELECT g AS number,
        timestamptz '{{start}}' + (g - {{first}}) * (interval '1 second' * {{seconds}} / {{many}}) AS occurred_at,
        abs(hashint8(g)) AS h, abs(hashint8(g + 1000000007)) AS k,
        (abs(hashint8(g * 31 + 7)) % 10000) / 10000.0::real AS r
    FROM generate_series({{first}}, {{last}}) g
"""
_INTERACTION = f"""
    INSERT INTO {{table}} (app, id, occurred_at, stored_at, environment, conversation_id, turn, question, answer,
        retrieved_documents, model, prompt_version, tags, latency_ms, marks)
    SELECT {{app}}, 'q-' || number, occurred_at, occurred_at, {{environment}}, 'c-' || number / 4, 1 + number % 4,
        (SELECT texts[1 + h % {_POOL}] FROM made_text WHERE kind = 'question') || '?',
        (SELECT texts[1 + k % {_POOL}] FROM made_text WHERE kind = 'answer') || ' ref' || h % {REFERENCES} || '.',
        jsonb_build_array(jsonb_build_object('id', 'kb-' || h % 500, 'text',
            (SELECT texts[1 + (h + k) % {_POOL}] FROM made_text WHERE kind = 'answer'))),
        {{model}}, 'v' || h % 3, jsonb_build_object('topic', {{topic}}), 300 + h % 2000, '{{{{}}}}'
    FROM {{month}}_made
"""
_ASSESSMENT = """
    INSERT INTO {table} (app, id, profile_hash, occurred_at, profile_name, embedding_model, verdict, rule_verdict,
        reasons, refusal_kind, refusal_correct, p_grounded, p_refusal, p_self_generated, uncalibrated,
        sdq, sdrd, sda, qrd, qa, features, support)
    SELECT {app}, 'q-' || number, '0123456789abcdef', occurred_at, 'minilm', 'all-MiniLM-L6-v2', {verdict}, {verdict},
        CASE {verdict} WHEN 'grounded' THEN '{{}}'::text[] WHEN 'refusal' THEN '{{refusal_wording}}'
            ELSE CASE k % 5 WHEN 0 THEN '{{missing_fact,not_in_documents}}' WHEN 1 THEN '{{contradicts_documents}}'
                ELSE '{{not_in_documents}}' END::text[] END,
        CASE {verdict} WHEN 'refusal' THEN 'full' ELSE 'none' END,
        CASE {verdict} WHEN 'refusal' THEN k % 3 <> 0 END,
        1 - r * 0.9, r * 0.2, r * 0.7, true, 0.2 + 0.7 * r, 0.9 - 0.3 * r, 0.8 - 0.5 * r, 0.3 + r / 2, 0.1 + r / 2,
        '{{"joined": {{}}, "maximum": {{}}, "undefined": {{}}}}',
        '{{"origin": "extractive", "documents": []}}'
    FROM {month}_made
"""
# shares of apps 50, 25, 15, 9, 1 %; refusals 4 %, self-generated 3 %
_NAMES = {
    "app": "(ARRAY['support','support','support','support','support','shop','shop','bank','bank','travel'])[1 + h % 10]",
    "environment": "CASE WHEN k % 20 = 0 THEN 'staging' ELSE 'production' END",
    "model": "(ARRAY['large-1','large-1','large-1','small-2','small-2','trial-3'])[1 + k % 6]",
    "topic": "(ARRAY['billing','login','delivery','returns','limits','backup','network','other things'])[1 + h / 10 % 8]",
    "verdict": "CASE WHEN r < 0.93 THEN 'grounded' WHEN r < 0.97 THEN 'refusal' ELSE 'self_generated' END",
}
