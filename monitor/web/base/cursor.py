"""Encodes a place in a list as an opaque word for an address.

The word is not signed: it gives access to nothing that a filter would not.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import MAXYEAR, UTC, datetime

from monitor.core.assessment_json import storable
from monitor.core.errors import WrongSettings
from monitor.store.interaction.filters import PagePosition

_MAX_CHARS = 4_000


def to_cursor(place: PagePosition) -> str:
    fields = [place.occurred_at.isoformat(), place.app, place.id]
    # letters as they are: escaped, the longest ids would make a word that `from_cursor` refuses
    written = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
    return urlsafe_b64encode(written.encode()).decode().rstrip("=")


def from_cursor(cursor: str) -> PagePosition:
    """The place that `to_cursor` encoded.

    Raises:
        WrongSettings: `to_cursor` never made this word.
    """
    place = None
    try:
        at, app, id_ = json.loads(urlsafe_b64decode(cursor[:_MAX_CHARS] + "=" * (-len(cursor) % 4)))
        place = PagePosition(occurred_at=datetime.fromisoformat(at), app=app, id=id_)
        known = place.occurred_at.tzinfo is not None and place.occurred_at.astimezone(UTC).year < MAXYEAR
        valid = known and storable(app + id_) == app + id_
    except (ValueError, TypeError, OverflowError, RecursionError):  # RecursionError: deeply nested brackets
        valid = False
    if place is None or not valid:
        raise WrongSettings("this place in the list is not valid: start again from the newest entry")
    return place
