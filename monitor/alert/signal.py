"""The signals that a rule can measure, and the labels that each signal has."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Self, TypeAlias

from monitor.core.model import Reason, Verdict

Label: TypeAlias = Literal["app", "environment", "model", "topic", "source"]

ANSWER_LABELS: tuple[Label, ...] = ("app", "environment", "model", "topic")
INGEST_LABELS: tuple[Label, ...] = ("source",)  # a Kafka topic, or a file
RATES = ("negative", *(verdict.value for verdict in Verdict), *(reason.value for reason in Reason))
MEANS = ("sdq", "sdrd", "sda", "qrd", "qa")


class SignalKind(StrEnum):
    """Kinds of signals, by the source of their figures."""

    RATE = "rate"  # share of the answers with a given verdict or reason
    MEAN = "mean"  # mean of a similarity over the answers that have it
    NO_DATA = "no_data"  # number of answers, of which there should be some
    DEAD_LETTERS = "dead_letters"  # share of the messages that became dead letters
    LAG = "lag"  # seconds that reading is behind now
    LEDGER = "ledger_imbalance"  # partitions whose ledger does not balance now


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A measured quantity. `name` is one of `RATES` for a rate, one of `MEANS` for a mean, and empty otherwise."""

    kind: SignalKind
    name: str = ""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels by which it can be selected and grouped."""
        of_answers = self.kind in (SignalKind.RATE, SignalKind.MEAN, SignalKind.NO_DATA)
        return ANSWER_LABELS if of_answers else INGEST_LABELS

    @property
    def is_share(self) -> bool:
        """Whether it is a rate between 0 and 1."""
        return self.kind in (SignalKind.RATE, SignalKind.DEAD_LETTERS)

    @property
    def is_momentary(self) -> bool:
        """Whether it is a momentary state, without a window."""
        return self.kind in (SignalKind.LAG, SignalKind.LEDGER)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The signal whose `str` is `text`.

        Raises:
            ValueError: this release knows no such signal.
        """
        word, _, name = text.partition(" of ")
        kind = SignalKind(word)
        if name not in {SignalKind.RATE: RATES, SignalKind.MEAN: MEANS}.get(kind, ("",)):
            raise ValueError(f"there is no signal {text!r}")
        return cls(kind=kind, name=name)

    def __str__(self) -> str:
        """`rate of negative`, `mean of sda`, `no_data`."""
        return f"{self.kind} of {self.name}" if self.name else self.kind.value
