"""When each label value of the rollups was last seen, so that one that is gone gives its place to a new one.

A column with a constant default only, so the table is not rewritten; it has some 3,000 rows at most. The release before
leaves the times as they are: what it alone sees may then give way, and comes back with its next answer.
"""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE rollup_label ADD COLUMN seen_at timestamptz NOT NULL DEFAULT now()")


def downgrade() -> None:
    op.execute("ALTER TABLE rollup_label DROP COLUMN seen_at")
