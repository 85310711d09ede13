"""What every `Outbox` promises of its locks, and of a database out of reach."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.core.errors import Retriable
from monitor.store.alert.outbox import PostgresOutbox
from monitor.store.database import connect
from tests.factories.alert.notifications import a_notification, at
from tests.factories.alert.outbox import a_group, tell


def test_the_lock_that_nobody_holds_is_ours_and_is_given_back(outbox):
    with pytest.raises(ZeroDivisionError), outbox.delivering("slack"):
        raise ZeroDivisionError
    for _ in range(3):
        with outbox.delivering("slack") as ours:
            assert ours


def test_each_receiver_has_its_own_lock(outbox):
    with outbox.delivering("slack") as ours, outbox.delivering("pager") as theirs:
        assert ours
        assert theirs


def test_the_lock_that_another_replica_holds_is_not_ours(backend, outbox, request):
    if backend == "memory":
        outbox.locked_by_another = True
        with outbox.delivering("slack") as ours:
            assert not ours
        return
    with PostgresOutbox(request.getfixturevalue("engine")).delivering("slack") as theirs:
        assert theirs
        for _ in range(2):  # giving back what was not ours does not free it
            with outbox.delivering("slack") as ours:
                assert not ours
    with outbox.delivering("slack") as ours:
        assert ours


@pytest.fixture
def lost(backend, outbox):
    """An outbox that cannot be reached."""
    if backend == "memory":
        outbox.out_of_reach = True
        yield outbox
        return
    engine = connect("postgresql://127.0.0.1:1/nothing")
    yield PostgresOutbox(engine)
    engine.dispose()


@pytest.mark.parametrize(
    "call",
    [
        lambda o: o.groups(),
        lambda o: o.waiting(),
        lambda o: o.copy_to_fallback("slack", "pager"),
        lambda o: o.purge(before=at(0), resent_before=at(0), limit=1),
        lambda o: o.silences(at(0)),
        lambda o: tell(o, a_group()),
        lambda o: o.due(at(0), "slack"),
        lambda o: o.mark_attempt(a_notification(id=1)),
        lambda o: o.delivered(a_notification(id=1), None, at(0)),
        lambda o: o.failed(a_notification(id=1), "away", at(0) + timedelta(minutes=1)),
        lambda o: o.delivering("slack").__enter__(),
    ],
    ids=[
        "groups",
        "waiting",
        "copy_to_fallback",
        "purge",
        "silences",
        "tell",
        "due",
        "attempting",
        "delivered",
        "failed",
        "delivering",
    ],
)
def test_an_outbox_out_of_reach_is_retriable(lost, call):
    with pytest.raises(Retriable):
        call(lost)
