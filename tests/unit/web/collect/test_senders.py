from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.core.errors import Retriable
from monitor.web.collect.refusal import Refused
from monitor.web.collect.senders import Sender, Senders
from tests.rig.web.door import NOW, MadeUpTokens, a_token


class Scene:
    def __init__(self, **tokens):
        self.access, self.moment, self.now = MadeUpTokens(tokens), 0.0, NOW
        self.senders = Senders(self.access, lambda: self.now, only_tokens=False, clock=lambda: self.moment)

    def code(self, secret):
        try:
            self.senders.identify(secret, from_here=True)
        except Refused as refused:
            return int(refused.status)
        return 200


def test_a_request_costs_no_look_at_the_database():
    scene = Scene(mon_x=a_token(app="support-bot"))
    assert not scene.senders.remembered("mon_x")
    for _ in range(5):
        assert scene.senders.identify("mon_x", from_here=False) == Sender(id="t1", app="support-bot")
        assert scene.senders.remembered("mon_x")
    assert scene.access.looks == 1


def test_a_revoked_token_ends_within_seconds_and_an_expired_one_at_once():
    scene = Scene(mon_x=a_token(), mon_short=a_token(expires_at=NOW + timedelta(seconds=1)))
    assert (scene.code("mon_x"), scene.code("mon_short")) == (200, 200)
    scene.access.tokens["mon_x"] = replace(scene.access.tokens["mon_x"], revoked_at=NOW)
    scene.now += timedelta(seconds=1)
    assert scene.code("mon_short") == 401
    scene.moment = 3.0
    assert scene.code("mon_x") == 401


def test_a_new_token_is_found_soon_and_wrong_ones_do_not_flood_the_database():
    scene = Scene(mon_x=a_token())
    assert [scene.code(f"mon_wrong{n}") for n in range(50)] == [401] * 50
    assert scene.access.looks == 1
    scene.access.tokens["mon_new"] = a_token(id="t2")
    scene.moment = 0.5
    assert scene.code("mon_new") == 200


def test_a_database_out_of_reach_is_remembered_for_a_moment():
    scene = Scene(mon_x=a_token())
    scene.access.trouble = Retriable("out of reach")
    for _ in range(5):
        with pytest.raises(Retriable):
            scene.code("mon_x")
    assert scene.access.looks == 1
    scene.access.trouble, scene.moment = None, 0.5
    assert scene.code("mon_x") == 200


def test_the_use_of_a_token_is_stored_once_a_minute():
    scene = Scene(mon_x=a_token(used_at=None))
    assert [scene.code("mon_x"), scene.code("mon_x")] == [200, 200]
    assert scene.access.used == ["t1"]
    scene.now += timedelta(minutes=1)
    assert not scene.senders.remembered("mon_x")
    assert scene.code("mon_x") == 200
    assert scene.access.used == ["t1", "t1"]
