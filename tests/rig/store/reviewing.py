"""Interactions written for review, candidates and labels."""

from __future__ import annotations

from datetime import timedelta

from monitor.app.review.labels import label, named, offers
from monitor.core.model import Verdict
from tests.factories.answers import a_batch, an_assessment

G, R, S = Verdict.GROUNDED, Verdict.REFUSAL, Verdict.SELF_GENERATED
WEEK = timedelta(days=7)


def write(writer, *assessments):
    writer.write(a_batch(*assessments))


def many(number, **over):
    return [an_assessment(id=str(n), **over) for n in range(number)]


def said(application, name, verdict, by="ann", **over):
    return label(
        application.reviews,
        [named(f"support-bot/{name}", verdict, by=by, note=over.get("note"))],
        now=application.now(),
    )


def offered(application, count, **over):
    known = {"app": None, "span": WEEK, "by": "ann", "random_only": False, "second_opinion": False}
    return offers(application.reviews, application.plans, count=count, **{**known, **over}, now=application.now())
