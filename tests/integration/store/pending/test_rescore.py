"""Pending work beside a rescore."""

from __future__ import annotations

import pytest

from monitor.core.batch import Tally
from monitor.store.pending.finish import finish_assessed
from tests.factories.answers import (
    an_assessment,
)
from tests.rig.store.pending_work import TOPIC, Reader, assessed, claim, in_balance


def test_what_a_rescore_keeps_pending_is_no_matter_of_the_recount(writer, engine, rescore):
    Reader(writer).write(assessed=["a"])
    assert rescore("another", "a", "not stored") == Tally(received=2, assessed=1, pending=1)
    assert in_balance(engine) == {
        ("monitor", TOPIC, 0): (1, 1, 0, 0, 0),
        ("rescore another", TOPIC, 0): (2, 1, 0, 0, 1),
    }


@pytest.mark.parametrize("profile_hash", ["another", an_assessment().profile_hash], ids=["another", "the live one"])
def test_what_is_pending_gets_its_verdict_though_a_rescore_came_first(
    writer, queue, engine, rows, rescore, profile_hash
):
    Reader(writer).write(pending=["a", "b"])
    rescore(profile_hash, "a")
    assert finish_assessed(writer, assessed(claim(queue))) == 2
    assert in_balance(engine)["monitor", TOPIC, 0] == (2, 2, 0, 0, 0)
    assert rows("SELECT id FROM assessment WHERE live ORDER BY id") == [("a",), ("b",)]
    assert rows("SELECT sum(total)::integer FROM verdict_minute") == [(2,)]
