from __future__ import annotations

from dataclasses import replace
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.wording import (
    MAX_URL,
    facts,
    http_url,
    labels_of,
    name_of,
    news_line,
    remarks,
    title,
    why,
)
from monitor.core.text.plain import NOTHING, percent, plain, shortened, units
from tests.factories.alert.notifications import (
    a_notification,
    a_notified_alert,
    a_resolved_alert,
    a_resolved_notification,
    an_example,
    at,
)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (" a\n\tb\u2028c ", "a b c"),
        ("\u202eevil\u202c", "evil"),
        ("\x1b[31mred", "[31mred"),
        ("soft\u00adhyphen\ufeff", "softhyphen"),
        ("a \u200b b", "a b"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("", NOTHING),
        (" \u200d\u200b", NOTHING),
        ("退款要多久？", "退款要多久？"),
    ],
)
def test_text_from_outside_is_one_harmless_line(text, seen):
    assert plain(text) == seen


@given(st.text())
def test_cleaning_twice_is_cleaning_once(text):
    assert plain(plain(text)) == plain(text)


def entities(text: str) -> str:
    return escape(text, quote=False)


@given(st.text(alphabet=st.sampled_from("a&<>🔥 \u0301"), max_size=200), st.integers(10, 100))
def test_a_cut_leaves_whole_characters_and_whole_entities(text, limit):
    cut = shortened(text, limit, entities)
    assert 0 < units(cut) <= limit
    body = cut.removesuffix("…")
    read = body.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert entities(read) == body
    assert plain(text).startswith(read)
    assert (cut == body) == (units(entities(plain(text))) <= limit)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "https://a|b",
        "https://a>b",
        "https://a b",
        "https://",
        "ftp://x",
        "https://a\n",
        "https://a/\x07",
        "https://a/\u202egpj.exe",
        "https://a/\u200b",
        "https://a/" + "x" * MAX_URL,
        "",
        None,
    ],
)
def test_what_could_break_out_of_a_link_is_no_link(url):
    assert http_url(url) is None


def test_a_link_is_left_as_it_is():
    assert http_url("https://wiki.example/rag?a=1&b=2#x") == "https://wiki.example/rag?a=1&b=2#x"


def test_a_detail_is_one_short_line():
    detail = dict(facts(a_notified_alert(detail="\x1b[31mred\n" + "x" * 40_000)))["Remark"]
    assert detail.startswith("[31mred xxx")
    assert units(detail) == 300


def test_what_people_did_is_shown_for_each_alert():
    alert = a_notified_alert(acknowledged_by="ada", silenced_until=at(60), note="the rule is gone")
    assert remarks(alert) == [
        ("Acknowledged by", "ada"),
        ("Silenced until", "2025-11-21 13:00 UTC"),
        ("Note", "the rule is gone"),
    ]
    assert remarks(a_notified_alert()) == []


def test_a_title_tells_the_state_of_the_worst():
    assert title(a_notification()) == "Firing: negative-rate, support-bot"
    assert title(a_resolved_notification()) == "Resolved: negative-rate, support-bot"
    assert title(a_notification(alerts=(a_notified_alert(status="no_data"),))) == "No data: negative-rate, support-bot"
    three = (a_notified_alert(), a_notified_alert(labels={}), a_notified_alert(rule="x"), a_resolved_alert())
    assert title(a_notification(alerts=three)) == "Firing: negative-rate, support-bot and 2 more"
    assert title(a_notification(alerts=(a_resolved_alert(), a_resolved_alert()))).endswith("support-bot and 1 more")


def test_an_alert_of_a_source_is_named_after_it():
    assert name_of(a_notified_alert(rule="lag", labels={"source": "answers"})) == "lag, answers"
    assert name_of(a_notified_alert(labels={})) == "negative-rate"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "Firing since 2025-11-21 12:02 UTC"),
        ({"alerts": (a_notified_alert(status="error"),)}, "Not evaluated since 2025-11-21 12:02 UTC"),
        ({"news": "repeated", "at": at(240)}, "Still firing after 3h58m"),
        (
            {"news": "repeated", "at": at(240), "alerts": (a_notified_alert(status="no_data"),)},
            "Still without data after 3h58m",
        ),
        (
            {"news": "repeated", "at": at(240), "alerts": (a_notified_alert(quiet_since=at(57)),)},
            "Still firing after 3h58m; no answers since 2025-11-21 12:57 UTC",
        ),
        ({"news": "acknowledged", "by": "slack:U1 (ada)"}, "Acknowledged by slack:U1 (ada)"),
        ({"news": "acknowledged"}, "Acknowledged"),
        (
            {"news": "silenced", "by": "ada", "alerts": (a_notified_alert(silenced_until=at(60)),)},
            "Silenced by ada until 2025-11-21 13:00 UTC",
        ),
        ({"news": "silenced"}, "Silenced"),
        ({"news": "resolved", "alerts": (a_resolved_alert(),), "at": at(21)}, "Resolved after 18m"),
    ],
)
def test_the_news_are_one_line(changes, expected):
    assert news_line(a_notification(**changes)) == expected


def test_alerts_that_joined_or_left_are_named():
    first, second = a_notified_alert(), a_notified_alert(rule="no-answers", fired_at=at(7))
    third = a_notified_alert(rule="refusals", fired_at=at(30))
    gone = replace(second, status="resolved", resolved_at=at(25))
    changed = {"news": "changed", "at": at(31)}
    assert news_line(a_notification(alerts=(first, second), **changed)) == "no-answers, support-bot joined"
    assert news_line(a_notification(alerts=(first, gone), **changed)) == "no-answers, support-bot resolved"
    both = news_line(a_notification(alerts=(first, third, gone), **changed))
    assert both == "refusals, support-bot joined; no-answers, support-bot resolved"
    assert news_line(a_notification(alerts=(first,), **changed)) == "Now firing"


def test_many_that_joined_are_counted():
    joined = tuple(a_notified_alert(rule=f"r{n}", labels={}, fired_at=at(9)) for n in range(5))
    line = news_line(a_notification(news="changed", alerts=(a_notified_alert(), *joined), at=at(10)))
    assert line == "r0 and r1 and r2 and 2 more joined"


def test_labels_without_a_value_are_left_out():
    assert labels_of(a_notified_alert(labels={"app": "a", "model": ""})) == {"app": "a"}


def test_small_rates_keep_two_digits():
    assert percent(0.00994) == "0.99 %"


def test_an_example_says_why_it_is_bad():
    reasons = ("no_documents", "of_later_release", "empty_answer")
    expected = "self-generated: nothing was retrieved, of later release and 1 more"
    assert why(an_example(verdict="self_generated", reasons=reasons)) == expected
    assert why(an_example(verdict="refusal", reasons=())) == "refusal"
