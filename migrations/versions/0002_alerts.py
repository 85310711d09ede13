"""Alerts, their history and the outbox of notifications.

New tables only; takes well under a second.
"""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE alert (
            fingerprint text PRIMARY KEY, episode text NOT NULL,
            rule text NOT NULL, rule_digest text NOT NULL, signal text NOT NULL, labels jsonb NOT NULL,
            severity text NOT NULL, threshold double precision NOT NULL, "window" interval NOT NULL,
            annotations jsonb NOT NULL, receivers text[] NOT NULL, state text NOT NULL,
            active_since timestamptz NOT NULL, fired_at timestamptz, resolved_at timestamptz,
            value double precision, samples bigint NOT NULL,
            lower double precision NOT NULL, upper double precision NOT NULL
        )
    """)
    op.execute("""
        CREATE TABLE alert_event (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            fingerprint text NOT NULL, episode text NOT NULL, at timestamptz NOT NULL,
            from_state text NOT NULL, to_state text NOT NULL,
            value double precision, samples bigint NOT NULL,
            lower double precision NOT NULL, upper double precision NOT NULL, note text
        )
    """)
    op.execute("CREATE INDEX alert_event_by_alert ON alert_event (fingerprint, at)")
    op.execute("""
        CREATE TABLE outbox (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            fingerprint text NOT NULL, episode text NOT NULL, receiver text NOT NULL, status text NOT NULL,
            payload jsonb NOT NULL, attempts integer NOT NULL, retry_at timestamptz, last_error text,
            delivered_at timestamptz, given_up boolean NOT NULL, receipt jsonb
        )
    """)
    op.execute("CREATE UNIQUE INDEX outbox_once ON outbox (episode, receiver, status)")
    op.execute("CREATE INDEX outbox_waiting ON outbox (id) WHERE delivered_at IS NULL AND NOT given_up")


def downgrade() -> None:
    for table in ("outbox", "alert_event", "alert"):
        op.execute(f"DROP TABLE {table}")
