"""How long it takes to find one customer's answers among many: by conversation, trace, tag and redacted tag.

    python benchmarks/audit/customer.py [--short] [--json customer.json]

Made-up answers of twelve months, 1.2 million or with --short 60,000, five of each customer, in an embedded PostgreSQL.
"""

from __future__ import annotations

import time

import psycopg

from benchmarks.databases import temporary_database
from benchmarks.figures import finish, options
from monitor.store.database import connect
from monitor.store.migrate import migrate

_MONTHS = 12
_ROWS = """
    INSERT INTO {month} (app, id, occurred_at, stored_at, environment, conversation_id, question, answer,
        retrieved_documents, tags, trace_id, marks, tag_digests)
    SELECT 'app-' || n % 3, 'q-' || n, timestamptz '2026-{number:02}-01T00:00Z' + n % 2400000 * interval '1 second',
        now(), 'production', 'c-' || n / 5, 'How long are snapshots kept?',
        repeat('They are kept for thirty days. ', 8),
        '[]', jsonb_build_object('topic', 'storage', 'lang', (ARRAY['de', 'en'])[n % 2 + 1], 'user', 'u-' || n / 5),
        md5(n::text), '{{}}', CASE WHEN n % 10 = 0 THEN ARRAY[md5('d' || n / 50)] END
    FROM generate_series({first}, {last}) AS n
"""
_QUERIES = {
    "conversation": "conversation_id = 'c-777'",
    "trace": "trace_id = md5('3885')",
    "tag": """tags @> '{"user": "u-777"}'""",
    "redacted tag": "tag_digests IS NOT NULL AND tag_digests && ARRAY[md5('d77')]",
    "tag or its digest": (
        """(tags @> '{"user": "u-777"}' OR (tag_digests IS NOT NULL AND tag_digests && ARRAY[md5('d77')]))"""
    ),
}


def _filled(connection: psycopg.Connection, rows: int) -> None:
    each = rows // _MONTHS
    for number in range(1, _MONTHS + 1):
        month = f"interaction_2026_{number:02}"
        end = f"2026-{number + 1:02}-01" if number < _MONTHS else "2027-01-01"
        connection.execute(
            f"CREATE TABLE {month} PARTITION OF interaction FOR VALUES FROM ('2026-{number:02}-01T00:00Z') "
            f"TO ('{end}T00:00Z')"
        )
        first, last = (number - 1) * each, number * each - 1
        connection.execute(_ROWS.format(month=month, number=number, first=first, last=last))
    connection.execute("VACUUM ANALYZE interaction")


def main() -> None:
    given = options(__doc__, "60,000 answers")
    rows, found = 60_000 if given.short else 1_200_000, dict[str, object]()
    with temporary_database() as url:
        engine = connect(url, queue_key=lambda: bytes(32))
        migrate(engine)
        engine.dispose()
        with psycopg.connect(url, autocommit=True) as connection:
            started = time.perf_counter()
            _filled(connection, rows)
            print(f"{rows:,} answers made in {time.perf_counter() - started:.0f} s")
            for name, condition in _QUERIES.items():
                query = f"SELECT app, id FROM interaction WHERE {condition} ORDER BY occurred_at LIMIT 51"
                took = []
                for _ in range(5):
                    started = time.perf_counter()
                    answers = connection.execute(query).fetchall()
                    took.append((time.perf_counter() - started) * 1000)
                plan = [line for (line,) in connection.execute(f"EXPLAIN {query}")]
                whole = sum("Seq Scan on interaction_2026" in line for line in plan)  # the default partition is empty
                found[name] = {"answers": len(answers), "ms": min(took), "months_read_whole": whole}
                print(f"{name:<20} {len(answers):>4} answers {min(took):8.2f} ms, months read whole: {whole}")
            for index in ("conversation_id", "trace_id", "tags", "tag_digests"):
                (size,) = connection.execute(
                    "SELECT sum(pg_relation_size(indexrelid)) FROM pg_index JOIN pg_class c ON c.oid = indexrelid "
                    "WHERE c.relname LIKE 'interaction_2026%%' AND c.relname LIKE %s",
                    (f"%{index}%",),
                ).fetchone()
                print(f"index on {index:<15} {float(size or 0) / rows:6.1f} bytes an answer")
                found[f"bytes of {index}"] = float(size or 0) / rows
    finish({"answers": rows, **found}, seed=None, path=given.json)


if __name__ == "__main__":
    main()
