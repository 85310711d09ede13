"""Runs of probes and golden items in the audit trail: whoever has only the database changes nothing unnoticed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.core.model import Verdict
from monitor.privacy.retention import Keeping, Policy
from monitor.probe.result import RunState
from monitor.store.audit.checks.accounts import read_accounts
from monitor.store.audit.checks.cross import acts_against_rows, blanked_probes
from monitor.store.privacy.probe_texts import ProbeTexts
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.rows import GONE
from monitor.store.probe.runs import ProbeRuns
from tests.factories.probe.runs import AT, item, result, run
from tests.rig.store.keys import QUEUE_KEY

TURN = "UPDATE probe_turn SET question = '', answer = '', documents = '[]', composed = NULL, feedback = ''"


@pytest.fixture
def findings(engine):
    def found():
        with engine.connect() as connection:
            accounts = read_accounts(connection, QUEUE_KEY)
            both = (*acts_against_rows(connection, QUEUE_KEY), *blanked_probes(connection, accounts))
            return [finding.sentence for finding in both]

    return found


@pytest.fixture
def stored(engine):
    """Two runs, one of which was abandoned, of a golden set of two items."""
    golden = GoldenSets(engine).save("support", [item(1), item(2)], by="ada", now=AT)
    runs = ProbeRuns(engine)
    for mark in ("1", "2"):
        began = runs.begin(run(golden_hash=golden.hash), mark=mark)
        for place, one in enumerate(golden.items):
            runs.save(began.number, place, result(one, 4, 5))
        if mark == "1":
            runs.end(began.number, RunState.DONE, now=AT)
    assert runs.abandon("support", now=AT) == 1
    return runs


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("UPDATE probe_result SET correctness = 5 WHERE place = 0 AND run = {}", "was changed: results"),
        ("DELETE FROM probe_result WHERE place = 1 AND run = {}", "was changed: results"),
        ("UPDATE probe_turn SET answer = 'Free.' WHERE place = 0 AND run = {}", "was changed: results"),
        ("UPDATE probe_turn SET scores = '{{5}}' WHERE place = 0 AND run = {}", "was changed: results"),
        ("DELETE FROM probe_turn WHERE place = 0 AND turn = 1 AND run = {}", "was changed: results"),
        ("UPDATE probe_result SET secret = NULL WHERE place = 0 AND run = {}", "was changed: results"),
        ("UPDATE probe_result SET committed = NULL WHERE run = {}", "was changed: results"),
        ("UPDATE probe_run SET chatbot = 'v9' WHERE number = {}", "was changed: chatbot"),
        ("UPDATE probe_run SET mark = 'other' WHERE number = {}", "was changed: mark"),
        ("UPDATE probe_run SET candidate = true WHERE number = {}", "was changed: candidate"),
        ("UPDATE probe_run SET state = 'running' WHERE number = {}", "was changed: state"),
        ("DELETE FROM probe_run WHERE number = {}", "is not stored any more"),
    ],
)
def test_a_changed_run_is_found(findings, rows, number, change, sentence):
    assert findings() == []
    rows(change.format(number))
    assert any(f"the probe {number}" in found and sentence in found for found in findings()), findings()


@pytest.mark.usefixtures("stored")
def test_a_run_that_nobody_made_is_found(findings, rows):
    columns = (
        "probe, app, environment, chatbot, golden, golden_version, golden_hash, items, target, judge, prompts_hash, "
        "repeats, turns, state, began_at, ended_at"
    )
    rows(f"INSERT INTO probe_run (mark, {columns}) SELECT 'forged', {columns} FROM probe_run WHERE number = 1")
    assert [found for found in findings() if "was never sealed" in found] != []


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE golden_item SET reference = 'It is free.' WHERE place = 1",
        'UPDATE golden_item SET tags = \'{"a": "b"}\' WHERE place = 1',
        "DELETE FROM golden_item WHERE place = 1",
        "UPDATE golden_item SET erased = true, question = '', reference = '', secret = NULL WHERE place = 1",
        "UPDATE golden_item SET source_app = 'shop', source_id = 'erased' WHERE place = 0",
    ],
)
def test_an_item_is_proven_where_another_one_was_erased(findings, rows, change):
    """The hash of the set tells nothing about what is left of it."""
    rows("UPDATE golden_item SET erased = true, question = '', reference = '', secret = NULL WHERE place = 0")
    (alone,) = findings()
    assert "the item q1 of the golden set support 1 is erased, and no erasure says why" in alone
    rows(change)
    assert [found for found in findings() if found != alone] != []


def test_texts_go_with_an_act_that_says_so_and_scores_stay_proven(stored, engine, findings, rows):
    texts = ProbeTexts(engine)
    keeping = Keeping(keep=timedelta(days=30), by_verdict={Verdict.REFUSAL: timedelta(days=1)})
    policy = Policy(by_app={"shop": keeping})

    def cut_offs(days):
        return policy.cut_offs(texts.apps(), AT + timedelta(days=days))

    assert (texts.due(cut_offs(29)), texts.due(cut_offs(31))) == (0, 2)
    assert texts.remove(cut_offs(29), by="ada", now=AT) == 0
    assert texts.remove(cut_offs(31), by="ada", now=AT) == 2
    assert texts.remove(cut_offs(31), by="ada", now=AT) == 0
    assert findings() == []
    kept = stored.results(1)
    assert [(one.correctness, one.turns[0].answer, one.turns[0].grade.score) for one in kept] == [(4, GONE, 4)] * 2
    for change in ("probe_turn SET scores = '{5}'", "probe_turn SET feedback = 'Fine.'", "probe_result SET wscore = 5"):
        rows(f"UPDATE {change} WHERE place = 0 AND run = 1")
        assert "was changed: results" in findings()[0]


@pytest.mark.usefixtures("stored")
def test_texts_that_went_without_an_act_are_missed(findings, rows):
    rows(f"{TURN} WHERE run = 1 AND place = 0")
    rows("UPDATE probe_result SET secret = NULL WHERE run = 1 AND place = 0")
    assert findings() == ["the texts about q1 in run 1 of a probe are gone, and nothing says why"]


def test_what_comes_after_the_end_of_a_run_is_not_stored(stored):
    stored.save(1, 7, result(item(7), 5))
    assert len(stored.results(1)) == 2


def test_a_set_from_before_there_were_commitments_is_held_to_its_hash(engine, findings, rows, monkeypatch):
    monkeypatch.setattr("monitor.store.probe.golden.items_digest", lambda _: None)
    GoldenSets(engine).save("support", [item(1)], by="ada", now=AT)
    monkeypatch.undo()
    rows("UPDATE golden_item SET secret = NULL, committed = NULL")
    assert findings() == []
    rows("UPDATE golden_item SET reference = 'It is free.'")
    assert "the golden support 1" in findings()[0]
