"""One interaction as people read and label it, over a real PostgreSQL."""

from __future__ import annotations

import re
from dataclasses import replace

import psycopg
import pytest

from monitor.core.model import Document, Reason, Verdict
from tests.factories.answers import NOON, a_batch, a_judgement, an_assessment, an_interaction, at
from tests.factories.assess.diagnoses import CHUNKS, a_diagnosis
from tests.factories.conversations import a_follow_up

APP, ID = "shop & co", "q/1?<b>"
PATH = "/interactions/shop%20%26%20co/q%2F1%3F%3Cb%3E"


@pytest.fixture
def stored(writer):
    writer.write(
        a_batch(
            an_assessment(
                id=ID,
                app=APP,
                conversation_id="c-1",
                turn=2,
                verdict=Verdict.SELF_GENERATED,
                model="large",
                reasons=(Reason.NOT_IN_DOCUMENTS,),
                rule_verdict=Verdict.GROUNDED,
                rank=0.02,
                reference="89abcdef01234567",
                trace_id="t-1",
                tags={"topic": "<i>"},
                answer="Deleted snapshots are kept for 30 days. Write to ada@example.org <script>alert(1)</script>.",
                retrieved_documents=(
                    Document(id="d-1", text="Deleted snapshots are kept for 30 days, then purged.", score=0.5),
                ),
            ),
            an_assessment(id="q-0", app=APP, conversation_id="c-1", turn=1, occurred_at=at(-1), question="And before?"),
            an_assessment(id=ID, app="other"),
            pending=(an_interaction(id="waits", app=APP),),
            received=4,
        )
    )


@pytest.mark.usefixtures("stored")
def test_the_page_says_what_and_why(site):
    text = site.by_token("viewer").get(PATH).text
    assert text.count("<h1>") == 1
    assert "the answer says something that no retrieved document supports" in text
    rarity = "Among the answers of its app: rarer than 98 in 100 of this app&#39;s usual answers"
    assert f"{rarity} (reference 89abcdef01234567)." in text
    assert "Deleted snapshots are kept for 30 days, then purged" in text
    assert text.count("data-sentence") == 2
    assert 'href="/interactions/shop%20%26%20co/q-0">And before?' in text
    assert "&lt;i&gt;" in text
    assert "rule alone gives the verdict" in text
    assert "not sealed yet" in text


def test_the_diagnosis_stands_above_the_documents_and_the_documents_are_cut_into_chunks(site, writer):
    text = "Deleted snapshots are kept for 30 days. <b>Backups</b> are kept for a year."
    end = text.index(" <b>")
    kept, noise = (replace(CHUNKS[0], end=end), replace(CHUNKS[1], start=end + 1, end=len(text), repeats=None))
    repeated = replace(CHUNKS[0], document=1, end=end, rank=3, used=False, repeats=CHUNKS[1].repeats)
    found = a_diagnosis("generator_invented", chunks=(kept, noise, repeated), tau=1.0)
    documents = (Document(id="d-1", text=text), Document(id="d-2", text=text[:end]))
    writer.write(a_batch(an_assessment(id=ID, app=APP, diagnosis=found, retrieved_documents=documents)))
    page = site.by_token("viewer").get(PATH).text
    assert '<a class="badge bad" href="#retrieved">generator invented</a>' in page
    assert "<strong>Generator invented</strong>: the answer rests on what was retrieved, and says more" in page
    assert "3 chunks: 1 kept, 1 not relevant, 1 repeats another; the answer uses 1 of them." in page
    assert "The retriever&#39;s order of the 2 documents is the one by relevance." in page
    assert re.findall(r'<li class="chunk ?(\w*)" id="c-(\d)">', page) == [("good", "1"), ("", "2"), ("warn", "3")]
    assert '<a href="#c-1">chunk 1</a>' in page
    assert "used by the answer" in page
    assert "&lt;b&gt;Backups&lt;/b&gt; are kept" in re.sub("</?mark[^>]*>", "", page)
    assert "<b>Backups" not in page


def test_an_answer_without_a_diagnosis_has_its_documents_whole(site, stored):  # noqa: ARG001
    page = site.by_token("viewer").get(PATH).text
    assert "retrieved documents" in page.lower()
    assert 'class="chunk' not in page
    assert 'href="#retrieved"' not in page


