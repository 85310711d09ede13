"""Spans wait with their trace until it is whole; turns and events wait in the inbox until they are stored.

New tables, and a column with a constant default: no row is rewritten, and the release before goes on writing.
"""

from __future__ import annotations

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE trace (
            app text NOT NULL,
            trace_id text NOT NULL,
            first_at timestamptz NOT NULL,
            last_at timestamptz NOT NULL,
            due_at timestamptz,
            purge_at timestamptz,
            started bigint NOT NULL,
            ended bigint NOT NULL,
            root boolean NOT NULL,
            answer boolean NOT NULL,
            spans integer NOT NULL,
            parts integer NOT NULL,
            bytes bigint NOT NULL,
            event_digest bytea,
            turn_app text,
            PRIMARY KEY (app, trace_id)
        )
    """)
    op.execute("CREATE INDEX trace_due ON trace (due_at) WHERE due_at IS NOT NULL")
    op.execute("CREATE INDEX trace_to_purge ON trace (purge_at) WHERE purge_at IS NOT NULL")
    op.execute("CREATE INDEX trace_by_time ON trace (app, started, ended) WHERE spans > 1 AND bytes > 0")
    op.execute("CREATE INDEX trace_by_arrival ON trace (last_at) WHERE bytes = 0")
    op.execute("CREATE INDEX trace_by_id ON trace (trace_id)")
    op.execute("""
        CREATE TABLE trace_part (
            app text NOT NULL,
            trace_id text NOT NULL,
            digest bytea NOT NULL,
            log boolean NOT NULL,
            value bytea NOT NULL,
            PRIMARY KEY (app, trace_id, digest)
        )
    """)
    op.execute("""
        CREATE TABLE trace_count (
            slot integer PRIMARY KEY,
            open bigint NOT NULL,
            bytes bigint NOT NULL,
            spans bigint NOT NULL,
            repeated bigint NOT NULL,
            refused bigint NOT NULL,
            late bigint NOT NULL
        ) WITH (fillfactor = 10)
    """)
    op.execute("INSERT INTO trace_count SELECT slot, 0, 0, 0, 0, 0, 0 FROM generate_series(0, 15) AS slot")
    op.execute("""
        CREATE TABLE inbox_end (
            topic text NOT NULL,
            partition integer NOT NULL,
            next_position bigint NOT NULL,
            PRIMARY KEY (topic, partition)
        )
    """)
    # behind what the group has read of a topic of Kafka by that name, or of an inbox before a downgrade: from there on
    # the inbox will be read
    op.execute("""
        INSERT INTO inbox_end
        SELECT topic, 0, coalesce(max(next_offset), 0) FROM unnest(ARRAY['http', 'otlp']) AS own (topic)
        LEFT JOIN (SELECT topic, next_offset FROM consumer_offset WHERE group_id = 'monitor' AND partition = 0) AS o
        USING (topic) GROUP BY topic
    """)
    op.execute("""
        CREATE TABLE inbox (
            topic text NOT NULL,
            partition integer NOT NULL,
            position bigint NOT NULL,
            received_at timestamptz NOT NULL,
            revises boolean NOT NULL,
            header_names text[] NOT NULL,
            header_values bytea[] NOT NULL,
            value bytea NOT NULL,
            PRIMARY KEY (topic, partition, position)
        )
    """)
    op.execute("ALTER TABLE consumer_offset ADD collected bigint NOT NULL DEFAULT 0")


def downgrade() -> None:
    op.execute("ALTER TABLE consumer_offset DROP collected")
    for table in ("inbox", "inbox_end", "trace_count", "trace_part", "trace"):
        op.execute(f"DROP TABLE {table}")
