"""Finds the values that bad answers have in common, and whether that is new (metrics.md §6).

Every value with enough answers is compared with all other answers of the window. Values that pass the false discovery
rate are then compared with the baseline; values that another finding already explains are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from monitor.alert.explain.dimensions import Dimension, Rows
from monitor.alert.explain.finding import Finding, Kind, Part, Value
from monitor.core.figures.proportions import Share, adjusted, greater, split_rise, z

FALSE_DISCOVERIES = 0.05  # the accepted share of false findings
FEWEST = 10  # answers with a value, and without it; with fewer it is not compared
FEWEST_SHARE = 0.01  # of the window's answers; a rarer value is not compared
MOST_FINDINGS = 5
NEW = 0.1  # of its share in the window: with no larger share in the baseline a value is new
_MORE = 1.25  # times its share before: with less growth the traffic of a value has not shifted
_CLEAR = 1.645  # standard errors: 5 % one-sided
_COINCIDE = 0.95  # Jaccard index from which on the rows of two values make one finding
_RIVALS = 0.8  # of the largest cost: values that cost this much are ranked by kind and rate instead
_MATTERS = 0.05  # of the rise; a value that explains less is no finding
_MOST_CANDIDATES = 60

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A finding with the rows of the window that have its value."""

    finding: Finding
    rows: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifts:
    """The result of comparing values; `looked_at` is the number of compared values."""

    found: tuple[Candidate, ...]
    parts: tuple[Part, ...]
    looked_at: int


def lifts(matches: Bools, before: Bools, dimensions: Sequence[Dimension]) -> Lifts:
    """Findings, most telling first; `matches` has one entry per row of the window, `before` per row of the baseline."""
    whole, was = _share(matches), _share(before)
    compared = [
        (Value(dimension=d.name, value=value), rows, d.earlier(value))
        for d in dimensions
        for value, rows in d.rows.items()
        if _enough(len(rows), whole.total)
    ]
    p = [greater(part := _share(matches[rows]), whole - part) for _, rows, _ in compared]
    q = adjusted(p)
    discoveries = [i for i in np.argsort(p, kind="stable") if q[i] <= FALSE_DISCOVERIES][:_MOST_CANDIDATES]
    candidates = []
    for i in discoveries:
        value, rows, earlier = compared[i]
        part, part_was = _share(matches[rows]), _share(before[earlier])
        finding = _finding(value, part, part_was, whole=whole, was=was, p=p[i], q=float(q[i]))
        candidates.append(Candidate(finding=finding, rows=rows))
    rise = whole.rate - was.rate if was.total else 0.0
    return Lifts(
        found=tuple(_telling(_merged(candidates), matches, rise)),
        parts=tuple(_parts(matches, before, dimensions)) if was.total >= FEWEST else (),
        looked_at=len(compared),
    )


def _share(matches: Bools) -> Share:
    return Share(matching=int(matches.sum()), total=len(matches))


def _enough(with_it: int, total: int) -> bool:
    return with_it >= max(FEWEST, FEWEST_SHARE * total) and total - with_it >= FEWEST


def _finding(value: Value, part: Share, earlier: Share, *, whole: Share, was: Share, p: float, q: float) -> Finding:
    rest, rest_before = whole - part, was - earlier
    share = part.total / whole.total
    share_before = earlier.total / was.total if was.total else 0.0
    cost_before = share_before * (earlier.rate - rest_before.rate) if rest_before.total else 0.0
    return Finding(
        values=(value,),
        kind=_kind(part, rest, earlier, rest_before),
        answers=part.total,
        matching=part.matching,
        rate=part.rate,
        elsewhere=rest.rate,
        lift=part.rate / rest.rate if rest.matching else None,
        share=share,
        before_rate=earlier.rate if earlier.total else None,
        before_elsewhere=rest_before.rate if rest_before.total else None,
        before_share=share_before if was.total else None,
        owed=share * (part.rate - rest.rate) - cost_before,
        p=p,
        q=q,
    )


