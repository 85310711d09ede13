from __future__ import annotations

import pytest

from monitor.alert.methods import METHODS
from monitor.alert.signal import ANSWER_LABELS, INGEST_LABELS, LABELLED, MEANS, NAMES, RANKED, RATES, Signal, SignalKind
from monitor.core.diagnosis import Diagnosis


def test_there_is_a_rate_for_every_verdict_reason_and_diagnosis():
    assert {"negative", "grounded", "refusal", "self_generated", "not_in_documents", "refusal_wording"} <= set(RATES)
    assert set(Diagnosis) <= set(RATES)
    assert len(set(RATES)) == len(RATES)
    assert MEANS == ("sdq", "sdrd", "sda", "qrd", "qa")


@pytest.mark.parametrize(
    ("kind", "labels", "share", "momentary"),
    [
        (SignalKind.RATE, ANSWER_LABELS, True, False),
        (SignalKind.MEAN, ANSWER_LABELS, False, False),
        (SignalKind.RANKS, ANSWER_LABELS, True, False),
        (SignalKind.TRUE_RATE, ("app",), True, True),
        (SignalKind.NO_DATA, ANSWER_LABELS, False, False),
        (SignalKind.DEAD_LETTERS, INGEST_LABELS, True, False),
        (SignalKind.LAG, INGEST_LABELS, False, True),
        (SignalKind.LEDGER, INGEST_LABELS, False, True),
    ],
)
def test_each_kind_has_its_labels(kind, labels, share, momentary):
    signal = Signal(kind=kind)
    assert (signal.labels, signal.is_share, signal.is_momentary) == (labels, share, momentary)


@pytest.mark.parametrize("kind", SignalKind)
def test_each_kind_has_a_method(kind):
    assert [name for name, method in METHODS.items() if kind in method.takes]


def test_each_ranked_quantity_has_a_rate_whose_answers_are_its_examples():
    shown = {Signal(kind=SignalKind.RANKS, name=name).shown_by for name in RANKED}
    assert shown <= set(RATES)
    assert Signal(kind=SignalKind.RATE, name="negative").shown_by == "negative"
    assert Signal(kind=SignalKind.LAG).shown_by is None


def test_it_is_named_as_people_say_it():
    assert str(Signal(kind=SignalKind.RATE, name="negative")) == "rate of negative"
    assert str(Signal(kind=SignalKind.LEDGER)) == "ledger_imbalance"


def test_it_is_read_as_it_is_named():
    signals = [
        *(Signal(kind=SignalKind.RATE, name=name) for name in RATES),
        *(Signal(kind=SignalKind.MEAN, name=name) for name in MEANS),
        *(Signal(kind=SignalKind.RANKS, name=name) for name in RANKED),
        *(Signal(kind=SignalKind.TRUE_RATE, name=name) for name in LABELLED),
        *(Signal(kind=kind) for kind in SignalKind if kind not in NAMES),
    ]
    assert [Signal.parse(str(signal)) for signal in signals] == signals


@pytest.mark.parametrize(
    "text", ["", "rate", "rate of sda", "mean of negative", "lag of app", "ranks of sda", "true_rate", "unheard of"]
)
def test_a_name_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        Signal.parse(text)


@pytest.mark.parametrize("diagnosis", Diagnosis)
def test_a_rate_of_a_diagnosis_is_judged_by_every_method_of_rates_and_shows_its_answers(diagnosis):
    signal = Signal(kind=SignalKind.RATE, name=diagnosis.value)
    assert signal.is_of_diagnosis
    assert (signal.is_share, signal.labels, signal.shown_by) == (True, ANSWER_LABELS, diagnosis.value)
