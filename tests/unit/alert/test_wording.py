from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.receivers.slack_blocks import escape, root_message, thread_message
from monitor.alert.rule import SIGNALS
from monitor.alert.wording import NOTHING, http_url, plain, shortened, units, why, words
from monitor.model import Reason
from tests.slack_server import problems, shown, texts
from tests.unit.alert.factories import a_notification, an_example, at


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


@given(st.text(alphabet=st.sampled_from("a&<>🔥 \u0301"), max_size=200), st.integers(10, 100))
def test_a_cut_leaves_whole_characters_and_whole_entities(text, limit):
    cut = shortened(text, limit, escape)
    assert 0 < units(cut) <= limit
    body = cut.removesuffix("…")
    read = body.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert escape(read) == body
    assert plain(text).startswith(read)
    assert (cut == body) == (units(escape(plain(text))) <= limit)


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
        "",
        None,
    ],
)
def test_what_could_break_out_of_a_link_is_no_link(url):
    assert http_url(url) is None


def largest():
    much = "&" * 10_000
    example = an_example(id=much, question=much, answer=much, verdict=much, reasons=(much,))
    return a_notification(
        rule=much,
        labels={"app": much} | {f"{much}{n}": much for n in range(9)},
        annotations={"summary": much, "description": much, "runbook": "https://x/" + "&" * 118},
        examples=(example,) * 3,
        note=much,
        url="https://x/" + "&" * 118,
        status="resolved",
        at=at(60 * 24 * 300 + 61),
    )


def test_the_largest_message_stays_within_our_budget():
    for message in (root_message(largest()), thread_message(largest())):
        assert not problems({"blocks": message.blocks})
        assert sum(map(units, texts(message.blocks))) < 10_000
        assert units(message.text) < 4_000


def test_more_labels_than_there_is_room_for_are_counted():
    labels = {"app": "a", "environment": "b", "model": "", "team": "c", "x": "d", "y": "e"}
    assert "more labels\n2, not shown here" in shown({"blocks": root_message(a_notification(labels=labels)).blocks})


READS = """\
🔴 Firing: negative-rate, support-bot
Too many answers are not carried.
*Rate of negative answers*
38.2 % (95 % Wilson interval 28.5 % to 48.9 %)
*Threshold*
above 30.0 %
*Window*
5m
*Answers counted*
84
*Since*
2025-11-21 12:00 UTC
app
support-bot
environment
production
*Examples*
1. self-generated: answer off support
Question: How long does a refund take?
Answer: Refunds arrive within two hours, guaranteed by the Galactic Bank.
<https://wiki.example/rag?a=1&b=2|Runbook>
critical, episode 0123456789a…"""


def test_a_message_reads_like_this():
    assert shown({"blocks": root_message(a_notification()).blocks}) == READS


@pytest.mark.parametrize("signal", SIGNALS)
def test_every_signal_is_said_in_words(signal):
    assert "_" not in words(signal)


def test_every_reason_can_be_watched_and_said_of_an_example():
    assert set(Reason) <= set(SIGNALS)
    reasons = ("not_in_documents", "missing_fact", "contradicts_documents")
    said = why(an_example(verdict="self_generated", reasons=reasons))
    assert said == "self-generated: not in documents, missing fact, contradicts documents"
