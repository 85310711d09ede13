"""Runs of probes that an error ended: rules read the newest one by an index of its own.

The release before calls such a run stopped; what it has stored stays so.
"""

from __future__ import annotations

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "CREATE INDEX probe_run_ended ON probe_run (probe, number) WHERE state IN ('done', 'failed') AND NOT candidate"
    )


def downgrade() -> None:
    op.execute("DROP INDEX probe_run_ended")
    # the acts of the audit trail keep what was stored: a verification after a downgrade names these runs
    op.execute("UPDATE probe_run SET state = 'stopped' WHERE state = 'failed'")
