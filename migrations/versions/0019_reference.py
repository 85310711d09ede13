"""Frozen references of usual scores, and each answer's rank in one.

Two columns without a default, so no row is rewritten; the release before leaves them empty. Building the index reads
every assessment once and keeps writers out meanwhile, about half a second for each million; they try again until then.
"""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE reference (
            app text NOT NULL,
            model text NOT NULL,
            version integer NOT NULL,
            topic text NOT NULL,
            hash text NOT NULL UNIQUE,
            sha256 text NOT NULL,
            since timestamptz NOT NULL,
            until timestamptz NOT NULL,
            frozen_at timestamptz NOT NULL,
            frozen_by text NOT NULL,
            profile_hash text NOT NULL,
            embedding_model text NOT NULL,
            answers bigint NOT NULL,
            drawn bigint NOT NULL,
            labelled bigint NOT NULL,
            repeated bigint NOT NULL,
            other_profile bigint NOT NULL,
            scores real[] NOT NULL,
            PRIMARY KEY (app, model, version, topic)
        );
        ALTER TABLE assessment ADD rank real, ADD reference text;
        CREATE INDEX assessment_suspicious ON assessment (occurred_at, app, id)
            WHERE live AND (rank < 0.100001 OR (rank IS NULL AND verdict = 'self_generated'))
    """)


def downgrade() -> None:
    op.execute("""
        DROP INDEX assessment_suspicious;
        ALTER TABLE assessment DROP rank, DROP reference;
        DROP TABLE reference
    """)
