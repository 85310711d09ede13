"""The tables of interactions, their assessments and judgements, rollups by minute, and pending work.

`interaction` and `assessment` are partitioned by month of `occurred_at`. A unique index cannot span partitions,
so `interaction_key` decides which (app, id) is new.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Double,
    Identity,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, REAL

from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason, Verdict
from monitor.store.tables.usage import usage_columns

METRICS = ("sdq", "sdrd", "sda", "qrd", "qa")
# Reasons that the rollup has counted since migration 0006, which says why their columns may be null.
LATER_REASONS = (Reason.NOT_IN_DOCUMENTS, Reason.MISSING_FACT, Reason.CONTRADICTS_DOCUMENTS)
# What to look at first: flagged by the rank (`ALPHA`, as a REAL holds it) or, without one, by the verdict.
SUSPICIOUS = "(rank < 0.100001 OR (rank IS NULL AND verdict = 'self_generated'))"
# The score of an assessment `a` before a judge's word was added to it: only some answers are judged, so only this one
# can be compared with other answers of the app. Evidence, which may be long, is read of revised rows only.
SCORE_BEFORE_JUDGE = """
    CASE WHEN a.revised_at IS NULL THEN a.p_self_generated
        ELSE coalesce(((a.evidence -> 'judge' ->> 'before')::real * (1 - a.p_refusal))::real, a.p_self_generated) END
