from __future__ import annotations

from collections import Counter

import pytest

from monitor.core.errors import Retriable
from monitor.ingest.lookup.guard import CachedLookup, PatientLookup
from monitor.ingest.lookup.lookup import LookupByApp


class Shelf:
    """A look-up that knows some texts, counts what it is asked, and can be down."""

    def __init__(self, **texts):
        self.known = texts
        self.asked = Counter()
        self.calls = 0
        self.down = False

    def texts(self, app, ids):
        self.calls += 1
        if self.down:
            raise Retriable("shelf: down")
        self.asked.update(ids)
        return {key: self.known[key] for key in ids if key in self.known}

    def describe(self):
        return "shelf"


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_what_was_found_is_not_asked_for_again_until_it_is_old():
    shelf, clock = Shelf(a="A", b="B"), Clock()
    cached = CachedLookup(shelf, max_bytes=10_000, seconds=60, clock=clock)
    assert cached.texts("shop", ["a", "a", "x"]) == {"a": "A"}
    assert cached.texts("shop", ["a", "b"]) == {"a": "A", "b": "B"}
    assert shelf.asked == {"a": 1, "b": 1, "x": 1}
    clock.now = 61.0
    assert cached.texts("shop", ["a"]) == {"a": "A"}
    assert shelf.asked["a"] == 2


def test_apps_do_not_share_texts():
    shelf = Shelf(a="A")
    cached = CachedLookup(shelf, max_bytes=10_000, seconds=60)
    cached.texts("shop", ["a"])
    cached.texts("bank", ["a"])
    assert shelf.asked == {"a": 2}


def test_the_cache_is_bounded_in_bytes():
    shelf = Shelf(**{f"d{i}": "x" * 1_000 for i in range(50)}, long="x" * 100_000)
    cached = CachedLookup(shelf, max_bytes=20_000, seconds=60)
    assert len(cached.texts("shop", [*shelf.known])["long"]) == 100_000
    assert cached._cache.currsize <= 20_000


def test_turns_wait_for_a_source_that_is_down_for_a_while_and_then_go_on():
    shelf, clock = Shelf(a="A"), Clock()
    patient = PatientLookup(shelf, patience=300, clock=clock)
    assert patient.texts("shop", ["a"]) == {"a": "A"}
    shelf.down = True
    for now in (100.0, 200.0, 399.0):
        clock.now = now
        with pytest.raises(Retriable, match="shelf: down"):
            patient.texts("shop", ["a"])
    clock.now = 400.0
    assert patient.texts("shop", ["a"]) == {}
    calls = shelf.calls
    clock.now = 405.0
    assert patient.texts("shop", ["a"]) == {}
    assert shelf.calls == calls  # it is not asked at every turn
    shelf.down = False
    clock.now = 411.0
    assert patient.texts("shop", ["a"]) == {"a": "A"}
    shelf.down = True
    clock.now = 500.0
    with pytest.raises(Retriable):  # a new outage is waited for again
        patient.texts("shop", ["a"])


def test_each_app_has_its_source():
    lookup = LookupByApp(Shelf(a="of all"), {"shop": Shelf(a="of the shop")})
    assert lookup.texts("shop", ["a"]) == {"a": "of the shop"}
    assert lookup.texts("bank", ["a"]) == {"a": "of all"}
    assert LookupByApp(None, {"shop": Shelf()}).texts("bank", ["a"]) == {}
    assert lookup.describe() == "shelf; shop: shelf"
