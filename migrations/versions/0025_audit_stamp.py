"""Time stamps of checkpoints, from authorities outside: beside the checkpoints, which stay as they are.

A new table: the release before does not know it, and goes on signing.
"""

from __future__ import annotations

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE audit_stamp (
            size bigint NOT NULL,
            witness text NOT NULL,
            kind text NOT NULL,
            token bytea NOT NULL,
            obtained_at timestamptz NOT NULL,
            stamped_at timestamptz,
            complete boolean NOT NULL,
            PRIMARY KEY (size, witness)
        )
        """
    )


def downgrade() -> None:
    op.execute("DROP TABLE audit_stamp")
