"""The indexes by which one customer's answers are found, and keyed digests of tags that redaction changed.

The column is null in rows that are there already, and in those of the release before. Making the indexes reads each
month once: about 5 s for a million interactions, while writers wait and try again.

Statements of completeness, which are leaves of the kind `positions`, leave the index of acts to the acts of people.
"""

from __future__ import annotations

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE interaction ADD COLUMN tag_digests text[]")
    op.execute("""
        CREATE INDEX interaction_by_trace ON interaction (trace_id) WHERE trace_id IS NOT NULL;
        CREATE INDEX interaction_by_tag ON interaction USING gin (tags jsonb_path_ops);
        CREATE INDEX interaction_by_tag_digest ON interaction USING gin (tag_digests) WHERE tag_digests IS NOT NULL
    """)
    op.execute("""
        DROP INDEX audit_leaf_acts;
        CREATE INDEX audit_leaf_acts ON audit_leaf (index)
            WHERE kind NOT IN ('interaction', 'assessment', 'judgement', 'positions');
        CREATE INDEX audit_leaf_positions ON audit_leaf (index) WHERE kind = 'positions'
    """)


def downgrade() -> None:
    op.execute("""
        DROP INDEX audit_leaf_positions;
        DROP INDEX audit_leaf_acts;
        CREATE INDEX audit_leaf_acts ON audit_leaf (index) WHERE kind NOT IN ('interaction', 'assessment', 'judgement')
    """)
    op.execute("DROP INDEX interaction_by_tag_digest; DROP INDEX interaction_by_tag; DROP INDEX interaction_by_trace")
    op.execute("ALTER TABLE interaction DROP COLUMN tag_digests")
