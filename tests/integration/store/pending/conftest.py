"""Fixtures: the queue of the test database, and a writer that queues follow-ups."""

from __future__ import annotations

from contextlib import closing

import pytest

from monitor.core.message import Offset, Position
from monitor.core.pending import Work
from monitor.store.interaction.writer import Writer
from monitor.store.pending.queue import PendingQueue
from tests.factories.answers import (
    a_batch,
    an_assessment,
    an_interaction,
    clock,
)
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.pending_work import TOPIC


@pytest.fixture
def queue(engine):
    return PendingQueue(engine)


@pytest.fixture
def follow_ups():
    """The work that the writer queues for an assessment; tests change it."""
    return {Work.SIDECAR, Work.JUDGE}


@pytest.fixture
def writer(database, follow_ups):
    """Queues the sidecar where support is a stand-in, and the judge always, if `follow_ups` contains them."""

    def wanted(assessment):
        stands_in = assessment.support.stands_in
        kinds = {Work.JUDGE} | ({Work.SIDECAR} if stands_in is not None and stands_in.queued else set())
        return kinds & follow_ups

    with closing(Writer(database, clock, follow_ups=wanted, queue_key=QUEUE_KEY)) as writer:
        yield writer


@pytest.fixture
def rescore(database):
    """A writer that rescores under the profile with this hash."""

    def read(profile_hash, *ids_):
        its = [
            an_interaction(id=id_, position=Position(topic=TOPIC, partition=0, offset=n)) for n, id_ in enumerate(ids_)
        ]
        found = [an_assessment(interaction=it, profile_hash=profile_hash) for it in its]
        offset = Offset(topic=TOPIC, partition=0, expected=None, begin=0, next=len(ids_), received=len(ids_))
        with closing(
            Writer(database, clock, group=f"rescore {profile_hash}", rescore=profile_hash, queue_key=QUEUE_KEY)
        ) as writer:
            return writer.write(a_batch(*found, offsets=(offset,)))

    return read
