from __future__ import annotations

import getpass
import os

import pytest

from monitor.cli.alert.commands import _who


def test_who_does_something_is_the_user_unless_a_name_is_given(monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: "ada")
    assert (_who(None), _who(""), _who("bob")) == ("ada", "ada", "bob")


@pytest.mark.parametrize("error", [KeyError("uid not found"), OSError("No username set in the environment")])
def test_a_uid_without_a_name_acts_as_itself(monkeypatch, error):
    """As containers run on OpenShift."""

    def getuser():
        raise error

    monkeypatch.setattr(getpass, "getuser", getuser)
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    assert _who(None) == "uid 54321"
    assert _who("bob") == "bob"
