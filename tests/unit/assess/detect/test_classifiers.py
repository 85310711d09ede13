from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.detect.classifiers import QUESTION_PROMPT, SUMMARY_PROMPT, CrossEncoder, TokenClassifier
from monitor.assess.detect.detection import Claim
from monitor.assess.detect.tokenizer import Feed, PairTokenizer
from monitor.core.errors import WrongSettings
from tests.factories.assess.tiny_model import byte_tokenizer, word_tokenizer

WORDS, BYTES = PairTokenizer(word_tokenizer()), PairTokenizer(byte_tokenizer())
MONDAY, PAYS = "The shop opens on Monday.", "Zoe pays 42 euros."
MONDAYS, PAYMENTS = f"{MONDAY} " * 20, f"{PAYS} " * 20
QUESTION = "Which day?"
PLAIN = "{question} | {documents} | {count}"
pieces = st.sampled_from([*"ab .\n", ". ", "The shop ", "é", "🎉", "店", "。", "\ud800"])
texts = st.lists(pieces, max_size=200).map("".join)


def of_tokens(tokenizer=WORDS, *, window=512, max_inputs=512, labels=(1,), label_count=2, prompt=None):
    return TokenClassifier(
        tokenizer,
        window=window,
        max_inputs=max_inputs,
        label_count=label_count,
        uncarried_labels=labels,
        prompt=prompt,
    )


def of_pairs(tokenizer=WORDS, *, window=512, max_inputs=512, label_count=3, entailment=0):
    return CrossEncoder(tokenizer, window=window, max_inputs=max_inputs, label_count=label_count, entailment=entailment)


def claim(answer=PAYS, *documents, question=QUESTION):
    return Claim(question=question, answer=answer, documents=documents)


def read(tokenizer, ids):
    """The text of tokens, as far as they preserve it."""
    return tokenizer._tokenizer.decode(np.concatenate(ids).tolist())


def same(tokenizer, found, text):
    return np.concatenate(found).tolist() == tokenizer.tokens(text).ids.tolist()


BOTH = pytest.mark.parametrize("kind", [of_tokens, of_pairs])


