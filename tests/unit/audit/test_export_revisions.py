"""Revisions in an export: the verifier names a revised record that does not follow from the record before it."""

from __future__ import annotations

import json

import pytest

from monitor.audit.record import assessment_record, interaction_record
from monitor.store.audit_rows import record_digest
from tests.factories.audit.rows import SECRET, SIGNER, an_assessment_row, an_interaction_row
from tests.rig.audit.shipped import standalone
from tests.unit.audit.test_export_statements import exported


def leaf(record, *, revises=None, **over):
    said = {"entry": "a1/1", **({} if revises is None else {"revises": record_digest(revises)}), **over}
    return {**record, **said, "sealed_at": "2025-11-21T13:00:00.000000Z"}


def an_answer(model="gpt-test", **over):
    row = an_interaction_row(model=model, tag_digests=None, cost=None, source_topic=None, **over)
    return interaction_record(row, SECRET)


def a_verdict(verdict="grounded", **over):
    return assessment_record(an_assessment_row(verdict=verdict, **over), SECRET)


FIRST, SECOND, THIRD = (leaf(an_answer(model)) for model in ("a", "b", "c"))
GROUNDED, REFUSAL, SELF = (leaf(a_verdict(verdict)) for verdict in ("grounded", "refusal", "self_generated"))
CHAIN = [
    FIRST,
    GROUNDED,
    leaf(SECOND, revises=FIRST),
    leaf(REFUSAL, revises=GROUNDED),
    leaf(THIRD, revises=SECOND),
    leaf(SELF, revises=REFUSAL),
    leaf(a_verdict(profile_hash="fedcba9876543210")),  # of another row
]
GONE = {"v": 2, "kind": "interaction", "app": "support-bot", "id": "q-1", "part": "", "gone": True}


def test_revisions_that_name_the_record_before_them_are_counted(verify):
    code, said = verify(exported(records=CHAIN))
    assert (code, "4 revised records name the record before them" in said) == (0, True), said
    assert "revised" not in verify(exported(records=[FIRST, GROUNDED]))[1]


@pytest.mark.parametrize(
    ("records", "without", "named"),
    [
        ([leaf(an_answer("forged")), leaf(SECOND, revises=FIRST)], [], "leaf 1 (interaction 'q-1')"),
        ([GROUNDED, leaf(SELF, revises=REFUSAL)], [], "leaf 1 (assessment 'q-1')"),
        (CHAIN, [2], "leaf 4 (interaction 'q-1')"),
        ([FIRST, leaf(SECOND, revises=FIRST), leaf(THIRD, revises=FIRST)], [], "leaf 2 (interaction 'q-1')"),
    ],
    ids=["replaced", "a verdict", "left out", "another revision between"],
)
def test_a_revision_of_something_else_is_named(verify, records, without, named):
    code, said = verify(exported(records=records, without=without))
    assert code == 1
    assert f"fault: {named} revises something else than leaf" in said


@pytest.mark.parametrize(
    ("records", "without"),
    [
        (CHAIN[:3], [0]),
        ([{**FIRST, "v": 1}, leaf(SECOND, revises=FIRST)], []),
        ([GONE | {"sealed_at": FIRST["sealed_at"]}, leaf(SECOND, revises=FIRST)], []),
        ([{name: said for name, said in FIRST.items() if name != "entry"}, leaf(SECOND, revises=THIRD)], []),
    ],
    ids=["it is not here", "of an earlier version", "it was gone", "sealed by an earlier release"],
)
def test_what_cannot_be_told_is_said_and_no_fault(verify, records, without):
    code, said = verify(exported(records=records, without=without))
    assert code == 0, said
    assert "what 1 revised records were before: that is not here, or of an earlier release" in said


def test_a_verdict_on_texts_that_were_replaced_may_give_way_to_another(verify):
    records = [GROUNDED, FIRST, leaf(SECOND, revises=FIRST), leaf(SELF, revises=REFUSAL)]
    code, said = verify(exported(records=records))
    assert (code, "1 revised records name" in said, "what 1 revised records were before" in said) == (0, True, True)


def test_a_row_of_an_earlier_release_may_be_read_when_it_was_revised_already(verify):
    """An entry of that release only names the row."""
    records = [SECOND, leaf(an_answer("between")), leaf(SECOND, revises=FIRST)]
    assert verify(exported(records=[SECOND, leaf(SECOND, revises=FIRST)]))[0] == 0
    assert verify(exported(records=[SECOND, leaf(THIRD, revises=FIRST), leaf(SECOND, revises=THIRD)]))[0] == 0
    assert verify(exported(records=records))[0] == 1


def test_a_proof_is_checked_in_the_same_way(tmp_path, capsys):
    for records, code in ((CHAIN, 0), ([CHAIN[0], CHAIN[4]], 1)):
        export = tmp_path / "export"
        export.write_bytes(exported(records=records))
        files = standalone.Files(export)
        with files.open("records.jsonl") as lines:
            held = [json.loads(line) for line in lines]
        proof = {"records": held, "checkpoints": [files.text("checkpoints.txt")]}
        (tmp_path / "proof.json").write_text(json.dumps(proof))
        assert standalone.main([str(tmp_path / "proof.json"), "--key", SIGNER.verifier_key]) == code
        said = capsys.readouterr().out
        assert ("4 revised records name" if code == 0 else "revises something else than leaf 0") in said
