"""What proves golden items and the results of probes. Rows from before it cannot be proven, and are not held to it.

The release before stores rows without these columns, and reads erased golden items as items without texts.
"""

from __future__ import annotations

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        ALTER TABLE golden_item
            ADD COLUMN secret bytea, ADD COLUMN committed text, ADD COLUMN erased boolean NOT NULL DEFAULT false
    """)
    op.execute("ALTER TABLE probe_result ADD COLUMN secret bytea, ADD COLUMN committed text")


def downgrade() -> None:
    op.execute("DELETE FROM golden_item WHERE erased")
    op.execute("ALTER TABLE golden_item DROP COLUMN secret, DROP COLUMN committed, DROP COLUMN erased")
    op.execute("ALTER TABLE probe_result DROP COLUMN secret, DROP COLUMN committed")
