"""Counts the messages of record batches that cannot be decompressed.

A column with a constant default only, so the table is not rewritten; takes well under a second.
"""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE consumer_offset ADD COLUMN unreadable bigint NOT NULL DEFAULT 0")


def downgrade() -> None:
    op.execute("ALTER TABLE consumer_offset DROP COLUMN unreadable")
