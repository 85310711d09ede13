"""`monitor run` with a port for Prometheus."""

from __future__ import annotations

import re
import socket
import urllib.request

from tests.rig.waiting import until
from tests.servers.prometheus import check_metrics

HASH = {"INGEST__BATCH_MS": "20", "EVALUATION_INTERVAL": "0.5", "EMBEDDING__PROVIDER": "hash"}


def scraped(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read()


def test_what_it_reads_can_be_scraped_and_how_far_it_is(monitor, log, event, rows, stored):
    log.write_text(event("1") + event("2"))
    running = monitor.start("run", log, METRICS__PORT="0", **HASH)
    stored(2)
    until("how far it is was noted", lambda: rows("SELECT 1 FROM reading WHERE behind = 0"))
    (url,) = re.findall(r"metrics: (http://127\.0\.0\.1:\d+/metrics)", running.err)
    received = f'monitor_messages_received_total{{source="{log}"}} 2.0'
    text = until("the file's messages are counted", lambda: received in (t := scraped(url).decode()) and t)
    assert re.search(rf'^monitor_lag_seconds{{source="{re.escape(str(log))}"}} \d', text, re.MULTILINE)
    assert check_metrics(text.encode()) == ""
    assert running.terminate() == 0
    assert "Traceback" not in running.err


def test_a_port_that_is_taken_is_told_before_anything_is_read(monitor, log, event, rows):
    log.write_text(event("1"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = monitor.run("run", log, METRICS__PORT=str(taken.getsockname()[1]), **HASH)
    assert ended.returncode == 2
    assert "MONITOR_METRICS__HOST, …__PORT: cannot serve at 127.0.0.1" in ended.stderr
    assert rows("SELECT 1 FROM interaction") == []
