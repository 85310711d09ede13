"""How many verdicts the judge's word has moved, so that alerts can count the verdicts as they were first given.

Columns with constant defaults: no row is rewritten, and the release before goes on writing. That of `verdict_minute`
may be null for the reason that 0006 gives.
"""

from __future__ import annotations

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE verdict_minute ADD heard bigint DEFAULT 0")
    op.execute("ALTER TABLE verdict_hour ADD heard bigint NOT NULL DEFAULT 0")


def downgrade() -> None:
    op.execute("ALTER TABLE verdict_hour DROP heard")
    op.execute("ALTER TABLE verdict_minute DROP heard")
