"""Interactions, assessments, the minute rollup and dead letters.

Creates the first tables; takes well under a second. Month partitions are made by the writer as they are needed;
what belongs to no month (times far in the past or future) lies in the default partitions.
"""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

METRICS = ("sdq", "sdrd", "sda", "qrd", "qa")
VERDICTS = ("grounded", "refusal", "self_generated")
REASONS = (
    "support_off_question",
    "support_not_retrieved",
    "answer_off_support",
    "retrieval_off_question",
    "answer_off_question",
    "no_documents",
    "no_support",
    "empty_answer",
    "refusal_wording",
)
KEY_PARTITIONS = 8


def upgrade() -> None:
    op.execute("""
        CREATE TABLE interaction_key (
            app text NOT NULL, id text NOT NULL, month date NOT NULL, PRIMARY KEY (app, id)
        ) PARTITION BY HASH (app, id)
    """)
    for n in range(KEY_PARTITIONS):
        op.execute(f"""
            CREATE TABLE interaction_key_{n} PARTITION OF interaction_key
            FOR VALUES WITH (MODULUS {KEY_PARTITIONS}, REMAINDER {n})
        """)
    op.execute("""
        CREATE TABLE interaction (
            app text NOT NULL, id text NOT NULL,
            occurred_at timestamptz NOT NULL, stored_at timestamptz NOT NULL,
            environment text NOT NULL, conversation_id text, turn integer,
            question text NOT NULL, answer text NOT NULL,
            retrieved_documents jsonb NOT NULL, supporting_documents jsonb, reference_answer text,
            model text, prompt_version text, tags jsonb NOT NULL, trace_id text,
            latency_ms double precision, input_tokens bigint, output_tokens bigint, marks text[] NOT NULL,
            PRIMARY KEY (app, id, occurred_at)
        ) PARTITION BY RANGE (occurred_at)
    """)
    op.execute("CREATE INDEX interaction_by_time ON interaction (occurred_at)")
    op.execute("CREATE INDEX interaction_by_id ON interaction (id)")
    op.execute("CREATE TABLE interaction_default PARTITION OF interaction DEFAULT")
    op.execute(f"""
        CREATE TABLE assessment (
            app text NOT NULL, id text NOT NULL, profile_hash text NOT NULL, occurred_at timestamptz NOT NULL,
            profile_name text NOT NULL, embedding_model text NOT NULL,
            verdict text NOT NULL, rule_verdict text NOT NULL, reasons text[] NOT NULL,
            refusal_kind text NOT NULL, refusal_correct boolean,
            p_grounded real NOT NULL, p_refusal real NOT NULL, p_self_generated real NOT NULL,
            uncalibrated boolean NOT NULL,
            {", ".join(f"{metric} real" for metric in METRICS)},
            features jsonb NOT NULL, support jsonb NOT NULL,
            PRIMARY KEY (app, id, profile_hash, occurred_at)
        ) PARTITION BY RANGE (occurred_at)
    """)
    op.execute("CREATE INDEX assessment_by_verdict ON assessment (app, verdict, occurred_at)")
    op.execute("CREATE TABLE assessment_default PARTITION OF assessment DEFAULT")
    op.execute("""
        CREATE TABLE profile (
            hash text PRIMARY KEY, name text NOT NULL, embedding_model text NOT NULL,
            definition jsonb NOT NULL, stored_at timestamptz NOT NULL
        )
    """)
    op.execute(f"""
        CREATE TABLE verdict_minute (
            minute timestamptz NOT NULL, app text NOT NULL, environment text NOT NULL,
            model text NOT NULL, topic text NOT NULL, total bigint NOT NULL,
            {", ".join(f"{name} bigint NOT NULL" for name in VERDICTS + REASONS)},
            {", ".join(f"{metric}_count bigint NOT NULL" for metric in METRICS)},
            {", ".join(f"{metric}_sum double precision NOT NULL" for metric in METRICS)},
            {", ".join(f"{metric}_bins bigint[] NOT NULL" for metric in METRICS)},
            PRIMARY KEY (minute, app, environment, model, topic)
        ) WITH (fillfactor = 70)
    """)
    op.execute("""
        CREATE FUNCTION add_bins(a bigint[], b bigint[]) RETURNS bigint[]
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT array_agg(coalesce(x, 0) + coalesce(y, 0) ORDER BY place)
            FROM unnest(a, b) WITH ORDINALITY AS pair (x, y, place)
        $$
    """)
    op.execute("CREATE TABLE rollup_label (label text NOT NULL, value text NOT NULL, PRIMARY KEY (label, value))")
    op.execute("""
        CREATE TABLE consumer_offset (
            group_id text NOT NULL, topic text NOT NULL, partition integer NOT NULL, next_offset bigint NOT NULL,
            PRIMARY KEY (group_id, topic, partition)
        )
    """)
    op.execute("""
        CREATE TABLE dead_letter (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            topic text NOT NULL, partition integer NOT NULL, position bigint NOT NULL,
            received_at timestamptz NOT NULL, key bytea,
            header_names text[] NOT NULL, header_values bytea[] NOT NULL,
            value bytea NOT NULL, size bigint NOT NULL, digest bytea NOT NULL,
            path text NOT NULL, problem text NOT NULL
        )
    """)
    op.execute("CREATE UNIQUE INDEX dead_letter_once ON dead_letter (topic, partition, position, digest)")


def downgrade() -> None:
    for table in (
        "dead_letter",
        "consumer_offset",
        "rollup_label",
        "verdict_minute",
        "profile",
        "assessment",
        "interaction",
    ):
        op.execute(f"DROP TABLE {table}")
    op.execute("DROP TABLE interaction_key")
    op.execute("DROP FUNCTION add_bins")
