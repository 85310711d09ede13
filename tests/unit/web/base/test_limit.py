from datetime import timedelta

from monitor.web.base.limit import Limit
from tests.factories.answers import NOON, at

WINDOW = timedelta(minutes=1)


def test_so_many_tries_and_then_none_until_the_oldest_is_a_window_ago():
    limit = Limit(most=2, window=WINDOW)
    assert limit.taken("a", NOON) is None
    assert limit.taken("a", at(0.5)) is None
    assert limit.taken("a", at(0.75)) == timedelta(seconds=15)
    assert limit.taken("a", at(1)) is None
    assert limit.taken("a", at(1)) == timedelta(seconds=30)


def test_who_is_sent_away_is_not_kept_away_for_longer_by_trying_on():
    limit = Limit(most=1, window=WINDOW)
    limit.taken("a", NOON)
    for seconds in range(1, 60):
        assert limit.taken("a", NOON + timedelta(seconds=seconds)) is not None
    assert limit.taken("a", at(1)) is None


def test_one_s_tries_are_not_another_s_and_can_be_forgiven():
    limit = Limit(most=1, window=WINDOW)
    assert limit.taken("a", NOON) is limit.taken("b", NOON) is None
    limit.forgive("a")
    limit.forgive("never seen")
    assert limit.taken("a", NOON) is None
    assert limit.taken("b", NOON) is not None


def test_memory_is_bounded_and_who_was_quiet_longest_is_forgotten(monkeypatch):
    monkeypatch.setattr("monitor.web.base.limit._MOST_KEYS", 2)
    limit = Limit(most=1, window=WINDOW)
    for key in ("a", "b", "a", "c"):
        limit.taken(key, NOON)
    assert limit.taken("a", NOON) is not None
    assert limit.taken("b", NOON) is None
