"""Retries dead letters on a real server, several at once and with a connection that dies."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, BrokenBarrierError

import pytest

from monitor.core.errors import Retriable
from monitor.core.message import Skip
from monitor.core.model import Unscored
from monitor.ingest.decode import Decoder
from monitor.store.deadletters.dead_letters import DeadLetters, LetterFilter, purge, settle
from monitor.store.interaction.writer import Writer
from tests.factories.answers import NOON, a_batch, a_message, an_interaction, clock
from tests.rig.store.dead_letters import (
    STRICT,
    TODAY,
    TOPIC,
    an_event,
    assessed,
    consume,
    everything,
    ids_of,
    in_balance,
    mendable,
    retried,
)
from tests.rig.store.keys import QUEUE_KEY


def test_a_retry_stores_what_is_an_interaction_now_and_moves_the_ledger(writer, letters, engine, rows):
    consume(writer, [an_event("1"), mendable("2"), mendable("1"), b"hopeless", mendable("2"), Skip.CONTROL])
    assert in_balance(engine)["monitor", TOPIC, 0] == {
        "received": 5,
        "assessed": 1,
        "dead": 4,
        "spanned": 6,
        "control": 1,
    }
    assert retried(writer, letters, ids_of(letters)) == {"assessed": 1, "duplicate": 2, "dead": 1}
    assert in_balance(engine)["monitor", TOPIC, 0] == {
        "received": 5,
        "assessed": 2,
        "duplicate": 2,
        "dead": 1,
        "spanned": 6,
        "control": 1,
    }
    assert rows("SELECT position, outcome, settled_at FROM dead_letter ORDER BY position") == [
        (1, "assessed", NOON),
        (2, "duplicate", NOON),
        (3, None, None),
        (4, "duplicate", NOON),
    ]
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
    other = Writer(database, clock, group="other", queue_key=QUEUE_KEY)
    consume(writer, [mendable("1")])
    consume(other, [mendable("1"), mendable("2")])
    assert retried(writer, letters, ids_of(letters)) == {"assessed": 2, "dead": 0}
    assert in_balance(engine) == {
        ("monitor", TOPIC, 0): {"received": 1, "assessed": 1, "spanned": 1},
        ("other", TOPIC, 0): {"received": 2, "assessed": 1, "duplicate": 1, "spanned": 2},
    }
    other.close()


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
    (interaction,), _, _ = TODAY.decode_batch([letter.message])
    alive = [(letter, *assessed([interaction]))]
    assert settle(writer, alive, [], NOON) == {"assessed": 1, "dead": 0}
    assert settle(writer, alive, [], NOON) == {"dead": 0}
    assert in_balance(engine)["monitor", TOPIC, 0] == {"received": 1, "assessed": 1, "spanned": 1}


def together(*jobs):
    """The results of the jobs, each in its own thread; they meet at a barrier before every round."""
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
        own, total = Writer(database, clock, queue_key=QUEUE_KEY), Counter()
        for start in range(0, n, 10):
            meet()
            total += retried(own, letters, ids[start : start + 10])
        own.close()
        return total

    assert sum(together(work, work), Counter()) == {"assessed": n}
    assert in_balance(engine)["monitor", TOPIC, 0] == {"received": n, "assessed": n, "spanned": n}


def test_a_reader_a_retry_and_a_purge_at_once_do_not_wait_in_a_circle(database, engine, rows):
    """All touch the same ledger row, interactions and letters; a deadlock would fail one of them."""
    rounds, each = 60, 12

    def reading(group):
        def work(meet):
            own, reached = Writer(database, clock, group=group, queue_key=QUEUE_KEY), None
            for number in range(rounds):
                values = [mendable(f"{number}-{i}") if i % 2 else an_event(f"{number}-{i}") for i in range(each)]
                meet()
                reached = consume(own, values, first=reached or 0, expected=reached)
            own.close()

        return work

    def handling(handle):
        def work(meet):
            own, letters = Writer(database, clock, queue_key=QUEUE_KEY), DeadLetters(engine)
            for _ in range(rounds):
                meet()
                handle(
                    own,
                    letters,
                    letters.page(LetterFilter(open=True), after=0, last=2**62, most=each, most_bytes=2**30),
                )
            own.close()

        return work

    together(reading("monitor"), reading("other"), handling(retried), handling(lambda w, _, ids: purge(w, ids[::3])))
    ledger = in_balance(engine)
    assert {row["received"] for row in ledger.values()} == {rounds * each}
    assert rows("SELECT count(*) FROM interaction") == rows("SELECT sum(total)::bigint FROM verdict_minute")


def test_a_letter_that_turns_out_to_be_an_unscored_turn_is_counted_as_that(writer, letters, engine, rows):
    consume(writer, [mendable("1"), mendable("1")])
    turn = an_interaction(id="1", unscored=Unscored.NO_RETRIEVAL)
    alive = [
        (letter, replace(turn, position=letter.message.position)) for letter in letters.open_letters(ids_of(letters))
    ]
    assert settle(writer, alive, [], NOON) == {"unscored": 1, "duplicate": 1, "dead": 0}
    ledger = in_balance(engine)["monitor", TOPIC, 0]
    assert (ledger["received"], ledger["unscored"], ledger["duplicate"]) == (2, 1, 1)
    assert rows("SELECT outcome FROM dead_letter ORDER BY position") == [("unscored",), ("duplicate",)]
    assert rows("SELECT reason, turns FROM unscored_minute") == [("no_retrieval", 1)]
