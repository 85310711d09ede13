"""The list of new answers, which rules on ranks read, and the transaction that stored each assessment.

`assessment.transaction_id` is null in rows that are there already, and filled by its default in all others, also in
those of the release before. Its index holds no row yet, but making it reads each month once: 20 s for ten million
rows, while writers wait and try again.
"""

from __future__ import annotations

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE assessment ADD COLUMN transaction_id bigint")
    op.execute("ALTER TABLE assessment ALTER COLUMN transaction_id SET DEFAULT txid_current()")
    op.execute("""
        CREATE INDEX assessment_by_transaction ON assessment (transaction_id)
        WHERE live AND transaction_id IS NOT NULL
    """)
    op.execute("ALTER TABLE rule_state ADD COLUMN place bigint")
    op.execute("""
        CREATE TABLE new_answer (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            place bigint,
            listed_at timestamptz NOT NULL,
            app text NOT NULL,
            id text NOT NULL,
            occurred_at timestamptz NOT NULL,
            environment text NOT NULL,
            model text NOT NULL,
            topic text NOT NULL,
            conversation bigint,
            same bigint NOT NULL,
            score real NOT NULL,
            refusal boolean NOT NULL,
            sdq real,
            qrd real
        );
        CREATE UNIQUE INDEX new_answer_once ON new_answer (same);
        CREATE INDEX new_answer_by_place ON new_answer (place) WHERE place IS NOT NULL;
        CREATE INDEX new_answer_by_conversation ON new_answer (conversation) WHERE conversation IS NOT NULL;
        CREATE INDEX new_answer_waiting ON new_answer (listed_at) WHERE place IS NULL;
        CREATE SEQUENCE new_answer_place;
        CREATE TABLE new_answer_progress (
            single boolean PRIMARY KEY DEFAULT true CHECK (single),
            transaction_id bigint NOT NULL,
            app text NOT NULL,
            id text NOT NULL,
            since timestamptz NOT NULL
        )
    """)


def downgrade() -> None:
    op.execute("DROP TABLE new_answer; DROP TABLE new_answer_progress; DROP SEQUENCE new_answer_place")
    op.execute("ALTER TABLE rule_state DROP COLUMN place")
    op.execute("ALTER TABLE assessment DROP COLUMN transaction_id")
