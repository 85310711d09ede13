"""What every receiver promises: to send once, to say whether a failure may pass, to be steered by no foreign text.

Adding a receiver is one bench and one line in `tests.rig.alert.receivers`. What only one of them does is tested in its
own module.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.core.errors import Fatal, Retriable
from tests.factories.alert.notifications import (
    a_course,
    a_notification,
    a_notified_alert,
    a_resolved_alert,
    an_example,
    at,
)
from tests.rig.alert.receivers import BENCHES, Bench

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


@pytest.fixture(params=BENCHES)
def bench(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    with BENCHES[request.param]() as made:
        yield made


def the_end(receipt: object, **changes: Any) -> Any:
    known = {"number": 1, "news": "resolved", "alerts": (a_resolved_alert(),), "at": at(20), "previous": receipt}
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
    worst, other = (
        a_notified_alert(),
        a_notified_alert(fingerprint="b" * 32, rule="no-answers", severity="warning", fired_at=at(5)),
    )
    receipt = bench.receiver.send(a_notification(alerts=(worst,)))
    alerts = {
        "changed": (worst, other),
        "repeated": (worst, other),
        "acknowledged": (a_notified_alert(acknowledged_by="ada"), other),
        "silenced": (a_notified_alert(silenced_until=at(80)), other),
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
def test_no_secret_is_shown(bench, for_good, caplog):
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
    burning = tuple(a_notified_alert(**changes | {"fingerprint": f"{n:032x}"}) for n in range(many))
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
        bench.receiver.send(the_end(receipt, alerts=(a_resolved_alert(**changes),), examples=(example,)))
    else:
        bench.receiver.send(the_end(receipt, news="changed", alerts=(*burning, a_resolved_alert(**changes)), by=answer))
    bench.check()
    bench.forget()
