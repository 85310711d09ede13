"""The list of interactions as people use it, over a real PostgreSQL."""

from __future__ import annotations

import csv
import io
import json
import re

import psycopg
import pytest

from monitor.core.model import Reason, Verdict
from tests.factories.answers import a_batch, an_assessment, at
from tests.factories.assess.diagnoses import a_diagnosis

VERDICTS = list(Verdict)


@pytest.fixture
def stored(writer):
    writer.write(
        a_batch(
            *(
                an_assessment(
                    id=f"q/{n:03}",
                    app="shop & co",
                    occurred_at=at(-n - 1),
                    verdict=VERDICTS[n % 3],
                    model="large",
                    question=f"=Question {n} <b>",
                    answer="Write to ada@example.org <script>alert(1)</script>",
                    reasons=(Reason.MISSING_FACT, Reason.NOT_IN_DOCUMENTS) if n % 3 == 2 else (),
                )
                for n in range(120)
            )
        )
    )


@pytest.fixture
def client(site, stored):  # noqa: ARG001
    return site.by_token("viewer")


def listed(text):
    return re.findall(r'href="/interactions/shop%20%26%20co/q%2F(\d+)"', text)


def follow(client, text, rel):
    link = re.search(rf'rel="{rel}" href="([^"]+)"', text)[1].replace("&amp;", "&")
    return client.get(link).text


def test_it_pages_back_and_forth(client):
    first = client.get("/interactions").text
    assert listed(first) == [f"{n:03}" for n in range(50)]
    assert 'rel="prev"' not in first
    second = follow(client, first, "next")
    third = follow(client, second, "next")
    assert listed(third) == [f"{n:03}" for n in range(100, 120)]
    assert 'rel="next"' not in third
    assert listed(follow(client, follow(client, third, "prev"), "prev")) == listed(first)


def test_leaving_out_a_word_that_only_masked_text_holds_leaves_out_nothing(client):
    assert listed(client.get("/interactions?words=-ada%40example").text) == [f"{n:03}" for n in range(50)]
    assert listed(client.get("/interactions?words=-script").text) == []


def test_foreign_text_is_text_and_personal_data_is_masked(client):
    text = client.get("/interactions").text
    assert "&lt;script&gt;" in text
    assert "<script>alert" not in text
    assert "[e-mail]" in text
    assert "ada@example.org" not in text


def test_filters_are_kept_and_can_be_taken_off(client):
    text = client.get("/interactions?verdict=self_generated&reason=missing_fact&app=shop+%26+co&span=7d").text
    assert listed(text) == [f"{n:03}" for n in range(2, 120, 3)]
    assert '<option value="self_generated" selected>' in text
    assert re.search(r'<details class="more" open', text)
    assert 'href="/interactions?span=7d&amp;app=shop+%26+co&amp;reason=missing_fact"' in text
    assert "and 1 more" in text


def test_the_diagnosis_is_a_badge_and_a_filter(site, writer):
    names = ("retrieval_missed", "retrieval_noisy", "generator_ignored", "healthy", None)
    writer.write(
        a_batch(
            *(
                an_assessment(
                    id=f"q/{n:03}",
                    app="shop & co",
                    occurred_at=at(-n - 1),
                    diagnosis=None if name is None else a_diagnosis(name),
                )
                for n, name in enumerate(names)
            )
        )
    )
    client = site.by_token("viewer")
    text = client.get("/interactions").text
    assert len(listed(text)) == 5
    badges = re.findall(r'<span class="badge (\w+)">([\w ]+)</span></span></td>', text)
    assert badges == [("bad", "retrieval missed"), ("warn", "retrieval noisy"), ("bad", "generator ignored")]
    for wanted, found in (
        ("retriever", ["000", "001"]),
        ("generator", ["002"]),
        ("healthy", ["003"]),
        ("retrieval_noisy&reason=missing_fact", []),
    ):
        assert listed(client.get(f"/interactions?diagnosis={wanted}").text) == found
        rows = client.get(f"/interactions.jsonl?diagnosis={wanted}").text.splitlines()
        assert [json.loads(row)["id"] for row in rows] == [f"q/{number}" for number in found]


def test_a_page_keeps_its_filters(client):
    text = follow(client, client.get("/interactions?verdict=negative&span=7d").text, "next")
    assert listed(text) == [f"{n:03}" for n in range(120) if n % 3][50:]


