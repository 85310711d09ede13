"""A bench for each receiver: a scripted service that it sends to, and what has arrived there."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from html.parser import HTMLParser
from typing import Any, Protocol

from monitor.alert.ports import Receiver
from monitor.alert.receivers.alertmanager import Alertmanager
from monitor.alert.receivers.console import Console
from monitor.alert.receivers.email import Email
from monitor.alert.receivers.pagerduty import PagerDuty
from monitor.alert.receivers.teams import Teams
from monitor.alert.receivers.webhook import Webhook
from monitor.alert.wording import title
from monitor.core.errors import Fatal, Retriable
from monitor.simulate.fakes.outbox import MemoryReceiver
from tests.factories.alert.notifications import at
from tests.servers.pagerduty import KEY, PagerDutyServer, pagerduty_server
from tests.servers.slack.bench import slack_bot, slack_webhook
from tests.servers.smtp import SmtpServer, smtp_server
from tests.servers.teams import TeamsServer, refusal, teams_server, texts
from tests.servers.webhook import BROKEN, PATH, SECRET, TOKEN, Answer, HttpServer, http_server, signed

BIDI = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]")
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
LABEL_NAME = re.compile("[a-zA-Z_][a-zA-Z0-9_]*")


class Bench(Protocol):
    """One receiver with what a test has to know about its other end."""

    receiver: Receiver

    def received(self) -> list[str]:
        """What arrived, as people or programs see it, oldest first."""

    def fail(self, *, for_good: bool) -> None:
        """Makes the next `send` meet a failure."""

    def check(self) -> None:
        """Asserts that nothing that arrived does harm."""

    def forget(self) -> None:
        """Drops what arrived."""


class MemoryBench:
    def __init__(self) -> None:
        self.receiver = MemoryReceiver()

    def received(self) -> list[str]:
        return [f"{title(n)} {[a.rule for a in n.alerts]} {[e.answer for e in n.examples]}" for n in self.receiver.sent]

    def fail(self, *, for_good: bool) -> None:
        self.receiver.failures.append(Fatal("no") if for_good else Retriable("not now"))

    def check(self) -> None:
        """It renders nothing."""

    def forget(self) -> None:
        self.receiver.sent.clear()


class BrokenPipe(io.StringIO):
    def flush(self) -> None:
        raise BrokenPipeError(32, "Broken pipe")


class ConsoleBench:
    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.receiver = Console(self.stream)

    def received(self) -> list[str]:
        return [part for part in self.stream.getvalue().split("\n\n") if part]

    def fail(self, *, for_good: bool) -> None:
        stream = io.StringIO() if for_good else BrokenPipe()
        if for_good:
            stream.close()
        self.receiver = Console(stream)

    def check(self) -> None:
        harmless(self.stream.getvalue())

    def forget(self) -> None:
        self.stream.seek(0)
        self.stream.truncate()


class AlertmanagerBench:
    def __init__(self, server: HttpServer) -> None:
        self.server = server
        self.receiver = Alertmanager([server.url], clock=lambda: at(21))

    def alerts(self) -> list[dict[str, Any]]:
        return [alert for request in self.server.requests for alert in request.json]

    def received(self) -> list[str]:
        over = at(21).isoformat().replace("+00:00", "Z")
        return [("resolved " if alert["endsAt"] <= over else "firing ") + json.dumps(alert) for alert in self.alerts()]

    def fail(self, *, for_good: bool) -> None:
        self.server.script.append(Answer(status=400) if for_good else BROKEN)

    def check(self) -> None:
        for alert in self.alerts():
            assert set(alert) <= {"labels", "annotations", "startsAt", "endsAt", "generatorURL"}
            assert datetime.fromisoformat(alert["startsAt"]).tzinfo
            assert datetime.fromisoformat(alert["endsAt"]).tzinfo
            for text in (*label_sets(alert["labels"]), *label_sets(alert["annotations"])):
                assert text
                harmless(text)
                assert len(text) <= 4_000

    def forget(self) -> None:
        self.server.reset()


class PagerDutyBench:
    def __init__(self, server: PagerDutyServer) -> None:
        self.server = server
        self.receiver = PagerDuty(routing_key=KEY, url=server.http.url)

    def received(self) -> list[str]:
        return [
            json.dumps(event).replace("resolve", "resolved").replace("trigger", "firing")
            for event in self.server.events
        ]

    def fail(self, *, for_good: bool) -> None:
        self.server.http.script.append(Answer(status=400) if for_good else BROKEN)

    def check(self) -> None:
        for event in self.server.events:
            for text in strings(event):
                harmless(text)

    def forget(self) -> None:
        self.server.reset()


class WebhookBench:
    def __init__(self, server: HttpServer) -> None:
        self.server = server
        self.receiver = Webhook(url=server.url + PATH, secret=SECRET, bearer_token=TOKEN)

    def received(self) -> list[str]:
        return [request.body.decode() for request in self.server.requests]

    def fail(self, *, for_good: bool) -> None:
        self.server.script.append(Answer(status=410) if for_good else BROKEN)

    def check(self) -> None:
        for request in self.server.requests:
            payload = request.json
            for text in strings(payload):
                harmless(text)
                assert len(text) <= 4_000
            for alert in payload["alerts"]:
                assert all(label_sets(alert["labels"]))

    def forget(self) -> None:
        self.server.reset()


class TeamsBench:
    def __init__(self, server: TeamsServer) -> None:
        self.server = server
        self.receiver = Teams(server.url)

    def received(self) -> list[str]:
        return ["\n".join(texts(card)) for card in self.server.cards]

    def fail(self, *, for_good: bool) -> None:
        self.server.http.script.append(refusal(404, "WorkflowTriggerIsNotEnabled") if for_good else BROKEN)

    def check(self) -> None:
        for card in self.server.cards:
            for text in strings(card):
                harmless(text)

    def forget(self) -> None:
        self.server.reset()


class EmailBench:
    OWN = frozenset({"from", "to", "subject", "date", "message-id", "in-reply-to", "references", "auto-submitted"})
    HEADERS = OWN | {"x-auto-response-suppress", "mime-version", "content-type"}
    ADDED = frozenset({"x-peer", "x-mailfrom", "x-rcptto"})  # by the server

    def __init__(self, server: SmtpServer) -> None:
        self.server = server
        self.receiver = Email(
            server.server(),
            sender="monitor@quillmere.example",
            recipients=("ada@quillmere.example", "team@quillmere.example"),
            draw=lambda _: b"\x89PNG\r\n\x1a\nmade up",
        )

    def received(self) -> list[str]:
        return [f"{mail.message['Subject']}\n{part(mail.message, 'plain')}" for mail in self.server.mails]

    def fail(self, *, for_good: bool) -> None:
        self.server.script["MAIL"] = "550 5.7.1 go away" if for_good else "451 4.3.0 later"

    def check(self) -> None:
        for mail in self.server.mails:
            assert {name.lower() for name in mail.message} <= self.HEADERS | self.ADDED
            assert mail.recipients == ("ada@quillmere.example", "team@quillmere.example")
            harmless(str(mail.message["Subject"]))
            assert max(map(len, mail.raw.splitlines())) <= 998
            harmless(part(mail.message, "plain"))
            html = Tags(part(mail.message, "html"))
            harmless("".join(html.text))
            assert html.names <= ALLOWED_TAGS
            for name, value in html.attributes:
                assert name in ("style", "lang", "charset", "href", "src", "alt")
                if name == "href":
                    assert re.fullmatch(r"https?://[^\s<>\"]+", value)
                if name == "src":
                    assert value.startswith("cid:chart.")

    def forget(self) -> None:
        self.server.reset()


ALLOWED_TAGS = frozenset(
    {"html", "head", "meta", "body", "h2", "h3", "p", "table", "tr", "th", "td", "img", "ul", "ol", "li"}
    | {"strong", "br", "a"}
)


class Tags(HTMLParser):
    """What a browser makes of a page: the tags, their attributes, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def part(mail: Any, kind: str) -> str:
    found = mail.get_body(preferencelist=(kind,))
    return str(found.get_content()).replace("\r\n", "\n")


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, child in value.items():
            yield from strings(name)
            yield from strings(child)
    elif isinstance(value, list):
        for child in value:
            yield from strings(child)


