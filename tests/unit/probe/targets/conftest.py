"""A scripted chatbot over HTTP."""

from __future__ import annotations

import pytest

from tests.servers.chatbot import chatbot


@pytest.fixture
def bot(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with chatbot() as running:
        yield running
