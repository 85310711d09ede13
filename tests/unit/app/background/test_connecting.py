"""Connecting to what may not answer."""

from __future__ import annotations

from threading import Event

import pytest

from monitor.app.background.connecting import unless_stopped
from monitor.core.errors import OutOfReach
from monitor.core.retry import Interrupted


def test_a_connection_is_returned_and_a_failure_raised_as_it_is():
    assert unless_stopped(Event(), lambda: "a client") == "a client"

    def refused():
        raise OutOfReach("nobody answers")

    with pytest.raises(OutOfReach, match="nobody answers"):
        unless_stopped(Event(), refused)


def test_a_connection_that_never_comes_is_not_waited_for_once_we_stop():
    stop, never = Event(), Event()

    def connect():
        stop.set()
        never.wait()

    with pytest.raises(Interrupted):
        unless_stopped(stop, connect)
    never.set()
