"""The signals that a rule can measure, and the labels that each signal has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Self, TypeAlias, get_args

from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason, Verdict

Label: TypeAlias = Literal["app", "environment", "model", "topic", "source", "probe"]

ANSWER_LABELS: tuple[Label, ...] = ("app", "environment", "model", "topic")
INGEST_LABELS: tuple[Label, ...] = ("source",)  # a Kafka topic, or a file
PROBE_LABELS: tuple[Label, ...] = ("probe", "app", "environment")
LABELS: tuple[Label, ...] = get_args(Label)
RATES = ("negative", *(each.value for kind in (Verdict, Reason, Diagnosis) for each in kind))
MEANS = ("sdq", "sdrd", "sda", "qrd", "qa")
# Quantities of single answers, each with the rate that counts what it shows when it is bad.
RANKED = {
    "score": "self_generated",  # the probability that the answer is self-generated; high is bad
    "refusal": "refusal",  # whether the answer is a refusal
    "sdq": "support_off_question",  # low is bad
    "qrd": "retrieval_off_question",  # low is bad
}
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
SPEND = "spend"
LABELLED = ("negative", "self_generated", "refusal")
SCORES = {"correctness": (1.0, 5.0), "wscore": (0.0, 5.0)}  # of probes: the least and the most that each can be
UNSURE = "unsure"
UNJUDGED = "unjudged"


class SignalKind(StrEnum):
    """Kinds of signals, by the source of their figures."""

    RATE = "rate"  # share of the answers with a given verdict or reason, or of the diagnosed ones with a diagnosis
    MEAN = "mean"  # mean of a similarity over the answers that have it
    RANKS = "ranks"  # how bad single answers are among the earlier ones of their source
    TRUE_RATE = "true_rate"  # share of the answers with a given verdict, as people's labels of a period show it
    PROBE = "probe"  # of the newest run of a probe: a mean score, or the share of questions that came to nothing
    LATENCY = "latency"  # a percentile or the mean of the seconds that answers took
    TOKENS = "tokens"  # mean tokens of an answer
    COST = "cost"  # mean cost of an answer, or the sum of all: both in the currency of the prices
    NO_DATA = "no_data"  # number of answers, of which there should be some
    UNSCORED = "unscored_rate"  # share of the turns that cannot be scored
    DEAD_LETTERS = "dead_letters"  # share of the messages that became dead letters
    LAG = "lag"  # seconds that reading is behind now
    LEDGER = "ledger_imbalance"  # partitions whose ledger does not balance now


COUNTED_SHARES = frozenset({SignalKind.RATE, SignalKind.RANKS, SignalKind.UNSCORED, SignalKind.DEAD_LETTERS})
AMOUNTS = frozenset({SignalKind.LATENCY, SignalKind.TOKENS, SignalKind.COST})  # what answers use up
NAMES: Mapping[SignalKind, tuple[str, ...]] = {
    SignalKind.RATE: RATES,
    SignalKind.MEAN: MEANS,
    SignalKind.RANKS: tuple(RANKED),
    SignalKind.TRUE_RATE: LABELLED,
    SignalKind.PROBE: (*SCORES, UNSURE, UNJUDGED),
    SignalKind.LATENCY: ("mean", *PERCENTILES),
    SignalKind.TOKENS: ("input", "output", "total"),
    SignalKind.COST: ("answer", SPEND),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A measured quantity. `name` is one of `NAMES` of its kind, and empty for a kind without names."""

    kind: SignalKind
    name: str = ""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels by which it can be selected and grouped."""
        if self.kind is SignalKind.TRUE_RATE:
            return ("app",)
        if self.kind is SignalKind.UNSCORED:
            return ("app", "environment")
        if self.is_of_probe:
            return PROBE_LABELS
        of_ingest = (SignalKind.DEAD_LETTERS, SignalKind.LAG, SignalKind.LEDGER)
        return INGEST_LABELS if self.kind in of_ingest else ANSWER_LABELS

    @property
    def is_share(self) -> bool:
        """Whether it is a rate between 0 and 1."""
        of_questions = self.is_of_probe and self.name in {UNSURE, UNJUDGED}
        return self.kind in COUNTED_SHARES or self.kind is SignalKind.TRUE_RATE or of_questions

    @property
    def is_of_probe(self) -> bool:
        """Whether it is a figure of the newest run of a probe."""
        return self.kind is SignalKind.PROBE

    @property
    def is_of_questions(self) -> bool:
        """Whether it is a share of all questions of a run, and not a figure of those answers that were judged."""
        return self.is_of_probe and self.name == UNJUDGED

    @property
    def is_amount(self) -> bool:
        """Whether it is a quantity that answers use up: its unit is that of the quantity, and more of it is worse."""
        return self.kind in AMOUNTS

    @property
    def is_sum(self) -> bool:
        """Whether it is the sum over all answers of a span."""
        return self.kind is SignalKind.COST and self.name == SPEND

    @property
    def percentile(self) -> float | None:
        """The share of the answers that are not above its value, if it is a percentile."""
        return PERCENTILES.get(self.name) if self.kind is SignalKind.LATENCY else None

    @property
    def unit(self) -> Literal["share", "number", "seconds"]:
        """The unit of its values."""
        if self.is_share:
            return "share"
        return "seconds" if self.kind in (SignalKind.LAG, SignalKind.LATENCY) else "number"

    @property
    def is_of_diagnosis(self) -> bool:
        """Whether it is a share of those answers that have a diagnosis; earlier releases stored answers without one."""
        return self.kind is SignalKind.RATE and self.name in set(Diagnosis)

    @property
    def shown_by(self) -> str | None:
        """The name of the rate whose answers are examples of what this signal counts; None if there is none."""
        match self.kind:
            case SignalKind.RATE:
                return self.name
            case SignalKind.RANKS:
                return RANKED[self.name]
        return None

    @property
    def is_momentary(self) -> bool:
        """Whether it is a momentary state, without a window."""
        return self.kind in (SignalKind.LAG, SignalKind.LEDGER, SignalKind.TRUE_RATE, SignalKind.PROBE)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The signal whose `str` is `text`.

        Raises:
            ValueError: this release knows no such signal.
        """
        word, _, name = text.partition(" of ")
        kind = SignalKind(word)
        if name not in NAMES.get(kind, ("",)):
            raise ValueError(f"there is no signal {text!r}")
        return cls(kind=kind, name=name)

    def __str__(self) -> str:
        """`rate of negative`, `mean of sda`, `no_data`."""
        return f"{self.kind} of {self.name}" if self.name else self.kind.value
