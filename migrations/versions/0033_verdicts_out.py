"""Interactions know the span that their verdicts are sent to. The release before leaves the column empty."""

from __future__ import annotations

from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE interaction ADD COLUMN span_id text")


def downgrade() -> None:
    op.execute("DELETE FROM pending WHERE kind LIKE 'send\\_%'")
    op.execute("ALTER TABLE interaction DROP COLUMN span_id")
