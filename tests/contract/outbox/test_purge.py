"""What every `Outbox` promises of a purge: finished notifications go, waiting ones stay."""

from __future__ import annotations

from tests.factories.alert.notifications import at
from tests.factories.alert.outbox import a_group, due, tell, tell_all


def purged(outbox, *, before=100.0, resent_before=0.0, limit=10) -> int:
    return outbox.purge(before=at(before), resent_before=at(resent_before), limit=limit)


def test_notifications_are_purged_once_their_episode_is_over(outbox):
    tell(outbox, a_group())
    outbox.delivered(outbox.due(at(9), "slack")[0], {"ts": "1"}, at(9))
    assert purged(outbox) == 0  # it is not over
    tell(outbox, a_group(number=2), over=True)
    assert purged(outbox) == 0  # its end waits, and needs the receipt
    (last,) = outbox.due(at(10), "slack")
    assert last.previous == {"ts": "1"}
    outbox.delivered(last, None, at(10))
    assert purged(outbox, before=9) == 0
    assert purged(outbox, before=9.5) == 1
    assert purged(outbox) == 1


def test_what_was_given_up_goes_too_and_what_waits_never(outbox):
    for key in ("g1", "g2"):
        tell_all(outbox, key=key, episode=f"e{key}", told_at=at(1))
    for _ in range(2):
        outbox.failed(outbox.due(at(9), "slack")[0], "gone", None)
    assert purged(outbox, before=1) == 0
    assert purged(outbox, limit=1) == 1
    assert [purged(outbox), purged(outbox)] == [1, 0]
    assert due(outbox) == [("slack", "g2", "eg2", 0)]


def test_repetitions_for_receivers_that_forget_are_purged_soon(outbox):
    for number, (pages, receipt) in enumerate([(False, None), (True, None), (False, {"ts": "1"}), (False, None)], 1):
        tell(outbox, a_group(number=number, told_at=at(number)), news="repeated", pages=pages)
        outbox.delivered(outbox.due(at(60), "slack")[0], receipt, at(number))
    assert purged(outbox, before=0, resent_before=4) == 1
    assert purged(outbox, before=0, resent_before=5) == 1
    assert purged(outbox, resent_before=50) == 0
