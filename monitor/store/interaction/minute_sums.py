"""The sums of one minute in a row of the rollups: of verdicts, reasons, diagnoses, similarities, and what answers used.

What answers used is added up in whole numbers, so that taking one out leaves exactly what was there before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from struct import Struct

from monitor.core.diagnosis import Diagnosis
from monitor.core.figures.latency import latency_bin
from monitor.core.model import Assessment, Interaction, Metrics, Reason, Verdict
from monitor.store.tables.interactions import HISTOGRAM_BINS, METRICS
from monitor.store.tables.usage import PARTS, QUANTITIES

COUNTS = ("total", *(v.value for v in Verdict), *(r.value for r in Reason), "heard", *(d.value for d in Diagnosis))
_PLACE = {name: place for place, name in enumerate(COUNTS)}
_REAL = Struct("f")  # the type of a stored similarity
_ROUNDING = 1e-6  # of a bin: more than a REAL falls short of the bin's edge
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
        self.bins: dict[int, int] | None = None

    def add(self, it: Interaction, sign: int) -> None:
        """Adds what an answer used, or takes it out with a `sign` of -1."""
        if it.latency_ms is not None:
            if self.bins is None:
                self.bins = {}
            _count(self.bins, latency_bin(it.latency_ms), sign)
        for place, value in enumerate(_parts(it)):
            if value is not None:
                self.counts[place] += sign
                self.sums[place] += sign * value
                self.squares[place] += sign * value * value

    def values(self) -> tuple[object, ...]:
        """The values of `USAGE_ADDED` and of `LATENCY`, in order."""
        bins = None if self.bins is None else trimmed(self.bins)
        return (*self.counts, *self.sums, *self.squares, bins)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedAssessment:
    """The part of an assessment that the rollup counts.

    `heard` is how the judge's word has turned the verdict: 1 to *self-generated*, -1 to *grounded*, 0 not at all.
    """

    interaction: Interaction
    verdict: Verdict
    reasons: Sequence[Reason]
    metrics: Metrics
    heard: int = 0
    diagnosis: Diagnosis | None = None


class MinuteSums:
    """The sums of one minute and one set of labels."""

    __slots__ = ("bins", "counts", "squares", "sums", "usage")

    def __init__(self) -> None:
        self.counts = [0] * len(COUNTS)
        self.sums = [0.0] * len(METRICS)
        self.squares = [0.0] * len(METRICS)
        self.bins: list[dict[int, int]] = [{} for _ in METRICS]
        self.usage = UsageSums()

    def add(self, assessment: Assessment | CountedAssessment, sign: int = 1) -> None:
        """Adds one assessment, or takes it out with a `sign` of -1; counts values as REAL, so that both cancel out."""
        counts = self.counts
        counts[0] += sign
        counts[_PLACE[assessment.verdict]] += sign
        for reason in assessment.reasons:
            counts[_PLACE[reason]] += sign
        if isinstance(assessment, CountedAssessment):
            counts[_PLACE["heard"]] += sign * assessment.heard
            diagnosis = assessment.diagnosis
        else:
            diagnosis = None if assessment.diagnosis is None else assessment.diagnosis.diagnosis
        if diagnosis is not None:
            counts[_PLACE[diagnosis]] += sign
        m = assessment.metrics
        for place, value in enumerate((m.sdq, m.sdrd, m.sda, m.qrd, m.qa)):
            if value is not None:
                (kept,) = _REAL.unpack(_REAL.pack(value))
                self.sums[place] += sign * kept
                self.squares[place] += sign * kept * kept
                _count(self.bins[place], histogram_bin(kept), sign)
        self.usage.add(assessment.interaction, sign)

    def values(self) -> tuple[object, ...]:
        """The values of the columns after the key, in order; arrays are in Postgres's text form."""
        counted = [sum(bins.values()) for bins in self.bins]
        return (*self.counts, *counted, *self.sums, *map(trimmed, self.bins), *self.usage.values(), *self.squares)


def histogram_bin(value: float) -> int:
    """The bin of a similarity, of equal bins over [-1, 1]; a value rounded past an end counts in the last bin."""
    return min(max(int((value + 1.0) * (HISTOGRAM_BINS / 2) + _ROUNDING), 0), HISTOGRAM_BINS - 1)


def trimmed(bins: Mapping[int, int]) -> str:
    """Counts by their bins, which count from 0, as an array of Postgres from the first bin with a count to the last."""
    filled = [place for place, count in bins.items() if count]
    if not filled:
        return "{}"
    first, last = min(filled), max(filled)
    return f"[{first + 1}:{last + 1}]={{{','.join(str(bins.get(place, 0)) for place in range(first, last + 1))}}}"


def _count(bins: dict[int, int], place: int, sign: int) -> None:
    bins[place] = bins.get(place, 0) + sign


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
