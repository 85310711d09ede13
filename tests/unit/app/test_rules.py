"""What a change of rules shows before it is saved."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.rules.file import parse_rules
from monitor.alert.window import window_at
from monitor.app import rules as tried_rules
from monitor.app.backtest import Rehearsed
from monitor.app.rules import Change, difference, normal_text, try_rules
from monitor.core.errors import Retriable
from tests.factories.answers import NOON

SPAN = window_at(NOON, timedelta(days=7), timedelta())
RULE = "  - {{name: {}, signal: {{rate: negative}}, above: {}}}\n"


def the_rules(**lines):
    text = "rules:\n" + "".join(RULE.format(name, line) for name, line in lines.items())
    return parse_rules(text, name="rules", receivers=())


@pytest.fixture
def asked(monkeypatch):
    """The rules that were tried, by name and line."""
    found = []

    def on_history(rule, past, span):
        assert (past, span) == ("past", SPAN)
        found.append((rule.name, rule.method.target.value))
        if rule.name == "slow":
            raise Retriable("the database took too long")
        return Rehearsed(rule=rule)

    monkeypatch.setattr(tried_rules, "on_history", on_history)
    return found


def tried(new, old, *, out_of_time=lambda: False):
    said = []
    found = try_rules(new, old, "past", SPAN, progress=said.append, out_of_time=out_of_time)
    return [(each.name, each.change) for each in found], found, said


def test_each_rule_is_tried_as_it_was_and_as_it_would_be(asked):
    new, old = the_rules(same=0.3, changed=0.2, added=0.1), the_rules(same=0.3, changed=0.4, gone=0.5)
    changes, found, said = tried(new, old)
    assert changes == [
        ("same", Change.SAME),
        ("changed", Change.CHANGED),
        ("added", Change.NEW),
        ("gone", Change.REMOVED),
    ]
    assert [name for name, _ in asked] == ["same", "changed", "changed", "added", "gone"]
    assert found[0].now is found[0].before
    assert (found[2].before, found[3].now) == (None, None)
    assert said[-1] == "rule 4 of 4: gone"


@pytest.mark.usefixtures("asked")
def test_without_rules_in_force_every_rule_is_new():
    changes, _, _ = tried(the_rules(one=0.3), None)
    assert changes == [("one", Change.NEW)]


@pytest.mark.usefixtures("asked")
def test_what_cannot_be_tried_says_why_and_the_others_are_tried():
    _, found, _ = tried(the_rules(slow=0.3, quick=0.2), None)
    assert found[0].now.why_not == "not tried: the database took too long"
    assert found[1].now.why_not is None


def test_no_rule_is_begun_when_the_time_is_up(asked):
    late = iter([False, True])
    _, found, _ = tried(the_rules(one=0.3, two=0.2), None, out_of_time=lambda: next(late))
    assert [name for name, _ in asked] == ["one"]
    assert found[1].now.why_not == "not tried: the time was up"


def test_the_difference_has_the_lines_that_differ_with_some_around_them():
    old = "".join(f"line {n}\n" for n in range(20))
    assert difference(old, old.replace("line 9", "line nine")) == [
        "@@ -7,7 +7,7 @@",
        *(f" line {n}" for n in (6, 7, 8)),
        "-line 9",
        "+line nine",
        *(f" line {n}" for n in (10, 11, 12)),
    ]
    assert difference(old, old) == []


@pytest.mark.parametrize("text", ["a: 1\r\nb: 2", "a: 1\rb: 2\r", "a: 1\nb: 2\n\n\n"])
def test_line_ends_of_a_form_are_no_difference(text):
    assert normal_text(text) == "a: 1\nb: 2\n"
