"""A scripted LLM server, and the vendor's client for it."""

from __future__ import annotations

import openai
import pytest

from tests.servers.llm import (
    KEY,
    llm_server,
)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server():
    with llm_server() as running:
        yield running


@pytest.fixture
def client(server):
    with openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0) as made:
        yield made
