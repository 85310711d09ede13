"""Versions of the alert rules that people save in the dashboard. The release before does not look at the table."""

from __future__ import annotations

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE rules_version (
            version bigint PRIMARY KEY,
            source text NOT NULL,
            based_on bigint NOT NULL,
            saved_at timestamptz NOT NULL,
            saved_by text NOT NULL,
            why text NOT NULL,
            mac bytea NOT NULL
        )
    """)


def downgrade() -> None:
    op.execute("DROP TABLE rules_version")
