"""The contract of every `Store`: each interaction once, each message counted, a batch wholly or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.core.batch import Tally
from monitor.core.errors import Fenced
from monitor.core.message import Offset
from monitor.core.model import Unscored
from monitor.core.ports import Store
from monitor.simulate.fakes.flow import MemoryStore
from tests.factories.answers import a_batch, a_dead_letter, an_assessment, an_interaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A store, and a view of what it holds."""

    store: Store
    answers: Callable[[], dict[tuple[str, str], str]]
    unscored: Callable[[], dict[tuple[str, str], str]]
    dead: Callable[[], list[bytes]]
    offsets: Callable[[], dict[str, int]]

    def everything(self) -> tuple[object, ...]:
        return self.answers(), self.dead(), self.offsets()


def in_memory() -> Kept:
    store = MemoryStore()
    return Kept(
        store=store,
        answers=lambda: {key: a.interaction.answer for key, a in store.assessments.items()},
        unscored=lambda: {key: it.answer for key, it in store.unscored.items()},
        dead=lambda: sorted(letter.message.value for letter in store.dead_letters.values()),
        offsets=lambda: {topic: reached for (topic, _), reached in store.offsets.items()},
    )


def in_postgres(writer, rows) -> Kept:
    def answers():
        stored = rows("SELECT app, id, answer FROM interaction JOIN assessment USING (app, id, occurred_at)")
        of_unscored = "SELECT app, id FROM interaction WHERE unscored IS NOT NULL"
        keys = rows(f"SELECT app, id FROM interaction_key EXCEPT {of_unscored}")
        counted = rows("SELECT coalesce(sum(total), 0)::bigint FROM verdict_minute")
        assert sorted((app, id_) for app, id_, _ in stored) == sorted(keys)
        assert counted == [(len(stored),)]
        return {(app, id_): answer for app, id_, answer in stored}

    return Kept(
        store=writer,
        answers=answers,
        unscored=lambda: {
            (app, id_): answer
            for app, id_, answer in rows("SELECT app, id, answer FROM interaction WHERE unscored IS NOT NULL")
        },
        dead=lambda: sorted(value for (value,) in rows("SELECT value FROM dead_letter")),
        offsets=lambda: dict(rows("SELECT topic, next_offset FROM consumer_offset")),
    )


@pytest.fixture(params=["memory", "postgres"])
def kept(request) -> Kept:
    if request.param == "memory":
        return in_memory()
    return in_postgres(request.getfixturevalue("writer"), request.getfixturevalue("rows"))


def moved(expected: int | None, reached: int, topic: str = "answers.jsonl#7") -> Offset:
    return Offset(topic=topic, partition=0, expected=expected, next=reached)


def test_an_empty_batch_is_nothing(kept):
    assert kept.store.write(a_batch()) == Tally()
    assert kept.everything() == ({}, [], {})


def test_new_interactions_and_dead_letters_are_counted_and_kept(kept):
    batch = a_batch(
        an_assessment(id="1", answer="one"), an_assessment(id="2", answer="two"), dead_letters=(a_dead_letter(b"no"),)
    )
    tally = kept.store.write(batch)
    assert tally == Tally(received=3, assessed=2, dead=1)
    assert tally.balanced
    assert kept.answers() == {("support-bot", "1"): "one", ("support-bot", "2"): "two"}
    assert kept.dead() == [b"no"]


def test_of_equal_keys_in_one_batch_the_first_wins(kept):
    tally = kept.store.write(
        a_batch(
            an_assessment(id="2", answer="another"),
            an_assessment(id="1", answer="first"),
            an_assessment(id="1", answer="second"),
            an_assessment(id="1", answer="third"),
        )
    )
    assert tally == Tally(received=4, assessed=2, duplicate=2)
    assert kept.answers() == {("support-bot", "1"): "first", ("support-bot", "2"): "another"}


def test_of_equal_keys_in_two_batches_the_first_wins(kept):
    kept.store.write(a_batch(an_assessment(answer="first")))
    tally = kept.store.write(a_batch(an_assessment(answer="second"), an_assessment(id="new")))
    assert tally == Tally(received=2, assessed=1, duplicate=1)
    assert kept.answers()["support-bot", "q-1"] == "first"


def test_an_equal_key_at_another_time_is_a_duplicate_all_the_same(kept):
    first = an_assessment()
    kept.store.write(a_batch(first))
    later = replace(first.interaction, occurred_at=first.interaction.occurred_at.replace(month=12))
    assert kept.store.write(a_batch(replace(first, interaction=later))).duplicate == 1


def test_the_same_id_in_another_app_is_no_duplicate(kept):
    tally = kept.store.write(a_batch(an_assessment(app="a"), an_assessment(app="b"), an_assessment(app="A")))
    assert tally == Tally(received=3, assessed=3)


def test_a_dead_letter_that_comes_again_is_counted_again_and_kept_once(kept):
    letter = a_dead_letter(b"no")
    assert kept.store.write(a_batch(dead_letters=(letter, letter))) == Tally(received=2, dead=2)
    assert kept.store.write(a_batch(dead_letters=(letter,))) == Tally(received=1, dead=1)
    assert kept.dead() == [b"no"]


