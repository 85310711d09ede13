"""A scripted PagerDuty on 127.0.0.1: /v2/enqueue over real HTTP.

It refuses what the documentation of the Events API v2 says that PagerDuty refuses, and keeps the incidents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.servers.webhook import Answer, HttpServer, Request, http_server

KEY = "0TopSecretRoutingKeyOf32Letters0"
_LARGEST = 512_000
_ACTIONS = {"trigger": "triggered", "acknowledge": "acknowledged", "resolve": "resolved"}
_KEYS = {"routing_key", "event_action", "dedup_key", "payload", "client", "client_url", "links", "images"}
_PAYLOAD = {"summary", "source", "severity", "timestamp", "component", "group", "class", "custom_details"}


@dataclass(slots=True)
class PagerDutyServer:
    """`events` are those taken; `incidents` says by dedup_key how each stands."""

    http: HttpServer
    events: list[dict[str, Any]] = field(default_factory=list)
    incidents: dict[str, str] = field(default_factory=dict)

    def reset(self) -> None:
        self.http.reset()
        self.events.clear()
        self.incidents.clear()

    def answer(self, request: Request) -> Answer:
        if request.path != "/v2/enqueue" or request.method != "POST":
            return Answer(status=404)
        if found := problems(request.body):
            said = {"status": "invalid event", "message": "Event object is invalid", "errors": found}
            return Answer(status=400, body=json.dumps(said))
        event = request.json
        self.events.append(event)
        key, action = event["dedup_key"], event["event_action"]
        if action == "trigger" or key in self.incidents:  # nothing comes of acknowledging what was never triggered
            again = action == "trigger" and self.incidents.get(key) == "acknowledged"
            self.incidents[key] = "acknowledged" if again else _ACTIONS[action]
        return Answer(
            status=202, body=json.dumps({"status": "success", "message": "Event processed", "dedup_key": key})
        )


def problems(body: bytes) -> list[str]:
    """What PagerDuty would refuse about an event; empty when it is in order."""
    if len(body) > _LARGEST:
        return ["the event is too large"]
    event = json.loads(body)
    found = [f"unknown key {name!r}" for name in set(event) - _KEYS]
    if event.get("routing_key") != KEY:
        key = event.get("routing_key")
        found.append(f"'routing_key' {key} is incorrect (should be 32 characters)")
    if event.get("event_action") not in _ACTIONS:
        found.append("'event_action' is invalid")
    if not 1 <= len(event.get("dedup_key", "")) <= 255:
        found.append("'dedup_key' is too long")
    if event.get("event_action") == "trigger":
        found += _payload_problems(event.get("payload", {}))
    for link in event.get("links", ()):
        if not link["href"].startswith(("http://", "https://")) or not link["text"]:
            found.append("'links' is invalid")
    return found


def _payload_problems(payload: dict[str, Any]) -> Iterator[str]:
    yield from (f"unknown key {name!r}" for name in set(payload) - _PAYLOAD)
    for name, limit in (("summary", 1_024), ("source", 1_024)):
        if not isinstance(payload.get(name), str) or not 1 <= len(payload[name].encode("utf-16-le")) // 2 <= limit:
            yield f"'payload.{name}' is missing or too long"
    if payload.get("severity") not in ("critical", "error", "warning", "info"):
        yield "'payload.severity' is invalid"
    if datetime.fromisoformat(payload.get("timestamp", "")).tzinfo is None:
        yield "'payload.timestamp' is invalid"
    if not isinstance(payload.get("custom_details", {}), dict):
        yield "'payload.custom_details' is invalid"


@contextmanager
def pagerduty_server() -> Iterator[PagerDutyServer]:
    """Runs a server on a free port for the block."""
    with http_server(lambda request: server.answer(request)) as http:  # noqa: PLW0108  it is made in the block
        server = PagerDutyServer(http)
        yield server
