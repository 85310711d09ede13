"""What end users said of answers.

A new table only; takes well under a second. The release before does not know it.
"""

from __future__ import annotations

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE feedback (
            app text NOT NULL,
            interaction_id text NOT NULL,
            thumb text NOT NULL,
            given_at timestamptz NOT NULL,
            PRIMARY KEY (app, interaction_id)
        );
        CREATE INDEX feedback_by_time ON feedback (app, given_at)
    """)


def downgrade() -> None:
    op.execute("DROP TABLE feedback")
