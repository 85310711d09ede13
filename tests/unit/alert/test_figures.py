"""Every sentence that an alert can say of itself, for each method, signal and state, as its reader sees it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from monitor.alert.answers import AnswerBatch
from monitor.alert.figures import amount, capital, figure, signal_words, words
from monitor.alert.labelled import LabelledRate
from monitor.alert.methods.absence import Absence
from monitor.alert.methods.burn_rate import BurnRate
from monitor.alert.methods.change import Change
from monitor.alert.methods.rate import Rate
from monitor.alert.methods.sequential import Sequential
from monitor.alert.methods.shift import Shift
from monitor.alert.methods.threshold import Threshold
from monitor.alert.notify.notified import described
from monitor.alert.receivers.text import render
from monitor.alert.rules.words import fires_when
from monitor.alert.signal import NAMES, RATES, Signal, SignalKind
from monitor.alert.state import transition
from monitor.alert.target import parse_target
from monitor.alert.window import Count, Counts, Outcome
from monitor.alert.wording import facts
from tests.factories.alert.alerts import a_rule
from tests.factories.alert.counts import share
from tests.factories.alert.notifications import a_notification, a_notified_alert, at

RATE, RANKS, TRUE = SignalKind.RATE, SignalKind.RANKS, SignalKind.TRUE_RATE
SIGNALS = [Signal(kind=kind, name=name) for kind in SignalKind for name in NAMES.get(kind, ("",))]


def negative(name="negative"):
    return Signal(kind=RATE, name=name)


def batch(n, worst):
    """Answers of which the last `worst` are worse than all others."""
    return AnswerBatch(
        bins=np.array([100] * (n - worst) + [250] * worst),
        units=np.arange(n),
        weights=np.ones(n),
        chances=np.linspace(0, 0.99, n),
        topics=("",) * n,
        at=np.array([at(0).timestamp()] * n),
    )


def looked_at(method, signal, *found, bound=None, memory=None, **counts):
    """The alert, as messages have it, after one look of a rule of that method; it fires if the look breaches."""
    rule = a_rule(method=method, signal=signal, for_=timedelta())
    line = method.target.bound(None) if bound is None else bound
    seen, _ = method.observe(
        Counts(labels={"app": "shop"}, counts=found, **counts), signal=signal, bound=line, memory=memory, now=at(10)
    )
    change = transition(rule, None, replace(seen, outcome=Outcome.BREACHING), at(10))
    return described(change.alert)


def sequence(method, bad, total):
    found = (share(bad, total),)
    _, memory = method.observe(
        Counts(labels={}, counts=(*found, share(0, 0))), signal=negative(), bound=0.06, memory=None, now=at(9)
    )
    return looked_at(method, negative(), *found, share(bad, total), bound=0.06, memory=memory)


def shifted():
    method, signal = Shift(), Signal(kind=RANKS, name="score")
    _, memory = method.observe(
        Counts(labels={}, counts=(Count(),), answers=batch(2_000, 0)), signal=signal, bound=0.1, memory=None, now=at(0)
    )
    return looked_at(method, signal, Count(), answers=batch(80, 60), memory=memory)


LABELLED = LabelledRate(
    app="shop", plan="3", since=at(-20_000), until=at(-10_000), labels=210, estimate=0.142, lower=0.11, upper=0.18
)
ABOVE = Threshold(above=parse_target("baseline + 2pp"), window=timedelta(minutes=5))
LAG = Threshold(above=parse_target(300))

# an alert; the phrase of a notification; its figures, without the start
SENTENCES = {
    "threshold": (
        lambda: looked_at(ABOVE, negative(), share(32, 84), bound=0.081),
        "negative answers: 38.1 %, fires above 8.1 %",
        (
            "Negative answers: 38.1 % | With 95 % confidence: 28.4 % to 48.8 % | "
            "Fires above: 8.1 % | Counted: 84 answers in 5m"
        ),
    ),
    "threshold on a reason": (
        lambda: looked_at(ABOVE, negative("support_off_question"), share(32, 84), bound=0.081),
        "answers whose supporting documents are not about the question: 38.1 %, fires above 8.1 %",
        (
            "Answers whose supporting documents are not about the question: "
            "38.1 % | With 95 % confidence: 28.4 % to 48.8 % | Fires above: 8.1 % | Counted: 84 answers in 5m"
        ),
    ),
    "threshold on a mean": (
        lambda: looked_at(
            Threshold(below=0.7),
            Signal(kind=SignalKind.MEAN, name="sda"),
            Count(total=50, sum=30.6, squares=19.5),
        ),
        "similarity of supporting documents and answer (mean SDA): 0.612, fires below 0.7",
        (
            "Similarity of supporting documents and answer (mean SDA): 0.612 | With 95 % confidence: 0.577 to 0.647 | "
            "Fires below: 0.7 | Counted: 50 answers in 5m"
        ),
    ),
    "dead letters": (
        lambda: looked_at(ABOVE, Signal(kind=SignalKind.DEAD_LETTERS), share(12, 84), bound=0.1),
        "messages that cannot be read (dead letters): 14.3 %, fires above 10.0 %",
        (
            "Messages that cannot be read (dead letters): 14.3 % | With 95 % confidence: 8.4 % to 23.3 % | "
            "Fires above: 10.0 % | Counted: 84 messages in 5m"
        ),
    ),
    "lag": (
        lambda: replace(looked_at(LAG, Signal(kind=SignalKind.LAG), Count(total=1, sum=5400)), window=timedelta()),
        "reading is behind by: 1h30m, fires above 5m",
        "Reading is behind by: 1h30m | Fires above: 5m",
    ),
    "ledger": (
        lambda: replace(
            looked_at(Threshold(above=parse_target(0)), Signal(kind=SignalKind.LEDGER), Count(total=1, sum=2)),
            window=timedelta(),
        ),
        "partitions whose ledger does not balance: 2, fires above 0",
        "Partitions whose ledger does not balance: 2 | Fires above: 0",
    ),
    "burn rate": (
        lambda: looked_at(
            BurnRate(allowed=parse_target(0.01)), negative(), share(30, 150), share(5, 20), share(40, 900), share(0, 0)
        ),
        "negative answers: 20.0 %, allowed 1.0 %",
        (
            "Negative answers: 20.0 % | With 95 % confidence: 14.4 % to 27.1 % | Allowed: 1.0 % | "
            "Against what is allowed: 20.0 times in 1h, 25.0 times in 5m (fires above 14.4 times in both); "
            "4.4 times in 6h, nothing in 30m (fires above 6 times in both) | Counted: 150 answers in 1h"
        ),
    ),
    "sequential": (
        lambda: sequence(Sequential(target=parse_target("baseline + 1pp")), 90, 100),
        "negative answers: 90.0 %, target 6.0 %",
        (
            "Negative answers: 90.0 % | With 95 % confidence: 82.6 % to 94.5 % | Target: 6.0 % | Evidence: "
            "If the rate were on target, chance would show this at most once in 19 years | Counted: 100 answers in 1h"
        ),
    ),
    "sequential, nothing yet": (
        lambda: looked_at(Sequential(target=parse_target(0.06)), negative(), share(1, 100), share(1, 100)),
        "negative answers: 1.0 %, target 6.0 %",
        (
            "Negative answers: 1.0 % | With 95 % confidence: 0.18 % to 5.4 % | Target: 6.0 % | "
            "Evidence: None that the rate is above its target | Counted: 100 answers in 1h"
        ),
    ),
    "change": (
        lambda: looked_at(Change(), negative(), share(60, 300), *[share(12, 300)] * 12),
        "negative answers: 20.0 %, fires above 6.0 %",
        (
            "Negative answers: 20.0 % | With 95 % confidence: 15.9 % to 24.9 % | Fires above: 6.0 % | Compared with: "
            "4.0 % at the same hours of earlier weeks; chance alone would show this in one look of 1,000,000 | "
            "Counted: 300 answers in 1h"
        ),
    ),
    "change without a past": (
        lambda: looked_at(Change(), negative(), share(60, 300), *[share(12, 300)] * 3, *[share(0, 0)] * 9),
        "negative answers: 20.0 %, usual level not known yet",
        (
            "Negative answers: 20.0 % | With 95 % confidence: 15.9 % to 24.9 % | Usual level: not known yet | "
            "Compared with: Only 1 of the last 4 weeks, too few, have enough answers at these hours | "
            "Counted: 300 answers in 1h"
        ),
    ),
    "absence": (
        lambda: replace(
            looked_at(
                Absence(),
                Signal(kind=SignalKind.NO_DATA),
                *(share(0, 0), share(0, 480), share(0, 24), share(0, 480)),
            ),
            quiet_since=at(-3),
        ),
        "no answers since 2025-11-21 11:57 UTC, about 24 in 15m expected",
        "Answers: none | Expected: about 24 in 15m | No answers since: 2025-11-21 11:57 UTC",
    ),
    "shift": (
        shifted,
        "answers that look as made up as the worst tenth used to: 84.0 %, usually 10.0 %",
        (
            "Answers that look as made up as the worst tenth used to: 84.0 % | "
            "With 95 % confidence: 74.5 % to 90.4 % | Usually: 10.0 % | "
            "Evidence: Worse since about 2025-11-21 12:00 UTC than the 1,999 answers before; "
            "chance alone would show this at most once in 58 years | Answers since the change: 81"
        ),
    ),
    "rate": (
        lambda: looked_at(Rate(above=0.1), Signal(kind=TRUE, name="self_generated"), Count(), labelled=LABELLED),
        "self-generated answers, as people labelled them: 14.2 %, fires above 10.0 %",
        (
            "Self-generated answers, as people labelled them: 14.2 % | With 95 % confidence: 11.0 % to 18.0 % | "
            "Fires above: 10.0 % | Labels: 210 answers of 2025-11-07 to 2025-11-14, by plan 3"
        ),
    ),
    "rate without labels": (
        lambda: looked_at(Rate(above=0.1), Signal(kind=TRUE, name="self_generated"), Count()),
        "no labels to judge",
        (
            "Self-generated answers, as people labelled them: unknown | Fires above: 10.0 % | "
            "Labels: No period that ended in the last 5 weeks has labels"
        ),
    ),
    "without traffic": (
        lambda: a_notified_alert(samples=0, quiet_since=at(-3)),
        "no answers since 2025-11-21 11:57 UTC; before that, negative answers: 38.2 %, fires above 30.0 %",
        (
            "Negative answers: 38.2 % | With 95 % confidence: 28.5 % to 48.9 % | Fires above: 30.0 % | "
            "No answers since: 2025-11-21 11:57 UTC"
        ),
    ),
    "no data": (
        lambda: a_notified_alert(status="no_data", value=None, samples=0),
        "no answers to judge",
        "Negative answers: unknown | Fires above: 30.0 % | Counted: 0 answers in 5m",
    ),
    "nothing is read": (
        lambda: a_notified_alert(status="no_data", signal="lag", unit="seconds", value=None, window=timedelta()),
        "nothing is being read",
        "Reading is behind by: unknown | Fires above: 300ms",
    ),
    "error": (
        lambda: a_notified_alert(status="error", value=None, detail="the rule cannot be evaluated: no such rate"),
        "the rule cannot be evaluated, so nobody is watching",
        "Why: The rule cannot be evaluated: no such rate",
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_an_alert_reads_like_this(name):
    make, phrase, figures = SENTENCES[name]
    alert = make()
    assert figure(alert) == phrase
    shown = [(fact, value) for fact, value in facts(alert) if fact not in {"Started", "Breaching since"}]
    assert " | ".join(f"{fact}: {value}" for fact, value in shown) == figures


@pytest.mark.parametrize("signal", SIGNALS, ids=str)
def test_no_signal_shows_its_code(signal):
    phrase = signal_words(str(signal))
    assert phrase[0].islower() or phrase.startswith("SD")
    assert not re.search(r"_|\bof negative\b|\boff\b|\bNone\b", phrase)
    assert len(phrase) <= 100
    assert str(signal) not in render(a_notification(alerts=(a_notified_alert(signal=str(signal)),)))


def test_no_two_signals_read_alike():
    assert len({signal_words(str(signal)) for signal in SIGNALS}) == len(SIGNALS)


@pytest.mark.parametrize("name", RATES)
def test_every_rate_has_words(name):
    assert "answers" in words(name) or words(name) == "refusals"
    assert "answers with" not in words(name) or name == "missing_fact"


def test_what_a_later_release_measures_is_shown_as_far_as_it_is_known():
    assert signal_words("rate of new_reason") == "answers with new reason"
    assert signal_words("warp_speed") == "warp speed"


@pytest.mark.parametrize(
    ("method", "signal", "expected"),
    [
        (Threshold(above=parse_target(0.3)), negative(), "negative answers: above 30.0 %, over 5m, for 2m"),
        (
            Threshold(above=parse_target("max(0.30, baseline + 15pp)")),
            negative(),
            "negative answers: above 30.0 %, or 15 points above the usual level if that is more, over 5m, for 2m",
        ),
        (ABOVE, negative(), "negative answers: above 2 points above the usual level, over 5m, for 2m"),
        (LAG, Signal(kind=SignalKind.LAG), "reading is behind by: more than 5m, for 2m"),
        (
            Threshold(below=0.7),
            Signal(kind=SignalKind.MEAN, name="qrd"),
            "similarity of question and retrieved documents (mean QRD): below 0.7, over 5m, for 2m",
        ),
        (
            BurnRate(allowed=parse_target(0.01)),
            negative(),
            "negative answers: faster than the 1.0 % allowed, 14.4 times in 1h or 6 times in 6h, for 2m",
        ),
        (
            Sequential(target=parse_target("baseline + 1pp")),
            negative("refusal"),
            "refusals: clearly above the target of 1 point above the usual level, for 2m",
        ),
        (
            Change(),
            negative(),
            "negative answers: 2 points above the same hours of earlier weeks, over 1h, for 2m",
        ),
        (
            Absence(),
            Signal(kind=SignalKind.NO_DATA),
            "answers: none in 15m, though 20 or more usually come, for 2m",
        ),
        (
            Shift(),
            Signal(kind=RANKS, name="qrd"),
            (
                "answers whose retrieved documents fit the question as badly as the worst tenth used to: "
                "clearly more than one in ten, for 2m"
            ),
        ),
        (
            Rate(above=0.1),
            Signal(kind=TRUE, name="refusal"),
            "refusals, as people labelled them: surely more than 10.0 %, for 2m",
        ),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_rule_says_when_it_fires(method, signal, expected):
    assert fires_when(a_rule(method=method, signal=signal)) == expected


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


def test_a_sentence_begins_with_a_capital():
    assert capital("negative answers") == "Negative answers"
    assert capital("") == ""


@pytest.mark.parametrize(("value", "shown"), [(1.7e15, "1.7e+15s"), (3e9, "34722d5h20m"), (1e300, "1e+300s")])
def test_a_latency_in_wrong_units_is_told_too(value, shown):
    """Nanoseconds since 1970 for milliseconds: a page that cannot be worded would reach nobody."""
    alert = a_notified_alert(signal="latency of mean", unit="seconds", value=value, lower=value, upper=value, bound=8.0)
    assert figure(alert) == f"time that an answer takes (mean): {shown}, fires above 8s"
    assert shown in render(a_notification(alerts=(alert,)))
