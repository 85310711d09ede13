"""A process that reads, asked by `monitor health`, as a container's health check does."""

from __future__ import annotations

import re

from tests.rig.waiting import until

HASH = {"INGEST__BATCH_MS": "20", "EMBEDDING__PROVIDER": "hash"}


def test_a_process_is_healthy_from_its_start_to_its_end(monitor, log):
    running = monitor.start("run", log, METRICS__PORT="0", **HASH)
    (port,) = until("it serves", lambda: re.findall(r"metrics: http://127\.0\.0\.1:(\d+)/metrics", running.err))
    here = {"METRICS__PORT": port, "WEB__PORT": "0"}
    answer = monitor.run("health", **here)
    assert (answer.returncode, answer.stdout) == (0, f"http://127.0.0.1:{port}: ready\n")
    assert running.terminate() == 0
    gone = monitor.run("health", **here)
    assert gone.returncode == 3
    assert f"nothing answers at http://127.0.0.1:{port}: start `monitor run`" in gone.stderr
