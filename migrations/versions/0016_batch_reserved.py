"""Keeps what was reserved for each request of a batch, which is settled when the batch is read.

A column without a default, so the table is not rewritten; takes well under a second. In batches that the release before
sent, it is null.
"""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE llm_batch ADD COLUMN reserved jsonb")


def downgrade() -> None:
    op.execute("ALTER TABLE llm_batch DROP COLUMN reserved")
