"""The review queue as people use it, over a real PostgreSQL."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import event

from monitor.core.model import Verdict
from tests.factories.answers import NOON, a_batch, an_assessment, at

VERDICTS = list(Verdict)


@pytest.fixture
def stored(writer):
    writer.write(
        a_batch(
            *(
                an_assessment(
                    id=f"q/{n}",
                    app="shop & co",
                    occurred_at=at(-n - 1),
                    verdict=VERDICTS[n % 3],
                    answer=f"Write to ada@example.org, <b>{n}</b>",
                )
                for n in range(8)
            )
        )
    )


def offered(text):
    return re.search(r'name="of_id" value="(.+?)"', text)[1]


@pytest.mark.usefixtures("stored")
def test_the_answer_is_shown_blind_and_masked(site):
    text = site.signed_in("operator")[0].get("/review").text
    article = re.search(r'<article class="reviewed".*?</article>', text, re.DOTALL)[0]
    assert "How long are deleted snapshots kept?" in article
    assert "Write to [e-mail], &lt;b&gt;" in article
    assert "kept for 30 days, then purged" in article
    for told in ("verdict", "probab", "0.75", "0.125", "self", "sdq", "answer_off_support"):
        assert told not in article.lower()


@pytest.mark.parametrize(("answer", "masked"), [("At nine.", False), ("Write to ada@example.org.", True)])
def test_a_look_in_clear_is_offered_only_where_it_shows_more(site, writer, answer, masked):
    writer.write(a_batch(an_assessment(id="q-1", app="shop", occurred_at=NOON, question="\u202eWhen?", answer=answer)))
    text = site.by_token("operator").get("/review").text
    assert ("Show in clear" in text) is masked
    assert "⟨U+202E⟩When?" in text


@pytest.mark.usefixtures("stored")
def test_the_page_and_the_api_say_what_calibration_lacks(site):
    client, _ = site.signed_in("viewer")
    words = (
        "calibration has 0 of 20 self-generated and 0 of 20 grounded answers that it can use: nothing is labelled yet"
    )
    assert f"All apps: {words}." in client.get("/review").text
    found = client.get("/api/v1/labels/shortage", params={"app": "shop & co"}).json()
    assert (found["labels"], found["lacks"], found["words"]) == (0, "self_generated", words)
    short = {"class": "grounded", "usable": 0, "needed": 20, "missing": 20, "more_labels": None}
    assert found["classes"][1] == short


@pytest.mark.usefixtures("stored")
def test_a_label_is_stored_and_the_next_one_comes(site, rows):
    client, csrf = site.signed_in("operator")
    seen = []
    for verdict in ("grounded", "refusal", "self_generated"):
        id_ = offered(client.get("/review").text)
        seen.append(id_)
        form = {"csrf": csrf, "of_app": "shop & co", "of_id": id_, "verdict": verdict, "note": " why "}
        answer = client.post("/review", data=form)
        assert (answer.status_code, answer.headers["location"]) == (303, "/review?span=7d&notice=labelled")
    assert len(set(seen)) == 3
    labelled = rows("SELECT interaction_id, label, note FROM review ORDER BY id")
    assert labelled == list(zip(seen, ("grounded", "refusal", "self_generated"), ["why"] * 3, strict=True))
    assert rows("SELECT count(*) FROM audit_queue WHERE kind = 'label'") == [(3,)]
    drawn = rows("SELECT drawn FROM review ORDER BY id")
    assert [one == ("random",) for one in drawn] == [False, True, False]
    assert "Your label is stored. Here is the next answer." in client.get("/review?notice=labelled").text


@pytest.mark.usefixtures("stored")
def test_skipping_goes_through_all_of_them_and_says_the_end(site):
    client, _ = site.signed_in("operator")
    path, seen = "/review?app=shop+%26+co&span=28d", set()
    while "of_id" in (text := client.get(path).text):
        seen.add(offered(text))
        path = re.search(r'href="(/review[^"]+)" data-key="s"', text)[1].replace("&amp;", "&")
        assert "app=shop+%26+co" in path
        assert "span=28d" in path
    assert len(seen) == 8
    assert "No answers to label in this selection." in text


@pytest.mark.usefixtures("stored")
def test_other_apps_and_second_opinions_are_apart(site):
    client, csrf = site.signed_in("operator")
    assert "of_id" not in client.get("/review?app=other").text
    assert "of_id" not in client.get("/review?second=1").text
    id_ = offered(client.get("/review").text)
    client.post("/review", data={"csrf": csrf, "of_app": "shop & co", "of_id": id_, "verdict": "grounded"})
    other = site.signed_in("admin")[0]
    assert offered(other.get("/review?second=1&span=24h").text) == id_


@pytest.mark.usefixtures("stored")
def test_in_clear_only_after_the_trail_has_it(site, rows):
    client, csrf = site.signed_in("operator")
    id_ = offered(client.get("/review").text)
    text = client.post("/review/clear", data={"csrf": csrf, "of_app": "shop & co", "of_id": id_}).text
    assert "ada@example.org" in text
    assert "The audit trail has recorded your look." in text
    assert rows("SELECT app, subject FROM audit_queue WHERE kind = 'look'") == [("shop & co", id_)]
    other = client.post("/review/clear", data={"csrf": csrf, "of_app": "shop & co", "of_id": "none"}).text
    assert "ada@example.org" not in other
    assert rows("SELECT count(*) FROM audit_queue WHERE kind = 'look'") == [(1,)]


@pytest.mark.usefixtures("stored")
def test_a_viewer_sees_the_agreement_only(site, rows):
    client, csrf = site.signed_in("viewer")
    text = client.get("/review").text
    assert "Operators and administrators label answers" in text
    assert "of_id" not in text
    form = {"csrf": csrf, "of_app": "shop & co", "of_id": "q/1", "verdict": "grounded"}
    assert client.post("/review", data=form).status_code == 403
    assert rows("SELECT count(*) FROM review_offer") == [(0,)]


@pytest.mark.usefixtures("stored")
def test_a_label_of_what_is_not_stored_is_refused(site):
    client, csrf = site.signed_in("operator")
    form = {"csrf": csrf, "of_app": "shop & co", "of_id": "none", "verdict": "grounded"}
    assert client.post("/review", data=form).status_code == 400
    assert client.post("/review", data={**form, "verdict": "fine"}).status_code == 422


@pytest.mark.usefixtures("stored")
def test_agreement_is_of_what_was_drawn_at_random(site, rows):
    client, csrf = site.signed_in("operator")
    for _ in range(2):
        id_ = offered(client.get("/review").text)
        client.post("/review", data={"csrf": csrf, "of_app": "shop & co", "of_id": id_, "verdict": "grounded"})
    at_random = rows(
        "SELECT count(*), count(*) FILTER (WHERE r.verdict = 'grounded') FROM review r JOIN review_offer o "
        "ON o.interaction_id = r.interaction_id AND o.drawn = 'random'"
    )
    ((labels, agreeing),) = at_random
    text = client.get("/review").text
    assert f'class="number">{labels} <span class="quiet">(too few)' in text
    assert f"{agreeing / labels:.0%}".replace("%", "\u00a0%") in text
    assert ("left out: 1 labelled answer" in text) is (labels == 1)


@pytest.mark.usefixtures("stored")
def test_the_next_answer_reads_neither_the_candidates_nor_their_labels_again(site):
    client, csrf = site.signed_in("operator")
    asked = []
    event.listen(site.application.engine, "before_cursor_execute", lambda _c, _u, sql, *_: asked.append(sql))
    for _ in range(3):
        asked.clear()
        id_ = offered(client.get("/review").text)
        client.post("/review", data={"csrf": csrf, "of_app": "shop & co", "of_id": id_, "verdict": "grounded"})
    drawn = [sql for sql in asked if "hashtextextended" in sql]
    labels = [sql for sql in asked if "FROM review r JOIN unnest" in sql]  # of the one answer that was labelled
    assert (len(drawn), len(labels)) == (0, 1)
    assert len([sql for sql in asked if "AS usable" in sql]) == 1  # what calibration lacks
