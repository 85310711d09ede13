"""The batch that one transaction stores, and the tally of what became of its messages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from monitor.core.message import DeadLetter, Offset
from monitor.core.model import Assessment, Interaction
from monitor.core.trace import Collected


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one transaction stores. `received` counts the messages, and `offsets` say how far the source was read.

    `pending` are interactions that cannot be assessed for now, `unscored` those that never can; `arrived` are the times
    at which the messages were received.
    """

    assessments: tuple[Assessment, ...]
    dead_letters: tuple[DeadLetter, ...]
    received: int
    offsets: tuple[Offset, ...] = ()
    pending: tuple[Interaction, ...] = ()
    unscored: tuple[Interaction, ...] = ()
    collected: tuple[Collected, ...] = ()
    arrived: tuple[datetime, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """A ledger: received = assessed + duplicate + dead + pending + unscored."""

    received: int = 0
    assessed: int = 0
    duplicate: int = 0
    dead: int = 0
    pending: int = 0
    unscored: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            received=self.received + other.received,
            assessed=self.assessed + other.assessed,
            duplicate=self.duplicate + other.duplicate,
            dead=self.dead + other.dead,
            pending=self.pending + other.pending,
            unscored=self.unscored + other.unscored,
        )

    @property
    def balanced(self) -> bool:
        """Whether every received message is accounted for."""
        return self.received == self.assessed + self.duplicate + self.dead + self.pending + self.unscored
