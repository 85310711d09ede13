"""Golden sets, and the runs of probes with them. New tables only: the release before does not see them."""

from __future__ import annotations

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE golden_set (
            name text NOT NULL,
            version integer NOT NULL,
            hash text NOT NULL,
            items integer NOT NULL,
            made_by text NOT NULL,
            made_at timestamptz NOT NULL,
            PRIMARY KEY (name, version)
        )
    """)
    op.execute("""
        CREATE TABLE golden_item (
            name text NOT NULL,
            version integer NOT NULL,
            place integer NOT NULL,
            id text NOT NULL,
            question text NOT NULL,
            reference text NOT NULL,
            tags jsonb NOT NULL,
            source_app text,
            source_id text,
            PRIMARY KEY (name, version, place)
        )
    """)
    op.execute("CREATE INDEX golden_item_by_source ON golden_item (source_app, source_id) WHERE source_id IS NOT NULL")
    op.execute("""
        CREATE TABLE probe_run (
            number bigint GENERATED ALWAYS AS IDENTITY,
            mark text NOT NULL,
            probe text NOT NULL,
            app text NOT NULL,
            environment text NOT NULL,
            chatbot text NOT NULL,
            golden text NOT NULL,
            golden_version integer NOT NULL,
            golden_hash text NOT NULL,
            items integer NOT NULL,
            target text NOT NULL,
            judge text NOT NULL,
            prompts_hash text NOT NULL,
            repeats integer NOT NULL,
            turns integer NOT NULL,
            state text NOT NULL,
            began_at timestamptz NOT NULL,
            ended_at timestamptz,
            error text,
            PRIMARY KEY (number),
            UNIQUE (mark)
        )
    """)
    op.execute("CREATE INDEX probe_run_by_app ON probe_run (app, began_at)")
    op.execute("CREATE INDEX probe_run_by_probe ON probe_run (probe, number)")
    op.execute("""
        CREATE TABLE probe_result (
            run bigint NOT NULL,
            place integer NOT NULL,
            item text NOT NULL,
            state text NOT NULL,
            correctness double precision,
            wscore double precision,
            lscore integer,
            mscore double precision,
            spread integer NOT NULL,
            seconds double precision NOT NULL,
            calls integer NOT NULL,
            input_tokens bigint NOT NULL,
            output_tokens bigint NOT NULL,
            cost double precision,
            PRIMARY KEY (run, place)
        )
    """)
    op.execute("""
        CREATE TABLE probe_turn (
            run bigint NOT NULL,
            place integer NOT NULL,
            turn integer NOT NULL,
            question text NOT NULL,
            answer text NOT NULL,
            documents jsonb NOT NULL,
            composed text,
            scores integer[] NOT NULL,
            feedback text NOT NULL,
            reason text,
            failure text,
            latency_ms double precision,
            leaks text[] NOT NULL,
            PRIMARY KEY (run, place, turn)
        )
    """)


def downgrade() -> None:
    for table in ("probe_turn", "probe_result", "probe_run", "golden_item", "golden_set"):
        op.execute(f"DROP TABLE {table}")
