"""Record batches of a few kilobytes that decompress to hundreds of megabytes."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.rig.ingest.consuming import answers, consumer_process
from tests.rig.ingest.kafka_cluster import create_topic, new_topic_name, produce
from tests.rig.waiting import until

MIB = 2**20
BOMB = 400 * MIB  # bytes, decompressed
LEDGER = """
    SELECT next_offset, spanned, received, assessed, dead, unreadable FROM consumer_offset WHERE topic = %s
"""


def highest_memory(pid):
    """The most bytes that a process has had in memory."""
    (line,) = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(line) * 1024


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_a_bomb_is_a_dead_letter_and_takes_no_memory(kafka, database, rows, tmp_path, codec):
    topic = create_topic(kafka, new_topic_name(), configs={"max.message.bytes": str(64 * MIB)})
    produce(kafka, topic, answers(1))
    large = {"compression_type": codec, "max_request_size": 2 * BOMB, "batch_size": 2 * BOMB, "linger_ms": 60_000}
    produce(kafka, topic, [bytes(BOMB // 4)] * 4, **large)
    produce(kafka, topic, answers(2), compression_type=codec)
    consumer = consumer_process(tmp_path, kafka, database, topic)
    until("the last message is stored", lambda: rows("SELECT 1 FROM interaction WHERE id = 'q-2'"))
    highest = highest_memory(consumer.pid)
    consumer.send_signal(signal.SIGTERM)
    assert consumer.wait() == 0
    assert rows(LEDGER, topic) == [(6, 6, 3, 2, 1, 3)]
    ((position, problem),) = rows("SELECT position, problem FROM dead_letter")
    assert position == 1
    assert "offsets 1 to 4" in problem
    assert "sha256" in problem
    assert highest < BOMB
