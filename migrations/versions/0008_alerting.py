"""What alerting remembers: rules and their memory, groups and notifications, silences, and what people did.

New tables, and columns with constant defaults, so no row is rewritten; takes well under a second. `outbox` stays for
the previous release, which may still run beside this one; what it did not deliver, this release makes anew where the
alert still fires. A later release drops it.
"""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

NEW_COLUMNS = (
    "method text NOT NULL DEFAULT 'threshold'",
    "unit text NOT NULL DEFAULT 'share'",
    "below boolean NOT NULL DEFAULT false",
    "normal_since timestamptz",
    "acknowledged_by text",
    "acknowledged_at timestamptz",
    "detail text",
    "note text",
)
TABLES = ("alert_explanation", "alert_action", "silence", "notification", "alert_group", "alert_memory", "rule_state")


def upgrade() -> None:
    op.execute(f"ALTER TABLE alert {', '.join(f'ADD {column}' for column in NEW_COLUMNS)}")
    op.execute("""
        CREATE TABLE rule_state (
            rule_digest text PRIMARY KEY, rule text NOT NULL, evaluated_at timestamptz NOT NULL,
            until timestamptz, learnt_at timestamptz, stale_since timestamptz, error text, error_since timestamptz
        )
    """)
    op.execute("""
        CREATE TABLE alert_memory (
            fingerprint text PRIMARY KEY, rule_digest text NOT NULL, labels jsonb NOT NULL,
            seen_at timestamptz NOT NULL, memory jsonb, baseline jsonb
        )
    """)
    op.execute("CREATE INDEX alert_memory_by_rule ON alert_memory (rule_digest)")
    op.execute("""
        CREATE TABLE alert_group (
            receiver text NOT NULL, key text NOT NULL, labels jsonb NOT NULL, episode text NOT NULL,
            number integer NOT NULL, told_at timestamptz NOT NULL, paged_at timestamptz NOT NULL,
            said jsonb NOT NULL, description jsonb, PRIMARY KEY (receiver, key)
        )
    """)
    op.execute("""
        CREATE TABLE notification (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            receiver text NOT NULL, group_key text NOT NULL, episode text NOT NULL, number integer NOT NULL,
            news text NOT NULL, made_at timestamptz NOT NULL, payload jsonb NOT NULL,
            attempts integer NOT NULL DEFAULT 0, attempted_at timestamptz, retry_at timestamptz, last_error text,
            delivered_at timestamptz, given_up boolean NOT NULL DEFAULT false, receipt jsonb
        )
    """)
    op.execute("CREATE UNIQUE INDEX notification_once ON notification (episode, receiver, number)")
    op.execute("CREATE INDEX notification_open ON notification (receiver, given_up, id) WHERE delivered_at IS NULL")
    op.execute(
        "CREATE INDEX notification_receipt ON notification (episode, receiver, number) WHERE receipt IS NOT NULL"
    )
    op.execute("""
        CREATE TABLE silence (
            id text PRIMARY KEY, matchers text[] NOT NULL, starts_at timestamptz NOT NULL,
            ends_at timestamptz NOT NULL, created_by text NOT NULL, comment text NOT NULL
        )
    """)
    op.execute("CREATE INDEX silence_by_end ON silence (ends_at)")
    op.execute("""
        CREATE TABLE alert_action (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            at timestamptz NOT NULL, by text NOT NULL, action text NOT NULL, fingerprint text, episode text,
            silence_id text, comment text NOT NULL
        )
    """)
    op.execute("CREATE INDEX alert_action_by_alert ON alert_action (fingerprint, at)")
    op.execute("""
        CREATE TABLE alert_explanation (
            episode text PRIMARY KEY, fingerprint text NOT NULL, made_at timestamptz NOT NULL,
            explanation jsonb NOT NULL
        )
    """)


def downgrade() -> None:
    for table in TABLES:
        op.execute(f"DROP TABLE {table}")
    op.execute(f"ALTER TABLE alert {', '.join(f'DROP {column.split()[0]}' for column in NEW_COLUMNS)}")
