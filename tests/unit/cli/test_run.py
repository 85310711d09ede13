"""What the options of `monitor consume` mean."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from monitor.cli.run import overridden, span_between
from monitor.core.errors import WrongSettings
from monitor.core.settings.kafka import KafkaSettings
from monitor.core.settings.load import Settings
from monitor.ingest.kafka.span import Span

NOVEMBER = datetime(2026, 11, 1, tzinfo=UTC)
ALL = Span(start=None, end=None)


@pytest.fixture
def settings(tmp_path):
    return Settings(state_dir=tmp_path, kafka=KafkaSettings(topic_pattern="rag.*", group_id="live"), profile="hash")


@pytest.mark.parametrize(
    ("start", "end", "span"),
    [
        (None, None, None),
        ("beginning", None, ALL),
        ("beginning", "now", ALL),
        ("2026-11-01T00:00Z", None, Span(start=NOVEMBER, end=None)),
        ("beginning", "2026-11-01T00:00Z", Span(start=None, end=NOVEMBER)),
    ],
)
def test_a_span_lies_between_two_times(start, end, span):
    assert span_between(start, end) == span


@pytest.mark.parametrize(
    ("start", "end", "problem"),
    [
        (None, "now", "--to needs --from"),
        ("yesterday", None, "--from.*`beginning`"),
        ("beginning", "x", "--to"),
    ],
)
def test_what_is_no_span_is_said(start, end, problem):
    with pytest.raises(WrongSettings, match=problem):
        span_between(start, end)


def test_options_stand_before_the_settings(settings):
    over = overridden(settings, topics=["a", "b"], group="x", profile="strict", span=ALL)
    assert (over.kafka.topics, over.kafka.topic_pattern, over.kafka.group_id) == (("a", "b"), None, "x")
    assert over.profile == "strict"


def test_without_options_the_settings_stay(settings):
    assert overridden(settings, topics=None, group=None, profile=None, span=None) == settings


@pytest.mark.parametrize("over", [{"topics": ["a b"]}, {"topics": [""]}, {"group": ""}])
def test_options_are_held_to_what_settings_are_held_to(settings, over):
    with pytest.raises(WrongSettings, match=r"topics|group_id"):
        overridden(settings, **{"topics": None, "group": None, "profile": None, "span": None, **over})


@pytest.mark.parametrize("group", [None, "live"])
def test_a_span_is_not_read_by_the_live_group(settings, group):
    with pytest.raises(WrongSettings, match="--group of its own"):
        overridden(settings, topics=None, group=group, profile=None, span=ALL)


def test_another_profile_is_for_a_span(settings):
    with pytest.raises(WrongSettings, match="MONITOR_PROFILE"):
        overridden(settings, topics=None, group="x", profile="strict", span=None)
