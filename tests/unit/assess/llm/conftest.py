from __future__ import annotations

import pytest

from monitor.assess.llm import client, transport
from monitor.assess.llm.client import ChatModel
from monitor.assess.llm.exchange import Purpose
from monitor.core import retry
from monitor.core.figures.prices import Price
from monitor.simulate.fakes.flow import MemoryBudget
from tests.factories.assess.llm import GOOD, PRICE, Clock
from tests.servers.llm import CHAT_MODEL, KEY, llm_server


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    """Delays keep their ratios, in a shorter unit."""
    monkeypatch.setattr(retry, "FIRST_DELAY", 0.002)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with llm_server(answer=lambda _: GOOD) as running:
        yield running


@pytest.fixture
def budget():
    return MemoryBudget()


@pytest.fixture
def make(server, budget):
    made = []

    def build(**settings):
        usual = {"model": CHAT_MODEL, "api_key": KEY, "base_url": server.base_url, "purpose": Purpose.SIDECAR}
        usual |= {"budget": budget, "price": lambda: Price(input=PRICE, output=PRICE)}
        made.append(ChatModel(**{**usual, **settings}))
        return made[-1]

    yield build
    for model in made:
        model.close()


@pytest.fixture
def clock(monkeypatch):
    """The client's clock, for tests with one thread; delays have their real length on it."""
    monkeypatch.setattr(retry, "FIRST_DELAY", 0.5)
    clock = Clock()
    monkeypatch.setattr(client, "monotonic", clock)
    monkeypatch.setattr(transport, "monotonic", clock)
    monkeypatch.setattr(client, "Event", lambda: clock)
    return clock
