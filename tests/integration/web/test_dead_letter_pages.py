"""Dead letters as people see and retry them, over a real PostgreSQL."""

from __future__ import annotations

import json
import re

import pytest

from monitor.web.deadletters.page import JOB, SHOWN
from tests.factories.answers import a_batch, a_dead_letter, at

GOOD = json.dumps({"id": "q-9", "app": "shop", "question": "Q?", "retrieved_documents": ["D."], "answer": "A."})
NOTHING_LOOKED_UP = json.dumps({**json.loads(GOOD), "id": "q-10", "unscored": "no_retrieval"})
HOSTILE = b"\x00<script>alert(1)</script>\xff ada@example.org \xe2\x80\xae"


@pytest.fixture
def letters(writer):
    """Stores `number` letters that are not JSON, then the given ones."""

    def letters(number=0, *others):
        dead = [a_dead_letter(b"no JSON", offset=n + 1, received_at=at(n)) for n in range(number)]
        writer.write(a_batch(dead_letters=(*dead, *others)))

    return letters


def waited(site):
    site.app.state.jobs.wait(JOB)
    return site.app.state.jobs.latest(JOB)


def ids(text):
    return [int(n) for n in re.findall(r'href="/dead-letters/(\d+)"', text)]


def test_none_says_so(site):
    assert "No dead letter is open." in site.by_token("viewer").get("/dead-letters").text


def test_pages_follow_one_another_newest_first_and_lose_none(site, letters, rows):
    letters(120)
    client, path, seen, pages = site.by_token("viewer"), "/dead-letters", [], 0
    while path:
        text = client.get(path).text
        seen, pages = seen + ids(text), pages + 1
        older = re.search(r'href="([^"]+)" rel="next"', text)
        path = older[1].replace("&amp;", "&") if older else None
    assert pages == 3
    assert seen == [number for (number,) in rows("SELECT id FROM dead_letter ORDER BY id DESC")]


def test_filters_narrow_the_list_and_the_causes(site, letters):
    letters(3, a_dead_letter(b"[]", topic="other", path="answer", problem="is <missing>", received_at=at(60)))
    client = site.by_token("viewer")
    text = client.get("/dead-letters").text
    assert len(ids(text)) == 4
    assert "is &lt;missing&gt;" in text
    assert len(ids(client.get("/dead-letters?topic=other").text)) == 1
    assert len(ids(client.get("/dead-letters", params={"problem": "$: is not"}).text)) == 3
    assert len(ids(client.get("/dead-letters", params={"problem": "the message is not"}).text)) == 3
    assert len(ids(client.get("/dead-letters?since=2025-11-21T12:01&until=2025-11-21T12:30").text)) == 2
    assert ids(client.get("/dead-letters?state=settled").text) == []
    assert 'role="alert">from: ' in client.get("/dead-letters?since=soon").text


def test_personal_data_stands_in_no_address_either_and_cannot_be_guessed(site, letters):
    letters(0, a_dead_letter(b"{}", path="id", problem="got 'ada@example.org'", received_at=at(1)))
    client = site.by_token("viewer")
    text = client.get("/dead-letters").text
    assert "ada" not in text
    link = re.search(r'href="(/dead-letters\?[^"]*problem=[^"]*)"', text)[1].replace("&amp;", "&")
    assert len(ids(client.get(link).text)) == 1
    assert ids(client.get("/dead-letters?problem=ada").text) == []
    assert "ada@example.org" not in client.get("/dead-letters?problem=got").text


def test_what_the_end_cuts_in_two_and_what_json_escapes_is_masked(site, letters, rows):
    value = b'{"to": "ada\\u0040example.org", "x": "'
    letters(0, a_dead_letter(value + b"x" * (SHOWN - len(value) - 7) + b" eve@example.org", received_at=at(1)))
    ((number,),) = rows("SELECT id FROM dead_letter")
    text = site.by_token("viewer").get(f"/dead-letters/{number}").text
    assert '"to": &#34;[e-mail]&#34;'.replace('"', "&#34;") in text
    assert "eve" not in text
    shown = site.by_token("viewer").get(f"/api/v1/dead-letters/{number}").json()["value"]
    assert "example.org" not in shown


