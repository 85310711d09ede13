"""True rates on pages and in the API: on the overview, in its trend, in the review queue."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from monitor.app.review.labels import Wish, label
from monitor.core.model import Verdict
from monitor.review.rates.plan import PlanRequest
from tests.factories.answers import NOON, a_batch, an_assessment, at

PERIOD = {"from": (NOON - timedelta(hours=4)).isoformat(), "to": NOON.isoformat()}


@pytest.fixture
def planned(writer, site):
    """Forty answers of one app, a plan of ten labels, and six labels, of which one is negative."""
    application = site.application
    writer.write(a_batch(*(an_assessment(id=f"q-{n}", app="shop", occurred_at=at(-5 * n - 1)) for n in range(40))))
    request = PlanRequest(
        app="shop", since=NOON - timedelta(hours=4), until=NOON, labels=10, guaranteed=False, judge_share=0.0
    )
    plan = application.plans.make(request, by="ann", now=NOON)
    for place, item in enumerate(plan.items[:6]):
        verdict = Verdict.SELF_GENERATED if place == 0 else Verdict.GROUNDED
        wish = Wish(name=item.id, spellings=(("shop", item.id),), label=verdict, by="ann")
        label(application.reviews, [wish], now=NOON)
    return plan


def words(text):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))


def test_the_review_queue_shows_progress_and_the_interval_so_far(site, planned):
    text = site.signed_in("operator")[0].get("/review").text
    said = words(text)
    assert f"Plan {planned.number} , true rate of self-generated answers of shop" in said
    assert "6 of 10 labelled, 0.4 to 64.1 %" in said
    assert "drawn for the true rate of a period" in said


@pytest.mark.usefixtures("planned")
def test_the_overview_shows_true_rates_beside_flagged_ones_and_in_the_trend(site):
    client = site.by_token("viewer")
    text = client.get("/?app=shop").text
    assert "true rate 16.7 % (0.4 to 64.1 %)" in words(text)
    assert "Shaded: the true rate of a period" in words(text)
    before = client.get("/?app=nobody").text
    assert "true rate 1" not in before


def test_an_app_without_labels_has_no_true_rate(site, writer):
    writer.write(a_batch(an_assessment(id="q", app="shop")))
    text = words(site.by_token("viewer").get("/?app=shop").text)
    assert "true rate not known yet" in text
    assert "Shaded" not in text


def test_the_api_gives_what_the_command_prints(site, planned):
    client = site.by_token("viewer")
    lines = client.get("/api/v1/rates", params={"app": "shop"}).json()
    assert [line["class"] for line in lines] == ["self_generated", "refusal", "negative"]
    first = lines[0]
    assert (first["plan"], first["items"], first["labels"], first["method"]) == (planned.number, 10, 6, "random")
    assert first["estimate"] == pytest.approx(1 / 6)
    assert client.get("/api/v1/rates", params={"app": "shop", **PERIOD}).json() == lines
    since = client.get("/api/v1/rates", params={"app": "shop", "from": PERIOD["from"]}).json()
    assert (since[0]["to"], since[0]["plan"]) == ("2025-11-21T12:00:00Z", planned.number)
    week = client.get("/api/v1/rates", params={"app": "shop", "to": PERIOD["to"]}).json()
    assert (week[0]["from"], week[0]["plan"]) == ("2025-11-14T12:00:00Z", None)
    assert client.get("/api/v1/rates", params={"from": PERIOD["to"], "to": PERIOD["from"]}).json() == []


@pytest.mark.usefixtures("planned")
def test_thumbs_come_in_by_the_api_and_are_counted_apart(site):
    client = site.by_token("operator")
    thumb = {"app": "shop", "id": "q-0", "thumb": "down"}
    assert client.post("/api/v1/feedback", json=thumb).status_code == 204
    assert client.post("/api/v1/feedback", json={**thumb, "id": "q-99"}).status_code == 404
    assert client.post("/api/v1/feedback", json={**thumb, "thumb": "sideways"}).status_code == 422
    assert site.by_token("viewer").post("/api/v1/feedback", json=thumb).status_code == 403
    first = client.get("/api/v1/rates", params={"app": "shop"}).json()[0]
    assert (first["feedback"], first["labels"]) == ({"up": 0, "down": 1}, 6)


def test_a_period_before_all_times_is_empty(site):
    answer = site.by_token("viewer").get("/api/v1/rates", params={"to": "0001-01-01T00:00:00Z"})
    assert (answer.status_code, answer.json()) == (200, [])
