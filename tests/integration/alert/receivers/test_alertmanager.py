"""Against the real Alertmanager: our alert appears there, stays while it is sent again, is silenced and resolved."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from monitor.alert.receivers.alertmanager import Alertmanager
from monitor.alert.receivers.webhook import payload_of
from tests.factories.alert.notifications import a_notification, a_notified_alert, a_resolved_alert, an_example
from tests.rig.services import missing
from tests.rig.waiting import until
from tests.servers.webhook import HttpServer, http_server

CONFIGURATION = """\
route:
  receiver: hook
  group_by: [alertname, app]
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 1h
receivers:
  - name: hook
    webhook_configs:
      - url: {hook}/from-alertmanager
        send_resolved: true
"""
LISTENING = re.compile(r"address=127\.0\.0\.1:([1-9][0-9]*)")
HOSTILE = {"app": "<!channel> \u202e{{ .Labels }}", "prompt-version": "v1\r\nx", "empty": "", "4xx": "👩\u200d👧"}
_direct = build_opener(ProxyHandler({}))


class Running:
    """One Alertmanager, by its own API."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, path: str, payload: object = None, method: str | None = None) -> Any:
        body = None if payload is None else json.dumps(payload).encode()
        request = Request(self.url + path, body, {"Content-Type": "application/json"}, method=method)
        with _direct.open(request) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def answers(self) -> bool:
        try:
            return bool(self.ask("/api/v2/status"))
        except (URLError, ConnectionError):
            return False

    def alerts(self, **labels: str) -> list[dict[str, Any]]:
        found = self.ask("/api/v2/alerts")
        return [alert for alert in found if labels.items() <= alert["labels"].items()]

    def alert(self, **labels: str) -> dict[str, Any] | None:
        """The only one with these labels, if it is there."""
        found = self.alerts(**labels)
        assert len(found) <= 1
        return found[0] if found else None


@pytest.fixture(scope="module")
def hook() -> Iterator[HttpServer]:
    with http_server() as server:
        yield server


@pytest.fixture(scope="module")
def running(hook: HttpServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    program = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
    if program is None:
        missing("Alertmanager is needed: apt-get install prometheus-alertmanager")
    folder = tmp_path_factory.mktemp("alertmanager")
    (folder / "alertmanager.yml").write_text(CONFIGURATION.format(hook=hook.url), encoding="utf-8")
    log = folder / "log"
    arguments = [
        "--config.file=alertmanager.yml",
        "--storage.path=data",
        "--web.listen-address=127.0.0.1:0",
        "--cluster.listen-address=",
    ]
    with log.open("wb") as output:
        process = subprocess.Popen([program, *arguments], cwd=folder, stderr=output, stdout=output)
    try:
        port = until("Alertmanager listens", lambda: _port(process, log))
        running = Running(f"http://127.0.0.1:{port}")
        until("Alertmanager answers", running.answers)
        yield running
    finally:
        process.terminate()
        process.wait()


def _port(process: subprocess.Popen[bytes], log: Path) -> str | None:
    said = log.read_text(encoding="utf-8")
    assert process.poll() is None, said
    found = LISTENING.search(said)
    return found[1] if found else None


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch, hook: HttpServer) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    hook.reset()


@pytest.fixture
def receiver(running: Running) -> Alertmanager:
    return Alertmanager([running.url])


def now() -> datetime:
    return datetime.now(UTC)


def firing(rule: str, **changes: Any) -> Any:
    began = now() - timedelta(minutes=2)
    told = a_notified_alert(**{"rule": rule, "breaching_since": began, "fired_at": began} | changes)
    return a_notification(alerts=(told,), at=now(), url="https://monitor.example/alerts/1")


def resolved(rule: str) -> Any:
    began = now() - timedelta(minutes=2)
    told = a_resolved_alert(rule=rule, breaching_since=began, fired_at=began, resolved_at=now())
    return a_notification(alerts=(told,), number=1, news="resolved", at=now())


def told_of(hook: HttpServer, rule: str) -> list[dict[str, Any]]:
    """What Alertmanager told its webhook of a rule."""
    said = [request.json for request in list(hook.requests)]
    return [payload for payload in said if payload["commonLabels"].get("alertname") == rule]