def test_one_letter_is_masked_with_nothing_hidden_in_it(site, letters, rows):
    letters(0, a_dead_letter(HOSTILE, headers=(("who", b"ada@example.org"),), key=b"\x1b[31m"))
    ((number,),) = rows("SELECT id FROM dead_letter")
    client, csrf = site.signed_in("operator")
    text = client.get(f"/dead-letters/{number}").text
    assert "⟨U+0000⟩&lt;script&gt;alert(1)&lt;/script&gt;\\xff [e-mail] ⟨U+202E⟩" in text
    assert "⟨U+001B⟩[31m" in text
    assert "ada@example.org" not in text
    assert "<script>alert" not in text
    clear = client.post(f"/dead-letters/{number}/clear", data={"csrf": csrf}).text
    assert clear.count("ada@example.org") == 2
    assert "⟨U+202E⟩" in clear
    assert rows("SELECT subject, body ->> 'by' LIKE 'token:%' FROM audit_queue WHERE kind = 'look'") == [
        (f"dead letter {number}", True)
    ]


@pytest.mark.parametrize(("value", "masked"), [(b"no JSON", False), (b"by ada@example.org", True)])
def test_a_look_in_clear_is_offered_only_where_it_shows_more(site, letters, rows, value, masked):
    letters(0, a_dead_letter(value))
    ((number,),) = rows("SELECT id FROM dead_letter")
    client, csrf = site.signed_in("operator")
    assert ("Show in clear" in client.get(f"/dead-letters/{number}").text) is masked
    assert "Show in clear" not in client.post(f"/dead-letters/{number}/clear", data={"csrf": csrf}).text


def test_a_filter_without_letters_does_not_say_that_none_is_open(site, letters):
    letters(1)
    assert "No dead letter matches." in site.by_token("viewer").get("/dead-letters?topic=elsewhere").text


def test_a_viewer_sees_none_in_clear_and_retries_none(site, letters, rows):
    letters(1)
    ((number,),) = rows("SELECT id FROM dead_letter")
    client, csrf = site.signed_in("viewer")
    text = client.get(f"/dead-letters/{number}").text
    assert "Retry" not in text
    assert "in clear" not in text
    for path in (f"/dead-letters/{number}/clear", f"/dead-letters/{number}/retry", "/dead-letters/retry"):
        assert client.post(path, data={"csrf": csrf}).status_code == 403
    assert rows("SELECT count(*) FROM audit_queue WHERE kind = 'look'") == [(0,)]


def test_a_retry_of_one_makes_an_interaction_of_it_and_marks_it_settled(site, letters, rows):
    letters(1, a_dead_letter(GOOD.encode(), topic="mended"))
    ((number,),) = rows("SELECT id FROM dead_letter WHERE topic = 'mended'")
    client, csrf = site.signed_in("operator")
    answer = client.post(f"/dead-letters/{number}/retry", data={"csrf": csrf})
    assert answer.status_code == 303
    job = waited(site)
    assert (job.failed, job.status) == (False, "1 retried: 1 assessed, 0 duplicate, 0 still dead")
    assert rows("SELECT id FROM interaction") == [("q-9",)]
    text = client.get("/dead-letters?state=all").text
    assert "✓ assessed" in text
    assert job.status in text
    assert number not in ids(client.get("/dead-letters").text)


def test_a_retry_says_how_many_turns_cannot_be_scored(site, letters, rows):
    letters(0, a_dead_letter(NOTHING_LOOKED_UP.encode()))
    client, csrf = site.signed_in("operator")
    client.post("/dead-letters/retry", data={"csrf": csrf})
    assert waited(site).status == "1 retried: 0 assessed, 0 duplicate, 1 unscored, 0 still dead"
    assert rows("SELECT id FROM interaction") == [("q-10",)]


def test_a_retry_of_a_filter_leaves_the_others_alone(site, letters, rows):
    letters(2, a_dead_letter(GOOD.encode(), topic="mended"))
    client, csrf = site.signed_in("operator")
    client.post("/dead-letters/retry", data={"csrf": csrf, "topic": "mended"})
    assert waited(site).status == "1 retried: 1 assessed, 0 duplicate, 0 still dead"
    assert rows("SELECT count(*) FROM dead_letter WHERE settled_at IS NULL") == [(2,)]
    client.post("/dead-letters/retry", data={"csrf": csrf})
    assert waited(site).status == "2 retried: 0 assessed, 0 duplicate, 2 still dead"
    assert client.post("/dead-letters/retry", data={"csrf": csrf, "since": "soon"}).status_code == 422


@pytest.mark.parametrize(
    ("path", "status"), [("/dead-letters/7", 404), ("/dead-letters/x", 422), (f"/dead-letters/{2**63}", 422)]
)
def test_a_number_of_none(site, path, status):
    assert site.by_token("viewer").get(path).status_code == status
