"""Who labels one answer after the other is not kept waiting for the draw: its candidates are read once for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from threading import Lock

from monitor.review.draw import Candidate, Offer, draw, second_opinions
from monitor.store.review.labels import Reviews

FRESH = timedelta(minutes=10)  # for which candidates are kept; what came since is drawn from later
_MOST_KEPT = 20  # kinds of sittings
MOST_SKIPPED = 50  # of one sitting, the last ones


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is labelled in a sitting: of which app, of how long, and whether only what others have labelled."""

    app: str | None
    span: timedelta
    second: bool


class Sittings:
    """Candidates by what is wanted. Safe to use from several threads."""

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews
        self._lock = Lock()
        self._kept: dict[Wanted, tuple[datetime, list[Candidate]]] = {}

    def next(self, wanted: Wanted, *, by: str, skipped: Sequence[str], now: datetime) -> Offer | None:
        """The first offer to `by` that is not among `skipped`, as `handle` names them; None where nothing is left.

        Raises:
            Retriable: the database is out of reach, or the draw takes too long.
        """
        candidates = self._candidates(wanted, now)
        count = len(skipped) + 1
        offers = second_opinions(candidates, count, by=by) if wanted.second else draw(candidates, count)
        return next((offer for offer in offers if handle(offer.candidate.app, offer.candidate.id) not in skipped), None)

    def _candidates(self, wanted: Wanted, now: datetime) -> list[Candidate]:
        """With who has labelled them by now, whatever they were read with."""
        with self._lock:
            read_at, candidates = self._kept.get(wanted, (None, []))
            if read_at is None or not read_at <= now < read_at + FRESH:
                candidates = self._reviews.candidates(
                    now - wanted.span, now, app=wanted.app, labelled_only=wanted.second
                )
                self._kept.pop(wanted, None)
                self._kept[wanted] = (now, candidates)
                while len(self._kept) > _MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
                return candidates
        people = self._reviews.labelled_by([(c.app, c.id) for c in candidates])
        return [replace(c, people=people.get((c.app, c.id), frozenset())) for c in candidates]


def handle(app: str, interaction_id: str) -> str:
    """Eight hex digits that stand for an interaction in an address, so that no foreign text stands there."""
    return sha256(f"{app}\0{interaction_id}".encode(errors="replace")).hexdigest()[:8]
