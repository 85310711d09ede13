"""Where each interaction came from, what became of each partition, and what became of a dead letter.

Columns with constant defaults only, so no table is rewritten; takes well under a second.
"""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

COUNTS = (
    *("received", "assessed", "duplicate", "dead", "pending"),
    *("spanned", "tombstone", "control", "expired", "purged"),
)


def upgrade() -> None:
    # in the order in which writers lock these tables
    counts = ", ".join(f"ADD {name} bigint NOT NULL DEFAULT 0" for name in COUNTS)
    op.execute(f"""
        ALTER TABLE consumer_offset {counts}, ADD topic_id text NOT NULL DEFAULT '',
        ADD live boolean NOT NULL DEFAULT true, ADD profile_hash text NOT NULL DEFAULT ''
    """)
    op.execute("""
        ALTER TABLE interaction
        ADD source_topic text, ADD source_partition integer, ADD source_offset bigint
    """)
    op.execute("ALTER TABLE assessment ADD live boolean NOT NULL DEFAULT true")
    op.execute("""
        ALTER TABLE dead_letter
        ADD group_id text NOT NULL DEFAULT '', ADD settled_at timestamptz, ADD outcome text
    """)


def downgrade() -> None:
    op.execute("ALTER TABLE dead_letter DROP group_id, DROP settled_at, DROP outcome")
    drops = ", ".join(f"DROP {name}" for name in (*COUNTS, "topic_id", "live", "profile_hash"))
    op.execute(f"ALTER TABLE consumer_offset {drops}")
    op.execute("ALTER TABLE assessment DROP live")
    op.execute("ALTER TABLE interaction DROP source_topic, DROP source_partition, DROP source_offset")
