"""Questions grouped by what they are about, and named by it."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.alert.explain.clusters import clusters
from monitor.alert.explain.keywords import telling_words, words
from monitor.assess.embed.hashing import HashEmbedder

REFUNDS = [f"when is the refund of my order number {n} paid back to me" for n in range(12)]
LOGINS = [f"the login page says wrong password for user {n}" for n in range(8)]
STRAYS = ["opening hours on sunday", "who founded your company"]
OTHERS = [f"is the {thing} in my order available for me" for thing in ("lamp", "desk", "sofa", "chair", "shelf", "rug")]


def vectors(*texts):
    return HashEmbedder().embed(texts)


def grouped(failing, *, others=OTHERS, before=()):
    return clusters(failing, vectors(*failing), others=vectors(*others), before=vectors(*before), background=others)


def named(some, others):
    return telling_words([words(text) for text in some], [words(text) for text in others])


def test_questions_fall_into_what_they_are_about():
    mixed = [text for pair in zip(REFUNDS, [*LOGINS, *STRAYS, "", ""], strict=True) for text in pair if text]
    refunds, logins = grouped(mixed)
    assert [mixed[place] for place in refunds.members] == REFUNDS
    assert [mixed[place] for place in logins.members] == LOGINS
    assert refunds.cluster.share == pytest.approx(12 / 22)
    assert refunds.cluster.example in REFUNDS
    assert "refund" in refunds.cluster.words
    assert {"login", "password"} & set(logins.cluster.words)


def test_the_baseline_says_how_many_were_like_that_before():
    before = [*LOGINS[:4], *(f"is item {n} sold out everywhere" for n in range(12))]
    (refunds, logins) = grouped([*REFUNDS, *LOGINS * 3], before=before)[::-1]
    assert refunds.cluster.before_share == 0
    assert logins.cluster.before_share == pytest.approx(4 / 16)


def test_a_group_that_shrank_or_stayed_is_no_change():
    before = [*LOGINS, *(f"is item {n} sold out everywhere" for n in range(8))]
    (refunds,) = grouped([*REFUNDS, *LOGINS[:6]], before=before)
    assert "refund" in refunds.cluster.words


def test_a_small_baseline_says_nothing():
    assert all(found.cluster.before_share is None for found in grouped([*REFUNDS, *LOGINS], before=LOGINS))


def test_questions_that_have_nothing_in_common_make_no_cluster():
    vectors_apart = np.eye(20, dtype=np.float32)
    texts = [f"word{n}" for n in range(20)]
    empty = np.empty((0, 20), np.float32)
    assert clusters(texts, vectors_apart, others=empty, before=empty, background=[]) == []


def test_vectors_that_are_no_numbers_are_alike_to_nothing():
    odd = vectors(*REFUNDS)
    odd[3] = np.nan
    odd[4] = np.inf
    empty = vectors()
    (found,) = clusters(REFUNDS, odd, others=vectors(*OTHERS), before=empty, background=OTHERS)
    assert {3, 4}.isdisjoint(found.members)


def test_the_example_is_redacted():
    texts = [f"send my refund {n} to jane@mail.example please" for n in range(5)]
    (found,) = grouped(texts)
    assert "jane@" not in found.cluster.example
    assert "[e-mail]" in found.cluster.example


def test_the_same_questions_give_the_same_groups():
    assert grouped([*REFUNDS, *LOGINS, *STRAYS]) == grouped([*REFUNDS, *LOGINS, *STRAYS])


# --- telling words ---

SMALL_TALK = [f"how do i {verb} the {noun} of my account" for verb in ("see", "change") for noun in ("name", "photo")]


def test_words_of_every_question_do_not_tell():
    some = [f"how do i get the refund of my {thing}" for thing in ("lamp", "desk", "sofa", "rug", "chair", "bed")]
    found = named(some, SMALL_TALK * 10)
    assert found[0] == "refund"
    assert not {"how", "do", "the", "of", "my", "get the"} & set(found)


@pytest.mark.parametrize(
    ("questions", "stop_words"),
    [
        (
            ["what is my refund", "what about a refund", "what refund is that", "where is my refund"],
            {"what", "is", "my"},
        ),
        (["wann kommt die erstattung", "die erstattung bitte", "wo ist die erstattung"], {"wann", "die", "ist", "wo"}),
    ],
)
def test_stop_words_name_nothing_however_often_they_occur(questions, stop_words):
    found = named(questions * 5, ["login page wrong password", "reset password", "login fails"] * 20)
    assert {"refund", "erstattung"} & set(found)
    assert not stop_words & set(found)


def test_inflections_count_as_one_word_in_the_most_common_form():
    some = ["where are my refunds", "refunds please", "my refunds are late", "refunded yet", "no refund today"]
    assert [word for word in named(some, SMALL_TALK * 10) if word.startswith("refund")] == ["refunds"]


@pytest.mark.parametrize(
    ("some", "others", "expected"),
    [
        (
            ["返金はいつですか", "返金の方法は", "返金してください", "注文の返金"],
            ["配送はいつですか", "配送の方法は"],
            "返金",
        ),
        (["如何申请退款", "退款多久到账", "我要退款", "退款失败了"], ["如何登录账户", "多久发货", "我要发票"], "退款"),
        (["환불은 언제 되나요", "환불을 원해요", "환불이 늦어요"], ["배송은 언제 되나요", "배송을 원해요"], "환불"),
        (["ขอเงินคืน", "เงินคืนเมื่อไหร่", "ยังไม่ได้เงินคืน"], ["ส่งของเมื่อไหร่", "ยังไม่ได้ของ"], "งินคื"),
    ],
)
def test_scripts_without_spaces_are_described_by_runs_of_characters(some, others, expected):
    found = named(some * 4, others * 8)
    assert expected in found[0] or found[0] in expected
    assert len([word for word in found if set(word) & set(expected)]) <= 2


def test_a_word_repeated_in_one_question_does_not_count_more():
    some = [*REFUNDS, "spam " * 90]
    assert "spam" not in named(some, OTHERS * 5)


def test_no_questions_have_no_words():
    assert named([], []) == ()
    assert named(["", "123 456", "?!"], ["…"]) == ()


def test_questions_of_one_and_the_same_word_have_no_telling_word():
    asked = [words("snapshots?")] * 40
    assert telling_words(asked[:20], asked[20:]) == ()
    assert telling_words(asked, []) == ()
    assert telling_words([], []) == ()