"""
HISTOGRAM_BINS = 40  # equal bins of 0.05 over [-1, 1]
OTHER = "other"  # the value under which the rollups count those of a label beyond the most that it may have

metadata = MetaData()
_time = DateTime(timezone=True)

interaction_key = Table(
    "interaction_key",
    metadata,
    Column("app", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("month", Date, nullable=False),  # of occurred_at, so that retention can drop keys with their partition
)

interaction = Table(
    "interaction",
    metadata,
    Column("app", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("occurred_at", _time, primary_key=True),
    Column("stored_at", _time, nullable=False),
    Column("environment", Text, nullable=False),
    Column("conversation_id", Text),
    Column("turn", Integer),
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("retrieved_documents", JSONB, nullable=False),
    Column("supporting_documents", JSONB),  # as logged; null: the generator was not asked for them
    Column("reference_answer", Text),
    Column("model", Text),
    Column("prompt_version", Text),
    Column("tags", JSONB, nullable=False),
    Column("trace_id", Text),
    Column("latency_ms", Double),
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("marks", ARRAY(Text), nullable=False),
    Column("source_topic", Text),  # these three: the position of the message that it came in
    Column("source_partition", Integer),
    Column("source_offset", BigInteger),
    Column("tag_digests", ARRAY(Text)),  # of tags that redaction changed; null: of none
    Column("unscored", Text),  # why it has no scores; null: it is scored, or will be
    Column("replaced_at", _time),  # when another message last replaced its content; null: never
    Column("replaced_offset", BigInteger),  # of that message, where it came in the partition of the first
    Column("cost", Double),  # by the prices when it was stored; null: unknown
    Column("span_id", Text),  # where in its trace verdicts are sent to; not sealed
    Index("interaction_by_time", "occurred_at"),
    Index("interaction_by_id", "id"),
    Index("interaction_by_conversation", "conversation_id", postgresql_where=text("conversation_id IS NOT NULL")),
    Index("interaction_by_trace", "trace_id", postgresql_where=text("trace_id IS NOT NULL")),
    Index("interaction_by_tag", "tags", postgresql_using="gin", postgresql_ops={"tags": "jsonb_path_ops"}),
    Index(
        "interaction_by_tag_digest",
        "tag_digests",
        postgresql_using="gin",
        postgresql_where=text("tag_digests IS NOT NULL"),
    ),
    Index("interaction_unscored", "occurred_at", "app", "id", postgresql_where=text("unscored IS NOT NULL")),
)

assessment = Table(
    "assessment",
    metadata,
    Column("app", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("profile_hash", Text, primary_key=True),
    Column("occurred_at", _time, primary_key=True),
    Column("profile_name", Text, nullable=False),
    Column("embedding_model", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("rule_verdict", Text, nullable=False),
    Column("reasons", ARRAY(Text), nullable=False),
    Column("refusal_kind", Text, nullable=False),
    Column("refusal_correct", Boolean),
    Column("p_grounded", REAL, nullable=False),
    Column("p_refusal", REAL, nullable=False),
    Column("p_self_generated", REAL, nullable=False),
    Column("uncalibrated", Boolean, nullable=False),
    *(Column(metric, REAL) for metric in METRICS),
    Column("features", JSONB, nullable=False),  # both readings of each metric, and why one is undefined
    Column("support", JSONB, nullable=False),
    Column("live", Boolean, nullable=False, server_default=text("true")),  # false: beside the one shown and counted
    Column("revised_at", _time),  # when support from the sidecar replaced a stand-in, or the judge's word was heard
    Column("earlier", JSONB),  # the row before that, with its own `revised_at` and `earlier` if it was a revision too
    Column("transaction_id", BigInteger, server_default=text("txid_current()")),  # that stored it; null: before 0021
    Column("evidence", JSONB, server_default=text("'{}'")),  # feature row, alignment, missing facts; never null
    Column("rank", REAL),  # in the reference; null: there is none for it
    Column("reference", Text),  # hash of the frozen reference
    Column("diagnosis", Text),  # null: in what the releases before 0034 stored
    Index("assessment_by_transaction", "transaction_id", postgresql_where=text("live AND transaction_id IS NOT NULL")),
    Index("assessment_by_verdict", "app", "verdict", "occurred_at"),
    Index("assessment_suspicious", *("occurred_at", "app", "id"), postgresql_where=text(f"live AND {SUSPICIOUS}")),
    Index(
        "assessment_to_browse",  # lists are read from it alone
        *("occurred_at", "app", "id"),
        postgresql_include=["verdict", "reasons", "refusal_correct", *METRICS],
        postgresql_where=text("live"),
    ),
)

profile = Table(
    "profile",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("embedding_model", Text, nullable=False),
    Column("definition", JSONB, nullable=False),
    Column("stored_at", _time, nullable=False),
)

verdict_minute = Table(
    "verdict_minute",
    metadata,
    Column("minute", _time, primary_key=True),
    Column("app", Text, primary_key=True),
    Column("environment", Text, primary_key=True),
    Column("model", Text, primary_key=True),  # '' where the event named none
    Column("topic", Text, primary_key=True),  # the tag `topic`
    Column("total", BigInteger, nullable=False),
    *(Column(verdict.value, BigInteger, nullable=False) for verdict in Verdict),
    *(
        Column(reason.value, BigInteger, server_default=text("0"))  # never null
        if reason in LATER_REASONS
        else Column(reason.value, BigInteger, nullable=False)
        for reason in Reason
    ),
    *(Column(f"{metric}_count", BigInteger, nullable=False) for metric in METRICS),
    *(Column(f"{metric}_sum", Double, nullable=False) for metric in METRICS),
    *(Column(f"{metric}_bins", ARRAY(BigInteger), nullable=False) for metric in METRICS),
    # how many more verdicts are `self_generated` by the judge's word, or -fewer; never null
    Column("heard", BigInteger, server_default=text("0")),
    *usage_columns(),
    *(Column(diagnosis.value, BigInteger, server_default=text("0")) for diagnosis in Diagnosis),  # never null
)

unscored_minute = Table(
    "unscored_minute",
    metadata,
    Column("minute", _time, primary_key=True),
    Column("app", Text, primary_key=True),
    Column("environment", Text, primary_key=True),
    Column("reason", Text, primary_key=True),
    Column("turns", BigInteger, nullable=False),
)

rollup_label = Table(
    "rollup_label",
    metadata,
    Column("label", Text, primary_key=True),
    Column("value", Text, primary_key=True),
    Column("seen_at", _time, nullable=False, server_default=text("now()")),  # to the hour
)

pending = Table(
    "pending",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("kind", Text, nullable=False),
    Column("app", Text, nullable=False),
    Column("interaction_id", Text, nullable=False),
    Column("occurred_at", _time, nullable=False),
    Column("group_id", Text, nullable=False),  # whose ledger counts it
    Column("queued_at", _time, nullable=False),
    Column("not_before", _time, nullable=False),  # when it may be claimed: later after a failure or a claim
    Column("claim", Text),  # token of the worker that has claimed it
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("last_error", Text),
    Column("given_up", Boolean, nullable=False, server_default=text("false")),
    Index("pending_once", "kind", "app", "interaction_id", unique=True),
    Index("pending_due", "kind", "not_before", postgresql_where=text("NOT given_up")),
)

judgement = Table(
    "judgement",
    metadata,
    Column("app", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("prompt_hash", Text, primary_key=True),  # '' where no question was asked
    Column("occurred_at", _time, primary_key=True),
    Column("mode", Text, nullable=False),
    Column("score", Double),
    Column("reason", Text),  # why there is no score
    Column("parts", JSONB, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cost", Double),
    Column("judged_at", _time, nullable=False),
    # with which probability the sample took the interaction; null: unknown, as in what was stored before 0020
    Column("inclusion", Double),
    Index("judgement_by_metric", "app", "metric", "occurred_at"),
)

prompt = Table(
    "prompt",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("prompts", JSONB, nullable=False),  # in the order in which they were asked: names, texts, answer schemas
    Column("stored_at", _time, nullable=False),
)

llm_usage = Table(
    "llm_usage",
    metadata,
    Column("hour", _time, primary_key=True),
    Column("purpose", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("calls", BigInteger, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cost", Double, nullable=False),
)

llm_batch = Table(
    "llm_batch",
    metadata,
    Column("id", Text, primary_key=True),  # the provider's
    Column("claim", Text, nullable=False),  # of its pending work
    Column("model", Text, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("sent_at", _time, nullable=False),
    Column("looked_at", _time, nullable=False),
    Column("status", Text, nullable=False),
    Column("finished_at", _time),
    Column("reserved", JSONB),  # for each request, by its name; null: the release before sent it
)
