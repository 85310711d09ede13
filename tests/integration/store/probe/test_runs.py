from __future__ import annotations

from dataclasses import astuple
from datetime import timedelta

import pytest
from sqlalchemy import event, text

from monitor.core.errors import WrongSettings
from monitor.probe.figures import SCORES, figures
from monitor.probe.golden import Source
from monitor.probe.result import ItemState, RunState
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.rows import GONE
from monitor.store.probe.runs import ProbeRuns
from tests.factories.probe.runs import AT, item, result, run


@pytest.fixture
def runs(engine):
    return ProbeRuns(engine)


@pytest.fixture
def sets(engine):
    return GoldenSets(engine)


def test_a_set_comes_back_as_it_was_stored(sets):
    items = [item(2, tags={"topic": "prices"}), item(1, source=Source("shop/a", "b/c"))]
    made = sets.save("support", items, by="ada", now=AT)
    assert made == sets.newest("support") == sets.version("support", 1)
    assert made.items == tuple(items)
    assert made.version == 1


def test_the_same_items_make_no_new_version_and_others_do(sets):
    first = sets.save("support", [item(1), item(2)], by="ada", now=AT)
    assert sets.save("support", [item(2), item(1)], by="bob", now=AT) == first
    second = sets.save("support", [item(1), item(2, reference="Two.")], by="bob", now=AT)
    assert second.version == 2
    assert sets.version("support", 1) == first
    assert [(one.name, one.version, one.items, one.made_by) for one in sets.every()] == [("support", 2, 2, "bob")]


def test_an_item_is_added_replaced_and_removed(sets):
    sets.add("support", item(1), by="ada", now=AT)
    sets.add("support", item(2), by="ada", now=AT)
    replaced = sets.add("support", item(1, reference="One."), by="ada", now=AT)
    assert [one.reference for one in replaced.items] == ["One.", item(2).reference]
    assert [one.id for one in sets.remove("support", "q1", by="ada", now=AT).items] == ["q2"]
    with pytest.raises(WrongSettings, match="no item 'q1'"):
        sets.remove("support", "q1", by="ada", now=AT)
    with pytest.raises(WrongSettings, match="no items"):
        sets.remove("support", "q2", by="ada", now=AT)


def test_two_items_with_one_id_are_refused_and_nothing_is_stored(sets):
    with pytest.raises(WrongSettings, match="two items have the id 'q1'"):
        sets.save("support", [item(1), item(2), item(1)], by="ada", now=AT)
    assert sets.newest("support") is None


def test_text_that_postgres_cannot_hold_is_made_storable(sets):
    made = sets.save("support", [item(1, reference="one\0\ud800", tags={"a": "\0"})], by="ada", now=AT)
    assert sets.newest("support") == made
    assert "\0" not in made.items[0].reference


def test_a_run_and_its_results_come_back(sets, runs):
    golden = sets.save("support", [item(1, tags={"topic": "a"}), item(2), item(3)], by="ada", now=AT)
    began = runs.begin(run(golden_hash=golden.hash), mark="ab" * 16)
    given = [result(golden.items[0], 5), result(golden.items[1], 2, 4), result(golden.items[2])]
    for place, one in enumerate(given):
        runs.save(began.number, place, one)
        runs.save(began.number, place, result(golden.items[place], 1))  # a repetition changes nothing
    runs.end(began.number, RunState.DONE, now=AT + timedelta(minutes=1), chatbot="v2")
    ended = runs.run(began.number)
    assert (ended.state, ended.chatbot, ended.ended_at) == (RunState.DONE, "v2", AT + timedelta(minutes=1))
    assert runs.results(began.number) == given
    (scored,) = runs.scored([began.number, 99])
    assert scored.run == ended
    assert [(one.item, one.state, one.correctness) for one in scored.scores] == [
        ("q1", ItemState.GRADED, 5),
        ("q2", ItemState.GRADED, 2),
        ("q3", ItemState.FAILED, None),
    ]
    assert runs.marks(["ab" * 16, "cd" * 16]) == {"ab" * 16: ("shop", AT)}


def test_results_stay_when_their_golden_set_is_gone(runs):
    began = runs.begin(run(), mark="1")
    runs.save(began.number, 0, result(item(1), 0))
    (found,) = runs.results(began.number)
    assert (found.item.question, found.state) == (GONE, ItemState.UNSURE)


