"""A place in a list as one opaque word of an address. It is not signed: it opens nothing that a filter would not."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime

from monitor.core.assessment_json import storable
from monitor.core.errors import WrongSettings
from monitor.store.interaction.filters import Place

_LONGEST = 4_000


def to_cursor(place: Place) -> str:
    """The word."""
    fields = json.dumps([place.occurred_at.isoformat(), place.app, place.id], separators=(",", ":"))
    return urlsafe_b64encode(fields.encode()).decode().rstrip("=")


def from_cursor(word: str) -> Place:
    """The place.

    Raises:
        WrongSettings: it is no word of ours.
    """
    place = None
    try:
        at, app, id_ = json.loads(urlsafe_b64decode(word[:_LONGEST] + "=" * (-len(word) % 4)))
        place = Place(occurred_at=datetime.fromisoformat(at), app=app, id=id_)
        ours = place.occurred_at.tzinfo is not None and storable(app + id_) == app + id_
    except (ValueError, TypeError, RecursionError):  # the last one: brackets in brackets
        ours = False
    if place is None or not ours:
        raise WrongSettings("this place in the list is none of ours: begin at its newest end")
    return place
