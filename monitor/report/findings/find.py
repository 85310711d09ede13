"""Finds what went wrong in the last of four weeks: all tests together, with a bound on false findings, each cause once.

All slices are tested for outages, rises and levels. The p values of all tests are adjusted together, so that of what
is found at most 5 % is false on average, however the tests depend on each other (Y. Benjamini and D. Yekutieli, The
control of the false discovery rate in multiple testing under dependency, The Annals of Statistics 29 (2001),
1165–1188).

One cause shows in many slices: where one model makes up more, so do all topics and the app as a whole. So the clearest
finding is taken first, its answers are left out, and each other one has to be found again without them, by Bonferroni's
bound over all tests. What rises stands out too, and is named once, as a rise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from monitor.core.figures.proportions import adjusted
from monitor.report.findings.cells import ALL_SIGNALS, DAY, NEGATIVE, OFF_QUESTION, SIGNALS, WHOLE, Bools, Cells
from monitor.report.findings.levels import Level, levels, stands_out
from monitor.report.findings.outages import Outage, outages
from monitor.report.findings.trends import LEAST_RISE, Rise, rises

FALSE_FINDINGS: Final = 0.05
LABELS: Final = (WHOLE, "environment", "model", "topic")
SAMPLED: Final = "prompt_version"  # known from a sample of the rows only, to the day
Candidate: TypeAlias = Outage | Rise | Level
Test: TypeAlias = Callable[[Cells, str, str], Sequence[Candidate]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found, with its `q`: outages, then rises and levels, the clearest first; and the number of tests."""

    findings: tuple[tuple[Candidate, float], ...]
    tests: int


def find(cells: Cells, sampled: Cells) -> Found:
    """The findings. `sampled` has the same labels and `prompt_version`; its hours are first hours of days."""
    tested: list[Candidate] = []
    tests = 0
    for test, label, signal in _tests():
        where = sampled if label == SAMPLED else cells
        tested += test(where, label, signal)
        tests += len(where.slices(label))
    q = false_discoveries([one.p for one in tested], tests)
    clear = [(one, rate) for one, rate in zip(tested, q, strict=True) if rate <= FALSE_FINDINGS and _matters(one)]
    rising = {(one.slice, one.signal) for one, _ in clear if isinstance(one, Rise)}
    clear = [pair for pair in clear if not (isinstance(pair[0], Level) and (pair[0].slice, pair[0].signal) in rising)]
    clear.sort(key=lambda pair: _order(pair[0]))
    return Found(findings=tuple(_each_cause_once(clear, cells, sampled, FALSE_FINDINGS / tests)), tests=tests)


def false_discoveries(p: Sequence[float], tests: int) -> list[float]:
    """The false discovery rate of each p value among so many tests; those that are not listed found nothing."""
    if not p:
        return []
    rates = adjusted([*p, *[1.0] * (tests - len(p))])[: len(p)]
    return [min(1.0, rate) for rate in (rates * (1 / np.arange(1, tests + 1)).sum()).tolist()]


def _tests() -> Iterator[tuple[Test, str, str]]:
    for label in LABELS:
        yield from ((outages, label, signal) for signal in ALL_SIGNALS)
    for label in (*LABELS, SAMPLED):
        yield from ((rises, label, signal) for signal in SIGNALS)
    for label in (*LABELS[1:], SAMPLED):
        yield from ((levels, label, signal) for signal in SIGNALS)


def _test_of(one: Candidate) -> Test:
    tests: Mapping[type, Test] = {Outage: outages, Rise: rises, Level: levels}
    return tests[type(one)]


def _matters(one: Candidate) -> bool:
    match one:
        case Rise():
            return one.size >= LEAST_RISE
        case Level():
            return stands_out(one)
        case Outage():
            return True


def _order(one: Candidate) -> tuple[bool, float]:
    """Outages first, since rises and levels may come of one; each kind by how clear it is."""
    return (False, -one.nats) if isinstance(one, Outage) else (True, -one.t)


def _each_cause_once(
    clear: Sequence[tuple[Candidate, float]], cells: Cells, sampled: Cells, least: float
) -> Iterator[tuple[Candidate, float]]:
    taken: list[Candidate] = []
    for one, q in clear:
        earlier = [other for other in taken if _same_answers(one, other)]
        if not earlier or _again(one, earlier, cells, sampled, least):
            taken.append(one)
            yield one, q


def _again(one: Candidate, earlier: Sequence[Candidate], cells: Cells, sampled: Cells, least: float) -> bool:
    """Whether `one` is found with a p value of `least` without the answers of `earlier`."""
    from_sample = any(other.slice.label == SAMPLED for other in [*earlier, one])
    if from_sample and isinstance(one, Outage):
        return False  # the sample does not know hours
    where = sampled if from_sample else cells
    left = where.where(~np.any([_rows(where, other) for other in earlier], axis=0))
    found = next((it for it in _test_of(one)(left, one.slice.label, one.signal) if it.slice == one.slice), None)
    return found is not None and found.p <= least and _matters(found)


def _same_answers(one: Candidate, other: Candidate) -> bool:
    """Whether `other` may explain `one`: an outage every signal, the others their own signal."""
    overlapping = {one.signal, other.signal} & {NEGATIVE, OFF_QUESTION}
    return isinstance(other, Outage) or one.signal == other.signal or bool(overlapping)


def _rows(cells: Cells, one: Candidate) -> Bools:
    """The rows of the answers that a finding is about."""
    rows = cells.within(one.slice)
    if not isinstance(one, Outage):
        return rows
    last = cells.hour + (DAY if SAMPLED in cells.labels else 1)
    return rows & (cells.hour < one.end) & (last > one.start)
