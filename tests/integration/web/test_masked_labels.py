"""Personal data in what should have none, an answer's environment, model and topic: masked for viewers, everywhere."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from monitor.core.model import Unscored
from tests.factories.answers import a_batch, a_dead_letter, an_assessment, an_interaction, at

ADA = "ada@example.org"
PATHS = (
    *("/", "/?span=7d&app=shop", "/interactions", "/interactions?unscored=any", "/interactions.csv"),
    *("/interactions.jsonl", "/interactions/shop/q-1", "/interactions/shop/u-1", "/dead-letters", "/dead-letters/1"),
    *("/api/v1/overview", "/api/v1/interactions", "/api/v1/interactions/export", "/api/v1/interactions/shop/q-1"),
    *("/api/v1/interactions/shop/u-1", "/api/v1/unscored", "/api/v1/dead-letters", "/api/v1/dead-letters/1"),
)


@pytest.fixture(autouse=True)
def stored(writer):
    own = {"app": "shop", "environment": f"of {ADA}", "model": f"tuned by {ADA}", "prompt_version": f"draft of {ADA}"}
    writer.write(
        a_batch(
            an_assessment(id="q-1", tags={"topic": f"mail of {ADA}"}, occurred_at=at(-1), **own),
            an_assessment(id="q-2", app="shop", model="plain", environment="live", occurred_at=at(-2)),
            unscored=(an_interaction(id="u-1", unscored=Unscored.CALL_FAILED, occurred_at=at(-3), **own),),
            dead_letters=(a_dead_letter(topic=f"/home/{ADA}/answers.jsonl"),),
        )
    )


@pytest.mark.parametrize("path", PATHS)
def test_a_viewer_sees_none_and_no_address_holds_any(viewer, path):
    answer = viewer.get(path)
    assert answer.status_code == 200
    assert "[e-mail]" in answer.text
    assert ADA not in unquote(answer.text)


def test_a_look_in_clear_shows_them_and_names_them(site, rows):
    client, csrf = site.signed_in("auditor")
    page = client.post("/interactions/shop/q-1/clear", data={"csrf": csrf}).text
    assert all(text in page for text in (f"of {ADA}", f"tuned by {ADA}", f"draft of {ADA}"))
    shown = site.by_token("auditor").get("/api/v1/interactions/shop/q-1?clear=true").json()
    assert (shown["environment"], shown["model"]) == (f"of {ADA}", f"tuned by {ADA}")
    for (fields,) in rows("SELECT body->'fields' FROM audit_queue WHERE kind = 'look'"):
        assert {"environment", "model", "prompt_version"} <= set(fields)


@pytest.mark.parametrize(
    ("path", "label"),
    [
        *(("/interactions", label) for label in ("environment", "model", "topic")),
        *(("/api/v1/interactions", label) for label in ("environment", "model", "topic")),
        ("/interactions.csv", "model"),
        ("/api/v1/interactions/export", "topic"),
        ("/api/v1/unscored", "environment"),
    ],
)
def test_nobody_who_sees_them_masked_can_guess_them(site, path, label):
    for role, status in (("viewer", 403), ("operator", 200)):
        assert site.by_token(role).get(path, params={label: ADA}).status_code == status
    assert site.by_token("viewer").get(path, params={label: "plain"}).status_code == 200
