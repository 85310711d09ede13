"""Makes the rows around the interactions of `rows.py`: alerts, labels, dead letters, reports, profiles, leaves.

A tenth as many leaves as interactions, with an act among each thousand; 100,000 dead letters, 3,000 labels, 500 alerts,
a hundred reports, and the newest 20,000 interactions judged under a second profile too.
"""

from __future__ import annotations

import json
from datetime import datetime

import psycopg

from monitor.assess.classify.profile import read_profile

FINGERPRINT = "f" * 32
FIRST, SECOND = "0123456789abcdef", "fedcba9876543210"
_ALERTS = """
    INSERT INTO alert (fingerprint, episode, rule, rule_digest, signal, labels, severity, threshold, "window",
        annotations, receivers, state, active_since, fired_at, resolved_at, value, samples, lower, upper)
    SELECT CASE n WHEN 0 THEN repeat('f', 32) ELSE md5(n::text) END, md5('e' || n), 'negative-rate', 'd',
        'rate of negative', jsonb_build_object('app', 'app-' || n), 'critical', 0.3, interval '5 minutes', '{}', '{}',
        CASE WHEN n < 20 THEN 'firing' ELSE 'resolved' END,
        %(now)s::timestamptz - n * interval '1 hour',
        %(now)s::timestamptz - n * interval '1 hour',
        CASE WHEN n >= 20 THEN %(now)s::timestamptz - n * interval '59 minutes' END, 0.4, 100, 0.3, 0.5
    FROM generate_series(0, 499) n
"""
_TOLD = """
    INSERT INTO notification (receiver, group_key, episode, number, news, made_at, payload, delivered_at)
    SELECT 'slack', 'g', md5('n' || n), 0, 'firing', %(now)s::timestamptz,
        jsonb_build_object('alerts', jsonb_build_array(
        jsonb_build_object('fingerprint', CASE n %% 100 WHEN 0 THEN repeat('f', 32) ELSE md5(n::text) END)),
        'changes', repeat('x', 3000)), %(now)s::timestamptz
    FROM generate_series(1, 20000) n
"""
_LETTERS = """
    INSERT INTO dead_letter (topic, partition, position, received_at, header_names, header_values, value, size, digest,
        path, problem)
    SELECT 'answers', 0, n, %(now)s::timestamptz - n * interval '1 second', '{a}', ARRAY['b'::bytea],
        convert_to(repeat('x', 500), 'UTF8'), 500, sha256(n::text::bytea), 'answer', 'is missing ' || n %% 5
    FROM generate_series(1, 100000) n
"""
_LABELS = """
    INSERT INTO review (app, interaction_id, occurred_at, label, labelled_by, labelled_at, drawn, verdict, rule_verdict,
        profile_hash, p_grounded, p_refusal, p_self_generated)
    SELECT app, id, occurred_at, CASE WHEN random() < 0.1 THEN 'refusal' ELSE verdict END, 'ada', %(now)s::timestamptz,
        'random',
        verdict, rule_verdict, profile_hash, p_grounded, p_refusal, p_self_generated
    FROM assessment WHERE live AND occurred_at > %(now)s::timestamptz - interval '1 day' ORDER BY md5(id) LIMIT 3000
"""
_PROFILES = """
    INSERT INTO profile SELECT hash, 'p-' || hash, 'all-MiniLM-L6-v2', %(profile)s::jsonb, %(now)s::timestamptz
    FROM unnest(%(hashes)s::text[]) hash
"""
_RESCORED = """
    INSERT INTO assessment (app, id, profile_hash, occurred_at, profile_name, embedding_model, verdict, rule_verdict,
        reasons, refusal_kind, refusal_correct, p_grounded, p_refusal, p_self_generated, uncalibrated, sdq, sdrd, sda,
        qrd, qa, features, support, live)
    SELECT app, id, %(second)s::text, occurred_at, 'other', embedding_model,
        CASE WHEN random() < 0.1 THEN 'refusal' ELSE verdict END, rule_verdict, reasons, refusal_kind, refusal_correct,
        p_grounded, p_refusal, p_self_generated, uncalibrated, sdq, sdrd, sda, qrd, qa, features, support, false
    FROM assessment WHERE live ORDER BY occurred_at DESC LIMIT 20000
"""
_REPORTS = """
    INSERT INTO report (kind, app, period_start, period_end, made_at, digest, content)
    SELECT 'weekly', 'app-' || n %% 5, date_trunc('week', %(now)s::timestamptz) - n / 5 * interval '7 days',
        %(now)s::timestamptz, %(now)s::timestamptz, '',
        %(report)s::jsonb
    FROM generate_series(1, 100) n
"""
_LEAVES = """
    INSERT INTO audit_leaf (index, kind, app, subject, part, sealed_at, body, hash)
    SELECT n, CASE n %% 1000 WHEN 0 THEN 'look' ELSE 'interaction' END, 'support', 'q-' || n, '',
        %(now)s::timestamptz - (%(leaves)s::int - n) * interval '1 second',
        '{"body": {"by": "ada", "at": "2026-01-01T00:00:00+00:00"}}',
        sha256(n::text::bytea)
    FROM generate_series(0, %(leaves)s::int) n
"""
_LONG = "x" * 100_000  # filler of a report's content


def make_other_rows(url: str, rows: int, now: datetime) -> None:
    """Fills the other tables, for `rows` interactions that exist already."""
    share = {"share": 0.07, "lower": 0.06, "upper": 0.08}
    sides = ("negative", "grounded", "refusal", "self_generated")
    rates = {side: {"this": share, "change": None} for side in sides}
    values = {
        "now": now,
        "leaves": rows // 10,
        "second": SECOND,
        "hashes": [FIRST, SECOND],
        "profile": json.dumps(read_profile("minilm").model_dump()),
        "report": json.dumps({"verdicts": {"answers": 1000, "rates": rates}, "long": _LONG}),
    }
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        for statement in (_ALERTS, _TOLD, _LETTERS, _LABELS, _PROFILES, _RESCORED, _REPORTS, _LEAVES):
            connection.execute(statement, values)
        connection.execute("VACUUM ANALYZE")
