"""Counts the interactions whose assessment was called off by erasure or retention.

A column with a constant default only, so the table is not rewritten; takes well under a second.
"""

from __future__ import annotations

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE consumer_offset ADD COLUMN called_off bigint NOT NULL DEFAULT 0")


def downgrade() -> None:
    op.execute("ALTER TABLE consumer_offset DROP COLUMN called_off")
