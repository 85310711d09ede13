"""The real model, once for all golden tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.embed.cache import CachedEmbedder
from monitor.embed.minilm import MiniLMEmbedder


@pytest.fixture(scope="session")
def minilm(encoder_cache: Path) -> CachedEmbedder:
    return CachedEmbedder(MiniLMEmbedder(cache_dir=encoder_cache), 2**26)
