"""Someone who may do anything in the database, its queue included, is found out; nobody else is accused."""

from __future__ import annotations

from contextlib import closing
from random import Random

import pytest

from tests.rig.store.history import Attacker, History

ACTS = 10


@pytest.mark.parametrize("seed", range(12))
def test_an_attacker_is_found_and_each_act_is_named(engine, database, seed):
    with closing(History(engine, database, Random(seed))) as history:
        words = Attacker(history).sequence(ACTS)
        found = history.end().findings
    missed = [named for named in words if not any(word in one.sentence for word in named for one in found)]
    assert missed == []


@pytest.mark.parametrize("seed", range(12))
def test_an_honest_history_has_no_findings(engine, database, seed):
    with closing(History(engine, database, Random(seed))) as history:
        for _ in range(ACTS * 2):
            history.step()
            assert history.verified().findings == ()
        assert history.end().findings == ()
