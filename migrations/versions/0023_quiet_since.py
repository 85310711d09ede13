"""Since when nothing was counted for an alert that goes on.

A column that may be null: no row is rewritten, and the release before goes on writing.
"""

from __future__ import annotations

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE alert ADD quiet_since timestamptz")


def downgrade() -> None:
    op.execute("ALTER TABLE alert DROP quiet_since")