def test_a_run_ends_once_and_one_that_nobody_ended_is_stopped(runs):
    old, new = (runs.begin(run(began_at=AT + timedelta(hours=n)), mark=str(n)) for n in range(2))
    other = runs.begin(run(probe="other"), mark="other")
    runs.end(new.number, RunState.DONE, now=AT)
    with runs.running("support") as ours, runs.running("support") as theirs, runs.running("other") as of_other:
        assert (ours, theirs, of_other) == (True, False, True)
        assert runs.abandon("support", now=AT + timedelta(hours=2)) == 1
    runs.end(old.number, RunState.DONE, now=AT + timedelta(hours=3))
    assert [runs.run(one.number).state for one in (old, new, other)] == ["stopped", "done", "running"]
    assert runs.last_begin("support") == new.began_at
    assert runs.last_begin("another") is None


def test_the_newest_runs_of_each_probe_that_are_done(runs):
    for n in range(12):
        one = runs.begin(run(probe="ab"[n % 2], began_at=AT + timedelta(hours=n)), mark=str(n))
        runs.save(one.number, 0, result(item(1), 4))
        if n not in {10, 11}:
            runs.end(one.number, RunState.STOPPED if n == 9 else RunState.DONE, now=AT + timedelta(hours=n))
    found = runs.newest(per_probe=2, since=AT)
    assert [(run.probe, run.began_at.hour - AT.hour, its.correctness.count) for run, its in found] == [
        ("a", 8, 1),
        ("a", 6, 1),
        ("b", 7, 1),
        ("b", 5, 1),
    ]
    assert runs.newest(per_probe=2, since=AT + timedelta(days=1)) == []
    pages = runs.runs(probe="a", most=4)
    assert [one.number for one in pages + runs.runs(probe="a", before=pages[-1].number)] == sorted(
        (one.number for one in runs.runs(probe="a")), reverse=True
    )


def test_apps_and_environments_with_a_probe_of_the_same_name_are_told_apart(runs):
    places = [("bank", "production"), ("shop", "production"), ("shop", "staging")]
    for n in range(9):
        app, environment = places[n % 3]
        one = runs.begin(run(app=app, environment=environment, began_at=AT + timedelta(hours=n)), mark=str(n))
        runs.end(one.number, RunState.DONE, now=AT + timedelta(hours=n))
    one = runs.begin(run(app="bank", candidate=True, began_at=AT), mark="a candidate")
    runs.end(one.number, RunState.DONE, now=AT)
    found = [run for run, _ in runs.newest(per_probe=2, since=AT)]
    assert [(its.app, its.environment, its.began_at.hour - AT.hour) for its in found] == [
        (*place, hour) for n, place in enumerate(places) for hour in (6 + n, 3 + n)
    ]


def test_figures_are_added_up_by_the_database_and_the_same_as_of_the_items(runs):
    one, other = (runs.begin(run(turns=3), mark=str(n)) for n in range(2))
    given = [result(item(n), *scores) for n, scores in enumerate([(5,), (2, 4), (0,), (), (3, 3, 4), (0, 5)])]
    for place, its in enumerate(given):
        runs.save(one.number, place, its)
    found = runs.figures([one.number, other.number])
    expected = figures([its.scored for its in given])
    for name in (*SCORES, "unsure"):
        assert astuple(found[one.number].named(name)) == pytest.approx(astuple(expected.named(name)))
    assert found[one.number].states == expected.states
    assert found[other.number] == figures([])


def test_as_many_rows_are_read_for_a_run_of_many_items(engine, runs):
    rows = []

    @event.listens_for(engine, "after_cursor_execute")
    def _(_connection, cursor, *_):
        rows.append(cursor.rowcount)

    def read():
        rows.clear()
        assert len(runs.newest(per_probe=30, since=AT)) == 1
        return [*rows]

    one = runs.begin(run(), mark="1")
    runs.save(one.number, 0, result(item(0), 4))
    runs.end(one.number, RunState.DONE, now=AT)
    few = read()
    with engine.begin() as connection:
        connection.execute(
            text("""
                INSERT INTO probe_result (run, place, item, state, correctness, spread, seconds, calls, input_tokens,
                    output_tokens)
                SELECT run, n, 'i' || n, state, correctness, spread, seconds, calls, input_tokens, output_tokens
                FROM probe_result, generate_series(1, 3000) n
            """)
        )
    assert read() == few
