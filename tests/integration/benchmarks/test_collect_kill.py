"""The kill trial in small: exporters of OpenTelemetry send while the process that receives is killed."""

from __future__ import annotations

from benchmarks.collect.kill import trial


def test_what_was_acknowledged_is_kept_once_although_the_receiver_is_killed(database):
    figures = trial(database, 1, seed=18, drain=False)
    assert figures["spans kept"] == figures["spans acknowledged"] == 3 * figures["turns"]
    assert figures["traces"] == figures["turns"] > 0
