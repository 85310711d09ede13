"""The migrations on a real server: from an empty database, back and forth, several at once."""

from __future__ import annotations

import os
import subprocess
import sys

import psycopg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import event, select, text
from sqlalchemy.engine import make_url

import monitor.store.tables.alerts  # these register their tables in the metadata
import monitor.store.tables.audit
import monitor.store.tables.collect
import monitor.store.tables.ledger
import monitor.store.tables.privacy
import monitor.store.tables.probe
import monitor.store.tables.reference
import monitor.store.tables.review
import monitor.store.tables.rules
import monitor.store.tables.signals  # noqa: F401
from monitor.core.diagnosis import Diagnosis
from monitor.core.errors import Fatal, OutOfReach
from monitor.store.database import connect
from monitor.store.interaction import minute_sums, rollup, rows
from monitor.store.interaction.trim import trim_piece
from monitor.store.interaction.writer import Writer
from monitor.store.migrate import _revisions, has_schema, migrate, schema_state
from monitor.store.tables.interactions import LATER_REASONS, METRICS, metadata, verdict_minute
from monitor.store.tables.usage import usage_columns
from tests.factories.answers import a_batch, an_assessment, at, clock
from tests.rig.installation import ROOT
from tests.rig.store.keys import QUEUE_KEY

HEAD = "0039"
USAGE = {column.name for column in usage_columns()}  # since 0032
DIAGNOSES = {diagnosis.value for diagnosis in Diagnosis}  # since 0034


@pytest.fixture
def empty(empty_database):
    engine = connect(empty_database)
    yield engine
    engine.dispose()


def downgrade(engine, revision):
    config = Config(ROOT / "alembic.ini")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, revision)


def tables(engine):
    with engine.connect() as connection:
        return set(
            connection.scalars(
                text(
                    "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'v')"
                    " AND relnamespace = 'public'::regnamespace"
                )
            )
        )


def test_an_empty_database_comes_to_this_releases_revision(empty):
    assert schema_state(empty).startswith("none yet")
    assert not has_schema(empty)
    assert migrate(empty) == HEAD
    assert schema_state(empty) == f"at {HEAD}"


def test_the_files_of_the_migrations_tell_the_revisions_that_alembic_finds_in_them():
    scripts = ScriptDirectory.from_config(Config(ROOT / "alembic.ini"))
    assert [script.revision for script in scripts.walk_revisions()] == [*reversed(_revisions())]


def test_migrating_again_changes_nothing(empty):
    migrate(empty)
    before = tables(empty)
    assert migrate(empty) == HEAD
    assert tables(empty) == before


def test_the_tables_are_as_the_program_sees_them(engine):
    with engine.connect() as connection:
        partitions = set(connection.scalars(text("SELECT relname FROM pg_class WHERE relispartition")))

        def ours(_object, name, kind, _reflected, _compared):
            return not (kind == "table" and name in partitions)

        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "include_object": ours}
        )
        assert compare_metadata(context, metadata) == []


def test_every_column_can_be_null_exactly_where_the_program_says_so(engine):
    with engine.connect() as connection:
        found = {
            (table, column): nullable == "YES"
            for table, column, nullable in connection.execute(
                text("SELECT table_name, column_name, is_nullable FROM information_schema.columns")
            )
        }
    said = {(table.name, c.name): bool(c.nullable) for table in metadata.tables.values() for c in table.columns}
    assert {key: found.get(key) for key in said} == said


def test_every_table_can_be_read_through_the_program(engine):
    with engine.connect() as connection:
        for table in metadata.tables.values():
            rows = connection.execute(select(table)).all()
            # one line asks for what is not sealed yet, and totals over traces begin at 0
            assert [row for row in rows if "missing" not in row and any(row[1:])] == []


def test_it_goes_back_to_nothing_and_forth_again(empty, empty_database):
    migrate(empty)
    writer = Writer(empty_database, clock, queue_key=QUEUE_KEY)
    writer.write(a_batch(an_assessment()))
    writer.close()
    downgrade(empty, "0001")
    assert not tables(empty) & {"alert", "alert_event", "outbox"}
    downgrade(empty, "base")
    assert tables(empty) == {"alembic_version"}
    with empty.connect() as connection:
        functions = connection.scalar(text("SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"))
    assert functions == 0
    assert migrate(empty) == HEAD


