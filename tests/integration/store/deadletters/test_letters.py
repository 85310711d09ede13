"""Finds and purges dead letters on a real server; the ledger balances in whatever order things happen."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.core.message import Skip
from monitor.store.deadletters.dead_letters import LetterCount, LetterFilter, purge
from monitor.store.interaction.writer import Writer
from tests.factories.answers import a_batch, a_dead_letter, a_message, at, clock
from tests.rig.store.dead_letters import (
    STRICT,
    TODAY,
    TOPIC,
    an_event,
    consume,
    everything,
    ids_of,
    in_balance,
    mendable,
    retried,
)
from tests.rig.store.keys import QUEUE_KEY


def test_letters_are_found_by_topic_problem_time_and_state(writer, letters, rows):
    for n, (topic, problem) in enumerate([("a", "is 100% WRONG"), ("/x/a#b.jsonl#7-ff", "is wrong"), ("b", "is 100x")]):
        letter = a_dead_letter(b"%d" % n, topic=topic, received_at=at(n), problem=problem, path="answer")
        writer.write(a_batch(dead_letters=(letter,)))
    first, second, third = (row["id"] for row in reversed(letters.newest(LetterFilter(), 9)))

    def found(**wanted):
        return [row["id"] for row in letters.newest(LetterFilter(**wanted), 9)]

    assert found() == [third, second, first]
    assert found(topic="a") == [first]
    assert found(topic="/x/a#b.jsonl") == found(topic="/x/a#b.jsonl#7-ff") == [second]
    assert found(topic="/x/a") == []
    assert found(problem="wrong") == [second, first]
    assert found(problem="100%") == [first]  # no pattern
    assert found(problem="ANSWER: is") == [third, second, first]
    assert found(problem="the message is") == []
    assert found(since=at(1), until=at(2)) == [second]
    assert found(ids=(first, third, 10**9)) == [third, first]
    rows("UPDATE dead_letter SET settled_at = now(), outcome = 'assessed' WHERE id = %s", second)
    assert found(open=True) == [third, first]
    assert found(open=False) == [second]
    assert letters.count(LetterFilter()) == LetterCount(total=3, open=2, last=third)
    assert letters.count(LetterFilter(topic="nothing")) == LetterCount(total=0, open=0, last=0)
    assert [row["id"] for row in letters.newest(LetterFilter(), 2)] == [third, second]


def test_a_page_keeps_to_its_limits_but_is_never_empty_before_the_end(writer, letters):
    writer.write(a_batch(dead_letters=tuple(a_dead_letter(b"x" * 100, offset=n) for n in range(5))))
    ids = ids_of(letters)
    everything = {"last": ids[-1], "most": 10, "most_bytes": 10_000}
    assert letters.page(LetterFilter(), after=0, **everything) == ids
    assert letters.page(LetterFilter(), after=ids[1], **everything) == ids[2:]
    assert letters.page(LetterFilter(), after=0, **{**everything, "last": ids[2]}) == ids[:3]
    assert letters.page(LetterFilter(), after=0, **{**everything, "most": 2}) == ids[:2]
    assert letters.page(LetterFilter(), after=0, **{**everything, "most_bytes": 250}) == ids[:2]
    assert letters.page(LetterFilter(), after=0, **{**everything, "most_bytes": 1}) == ids[:1]
    assert letters.page(LetterFilter(), after=ids[-1], **everything) == []


def test_a_letter_comes_back_as_the_message_that_it_was(writer, letters):
    message = a_message(b"\x00\xff", topic="t", offset=2**40, size=9, key=b"\x00", headers=(("h", b"\xff"), ("h", b"")))
    writer.write(a_batch(dead_letters=(a_dead_letter(message=message),)))
    (letter,) = letters.open_letters(ids_of(letters))
    assert letter.message == message
    assert letter.group == "monitor"
    assert letters.whole(letter.id)["value"] == b"\x00\xff"
    assert letters.whole(letter.id + 1) is None


def test_a_purge_counts_the_open_ones_and_only_those(writer, letters, engine, rows):
    consume(writer, [mendable("1"), b"x", b"y"])
    first, second, third = ids_of(letters)
    retried(writer, letters, [first])
    assert purge(writer, [first, second]) == (2, 1)
    assert purge(writer, [first, second]) == (0, 0)
    assert in_balance(engine)["monitor", TOPIC, 0] == {
        "received": 3,
        "assessed": 1,
        "dead": 2,
        "purged": 1,
        "spanned": 3,
    }
    assert rows("SELECT id FROM dead_letter") == [(third,)]


def test_a_purge_that_ends_before_its_commit_has_changed_nothing(writer, letters, rows):
    consume(writer, [b"x"])
    before = everything(rows)
    rows("ALTER TABLE consumer_offset ADD CONSTRAINT no_purge CHECK (purged = 0)")
    with pytest.raises(Exception, match="no_purge"):
        purge(writer, ids_of(letters))
    assert everything(rows) == before


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
    """Two partitions grow, groups read each at their own pace, and retries and purges come in between."""
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
                    own = Writer(database, clock, group=group, queue_key=QUEUE_KEY)
                    reached[group, partition] = consume(
                        own,
                        more,
                        first=first or 0,
                        expected=first,
                        partition=partition,
                        decoder=TODAY if group == "lenient" else STRICT,
                    )
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
