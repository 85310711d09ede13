from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from monitor.alert.notify.actions import LONGEST_SILENCE, OVER, AlertActions, matchers_of, new_silence
from monitor.alert.silence import Matcher, Silence, all_match, parse_matcher
from monitor.alert.state import Alert
from tests.factories.alert.alerts import an_alert
from tests.factories.alert.notifications import at

A = an_alert(labels={"app": "shop", "topic": ""})
B = an_alert(fingerprint="b" * 32, rule="refusal-rate", labels={"app": "shop", "topic": "refunds"})
HOUR = timedelta(hours=1)


class Responding:
    """A `Responses` about one episode; `quicker` acknowledges between reading and writing."""

    def __init__(self, labels: Mapping[str, str], *alerts: Alert, quicker: str | None = None) -> None:
        self.labels, self.alerts, self.quicker = labels, list(alerts), quicker
        self.silences: list[Silence] = []

    def active_alerts(self, episode: str) -> tuple[Mapping[str, str], list[Alert]]:
        return (self.labels, list(self.alerts)) if episode == "g1" else ({}, [])

    def acknowledge(self, alerts: Sequence[Alert], *, by: str, now: datetime, comment: str = "") -> int:
        del comment
        known = [a.fingerprint for a in alerts if a.acknowledged_by is None]
        who = self.quicker or by
        self.alerts = [
            an_alert(fingerprint=a.fingerprint, rule=a.rule, acknowledged_by=who, acknowledged_at=now)
            if a.fingerprint in known
            else a
            for a in self.alerts
        ]
        return 0 if self.quicker else len(known)

    def silence(self, silence: Silence, *, now: datetime) -> None:
        assert silence.starts_at == now
        self.silences.append(silence)

    def unsilence(self, silence_id: str, *, by: str, now: datetime) -> bool:
        raise NotImplementedError


def actions(responses: Responding) -> AlertActions:
    return AlertActions(responses, lambda: at(3))


def test_acknowledging_says_what_came_of_it():
    responses = Responding({"app": "shop"}, A, B)
    acting = actions(responses)
    assert acting.acknowledge("g1", by="ada") == "acknowledged: negative-rate, refusal-rate; it will not be repeated"
    assert acting.acknowledge("g1", by="bob") == "already acknowledged by ada"
    assert acting.acknowledge("gone", by="bob") == OVER


def test_who_was_quicker_is_named():
    assert actions(Responding({}, A, quicker="eve")).acknowledge("g1", by="ada") == "already acknowledged by eve"


def test_a_silence_is_of_what_the_alerts_have_in_common():
    responses = Responding({"app": "shop"}, A, B)
    reply = actions(responses).silence("g1", HOUR, by="ada")
    (silence,) = responses.silences
    matched = 'rule=~"negative-rate|refusal-rate", app="shop"'
    assert reply == f"silenced for 1h: {matched} (`monitor alerts unsilence {silence.id}` ends it)"
    another = replace(A, rule="answers-missing")
    assert not silence.holds(another.matched, at(4))
    assert (silence.starts_at, silence.ends_at, silence.created_by) == (at(3), at(63), "ada")
    assert silence.comment == "negative-rate, refusal-rate"
    assert all(silence.holds(alert.matched, at(4)) for alert in (A, B))
    assert actions(responses).silence("gone", HOUR, by="ada") == OVER


def test_a_silence_of_one_alert_is_of_that_alone():
    matchers = matchers_of({"app": "shop"}, [A])
    assert sorted(map(str, matchers)) == ['app="shop"', 'rule="negative-rate"', 'topic=""']
    assert all_match(matchers, A.matched)
    assert not all_match(matchers, B.matched)


def test_alerts_of_one_rule_are_silenced_by_it():
    same = an_alert(fingerprint="c" * 32, labels={"app": "bank"})
    assert list(map(str, matchers_of({}, [A, same]))) == ['rule="negative-rate"']


@pytest.mark.parametrize(
    ("labels", "length", "why"),
    [
        ({"app": "shop"}, LONGEST_SILENCE * 2, "not silenced: a silence lasts at most 90d"),
        ({"app": "shop"}, timedelta(), "not silenced: a silence lasts at most 90d"),
    ],
)
def test_a_refused_silence_says_why(labels, length, why):
    responses = Responding(labels, A, B)
    assert actions(responses).silence("g1", length, by="ada").startswith(why)
    assert responses.silences == []


@pytest.mark.parametrize(
    "matchers", [[], ['app=""'], ['app=~".*"'], ['app!="x"', 'team!~"y"']], ids=["none", "empty", "any", "negative"]
)
def test_a_silence_of_everything_is_refused(matchers):
    with pytest.raises(ValueError, match="every alert"):
        new_silence([parse_matcher(text) for text in matchers], HOUR, by="ada", now=at(0))


def test_silences_have_ids_of_their_own():
    matcher = Matcher(label="app", operator="=", value="shop")
    one, two = (new_silence([matcher], HOUR, by="ada", now=at(0), comment="c") for _ in range(2))
    assert one.id != two.id
    assert (one.matchers, one.comment) == ((matcher,), "c")
