"""Work that is still to be done, judgements of language models, and what their calls used.

New tables, and columns without a default; takes well under a second.
"""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE assessment ADD revised_at timestamptz, ADD earlier jsonb")
    op.execute("""
        CREATE TABLE pending (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            kind text NOT NULL, app text NOT NULL, interaction_id text NOT NULL, occurred_at timestamptz NOT NULL,
            group_id text NOT NULL, queued_at timestamptz NOT NULL, not_before timestamptz NOT NULL, claim text,
            attempts integer NOT NULL DEFAULT 0, last_error text, given_up boolean NOT NULL DEFAULT false
        )
    """)
    op.execute("CREATE UNIQUE INDEX pending_once ON pending (kind, app, interaction_id)")
    op.execute("CREATE INDEX pending_due ON pending (kind, not_before) WHERE NOT given_up")
    op.execute("""
        CREATE TABLE judgement (
            app text NOT NULL, id text NOT NULL, metric text NOT NULL, model text NOT NULL, prompt_hash text NOT NULL,
            occurred_at timestamptz NOT NULL, mode text NOT NULL, score double precision, reason text,
            parts jsonb NOT NULL, calls integer NOT NULL, input_tokens bigint NOT NULL, output_tokens bigint NOT NULL,
            cost double precision, judged_at timestamptz NOT NULL,
            PRIMARY KEY (app, id, metric, model, prompt_hash, occurred_at)
        ) PARTITION BY RANGE (occurred_at)
    """)
    op.execute("CREATE INDEX judgement_by_metric ON judgement (app, metric, occurred_at)")
    op.execute("CREATE TABLE judgement_default PARTITION OF judgement DEFAULT")
    op.execute("CREATE TABLE prompt (hash text PRIMARY KEY, prompts jsonb NOT NULL, stored_at timestamptz NOT NULL)")
    op.execute("""
        CREATE TABLE llm_usage (
            hour timestamptz NOT NULL, purpose text NOT NULL, model text NOT NULL, calls bigint NOT NULL,
            input_tokens bigint NOT NULL, output_tokens bigint NOT NULL, cost double precision NOT NULL,
            PRIMARY KEY (hour, purpose, model)
        )
    """)
    op.execute("""
        CREATE TABLE llm_batch (
            id text PRIMARY KEY, claim text NOT NULL, model text NOT NULL, requests integer NOT NULL,
            sent_at timestamptz NOT NULL, looked_at timestamptz NOT NULL, status text NOT NULL, finished_at timestamptz
        )
    """)


def downgrade() -> None:
    for table in ("llm_batch", "llm_usage", "prompt", "judgement", "pending"):
        op.execute(f"DROP TABLE {table}")
    op.execute("ALTER TABLE assessment DROP revised_at, DROP earlier")
