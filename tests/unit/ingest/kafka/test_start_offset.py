"""Where reading a partition begins, against what its log still has."""

from __future__ import annotations

import pytest

from monitor.core.errors import WrongSettings
from monitor.core.message import StoredOffset
from monitor.ingest.kafka.start_offset import Log, Refused, Start, start_of

LOG = Log(first=100, last=200, topic_id="x")


def stored(reached, topic_id="x"):
    return StoredOffset(next=reached, topic_id=topic_id)


@pytest.mark.parametrize(
    ("known", "found", "refused", "start"),
    [
        (None, LOG, None, Start(begin=100, at=100)),
        (stored(150), LOG, None, Start(begin=150, at=150)),
        (stored(200), LOG, None, Start(begin=200, at=200)),
        # deleted before it was read
        (stored(60), LOG, None, Start(begin=60, at=100, expired=40)),
        (stored(60), LOG, Refused(), Start(begin=60, at=100, expired=40)),
        # beyond the end: an open transaction, perhaps; only the broker knows
        (stored(250), LOG, None, Start(begin=250, at=250)),
        (stored(250), LOG, Refused(), Start(begin=100, at=100)),
        (stored(150), LOG, Refused(), Start(begin=150, at=150)),
        # cut off, and grown again or not
        (stored(150), LOG, Refused(cut=140), Start(begin=140, at=140)),
        (stored(250), LOG, Refused(cut=190), Start(begin=190, at=190)),
        (stored(150), LOG, Refused(cut=160), Start(begin=150, at=150)),
        (stored(150), LOG, Refused(cut=50), Start(begin=100, at=100)),
        # another topic of the same name
        (stored(150, "y"), LOG, None, Start(begin=100, at=100)),
        (stored(150, ""), LOG, None, Start(begin=150, at=150)),
        (stored(150), Log(first=100, last=200), None, Start(begin=150, at=150)),
    ],
)
def test_reading_goes_on_where_the_store_is_unless_the_log_is_not_there(known, found, refused, start):
    assert start_of("rag/0", found, known, refused=refused) == start


@pytest.mark.parametrize(
    ("known", "bounds", "start"),
    [
        (None, (120, 180), Start(begin=120, at=120)),
        (stored(150), (120, 180), Start(begin=150, at=150)),
        (stored(180), (120, 180), Start(begin=180, at=180)),
        (stored(60), (100, 180), Start(begin=60, at=100, expired=40)),  # the span's own beginning is gone by now
        (stored(150, "y"), (120, 180), Start(begin=120, at=120)),
    ],
)
def test_a_span_goes_on_where_it_was(known, bounds, start):
    assert start_of("rag/0", LOG, known, bounds=bounds) == start


@pytest.mark.parametrize("reached", [110, 190])
def test_another_span_wants_another_group(reached):
    with pytest.raises(WrongSettings, match="another span of rag/0"):
        start_of("rag/0", LOG, stored(reached), bounds=(120, 180))
