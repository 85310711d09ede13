"""The audit trail, who may see what, reports that were written, and what retention has removed.

New tables only, so nothing is rewritten; takes well under a second.
"""

from __future__ import annotations

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TABLES = (
    *("report", "web_session", "api_token", "audit_checkpoint", "audit_secret", "audit_tile", "audit_leaf"),
    *("audit_queue", "retention_month", "retention_count"),
)


def upgrade() -> None:
    op.execute("""
        CREATE TABLE audit_queue (
            seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind text NOT NULL,
            app text NOT NULL, subject text NOT NULL, part text NOT NULL DEFAULT '',
            queued_at timestamptz NOT NULL, body jsonb
        )
    """)
    # what earlier releases have stored waits to be sealed too: a line that stands for all of it
    op.execute("INSERT INTO audit_queue (kind, app, subject, queued_at) VALUES ('missing', '', '', now())")
    op.execute("""
        CREATE TABLE audit_leaf (
            index bigint PRIMARY KEY, kind text NOT NULL, app text NOT NULL, subject text NOT NULL,
            part text NOT NULL, sealed_at timestamptz NOT NULL, body text NOT NULL, hash bytea NOT NULL
        )
    """)
    op.execute("CREATE INDEX audit_leaf_by_subject ON audit_leaf (app, subject, kind, part)")
    # what people did stands between millions of rows
    op.execute("""
        CREATE INDEX audit_leaf_acts ON audit_leaf (index) WHERE kind NOT IN ('interaction', 'assessment', 'judgement')
    """)
    op.execute("""
        CREATE TABLE audit_tile (
            level integer NOT NULL, index bigint NOT NULL, hashes bytea NOT NULL, PRIMARY KEY (level, index)
        )
    """)
    op.execute("""
        CREATE TABLE audit_secret (app text NOT NULL, id text NOT NULL, secret bytea NOT NULL, PRIMARY KEY (app, id))
    """)
    op.execute("""
        CREATE TABLE audit_checkpoint (
            size bigint PRIMARY KEY, root bytea NOT NULL, note text NOT NULL, made_at timestamptz NOT NULL
        )
    """)
    op.execute("""
        CREATE TABLE api_token (
            id text PRIMARY KEY, name text NOT NULL, role text NOT NULL, digest bytea NOT NULL UNIQUE,
            created_at timestamptz NOT NULL, created_by text NOT NULL, expires_at timestamptz,
            used_at timestamptz, revoked_at timestamptz, revoked_by text
        )
    """)
    op.execute("""
        CREATE TABLE web_session (
            digest bytea PRIMARY KEY, subject text NOT NULL, role text NOT NULL, token_id text,
            created_at timestamptz NOT NULL, expires_at timestamptz NOT NULL
        )
    """)
    op.execute("""
        CREATE TABLE report (
            kind text NOT NULL, app text NOT NULL, period_start timestamptz NOT NULL, period_end timestamptz NOT NULL,
            made_at timestamptz NOT NULL, digest text NOT NULL, content jsonb NOT NULL,
            sent_at timestamptz, PRIMARY KEY (kind, app, period_start)
        )
    """)
    op.execute("""
        CREATE TABLE retention_month (
            app text NOT NULL, month date NOT NULL, dropped_at timestamptz NOT NULL, PRIMARY KEY (app, month)
        )
    """)
    op.execute("""
        CREATE TABLE retention_count (
            topic text NOT NULL, partition integer NOT NULL, interactions bigint NOT NULL,
            PRIMARY KEY (topic, partition)
        )
    """)


def downgrade() -> None:
    for table in TABLES:
        op.execute(f"DROP TABLE {table}")
