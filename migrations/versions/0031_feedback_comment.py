"""Comments of end users, and feedback that came before its answer.

A column that may be null, and a small table; takes well under a second. The release before writes neither.
"""

from __future__ import annotations

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        ALTER TABLE feedback ADD COLUMN comment text;
        CREATE TABLE early_feedback (
            app text NOT NULL,
            interaction_id text NOT NULL,
            thumb text NOT NULL,
            comment text,
            given_at timestamptz NOT NULL,
            received_at timestamptz NOT NULL,
            PRIMARY KEY (app, interaction_id)
        );
        CREATE INDEX early_feedback_by_time ON early_feedback (received_at)
    """)


def downgrade() -> None:
    op.execute("DROP TABLE early_feedback; ALTER TABLE feedback DROP COLUMN comment")
