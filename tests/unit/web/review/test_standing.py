"""What the labels come to is read again when another label is given, and once a minute."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from monitor.web.review import standing
from monitor.web.review.standing import StandingCache
from tests.factories.answers import at


@dataclass
class Stored:
    newest: int = 1
    read: list = field(default_factory=list)

    def newest_label(self):
        return self.newest

    def shortage(self, app):
        self.read.append(app)
        return app, self.newest


@pytest.fixture
def stored(monkeypatch):
    stored = Stored()
    monkeypatch.setattr(standing, "agreement_report", lambda _, *, app, weeks, now: (app, weeks, now))
    return stored


def test_each_app_is_read_once_until_another_label_is_given(stored):
    cache = StandingCache(stored.shortage, stored)
    for _ in range(3):
        assert cache.of(None, at(0)).lacking == (None, 1)
        assert cache.of("shop", at(0)).report == ("shop", standing.WEEKS, at(0))
    assert stored.read == [None, "shop"]
    stored.newest = 2
    assert cache.of("shop", at(0)).lacking == ("shop", 2)
    assert stored.read == [None, "shop", "shop"]


@pytest.mark.parametrize("moved", [timedelta(minutes=1), -timedelta(seconds=1)])
def test_after_a_minute_it_is_read_again_also_with_the_clock_set_back(stored, moved):
    cache = StandingCache(stored.shortage, stored)
    cache.of(None, at(0))
    assert cache.of(None, at(0) + timedelta(seconds=59)).report[2] == at(0)
    assert cache.of(None, at(0) + moved).report[2] == at(0) + moved
