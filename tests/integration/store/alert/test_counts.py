"""The counts of alert rules, from rows that the writer made, compared with the answers themselves."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.alert.signal import MEANS, Signal, SignalKind
from monitor.alert.target import HourSums
from monitor.alert.window import HOUR, MINUTE, Count, Counts, Span, interval
from monitor.core.errors import Retriable
from monitor.core.message import Position
from monitor.core.model import Metrics, Reason, Unscored, Verdict
from monitor.store.alert.counts import SpanCounts
from monitor.store.database import connect
from monitor.store.interaction.minute_sums import CountedAssessment
from monitor.store.ledger.ledger import LONGEST_SOURCE, source_of
from monitor.store.tables.interactions import OTHER
from tests.factories.answers import NOON, a_batch, a_dead_letter, an_assessment, an_interaction, at

NEGATIVE = Signal(kind=SignalKind.RATE, name="negative")
NO_DATA = Signal(kind=SignalKind.NO_DATA)
DEAD = Signal(kind=SignalKind.DEAD_LETTERS)
UNSCORED = Signal(kind=SignalKind.UNSCORED)


@pytest.fixture
def counts(engine):
    return SpanCounts(engine).counts


def written(writer, *answers):
    """Stores answers given as (minutes after noon, differing fields)."""
    numbered = enumerate(answers)
    writer.write(
        a_batch(*(an_assessment(id=f"q-{i}", occurred_at=at(minute), **over) for i, (minute, over) in numbered))
    )


def span(start, end):
    """Minutes after noon."""
    return Span(start=at(start), end=at(end))


def bad(total, matching):
    return Count(total=total, sum=matching, squares=matching)


def test_without_labels_there_is_one_count_of_each_span_also_of_nothing(counts):
    assert counts(NEGATIVE, {}, (), [span(0, 5), span(5, 10)]) == [Counts(labels={}, counts=(Count(), Count()))]


def test_with_labels_nothing_is_counted_under_none(counts):
    assert counts(NEGATIVE, {}, ("app",), [span(0, 5)]) == []


def test_spans_are_half_open_and_may_overlap(counts, writer):
    written(writer, (0, {"verdict": Verdict.REFUSAL}), (4.9, {}), (5, {"verdict": Verdict.SELF_GENERATED}))
    (one,) = counts(NEGATIVE, {}, (), [span(0, 5), span(5, 6), span(0, 6), span(6, 9)])
    assert one.counts == (bad(2, 1), bad(1, 1), bad(3, 2), bad(0, 0))


def test_a_combination_that_occurs_in_one_span_has_zeros_in_the_others(counts, writer):
    written(writer, (0, {"app": "shop"}), (60, {"app": "bank", "verdict": Verdict.REFUSAL}))
    assert counts(NEGATIVE, {}, ("app",), [span(0, 1), span(60, 61)]) == [
        Counts(labels={"app": "bank"}, counts=(bad(0, 0), bad(1, 1))),
        Counts(labels={"app": "shop"}, counts=(bad(1, 0), bad(0, 0))),
    ]


def test_a_selector_chooses_by_several_labels_each_with_several_values(counts, writer):
    apps = [("shop", "m-1"), ("shop", "m-2"), ("bank", "m-1"), ("news", "m-1")]
    written(writer, *((0, {"app": app, "model": model}) for app, model in apps))
    chosen = {"app": ("shop", "bank"), "model": ("m-1",), "topic": ()}
    assert [c.labels for c in counts(NO_DATA, chosen, ("app", "model"), [span(0, 1)])] == [
        {"app": "bank", "model": "m-1"},
        {"app": "shop", "model": "m-1"},
    ]


@pytest.mark.parametrize("name", [*Verdict, *Reason])
def test_every_verdict_and_reason_has_a_rate(counts, writer, name):
    over = {"verdict": name} if name in set(Verdict) else {"verdict": Verdict.REFUSAL, "reasons": (Reason(name),)}
    other = Verdict.GROUNDED if over["verdict"] is not Verdict.GROUNDED else Verdict.REFUSAL
    written(writer, (0, over), (1, {"verdict": other}), (90, over))
    spans = [span(0, 2), span(0, 180), span(60, 120)]
    (found,) = counts(Signal(kind=SignalKind.RATE, name=name), {}, (), spans)
    assert found.counts == (bad(2, 1), bad(3, 2), bad(1, 1))


def test_no_data_counts_answers_alone(counts, writer):
    written(writer, (0, {}), (1, {"verdict": Verdict.REFUSAL}))
    (found,) = counts(NO_DATA, {}, (), [span(0, 2)])
    assert found.counts == (Count(total=2),)


@pytest.mark.parametrize("name", MEANS)
def test_a_mean_is_of_the_answers_that_have_the_metric(counts, writer, name):
    metrics = {"sdq": 0.5, "sdrd": 0.5, "sda": 0.5, "qrd": 0.5, "qa": 0.5}
    pairs = [{**metrics, name: value} for value in (0.25, 0.75, None)]
    written(writer, *((minute, {"metrics": Metrics(**pair)}) for minute, pair in enumerate(pairs)))
    (found,) = counts(Signal(kind=SignalKind.MEAN, name=name), {}, (), [span(0, 60), span(0, 3)])
    hour, minutes = found.counts
    assert (hour.total, hour.sum, hour.squares) == (2, 1.0, 0.25**2 + 0.75**2)
    assert (minutes.total, minutes.sum, minutes.squares) == (2, 1.0, pytest.approx(0.25**2 + 0.75**2))


def test_the_spread_of_a_mean_from_minutes_is_that_of_the_answers_to_a_bins_width(counts, writer):
    values = [i / 64 for i in range(-32, 64)]  # which a REAL keeps exactly
    written(writer, *((i % 7, {"metrics": Metrics(sdq=v, sdrd=v, sda=v, qrd=v, qa=v)}) for i, v in enumerate(values)))
    (found,) = counts(Signal(kind=SignalKind.MEAN, name="sda"), {}, (), [span(0, 7), span(0, 60)])
    minutes, hour = (interval(count, share=False) for count in found.counts)
    assert minutes == pytest.approx(hour, abs=0.001)
    assert minutes[0] < sum(values) / len(values) < minutes[1]


def test_the_spread_of_equal_values_is_none_wherever_they_lie_in_their_bin(counts, writer):
    for number, value in enumerate([0.5, 0.51, 0.549]):
        same = Metrics(sdq=value, sdrd=value, sda=value, qrd=value, qa=value)
        writer.write(
            a_batch(*(an_assessment(id=f"{number}-{i}", occurred_at=at(number), metrics=same) for i in range(9)))
        )
        (found,) = counts(Signal(kind=SignalKind.MEAN, name="sda"), {}, (), [span(number, number + 1)])
        lower, upper = interval(found.counts[0], share=False)
        assert upper - lower < 1e-6
        assert lower == pytest.approx(value, abs=1e-6)


def test_a_state_of_now_is_not_counted(counts):
    with pytest.raises(ValueError, match="lag is momentary"):
        counts(Signal(kind=SignalKind.LAG), {}, (), [span(0, 1)])


@pytest.mark.parametrize("number", [1_500, 700])
def test_as_many_spans_as_rules_want(counts, writer, number):
    length = MINUTE if number == 1_500 else HOUR
    first = Span(start=NOON - number * length, end=NOON - (number - 1) * length)
    written(writer, *((-i, {"verdict": Verdict.REFUSAL}) for i in (1, 61, 1_400)))
    (found,) = counts(NEGATIVE, {}, (), [first.back(-i * length) for i in range(number)])
    ago = [number - i for i, count in enumerate(found.counts) if count.total]
    assert ago == ([1_400, 61, 1] if length is MINUTE else [24, 2, 1])
    assert sum(count.sum for count in found.counts) == 3


minutes = st.integers(-150, 350)
answers = st.lists(
    st.tuples(minutes, st.sampled_from(["shop", "bank"]), st.sampled_from(["", "m-1"]), st.sampled_from(Verdict)),
    max_size=30,
)
spans = st.lists(st.tuples(minutes, st.integers(1, 300)), min_size=1, max_size=6)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers=answers, spans=spans, by=st.sets(st.sampled_from(["app", "model"])).map(sorted))
def test_every_split_into_hours_and_minutes_counts_each_answer_once(counts, writer, rows, answers, spans, by):
    rows("TRUNCATE interaction_key, interaction, assessment, verdict_minute, verdict_hour")
    written(writer, *((m, {"app": app, "model": model, "verdict": v}) for m, app, model, v in answers))
    asked = [span(start, start + length) for start, length in spans]
    expected = defaultdict(lambda: [[0, 0] for _ in asked])
    for minute, app, model, verdict in answers:
        for place, (start, length) in enumerate(spans):
            if start <= minute < start + length:
                cell = expected[tuple({"app": app, "model": model}[label] for label in by)][place]
                cell[0] += 1
                cell[1] += verdict is not Verdict.GROUNDED
    if not by:
        expected[()]
    assert {
        tuple(c.labels.values()): [[x.total, x.sum] for x in c.counts] for c in counts(NEGATIVE, {}, by, asked)
    } == (dict(expected))


def test_no_database_is_retriable():
    engine = connect("postgresql://127.0.0.1:1/nothing")
    with pytest.raises(Retriable):
        SpanCounts(engine).counts(NEGATIVE, {}, (), [span(0, 1)])
    engine.dispose()


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers=answers, by=st.sets(st.sampled_from(["app", "model"])).map(sorted), app=st.sampled_from(["", "shop"]))
def test_sums_over_hours_are_those_of_the_hours_counted_one_by_one(engine, writer, rows, answers, by, app):
    rows("TRUNCATE interaction_key, interaction, assessment, verdict_minute, verdict_hour")
    written(writer, *((m, {"app": app, "model": model, "verdict": v}) for m, app, model, v in answers))
    store, chosen = SpanCounts(engine), {"app": (app,)} if app else {}
    hours = [span(60 * hour, 60 * hour + 60) for hour in range(-2, 4)]
    one_by_one = [HourSums.of(c.labels, c.counts) for c in store.counts(NEGATIVE, chosen, by, hours)]
    found = store.hour_sums(NEGATIVE, chosen, by, span(-120, 240))
    assert found == [sums for sums in one_by_one if sums.hours]


@pytest.mark.parametrize("signal", [NO_DATA, Signal(kind=SignalKind.MEAN, name="sda"), DEAD], ids=str)
def test_every_signal_that_is_counted_has_sums_over_hours(engine, writer, signal):
    position = {"position": at_place("rag", 1)}
    written(writer, *((m, {"metrics": Metrics(sdq=0.5, sdrd=0.5, sda=0.25, qrd=0.5, qa=0.5)}) for m in (0, 1, 61)))
    writer.write(a_batch(an_assessment(id="placed", occurred_at=at(2), **position)))
    store, hours = SpanCounts(engine), [span(0, 60), span(60, 120)]
    (counted,) = store.counts(signal, {}, (), hours)
    assert counted.counts[0].total
    assert store.hour_sums(signal, {}, (), span(0, 120)) == [HourSums.of({}, counted.counts)]


def test_a_state_of_now_has_no_sums_over_hours(engine):
    with pytest.raises(ValueError, match="lag is momentary"):
        SpanCounts(engine).hour_sums(Signal(kind=SignalKind.LAG), {}, (), span(0, 60))


# the hours

HOURS = """
    SELECT date_trunc('hour', minute, 'UTC'), app, environment, model, topic, sum(total)::bigint, sum(refusal)::bigint,
           sum(missing_fact)::bigint, sum(heard)::bigint, sum(qa_count)::bigint, sum(qa_sum),
           sum(bin_squares(qa_bins, qa_count, qa_sum))
    FROM verdict_minute GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
