from __future__ import annotations

import pytest

from monitor.core.settings.kafka import KafkaSettings

DEFAULT = KafkaSettings()
BROKERS_LEAST = 6_000  # group.min.session.timeout.ms, unless changed


def test_a_session_is_short_and_has_room_for_three_heartbeats_and_for_slow_batches():
    assert BROKERS_LEAST <= DEFAULT.session_timeout_ms <= 8_000
    assert 3 * DEFAULT.heartbeat_interval_ms < DEFAULT.session_timeout_ms
    assert DEFAULT.max_poll_interval_ms == 300_000


def test_a_static_member_keeps_its_partitions_over_a_restart():
    assert KafkaSettings(group_instance_id="a").session_timeout_ms == 45_000
    assert KafkaSettings(group_instance_id="a", session_timeout_ms=9_000).session_timeout_ms == 9_000


@pytest.mark.parametrize(
    ("given", "session"),
    [({"heartbeat_interval_ms": 10_000}, 30_000), ({"max_poll_interval_ms": 6_000}, 6_000), ({}, 7_000)],
)
def test_a_session_fits_the_intervals_that_are_given_alone(given, session):
    assert KafkaSettings(**given).session_timeout_ms == session


def test_intervals_that_do_not_fit_are_named_with_the_values_in_force():
    with pytest.raises(ValueError, match="in force are 9000, 8000 and 300000"):
        KafkaSettings(heartbeat_interval_ms=9_000, session_timeout_ms=8_000)


def test_a_topic_is_read_if_it_is_named_or_begins_like_the_pattern():
    assert not DEFAULT.reads("answers")
    named, by_pattern = KafkaSettings(topics=("answers",)), KafkaSettings(topic_pattern="rag[.]")
    assert [named.reads(topic) for topic in ("answers", "answers-2")] == [True, False]
    assert [by_pattern.reads(topic) for topic in ("rag.a", "drag.a", "rags")] == [True, False, False]
