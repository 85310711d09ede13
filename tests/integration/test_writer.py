"""The writer on a real server: partitions, the rollup, several writers at once, and a connection that dies."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Barrier

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql

from monitor.core.errors import Fatal, Retriable
from monitor.core.message import Offset
from monitor.core.model import (
    Document,
    Kind,
    Mark,
    Metrics,
    Origin,
    Reason,
    Refusal,
    RefusalKind,
    Scores,
    Support,
    SupportingDocument,
    Tally,
    TokenUsage,
    Verdict,
)
from monitor.privacy.redaction.redactor import redactor
from monitor.store import database as halted
from monitor.store.interaction import writer as writing
from monitor.store.interaction.queries import Queries
from monitor.store.interaction.rollup import MOST_VALUES, LabelCap
from monitor.store.interaction.writer import Writer
from monitor.store.tables.interactions import HISTOGRAM_BINS, METRICS, OTHER
from tests.factories.answers import NOON, a_batch, a_dead_letter, a_message, an_assessment, clock

FAR = frozenset({Mark.TIME_OUT_OF_RANGE})
OUT_OF_THE_WORLD = [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)]


@pytest.fixture
def lies_in(rows):
    """In which partition each interaction and assessment lies."""

    def found(table):
        return dict(rows(f"SELECT id, tableoid::regclass::text FROM {table}"))  # noqa: S608  our own table names

    return lambda: {id_: (partition, found("assessment")[id_]) for id_, partition in found("interaction").items()}


def write(writer, *assessments, **over):
    return writer.write(a_batch(*assessments, **over))


# --- partitions ---


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
    assert Queries(engine).explained("q-1")[0]["occurred_at"] == moment
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
    second = Writer(database, clock)
    write(second, an_assessment(id="2"))
    second.close()
    assert set(lies_in().values()) == {("interaction_2025_11", "assessment_2025_11")}


# --- wholly or not at all ---


@pytest.mark.parametrize(
    "table", ["consumer_offset", "interaction_key", "interaction", "verdict_minute", "dead_letter"]
)
def test_a_write_that_fails_anywhere_stores_nothing(writer, rows, table):
    write(writer, an_assessment(id="before"))
    kept = "interaction_key", "interaction", "assessment", "dead_letter", "consumer_offset", "rollup_label"
    everything = " UNION ALL ".join(f"SELECT '{name}', count(*) FROM {name}" for name in kept)  # noqa: S608
    everything += " UNION ALL SELECT 'counted', sum(total) FROM verdict_minute"
    before = rows(everything)
    rows(f"ALTER TABLE {table} RENAME TO hidden")
    batch = a_batch(
        an_assessment(id="a", app="new"),
        an_assessment(id="b", occurred_at=datetime(2026, 2, 1, tzinfo=UTC)),
        dead_letters=(a_dead_letter(),),
        offsets=(Offset(topic="t", partition=0, expected=None, next=5),),
    )
    with pytest.raises(Fatal):
        writer.write(batch)
    rows(f"ALTER TABLE hidden RENAME TO {table}")
    assert rows(everything) == before
    assert rows("SELECT to_regclass('interaction_2026_02')") == [(None,)]
    assert writer.write(batch) == Tally(received=3, assessed=2, dead=1)


def test_a_killed_connection_is_retriable_and_the_next_write_succeeds(writer, rows):
    write(writer, an_assessment(id="1"))
    for number in (2, 3):
        assert rows("SELECT pg_terminate_backend(%s, 10000)", writer._connection.info.backend_pid) == [(True,)]
        with pytest.raises(Retriable):
            write(writer, an_assessment(id=str(number)))
        assert write(writer, an_assessment(id=str(number))).assessed == 1
    assert rows("SELECT count(*), sum(total) FROM interaction, LATERAL (SELECT 1 AS total) AS one") == [(3, 3)]


def test_a_connection_killed_within_a_write_is_retriable_and_nothing_is_stored(writer, rows, monkeypatch):
    write(writer, an_assessment(id="1"))
    ensure = writer._partitions.ensure

    def killed(connection, interactions):
        ensure(connection, interactions)
        rows("SELECT pg_terminate_backend(%s, 10000)", connection.info.backend_pid)

    with monkeypatch.context() as patch:
        patch.setattr(writer._partitions, "ensure", killed)
        with pytest.raises(Retriable):
            write(writer, an_assessment(id="2"))
    assert rows("SELECT id FROM interaction_key") == [("1",)]
    assert write(writer, an_assessment(id="2")).assessed == 1


def test_a_batch_whose_commit_was_not_heard_of_is_not_stored_again(writer, rows, monkeypatch):
    """The connection dies between the commit and its acknowledgement; what a retry then finds is its own offset."""
    batch = a_batch(an_assessment(), offsets=(Offset(topic="t", partition=0, expected=None, next=5),))
    with monkeypatch.context() as patch:
        patch.setattr(writer, "_write", lambda given: (Writer._write(writer, given), lose())[0])

        def lose():
            raise psycopg.OperationalError("server closed the connection unexpectedly")

        with pytest.raises(Retriable):
            writer.write(batch)
    assert rows("SELECT next_offset FROM consumer_offset") == [(5,)]
    assert writer.write(batch).duplicate == 1
    assert rows("SELECT sum(total) FROM verdict_minute") == [(1,)]


def test_no_server_is_retriable():
    writer = Writer("postgresql://127.0.0.1:1/nothing", clock)
    with pytest.raises(Retriable):
        write(writer, an_assessment())
    writer.close()


def test_closing_twice_is_no_error(database):
    writer = Writer(database, clock)
    writer.close()
    write(writer, an_assessment())
    writer.close()
    writer.close()


# --- several at once ---


def test_two_writers_with_the_same_interactions_store_each_once(database, rows):
    """Many rounds of overlapping batches in differing order, with new months, labels and minutes in each."""
    writers, rounds, each = 2, 60, 40
    meet = Barrier(writers)

    def work(seed):
        chance = random.Random(seed)  # noqa: S311  repeatable
        writer, total = Writer(database, clock), Tally()
        for number in range(rounds):
            month = NOON + timedelta(days=31 * (number // 5))
            mine = [
                an_assessment(
                    id=f"{number}-{i}",
                    app=f"app {i % 5}",
                    model=f"model {number}-{i % 3}",
                    tags={"topic": f"topic {i % 7}"},
                    occurred_at=month + timedelta(minutes=i % 10),
                    marks=FAR if i % 11 == 0 else frozenset(),
                )
                for i in chance.sample(range(each), each * 3 // 4)
            ]
            meet.wait()  # so that both begin each round together
            letters = tuple(a_dead_letter(offset=number * 10 + i) for i in range(chance.randrange(3)))
            total += writer.write(a_batch(*mine, dead_letters=letters))
        writer.close()
        return total

    with ThreadPoolExecutor(writers) as pool:
        totals = list(pool.map(work, range(writers)))
    assert all(total.balanced for total in totals)
    ((stored,),) = rows("SELECT count(*) FROM interaction")
    assert sum(total.assessed for total in totals) == stored == rows("SELECT count(*) FROM interaction_key")[0][0]
    assert (
        rows("SELECT count(*) FROM assessment") == rows("SELECT sum(total)::bigint FROM verdict_minute") == [(stored,)]
    )
    assert rows("SELECT count(DISTINCT (app, id)) FROM interaction") == [(stored,)]


def test_two_readers_of_one_source_cannot_both_go_on(database, rows):
    first, second = Writer(database, clock), Writer(database, clock)
    offset = Offset(topic="t", partition=0, expected=None, next=5)
    meet = Barrier(2)

    def work(writer):
        meet.wait()
        try:
            return writer.write(a_batch(an_assessment(), offsets=(offset,))).assessed
        except Fatal as error:
            return type(error).__name__

    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(work, [first, second]))
    assert sorted(map(str, ends)) == ["1", "Fenced"]
    assert rows("SELECT count(*) FROM interaction") == [(1,)]
    first.close()
    second.close()


# --- the rollup ---

similarities = st.none() | st.integers(-66, 66).map(lambda n: n / 64)  # exact as REAL, some just beyond [-1, 1]
assessments = st.builds(
    an_assessment,
    app=st.sampled_from(["a", "b"]),
    environment=st.sampled_from(["production", "staging"]),
    model=st.sampled_from([None, "m"]),
    tags=st.sampled_from([{}, {"topic": "billing"}, {"topic": ""}, {"other": "x"}]),
    occurred_at=st.integers(0, 240).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    verdict=st.sampled_from(Verdict),
    reasons=st.lists(st.sampled_from(Reason), unique=True, max_size=4).map(tuple),
    metrics=st.builds(Metrics, **dict.fromkeys(METRICS, similarities)),
)
PLAIN = f"""
    SELECT date_trunc('minute', occurred_at, 'UTC'), app, i.environment, coalesce(i.model, ''),
           coalesce(i.tags ->> 'topic', ''), count(*),
           {", ".join(f"count(*) FILTER (WHERE verdict = '{v}')" for v in Verdict)},
           {", ".join(f"count(*) FILTER (WHERE '{r}' = ANY (reasons))" for r in Reason)},
           {", ".join(f"count({m})" for m in METRICS)},
           {", ".join(f"coalesce(sum({m}::float8), 0)" for m in METRICS)},
           {", ".join(f"array_agg({m}::float8) FILTER (WHERE {m} IS NOT NULL)" for m in METRICS)}
    FROM interaction AS i JOIN assessment USING (app, id, occurred_at) GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
