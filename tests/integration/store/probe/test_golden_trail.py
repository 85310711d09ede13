"""Golden sets in the audit trail, and in an erasure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.core.errors import WrongSettings
from monitor.probe.golden import Source
from monitor.probe.result import RunState
from monitor.store.audit.checks.accounts import read_accounts
from monitor.store.audit.checks.cross import acts_against_rows, blanked_probes
from monitor.store.privacy.erasure import Erasable, Erasure, ErasureTarget
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.rows import GONE
from monitor.store.probe.runs import ProbeRuns
from tests.factories.answers import NOON
from tests.factories.probe.runs import AT, item, result, run
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.privacy import APP, told
from tests.rig.store.writing import a_batch


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE golden_set SET hash = 'ff' WHERE version = 1",
        "UPDATE golden_set SET made_by = 'eve' WHERE version = 1",
        "DELETE FROM golden_set WHERE version = 1",
        "UPDATE golden_item SET reference = 'It is free.' WHERE version = 1",
    ],
)
def test_a_changed_golden_set_is_found(engine, rows, change):
    sets = GoldenSets(engine)
    sets.save("support", [item(1)], by="ada", now=AT)
    sets.save("support", [item(2)], by="ada", now=AT)

    def findings():
        with engine.connect() as connection:
            return [finding.sentence for finding in acts_against_rows(connection, QUEUE_KEY)]

    assert findings() == []
    rows(change)
    (sentence,) = findings()
    assert "support 1" in sentence


def test_an_erasure_takes_golden_items_and_their_turns_along(engine, writer):
    writer.write(a_batch(told("q-1", NOON), told("q-2", NOON)))
    sets, runs = GoldenSets(engine), ProbeRuns(engine)
    golden = sets.save(
        "support", [item(1, source=Source(APP, "q-1")), item(2, source=Source(APP, "q-2"))], by="ada", now=AT
    )
    began = runs.begin(run(golden_hash=golden.hash), mark="1")
    for place, one in enumerate(golden.items):
        runs.save(began.number, place, result(one, 4))
    runs.end(began.number, RunState.DONE, now=AT)
    erasure = Erasure(engine)

    def erase(id_):
        erasure.erase(APP, erasure.find(ErasureTarget(app=APP, ids=(id_,))), by="eve", reason_given=False, now=NOON)

    erase("q-1")
    assert [one.id for one in sets.newest("support").items] == ["q2"]
    gone, kept = runs.results(began.number)
    assert (gone.item.question, gone.turns[0].question, gone.turns[0].answer, gone.correctness) == (GONE, GONE, GONE, 4)
    assert kept == result(golden.items[1], 4)
    # the next run numbers what is left from the first place on
    second = runs.begin(run(golden_hash=golden.hash), mark="2")
    runs.save(second.number, 0, result(golden.items[1], 5))
    assert runs.results(second.number) == [result(golden.items[1], 5)]
    erase("q-2")
    assert [one.turns[0].question for n in (began, second) for one in runs.results(n.number)] == [GONE] * 3
    assert sets.newest("support") is None
    assert sets.save("support", [item(3)], by="ada", now=AT).version == 2
    with engine.connect() as connection:
        accounts = read_accounts(connection, QUEUE_KEY)
        assert [*acts_against_rows(connection, QUEUE_KEY), *blanked_probes(connection, accounts)] == []


def test_a_set_asks_each_question_once(engine):
    sets = GoldenSets(engine)
    sets.save("support", [item(1), item(2)], by="ada", now=AT)
    twin = replace(item(3), question=f" {item(1).question.upper()}")
    with pytest.raises(WrongSettings, match="'q3' asks what 'q1' asks"):
        sets.add("support", twin, by="ada", now=AT)
    with pytest.raises(WrongSettings, match="two items have the id 'q2'"):
        sets.save("support", [item(1), item(2), item(2)], by="ada", now=AT)


@pytest.mark.parametrize("name", ["", "a/b", "a\n", " a", "x" * 101])
def test_what_cannot_be_the_name_of_a_set_is_refused(engine, name):
    with pytest.raises(WrongSettings, match="cannot be the name of a golden set"):
        GoldenSets(engine).save(name, [item(1)], by="ada", now=AT)


def test_the_golden_items_of_any_number_of_interactions_are_counted(engine):
    """PostgreSQL takes 65,535 parameters."""
    sets = GoldenSets(engine)
    sets.save("support", [item(n, source=Source(APP, f"q-{n}")) for n in range(3)], by="ada", now=AT)
    many = [Erasable(id=f"q-{n}", occurred_at=NOON, erased=False) for n in range(1, 70_000)]
    assert Erasure(engine).golden_items(APP, many) == 2
