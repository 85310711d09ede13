from datetime import timedelta

from monitor.web.base.limit import RateLimit
from tests.factories.answers import NOON, at

WINDOW = timedelta(minutes=1)


def test_attempts_are_refused_at_the_limit_until_the_oldest_is_a_window_ago():
    limit = RateLimit(most=2, window=WINDOW)
    assert limit.attempt("a", NOON) is None
    assert limit.attempt("a", at(0.5)) is None
    assert limit.attempt("a", at(0.75)) == timedelta(seconds=15)
    assert limit.attempt("a", at(1)) is None
    assert limit.attempt("a", at(1)) == timedelta(seconds=30)


def test_refused_attempts_do_not_lengthen_the_wait():
    limit = RateLimit(most=1, window=WINDOW)
    limit.attempt("a", NOON)
    for seconds in range(1, 60):
        assert limit.attempt("a", NOON + timedelta(seconds=seconds)) is not None
    assert limit.attempt("a", at(1)) is None


def test_each_key_has_its_own_limit_and_can_be_cleared():
    limit = RateLimit(most=1, window=WINDOW)
    assert limit.attempt("a", NOON) is limit.attempt("b", NOON) is None
    limit.clear("a")
    limit.clear("never seen")
    assert limit.attempt("a", NOON) is None
    assert limit.attempt("b", NOON) is not None


def test_memory_is_bounded_and_the_key_that_was_quiet_longest_is_forgotten(monkeypatch):
    monkeypatch.setattr("monitor.web.base.limit._MAX_KEYS", 2)
    limit = RateLimit(most=1, window=WINDOW)
    for key in ("a", "b", "a", "c"):
        limit.attempt(key, NOON)
    assert limit.attempt("a", NOON) is not None
    assert limit.attempt("b", NOON) is None