def test_after_an_erasure_the_diagnosis_is_left_without_chunks(site, writer, rows):
    writer.write(a_batch(an_assessment(id=ID, app=APP, diagnosis=a_diagnosis("retrieval_missed"))))
    rows("UPDATE assessment SET evidence = '{}' RETURNING 1")
    page = site.by_token("viewer").get(PATH).text
    assert "<strong>Retrieval missed</strong>: what was retrieved does not answer the question." in page
    assert 'class="chunk' not in page


@pytest.mark.usefixtures("stored")
def test_foreign_text_is_text_and_personal_data_is_masked(site):
    for role in ("viewer", "admin"):
        text = site.by_token(role).get(PATH).text
        assert "<script>alert" not in text
        assert "[e-mail]" in text
        assert "ada@example.org" not in text


@pytest.mark.usefixtures("stored")
def test_in_clear_only_when_the_look_is_kept(site, rows):
    client, csrf = site.signed_in("operator")
    assert "Show in clear (this is recorded)" in client.get(PATH).text
    answer = client.post(f"{PATH}/clear", data={"csrf": csrf})
    assert answer.status_code == 200
    assert "ada@example.org" in answer.text
    assert "You see this interaction in clear" in answer.text
    ((app, subject, by, fields),) = rows(
        "SELECT app, subject, body->>'by', body->'fields' FROM audit_queue WHERE kind = 'look'"
    )
    assert (app, subject) == (APP, ID)
    assert {"answer", "reference_answer", "trace_id", "labels"} <= set(fields)
    assert by.startswith("token:operator")


@pytest.mark.usefixtures("stored")
def test_a_page_that_answered_a_form_may_be_loaded_again(site, writer, looks):
    writer.write(a_batch(an_assessment(id="a/clear", app=APP)))
    client, _ = site.signed_in("operator")
    for form in ("clear", "label"):
        answer = client.get(f"{PATH}/{form}")
        assert (answer.status_code, answer.headers["location"]) == (303, PATH)
    for own in ("a%2Fclear", "a/clear"):  # an id that ends like that
        assert 'class="id">a/clear<' in client.get(f"/interactions/shop%20%26%20co/{own}").text
    assert client.get("/interactions/shop%20%26%20co/nobody").status_code == 404
    assert client.get("/review/clear").headers["location"] == "/review"
    assert client.get("/dead-letters/5/clear").headers["location"] == "/dead-letters/5"
    assert looks() == []


@pytest.mark.usefixtures("stored")
def test_nothing_is_shown_where_the_look_cannot_be_kept(site, monkeypatch):
    def broken(*_, **__):
        raise psycopg.OperationalError("gone")

    client, csrf = site.signed_in("operator")
    monkeypatch.setattr("monitor.store.audit_queue.queue_act", broken)
    answer = client.post(f"{PATH}/clear", data={"csrf": csrf})
    assert answer.status_code == 503
    assert "ada@example.org" not in answer.text


@pytest.mark.usefixtures("stored")
def test_a_viewer_neither_looks_nor_labels(site):
    client, csrf = site.signed_in("viewer")
    text = client.get(PATH).text
    assert "Show in clear" not in text
    assert "Store the label" not in text
    for action, form in (("clear", {}), ("label", {"verdict": "refusal"})):
        assert client.post(f"{PATH}/{action}", data={"csrf": csrf, **form}).status_code == 403


