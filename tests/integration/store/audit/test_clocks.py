"""Times that contradict each other are said and are no finding; the time that was signed is not taken away."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.store.audit.checks.ranges import CLOCKS
from monitor.store.audit.verify import verify
from tests.factories.answers import an_assessment, at
from tests.rig.store.audit_trail import Trail
from tests.rig.store.keys import KEY, QUEUE_KEY


@pytest.fixture
def trail(engine, database):
    return Trail(engine, database)


def checked(trail, notes=()):
    return verify(trail.engine, [KEY], QUEUE_KEY, notes=notes)


def test_a_clock_that_was_set_back_is_said_and_is_no_finding(trail):
    for id_, minute in (("a", 50), ("b", 40), ("c", 60)):
        trail.write(an_assessment(id=id_))
        trail.sealer.seal_and_sign(at(minute))
    found = checked(trail, trail.witness.notes)
    assert (found.findings, found.wrong_clocks) == ((), 1)
    (said,) = found.clocks
    assert said.startswith(f"leaf 2 says that it was sealed at {at(40).isoformat()}, before the leaf before it: ")


def test_answers_of_a_clock_that_is_ahead_are_said_up_to_some(trail):
    trail.write(*(an_assessment(id=f"q-{number}", occurred_at=at(90)) for number in range(CLOCKS)))
    trail.turn()
    found = checked(trail)
    assert (found.findings, found.wrong_clocks, len(found.clocks)) == ((), 2 * CLOCKS, CLOCKS)
    assert "before it occurred: " in found.clocks[0]


def test_the_time_that_was_signed_is_missed_without_a_witness(trail, rows):
    trail.write(an_assessment(id="a"))
    trail.turn()
    assert checked(trail).findings == ()
    rows("UPDATE audit_checkpoint SET note = regexp_replace(note, '[^\n]*\n$', ''), made_at = made_at")
    (finding,) = checked(trail).findings
    assert finding.sentence == "the checkpoint of 2 leaves: its note lacks the line that says when it was signed"


def test_an_hour_of_witnessed_times_is_still_the_signed_one(trail, rows):
    trail.write(an_assessment(id="a"))
    trail.turn()
    rows("UPDATE audit_checkpoint SET made_at = made_at + %s", timedelta(hours=1))
    assert {one.sentence for one in checked(trail).findings} == {
        "the checkpoint of 2 leaves: its time is not that of its last leaf",
        "the checkpoint of 2 leaves: its time is not the one that was signed",
    }
