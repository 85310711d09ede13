"""Turns that cannot be scored, as people see them: listed, on a page, on the overview, by the API and commands."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app as commands
from monitor.core.model import Document, Unscored, Verdict
from monitor.core.reason_words import UNSCORED_ADVICE, UNSCORED_WORDS
from tests.factories.answers import NOON, a_batch, an_assessment, an_interaction, at

NO_TEXT, FAILED = Unscored.NO_DOCUMENT_TEXT, Unscored.CALL_FAILED


@pytest.fixture(autouse=True)
def stored(writer):
    turns = [
        an_interaction(
            id=f"u-{n}",
            app="shop",
            occurred_at=at(-10 - n),
            question=f"Mail to ada@example.org, {n}?",
            answer="" if n == 2 else "At nine.",
            retrieved_documents=(Document(id="kb-3", text="", score=0.75),),
            unscored=FAILED if n == 2 else NO_TEXT,
        )
        for n in range(3)
    ]
    scored = [an_assessment(id=f"a-{n}", app="shop", occurred_at=at(-5 - n)) for n in range(5)]
    writer.write(a_batch(*scored, unscored=tuple(turns), received=8))


def test_the_list_has_a_filter_with_the_reasons_in_words(viewer):
    text = viewer.get("/interactions").text
    assert 'value="no_document_text">turns that carry no document text</option>' in text
    assert "u-0" not in text
    assert "3 turns are not scored, and not in this list" in text
    assert re.search(r'href="/interactions.(span=24h.amp;)?unscored=any">Show them', text)
    assert "not scored, and" not in viewer.get("/interactions?words=nine").text
    found = viewer.get("/interactions?unscored=any&app=shop").text
    assert [f"/interactions/shop/u-{n}" in found for n in range(3)] == [True, True, True]
    assert UNSCORED_ADVICE[NO_TEXT] in found
    assert "ada@example.org" not in found
    narrowed = viewer.get("/interactions?unscored=call_failed&verdict=refusal&words=nine").text
    assert [f"/interactions/shop/u-{n}" in narrowed for n in range(3)] == [False, False, True]
    assert "Verdict: turns without scores are not filtered by this" in narrowed
    assert "No turns without scores" in viewer.get("/interactions?unscored=any&app=other").text


def test_a_turn_has_a_page_that_says_what_is_missing(site, viewer, looks):
    text = viewer.get("/interactions/shop/u-0").text
    for said in ("This turn carries no document text", UNSCORED_ADVICE[NO_TEXT], "kb-3, score 0.75", "At nine."):
        assert said in text
    assert "its text is not known" in text
    assert "ada@example.org" not in text
    browser, csrf = site.signed_in("auditor")
    assert "ada@example.org" in browser.post("/interactions/shop/u-0/clear", data={"csrf": csrf}).text
    assert [look[:2] for look in looks()] == [("shop", "u-0")]


def test_the_overview_says_the_share_of_all_turns_and_what_to_switch_on(viewer):
    text = viewer.get("/").text
    assert "25 % of the turns of shop</a>" in text.replace("\N{NO-BREAK SPACE}", " ")
    assert f"{UNSCORED_WORDS[NO_TEXT]}: {UNSCORED_ADVICE[NO_TEXT]}" in text
    assert "2 of 8" in text
    listed = viewer.get("/api/v1/overview").json()["unscored"]
    assert [(one["reason"], one["turns"], one["share"]) for one in listed] == [
        ("no_document_text", 2, 0.25),
        ("call_failed", 1, 0.125),
    ]


def test_the_overview_names_the_reasons_of_most_turns_however_many_apps_there_are(writer, viewer):
    turns = [an_interaction(id=f"n-{n}", app=f"app-{n}", occurred_at=at(-10), unscored=NO_TEXT) for n in range(7)]
    writer.write(a_batch(unscored=tuple(turns), received=7))
    text = viewer.get("/").text
    assert text.count("of the turns of ") == 5
    assert text.index("of the turns of shop</a>") < text.index("of the turns of app-0</a>")
    assert "4 more reasons are not listed here" in text.replace("\N{NO-BREAK SPACE}", " ")
    assert 'href="/interactions?span=24h&amp;app=&amp;unscored=any">Show all turns' in text


def test_the_api_lists_them_and_gives_one(viewer):
    page = viewer.get("/api/v1/unscored?limit=2").json()
    assert [(one["id"], one["unscored"]) for one in page["items"]] == [("u-0", NO_TEXT), ("u-1", NO_TEXT)]
    (last,) = viewer.get(f"/api/v1/unscored?limit=2&cursor={page['next']}").json()["items"]
    assert (last["id"], last["words"]) == ("u-2", "ended with a failed model call")
    assert viewer.get("/api/v1/unscored?reason=nothing").status_code == 422
    one = viewer.get("/api/v1/interactions/shop/u-0").json()
    assert (one["unscored"], one["assessment"], one["replaced_at"]) == ("no_document_text", None, None)
    assert one["retrieved_documents"] == [{"id": "kb-3", "text": "", "score": 0.75}]


@pytest.mark.usefixtures("site")
def test_commands_say_why_there_is_no_verdict():
    explained = CliRunner().invoke(commands, ["explain", "shop/u-2"])
    assert explained.exit_code == 1
    assert "this turn ended with a failed model call" in explained.output
    pending = CliRunner().invoke(commands, ["pending"])
    why = "they carry no document text (2), ended with a failed model call (1)"
    assert f"3 turns cannot be scored and wait for nothing; {why}" in " ".join(pending.output.split())


def test_a_revised_answer_says_what_its_verdict_was_and_why_it_changed(writer, viewer):
    later = an_assessment(id="a-0", app="shop", answer="Never.", verdict=Verdict.REFUSAL, revises=True)
    writer.write(a_batch(later))
    text = viewer.get("/interactions/shop/a-0").text
    assert "when more of its trace arrived." in text
    one = viewer.get("/api/v1/interactions/shop/a-0").json()
    assert (one["answer"], one["unscored"], one["replaced_at"][:19]) == ("Never.", None, f"{NOON:%Y-%m-%dT%H:%M:%S}")


def test_the_ids_of_its_documents_are_masked_and_a_look_is_offered_where_something_is(site, writer):
    named = Document(id="ada@example.org", text="", score=0.75)
    plain, hidden = (
        an_interaction(
            id=id_, app="shop", question="When?", answer="At nine.", retrieved_documents=documents, unscored=NO_TEXT
        )
        for id_, documents in (("plain", ()), ("hidden", (named,)))
    )
    writer.write(a_batch(unscored=(plain, hidden), received=2))
    client = site.by_token("operator")
    text = client.get("/interactions/shop/hidden").text
    assert "[e-mail], score 0.75" in text
    assert "ada@example.org" not in text
    assert "Show in clear" in text
    assert "Show in clear" not in client.get("/interactions/shop/plain").text
