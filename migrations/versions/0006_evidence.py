"""What carries each answer, beside its verdict, and the reasons that come of it in the minute rollup.

Columns with constant defaults: no row is rewritten. They may be null because the previous release copies its rows into
temporary tables that are made like these without their defaults; in the tables themselves the default stands.
"""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

REASONS = ("not_in_documents", "missing_fact", "contradicts_documents")


def upgrade() -> None:
    op.execute("ALTER TABLE assessment ADD evidence jsonb DEFAULT '{}'")
    op.execute(f"ALTER TABLE verdict_minute {', '.join(f'ADD {name} bigint DEFAULT 0' for name in REASONS)}")


def downgrade() -> None:
    op.execute(f"ALTER TABLE verdict_minute {', '.join(f'DROP {name}' for name in REASONS)}")
    op.execute("ALTER TABLE assessment DROP evidence")