def _kind(part: Share, rest: Share, earlier: Share, rest_before: Share) -> Kind:
    """The kind by what changed in share · (rate - elsewhere): the difference (WORSE) or the share (MIX), if clearly.

    The change of the product is exactly s̄ Δd + d̄ Δs, with the means over both periods.
    """
    total, total_before = part.total + rest.total, earlier.total + rest_before.total
    if total_before < FEWEST:
        return Kind.UNCOMPARED
    size, size_before = Share(matching=part.total, total=total), Share(matching=earlier.total, total=total_before)
    if size_before.rate <= NEW * size.rate and _expected(size, total_before):
        return Kind.NEW
    if not rest_before.total or not earlier.total:
        return Kind.UNCOMPARED
    gap, gap_before = part.rate - rest.rate, earlier.rate - rest_before.rate
    spread = (part.variance, rest.variance, earlier.variance, rest_before.variance)
    worse = z(gap - gap_before, *spread) > _CLEAR
    grown = z(size.rate - size_before.rate, size.variance, size_before.variance)
    more = grown > _CLEAR and size.rate >= _MORE * size_before.rate
    by_rate = (size.rate + size_before.rate) / 2 * (gap - gap_before)
    by_mix = (gap + gap_before) / 2 * (size.rate - size_before.rate)
    if worse and (by_rate >= by_mix or not more):
        return Kind.WORSE
    return Kind.MIX if more and gap_before > 0 else Kind.AS_BEFORE


def _expected(size: Share, total_before: int) -> bool:
    """Whether the absence before is not due to chance: with today's share there would have been some answers."""
    return size.rate * total_before >= FEWEST / 2


def _merged(found: Iterable[Candidate]) -> list[Candidate]:
    """Merges values with the same rows into one finding, named by all of them."""
    merged: list[Candidate] = []
    for candidate in found:
        for place, other in enumerate(merged):
            both = len(np.intersect1d(candidate.rows, other.rows, assume_unique=True))
            if both >= _COINCIDE * (len(candidate.rows) + len(other.rows) - both):
                first, second = sorted((other.finding, candidate.finding), key=lambda f: f.kind is not Kind.NEW)
                values = (*first.values, *second.values)
                merged[place] = replace(other, finding=replace(first, values=values))
                break
        else:
            merged.append(candidate)
    return merged


def _telling(candidates: Sequence[Candidate], matches: Bools, rise: float) -> Iterator[Candidate]:
    """Yields findings that each explain answers which the earlier ones do not; unchanged values come last."""
    left = np.ones(len(matches), bool)
    changed = [c for c in candidates if c.finding.kind is not Kind.AS_BEFORE and _matters(c.finding, rise)]
    same = [c for c in candidates if c.finding.kind is Kind.AS_BEFORE]
    for _ in range(MOST_FINDINGS):
        rivals = changed or same
        if not rivals:
            return
        best = _best(rivals)
        yield best
        left[best.rows] = False
        changed, same = ([c for c in group if c is not best and _still(c, matches, left)] for group in (changed, same))


def _matters(finding: Finding, rise: float) -> bool:
    return finding.owed > 0 and (rise <= 0 or finding.owed >= _MATTERS * rise)


def _best(rivals: Sequence[Candidate]) -> Candidate:
    """Among the values with the largest cost, a new value, and of several the one with the worst answers."""
    weights = [_weight(c.finding) for c in rivals]
    close = [c for c, weight in zip(rivals, weights, strict=True) if weight >= _RIVALS * max(weights)]
    return max(close, key=lambda c: (c.finding.kind is Kind.NEW, c.finding.rate - c.finding.elsewhere))


def _weight(f: Finding) -> float:
    """The part of the rise that the value explains, or for an unchanged value its cost; positive."""
    return f.share * (f.rate - f.elsewhere) if f.kind is Kind.AS_BEFORE else f.owed


def _still(candidate: Candidate, matches: Bools, left: Bools) -> bool:
    """Whether the value still has more bad answers among those that no finding explains yet."""
    inside = np.zeros(len(matches), bool)
    inside[candidate.rows] = True
    part, rest = _share(matches[left & inside]), _share(matches[left & ~inside])
    enough = part.total >= FEWEST and rest.total >= FEWEST
    return enough and greater(part, rest) <= FALSE_DISCOVERIES


def _parts(matches: Bools, before: Bools, dimensions: Sequence[Dimension]) -> Iterator[Part]:
    """Splits the rise by each dimension with at least two groups; rare values and no value form one group."""
    for dimension in dimensions:
        if not dimension.single:
            continue
        kept = [v for v, rows in dimension.rows.items() if len(rows) + len(dimension.earlier(v)) >= 2 * FEWEST]
        now = [_share(matches[dimension.rows[value]]) for value in kept]
        was = [_share(before[dimension.earlier(value)]) for value in kept]
        for side, all_of_them in ((now, matches), (was, before)):
            side.append(_share(all_of_them) - _sum(side))
        if len(kept) > 1 or now[-1].total:
            new, within, mix = split_rise(now, was)
            yield Part(dimension=dimension.name, new=new, within=within, mix=mix)


def _sum(shares: Sequence[Share]) -> Share:
    return Share(matching=sum(s.matching for s in shares), total=sum(s.total for s in shares))
