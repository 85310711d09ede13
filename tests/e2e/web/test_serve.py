"""`monitor serve` as a process: its output, its address, and that it ends when asked to."""

from __future__ import annotations

import re
import socket

import httpx2
import pytest

from tests.rig.installation import Installation
from tests.rig.waiting import until


@pytest.fixture
def installation(database, tmp_path):
    installation = Installation(tmp_path, DATABASE_URL=database, STATE_DIR=str(tmp_path / "state"), WEB__PORT="0")
    yield installation
    installation.close()


def serving(installation, *, anew=False, **settings):
    running = installation.start("serve", anew=anew, **settings)
    until(f"it serves; it said\n{running.err}", lambda: "dashboard: http" in running.err)
    return running, running.err.partition("dashboard: ")[2].split("/\n")[0]


def link_of(running):
    return until("it prints the link", lambda: re.search(r"works once: (\S+)", running.err))[1]


def test_it_serves_this_machine_until_it_is_told_to_stop(installation):
    running, url = serving(installation, anew=True)
    assert url.startswith("http://127.0.0.1:")
    assert httpx2.get(f"{url}/readyz").text == "ready\n"
    with httpx2.Client(follow_redirects=True) as browser:
        assert "local, admin" not in browser.get(url).text
        assert "local, admin" in browser.get(link_of(running)).text
        assert "local, admin" in browser.get(url).text
    assert httpx2.get(url, headers={"Host": "rebound.example.org"}).status_code == 403
    event = {"id": "a1", "question": "When?", "retrieved_documents": ["At nine."], "answer": "At nine."}
    sent = httpx2.post(f"{url}/v1/interactions", json=event)
    assert (sent.status_code, sent.json()) == (202, {"accepted": 1, "rejected": []})
    head = httpx2.head(f"{url}/signin")
    assert (head.status_code, head.content) == (200, b"")
    assert running.terminate() == 0
    assert "Traceback" not in running.err


def test_a_link_works_once_and_a_restart_prints_another(installation):
    running, url = serving(installation)
    link = link_of(running)
    assert httpx2.get(link, follow_redirects=False).status_code == 303
    spent = httpx2.get(link, follow_redirects=False)
    assert (spent.status_code, "set-cookie" in spent.headers) == (403, False)
    assert "restart" in spent.text
    assert running.terminate() == 0
    running, url = serving(installation)
    assert link_of(running) != link
    assert httpx2.get(url + link[link.index("/signin") :], follow_redirects=False).status_code == 403
    assert httpx2.get(link_of(running), follow_redirects=False).status_code == 303
    assert running.terminate() == 0


def test_what_nginx_forwards_by_default_is_not_this_machine_s_user(installation):
    """HTTP/1.0, the upstream's name as host, and no header that tells of a proxy."""
    running, url = serving(installation)
    here = url.removeprefix("http://")
    host, _, port = here.partition(":")

    def forwarded(request):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(f"{request} HTTP/1.0\r\nHost: {here}\r\nConnection: close\r\n\r\n".encode())
            return b"".join(iter(lambda: connection.recv(2**16), b"")).decode()

    assert " 303 " in forwarded("GET /").splitlines()[0]
    for path in ("/api/v1/ledger", "/api/v1/interactions/export?format=csv"):
        assert " 401 " in forwarded(f"GET {path}").splitlines()[0]
    for path in ("/", "/alerts", "/audit", "/signin/link", "/signin/link?secret=guessed"):
        assert "local, admin" not in forwarded(f"GET {path}")
    assert " 303 " in forwarded("GET /metrics").splitlines()[0]
    for path in ("/healthz", "/readyz"):
        assert " 200 " in forwarded(f"GET {path}").splitlines()[0]
    assert running.terminate() == 0


def test_other_machines_are_served_only_once_somebody_could_sign_in(installation):
    refused = installation.run("serve", WEB__HOST="0.0.0.0")
    assert refused.returncode == 2
    assert "monitor tokens create" in refused.stderr
    token = installation.run("tokens", "create", "ada", "--role", "viewer").stdout.strip()
    running, url = serving(installation, WEB__HOST="0.0.0.0")
    url = url.replace("0.0.0.0", "127.0.0.1")
    assert httpx2.get(url, follow_redirects=False).status_code == 303
    answer = httpx2.get(f"{url}/api/v1/ledger", headers={"Authorization": f"Bearer {token}"})
    assert answer.json()["balanced"] is True
    assert running.terminate() == 0


def test_behind_a_proxy_on_this_machine_people_sign_in_too(installation):
    """Requests through a proxy look like this machine's own user; the public address shows that others come too."""
    running, url = serving(installation, PUBLIC_URL="https://monitor.example.org")
    answer = httpx2.get(url, follow_redirects=False)
    assert answer.headers["location"].startswith("/signin")
    assert "max-age" in answer.headers["strict-transport-security"]
    assert running.terminate() == 0


def test_a_port_that_is_taken_is_said(installation):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = installation.run("serve", WEB__PORT=str(taken.getsockname()[1]))
    assert refused.returncode == 2
    assert "cannot listen" in refused.stderr
    assert refused.stderr.count("Address already in use") == 1
    assert "another process listens there: end it, or set another port" in refused.stderr


def test_with_the_embedded_database_what_is_done_here_is_sealed_here(fresh):
    running, _ = serving(fresh, WEB__PORT="0", AUDIT__EVERY="0.2")
    assert fresh.run("tokens", "create", "ada", "--role", "admin").returncode == 0
    until("the making of the token is sealed", lambda: fresh.json("audit", "status")["signed"])
    assert running.terminate() == 0
    assert fresh.run("audit", "verify").returncode == 0