def test_what_to_look_at_first_is_rare_for_its_app_or_without_a_rank_self_generated(site, writer):
    ranked = ((0.02, Verdict.GROUNDED), (0.5, Verdict.SELF_GENERATED), (None, Verdict.SELF_GENERATED))
    writer.write(
        a_batch(
            *(
                an_assessment(id=f"q/{n:03}", app="shop & co", verdict=verdict, rank=rank, occurred_at=at(-n - 1))
                for n, (rank, verdict) in enumerate(ranked)
            )
        )
    )
    text = site.by_token("viewer").get("/interactions?suspicious=yes&app=shop+%26+co").text
    assert listed(text) == ["000", "002"]
    assert "rarer than 98 in 100 of this app&#39;s usual answers" in text
    assert "1 of these 2 have no rank, since no reference period is frozen for them" in text


def test_words_are_found(client):
    assert listed(client.get('/interactions?words="question 119"').text) == ["119"]
    assert "No answers match these filters" in client.get("/interactions?words=ada@example.org").text


def test_what_waits_is_told_in_a_sentence_of_its_own(site):
    text = " ".join(re.sub("<.*?>", "", site.by_token("viewer").get("/interactions").text).split())
    assert "match these filters. Show 28 days. Interactions that wait for their assessment" in text


def test_what_cannot_be_read_is_said(client):
    answer = client.get("/interactions?metric=sdq&low=<x>")
    assert answer.status_code == 200
    assert "At least: “&lt;x&gt;” is not a valid value" in answer.text
    assert client.get("/interactions?older=nonsense").status_code == 400


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_list_is_a_file_too(client, form):
    answer = client.get(f"/interactions.{form}?verdict=refusal")
    assert re.fullmatch(rf'attachment; filename="interactions-\w+\.{form}"', answer.headers["content-disposition"])
    if form == "csv":
        found = list(csv.DictReader(io.StringIO(answer.text)))
        assert found[0]["question"] == "'=Question 1 <b>"
    else:
        found = [json.loads(line) for line in answer.text.splitlines()]
        assert found[0]["question"] == "=Question 1 <b>"
    assert [row["id"] for row in found] == [f"q/{n:03}" for n in range(1, 120, 3)]
    assert "ada@example.org" not in answer.text


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("unscored=any", "Turns without scores have no verdict"),
        ("verdict=rubbish", "Verdict: “rubbish” is not a valid value"),
        ("since=yesterday&low=0.5", "From: “yesterday” is not a valid value; At least, at most: choose a metric"),
    ],
)
def test_a_file_ignores_no_filter(site, stored, rows, form, query, said):  # noqa: ARG001
    client, _ = site.signed_in("viewer")
    answer = client.get(f"/interactions.{form}?{query}")
    assert answer.status_code == 422
    assert said in answer.text
    assert rows("SELECT count(*) FROM audit_queue WHERE kind = 'export'") == [(0,)]


def test_there_is_no_other_file(client):
    assert client.get("/interactions.xls").status_code == 404


def test_a_list_that_takes_too_long_says_what_to_narrow(client, monkeypatch):
    monkeypatch.setattr("monitor.store.database._LIMITED", "SET LOCAL statement_timeout = '{limit}us'")
    answer = client.get("/interactions?words=x")
    assert answer.status_code == 503
    assert "choose a shorter span" in answer.text


@pytest.mark.parametrize("path", ["/interactions.csv?", "/api/v1/interactions/export?format=csv&"])
def test_a_list_taken_away_is_in_the_audit_trail_first(client, rows, monkeypatch, path):
    assert client.get(f"{path}app=shop+%26+co&words=secret").status_code == 200
    ((app, subject, body),) = rows("SELECT app, subject, body FROM audit_queue WHERE kind = 'export'")
    assert (app, subject) == ("shop & co", "interactions")
    assert {name: body[name] for name in set(body) - {"by", "at"}} == {"form": "csv", "masked": True}
    assert body["by"].startswith("token:viewer")

    def broken(*_, **__):
        raise psycopg.OperationalError("gone")

    monkeypatch.setattr("monitor.store.audit_queue.queue_act", broken)
    assert client.get(path).status_code == 503


def test_no_personal_data_is_offered_as_a_filter(site, writer):
    tagged = an_assessment(tags={"topic": "ada@example.org"}, model="grace@example.org", occurred_at=at(-1))
    writer.write(a_batch(tagged, an_assessment(id="q-2", tags={"topic": "refunds"}, occurred_at=at(-1)), received=2))
    text = site.by_token("admin").get("/interactions").text
    assert '<option value="refunds">' in text
    assert "ada@example.org" not in text
    assert "grace@example.org" not in text
