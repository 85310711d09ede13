"""What is usual in an app is read aside of the events, and read again after a while."""

from __future__ import annotations

import threading
from threading import Event

from monitor.app.wiring import relevance
from monitor.app.wiring.relevance import MOST_APPS, RELOAD, WatchedRelevance
from monitor.assess.chunks.examine import USUAL
from monitor.assess.threshold import Spread
from monitor.core.errors import OutOfReach

OF_SHOP = Spread(mean=0.6, sd=0.1)


class Stored:
    """Answers once it is let; notes the apps that it was asked for."""

    def __init__(self, *found):
        self.found = list(found)
        self.asked = []
        self.let, self.answered = Event(), Event()

    def of(self, app, otherwise):
        self.asked.append((app, otherwise))
        assert self.let.wait(10)
        found = self.found.pop(0)
        if not self.found:
            self.answered.set()
        if isinstance(found, Exception):
            raise found
        return found


class Watch:
    def __init__(self, *found):
        self.now = 100.0
        self.store = Stored(*found)
        self.usual = WatchedRelevance(lambda: self.store, clock=lambda: self.now)

    def settled(self):
        """Lets the store answer, and waits until the last look has ended."""
        self.store.let.set()
        assert self.store.answered.wait(10)
        while self.usual._looking:
            pass


def test_no_event_waits_for_the_first_look():
    watch = Watch(OF_SHOP)
    assert watch.usual("shop") == USUAL
    watch.settled()
    assert watch.usual("shop") == OF_SHOP
    assert watch.store.asked == [("shop", USUAL)]


def test_an_app_is_looked_up_again_after_a_while_and_stays_as_it_was_until_then():
    later = Spread(mean=0.3, sd=0.1)
    watch = Watch(OF_SHOP)
    watch.usual("shop")
    watch.settled()
    watch.now += RELOAD - 1
    assert watch.usual("shop") == OF_SHOP
    assert len(watch.store.asked) == 1
    watch.now += 1
    watch.store.found, watch.store.answered = [later], Event()
    assert watch.usual("shop") == OF_SHOP
    watch.settled()
    assert watch.usual("shop") == later


def test_a_database_out_of_reach_leaves_what_is_known_and_is_asked_again_later(caplog):
    watch = Watch(OutOfReach("no answer"))
    watch.usual("shop")
    watch.settled()
    assert watch.usual("shop") == USUAL
    assert "how relevant chunks of shop usually are is not known: no answer" in caplog.text
    watch.now += RELOAD
    watch.store.found, watch.store.answered = [OF_SHOP], Event()
    watch.usual("shop")
    watch.settled()
    assert watch.usual("shop") == OF_SHOP


def test_memory_is_bounded_in_apps(monkeypatch):
    monkeypatch.setattr(relevance, "Thread", lambda **_: type("Never", (), {"start": lambda _: None})())
    watch = Watch()
    for number in range(2 * MOST_APPS):
        watch.usual(f"app-{number}")
    assert len(watch.usual._held) == MOST_APPS
    assert len(watch.usual._due) == MOST_APPS


def test_a_look_that_ends_unexpectedly_is_not_the_last(monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    watch = Watch(RuntimeError("a bug"))
    watch.usual("shop")
    watch.settled()
    watch.now += RELOAD
    watch.store.found, watch.store.answered = [OF_SHOP], Event()
    watch.usual("shop")
    watch.settled()
    assert watch.usual("shop") == OF_SHOP


def test_the_name_of_an_app_stays_on_its_line(caplog):
    watch = Watch(OutOfReach("no answer"))
    watch.usual("shop\nERROR all is lost\x1b[2J")
    watch.settled()
    assert "of shop ERROR all is lost[2J usually" in caplog.text


def test_closing_waits_for_the_look_under_way_and_begins_none():
    watch = Watch(OF_SHOP)
    watch.usual("shop")
    while not watch.store.asked:
        pass
    watch.usual("bank")
    ended = Event()

    def close():
        watch.usual.close()
        ended.set()

    closing = threading.Thread(target=close)
    closing.start()
    assert not ended.wait(0.1)
    watch.store.let.set()
    closing.join(10)
    assert ended.is_set()
    assert watch.usual("bank") == USUAL
    assert watch.usual("inn") == USUAL
    assert watch.store.asked == [("shop", USUAL)]
    assert watch.usual._looking is None
