"""Batches that were sent to a provider are looked after by one process at a time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.store.pending.batches import SentBatch, SentBatches
from tests.factories.answers import NOON

EVERY = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("looked_at", "due"),
    [
        (NOON, False),
        (NOON - EVERY, True),
        (NOON + EVERY, False),  # by another clock
        (NOON + timedelta(days=1), True),  # the clock was set back
    ],
)
def test_what_nobody_has_checked_for_long_is_checked_once(engine, looked_at, due):
    batches = SentBatches(engine)
    sent = SentBatch(id="b", claim="c", sent_at=looked_at, reserved={})
    batches.sent(sent, model="m", requests=1, now=looked_at)
    assert batches.to_look_after(NOON, every=EVERY) == [sent] * due
    assert batches.to_look_after(NOON, every=EVERY) == []
