"""What a rule measures, and which labels it can be told apart by."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from monitor.core.model import Reason, Verdict

Label: TypeAlias = Literal["app", "environment", "model", "topic", "source"]

ANSWER_LABELS: tuple[Label, ...] = ("app", "environment", "model", "topic")  # those of the answers
INGEST_LABELS: tuple[Label, ...] = ("source",)  # a Kafka topic, or a file
RATES = ("negative", *(verdict.value for verdict in Verdict), *(reason.value for reason in Reason))
MEANS = ("sdq", "sdrd", "sda", "qrd", "qa")


class SignalKind(StrEnum):
    """Kinds of signals, by where their figures come from."""

    RATE = "rate"  # share of the answers that have a verdict or a reason
    MEAN = "mean"  # mean of a similarity over the answers that have it
    NO_DATA = "no_data"  # answers, of which there should be some
    DEAD_LETTERS = "dead_letters"  # share of the messages that became dead letters
    LAG = "lag"  # seconds that reading is behind, now
    LEDGER = "ledger_imbalance"  # partitions whose ledger does not add up, now


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """What is measured. `name` says which rate (one of `RATES`) or mean (one of `MEANS`), else it is empty."""

    kind: SignalKind
    name: str = ""

    @property
    def labels(self) -> tuple[Label, ...]:
        """By which it can be selected and told apart."""
        of_answers = self.kind in (SignalKind.RATE, SignalKind.MEAN, SignalKind.NO_DATA)
        return ANSWER_LABELS if of_answers else INGEST_LABELS

    @property
    def is_share(self) -> bool:
        """Whether it is a share of things counted: a rate between 0 and 1."""
        return self.kind in (SignalKind.RATE, SignalKind.DEAD_LETTERS)

    @property
    def is_momentary(self) -> bool:
        """Whether it is a state of now, which no window is counted for."""
        return self.kind in (SignalKind.LAG, SignalKind.LEDGER)

    def __str__(self) -> str:
        """`rate of negative`, `mean of sda`, `no_data`."""
        return f"{self.kind} of {self.name}" if self.name else self.kind.value