@pytest.mark.usefixtures("stored")
def test_a_label_is_stored_and_shown(site, rows):
    client, csrf = site.signed_in("operator")
    form = {"csrf": csrf, "verdict": "refusal", "note": "<u>no</u>"}
    answer = client.post(f"{PATH}/label", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{PATH}?notice=labelled#labels")
    assert rows("SELECT app, interaction_id, label, note FROM review") == [(APP, ID, "refusal", "<u>no</u>")]
    text = client.get(f"{PATH}?notice=labelled").text
    assert "Your label is stored." in text
    assert "&lt;u&gt;no&lt;/u&gt;" in text
    assert client.post(f"{PATH}/label", data=form).headers["location"] == f"{PATH}?notice=unchanged#labels"
    assert client.get(f"{PATH}?notice=<script>").status_code == 200


@pytest.mark.usefixtures("stored")
def test_a_form_of_another_page_does_nothing(site, rows):
    client, _ = site.signed_in("operator")
    assert client.post(f"{PATH}/label", data={"verdict": "refusal"}).status_code == 403
    assert rows("SELECT count(*) FROM review") == [(0,)]


@pytest.mark.usefixtures("stored")
def test_what_is_sealed_says_so(site, rows):
    rows(
        "INSERT INTO audit_leaf (index, kind, app, subject, part, sealed_at, body, hash)"
        " VALUES (1234, 'interaction', %s, %s, '', now(), '{}', '')",
        APP,
        ID,
    )
    assert re.search(r"interaction as leaf 1\s?234", site.by_token("viewer").get(PATH).text)


@pytest.mark.usefixtures("stored")
def test_judgements_are_shown(site, database):
    j = a_judgement()
    with psycopg.connect(database) as connection:
        connection.execute(
            """INSERT INTO judgement (app, id, metric, model, prompt_hash, occurred_at, mode, score, parts, calls,
                input_tokens, output_tokens, judged_at) VALUES (%s, %s, %s, %s, %s, %s, 'separate', 0.5,
                '{"statements": [{"supported": false, "statement": "<b>ada@example.org</b>"}]}', 1, 1, 1, now())""",
            [APP, ID, j.metric, j.model, j.prompt_hash, NOON],
        )
    text = site.by_token("viewer").get(PATH).text
    assert "0 of 1 statements" in text
    assert "&lt;b&gt;[e-mail]&lt;/b&gt;" in text


@pytest.mark.usefixtures("stored")
def test_unknown_and_waiting_ones_say_so(site):
    viewer, _ = site.signed_in("viewer")
    unknown = viewer.get("/interactions/shop%20%26%20co/nobody")
    waits = viewer.get("/interactions/shop%20%26%20co/waits")
    assert (unknown.status_code, waits.status_code) == (404, 404)
    assert "no such interaction" in unknown.text
    assert "not assessed yet" in waits.text


@pytest.mark.usefixtures("stored")
def test_erased_texts_leave_a_page(site, rows):
    rows(
        "UPDATE interaction SET question = '', answer = '', retrieved_documents = '[]', tags = '{}', marks = '{erased}'"
        " WHERE app = %s AND id = %s",
        APP,
        ID,
    )
    rows('UPDATE assessment SET evidence = \'{"alignment": [], "missing": [], "features": {}}\'')
    answer = site.by_token("viewer").get(PATH)
    assert answer.status_code == 200
    assert "The texts were erased" in answer.text


@pytest.mark.usefixtures("stored")
def test_a_look_at_one_turn_leaves_the_others_masked(site, writer):
    writer.write(
        a_batch(
            an_assessment(id="q-9", app=APP, conversation_id="c-1", turn=3, question="I am grace@example.org"),
            received=1,
        )
    )
    client, csrf = site.signed_in("operator")
    text = client.post(f"{PATH}/clear", data={"csrf": csrf}).text
    assert "ada@example.org" in text
    assert "I am [e-mail]" in text
    assert "grace@example.org" not in text


@pytest.mark.usefixtures("stored")
def test_bars_have_the_colour_of_what_they_tell_and_the_first_wrong_sentence_is_open(site, rows):
    profile = site.application.assessing.profile
    site.application.queries.save_profile(profile, NOON)
    rows("UPDATE assessment SET profile_hash = %s, sdq = 0.01, sdrd = -0.5", profile.hash)
    text = site.by_token("viewer").get(PATH).text
    for verdict in Verdict:
        assert f'<svg class="bar {verdict}"' in text
    assert text.count('<rect class="mark"') == 5
    assert re.search(
        r'<svg class="bar below"[^>]*><rect class="ground"[^>]*/><rect class="filled" y="2" width="0.0"', text
    )
    assert "<meter" not in text
    assert "style=" not in text
    assert "Point at a sentence" in text
    opened = re.findall(r'<details class="sentence (\w+)"[^>]* open data-peek>', text)
    assert opened == ["bad"] or (not opened and 'class="sentences roomy"' not in text)


@pytest.mark.parametrize(
    ("trace_id", "link"),
    [
        ("4bf9", "https://traces.example/x/4bf9"),
        (
            '"><script>alert(1)</script>/../..',
            "https://traces.example/x/%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E%2F..%2F..",
        ),
        ("ada@example.org", None),  # personal data is not in a link either
        (None, None),
    ],
)
def test_the_trace_is_linked_in_the_teams_own_tool(site, writer, trace_id, link):
    writer.write(a_batch(an_assessment(id="q-1", app="shop", trace_id=trace_id)))
    settings = site.application.settings
    site.application.settings = settings.model_copy(update={"trace_url": {"*": "https://traces.example/x/{trace_id}"}})
    text = site.by_token("viewer").get("/interactions/shop/q-1").text
    found = re.findall(r'href="([^"]*)"[^>]*>open the trace', text)
    assert found == ([link] if link else [])
    assert "traces.example" in text or not link
    assert "<script>alert(1)" not in text
    site.application.settings = settings
    assert "open the trace" not in site.by_token("viewer").get("/interactions/shop/q-1").text


def test_a_follow_up_is_shown_as_it_was_asked_and_as_it_was_read(site, writer, rows):
    writer.write(a_batch(*a_follow_up(app=APP)))
    path = "/interactions/shop%20%26%20co/q-2"
    text = site.by_token("viewer").get(path).text
    earlier = 'href="/interactions/shop%20%26%20co/q-1"'
    assert f"Read as: <a {earlier}>What does the premium plan of Jane Doe, [e-mail], cost?</a> And for seniors?" in text
    assert f"<a {earlier}>q-1</a>" in text
    assert "SDQ 0.25 → 0.75, QRD 0.12 → 0.62, QA – → 0.25" in text
    rows(
        "UPDATE interaction SET question = 'Changed <b>words</b> of about the same length or longer?' WHERE id = 'q-1'"
    )
    assert "not known any more: a turn that it leans on has changed since" in site.by_token("viewer").get(path).text


PLAIN = "/interactions/shop/q-1"
IN_CLEAR, NOTHING = "Show in clear", "No personal data was found here, so nothing is masked."


@pytest.mark.parametrize(
    ("over", "masked"),
    [
        ({}, False),
        ({"question": "I am ada@example.org"}, True),
        ({"answer": "Deleted snapshots are kept for 30 days. Call +49 30 901820."}, True),
        ({"retrieved_documents": (Document(id="d-1", text="Ask ada@example.org."),)}, True),
        ({"retrieved_documents": (Document(id="ada@example.org", text="Snapshots."),)}, True),
        ({"tags": {"user": "ada@example.org"}}, True),
        ({"conversation_id": "ada@example.org"}, True),
        ({"reference_answer": "Ask ada@example.org."}, True),
    ],
)
def test_a_look_in_clear_is_offered_only_where_it_shows_more(site, writer, over, masked):
    writer.write(a_batch(an_assessment(id="q-1", app="shop", **over)))
    text = site.by_token("operator").get(PLAIN).text
    assert ((IN_CLEAR in text), (NOTHING in text)) == (masked, not masked)
    assert IN_CLEAR not in site.by_token("viewer").get(PLAIN).text


def test_after_an_erasure_no_look_in_clear_is_offered(site, writer, rows):
    writer.write(a_batch(an_assessment(id="q-1", app="shop", question="I am ada@example.org")))
    rows("UPDATE interaction SET question = '', answer = '', retrieved_documents = '[]', marks = '{erased}'")
    rows("UPDATE assessment SET evidence = '{}', support = jsonb_set(support, '{documents}', '[]')")
    assert NOTHING in site.by_token("operator").get(PLAIN).text


def test_a_long_conversation_says_that_it_goes_on(site, writer):
    turns = [
        an_assessment(id=f"q-{n}", app="shop", conversation_id="c-1", turn=n, occurred_at=at(n - 100))
        for n in range(53)
    ]
    writer.write(a_batch(*turns[:50]))
    said = 'The first 50 turns are listed. <a href="/interactions?conversation=c-1&amp;app=shop">All its answers</a>'
    assert said not in site.by_token("viewer").get(PLAIN).text
    writer.write(a_batch(*turns[50:]))
    assert said in site.by_token("viewer").get("/interactions/shop/q-52").text
