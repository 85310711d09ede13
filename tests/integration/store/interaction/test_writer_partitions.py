"""The writer's month partitions on a real server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from monitor.core.errors import Fatal
from monitor.store.interaction.assessments import AssessmentQueries
from monitor.store.interaction.writer import Writer
from tests.factories.answers import an_assessment, clock
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.writing import FAR, write

OUT_OF_THE_WORLD = [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)]


@pytest.fixture
def lies_in(rows):
    """The partition of each interaction and assessment."""

    def found(table):
        return dict(rows(f"SELECT id, tableoid::regclass::text FROM {table}"))

    return lambda: {id_: (partition, found("assessment")[id_]) for id_, partition in found("interaction").items()}


def test_each_month_has_its_partition(writer, lies_in):
    write(
        writer,
        an_assessment(id="first", occurred_at=datetime(2025, 11, 1, tzinfo=UTC)),
        an_assessment(id="last", occurred_at=datetime(2025, 11, 30, 23, 59, 59, 999_999, tzinfo=UTC)),
        an_assessment(id="new year", occurred_at=datetime(2026, 1, 1, tzinfo=UTC)),
        an_assessment(id="old year", occurred_at=datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC)),
        an_assessment(id="leap", occurred_at=datetime(2024, 2, 29, 12, tzinfo=UTC)),
    )
    assert lies_in() == {
        "first": ("interaction_2025_11", "assessment_2025_11"),
        "last": ("interaction_2025_11", "assessment_2025_11"),
        "old year": ("interaction_2025_12", "assessment_2025_12"),
        "new year": ("interaction_2026_01", "assessment_2026_01"),
        "leap": ("interaction_2024_02", "assessment_2024_02"),
    }


def test_a_partition_is_indexed_like_its_table(writer, rows):
    write(writer, an_assessment())

    def indexes(table):
        found = rows("SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = %s::regclass", table)
        return sorted(definition.split(" USING ")[1] for (definition,) in found)

    assert indexes("interaction_2025_11") == indexes("interaction") != []
    assert indexes("assessment_2025_11") == indexes("assessment") != []


def test_a_row_out_of_range_goes_to_the_default_partition(writer, lies_in):
    write(writer, an_assessment(id="far", occurred_at=datetime(1999, 5, 4, tzinfo=UTC), marks=FAR))
    assert lies_in() == {"far": ("interaction_default", "assessment_default")}


@pytest.mark.parametrize("moment", OUT_OF_THE_WORLD, ids=lambda moment: f"year {moment.year}")
def test_the_first_and_the_last_year_are_kept_as_they_are(writer, engine, lies_in, rows, moment):
    assert write(writer, an_assessment(occurred_at=moment, marks=FAR)).assessed == 1
    assert lies_in() == {"q-1": ("interaction_default", "assessment_default")}
    assert AssessmentQueries(engine).with_assessments("q-1")[0]["occurred_at"] == moment
    assert rows("SELECT minute FROM verdict_minute") == [(moment.replace(second=0, microsecond=0),)]


def test_rows_in_the_default_partition_move_when_their_month_gets_its_own(writer, lies_in):
    september = datetime(2031, 9, 30, 23, 59, tzinfo=UTC)
    write(
        writer,
        an_assessment(id="far", occurred_at=september, marks=FAR),
        an_assessment(id="next month", occurred_at=september + timedelta(minutes=1), marks=FAR),
    )
    write(writer, an_assessment(id="in range", occurred_at=datetime(2031, 9, 1, tzinfo=UTC)))
    assert lies_in() == {
        "far": ("interaction_2031_09", "assessment_2031_09"),
        "in range": ("interaction_2031_09", "assessment_2031_09"),
        "next month": ("interaction_default", "assessment_default"),
    }


def test_rows_move_however_long_that_takes_and_then_statements_are_limited_again(writer, lies_in, rows):
    """A clock that was ahead for days leaves more rows than can be moved in the time that a statement may take."""
    october = datetime(2031, 10, 2, tzinfo=UTC)
    write(writer, an_assessment(id="far", occurred_at=october, marks=FAR))
    rows("""
        CREATE FUNCTION limited() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF current_setting('statement_timeout') <> TG_ARGV[0] THEN
                RAISE query_canceled USING MESSAGE = 'the limit is ' || current_setting('statement_timeout');
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER moving AFTER DELETE ON interaction_default FOR EACH STATEMENT EXECUTE FUNCTION limited('0');
        CREATE TRIGGER after AFTER INSERT ON verdict_minute FOR EACH STATEMENT EXECUTE FUNCTION limited('20s')
    """)
    assert write(writer, an_assessment(id="in range", occurred_at=october)).assessed == 1
    assert lies_in()["far"] == ("interaction_2031_10", "assessment_2031_10")


def test_a_batch_may_hold_both_kinds_of_one_month(writer, lies_in):
    moment = datetime(2031, 9, 5, tzinfo=UTC)
    write(writer, an_assessment(id="far", occurred_at=moment, marks=FAR), an_assessment(id="near", occurred_at=moment))
    assert lies_in() == dict.fromkeys(["far", "near"], ("interaction_2031_09", "assessment_2031_09"))


def test_a_partition_that_was_rolled_back_is_made_again(writer, lies_in, rows):
    rows("ALTER TABLE assessment RENAME TO hidden")
    with pytest.raises(Fatal):
        write(writer, an_assessment())
    rows("ALTER TABLE hidden RENAME TO assessment")
    write(writer, an_assessment())
    assert lies_in() == {"q-1": ("interaction_2025_11", "assessment_2025_11")}


def test_a_partition_that_another_writer_made_is_used(database, writer, lies_in):
    write(writer, an_assessment(id="1"))
    second = Writer(database, clock, queue_key=QUEUE_KEY)
    write(second, an_assessment(id="2"))
    second.close()
    assert set(lies_in().values()) == {("interaction_2025_11", "assessment_2025_11")}
