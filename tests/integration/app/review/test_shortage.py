"""What calibration lacks is counted on the stored labels, and the queue offers it."""

from __future__ import annotations

from dataclasses import replace

from monitor.app.review.labels import offers
from monitor.core.model import Probabilities
from monitor.review.label import Drawn
from monitor.store.review.shortage import shortage
from tests.factories.answers import SOME_EVIDENCE, an_assessment
from tests.rig.store.reviewing import WEEK, G, R, S, said, write

UNSURE = Probabilities(grounded=0.45, refusal=0.1, self_generated=0.45)
LIKELY = Probabilities(grounded=0.2, refusal=0.0, self_generated=0.8)


def test_the_queue_offers_what_is_lacking_and_counts_only_what_can_be_used(writer, application):
    nothing_to_check = replace(SOME_EVIDENCE, features={**SOME_EVIDENCE.features, "grounding": None})
    write(
        writer,
        *(an_assessment(id=f"good-{n}") for n in range(40)),
        *(an_assessment(id=f"unsure-{n}", probabilities=UNSURE) for n in range(4)),
        *(an_assessment(id=f"likely-{n}", probabilities=LIKELY, verdict=S) for n in range(5)),
        an_assessment(id="refusal", verdict=R),
        an_assessment(id="nothing", evidence=nothing_to_check),
    )
    for name, label in (("good-0", G), ("refusal", S), ("nothing", S), ("likely-0", S), ("likely-0", G)):
        said(application, name, label, by="bob" if label is G else "ann")
    said(application, "likely-0", S, by="cai")
    lacking = shortage(application.engine, "support-bot")
    assert (len(lacking.labels), lacking.usable(S), lacking.usable(G), lacking.lacks) == (4, 1, 1, S)
    assert len(shortage(application.engine, "another").labels) == 0
    found = offers(
        application.reviews,
        application.plans,
        app=None,
        span=WEEK,
        count=8,
        by="ann",
        random_only=False,
        second_opinion=False,
        now=application.now(),
        lacks=lacking.lacks,
    )
    of_class = [offer.candidate.id for offer in found if offer.drawn is Drawn.CLASS]
    assert len(of_class) == 4
    assert sum(id_.startswith("likely") for id_ in of_class) >= 3
