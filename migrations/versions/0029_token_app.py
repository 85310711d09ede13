"""Tokens that may only send are bound to an app. The release before does not look at the column."""

from __future__ import annotations

from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE api_token ADD COLUMN app text")


def downgrade() -> None:
    op.execute("ALTER TABLE api_token DROP COLUMN app")