def test_dead_letters_differ_by_their_place_and_by_their_bytes(kept):
    kept.store.write(
        a_batch(
            dead_letters=(
                a_dead_letter(b"no", offset=1),
                a_dead_letter(b"no", offset=2),
                a_dead_letter(b"no", topic="other.jsonl"),
                a_dead_letter(b"nay", offset=1),
            )
        )
    )
    assert kept.dead() == [b"nay", b"no", b"no", b"no"]


def test_unscored_turns_are_counted_and_kept_once(kept):
    turn = an_interaction(id="u", answer="", unscored=Unscored.CALL_FAILED)
    tally = kept.store.write(a_batch(an_assessment(id="1"), unscored=(turn, turn), received=3))
    assert tally == Tally(received=3, assessed=1, unscored=1, duplicate=1)
    assert tally.balanced
    assert kept.unscored() == {("support-bot", "u"): ""}
    assert kept.store.write(a_batch(an_assessment(id="u"))) == Tally(received=1, duplicate=1)


def test_a_revision_replaces_what_is_stored_and_counts_as_a_duplicate(kept):
    turn = an_interaction(id="u", answer="first", unscored=Unscored.CALL_FAILED)
    kept.store.write(a_batch(unscored=(turn,), received=1))
    scored = an_assessment(id="u", answer="second", revises=True)
    assert kept.store.write(a_batch(scored)) == Tally(received=1, duplicate=1)
    assert (kept.unscored(), kept.answers()) == ({}, {("support-bot", "u"): "second"})
    again = replace(turn, answer="third", revises=True)
    assert kept.store.write(a_batch(unscored=(again,), received=1)) == Tally(received=1, duplicate=1)
    assert (kept.unscored(), kept.answers()) == ({("support-bot", "u"): "third"}, {})
    assert kept.store.write(a_batch(an_assessment(id="new", revises=True))) == Tally(received=1, assessed=1)


def test_messages_that_became_nothing_do_not_hide_an_imbalance(kept):
    assert not kept.store.write(a_batch(an_assessment(), received=2)).balanced


def test_an_offset_moves_on_from_the_one_that_is_expected(kept):
    kept.store.write(a_batch(an_assessment(id="1"), offsets=(moved(None, 10),)))
    kept.store.write(a_batch(an_assessment(id="2"), offsets=(moved(10, 20), moved(None, 5, "other#8"))))
    assert kept.offsets() == {"answers.jsonl#7": 20, "other#8": 5}


def test_an_offset_may_go_back_where_a_file_became_shorter(kept):
    kept.store.write(a_batch(offsets=(moved(None, 10),)))
    kept.store.write(a_batch(offsets=(moved(10, 3),)))
    assert kept.offsets() == {"answers.jsonl#7": 3}


@pytest.mark.parametrize("expected", [None, 0, 9, 11], ids=lambda value: f"expected {value}")
def test_a_batch_that_expects_another_offset_is_fenced_and_nothing_of_it_is_stored(kept, expected):
    kept.store.write(a_batch(an_assessment(id="1"), offsets=(moved(None, 10),)))
    before = kept.everything()
    with pytest.raises(Fenced, match="another process"):
        kept.store.write(
            a_batch(
                an_assessment(id="2"),
                dead_letters=(a_dead_letter(),),
                offsets=(moved(None, 7, "other#8"), moved(expected, 20)),
            )
        )
    assert kept.everything() == before


def test_a_batch_that_expects_an_offset_where_none_is_stored_is_fenced(kept):
    with pytest.raises(Fenced):
        kept.store.write(a_batch(an_assessment(), offsets=(moved(3, 10),)))
    assert kept.everything() == ({}, [], {})


def test_a_store_goes_on_after_it_was_fenced(kept):
    with pytest.raises(Fenced):
        kept.store.write(a_batch(an_assessment(), offsets=(moved(3, 10),)))
    assert kept.store.write(a_batch(an_assessment())).assessed == 1


ids = st.sampled_from(["a", "b", "c", "ä", "", " ", "a'b", "\\N", "\t\n"])
batches = st.lists(
    st.tuples(
        st.lists(st.tuples(ids, ids), max_size=8),
        st.lists(st.tuples(st.integers(0, 3), st.binary(max_size=2)), max_size=4),
    ),
    max_size=4,
)


# the fixtures stay as they are from one example to the next, which only makes more keys known
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_batches=batches)
def test_whatever_comes_is_accounted_for_and_kept_once(kept, given_batches):
    known, dead_before = kept.answers(), len(kept.dead())
    topic, total = uuid4().hex, Tally()
    for number, (keys, letters) in enumerate(given_batches):
        fresh = [an_assessment(app=app, id=id_, answer=f"{number}/{i}") for i, (app, id_) in enumerate(keys)]
        for one in fresh:
            known.setdefault((one.interaction.app, one.interaction.id), one.interaction.answer)
        total += kept.store.write(
            a_batch(
                *fresh, dead_letters=tuple(a_dead_letter(value, topic=topic, offset=place) for place, value in letters)
            )
        )
        assert total.balanced
    assert total.received == sum(len(keys) + len(letters) for keys, letters in given_batches)
    assert kept.answers() == known
    assert len(kept.dead()) - dead_before == len({letter for _, letters in given_batches for letter in letters})