"""  # noqa: S608  our own names
ROLLUP = f"""
    SELECT minute, app, environment, model, topic, total, {", ".join(Verdict)}, {", ".join(Reason)},
           {", ".join(f"{m}_count" for m in METRICS)}, {", ".join(f"{m}_sum" for m in METRICS)},
           {", ".join(f"{m}_bins" for m in METRICS)}
    FROM verdict_minute ORDER BY 1, 2, 3, 4, 5
"""  # noqa: S608


def histogram(values):
    """Bins of 0.05 over [-1, 1], each with its lower end; 1 is in the last."""
    places = Counter(min(max(int((value + 1) * 20 // 1), 0), HISTOGRAM_BINS - 1) for value in values or ())
    return [places[bin_] for bin_ in range(HISTOGRAM_BINS)]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(assessments, min_size=1, max_size=12), min_size=1, max_size=4))
def test_the_rollup_is_what_plain_sql_counts(writer, rows, batches):
    rows("TRUNCATE interaction_key, interaction, assessment, verdict_minute")
    for number, batch in enumerate(batches):
        fresh = [replace(a, interaction=replace(a.interaction, id=f"{number}-{i}")) for i, a in enumerate(batch)]
        write(writer, *fresh, *fresh[:2])  # a duplicate is not counted twice
    counted = len(("minute", "app", "environment", "model", "topic", "total", *Verdict, *Reason, *METRICS, *METRICS))
    plain = [(*row[:counted], *map(histogram, row[counted:])) for row in rows(PLAIN)]
    assert rows(ROLLUP) == plain


def test_a_histogram_has_a_place_for_every_similarity(writer, rows):
    ends = [-1.0, -0.99, -0.95, 0.0, 0.95, 0.999, 1.0, 1.0000002, -1.0000002]
    write(writer, *(an_assessment(id=str(v), metrics=Metrics(sdq=v, sdrd=v, sda=v, qrd=v, qa=v)) for v in ends))
    ((bins, counted),) = rows("SELECT qa_bins, qa_count FROM verdict_minute")
    assert counted == len(ends) == sum(bins)
    assert {place: n for place, n in enumerate(bins) if n} == {0: 3, 1: 1, 20: 1, 39: 4}


def test_labels_beyond_the_cap_are_counted_together(writer, rows):
    writer._labels = LabelCap({**MOST_VALUES, "topic": 2})
    for number in range(5):
        write(writer, an_assessment(id=str(number), tags={"topic": f"topic {number}"}))
    write(writer, an_assessment(id="known", tags={"topic": "topic 1"}), an_assessment(id="none"))
    assert dict(rows("SELECT topic, total FROM verdict_minute")) == {"topic 0": 1, "topic 1": 2, OTHER: 3, "": 1}
    assert rows("SELECT count(*) FROM interaction WHERE tags ->> 'topic' = 'topic 4'") == [(1,)]


def test_the_cap_holds_over_several_writers_and_restarts(database, rows):
    for run in range(3):
        writer = Writer(database, clock)
        writer._labels = LabelCap({**MOST_VALUES, "app": 2})
        write(writer, *(an_assessment(id=str(n), app=f"{run}-{n}") for n in range(3)))
        writer.close()
    assert rows("SELECT count(*) FROM rollup_label WHERE label = 'app'") == [(2,)]
    assert rows("SELECT sum(total)::bigint FROM verdict_minute WHERE app = %s", OTHER) == [(7,)]


def test_a_label_seen_before_is_known_however_many_came_since(writer, rows):
    writer._labels = LabelCap(dict.fromkeys(MOST_VALUES, 1))
    for number in range(100):
        write(writer, an_assessment(id=str(number), tags={"topic": f"topic {number}"}))
    assert rows("SELECT sum(total)::bigint FROM verdict_minute") == [(100,)]


def test_a_label_as_long_as_an_event_may_have_it_is_counted(writer, rows):
    """An index entry of Postgres holds 2,704 bytes, and what cannot be compressed takes its full length."""
    chance = random.Random(1)  # noqa: S311  repeatable

    def long(characters):
        return "".join(chr(chance.randrange(0x20000, 0x2A000)) for _ in range(characters))  # four bytes each

    it = an_assessment(
        id=long(512), app=long(128), environment=long(128), model=long(256), tags={"topic": long(1024)},
    )  # fmt: skip
    assert write(writer, it).assessed == 1
    assert rows("SELECT sum(total)::bigint FROM verdict_minute") == [(1,)]


# --- what is stored comes back ---

storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
names = storable.filter(bool)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | storable,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(storable, inner, max_size=3),
    max_leaves=5,
)
pieces = st.builds(
    SupportingDocument,
    text=storable,
    document_id=st.none() | names,
    start=st.none() | st.integers(0, 9),
    end=st.none() | st.integers(0, 9),
)
stored_interactions = st.fixed_dictionaries(
    {
        "app": names,
        "question": storable,
        "answer": storable,
        "retrieved_documents": st.lists(
            st.builds(
                Document,
                id=names,
                text=storable,
                score=st.none() | st.floats(-10, 10),
                source=st.none() | names,
                metadata=st.dictionaries(storable, json_values, max_size=3),
            ),
            max_size=3,
        ).map(tuple),
        "supporting_documents": st.none() | st.lists(pieces, max_size=2).map(tuple),
        "environment": names,
        "conversation_id": st.none() | names,
        "turn": st.none() | st.integers(0, 2**31 - 1),
        "reference_answer": st.none() | storable,
        "model": st.none() | names,
        "prompt_version": st.none() | names,
        "tags": st.dictionaries(storable, storable, max_size=3),
        "trace_id": st.none() | names,
        "latency_ms": st.none() | st.floats(0, 1e9),
        "usage": st.none() | st.builds(TokenUsage, input=st.none() | st.integers(0, 2**31 - 1), output=st.just(7)),
        "marks": st.frozensets(st.sampled_from(Mark)),
        "occurred_at": st.datetimes(
            datetime(1, 1, 1),  # noqa: DTZ001  hypothesis wants them so
            datetime(9999, 12, 31),  # noqa: DTZ001
            timezones=st.just(UTC),
        ),
    }
)


def as_json(piece):
    return {"document_id": piece.document_id, "start": piece.start, "end": piece.end, "text": piece.text}


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_fields=stored_interactions, support=st.lists(pieces, max_size=3).map(tuple))
def test_every_field_of_an_interaction_comes_back(writer, engine, rows, given_fields, support):
    rows("TRUNCATE interaction_key, interaction, assessment, verdict_minute, rollup_label")
    writer._labels.forget()
    given_fields = {**given_fields, "marks": given_fields["marks"] | FAR}  # any month would make a partition of its own
    written = an_assessment(**given_fields, support=Support(origin=Origin.LOGGED, documents=support))
    assert write(writer, written).assessed == 1
    (row,) = Queries(engine).explained("q-1", given_fields["app"])
    usage = given_fields.pop("usage")
    expected = given_fields | {
        "id": "q-1",
        "stored_at": NOON,
        "input_tokens": usage.input if usage else None,
        "output_tokens": usage.output if usage else None,
        "marks": sorted(given_fields["marks"]),
        "retrieved_documents": [
            {"id": d.id, "text": d.text}
            | ({} if d.score is None else {"score": d.score})
            | ({} if d.source is None else {"source": d.source})
            | ({"metadata": d.metadata} if d.metadata else {})
            for d in given_fields["retrieved_documents"]
        ],
        "supporting_documents": None
        if given_fields["supporting_documents"] is None
        else [as_json(p) for p in given_fields["supporting_documents"]],
        "support": {"origin": "logged", "documents": [as_json(p) for p in support]},
    }
    assert {name: row[name] for name in expected} == expected


def test_every_field_of_an_assessment_comes_back(writer, engine):
    joined = Metrics(sdq=0.5, sdrd=-0.25, sda=None, qrd=1.0, qa=0.0)
    maximum = Metrics(sdq=0.75, sdrd=0.1, sda=None, qrd=1.0, qa=0.0)
    written = an_assessment(
        verdict=Verdict.REFUSAL,
        rule_verdict=Verdict.SELF_GENERATED,
        reasons=(Reason.REFUSAL_WORDING, Reason.NO_SUPPORT),
        refusal=Refusal(kind=RefusalKind.PARTIAL, correct=True),
        scores=Scores(joined=joined, maximum=maximum, undefined={"sda": "no_support"}),
        metrics=joined,
        uncalibrated=False,
    )
    write(writer, written)
    (row,) = Queries(engine).explained("q-1")
    expected = {
        "profile_hash": "0123456789abcdef", "profile_name": "hash", "embedding_model": "hash/64", "verdict": "refusal",
        "rule_verdict": "self_generated", "reasons": ["refusal_wording", "no_support"], "refusal_kind": "partial",
        "refusal_correct": True, "p_grounded": 0.125, "p_refusal": 0.75, "p_self_generated": 0.125,
        "uncalibrated": False, "sdq": 0.5, "sdrd": -0.25, "sda": None, "qrd": 1.0, "qa": 0.0,
        "features": {
            "joined": {"sdq": 0.5, "sdrd": -0.25, "sda": None, "qrd": 1.0, "qa": 0.0},
            "maximum": {"sdq": 0.75, "sdrd": 0.1, "sda": None, "qrd": 1.0, "qa": 0.0},
            "undefined": {"sda": "no_support"},
        },
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected


@pytest.mark.parametrize("text", ["\ufffd", "a\ufffdb\ufffd", "\\.", "\\N", "\t\r\n\\t", "\x01\x7f\x85", "🙂 日本語"])
def test_odd_text_is_stored_as_it_is(writer, engine, text):
    write(writer, an_assessment(answer=text, question=text, tags={text: text}, model=text, app=text))
    (row,) = Queries(engine).explained("q-1", text)
    assert (row["answer"], row["question"], row["tags"], row["model"]) == (text, text, {text: text}, text)


def test_a_dead_letter_is_known_again_however_it_was_redacted_before(writer, rows):
    came = a_dead_letter(b"4111 1111 1111 1111 and a@b.example")
    for kinds in ((Kind.CARD,), (Kind.CARD, Kind.E_MAIL), ()):
        writer.write(a_batch(dead_letters=(redactor(kinds).dead_letter(came),)))
    assert rows("SELECT value FROM dead_letter") == [(b"[card] and a@b.example",)]


def test_every_field_of_a_dead_letter_is_kept(writer, rows):
    message = a_message(
        b"\x00\xff no \\N JSON", topic="answers.jsonl", offset=2**40, size=2**33, key=b"\x00key",
        headers=(("ce_id", b"\xff\x00"), ("ce_id", b""), ("x\0y", b"1")),
    )  # fmt: skip
    letter = a_dead_letter(message=message, path='tags["a\0\ud800"]', problem="is \udfff wrong")
    write(writer, dead_letters=(letter,))
    ((*found, digest),) = rows(
        "SELECT topic, partition, position, received_at, key, header_names, header_values, value, size, path, problem,"
        " encode(digest, 'hex') FROM dead_letter"
    )
    assert found == [
        "answers.jsonl", 0, 2**40, NOON, b"\x00key", ["ce_id", "ce_id", "x\ufffdy"], [b"\xff\x00", b"", b"1"],
        b"\x00\xff no \\N JSON", 2**33, 'tags["a\ufffd\ufffd"]', "is \ufffd wrong",
    ]  # fmt: skip
    assert len(digest) == 64


def test_the_writer_needs_no_privilege_beyond_the_tables_own(database):
    """Nothing that it runs asks for a superuser: a plain owner of the tables can write, new months included."""
    with psycopg.connect(database, autocommit=True) as admin:
        name = f"owner_{admin.info.backend_pid}"
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        try:
            for kind, found in (("TABLE", "pg_class WHERE relkind IN ('r', 'p')"), ("FUNCTION", "pg_proc WHERE true")):
                column = "oid::regclass" if kind == "TABLE" else "oid::regprocedure"
                names = admin.execute(
                    f"SELECT {column}::text FROM {found} AND "  # noqa: S608  our own names
                    f"{'rel' if kind == 'TABLE' else 'pro'}namespace = 'public'::regnamespace"
                ).fetchall()
                for (one,) in names:
                    admin.execute(f"ALTER {kind} {one} OWNER TO {name}")
            admin.execute(f"GRANT CREATE ON SCHEMA public TO {name}")
            writer = Writer(database.replace("postgres:", f"{name}:", 1), clock)
            assert write(writer, an_assessment()).assessed == 1
            writer.close()
            sessions = "SELECT count(*) FROM pg_stat_activity WHERE usename = %s"
            for _ in range(1000):  # the server takes a moment to clear up a session whose client is gone
                if admin.execute(sessions, [name]).fetchone() == (0,):
                    break
        finally:
            admin.execute(f"REASSIGN OWNED BY {name} TO CURRENT_USER")
            admin.execute(f"DROP OWNED BY {name}")
            admin.execute(f"DROP ROLE {name}")


# --- halted readers ---


def test_a_transaction_that_was_halted_in_a_copy_is_ended_by_who_waits_for_it(database, monkeypatch, rows):
    monkeypatch.setattr(halted, "HALTED", 0.1)
    monkeypatch.setitem(writing._PATIENCE, "options", "-c timezone=UTC -c lock_timeout=300ms")
    offset = Offset(topic="rag", partition=0, expected=None, next=1)
    writer = Writer(database, clock)
    write(writer, an_assessment(id="a"), offsets=(offset,))
    following = replace(offset, expected=1, next=2)
    with closing(psycopg.connect(database)) as stopped:
        stopped.execute("UPDATE consumer_offset SET next_offset = 2")
        stopped.pgconn.exec_(b"COPY profile (hash) FROM STDIN")  # and not a word more
        with pytest.raises(Retriable, match="lock timeout"):
            write(writer, an_assessment(id="b"), offsets=(following,))
        assert write(writer, an_assessment(id="b"), offsets=(following,)).assessed == 1
    writer.close()
    assert rows("SELECT next_offset FROM consumer_offset") == [(2,)]


def test_a_transaction_that_goes_on_is_waited_for(database, monkeypatch):
    monkeypatch.setitem(writing._PATIENCE, "options", "-c timezone=UTC -c lock_timeout=100ms")
    offset = Offset(topic="rag", partition=0, expected=None, next=1)
    writer = Writer(database, clock)
    write(writer, an_assessment(id="a"), offsets=(offset,))
    with psycopg.connect(database) as busy:
        busy.execute("UPDATE consumer_offset SET next_offset = 2")
        for _ in range(2):
            with pytest.raises(Retriable, match="lock timeout"):
                write(writer, an_assessment(id="b"), offsets=(replace(offset, expected=1, next=2),))
        busy.rollback()
    writer.close()
