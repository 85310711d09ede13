"""What alerts read: verdicts by the hour, what arrived by the minute, and how far reading has come.

`verdict_hour` is filled from `verdict_minute`, which writers have to leave alone meanwhile: 20 s for a million rows of
`verdict_minute`. Until then they try again, and nothing is lost.

The previous release goes on writing `verdict_minute` alone. Two triggers add what it writes to `verdict_hour`; for our
own writers, who do that themselves and set `monitor.hours`, they do nothing.
"""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

KEY = ("app", "environment", "model", "topic")
COUNTS = (
    "total", "grounded", "refusal", "self_generated",
    "support_off_question", "support_not_retrieved", "answer_off_support", "retrieval_off_question",
    "answer_off_question", "no_documents", "no_support", "empty_answer", "refusal_wording",
    "not_in_documents", "missing_fact", "contradicts_documents",
    "sdq_count", "sdrd_count", "sda_count", "qrd_count", "qa_count",
)  # fmt: skip
BINS = 40  # over [-1, 1]
METRICS = ("sdq", "sdrd", "sda", "qrd", "qa")
SUMS = tuple(f"{metric}_sum" for metric in METRICS)
SQUARES = tuple(f"{metric}_squares" for metric in METRICS)
ADDED = (*COUNTS, *SUMS, *SQUARES)
COLUMNS = ", ".join(("hour", *KEY, *ADDED))


def hours(minutes: str, sign: str = "") -> str:
    """Selects the columns of `verdict_hour` from rows like those of `verdict_minute`, not yet added up."""
    squares = (f"bin_squares({metric}_bins, {metric}_count, {metric}_sum)" for metric in METRICS)
    added = ", ".join(
        f"{sign}{what} AS {name}"
        for what, name in zip((*(f"coalesce({n}, 0)" for n in COUNTS), *SUMS, *squares), ADDED, strict=True)
    )
    return f"SELECT date_trunc('hour', minute, 'UTC') AS hour, {', '.join(KEY)}, {added} FROM {minutes}"  # noqa: S608  our own names


def added_up(rows: str) -> str:
    """Adds rows of `hours` to `verdict_hour`, in the order of their keys."""
    sums = ", ".join(f"sum({name})" for name in ADDED)
    upserts = ", ".join(f"{name} = h.{name} + excluded.{name}" for name in ADDED)
    return f"""
        INSERT INTO verdict_hour AS h ({COLUMNS})
        SELECT hour, {", ".join(KEY)}, {sums} FROM ({rows}) AS piece
        GROUP BY hour, {", ".join(KEY)} ORDER BY hour, {", ".join(KEY)}
        ON CONFLICT (hour, {", ".join(KEY)}) DO UPDATE SET {upserts}
    """  # noqa: S608


def upgrade() -> None:
    op.execute(f"""
        CREATE TABLE verdict_hour (
            hour timestamptz NOT NULL, app text NOT NULL, environment text NOT NULL,
            model text NOT NULL, topic text NOT NULL,
            {", ".join(f"{name} bigint NOT NULL" for name in COUNTS)},
            {", ".join(f"{name} double precision NOT NULL" for name in (*SUMS, *SQUARES))},
            PRIMARY KEY (hour, app, environment, model, topic)
        ) WITH (fillfactor = 70)
    """)
    # Sum of squares from a histogram of equal bins and the true sum: n · (variance of the bins' middles + mean²).
    # Written out, so that the planner puts it in the place of the call: seven times as fast as a loop over the bins.
    middles = [(2 * place - 1) / BINS - 1 for place in range(1, BINS + 1)]
    first, second = (
        " + ".join(f"{middle**power!r}::float8 * bins[{place}]" for place, middle in enumerate(middles, 1))
        for power in (1, 2)
    )
    op.execute(f"""
        CREATE FUNCTION bin_squares(bins bigint[], counted bigint, total double precision) RETURNS double precision
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT coalesce({second} + (total * total - ({first}) ^ 2) / nullif(counted, 0)::float8, 0)
        $$
    """)
    for event, rows in (
        ("insert", hours("written")),
        ("update", f"{hours('written')} UNION ALL {hours('overwritten', '-')}"),
    ):
        old = " OLD TABLE AS overwritten" if event == "update" else ""
        op.execute(f"""
            CREATE FUNCTION hours_of_{event}() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN {added_up(rows)}; RETURN NULL; END $$
        """)
        # it takes a lock that keeps writers out until all is done, so that nothing falls between it and what follows
        op.execute(f"""
            CREATE TRIGGER hours_of_{event} AFTER {event} ON verdict_minute
            REFERENCING NEW TABLE AS written{old} FOR EACH STATEMENT
            WHEN (current_setting('monitor.hours', true) IS DISTINCT FROM 'written')
            EXECUTE FUNCTION hours_of_{event}()
        """)
    op.execute(added_up(hours("verdict_minute")))
    op.execute("""
        CREATE TABLE ingest_minute (
            minute timestamptz NOT NULL, source text NOT NULL, received bigint NOT NULL, dead bigint NOT NULL,
            PRIMARY KEY (minute, source)
        ) WITH (fillfactor = 70)
    """)
    op.execute("""
        CREATE TABLE reading (
            group_id text NOT NULL, topic text NOT NULL, partition integer NOT NULL,
            through timestamptz NOT NULL, behind bigint NOT NULL, seen_at timestamptz NOT NULL,
            PRIMARY KEY (group_id, topic, partition)
        ) WITH (fillfactor = 50)
    """)


def downgrade() -> None:
    for event in ("insert", "update"):
        op.execute(f"DROP TRIGGER hours_of_{event} ON verdict_minute")
        op.execute(f"DROP FUNCTION hours_of_{event}")
    for table in ("reading", "ingest_minute", "verdict_hour"):
        op.execute(f"DROP TABLE {table}")
    op.execute("DROP FUNCTION bin_squares")
