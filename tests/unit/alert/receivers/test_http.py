from __future__ import annotations

import logging
import socket

import pytest

from monitor.alert.receivers.http import Endpoint
from monitor.core.errors import Fatal, Retriable, WrongSettings
from tests.servers.webhook import BROKEN, HANG_UP, LOST, RATE_LIMITED, RATE_LIMITED_UNTIL, Answer, http_server


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server():
    with http_server() as server:
        yield server


def endpoint(url, **headers):
    return Endpoint(url, name="service", setting="MONITOR_SERVICE__URL", headers=headers)


def test_it_posts_json_once(server):
    answer = endpoint(f"{server.url}/a?b=1", Authorization="Bearer x").post(b"{}", {"X-Own": "1"})
    (request,) = server.requests
    assert answer.done
    assert (request.method, request.path, request.body) == ("POST", "/a?b=1", b"{}")
    assert request.headers["content-type"] == "application/json"
    assert (request.headers["authorization"], request.headers["x-own"]) == ("Bearer x", "1")


def test_it_asks(server):
    server.script.append(Answer(body='{"ok": true}'))
    assert endpoint(server.url).get().body == b'{"ok": true}'


def test_user_and_password_of_the_url_become_a_header(server):
    url = server.url.replace("http://", "http://ada:TopSecret@")
    known = endpoint(url)
    known.post(b"{}")
    assert server.requests[0].headers["authorization"].startswith("Basic ")
    assert known.host == server.url.removeprefix("http://")


@pytest.mark.parametrize("reply", [BROKEN, RATE_LIMITED, Answer(status=408), Answer(status=425), Answer(status=503)])
def test_what_may_pass_is_retriable(server, reply):
    server.script.append(reply)
    known = endpoint(server.url)
    error = known.judged(known.post(b"{}"))
    assert isinstance(error, Retriable)
    assert str(reply.status) in str(error)


@pytest.mark.parametrize(("reply", "seconds"), [(RATE_LIMITED, 30), (RATE_LIMITED_UNTIL, 120), (BROKEN, None)])
def test_the_server_says_for_how_long_to_wait(server, reply, seconds):
    server.script.append(reply)
    known = endpoint(server.url)
    assert known.judged(known.post(b"{}")).retry_after == seconds


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 413, 422])
def test_what_will_not_pass_is_fatal_and_names_status_and_setting(server, status):
    server.script.append(Answer(status=status))
    known = endpoint(server.url)
    error = known.judged(known.post(b"{}"), "no\x1b such\nthing")
    assert isinstance(error, Fatal)
    assert f"HTTP {status} (no such thing)" in str(error)
    assert "MONITOR_SERVICE__URL" in str(error)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(server, status):
    server.script.append(Answer(status=status, headers={"Location": f"{server.url}/elsewhere"}))
    known = endpoint(server.url)
    error = known.judged(known.post(b"{}"))
    assert isinstance(error, Fatal)
    assert "redirects are not followed" in str(error)
    assert server.requests == []


def test_a_fine_status_that_is_not_the_services_own_may_pass(server):
    known = endpoint(server.url)
    server.script.append(Answer(status=200, body="<html>welcome to the hotel's network</html>"))
    assert isinstance(known.judged(known.post(b"{}")), Retriable)


@pytest.mark.parametrize("reply", [HANG_UP, LOST])
def test_no_answer_is_retriable(server, reply):
    server.script.append(reply)
    with pytest.raises(Retriable, match="is out of reach"):
        endpoint(server.url).post(b"{}")
    assert len(server.requests) == (1 if reply.lost else 0)


def test_a_server_that_is_not_there_is_retriable():
    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/TopSecretPath"
        with pytest.raises(
            Retriable, match=r"service at 127\.0\.0\.1:\d+ is out of reach: Connection refused"
        ) as caught:
            endpoint(url).post(b"{}")
    assert "TopSecret" not in str(caught.value)


def test_an_answer_that_is_late_is_retriable(server, monkeypatch):
    times = iter([0.0, 100.0])
    monkeypatch.setattr("monitor.alert.receivers.http.monotonic", lambda: next(times))
    server.script.append(Answer(body="still coming"))
    with pytest.raises(Retriable, match="does not answer in time"):
        endpoint(server.url).post(b"{}")


def test_of_an_endless_answer_the_beginning_is_read(server):
    server.script.append(Answer(body="x" * 1_000_000))
    assert len(endpoint(server.url).get().body) == 64 * 1024


@pytest.mark.parametrize(
    "url", ["", "file:///etc/TopSecret", "https://", "https://[TopSecret", "https://a:TopSecret/", "x"]
)
def test_what_is_no_url_is_a_wrong_setting(url):
    with pytest.raises(WrongSettings, match="MONITOR_SERVICE__URL") as caught:
        endpoint(url)
    assert "TopSecret" not in str(caught.value)


@pytest.mark.parametrize("secret", ["TopSecret\nx", "TopSecret\u2026"])
def test_a_secret_that_no_header_takes_is_a_wrong_setting(secret):
    with pytest.raises(WrongSettings) as caught:
        endpoint("https://a.example", Authorization=f"Bearer {secret}")
    assert "TopSecret" not in str(caught.value)


def test_no_url_is_logged(server, caplog):
    caplog.set_level(logging.DEBUG)
    endpoint(f"{server.url}/TopSecretPath?token=TopSecretToken", Authorization="Bearer TopSecretBearer").post(b"{}")
    assert "TopSecret" not in caplog.text
