"""The histograms of the rollups without the empty bins at either end: most of a row of `verdict_minute` was zeros.

An array of bins may begin anywhere: `[31:32]={4,6}` are four answers in bin 31 and six in bin 32. The columns and the
names and arguments of the functions stay, so the release before goes on reading and writing. It stores whole arrays
where it begins a row, and whatever is added to a row is trimmed. `sum_bins` gives an array from bin 1 on, since psycopg
does not tell where an array begins.

No row is rewritten here. `monitor.store.interaction.trim` does that in the background for minutes before
`rollup_trim.until`, and removes the row of `rollup_trim` once it is through.

To go back by one release, start its program and leave the tables as they are. A downgrade of the tables rewrites every
row of `verdict_minute` in one transaction: stop every process first, since one of this release that goes on would store
trimmed arrays, which the functions of the release before count into the wrong bins.
"""

from __future__ import annotations

from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

BINS = 40  # over [-1, 1]
LATENCY_BINS = 152
METRICS = ("sdq", "sdrd", "sda", "qrd", "qa")
ADD_TRIMMED = """
    CREATE OR REPLACE FUNCTION add_bins(a bigint[], b bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
        first integer := least(array_lower(a, 1), array_lower(b, 1));  -- null, as `last`, where both are empty
        last integer := greatest(array_upper(a, 1), array_upper(b, 1));
        summed bigint[];
    BEGIN
        WHILE first <= last AND coalesce(a[first], 0) + coalesce(b[first], 0) = 0 LOOP
            first := first + 1;
        END LOOP;
        WHILE first < last AND coalesce(a[last], 0) + coalesce(b[last], 0) = 0 LOOP
            last := last - 1;
        END LOOP;
        IF first <= last THEN
            summed := array_fill(0::bigint, ARRAY[last - first + 1], ARRAY[first]);
            FOR place IN first..last LOOP
                summed[place] := coalesce(a[place], 0) + coalesce(b[place], 0);
            END LOOP;
            RETURN summed;
        END IF;
        RETURN CASE WHEN a IS NOT NULL OR b IS NOT NULL THEN '{}'::bigint[] END;
    END $$
"""
ADD_WHOLE = """
    CREATE OR REPLACE FUNCTION add_bins(a bigint[], b bigint[]) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT array_agg(coalesce(x, 0) + coalesce(y, 0) ORDER BY place)
        FROM unnest(a, b) WITH ORDINALITY AS pair (x, y, place)
    $$
"""


def squares(bin_: str) -> str:
    """As migration 0007 has it; `bin_` says how a bin is read."""
    middles = [(2 * place - 1) / BINS - 1 for place in range(1, BINS + 1)]
    first, second = (
        " + ".join(f"{middle**power!r}::float8 * {bin_.format(place)}" for place, middle in enumerate(middles, 1))
        for power in (1, 2)
    )
    return f"""
        CREATE OR REPLACE FUNCTION bin_squares(bins bigint[], counted bigint, total double precision)
        RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT coalesce({second} + (total * total - ({first}) ^ 2) / nullif(counted, 0)::float8, 0)
        $$
    """


def upgrade() -> None:
    op.execute("""
        CREATE FUNCTION bins_from_first(bins bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE WHEN array_lower(bins, 1) > 1
                THEN array_fill(0::bigint, ARRAY[array_lower(bins, 1) - 1]) || bins ELSE bins END
        $$
    """)
    op.execute("""
        CREATE OR REPLACE AGGREGATE sum_bins(bigint[]) (
            SFUNC = add_bins, STYPE = bigint[], FINALFUNC = bins_from_first, PARALLEL = SAFE
        )
    """)
    op.execute(squares("coalesce(bins[{}], 0)"))
    op.execute(ADD_TRIMMED)
    op.execute('CREATE TABLE rollup_trim ("until" timestamptz PRIMARY KEY, through timestamptz NOT NULL)')
    # writers of the release before may go on for a day
    op.execute("""
        INSERT INTO rollup_trim SELECT now() + interval '1 day', minute FROM verdict_minute ORDER BY minute LIMIT 1
    """)


def downgrade() -> None:
    op.execute("SET LOCAL statement_timeout = 0")  # each update takes as long as there are rows
    op.execute("SET LOCAL monitor.hours = 'written'")  # the hours stay as they are
    for table, names, bins in (
        ("verdict_minute", [f"{metric}_bins" for metric in METRICS], BINS),
        ("verdict_minute", ["latency_bins"], LATENCY_BINS),
        ("verdict_hour", ["latency_bins"], LATENCY_BINS),
    ):
        whole = "(SELECT array_agg(coalesce({0}[place], 0) ORDER BY place) FROM generate_series(1, {1}) place)"
        changes = ", ".join(f"{name} = {whole.format(name, bins)}" for name in names)
        op.execute(f"UPDATE {table} SET {changes} WHERE {names[0]} IS NOT NULL")  # noqa: S608  our own names
    op.execute("DROP TABLE rollup_trim")
    op.execute(ADD_WHOLE)
    op.execute(squares("bins[{}]"))
    op.execute("CREATE OR REPLACE AGGREGATE sum_bins(bigint[]) (SFUNC = add_bins, STYPE = bigint[], PARALLEL = SAFE)")
    op.execute("DROP FUNCTION bins_from_first")
