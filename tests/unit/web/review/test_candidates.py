from __future__ import annotations

from datetime import timedelta

from monitor.core.model import Verdict
from monitor.review.draw import Candidate
from monitor.review.label import Drawn
from monitor.web.review.candidates import MAX_AGE, CandidateCache, CandidateQuery, skip_key
from tests.factories.answers import NOON, PROBABLE

QUERY = CandidateQuery(None, timedelta(days=7), second=False)


class Stored:
    """A fake of `Reviews` that counts how often candidates are read."""

    def __init__(self, number):
        self.rows = [
            Candidate(
                app="a",
                id=f"q-{n}",
                occurred_at=NOON,
                verdict=Verdict.GROUNDED,
                rule_verdict=Verdict.GROUNDED,
                probabilities=PROBABLE[Verdict.GROUNDED],
            )
            for n in range(number)
        ]
        self.labels = {}
        self.asked = 0

    def candidates(self, _since, _until, *, app, labelled_only):
        self.asked += 1
        return self.rows

    def newest_label(self):
        return 7

    def labelled_since(self, number):
        assert number == self.newest_label()
        return self.labels


class NoPlans:
    """A fake of `Plans` with no answers to label."""

    def offers(self, _app, *, by, count, now):
        return []


def test_candidates_are_cached_for_a_while_and_labelled_ones_are_not_offered():
    stored = Stored(3)
    cache, seen = CandidateCache(stored, NoPlans()), []
    while (offer := cache.next_offer(QUERY, by="ada", skipped=[], now=NOON)) is not None:
        seen.append(offer.candidate.id)
        stored.labels[offer.candidate.app, offer.candidate.id] = {"ada"}
    assert sorted(seen) == ["q-0", "q-1", "q-2"]
    assert stored.asked == 1
    cache.next_offer(QUERY, by="ada", skipped=[], now=NOON + MAX_AGE)
    assert stored.asked == 2


def test_teaching_and_random_offers_take_turns():
    stored, drawn = Stored(6), []
    cache = CandidateCache(stored, NoPlans())
    for _ in range(4):
        offer = cache.next_offer(QUERY, by="ada", skipped=[], now=NOON)
        drawn.append(offer.drawn is Drawn.RANDOM)
        stored.labels[offer.candidate.app, offer.candidate.id] = {"ada"}
    assert drawn == [False, True, False, True]


def test_skipped_answers_are_passed_over_until_nothing_is_left():
    cache, skipped = CandidateCache(Stored(5), NoPlans()), []
    while (offer := cache.next_offer(QUERY, by="ada", skipped=skipped, now=NOON)) is not None:
        name = skip_key(offer.candidate.app, offer.candidate.id)
        assert name not in skipped
        skipped.append(name)
    assert len(skipped) == 5


def test_second_opinions_are_about_answers_that_others_have_labelled():
    stored = Stored(2)
    cache, second = CandidateCache(stored, NoPlans()), CandidateQuery(None, timedelta(days=7), second=True)
    stored.rows = [
        Candidate(
            **{n: getattr(c, n) for n in Candidate.__slots__} | {"people": frozenset({"grace"}), "drawn": Drawn.MARGIN}
        )
        for c in stored.rows
    ]
    stored.labels = {("a", "q-0"): {"grace"}, ("a", "q-1"): {"grace", "ada"}}
    cache.next_offer(second, by="x", skipped=[], now=NOON)
    assert cache.next_offer(second, by="ada", skipped=[], now=NOON).candidate.id == "q-0"
    stored.labels["a", "q-0"] = {"grace", "ada"}
    assert cache.next_offer(second, by="ada", skipped=[], now=NOON) is None


def test_a_skip_key_depends_on_app_and_id():
    assert skip_key("a", "b/c") != skip_key("a/b", "c")
    assert len(skip_key("\ud800", "x")) == 8