class TestTokenClassifier:
    def test_a_claim_that_fits_is_read_as_in_the_training_of_lettucedetect(self):
        (it,) = of_tokens().claim_inputs(claim(PAYS, MONDAY, PAYS)).inputs
        prompt = QUESTION_PROMPT.format(question=QUESTION, count=2, documents=f"passage 1: {MONDAY}\npassage 2: {PAYS}")
        assert same(WORDS, it.first, prompt)
        assert same(WORDS, [it.second], PAYS)

    def test_without_a_question_it_is_a_summary(self):
        (it,) = of_tokens().claim_inputs(claim(PAYS, MONDAY, question=" ")).inputs
        assert same(WORDS, it.first, SUMMARY_PROMPT.format(documents=f"passage 1: {MONDAY}"))

    def test_a_prompt_of_ones_own_takes_the_place_of_both(self):
        for question in (QUESTION, ""):
            (it,) = of_tokens(prompt=PLAIN).claim_inputs(claim(PAYS, MONDAY, question=question)).inputs
            assert same(WORDS, it.first, f"{question} | passage 1: {MONDAY} | 1")

    def test_braces_in_texts_stay(self):
        (it,) = (
            of_tokens(BYTES, prompt=PLAIN).claim_inputs(claim(PAYS, "{question}{documents}", question="{count}")).inputs
        )
        assert same(BYTES, it.first, "{count} | passage 1: {question}{documents} | 1")

    def test_empty_documents_are_absent(self):
        (it,) = of_tokens(prompt=PLAIN).claim_inputs(claim(PAYS, "", MONDAY, " \n")).inputs
        assert same(WORDS, it.first, f"{QUESTION} | passage 1: {MONDAY} | 1")

    def test_long_documents_go_through_in_windows_cut_at_sentence_ends(self):
        reading = of_tokens(prompt=PLAIN, window=96).claim_inputs(claim(PAYS, MONDAYS, PAYMENTS))
        windows = [read(WORDS, window[1:2]) for window in reading.windows]
        assert len(windows) > 2
        assert all(window.endswith(".") for window in windows)
        body = f"passage 1: {MONDAYS}\npassage 2: {PAYMENTS}"
        assert same(WORDS, [window[1] for window in reading.windows], body)

    def test_every_window_has_the_whole_prompt(self):
        reading = of_tokens(prompt=PLAIN, window=96).claim_inputs(claim(PAYS, MONDAYS))
        assert {read(WORDS, [head]) for head, _, _ in reading.windows} == {"which day ? [UNK]"}
        assert {read(WORDS, [tail]) for _, _, tail in reading.windows} == {"[UNK] 1"}

    def test_a_long_answer_goes_through_in_parts_with_every_window(self):
        reading = of_tokens(prompt=PLAIN, window=96).claim_inputs(claim(PAYMENTS, MONDAYS))
        assert len(reading.groups) > 2
        assert reading.count == len(reading.groups) * len(reading.windows)
        assert same(WORDS, [group.tokens for group in reading.groups], PAYMENTS)

    def test_a_long_question_is_cut_off(self):
        (it,) = (
            of_tokens(prompt=PLAIN, window=96).claim_inputs(claim(PAYS, MONDAY, question="Which day? " * 1_000)).inputs
        )
        head, _, _ = it.first
        assert read(WORDS, [head]) == "which day ? " * 7 + "which [UNK]"  # 22 of 90 tokens, and the bar

    def test_units_are_the_answers_words_without_white_space(self):
        answer = " Zoë  pays 🎉"
        (group,) = of_tokens(BYTES).claim_inputs(claim(answer, MONDAY)).groups
        assert [answer[start:end] for start, end in group.units] == ["", *"Zo", *"ëë", "", "", *"pays", "", *"🎉" * 4]

    def test_a_prompt_has_to_hold_the_documents(self):
        for prompt in ("{question}", "{documents} {documents}"):
            with pytest.raises(WrongSettings, match="MONITOR_DETECTOR__PROMPT"):
                of_tokens(prompt=prompt)

    def test_a_window_that_the_prompt_fills_is_refused(self):
        with pytest.raises(WrongSettings, match=r"64 tokens at a time.*MAX_TOKENS"):
            of_tokens(window=64)

    def test_the_labels_that_say_so_are_added_up(self):
        ids = np.zeros((2, 5), np.int64)
        feed = Feed(ids=ids, mask=ids, types=ids, seconds=(slice(3, 5), slice(1, 2)))
        logits = np.zeros((2, 5, 3), np.float16)
        logits[0, 3], logits[0, 4], logits[1, 1] = (1, 2, 3), (0, 0, 0), (40, 0, 0)
        first, second = of_tokens(labels=(1, 2), label_count=3).uncarried(logits, feed)
        powers = np.exp([1, 2, 3])
        np.testing.assert_allclose(first, [powers[1:].sum() / powers.sum(), 2 / 3], rtol=1e-4)
        np.testing.assert_allclose(second, [0], atol=1e-6)

    def test_logits_of_another_shape_are_refused(self):
        ids = np.zeros((2, 5), np.int64)
        feed = Feed(ids=ids, mask=ids, types=ids, seconds=(slice(3, 5), slice(1, 2)))
        for shape in ((2, 5, 3), (2, 4, 2), (2, 2), (1, 5, 2)):
            with pytest.raises(ValueError, match="shape"):
                of_tokens().uncarried(np.zeros(shape, np.float32), feed)


