from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.silence import Inhibition, Matcher, all_match, parse_matcher, silencing
from tests.factories.alert.alerts import a_silence
from tests.factories.alert.notifications import at

LABELS = {"app": "shop", "severity": "critical", "topic": "refunds\nand more"}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ('app="shop"', True),
        ("app=shop", True),
        (' app = "shop" ', True),
        ('app="bank"', False),
        ('app!="bank"', True),
        ('app=~"sh.p"', True),
        ('app=~"sh"', False),
        ('app=~"bank|shop"', True),
        ('app=~"bank|sho"', False),
        ('app!~"sh"', True),
        ('app!~"sh.*"', False),
        ('topic=~"refunds.*"', True),
        ('topic=~"refunds"', False),
        ('team=""', True),
        ('team!=""', False),
        ('team=~".+"', False),
        ('team!~".+"', True),
        ('app=~"(?i)SHOP"', True),
    ],
)
def test_a_matcher_matches_whole_values_and_takes_what_is_absent_as_empty(text, matches):
    assert parse_matcher(text).matches(LABELS) is matches


@pytest.mark.parametrize(
    "text", ["", "app", "=shop", '"app"=x', "a b=x", "app=~(", "app=~a)|(b", r"app=~(a)\1", "app=~(?=x)", "=", "app=~*"]
)
def test_what_is_no_matcher_is_refused(text):
    with pytest.raises(ValueError, match=r"matcher|regular expression"):
        parse_matcher(text)


def test_a_pattern_that_would_take_for_ever_does_not():
    for pattern in ("(a+)+", "(a|a)*b", "(.*)(.*)(.*)(.*)(.*)x"):
        assert not Matcher(label="app", operator="=~", value=pattern).matches({"app": "a" * 50_000 + "!"})


def test_patterns_too_large_are_refused():
    for pattern in ("a" * 501, "(a{1000}){1000}"):
        with pytest.raises(ValueError, match=r"longer than 500|not a regular expression"):
            Matcher(label="app", operator="=~", value=pattern)


@given(
    st.from_regex(r"[^=!~\s\"]+", fullmatch=True),
    st.sampled_from(["=", "!=", "=~", "!~"]),
    st.text(alphabet=st.characters(exclude_categories=["Cs"])) | st.text(alphabet='"\\\n ~=!'),
)
def test_what_is_written_reads_back(label, operator, value):
    with suppress(ValueError):  # no regular expression
        matcher = Matcher(label=label, operator=operator, value=value)
        assert parse_matcher(str(matcher)) == matcher


@given(st.from_regex(r"[\w ,:/-]{0,9}", fullmatch=True), st.text(max_size=9))
def test_a_pattern_of_one_value_is_that_value(one, other):
    matcher = Matcher(label="x", operator="=~", value=one)
    assert matcher.matches({"x": one})
    assert matcher.matches({"x": other}) is (one == other)


@pytest.mark.parametrize("label", ["", "a b", "a=", 'a"', "a!", "a~", " a", "a\n"])
def test_a_label_that_cannot_be_written_is_refused(label):
    with pytest.raises(ValueError, match="is not a label name"):
        Matcher(label=label, operator="=", value="x")


def test_a_silence_holds_from_its_start_and_not_at_its_end():
    silence = a_silence('app="shop"', 'severity=~"critical|warning"', start=0, end=5)
    assert [silence.holds(LABELS, at(minute)) for minute in (-0.1, 0, 4.9, 5)] == [False, True, True, False]
    assert not silence.holds({**LABELS, "severity": "info"}, at(1))


def test_of_silences_that_hold_the_last_to_end_counts():
    short, long, later, other = (
        a_silence(id="short", end=5),
        a_silence(id="long", end=9),
        a_silence(id="later", start=4, end=99),
        a_silence('app="bank"', id="other", end=99),
    )
    assert silencing([long, short, later, other], LABELS, at(1)) is long
    assert silencing([later, other], LABELS, at(1)) is None


def inhibition(source: str, target: str, *equal: str) -> Inhibition:
    return Inhibition(source=(parse_matcher(source),), target=(parse_matcher(target),), equal=equal)


def test_inhibition_takes_equal_labels_where_both_have_them():
    rule = inhibition("about=ingestion", "about=quality", "app")
    assert rule.holds({"about": "ingestion"}, {"about": "quality", "app": "shop"})
    assert rule.holds({"about": "ingestion", "app": "shop"}, {"about": "quality", "app": "shop"})
    assert not rule.holds({"about": "ingestion", "app": "bank"}, {"about": "quality", "app": "shop"})
    assert not rule.holds({"about": "quality"}, {"about": "quality"})


def test_alerts_of_both_sides_do_not_inhibit_one_another():
    rule = inhibition("about=ingestion", "severity=critical")
    both = {"about": "ingestion", "severity": "critical"}
    assert not rule.holds(both, {**both, "rule": "another"})
    assert rule.holds(both, {"severity": "critical"})
    assert rule.holds({"about": "ingestion"}, both)


def test_no_matcher_matches_everything():
    assert all_match((), LABELS)