def test_processes_that_migrate_at_once_all_succeed(empty, empty_database):
    environment = {**os.environ, "MONITOR_DATABASE_URL": empty_database, "PYTHONPATH": str(ROOT)}
    arguments = [sys.executable, "-m", "monitor", "migrate"]
    processes = [subprocess.Popen(arguments, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    said = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], said
    assert schema_state(empty) == f"at {HEAD}"


def test_a_database_of_a_later_release_is_left_as_it_is(empty, caplog):
    migrate(empty)
    with empty.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    assert migrate(empty) == "9999"
    assert "later release" in caplog.text
    assert "later release" in schema_state(empty)
    assert has_schema(empty)


def test_a_server_that_is_too_old_is_told_apart(empty, monkeypatch):
    monkeypatch.setattr("monitor.store.migrate.OLDEST_SERVER", 990_000)
    with pytest.raises(Fatal, match="too old"):
        migrate(empty)
    assert tables(empty) == set()


def test_no_server_is_out_of_reach():
    engine = connect("postgresql://127.0.0.1:1/nothing")
    with pytest.raises(OutOfReach):
        migrate(engine)
    engine.dispose()


def test_a_role_that_may_not_create_tables_is_told_so_and_nothing_remains(empty, empty_database):
    name = f"reader_{os.getpid()}"
    with psycopg.connect(empty_database, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {name} LOGIN")
        try:
            engine = connect(make_url(empty_database).set(username=name).render_as_string(hide_password=False))
            with pytest.raises(Fatal, match="permission denied"):
                migrate(engine)
            engine.dispose()
        finally:
            admin.execute(f"DROP ROLE {name}")
    assert tables(empty) == set()


@pytest.mark.parametrize(
    ("state", "kind", "advice"),
    [
        ("53100", Fatal, "mend that"),  # the disk is full
        ("57014", Fatal, "mend that"),  # a statement took too long
        ("57P01", OutOfReach, "check MONITOR_DATABASE_URL"),  # the server shuts down
    ],
)
def test_what_the_server_refuses_while_it_migrates_is_not_taken_for_a_wrong_address(
    empty, empty_database, state, kind, advice
):
    with psycopg.connect(empty_database) as connection:
        connection.execute(f"""
            CREATE FUNCTION refused() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
                RAISE EXCEPTION 'it is so' USING ERRCODE = '{state}';
            END $$;
            CREATE EVENT TRIGGER refused ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION refused()
        """)
    with pytest.raises(kind, match=advice) as caught:
        migrate(empty)
    assert type(caught.value) is kind
    assert "it is so" in str(caught.value)
    assert not has_schema(empty)


def test_a_migration_leaves_no_time_limit_on_the_connection_that_it_used(empty):
    with empty.connect() as connection:
        limits = "SELECT current_setting('lock_timeout'), current_setting('statement_timeout')"
        before = connection.execute(text(limits)).one()
    migrate(empty)
    with empty.connect() as connection:  # the pool hands out the same one
        assert connection.execute(text(limits)).one() == before


def test_the_release_before_the_evidence_goes_on_writing(empty, empty_database):
    migrate(empty)
    kept = [c.name for c in verdict_minute.columns if c.name not in {*LATER_REASONS, "heard", *USAGE, *DIAGNOSES}]
    values = dict.fromkeys(kept, "1") | {"minute": "now()"} | {f"{m}_bins": "'{1}'" for m in METRICS}
    names = ", ".join(kept)
    with psycopg.connect(empty_database) as connection:
        connection.execute("CREATE TEMPORARY TABLE incoming_minute (LIKE verdict_minute)")  # as it makes it
        connection.execute(f"INSERT INTO incoming_minute ({names}) SELECT {', '.join(values[n] for n in kept)}")
        connection.execute(f"INSERT INTO verdict_minute ({names}) SELECT {names} FROM incoming_minute")
        counted = connection.execute(f"SELECT {', '.join(LATER_REASONS)}, heard FROM verdict_minute").fetchone()
        hour = connection.execute("SELECT total, heard FROM verdict_hour").fetchone()
    assert (counted, hour) == ((0,) * (len(LATER_REASONS) + 1), (1, 0))


def test_the_release_before_the_diagnoses_goes_on_writing(empty, empty_database, monkeypatch):
    migrate(empty)
    kept = tuple(name for name in rollup.COUNTS if name not in DIAGNOSES)
    for name in ("_UPSERT", "_UPSERT_HOURS", "_COPY"):
        monkeypatch.setattr(rollup, name, _without_diagnoses(getattr(rollup, name)))
    monkeypatch.setattr(minute_sums, "COUNTS", kept)
    monkeypatch.setattr("monitor.store.interaction.writer.ASSESSMENT_COLUMNS", rows.ASSESSMENT_COLUMNS[:-1])
    monkeypatch.setattr("monitor.store.interaction.writer.assessment_row", lambda a: rows.assessment_row(a)[:-1])
    writer = Writer(empty_database, clock, queue_key=QUEUE_KEY)
    writer.write(a_batch(an_assessment()))
    writer.write(a_batch(an_assessment(id="q-2")))
    writer.close()
    names = ", ".join(("total", *sorted(DIAGNOSES)))
    with empty.connect() as connection:
        for table in ("verdict_minute", "verdict_hour"):
            assert connection.execute(text(f"SELECT {names} FROM {table}")).all() == [(2, *[0] * len(DIAGNOSES))]
        assert connection.scalars(text("SELECT diagnosis FROM assessment")).all() == [None, None]


def _without_diagnoses(statement):
    for name in DIAGNOSES:
        for form in (f"sum({name}), ", f"{name} = v.{name} + excluded.{name}, ", f"{name}, "):
            statement = statement.replace(form, "")
    assert not any(name in statement for name in DIAGNOSES)
    return statement


def test_the_inbox_begins_behind_what_its_group_has_read_under_that_name(empty, empty_database):
    migrate(empty)
    with psycopg.connect(empty_database) as connection:
        connection.execute(
            "INSERT INTO consumer_offset (group_id, topic, partition, next_offset)"
            " VALUES ('monitor', 'otlp', 0, 7), ('monitor', 'otlp', 1, 9), ('other', 'http', 0, 9)"
        )
    downgrade(empty, "0027")
    migrate(empty)
    with psycopg.connect(empty_database) as connection:
        ends = connection.execute("SELECT * FROM inbox_end ORDER BY topic").fetchall()
    assert ends == [("http", 0, 0), ("otlp", 0, 7)]


def test_what_an_older_release_cannot_read_is_fatal_and_says_what_to_do(empty_database):
    writer = Writer(empty_database, clock, queue_key=QUEUE_KEY)
    with pytest.raises(Fatal, match="monitor migrate"):
        writer.write(a_batch(an_assessment()))
    writer.close()


def test_hours_are_filled_from_the_minutes_that_are_there(empty, empty_database):
    migrate(empty)
    downgrade(empty, "0006")
    names = [c.name for c in verdict_minute.columns if c.name not in {"heard", *USAGE, *DIAGNOSES}]
    ten = "array_fill(0::bigint, ARRAY[30]) || ARRAY[4::bigint, 6] || array_fill(0::bigint, ARRAY[8])"
    fixed = {"minute": "m", "app": "a", "environment": "'production'", "model": "''", "topic": "''"}
    values = (
        dict.fromkeys(names, "10") | fixed | {f"{m}_bins": ten for m in METRICS} | {f"{m}_sum": "5.4" for m in METRICS}
    )
    with psycopg.connect(empty_database, options="-c timezone=Asia/Kathmandu") as connection:
        connection.execute(f"""
            INSERT INTO verdict_minute ({", ".join(names)}) SELECT {", ".join(values[n] for n in names)}
            FROM unnest(ARRAY['a', 'b']) AS a,
                 generate_series('2026-01-01 10:58Z'::timestamptz, '2026-01-01 11:02Z', '1 minute') AS m
        """)
    migrate(empty)
    with psycopg.connect(empty_database, options="-c timezone=UTC") as connection:
        hours = connection.execute(
            "SELECT hour::text, app, total, missing_fact, qa_count, qa_sum, qa_squares FROM verdict_hour ORDER BY 1, 2"
        ).fetchall()
    spread = 10 * (0.4 * 0.6 * 0.05**2 + 0.54**2)  # of one minute: the bins' middles are 0.525 and 0.575
    assert hours == [
        (f"2026-01-01 {hour}:00:00+00", app, 10 * n, 10 * n, 10 * n, pytest.approx(5.4 * n), pytest.approx(spread * n))
        for hour, n in ((10, 2), (11, 3))
        for app in "ab"
    ]


def test_a_database_of_the_release_before_the_trimming_keeps_its_figures_there_and_back(empty, empty_database):
    migrate(empty)
    writer = Writer(empty_database, clock, queue_key=QUEUE_KEY)
    writer.write(a_batch(*(an_assessment(id=f"q-{n}", occurred_at=at(n), latency_ms=250.0 + n) for n in range(3))))
    writer.close()
    bins = (*(f"{metric}_bins" for metric in METRICS), "latency_bins")
    read = (
        "SELECT sum(bin_squares(qa_bins, qa_count, qa_sum)), sum_bins(latency_bins) FROM verdict_minute",
        "SELECT sum(qa_squares), sum_bins(latency_bins) FROM verdict_hour",
    )

    def figures():
        with empty.connect() as connection:
            return [
                (squares, [(place, n) for place, n in enumerate(counted) if n])
                for squares, counted in (connection.execute(text(query)).one() for query in read)
            ]

    def lengths():
        with empty.connect() as connection:
            query = f"SELECT DISTINCT {', '.join(f'cardinality({name})' for name in bins)} FROM verdict_minute"
            return connection.execute(text(query)).all()

    limits = []

    @event.listens_for(empty, "before_cursor_execute")
    def look(connection, _cursor, statement, *_):
        if statement.startswith("UPDATE verdict_"):
            limits.append(connection.connection.driver_connection.execute("SHOW statement_timeout").fetchone()[0])

    before = figures()
    downgrade(empty, "0038")
    assert limits == ["0"] * 3  # a year of minutes takes longer than a statement of an upgrade may
    assert lengths() == [(*[40] * len(METRICS), 152)]
    assert figures() == before
    migrate(empty)
    assert lengths() == [(*[40] * len(METRICS), 152)]  # nothing is rewritten while others wait
    assert figures() == before
    while trim_piece(empty, at(60)):
        pass
    assert lengths() == [(1,) * len(bins)]
    assert figures() == before
