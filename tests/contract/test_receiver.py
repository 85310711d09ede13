"""What every receiver promises: to send once, to say whether a failure may pass, to be steered by no foreign text.

Adding a receiver is one bench and one line in `BENCHES`. What only one of them does is tested beside its own module.
"""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from html.parser import HTMLParser
from typing import Any, Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.alert.ports import Receiver
from monitor.alert.receivers.alertmanager import Alertmanager
from monitor.alert.receivers.console import Console
from monitor.alert.receivers.email import Email
from monitor.alert.receivers.pagerduty import PagerDuty
from monitor.alert.receivers.webhook import Webhook
from monitor.alert.wording import title
from monitor.core.errors import Fatal, Retriable
from monitor.simulate.fakes.outbox import MemoryReceiver
from tests.factories.notifications import a_course, a_notification, a_resolved_told, a_told, an_example, at
from tests.servers.pagerduty import KEY, PagerDutyServer, pagerduty_server
from tests.servers.slack.bench import slack_bot, slack_webhook
from tests.servers.smtp import SmtpServer, smtp_server
from tests.servers.webhook import BROKEN, PATH, SECRET, TOKEN, Answer, HttpServer, http_server, signed

BIDI = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]")
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
LABEL_NAME = re.compile("[a-zA-Z_][a-zA-Z0-9_]*")

HOSTILE = [
    "<!channel> <!here> @here @channel",
    "<@U123> <#C123> <!subteam^S1>",
    "<https://evil.example|click here>",
    "``` `code` ```",
    "*bold* _it_ ~gone~ > quote",
    "&lt;!channel&gt; &amp;lt;",
    "&" * 40_000,
    "x" * 40_000,
    "👩‍👩‍👧‍👦🔥" * 5_000,
    "\u202egnp.exe\u202c \u2066abc\u2069 \u200f",
    "\x1b[31mred\x1b[0m\x07\r\n\n\ttab",
    "a\r\nBcc: everybody@evil.example\r\n\r\n<b>",
    "\r\n.\r\nMAIL FROM:<a@evil.example>",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "\"'><a href=javascript:alert(1)>",
    "javascript:alert(1)",
    'https://evil.example/"onmouseover="alert(1)',
    "",
    " \u200b\u200d ",
    "\u0301" * 500,
    "\x00",
    "a\ud800b",
    '"},{"routing_key":"x',
]
texts_from_outside = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(max_size=200),
    st.text(alphabet="<>!@#|&;ltgamp*_~`'\"\r\n\u202e\u200d🔥 ", max_size=400),
    st.builds(lambda text, times: text * times, st.text(min_size=1, max_size=5), st.integers(1, 5_000)),
)


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
    "webhook": webhook,
    "email": email,
}


@pytest.fixture(params=BENCHES)
def bench(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    with BENCHES[request.param]() as made:
        yield made


def the_end(receipt: object, **changes: Any) -> Any:
    known = {"number": 1, "news": "resolved", "alerts": (a_resolved_told(),), "at": at(20), "previous": receipt}
    return a_notification(**known | changes)


def test_firing_then_resolved_arrive_in_this_order(bench):
    receipt = bench.receiver.send(a_notification())
    bench.receiver.send(the_end(receipt))
    seen = bench.received()
    assert "negative-rate" in seen[0]
    assert "firing" in seen[0].lower()
    assert "two hours" in seen[0]
    assert "resolved" in seen[-1].lower()
    bench.check()


def test_every_news_of_a_group_is_taken(bench):
    worst, other = a_told(), a_told(fingerprint="b" * 32, rule="no-answers", severity="warning", fired_at=at(5))
    receipt = bench.receiver.send(a_notification(alerts=(worst,)))
    alerts = {
        "changed": (worst, other),
        "repeated": (worst, other),
        "acknowledged": (a_told(acknowledged_by="ada"), other),
        "silenced": (a_told(silenced_until=at(80)), other),
    }
    for number, (news, those) in enumerate(alerts.items(), start=1):
        told = a_notification(number=number, news=news, alerts=those, at=at(5 * number), by="ada", previous=receipt)
        receipt = bench.receiver.send(told) or receipt
    bench.receiver.send(the_end(receipt, number=5))
    assert "no-answers" in "".join(bench.received())
    assert "resolved" in bench.received()[-1].lower()
    bench.check()


def test_a_failure_that_may_pass_is_retriable(bench):
    bench.fail(for_good=False)
    with pytest.raises(Retriable):
        bench.receiver.send(a_notification())


def test_a_failure_that_will_not_pass_is_fatal(bench):
    bench.fail(for_good=True)
    with pytest.raises(Fatal):
        bench.receiver.send(a_notification())


def test_it_says_where_messages_go_without_sending_one(bench):
    assert bench.receiver.check()
    bench.forget()
    assert bench.received() == []


@pytest.mark.parametrize("for_good", [False, True])
def test_no_secret_is_told(bench, for_good, caplog):
    caplog.set_level(logging.DEBUG)
    bench.receiver.send(a_notification())
    bench.fail(for_good=for_good)
    with pytest.raises((Retriable, Fatal)) as caught:
        bench.receiver.send(a_notification())
    logging.getLogger("loop").error("as the loop would log it", exc_info=caught.value)
    told = f"{caught.value} {caught.value!r} {vars(caught.value)} {bench.receiver!r} {caplog.text}"
    assert "TopSecret" not in told


@given(foreign=st.tuples(*[texts_from_outside] * 4), over=st.booleans(), many=st.sampled_from([1, 1, 1, 3, 25]))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_from_outside_does_harm(bench, foreign, over, many):
    question, answer, name, label = foreign
    example = an_example(
        id=name, question=question, answer=answer, verdict=name, reasons=(label, name), url=f"https://a.example/{name}"
    )
    changes: dict[str, Any] = {
        "rule": name or "x",
        "labels": {"app": name, label or "x": question, **{f"l{n}": answer for n in range(6)}},
        "annotations": {"summary": question, "description": answer, "runbook": label, name or "y": answer},
        "note": label,
        "acknowledged_by": question,
        "window": timedelta(minutes=5),
    }
    burning = tuple(a_told(**changes | {"fingerprint": f"{n:032x}"}) for n in range(many))
    first = a_notification(
        alerts=burning,
        url=question,
        examples=(example, example, example),
        changes=(answer, label),
        by=name,
        instead_of=label,
        course=a_course(name=name),
        group_labels={label or "x": name},
    )
    receipt = bench.receiver.send(first)
    if over:
        bench.receiver.send(the_end(receipt, alerts=(a_resolved_told(**changes),), examples=(example,)))
    else:
        bench.receiver.send(the_end(receipt, news="changed", alerts=(*burning, a_resolved_told(**changes)), by=answer))
    bench.check()
    bench.forget()
