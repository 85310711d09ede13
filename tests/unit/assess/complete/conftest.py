"""A sidecar completer, alone or with the LLM client and a scripted server."""

from __future__ import annotations

import pytest

from monitor.assess.complete.sidecar import SidecarCompleter
from tests.factories.assess.sidecar import EXTRACTIVE


@pytest.fixture
def make():
    made = []

    def build(generator, **settings):
        usual = {"mode": "explain", "otherwise": EXTRACTIVE, "concurrency": 4}
        made.append(SidecarCompleter(generator, **{**usual, **settings}))
        return made[-1]

    yield build
    for completer in made:
        completer.close()
