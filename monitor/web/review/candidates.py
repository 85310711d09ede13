"""Caches the candidates of the review queue: labelling one answer does not wait for the next draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from threading import Lock

from cachetools import LRUCache

from monitor.core.model import Verdict
from monitor.review.draw import Candidate, Offer, draw, second_opinions
from monitor.store.review.labels import Reviews
from monitor.store.review.plans import Plans

MAX_AGE = timedelta(minutes=10)  # of cached candidates; answers stored since then have to wait
_MAX_QUERIES = 20
MAX_SKIPPED = 50  # skipped interactions that one queue remembers, the latest ones


@dataclass(frozen=True, slots=True)
class CandidateQuery:
    """Answers of `app` (None: all) of the last `span`; `second`: only those that others have labelled."""

    app: str | None
    span: timedelta
    second: bool


class CandidateCache:
    """Candidates by query. Safe to use from several threads."""

    def __init__(self, reviews: Reviews, plans: Plans) -> None:
        self._reviews = reviews
        self._plans = plans
        self._lock = Lock()
        self._cache: LRUCache[CandidateQuery, tuple[datetime, int, list[Candidate]]] = LRUCache(_MAX_QUERIES)

    def next_offer(
        self, query: CandidateQuery, *, by: str, skipped: Sequence[str], now: datetime, lacks: Verdict | None = None
    ) -> Offer | None:
        """The first offer to `by` whose `skip_key` is not in `skipped`; None when nothing is left.

        Answers of open plans come first. `lacks` is the class of which calibration lacks labels.

        Raises:
            Retriable: the database is out of reach, or the draw takes too long.
        """
        count = len(skipped) + 1
        planned = [] if query.second else self._plans.offers(query.app, by=by, count=count, now=now)
        if (offer := _first(planned, skipped)) is not None:
            return offer
        candidates = self._candidates(query, now)
        offers = second_opinions(candidates, count, by=by) if query.second else draw(candidates, count, lacks=lacks)
        return _first(offers, skipped)

    def _candidates(self, query: CandidateQuery, now: datetime) -> list[Candidate]:
        """The candidates, cached or read, each with the people who have labelled it by now."""
        with self._lock:
            read_at, newest, candidates = self._cache.get(query, (None, 0, []))
            if read_at is None or not read_at <= now < read_at + MAX_AGE:
                newest = self._reviews.newest_label()
                candidates = self._reviews.candidates(now - query.span, now, app=query.app, labelled_only=query.second)
                self._cache[query] = now, newest, candidates
                return candidates
        people = self._reviews.labelled_since(newest)
        return [replace(c, people=c.people | people[c.app, c.id]) if (c.app, c.id) in people else c for c in candidates]


def _first(offers: Sequence[Offer], skipped: Sequence[str]) -> Offer | None:
    keyed = ((offer, skip_key(offer.candidate.app, offer.candidate.id)) for offer in offers)
    return next((offer for offer, key in keyed if key not in skipped), None)


def skip_key(app: str, interaction_id: str) -> str:
    """Eight hex digits that stand for an interaction in an address, so that no foreign text appears there."""
    return sha256(f"{app}\0{interaction_id}".encode(errors="replace")).hexdigest()[:8]
