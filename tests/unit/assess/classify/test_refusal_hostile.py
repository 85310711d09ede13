"""Answers made to be slow or to break something."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.classify import clauses, refusal
from monitor.assess.classify.lexicon import WORDINGS
from monitor.assess.classify.refusal import LONGEST, LONGEST_COURTESY, LONGEST_SENTENCE, read_answer, refusal_kind
from monitor.core.model import RefusalKind

HOSTILE = [
    "not ",
    "(",
    "[",
    "文",
    "。",
    "不",
    ".",
    ".a",
    "?!",
    "…",
    "\n",
    " ",
    "\t",
    "'",
    "’",
    "i ",
    "i cannot ",
    "cannot be ",
    "the document ",
    "document not ",
    "documents do not ",
    "is not ",
    "not mentioned ",
    "not, ",
    "no information ",
    "none of ",
    "there is no ",
    "without ",
    "sorry ",
    "based on the document ",
    "lyly ",
    "un",
    "dokument nicht ",
    "ich kann nicht ",
    "steht nicht ",
    "enthalten keine ",
    "je ne ",
    "document ne ",
    "n'est pas ",
    "documento no ",
    "no se ",
    "documento non ",
    "non è ",
    "documento não ",
    "não é ",
    "ik kan niet ",
    "de documenten niet ",
    "in de tekst staat niet ",
    "is niet ",
    "geen informatie ",
    "jag kan inte ",
    "dokumenten inte ",
    "jeg kan ikke ",
    "nie ma informacji ",
    "dokument nie ",
    "нет информации ",
    "документ не ",
    "bilgi yok değil ",
    "belge yok ",
    "i can only ",
    "any personal or ",
    "ſ",
    "İ",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "\ud800",
    "\u202e",
    "🤷",
    "ด",
    "\x00",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hundred_thousand_hostile_characters_are_judged(unit):
    assert refusal_kind((unit * (100_000 // len(unit) + 1))[:100_000] + "a") in RefusalKind


@given(st.lists(st.sampled_from([*HOSTILE, "I don't know. ", "It costs 5 euros. "]), max_size=40).map("".join))
def test_hostile_mixtures_are_judged_and_repeatably(answer):
    assert refusal_kind(answer) is refusal_kind(answer)


@given(st.text())
def test_any_text_is_judged(answer):
    assert refusal_kind(answer) in RefusalKind


@given(st.text(alphabet=st.characters(categories=["Nd", "Sm", "Zs"])))
def test_a_text_without_words_refuses_nothing(answer):
    assert refusal_kind(answer) is RefusalKind.NONE


@given(st.text(max_size=200), st.sampled_from(HOSTILE))
def test_sentences_lie_in_order_within_the_answer(text, unit):
    answer = f"{text} I don't know, but {unit} is 5. {text}"
    ends = 0
    for s in read_answer(answer).sentences:
        assert ends <= s.start < s.end <= len(answer)
        if s.cue is not None:
            assert s.start <= s.cue[0] < s.cue[1] <= s.end
        ends = s.end


NESTED = ["not not not ", '"not "', '“"not', "«「not", "I can't, but ", "i do not know. ", "thank you. "]


@pytest.mark.parametrize("unit", [".", "not ", *NESTED])
def test_the_patterns_see_no_more_of_a_megabyte_than_of_its_start_and_end(unit, monkeypatch):
    looked_at = []
    cue, polite = clauses._cue, refusal._polite

    def counted_cue(piece, start, end, wording):
        looked_at.append(end - start)
        return cue(piece, start, end, wording)

    def counted_polite(said, start, end):
        if not LONGEST < start < len(said) - LONGEST:
            looked_at.append(min(end - start, LONGEST_COURTESY))
        return polite(said, start, end)

    monkeypatch.setattr(clauses, "_cue", counted_cue)
    monkeypatch.setattr(refusal, "_polite", counted_polite)
    refusal_kind((unit * (1_000_000 // len(unit) + 1))[:1_000_000])
    languages, looks = len(WORDINGS), 2  # a clause is looked at alone and in its sentence
    assert sum(looked_at) <= languages * looks * (2 * LONGEST + LONGEST_SENTENCE)


@pytest.mark.parametrize("unit", [".", "not not not ", '"not "', "「不」", "I can't, but "])
def test_ten_times_the_text_takes_no_hundred_times_as_long(unit):
    def seconds(length):
        answer = (unit * (length // len(unit) + 1))[:length]
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            refusal_kind(answer)
            best = min(best, time.process_time() - start)
        return best

    assert seconds(1_000_000) < 40 * max(seconds(100_000), 1e-3)
