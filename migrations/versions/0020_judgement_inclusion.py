"""Keeps with which probability the judge's sample took an answer, so that means over judgements can be weighted.

A column without a default, so the table is not rewritten; takes well under a second. In judgements that the release
before stored, it is null.
"""

from __future__ import annotations

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE judgement ADD COLUMN inclusion double precision")


def downgrade() -> None:
    op.execute("ALTER TABLE judgement DROP COLUMN inclusion")
