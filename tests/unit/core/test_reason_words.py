from __future__ import annotations

import pytest

from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason
from monitor.core.reason_words import DIAGNOSIS_ADVICE, DIAGNOSIS_WORDS, REASON_WORDS, diagnosis_name


def test_there_are_words_for_every_reason():
    assert set(REASON_WORDS) == set(Reason)
    assert len(set(REASON_WORDS.values())) == len(Reason)


def test_there_are_words_and_advice_for_every_diagnosis():
    assert set(DIAGNOSIS_WORDS) == set(DIAGNOSIS_ADVICE) == set(Diagnosis)
    assert len(set(DIAGNOSIS_WORDS.values())) == len(Diagnosis)


@pytest.mark.parametrize("diagnosis", Diagnosis)
def test_the_advice_names_the_part_at_fault_and_not_the_other(diagnosis):
    advice = DIAGNOSIS_ADVICE[diagnosis]
    assert ("retriever" in advice) is diagnosis.of_retriever
    assert ("generator" in advice) is diagnosis.of_generator


def test_a_name_is_plain_words():
    assert diagnosis_name(Diagnosis.RETRIEVAL_MISSED) == "retrieval missed"