def test_it_says_where_it_is(running, receiver):
    assert receiver.check() == f"Alertmanager at {running.url.removeprefix('http://')} (1 of 1 answer)"


def test_an_alert_appears_stays_and_resolves(running, receiver, hook):
    receiver.send(firing("appears"))
    alert = running.alert(alertname="appears")
    assert alert["status"]["state"] in ("active", "unprocessed")
    assert alert["labels"] == {
        "alertname": "appears",
        "severity": "critical",
        "app": "support-bot",
        "environment": "production",
    }
    assert alert["annotations"]["summary"] == "Too many answers are not carried."
    assert alert["generatorURL"] == "https://monitor.example/alerts/1"
    ends = datetime.fromisoformat(alert["endsAt"])
    assert timedelta(minutes=3) < ends - now() <= timedelta(minutes=4)
    until("Alertmanager tells of it", lambda: told_of(hook, "appears"))

    receiver.send(firing("appears"))  # as every minute
    assert datetime.fromisoformat(running.alert(alertname="appears")["endsAt"]) > ends

    receiver.send(resolved("appears"))
    assert running.alert(alertname="appears") is None  # it lists what is not over
    until("Alertmanager tells of the end", lambda: told_of(hook, "appears")[-1]["status"] == "resolved")
    assert [payload["status"] for payload in told_of(hook, "appears")] == ["firing", "resolved"]


def test_an_alert_that_is_not_sent_again_ends_by_itself(running, hook):
    early = Alertmanager([running.url], clock=lambda: now() - timedelta(minutes=4) + timedelta(seconds=2))
    stale = firing("forgotten")
    early.send(a_notification(alerts=stale.alerts, at=now() - timedelta(minutes=5)))
    until("Alertmanager tells of it", lambda: told_of(hook, "forgotten"))
    until("Alertmanager tells of the end", lambda: told_of(hook, "forgotten")[-1]["status"] == "resolved")


def test_a_silence_in_alertmanager_keeps_it_quiet(running, receiver, hook):
    silence = {
        "matchers": [{"name": "alertname", "value": "silenced", "isRegex": False}],
        "startsAt": now().isoformat(),
        "endsAt": (now() + timedelta(hours=1)).isoformat(),
        "createdBy": "ada",
        "comment": "known",
    }
    number = running.ask("/api/v2/silences", silence)["silenceID"]
    receiver.send(firing("silenced"))
    suppressed = until(
        "the alert is suppressed",
        lambda: (found := running.alert(alertname="silenced"))["status"]["state"] == "suppressed" and found,
    )
    assert suppressed["status"]["silencedBy"] == [number]
    assert told_of(hook, "silenced") == []
    running.ask(f"/api/v2/silence/{number}", method="DELETE")
    until("Alertmanager tells of it after all", lambda: told_of(hook, "silenced"))


def test_hostile_labels_are_taken_as_text(running, receiver):
    answer = "<https://evil.example|click> \x1b[31m" + "👩\u200d👧" * 10_000
    told = firing("hostile", labels=HOSTILE, annotations={"run book": "{{ .Values }}", "summary": answer})
    receiver.send(a_notification(alerts=told.alerts, at=now(), examples=(an_example(answer=answer),)))
    alert = running.alert(alertname="hostile")
    assert alert["labels"] == {
        "alertname": "hostile",
        "severity": "critical",
        "app": "<!channel> {{ .Labels }}",
        "prompt_version": "v1 x",
        "_4xx": "👩\u200d👧",
    }
    assert alert["annotations"]["run_book"] == "{{ .Values }}"


def test_our_webhooks_have_the_form_of_alertmanagers(receiver, hook):
    receiver.send(firing("form"))
    (theirs, *_) = until("Alertmanager tells of it", lambda: told_of(hook, "form"))
    ours = payload_of(firing("form"), external_url="https://monitor.example")
    assert set(ours) - {"monitor"} == set(theirs)
    assert {name: type(value) for name, value in ours.items() if name != "monitor"} == {
        name: type(value) for name, value in theirs.items()
    }
    assert set(ours["alerts"][0]) == set(theirs["alerts"][0])
    assert ours["alerts"][0]["labels"] == theirs["alerts"][0]["labels"]
    assert ours["alerts"][0]["endsAt"] == theirs["alerts"][0]["endsAt"]  # of what still fires
    assert ours["version"] == theirs["version"]
