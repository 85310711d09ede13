"""What accounts for a revised row under leaves of an earlier release, which do not say what they follow from."""

from __future__ import annotations

import pytest

from monitor.assess.classify.profile import load_profile
from monitor.assess.judge.metric import Outcome
from monitor.core.pending import Work
from monitor.store.audit.checks.accounts import Accounts
from monitor.store.audit.checks.leaf_and_row import UnequalRow
from monitor.store.audit.checks.row_history import RowHistory
from monitor.store.audit.leaf import Leaf
from monitor.store.audit.verify import verify
from monitor.store.audit_queue import Kind, driver
from monitor.store.audit_rows import read_rows
from monitor.store.interaction.assessments import AssessmentQueries
from monitor.store.pending.finish import finish_judged, finish_revised
from tests.factories.answers import A_STAND_IN, FROM_THE_SIDECAR, NOON, a_judgement, an_assessment, at
from tests.rig.store.audit_trail import Trail
from tests.rig.store.keys import KEY, QUEUE_KEY
from tests.rig.store.pending_work import assessed

PROFILE = load_profile("hash", "hash/64", "hash/64")
UNNAMED = "UPDATE audit_leaf SET body = regexp_replace(body, ',\"(entry|revises)\":\"[^\"]*\"', '', 'g')"
LEAVES = """
    SELECT index, kind, app, subject, part, sealed_at, body, hash FROM audit_leaf
    WHERE kind = 'assessment' ORDER BY index
"""


@pytest.mark.parametrize(("first", "doubted"), [("grounded", 0), ("refusal", 1)])
def test_the_first_of_several_revisions_is_compared_with_what_the_row_kept_first(
    engine, database, rows, first, doubted
):
    AssessmentQueries(engine).save_profile(PROFILE, NOON)
    trail = Trail(engine, database)
    trail.write(an_assessment(profile_hash=PROFILE.hash, support=A_STAND_IN), follow_ups=(Work.SIDECAR, Work.JUDGE))
    trail.turn()
    with trail._worker(Work.SIDECAR) as (writer, claims):
        finish_revised(writer, assessed(claims, support=FROM_THE_SIDECAR, profile_hash=PROFILE.hash), at(1))
    trail.turn()
    with trail._worker(Work.JUDGE) as (writer, claims):
        finish_judged(writer, [(claim, [a_judgement(outcome=Outcome(score=0.0))]) for claim in claims], at(2))
    trail.turn()
    rows(UNNAMED)
    rows(f"UPDATE assessment SET earlier = jsonb_set(earlier, '{{earlier,verdict}}', '\"{first}\"')")
    with engine.connect() as connection:
        leaves = [Leaf(*found) for found in driver(connection).execute(LEAVES).fetchall()]
        (row,) = read_rows(driver(connection), Kind.ASSESSMENT, [leaves[0].key]).values()
        pairs = [UnequalRow(leaf, row, None) for leaf in leaves[:-1]]
        history = RowHistory(driver(connection), Kind.ASSESSMENT, pairs, Accounts(), None)
        found = [history.judge(pair) for pair in pairs]
    assert len(pairs) == 2
    assert len([finding for finding in found if finding is not None]) == doubted


@pytest.mark.parametrize(
    ("missing", "kind", "body"),
    [
        ("interaction", "assessment", "repeat('[', 100000)"),
        (
            "assessment",
            "interaction",
            """'{"marks":["time_out_of_range"],"occurred_at":"2026-01-02","stored_at":"2026-01-01T00:00:00+00:00"}'""",
        ),
    ],
)
def test_no_leaf_beside_that_of_a_missing_row_stops_a_verification(engine, database, rows, missing, kind, body):
    trail = Trail(engine, database)
    trail.write(an_assessment())
    trail.turn()
    rows(f"DELETE FROM {missing}")
    rows(f"UPDATE audit_leaf SET body = {body} WHERE kind = '{kind}'")
    found = verify(engine, [KEY], QUEUE_KEY, notes=trail.witness.notes).findings
    assert {f"leaf {index}" in " ".join(one.sentence for one in found) for index in (0, 1)} == {True}
