"""Runs of probes that an error ended, which the release before calls stopped: rules read them by the same index."""

from __future__ import annotations

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _index("state IN ('done', 'failed') AND NOT candidate")


def downgrade() -> None:
    _index("state = 'done' AND NOT candidate")
    # the acts of the audit trail keep what was stored: a verification after a downgrade names these runs
    op.execute("UPDATE probe_run SET state = 'stopped' WHERE state = 'failed'")


def _index(runs: str) -> None:
    op.execute("DROP INDEX probe_run_deployed")
    op.execute(f"CREATE INDEX probe_run_deployed ON probe_run (probe, number) WHERE {runs}")