class TestCrossEncoder:
    def test_each_sentence_meets_each_document(self):
        reading = of_pairs().claim_inputs(claim(f"{MONDAY} {PAYS}", "Free returns.", "", "Nobody."))
        found = [(read(WORDS, it.first), read(WORDS, [it.second])) for it in reading.inputs]
        monday, pays = "the shop opens on monday .", "zoe pays 42 euros ."
        assert found == [(it, text) for text in (monday, pays) for it in ("free returns .", "[UNK] .")]
        assert [group.units for group in reading.groups] == [((0, 25),), ((26, 44),)]
        assert not reading.joined

    def test_long_documents_are_windowed_at_sentence_ends(self):
        reading = of_pairs(window=64).claim_inputs(claim(PAYS, MONDAYS, PAYS))
        assert len(reading.windows) > 3
        assert same(WORDS, [window[0] for window in reading.windows[:-1]], MONDAYS)
        assert all(read(WORDS, window).endswith(".") for window in reading.windows)

    def test_a_long_sentence_is_judged_in_parts(self):
        answer = f"{PAYS} " + "Zoe pays " * 100
        groups = of_pairs(window=64).claim_inputs(claim(answer, MONDAY)).groups
        found = [answer[start:end] for group in groups for start, end in group.units]
        assert found[0] == PAYS
        assert " ".join(found[1:]) == ("Zoe pays " * 100).strip()
        assert max(len(group.tokens) for group in groups) <= 30

    def test_units_end_where_the_text_does(self):
        answer = "店舗は月曜日に開きます。 Zoë pays! 🎉"
        groups = of_pairs().claim_inputs(claim(answer, MONDAY)).groups
        found = [answer[start:end] for group in groups for start, end in group.units]
        assert found == ["店舗は月曜日に開きます。", "Zoë pays!", "🎉"]

    def test_probability_is_what_is_left_of_entailment(self):
        ids = np.zeros((2, 5), np.int64)
        feed = Feed(ids=ids, mask=ids, types=ids, seconds=(slice(3, 5), slice(1, 2)))
        first, second = of_pairs(entailment=1).uncarried(np.array([[0, 0, 0], [1, 3, 2]], np.float32), feed)
        np.testing.assert_allclose(first, [2 / 3], rtol=1e-6)
        np.testing.assert_allclose(second, [1 - np.exp(3) / np.exp([1, 2, 3]).sum()], rtol=1e-6)

    def test_logits_of_another_shape_are_refused(self):
        ids = np.zeros((2, 5), np.int64)
        feed = Feed(ids=ids, mask=ids, types=ids, seconds=(slice(3, 5), slice(1, 2)))
        for shape in ((2, 2), (2, 5, 3), (1, 3)):
            with pytest.raises(ValueError, match="shape"):
                of_pairs().uncarried(np.zeros(shape, np.float32), feed)

    def test_a_window_without_room_is_refused(self):
        with pytest.raises(WrongSettings, match="MAX_TOKENS"):
            of_pairs(window=40)


@BOTH
@pytest.mark.parametrize(
    ("answer", "documents"),
    [("", [MONDAY]), (" \n", [MONDAY]), ("\u0000", [MONDAY]), (PAYS, []), (PAYS, ["", " \n\t"])],
)
def test_nothing_is_said_where_a_text_is_missing(kind, answer, documents):
    assert kind().claim_inputs(claim(answer, *documents)) is None


@BOTH
def test_nothing_is_said_where_it_would_take_too_many_inputs(kind):
    long = claim(PAYMENTS, MONDAYS)
    count = kind(window=192).claim_inputs(long).count
    assert count > 2
    assert kind(window=192, max_inputs=count).claim_inputs(long).count == count
    assert kind(window=192, max_inputs=count - 1).claim_inputs(long) is None
    assert kind(window=192, max_inputs=10).claim_inputs(claim("a. " * 100_000, MONDAY)) is None


@BOTH
def test_no_number_stays_none(kind):
    ids = np.zeros((1, 5), np.int64)
    feed = Feed(ids=ids, mask=ids, types=ids, seconds=(slice(3, 5),))
    shape = (1, 5, 2) if kind is of_tokens else (1, 3)
    for value in (np.nan, np.inf, -np.inf):
        (found,) = kind().uncarried(np.full(shape, value, np.float32), feed)
        assert np.isnan(found).all()


@BOTH
@pytest.mark.parametrize("tokenizer", [WORDS, BYTES])
@given(question=texts, answer=texts, documents=st.lists(texts, max_size=3), window=st.integers(80, 120))
def test_no_input_is_too_long_and_nothing_is_left_out(kind, tokenizer, question, answer, documents, window):
    extra = {"prompt": "{question}{documents}{count}"} if kind is of_tokens else {}
    reading = kind(tokenizer, window=window, **extra).claim_inputs(claim(answer, *documents, question=question))
    if reading is None:
        return
    assert max(it.size for it in reading.inputs) + tokenizer.special <= window
    units = [unit for group in reading.groups for unit in group.units]
    assert all(len(group.units) in (1, len(group.tokens)) for group in reading.groups)
    assert units == sorted(units)
    assert all(0 <= start <= end <= len(answer) for start, end in units)
    judged = sum(len(group.tokens) for group in reading.groups)
    assert judged >= len(tokenizer.tokens(answer.strip()).ids) - answer.count(" ") - answer.count("\n")
    kept = [text for text in documents if text.strip()]
    seen = sum(len(window[len(window) // 2]) for window in reading.windows)
    assert seen >= sum(len(tokenizer.tokens(text).ids) for text in kept)