def label_sets(values: Mapping[str, str]) -> Iterator[str]:
    for name, value in values.items():
        assert LABEL_NAME.fullmatch(name)
        yield value


def harmless(text: str) -> None:
    assert not BIDI.search(text)
    assert not CONTROL.search(text)


@contextmanager
def memory() -> Iterator[Bench]:
    yield MemoryBench()


@contextmanager
def console() -> Iterator[Bench]:
    yield ConsoleBench()


@contextmanager
def alertmanager() -> Iterator[Bench]:
    with http_server() as server:
        yield AlertmanagerBench(server)


@contextmanager
def pagerduty() -> Iterator[Bench]:
    with pagerduty_server() as server:
        yield PagerDutyBench(server)


@contextmanager
def webhook() -> Iterator[Bench]:
    with http_server(signed) as server:
        yield WebhookBench(server)


@contextmanager
def teams() -> Iterator[Bench]:
    with teams_server() as server:
        yield TeamsBench(server)


@contextmanager
def email() -> Iterator[Bench]:
    with smtp_server() as server:
        yield EmailBench(server)


BENCHES: Mapping[str, Callable[[], AbstractContextManager[Bench]]] = {
    "memory": memory,
    "console": console,
    "slack bot": slack_bot,
    "slack webhook": slack_webhook,
    "alertmanager": alertmanager,
    "pagerduty": pagerduty,
    "teams": teams,
    "webhook": webhook,
    "email": email,
}
