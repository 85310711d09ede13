from __future__ import annotations

import json
from contextlib import ExitStack
from urllib.parse import unquote

import pytest

from monitor.core.errors import Retriable, WrongSettings
from monitor.ingest.lookup import http as module
from monitor.ingest.lookup.http import HttpLookup
from tests.servers.webhook import Answer, http_server

TEXTS = {"kb-1": "It opens at nine.", "a/../b?x=1&é": "Odd."}


def answered(request):
    if request.method == "POST":
        found = [{"id": key, "text": TEXTS[key]} for key in json.loads(request.body)["ids"] if key in TEXTS]
        return Answer(status=200, body=json.dumps({"documents": found}))
    key = unquote(request.path.removeprefix("/documents/"))
    if key not in TEXTS:
        return Answer(status=404, body="no such document")
    return Answer(status=200, body=json.dumps({"chunk": {"text": TEXTS[key]}}))


@pytest.fixture(scope="module")
def running():
    with http_server(answered) as server:
        yield server


@pytest.fixture
def server(running):
    running.reset()
    return running


@pytest.fixture
def lookup(server):
    with ExitStack() as closing:

        def made(path, **settings):
            lookup = HttpLookup(server.url + path, timeout=5, **settings)
            closing.callback(lookup.close)
            return lookup

        yield made


@pytest.fixture
def got(lookup):
    return lookup("/documents/{id}", text_path="chunk.text")


@pytest.fixture
def posted(lookup):
    return lookup("/find", items_path="documents", token="secret")


def test_each_text_is_got_by_an_escaped_id(server, got):
    assert got.texts("shop", [*TEXTS, "x"]) == TEXTS
    assert {r.path for r in server.requests} == {
        "/documents/kb-1",
        "/documents/a%2F..%2Fb%3Fx%3D1%26%C3%A9",
        "/documents/x",
    }


def test_an_id_that_names_another_place_is_not_sent(server, got):
    assert got.texts("shop", ["..", ".", ""]) == {}
    assert server.requests == []


def test_all_texts_are_posted_for_at_once(server, posted):
    assert posted.texts("shop", [*TEXTS, "x"]) == TEXTS
    (request,) = server.requests
    assert request.headers["authorization"] == "Bearer secret"
    assert json.loads(request.body) == {"ids": [*TEXTS, "x"]}


@pytest.mark.parametrize(
    "body",
    [
        {"kb-1": "It opens at nine.", "not asked for": "x"},
        {"kb-1": {"text": "It opens at nine."}},
        [{"id": "kb-1", "text": "It opens at nine."}, {"id": "kb-1"}, 3],
    ],
)
def test_an_answer_may_be_an_object_or_a_list(server, lookup, body):
    server.script.append(Answer(status=200, body=json.dumps(body)))
    assert lookup("").texts("shop", ["kb-1"]) == {"kb-1": "It opens at nine."}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Answer(status=503, headers={"Retry-After": "7"}), "HTTP 503"),
        (Answer(status=401), "HTTP 401"),
        (Answer(status=302, headers={"Location": "http://169.254.169.254/"}), "HTTP 302: redirects are not followed"),
        (Answer(status=200, body="<html>"), "the answer is not JSON"),
        (Answer(status=200, body="[" * 100_000), "the answer is not JSON"),
        (Answer(hang_up=True), "HTTP at 127.0.0.1:[0-9]+: [A-Za-z]+Error"),
    ],
)
def test_a_source_that_does_not_answer_well_may_later(server, posted, answer, problem):
    server.script.append(answer)
    with pytest.raises(Retriable, match=problem) as caught:
        posted.texts("shop", ["kb-1"])
    assert caught.value.retry_after == (7.0 if answer.status == 503 else None)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("answer", [Answer(status=400), Answer(status=422), Answer(status=200, body="x" * 2_000)])
def test_an_id_that_the_source_refuses_passes_for_no_outage(server, got, monkeypatch, answer):
    monkeypatch.setattr(module, "_LARGEST_TEXT", 1_000)
    server.script.append(answer)
    assert got.texts("shop", ["kb-1"]) == {}
    assert got.texts("shop", ["kb-1"]) == {"kb-1": TEXTS["kb-1"]}


def test_texts_of_one_call_are_bounded_however_many_there_are(server, got, lookup, monkeypatch, caplog):
    monkeypatch.setattr(module, "_GETS_AT_ONCE", 2)
    monkeypatch.setattr("monitor.ingest.lookup.lookup.MAX_TEXTS_BYTES", 2 * len(TEXTS["kb-1"]))
    monkeypatch.setitem(TEXTS, "kb-2", TEXTS["kb-1"])
    monkeypatch.setitem(TEXTS, "kb-3", TEXTS["kb-1"])
    ids = ["kb-1", "kb-2", "kb-3", "none", "kb-4", "kb-5"]
    assert list(got.texts("shop", ids)) == ["kb-1", "kb-2"]
    assert len(server.requests) == 4
    assert list(lookup("/find", items_path="documents").texts("shop", ids)) == ["kb-1", "kb-2"]
    assert "too long" in caplog.text


def test_a_failure_among_several_requests_is_said(server, got):
    server.script.append(Answer(status=500))
    with pytest.raises(Retriable, match="HTTP 500"):
        got.texts("shop", [f"d{i}" for i in range(20)])


@pytest.mark.parametrize(
    "url", ["ftp://kb/{id}", "https://{id}.example.com/", "https://{id}@kb/", "kb/{id}", "https://kb:port/{id}"]
)
def test_an_address_where_the_id_could_choose_the_host_is_refused(url):
    with pytest.raises(WrongSettings, match="the look-up's URL"):
        HttpLookup(url, timeout=5)
