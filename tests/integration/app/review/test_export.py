"""Labels exported, and the agreement they show."""

from __future__ import annotations

import io
import json
from datetime import timedelta

from monitor.app.review.labels import agreement_report, export, label, named
from monitor.review.label import Drawn
from monitor.store.review import labels as review_store
from tests.factories.answers import NOON, an_assessment
from tests.rig.store.reviewing import G, R, S, many, offered, said, write


def exported(application, **over):
    out = io.StringIO()
    done = export(application.reviews, out, **{"app": None, "span": None, **over}, now=application.now())
    return done, [json.loads(line) for line in out.getvalue().splitlines()]


def test_labelled_interactions_are_exported_with_the_label_of_the_majority(writer, application):
    write(writer, *many(3))
    for id_, verdict, by in (("0", G, "ann"), ("1", G, "ann"), ("1", S, "bob"), ("1", S, "cat"), ("0", R, "bob")):
        said(application, id_, verdict, by=by)
    done, lines = exported(application)
    assert (done.labelled, done.disputed, done.gone) == (2, 2, 0)
    assert [(line["id"], line["label"], line["labelled_by"]) for line in lines] == [
        ("0", "refusal", ["bob"]),
        ("1", "self_generated", ["bob", "cat"]),
    ]
    assert lines[0]["group"] == lines[1]["group"]  # the same question


def test_more_labels_than_a_page_are_all_exported(writer, application):
    number = review_store._PAGE + 3
    write(writer, *many(number))
    label(
        application.reviews,
        [named(f"support-bot/{n}", G, by="ann", note=None) for n in range(number)],
        now=application.now(),
    )
    assert {line["id"] for line in exported(application)[1]} == {str(n) for n in range(number)}


def test_labels_outlive_the_partition_of_their_interaction(writer, application, reviews, rows):
    write(writer, an_assessment(id="old", occurred_at=NOON - timedelta(days=40)), an_assessment(id="new"))
    for id_ in ("old", "new"):
        said(application, id_, G)
    rows("DROP TABLE interaction_2025_10")
    rows("DROP TABLE assessment_2025_10")
    done, lines = exported(application)
    assert (done.labelled, done.gone, [line["id"] for line in lines]) == (2, 1, ["new"])
    assert {one.id for one in reviews.opinions()} == {"old", "new"}
    assert agreement_report(application.reviews, app=None, weeks=8, now=application.now()).left_out == 2


def test_only_what_was_drawn_at_random_says_how_good_verdicts_are(writer, application):
    write(writer, *many(12))
    found = offered(application, 6)
    for offer in found:
        application.reviews.save_offer(offer, to="ann", now=NOON)
    for offer in found[:5]:  # the sixth, a random one, stays open
        said(application, offer.candidate.id, S if offer.drawn is Drawn.MARGIN else G)
    said(application, found[1].candidate.id, R, by="bob")
    report = agreement_report(application.reviews, app=None, weeks=2, now=application.now())
    assert (report.together.verdict.total, report.together.verdict.agreeing) == (2, 1)
    assert (report.together.unlabelled, report.together.disputed, report.left_out) == (1, 1, 3)
    assert [week.name for week in report.weeks] == ["2025-W47"]
    assert [pair.people for pair in report.pairs] == [("ann", "bob")]
    assert agreement_report(application.reviews, app="shop", weeks=2, now=application.now()).weeks == []


def test_agreement_is_of_the_last_weeks(writer, application):
    long_ago = NOON - timedelta(weeks=2)
    write(writer, an_assessment(id="1", occurred_at=long_ago))
    (offer,) = offered(application, 1, span=timedelta(days=30), random_only=True)
    application.reviews.save_offer(offer, to="ann", now=NOON)
    said(application, "1", G)
    assert [
        week.name for week in agreement_report(application.reviews, app=None, weeks=3, now=application.now()).weeks
    ] == ["2025-W45"]
    assert agreement_report(application.reviews, app=None, weeks=2, now=application.now()).weeks == []
