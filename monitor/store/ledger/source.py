"""What messages are counted under by where they came from."""

from __future__ import annotations

import re

from monitor.store.tables.interactions import OTHER

_FILE = re.compile(r"#\d+-[0-9a-f]{16}\Z")  # what a followed file's topic has behind its path


LONGEST_SOURCE = 400


def source_of(topic: str) -> str:
    """What messages are counted under by where they came from: the Kafka topic, or the path of the file."""
    path = _FILE.sub("", topic)
    return path if len(path) <= LONGEST_SOURCE else OTHER
