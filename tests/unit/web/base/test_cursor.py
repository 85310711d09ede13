from __future__ import annotations

from base64 import urlsafe_b64encode

import pytest

from monitor.core.errors import WrongSettings
from monitor.ingest.dialects.dialect import MAX_ID_CHARS
from monitor.store.interaction.filters import PagePosition
from monitor.web.base.cursor import from_cursor, to_cursor
from tests.factories.answers import NOON


@pytest.mark.parametrize("name", ["q-1", "", "über/42?&", '"', "\u2028"])
def test_a_place_comes_back_from_its_cursor(name):
    place = PagePosition(occurred_at=NOON, app="support", id=name)
    word = to_cursor(place)
    assert word.replace("-", "").replace("_", "").isalnum()
    assert from_cursor(word) == place


@pytest.mark.parametrize("letter", ["x", "ü", "界", "🧾", '"'])
def test_the_longest_names_that_events_may_have_come_back(letter):
    place = PagePosition(occurred_at=NOON, app=letter * 128, id=letter * MAX_ID_CHARS)
    assert from_cursor(to_cursor(place)) == place


@pytest.mark.parametrize(
    "word",
    ["", "x", "é", "A" * 9_000]
    + [
        urlsafe_b64encode(text.encode()).decode()
        for text in (
            "{}",
            "[]",
            '["2025-01-01T00:00:00Z", "a"]',
            '["2025-01-01", "a", "b"]',
            '["9999-12-31T23:59:59.999999Z", "a", "b"]',
            '["0001-01-01T00:00:00+14:00", "a", "b"]',
            '["2025-01-01T00:00:00Z", 1, 2]',
            '["2025-01-01T00:00:00Z", "a", "\\u0000"]',
            '["2025-01-01T00:00:00Z", "a", "\\ud800"]',
            "1" * 5_000,
            "[" * 2_900,
        )
    ],
)
def test_any_other_cursor_is_refused(word):
    with pytest.raises(WrongSettings, match="not valid"):
        from_cursor(word)
