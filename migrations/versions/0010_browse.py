"""The index that lists of interactions are read from, and that by which a conversation is found.

The first holds what lists are filtered by, so that a day's assessments are looked through without their rows. Building
it keeps writers out for 2 s for each million assessments; they try again until then, and nothing is lost. Neither costs
COPY as much as can be measured (docs/performance.md).
"""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE INDEX assessment_to_browse ON assessment (occurred_at, app, id)
        INCLUDE (verdict, reasons, refusal_correct, sdq, sdrd, sda, qrd, qa) WHERE live
    """)
    op.execute("""
        CREATE INDEX interaction_by_conversation ON interaction (conversation_id) WHERE conversation_id IS NOT NULL
    """)


def downgrade() -> None:
    op.execute("DROP INDEX interaction_by_conversation")
    op.execute("DROP INDEX assessment_to_browse")
