"""Entries of the audit queue hold what is to be sealed, numbered and authenticated by the process that stored it.

Columns with defaults and an index of what waits, so nothing is rewritten; takes well under a second. An earlier release
may go on storing: its entries have no `mac`, and `monitor audit seal --missing` takes its rows in.
"""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        ALTER TABLE audit_queue ADD COLUMN source text NOT NULL DEFAULT '', ADD COLUMN number bigint NOT NULL DEFAULT 0,
            ADD COLUMN records text, ADD COLUMN mac bytea, ADD COLUMN refused boolean NOT NULL DEFAULT false
    """)
    op.execute("CREATE INDEX audit_queue_by_subject ON audit_queue (app, subject)")


def downgrade() -> None:
    op.execute("DROP INDEX audit_queue_by_subject")
    op.execute("""
        ALTER TABLE audit_queue DROP COLUMN source, DROP COLUMN number, DROP COLUMN records, DROP COLUMN mac,
            DROP COLUMN refused
    """)
