"""Latency, tokens and cost: the cost of an answer, and the sums of all three in the rollups.

The columns have constant defaults or none, so nothing is rewritten; they may be null as those of migration 0006 may.
The release before names its columns, and leaves these at zero: what it stores counts as answers whose events tell
neither latency nor tokens nor cost.

The sums are whole numbers (millionths of a second, tokens, billionths of the currency), so that a revision takes out
exactly what was counted. `numeric` holds their squares without overflow. The bins are those of
`monitor/core/figures/latency.py`.
"""

from __future__ import annotations

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

QUANTITIES = ("latency", "input_tokens", "output_tokens", "tokens", "cost")
COLUMNS = (
    *(f"{name}_count bigint DEFAULT 0" for name in QUANTITIES),
    *(f"{name}_{sums} numeric DEFAULT 0" for sums in ("sum", "squares") for name in QUANTITIES),
    "latency_bins bigint[]",
)


def upgrade() -> None:
    op.execute("ALTER TABLE interaction ADD COLUMN cost double precision")
    for table in ("verdict_minute", "verdict_hour"):
        op.execute(f"ALTER TABLE {table} {', '.join(f'ADD COLUMN {column}' for column in COLUMNS)}")
    op.execute("CREATE AGGREGATE sum_bins(bigint[]) (SFUNC = add_bins, STYPE = bigint[], PARALLEL = SAFE)")


def downgrade() -> None:
    op.execute("DROP AGGREGATE sum_bins(bigint[])")
    for table in ("verdict_hour", "verdict_minute"):
        op.execute(f"ALTER TABLE {table} {', '.join(f'DROP COLUMN {column.split()[0]}' for column in COLUMNS)}")
    op.execute("ALTER TABLE interaction DROP COLUMN cost")
