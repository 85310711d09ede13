"""Dead letters found, retried and purged on a real server; the ledger balances whatever happens, in whatever order."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier, BrokenBarrierError, Event

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.app.deadletters import Retried, check_known, purge_all, retry
from monitor.app.wiring.application import Application
from monitor.core.errors import Retriable, WrongSettings
from monitor.core.message import Offset, Position, Skip
from monitor.core.settings.load import load_settings
from monitor.ingest.decode import Decoder
from monitor.store.deadletters.dead_letters import Amount, DeadLetters, Wanted, purge, settle
from monitor.store.interaction.writer import Writer
from monitor.store.ledger.ledger import Ledger
from tests.factories.answers import NOON, a_batch, a_dead_letter, a_message, an_assessment, at, clock

TOPIC = "answers"
STRICT, TODAY = Decoder(max_text_chars=30), Decoder()  # a long answer was a dead letter before the limit was raised


@pytest.fixture
def letters(engine):
    return DeadLetters(engine)


@pytest.fixture
def application(database):
    with Application(load_settings(database_url=database, embedding={"provider": "hash"}), now=clock) as application:
        yield application


def an_event(id_, answer="Yes."):
    return json.dumps({"id": id_, "question": "Q?", "retrieved_documents": ["D."], "answer": answer}).encode()


def mendable(id_):
    return an_event(id_, "An answer that is longer than thirty characters.")


def assessed(interactions):
    return [replace(an_assessment(), interaction=it) for it in interactions]


def consume(writer, log, *, first=0, expected=None, partition=0, decoder=STRICT):
    """Writes a batch as a reader of Kafka would: `log` has a message or a reason for none at each offset from `first`.

    Returns how far that went.
    """
    messages = [
        a_message(value, position=Position(topic=TOPIC, partition=partition, offset=n), headers=(("h", b"\xff"),))
        for n, value in enumerate(log, first) if isinstance(value, bytes)
    ]  # fmt: skip
    interactions, dead = decoder.decode_batch(messages)
    offset = Offset(
        topic=TOPIC, partition=partition, expected=expected, begin=first, next=first + len(log),
        received=len(messages), skipped=Counter(entry for entry in log if isinstance(entry, Skip)),
    )  # fmt: skip
    writer.write(a_batch(*assessed(interactions), dead_letters=tuple(dead), offsets=(offset,)))
    return offset.next


def retried(writer, letters, ids, decoder=TODAY):
    """One batch of a retry, as `monitor.app.deadletters` puts it together."""
    found = letters.open_letters(ids)
    interactions, dead = decoder.decode_batch([letter.message for letter in found])
    why = {id(d.message): d for d in dead}
    alive = [letter for letter in found if id(letter.message) not in why]
    still = [(letter, why[id(letter.message)]) for letter in found if id(letter.message) in why]
    return settle(writer, list(zip(alive, assessed(interactions), strict=True)), still, NOON)


def in_balance(engine):
    rows, recounted = Ledger(engine).read(recount=True)
    wrong = [row for row in rows if not row.balanced] + [one for one in recounted if not one.balanced]
    assert wrong == []
    return {(row.group, row.topic, row.partition): dict(+Counter(row.counts)) for row in rows}


def ids_of(letters, **wanted):
    return letters.page(Wanted(**wanted), after=0, last=2**62, most=10_000, most_bytes=2**30)


# --- found ---


def test_letters_are_found_by_topic_problem_time_and_state(writer, letters, rows):
    for n, (topic, problem) in enumerate([("a", "is 100% WRONG"), ("/x/a#b.jsonl#7-ff", "is wrong"), ("b", "is 100x")]):
        letter = a_dead_letter(b"%d" % n, topic=topic, received_at=at(n), problem=problem, path="answer")
        writer.write(a_batch(dead_letters=(letter,)))
    first, second, third = (row["id"] for row in reversed(letters.newest(Wanted(), 9)))

    def found(**wanted):
        return [row["id"] for row in letters.newest(Wanted(**wanted), 9)]

    assert found() == [third, second, first]
    assert found(topic="a") == [first]
    assert found(topic="/x/a#b.jsonl") == found(topic="/x/a#b.jsonl#7-ff") == [second]
    assert found(topic="/x/a") == []
    assert found(problem="wrong") == [second, first]
    assert found(problem="100%") == [first]  # no pattern
    assert found(problem="ANSWER: is") == [third, second, first]
    assert found(since=at(1), until=at(2)) == [second]
    assert found(ids=(first, third, 10**9)) == [third, first]
    rows("UPDATE dead_letter SET settled_at = now(), outcome = 'assessed' WHERE id = %s", second)
    assert found(open=True) == [third, first]
    assert found(open=False) == [second]
    assert letters.amount(Wanted()) == Amount(total=3, open=2, last=third)
    assert letters.amount(Wanted(topic="nothing")) == Amount(total=0, open=0, last=0)
    assert [row["id"] for row in letters.newest(Wanted(), 2)] == [third, second]


def test_a_page_keeps_to_its_limits_but_is_never_empty_before_the_end(writer, letters):
    writer.write(a_batch(dead_letters=tuple(a_dead_letter(b"x" * 100, offset=n) for n in range(5))))
    ids = ids_of(letters)
    everything = {"last": ids[-1], "most": 10, "most_bytes": 10_000}
    assert letters.page(Wanted(), after=0, **everything) == ids
    assert letters.page(Wanted(), after=ids[1], **everything) == ids[2:]
    assert letters.page(Wanted(), after=0, **{**everything, "last": ids[2]}) == ids[:3]
    assert letters.page(Wanted(), after=0, **{**everything, "most": 2}) == ids[:2]
    assert letters.page(Wanted(), after=0, **{**everything, "most_bytes": 250}) == ids[:2]
    assert letters.page(Wanted(), after=0, **{**everything, "most_bytes": 1}) == ids[:1]
    assert letters.page(Wanted(), after=ids[-1], **everything) == []


def test_a_letter_comes_back_as_the_message_that_it_was(writer, letters):
    message = a_message(b"\x00\xff", topic="t", offset=2**40, size=9, key=b"\x00", headers=(("h", b"\xff"), ("h", b"")))
    writer.write(a_batch(dead_letters=(a_dead_letter(message=message),)))
    (letter,) = letters.open_letters(ids_of(letters))
    assert letter.message == message
    assert letter.group == "monitor"
    assert letters.whole(letter.id)["value"] == b"\x00\xff"
    assert letters.whole(letter.id + 1) is None


# --- retried ---


def test_a_retry_stores_what_is_an_interaction_now_and_moves_the_ledger(writer, letters, engine, rows):
    consume(writer, [an_event("1"), mendable("2"), mendable("1"), b"hopeless", mendable("2"), Skip.CONTROL])
    assert in_balance(engine)["monitor", TOPIC, 0] == {
        "received": 5, "assessed": 1, "dead": 4, "spanned": 6, "control": 1,
    }  # fmt: skip
    assert retried(writer, letters, ids_of(letters)) == {"assessed": 1, "duplicate": 2, "dead": 1}
    assert in_balance(engine)["monitor", TOPIC, 0] == {
        "received": 5, "assessed": 2, "duplicate": 2, "dead": 1, "spanned": 6, "control": 1,
    }  # fmt: skip
    assert rows("SELECT position, outcome, settled_at FROM dead_letter ORDER BY position") == [
        (1, "assessed", NOON), (2, "duplicate", NOON), (3, None, None), (4, "duplicate", NOON),
    ]  # fmt: skip
    assert rows("SELECT source_topic, source_partition, source_offset FROM interaction WHERE id = '2'") == [
        (TOPIC, 0, 1)
    ]
    assert rows("SELECT sum(total)::bigint FROM verdict_minute") == [(2,)]
    assert retried(writer, letters, ids_of(letters, open=False)) == {"dead": 0}


def test_what_is_still_dead_says_why_it_is_today(writer, letters, rows):
    consume(writer, [mendable("1")])
    assert rows("SELECT problem FROM dead_letter") == [("has 48 characters; the limit is 30",)]
    ids = ids_of(letters)
    assert retried(writer, letters, ids, Decoder(max_text_chars=40)) == {"dead": 1}
    assert rows("SELECT path, problem, settled_at FROM dead_letter") == [
        ("answer", "has 48 characters; the limit is 40", None)
    ]


def test_a_letter_of_a_replayed_file_has_no_ledger_to_move(writer, letters, engine, rows):
    writer.write(a_batch(dead_letters=STRICT.decode_batch([a_message(mendable("1"))])[1]))
    assert retried(writer, letters, ids_of(letters)) == {"assessed": 1, "dead": 0}
    assert in_balance(engine) == {}
    assert rows("SELECT source_topic FROM interaction") == [("answers.jsonl",)]


def test_a_letter_from_before_there_were_ledgers_stays_out_of_them(writer, letters, engine, rows):
    consume(writer, [mendable("1"), mendable("2")])
    rows("UPDATE dead_letter SET group_id = DEFAULT")
    rows("UPDATE consumer_offset SET received = 0, dead = 0, spanned = 0")
    first, second = ids_of(letters)
    before = in_balance(engine)
    assert retried(writer, letters, [first]) == {"assessed": 1, "dead": 0}
    assert purge(writer, [second]) == (1, 1)
    assert in_balance(engine) == before
    assert rows("SELECT source_topic FROM interaction") == [(None,)]


def test_each_group_has_its_own_ledger_moved(database, writer, letters, engine):
    other = Writer(database, clock, group="other")
    consume(writer, [mendable("1")])
    consume(other, [mendable("1"), mendable("2")])
    assert retried(writer, letters, ids_of(letters)) == {"assessed": 2, "dead": 0}
    assert in_balance(engine) == {
        ("monitor", TOPIC, 0): {"received": 1, "assessed": 1, "spanned": 1},
        ("other", TOPIC, 0): {"received": 2, "assessed": 1, "duplicate": 1, "spanned": 2},
    }
    other.close()


def everything(rows):
    tables = "dead_letter", "interaction", "interaction_key", "assessment", "verdict_minute", "consumer_offset"
    return [rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in tables]  # noqa: S608  our own names


@pytest.mark.parametrize("end", ["an error", "a killed connection"])
def test_a_retry_that_ends_before_its_commit_has_changed_nothing(writer, letters, rows, monkeypatch, end):
    consume(writer, [mendable("1"), b"hopeless"])
    before, ids = everything(rows), ids_of(letters)
    keep = writer.keep

    def kept_and_ended(connection, assessments):
        new = keep(connection, assessments)
        if end == "an error":
            raise KeyboardInterrupt
        rows("SELECT pg_terminate_backend(%s, 10000)", connection.info.backend_pid)
        return new

    with monkeypatch.context() as patch:
        patch.setattr(writer, "keep", kept_and_ended)
        with pytest.raises(KeyboardInterrupt if end == "an error" else Retriable):
            retried(writer, letters, ids)
    assert everything(rows) == before
    assert retried(writer, letters, ids) == {"assessed": 1, "dead": 1}
    in_balance(letters._engine)


def test_a_retry_whose_commit_was_not_heard_of_settles_nothing_twice(writer, letters, engine):
    consume(writer, [mendable("1")])
    (letter,) = letters.open_letters(ids_of(letters))
    (interaction,), _ = TODAY.decode_batch([letter.message])
    alive = [(letter, *assessed([interaction]))]
    assert settle(writer, alive, [], NOON) == {"assessed": 1, "dead": 0}
    assert settle(writer, alive, [], NOON) == {"dead": 0}
    assert in_balance(engine)["monitor", TOPIC, 0] == {"received": 1, "assessed": 1, "spanned": 1}


def together(*jobs):
    """What the jobs return, each in a thread of its own; they are given a barrier to meet at before every round."""
    meet = Barrier(len(jobs), timeout=60)

    def guarded(job):
        try:
            return job(meet.wait)
        except BaseException:
            meet.abort()
            raise

    with ThreadPoolExecutor(len(jobs)) as pool:
        futures = [pool.submit(guarded, job) for job in jobs]
    failed = [error for future in futures if (error := future.exception())]
    for error in sorted(failed, key=lambda error: isinstance(error, BrokenBarrierError)):
        raise error
    return [future.result() for future in futures]


def test_two_retries_of_the_same_letters_settle_each_once(database, letters, engine, writer):
    n = 60
    consume(writer, [mendable(str(n)) for n in range(n)])
    ids = ids_of(letters)

    def work(meet):
        own, total = Writer(database, clock), Counter()
        for start in range(0, n, 10):
            meet()
            total += retried(own, letters, ids[start : start + 10])
        own.close()
        return total

    assert sum(together(work, work), Counter()) == {"assessed": n}
    assert in_balance(engine)["monitor", TOPIC, 0] == {"received": n, "assessed": n, "spanned": n}


def test_a_reader_a_retry_and_a_purge_at_once_do_not_wait_in_a_circle(database, engine, rows):
    """They touch the same ledger row, interactions and letters; a deadlock would be an error of one of them."""
    rounds, each = 60, 12

    def reading(group):
        def work(meet):
            own, reached = Writer(database, clock, group=group), None
            for number in range(rounds):
                values = [mendable(f"{number}-{i}") if i % 2 else an_event(f"{number}-{i}") for i in range(each)]
                meet()
                reached = consume(own, values, first=reached or 0, expected=reached)
            own.close()

        return work

    def handling(handle):
        def work(meet):
            own, letters = Writer(database, clock), DeadLetters(engine)
            for _ in range(rounds):
                meet()
                handle(own, letters, letters.page(Wanted(open=True), after=0, last=2**62, most=each, most_bytes=2**30))
            own.close()

        return work

    together(reading("monitor"), reading("other"), handling(retried), handling(lambda w, _, ids: purge(w, ids[::3])))
    ledger = in_balance(engine)
    assert {row["received"] for row in ledger.values()} == {rounds * each}
    assert rows("SELECT count(*) FROM interaction") == rows("SELECT sum(total)::bigint FROM verdict_minute")


# --- purged ---


def test_a_purge_counts_the_open_ones_and_only_those(writer, letters, engine, rows):
    consume(writer, [mendable("1"), b"x", b"y"])
    first, second, third = ids_of(letters)
    retried(writer, letters, [first])
    assert purge(writer, [first, second]) == (2, 1)
    assert purge(writer, [first, second]) == (0, 0)
    assert in_balance(engine)["monitor", TOPIC, 0] == {
        "received": 3, "assessed": 1, "dead": 2, "purged": 1, "spanned": 3,
    }  # fmt: skip
    assert rows("SELECT id FROM dead_letter") == [(third,)]


def test_a_purge_that_ends_before_its_commit_has_changed_nothing(writer, letters, rows):
    consume(writer, [b"x"])
    before = everything(rows)
    rows("ALTER TABLE consumer_offset ADD CONSTRAINT no_purge CHECK (purged = 0)")
    with pytest.raises(Exception, match="no_purge"):
        purge(writer, ids_of(letters))
    assert everything(rows) == before


# --- whatever comes, in whatever order ---

entries = st.lists(
    st.one_of(
        st.integers(0, 3).map(lambda n: an_event(str(n))),
        st.integers(0, 3).map(lambda n: mendable(str(n))),
        st.sampled_from([b"hopeless", b"", *Skip]),
    ),
    max_size=5,
)
groups = st.sampled_from(["monitor", "other", "lenient"])  # the last reads by the settings of today
places = st.lists(st.integers(0, 8), min_size=1, max_size=5)
steps = st.one_of(
    st.tuples(st.just("read"), st.integers(0, 1), entries, groups, st.integers(1, 8)),
    st.tuples(st.just("retry"), places, st.sampled_from([STRICT, TODAY, TODAY])),
    st.tuples(st.just("purge"), places),
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(story=st.lists(steps, min_size=4, max_size=20))
def test_the_ledger_balances_after_every_step_of_any_story(database, writer, letters, rows, story):
    """Two partitions grow, and groups read each at their own pace; retries and purges come between."""
    rows(
        "TRUNCATE interaction_key, interaction, assessment, verdict_minute, rollup_label, dead_letter, consumer_offset"
    )
    writer._labels.forget()
    logs, reached, ledger = {0: [], 1: []}, {}, {}
    for step in story:
        known = ids_of(letters)
        match step:
            case "read", partition, new, group, most:
                logs[partition] += new
                first = reached.get((group, partition))
                if more := logs[partition][first or 0 :][:most]:
                    own = Writer(database, clock, group=group)
                    reached[group, partition] = consume(
                        own, more, first=first or 0, expected=first, partition=partition,
                        decoder=TODAY if group == "lenient" else STRICT,
                    )  # fmt: skip
                    own.close()
            case "retry", chosen, decoder:
                retried(writer, letters, sorted({known[place] for place in chosen if place < len(known)}), decoder)
            case "purge", chosen:
                purge(writer, sorted({known[place] for place in chosen if place < len(known)}))
        ledger = in_balance(letters._engine)
    assert {(group, partition): row["spanned"] for (group, _, partition), row in ledger.items()} == reached
    assert rows("SELECT count(*) FROM interaction") == rows(
        "SELECT coalesce(sum(total), 0)::bigint FROM verdict_minute"
    )


# --- the flow ---


def run(application, wanted=None, **over):
    return retry(application, wanted or Wanted(), **{"app": None, "dialect": None, "stop": Event(), **over})


def test_a_retry_goes_through_the_whole_flow_in_batches(writer, application, engine, rows):
    ingest = application.settings.ingest.model_copy(update={"batch_events": 3})
    application.settings = application.settings.model_copy(update={"ingest": ingest})
    consume(writer, [*(mendable(str(n)) for n in range(8)), b"hopeless", mendable("3")])
    assert run(application) == Retried(asked=10, assessed=8, duplicate=1, dead=1)
    assert run(application) == Retried(asked=1, dead=1)
    assert run(application).vain
    assert in_balance(engine)["monitor", TOPIC, 0]["dead"] == 1
    assert rows("SELECT DISTINCT app, profile_name FROM assessment") == [("default", "hash")]


def test_a_retry_reads_by_the_dialect_and_app_that_it_is_given(writer, application, rows):
    sample = {"user_input": "Q?", "retrieved_contexts": ["D."], "response": "A."}
    consume(writer, [json.dumps(sample).encode()], decoder=Decoder(dialect="native"))
    assert run(application, dialect="ragas", app="shop") == Retried(asked=1, assessed=1)
    assert rows("SELECT app FROM interaction") == [("shop",)]


def test_a_retry_or_purge_that_is_stopped_does_nothing_more(writer, application, rows):
    consume(writer, [mendable("1")])
    stop = Event()
    stop.set()
    assert run(application, stop=stop) == Retried()
    assert purge_all(application, Wanted(), last=10**9, stop=stop).total == 0
    assert rows("SELECT count(*) FROM dead_letter WHERE settled_at IS NULL") == [(1,)]


def test_letters_that_came_since_are_not_purged(writer, application, letters):
    consume(writer, [b"x"])
    last = letters.amount(Wanted()).last
    consume(writer, [b"y"], first=1, expected=1)
    assert purge_all(application, Wanted(until=NOON + timedelta(days=1)), last=last, stop=Event()).total == 1
    assert letters.amount(Wanted()).total == 1


def test_an_id_that_is_none_is_named_before_anything_is_done(writer, application, letters, rows):
    consume(writer, [mendable("1")])
    (known,) = ids_of(letters)
    check_known(letters, Wanted(ids=(known,)))
    check_known(letters, Wanted())
    with pytest.raises(WrongSettings, match=f"no dead letter {known + 1}, {known + 7};"):
        run(application, Wanted(ids=(known + 7, known, known + 1)))
    assert rows("SELECT count(*) FROM interaction") == [(0,)]
