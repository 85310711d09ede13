"""The diagnosis of each answer, and how many have each in the rollups.

Columns with constant defaults or none: no row is rewritten. The release before leaves `assessment.diagnosis` empty, and
counts none; the columns of `verdict_minute` may be null for the reason that 0006 gives.
"""

from __future__ import annotations

from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

DIAGNOSES = (
    *("retrieval_missed", "retrieval_noisy", "retrieval_redundant"),
    *("generator_ignored", "generator_invented", "healthy"),
)


def upgrade() -> None:
    op.execute("ALTER TABLE assessment ADD diagnosis text")
    op.execute(f"ALTER TABLE verdict_minute {', '.join(f'ADD {name} bigint DEFAULT 0' for name in DIAGNOSES)}")
    op.execute(f"ALTER TABLE verdict_hour {', '.join(f'ADD {name} bigint NOT NULL DEFAULT 0' for name in DIAGNOSES)}")


def downgrade() -> None:
    for table in ("verdict_hour", "verdict_minute"):
        op.execute(f"ALTER TABLE {table} {', '.join(f'DROP {name}' for name in DIAGNOSES)}")
    op.execute("ALTER TABLE assessment DROP diagnosis")
