"""Runs of candidates: versions of a chatbot that are not deployed. The release before counts them like any other."""

from __future__ import annotations

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE probe_run ADD COLUMN candidate boolean NOT NULL DEFAULT false")
    op.execute("CREATE INDEX probe_run_deployed ON probe_run (probe, number) WHERE state = 'done' AND NOT candidate")


def downgrade() -> None:
    op.execute("DROP INDEX probe_run_deployed")
    op.execute("ALTER TABLE probe_run DROP COLUMN candidate")
