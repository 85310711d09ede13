"""What an end user said: by the API, on the answer's page, and masked for those who may not see it in clear."""

from __future__ import annotations

from tests.factories.answers import a_batch, an_assessment

WORD = {"app": "shop", "id": "q-1", "thumb": "down", "comment": "Wrong. Write to ann@example.com <b>"}


def test_a_comment_is_stored_by_the_api_and_shown_masked(site, writer):
    writer.write(a_batch(an_assessment(id="q-1", app="shop")))
    operator = site.by_token("operator")
    address = "/api/v1/interactions/shop/q-1"
    assert operator.get(address).json()["feedback"] is None
    assert "What the user said" not in operator.get("/interactions/shop/q-1").text
    assert operator.post("/api/v1/feedback", json=WORD).status_code == 204
    said = operator.get(address).json()["feedback"]
    assert said["thumb"] == "down"
    assert said["comment"].startswith("Wrong. Write to ")
    assert "ann@example.com" not in said["comment"]
    page = operator.get("/interactions/shop/q-1").text
    assert "Thumb down" in page
    assert "Wrong. Write to" in page
    assert "ann@example.com" not in page
    assert "<b>" not in page
    assert operator.post("/api/v1/feedback", json={**WORD, "comment": "x" * 4_001}).status_code == 422
