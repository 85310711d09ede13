"""Interactions drawn for review on a real server: a random sample that is one, and offers."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from datetime import timedelta
from math import sqrt

import pytest

from monitor.core.model import Probabilities
from monitor.review.draw import Offer, draw
from monitor.review.label import Drawn
from monitor.store.database import connect
from monitor.store.interaction.writer import Writer
from monitor.store.review import labels as review_store
from monitor.store.review.labels import Reviews
from tests.factories.answers import NOON, a_batch, an_assessment, an_interaction, at, clock
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.reviewing import WEEK, G, R, S, many, offered, said, write

JUDGED = """
    INSERT INTO judgement (app, id, metric, model, prompt_hash, occurred_at, mode, score, parts, calls, input_tokens,
        output_tokens, judged_at)
    VALUES ('support-bot', %s, %s, %s, '', %s, 'combined', %s, '{}', 1, 1, 1, %s)
"""


def candidates(reviews, **over):
    return reviews.candidates(NOON - WEEK, NOON, **over)


def ids(found):
    return [candidate.id for candidate in found]


def test_the_order_of_chance_is_the_same_for_every_process_and_whatever_came_first(
    writer, reviews, new_database, migrated_template
):
    write(writer, *many(50))
    url = new_database(migrated_template)
    with closing(Writer(url, clock, queue_key=QUEUE_KEY)) as other:
        write(other, *reversed(many(50, verdict=S)))
    elsewhere = connect(url, queue_key=lambda: QUEUE_KEY)
    assert ids(candidates(reviews)) == ids(candidates(Reviews(elsewhere)))
    elsewhere.dispose()
    assert sorted(ids(candidates(reviews)), key=int) == [str(n) for n in range(50)]
    assert ids(candidates(reviews)) != sorted(ids(candidates(reviews)))


def test_a_beginning_of_it_is_a_simple_random_sample(writer, reviews):
    """Of verdicts, hours and apps that have each a share of their own; four standard errors either way."""
    number, sample = 1_500, 300
    write(
        writer,
        *(
            an_assessment(
                id=f"q-{n:04}",
                app="small" if n % 10 == 0 else "large",
                verdict=S if n % 4 == 0 else G,
                occurred_at=NOON - timedelta(minutes=n * (n % 3)),
            )
            for n in range(number)
        ),
    )
    taken = candidates(reviews)[:sample]
    middle = NOON - timedelta(minutes=500)
    for share, counted in (
        (0.25, sum(c.verdict is S for c in taken)),
        (0.1, sum(c.app == "small" for c in taken)),
        (sum(n * (n % 3) > 500 for n in range(number)) / number, sum(c.occurred_at < middle for c in taken)),
    ):
        assert counted / sample == pytest.approx(share, abs=4 * sqrt(share * (1 - share) / sample))


def test_candidates_are_of_the_span_and_of_the_app(writer, reviews):
    write(
        writer,
        an_assessment(id="old", occurred_at=NOON - WEEK - timedelta(seconds=1)),
        an_assessment(id="first", occurred_at=NOON - WEEK),
        an_assessment(id="last", occurred_at=NOON),
        an_assessment(id="later", occurred_at=at(1)),
        an_assessment(id="other", app="shop"),
    )
    assert sorted(ids(candidates(reviews))) == ["first", "last", "other"]
    assert ids(candidates(reviews, app="shop")) == ["other"]


def test_what_is_not_assessed_yet_is_no_candidate(writer, reviews):
    writer.write(a_batch(an_assessment(id="1"), pending=(an_interaction(id="2"),), received=2))
    assert ids(candidates(reviews)) == ["1"]


def test_the_live_verdict_counts_and_no_rescore(writer, reviews, rows):
    write(writer, an_assessment(verdict=S, rule_verdict=R))
    rows("""
        INSERT INTO assessment SELECT app, id, 'rescore', occurred_at, profile_name, embedding_model, 'grounded',
            rule_verdict, reasons, refusal_kind, refusal_correct, p_grounded, p_refusal, p_self_generated,
            uncalibrated, sdq, sdrd, sda, qrd, qa, features, support, false, revised_at, earlier FROM assessment
    """)
    (candidate,) = candidates(reviews)
    assert (candidate.verdict, candidate.rule_verdict) == (S, R)
    assert candidate.probabilities == Probabilities(grounded=0.125, refusal=0.125, self_generated=0.75)
    assert (candidate.faithfulness, candidate.people, candidate.drawn) == (None, frozenset(), None)


def test_the_newest_faithfulness_counts(writer, reviews, rows):
    write(writer, an_assessment(id="1"))
    rows(JUDGED, "1", "faithfulness", "old", NOON, 0.25, at(1))
    rows(JUDGED, "1", "faithfulness", "new", NOON, 0.75, at(2))
    rows(JUDGED, "1", "answer_relevance", "new", NOON, 0.5, at(3))
    assert candidates(reviews)[0].faithfulness == 0.75


def test_so_many_labels_leave_enough_that_are_open(writer, reviews, application, monkeypatch):
    monkeypatch.setattr(review_store, "CANDIDATES", 5)
    write(writer, *many(20))
    in_order = ids(candidates(reviews))
    assert len(in_order) == 5
    for id_ in in_order[:4]:
        said(application, id_, G)
    assert len([c for c in candidates(reviews) if not c.people]) == 5
    assert sorted(ids(candidates(reviews, labelled_only=True))) == sorted(in_order[:4])


def test_what_was_drawn_is_remembered_with_the_label(writer, application, rows):
    write(writer, *many(8))
    for offer in offered(application, 2):
        application.reviews.save_offer(offer, to="ann", now=at(1))
        said(application, offer.candidate.id, G)
    assert Counter(drawn for (drawn,) in rows("SELECT drawn FROM review")) == {"margin": 1, "random": 1}
    assert rows("SELECT DISTINCT offered_to, offered_at, occurred_at FROM review_offer") == [("ann", at(1), NOON)]


def test_what_nobody_was_offered_is_a_chosen_one(writer, application, rows):
    write(writer, an_assessment(id="1"))
    said(application, "1", G)
    assert rows("SELECT drawn FROM review") == [("chosen",)]


def test_an_offer_is_remembered_once_for_each_reason(writer, reviews, rows):
    write(writer, an_assessment(id="1"))
    (candidate,) = candidates(reviews)
    for reason, minute in ((Drawn.MARGIN, 1), (Drawn.RANDOM, 2), (Drawn.MARGIN, 3)):
        reviews.save_offer(Offer(candidate=candidate, drawn=reason), to="ann", now=at(minute))
    assert rows("SELECT drawn, offered_at FROM review_offer ORDER BY 2") == [("margin", at(1)), ("random", at(2))]
    assert reviews.standing([("support-bot", "1")])["support-bot", "1"].drawn is Drawn.RANDOM


def test_those_labelled_before_join_the_random_sample_when_the_draw_meets_them(writer, application, reviews, rows):
    write(writer, *many(9))
    first = candidates(reviews)[0]
    reviews.save_offer(Offer(candidate=first, drawn=Drawn.MARGIN), to="ann", now=NOON)
    said(application, first.id, S)
    assert [opinion.drawn for opinion in reviews.opinions()] == [Drawn.MARGIN]
    (offer,) = draw(candidates(reviews), 1, random_only=True)
    reviews.save_offer(offer, to="ann", now=at(1))
    assert [opinion.drawn for opinion in reviews.opinions()] == [Drawn.RANDOM]
    assert rows("SELECT drawn FROM review") == [("margin",)]  # as it was known then


def test_a_second_opinion_is_asked_of_others(writer, application):
    write(writer, *many(4))
    said(application, "1", G, by="ann")
    said(application, "2", G, by="bob")
    assert [o.candidate.id for o in offered(application, 9, by="bob", second_opinion=True)] == ["1"]
    assert {o.candidate.id for o in offered(application, 9, by="bob")} == {"0", "3"}
