from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.signal import MEANS, RANKED, RATES, Signal, SignalKind
from monitor.alert.wording import (
    MAX_URL,
    amount,
    facts,
    figure,
    http_url,
    labels_of,
    name_of,
    news_line,
    remarks,
    signal_words,
    title,
    why,
    words,
)
from monitor.core.model import Reason
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


def test_a_rate_is_shown_with_its_interval():
    assert facts(a_notified_alert()) == [
        ("Rate of negative answers", "38.2 % (95 % interval 28.5 % to 48.9 %)"),
        ("Threshold", "above 30.0 %"),
        ("Window", "5m"),
        ("Answers counted", "84"),
        ("Since", "2025-11-21 12:00 UTC"),
    ]


def test_the_end_is_shown_with_the_duration():
    assert facts(a_resolved_alert())[-1] == ("Resolved", "2025-11-21 12:20 UTC, after 20m")


def test_a_mean_is_shown_as_a_number():
    alert = a_notified_alert(
        signal="mean of sda", unit="number", value=0.6123, lower=0.59, upper=0.634, bound=0.7, below=True
    )
    assert facts(alert)[:2] == [("Mean SDA", "0.612 (95 % interval 0.59 to 0.634)"), ("Threshold", "below 0.7")]
    assert figure(alert) == "mean SDA 0.612, threshold 0.7"


def test_a_momentary_state_is_shown_without_interval_and_window():
    alert = a_notified_alert(
        signal="lag", unit="seconds", value=5400, lower=5400, upper=5400, bound=300, window=timedelta()
    )
    assert facts(alert) == [
        ("Consumer lag", "1h30m"),
        ("Threshold", "above 5m"),
        ("Since", "2025-11-21 12:00 UTC"),
    ]


def test_an_unknown_value_is_shown_as_unknown():
    alert = a_notified_alert(status="no_data", value=None, lower=0.0, upper=1.0, samples=0)
    assert facts(alert)[0] == ("Rate of negative answers", "unknown")
    assert dict(facts(alert))["Answers counted"] == "0"


@pytest.mark.parametrize(
    ("method", "name"),
    [("burn_rate", "Detail"), ("sequential", "Evidence"), ("change", "Compared with"), ("new", "Detail")],
)
def test_the_detail_of_a_method_has_its_own_name(method, name):
    assert (name, "14.4 over 1h") in facts(a_notified_alert(method=method, detail="14.4\nover 1h"))


def test_a_rule_that_fails_is_held_against_nothing():
    alert = a_notified_alert(
        status="error", method="sequential", value=None, lower=0.0, upper=1.0, bound=0.0, detail="no such rate"
    )
    assert facts(alert)[:2] == [("Rate of negative answers", "unknown"), ("Detail", "no such rate")]
    assert figure(alert) == "rate of negative answers unknown"


def test_a_detail_is_one_short_line():
    detail = dict(facts(a_notified_alert(detail="\x1b[31mred\n" + "x" * 40_000)))["Detail"]
    assert detail.startswith("[31mred xxx")
    assert units(detail) == 300


def test_messages_are_counted_for_dead_letters():
    alert = a_notified_alert(signal="dead_letters")
    assert facts(alert)[0][0] == "Rate of dead letters"
    assert dict(facts(alert))["Messages counted"] == "84"


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
        ({}, "Firing since 2025-11-21 12:00 UTC"),
        ({"alerts": (a_notified_alert(status="error"),)}, "Error since 2025-11-21 12:00 UTC"),
        ({"news": "repeated", "at": at(240)}, "Still firing after 4h"),
        (
            {"news": "repeated", "at": at(240), "alerts": (a_notified_alert(status="no_data"),)},
            "Still no data after 4h",
        ),
        ({"news": "acknowledged", "by": "slack:U1 (ada)"}, "Acknowledged by slack:U1 (ada)"),
        ({"news": "acknowledged"}, "Acknowledged"),
        (
            {"news": "silenced", "by": "ada", "alerts": (a_notified_alert(silenced_until=at(60)),)},
            "Silenced by ada until 2025-11-21 13:00 UTC",
        ),
        ({"news": "silenced"}, "Silenced"),
        ({"news": "resolved", "alerts": (a_resolved_alert(),), "at": at(21)}, "Resolved after 20m"),
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
    assert news_line(a_notification(alerts=(first,), **changed)) == "Firing: changed"


def test_many_that_joined_are_counted():
    joined = tuple(a_notified_alert(rule=f"r{n}", labels={}, fired_at=at(9)) for n in range(5))
    line = news_line(a_notification(news="changed", alerts=(a_notified_alert(), *joined), at=at(10)))
    assert line == "r0 and r1 and r2 and 2 more joined"


def test_labels_without_a_value_are_left_out():
    assert labels_of(a_notified_alert(labels={"app": "a", "model": ""})) == {"app": "a"}


@pytest.mark.parametrize("name", [*RATES, *Reason])
def test_every_rate_has_words(name):
    assert "_" not in words(name)
    assert signal_words(str(Signal(kind=SignalKind.RATE, name=name))) == f"Rate of {words(name)}"


def test_every_other_signal_has_words():
    kinds = [Signal(kind=kind) for kind in SignalKind if kind not in (SignalKind.RATE, SignalKind.MEAN)]
    expected = [
        signal_words(str(signal)) for signal in (*kinds, *(Signal(kind=SignalKind.MEAN, name=n) for n in MEANS))
    ]
    assert len(set(expected)) == len(expected)
    assert all(text[0].isupper() and "_" not in text for text in expected)


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (0.3, "share", "30.0 %"),
        (0.0042, "share", "0.42 %"),
        (0.0, "share", "0.0 %"),
        (3.0, "number", "3"),
        (1234.5, "number", "1,234.5"),
        (90.0, "seconds", "1m30s"),
        (0.0, "seconds", "0s"),
    ],
)
def test_an_amount_is_shown_with_its_unit(value, unit, expected):
    assert amount(value, unit) == expected


def test_small_rates_keep_two_digits():
    assert percent(0.00994) == "0.99 %"


def test_an_example_says_why_it_is_bad():
    reasons = ("not_in_documents", "missing_fact", "contradicts_documents")
    expected = why(an_example(verdict="self_generated", reasons=reasons))
    assert expected == "self-generated: not in documents, missing fact, contradicts documents"


def test_a_change_is_worded_without_a_threshold():
    changed = a_notified_alert(
        signal="ranks of qrd", method="shift", value=0.213, lower=0.18, upper=0.25, bound=0.1, detail="since noon"
    )
    assert dict(facts(changed)) | {"Since": ""} == {
        "Answers among the tenth of the past whose retrieved documents fit the question least": "21.3 % "
        "(95 % interval 18.0 % to 25.0 %)",
        "Usually": "10.0 %",
        "Evidence": "since noon",
        "Answers since the change": f"{changed.samples:,}",
        "Since": "",
    }
    assert figure(changed).endswith("21.3 %, usually 10.0 %")


def test_a_true_rate_says_that_it_is_one():
    labelled = a_notified_alert(signal="true_rate of self_generated", method="rate", window=timedelta())
    assert facts(labelled)[0][0] == "True rate of self-generated answers, by labels"
    assert all(signal_words(f"ranks of {name}") != f"ranks of {name}" for name in RANKED)
