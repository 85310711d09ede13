"""What an alert counts, stored with it, so that its course can be drawn when its rule is not configured any more.

Two columns that may be empty, so the table is not rewritten; the release before leaves them empty. Takes well under a
second.
"""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute('ALTER TABLE alert ADD COLUMN selector jsonb, ADD COLUMN "by" text[]')


def downgrade() -> None:
    op.execute('ALTER TABLE alert DROP COLUMN selector, DROP COLUMN "by"')
