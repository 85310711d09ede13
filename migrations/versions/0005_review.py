"""What people say of stored interactions, and which ones were offered to them.

New tables only; takes well under a second. Nothing refers to `interaction`: labels outlive its partitions.
"""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE review (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            app text NOT NULL, interaction_id text NOT NULL, occurred_at timestamptz NOT NULL,
            label text NOT NULL, labelled_by text NOT NULL, labelled_at timestamptz NOT NULL, note text,
            drawn text NOT NULL, verdict text NOT NULL, rule_verdict text NOT NULL, profile_hash text NOT NULL,
            p_grounded real NOT NULL, p_refusal real NOT NULL, p_self_generated real NOT NULL
        )
    """)
    op.execute("CREATE INDEX review_by_interaction ON review (app, interaction_id)")
    op.execute("CREATE INDEX review_by_time ON review (occurred_at)")
    op.execute("""
        CREATE TABLE review_offer (
            app text NOT NULL, interaction_id text NOT NULL, drawn text NOT NULL, occurred_at timestamptz NOT NULL,
            offered_to text NOT NULL, offered_at timestamptz NOT NULL,
            PRIMARY KEY (app, interaction_id, drawn)
        )
    """)


def downgrade() -> None:
    op.execute("DROP TABLE review_offer")
    op.execute("DROP TABLE review")
