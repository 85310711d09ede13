"""Turns that cannot be scored: their reason, their place in the ledger, and counts by minute; and revised interactions.

The release before writes none of them, and its rows are scored and never revised: all columns are null or 0 in them.
"""

from __future__ import annotations

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        ALTER TABLE interaction
            ADD COLUMN unscored text, ADD COLUMN replaced_at timestamptz, ADD COLUMN replaced_offset bigint
    """)
    op.execute("CREATE INDEX interaction_unscored ON interaction (occurred_at, app, id) WHERE unscored IS NOT NULL")
    op.execute("ALTER TABLE consumer_offset ADD COLUMN unscored bigint NOT NULL DEFAULT 0")
    op.execute("""
        CREATE TABLE unscored_minute (
            minute timestamptz NOT NULL,
            app text NOT NULL,
            environment text NOT NULL,
            reason text NOT NULL,
            turns bigint NOT NULL,
            PRIMARY KEY (minute, app, environment, reason)
        )
    """)


def downgrade() -> None:
    op.execute("DROP TABLE unscored_minute")
    op.execute("ALTER TABLE consumer_offset DROP COLUMN unscored")
    op.execute("DROP INDEX interaction_unscored")
    op.execute("ALTER TABLE interaction DROP COLUMN replaced_offset, DROP COLUMN replaced_at, DROP COLUMN unscored")