"""
KEPT = """
    SELECT hour, app, environment, model, topic, total, refusal, missing_fact, heard, qa_count, qa_sum, qa_squares
    FROM verdict_hour ORDER BY 1, 2, 3, 4, 5
"""


def hours_are_the_sums_of_minutes(rows, *, within=0.02):
    """`within` is the tolerance of a square per answer, which the width of a bin leaves open."""
    minutes, hours = rows(HOURS), rows(KEPT)
    assert [row[:-2] for row in hours] == [row[:-2] for row in minutes]
    for hour, minute in zip(hours, minutes, strict=True):
        assert hour[-2] == pytest.approx(minute[-2])
        assert hour[-1] == pytest.approx(minute[-1], abs=within * max(1, hour[-3]))
    return len(hours)


def test_hours_are_kept_with_the_minutes(writer, rows):
    written(writer, *((m, {"app": app, "verdict": v}) for m in (-1, 0, 59, 60) for app in "ab" for v in Verdict))
    assert hours_are_the_sums_of_minutes(rows) == 6


def test_what_is_revised_is_taken_out_of_its_hour(writer, rows):
    first = an_assessment(verdict=Verdict.SELF_GENERATED)
    writer.write(a_batch(first))
    with writer.transaction() as connection:
        writer.recount(connection, before=[first], after=[replace(first, verdict=Verdict.GROUNDED)])
    assert rows("SELECT total, grounded, self_generated FROM verdict_hour") == [(1, 1, 0)]
    hours_are_the_sums_of_minutes(rows)


@pytest.mark.parametrize("given", [Verdict.SELF_GENERATED, Verdict.GROUNDED])
def test_rules_count_a_verdict_as_first_given_whatever_the_judge_says_of_it(engine, counts, writer, rows, given):
    first = an_assessment(verdict=given)
    writer.write(a_batch(first, an_assessment(id="refused", verdict=Verdict.REFUSAL)))
    signals = [Signal(kind=SignalKind.RATE, name=name) for name in ("negative", *Verdict)]
    asked = [span(0, 1), span(0, 60)]

    def read():
        whole = [SpanCounts(engine).hour_sums(signal, {}, (), span(0, 60)) for signal in signals]
        return [counts(signal, {}, (), asked) for signal in signals], whole

    before = read()
    now, turned = (Verdict.GROUNDED, -1) if given.negative else (Verdict.SELF_GENERATED, 1)
    stood = CountedAssessment(interaction=first.interaction, verdict=given, reasons=(), metrics=first.metrics)
    with writer.transaction() as connection:
        writer.recount(connection, before=[stood], after=[replace(stood, verdict=now, heard=turned)])
    assert rows("SELECT self_generated, heard FROM verdict_hour") == [(int(now.negative), turned)]
    assert read() == before
    hours_are_the_sums_of_minutes(rows)


def test_an_hour_is_that_of_utc_whatever_zone_the_session_has(database, writer, rows):
    written(writer, (45, {}))
    with psycopg.connect(database, options="-c timezone=Asia/Kathmandu") as connection:  # 5:45 ahead
        connection.execute(
            "INSERT INTO verdict_minute SELECT (v).* FROM (SELECT v FROM verdict_minute v) x"
            " ON CONFLICT (minute, app, environment, model, topic) DO UPDATE SET total = 2"
        )
    assert rows("SELECT hour, total FROM verdict_hour") == [(NOON, 2)]


OLD = "minute, app, environment, model, topic"


def test_what_the_previous_release_writes_is_added_to_the_hours(database, writer, rows):
    """The previous release upserts minutes only; here both write the same minute, and each writes one of its own."""
    answers = [(m, {"app": app, "verdict": Verdict.REFUSAL}) for m in (0, 0, 1, 61) for app in "ab"]
    written(writer, *answers)
    before = rows("SELECT total FROM verdict_hour ORDER BY hour, app")
    upsert = f"""
        INSERT INTO verdict_minute AS v
        SELECT (jsonb_populate_record(m, jsonb_build_object('minute', m.minute + %s::interval))).*
        FROM verdict_minute AS m ORDER BY {OLD}
        ON CONFLICT ({OLD}) DO UPDATE SET total = v.total + excluded.total, refusal = v.refusal + excluded.refusal,
        qa_count = v.qa_count + excluded.qa_count, qa_sum = v.qa_sum + excluded.qa_sum,
        qa_bins = add_bins(v.qa_bins, excluded.qa_bins)
    """
    with psycopg.connect(database) as connection:
        connection.execute(upsert, (timedelta(minutes=1),))  # 0 → 1 is there, 1 → 2 and 61 → 62 are new
    assert [
        after > old
        for (after,), (old,) in zip(rows("SELECT total FROM verdict_hour ORDER BY hour, app"), before, strict=True)
    ] == [True] * 4
    assert hours_are_the_sums_of_minutes(rows) == 4
    writer.write(a_batch(an_assessment(id="later")))
    hours_are_the_sums_of_minutes(rows)


# what arrived


def arrived(counts, *, by=("source",), start=NOON):
    found = counts(DEAD, {}, by, [Span(start=start, end=start + MINUTE)])
    return {tuple(c.labels.values()): (c.counts[0].total, c.counts[0].sum) for c in found}


def at_place(topic, offset):
    return Position(topic=topic, partition=0, offset=offset)


def test_messages_are_counted_by_the_minute_of_their_arrival_and_their_source(counts, writer):
    old = [an_assessment(id=f"q-{i}", occurred_at=NOON - HOUR, position=at_place("rag", i)) for i in range(3)]
    dead = [a_dead_letter(topic="rag", offset=7), a_dead_letter(topic="other", offset=8)]
    writer.write(a_batch(*old, dead_letters=tuple(dead)))
    assert arrived(counts) == {("rag",): (4, 1), ("other",): (1, 1)}
    assert arrived(counts, by=()) == {(): (5, 2)}
    assert arrived(counts, start=NOON - HOUR) == {}


def test_what_comes_again_has_arrived_again_but_is_not_dead_again(counts, writer):
    batch = a_batch(an_assessment(position=at_place("rag", 1)), dead_letters=(a_dead_letter(topic="rag", offset=2),))
    writer.write(batch)
    writer.write(batch)
    assert arrived(counts) == {("rag",): (4, 1)}


def test_a_followed_file_is_counted_under_its_path():
    assert source_of("/var/log/rag.jsonl#1234-0123456789abcdef") == "/var/log/rag.jsonl"
    assert source_of("/var/log/rag#2.jsonl") == "/var/log/rag#2.jsonl"
    assert source_of("x" * (LONGEST_SOURCE + 1)) == OTHER


def test_answers_that_came_in_no_message_have_not_arrived(counts, writer):
    writer.write(a_batch(an_assessment()))
    assert arrived(counts) == {}


def test_arrivals_are_in_the_batchs_transaction(writer, rows):
    rows("ALTER TABLE ingest_minute ADD CONSTRAINT none CHECK (received < 0)")
    with pytest.raises(Exception, match="none"):
        writer.write(a_batch(an_assessment(position=at_place("rag", 1))))
    assert rows("SELECT count(*) FROM interaction") == rows("SELECT count(*) FROM verdict_hour") == [(0,)]


def test_the_share_of_unscored_turns_is_of_all_turns_by_app_and_environment(writer, counts, engine):
    written(writer, (1, {}), (2, {"app": "other"}), (61, {}))
    turns = [
        an_interaction(id=f"u-{minute}-{app}", app=app, occurred_at=at(minute), unscored=Unscored.NO_RETRIEVAL)
        for minute, app in ((1, "support-bot"), (3, "support-bot"), (62, "support-bot"), (3, "third"))
    ]
    writer.write(a_batch(unscored=tuple(turns), received=4))
    found = counts(UNSCORED, {}, ("app",), [span(0, 5), span(0, 120)])
    assert {one.labels["app"]: one.counts for one in found} == {
        "other": (bad(1, 0), bad(1, 0)),
        "support-bot": (bad(3, 2), bad(5, 3)),
        "third": (bad(1, 1), bad(1, 1)),
    }
    assert counts(UNSCORED, {"environment": ("production",)}, (), [span(0, 120)])[0].counts == (bad(7, 4),)
    (sums,) = SpanCounts(engine).hour_sums(UNSCORED, {"app": ("support-bot",)}, (), span(0, 120))
    assert (sums.hours, sums.total, sums.sum) == (2, 5, 3)
