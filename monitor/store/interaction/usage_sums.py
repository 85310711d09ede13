"""The sums of latency, tokens and cost in a row of the rollups.

They are whole numbers, so that taking an answer out leaves exactly what was there before it.
"""

from __future__ import annotations

from monitor.core.figures.latency import LATENCY_BINS, latency_bin
from monitor.core.model import Interaction
from monitor.store.tables.usage import PARTS, QUANTITIES

USAGE_ADDED = tuple(f"{name}_{sums}" for sums in ("count", "sum", "squares") for name in QUANTITIES)
# A larger value counts as this one: no producer can make a sum unreadable. 31 years, or a million of the currency.
_MOST = 10**15


class UsageSums:
    """What the answers of one minute and one set of labels used."""

    __slots__ = ("bins", "counts", "squares", "sums")

    def __init__(self) -> None:
        self.counts = [0] * len(QUANTITIES)
        self.sums = [0] * len(QUANTITIES)
        self.squares = [0] * len(QUANTITIES)
        self.bins: list[int] | None = None

    def add(self, it: Interaction, sign: int) -> None:
        """Adds what an answer used, or takes it out with a `sign` of -1."""
        if it.latency_ms is not None:
            if self.bins is None:
                self.bins = [0] * LATENCY_BINS
            self.bins[latency_bin(it.latency_ms)] += sign
        for place, value in enumerate(_parts(it)):
            if value is not None:
                self.counts[place] += sign
                self.sums[place] += sign * value
                self.squares[place] += sign * value * value

    def values(self) -> tuple[object, ...]:
        """The values of `USAGE_ADDED` and of `LATENCY`, in order."""
        bins = None if self.bins is None else f"{{{','.join(map(str, self.bins))}}}"
        return (*self.counts, *self.sums, *self.squares, bins)


def _parts(it: Interaction) -> tuple[int | None, ...]:
    """What the answer used, in the order of `QUANTITIES`, as whole numbers."""
    read, written = (None, None) if it.usage is None else (it.usage.input, it.usage.output)
    both = None if read is None or written is None else read + written
    latency = None if it.latency_ms is None else _whole(it.latency_ms * (PARTS["latency"] // 1000))
    cost = None if it.cost is None else _whole(it.cost * PARTS["cost"])
    return latency, _capped(read), _capped(written), _capped(both), cost


def _whole(value: float) -> int:
    return round(min(value, float(_MOST)))


def _capped(value: int | None) -> int | None:
    return None if value is None else min(value, _MOST)
