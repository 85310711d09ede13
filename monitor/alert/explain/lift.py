"""Which values go with the bad answers, and whether that is new (metrics.md §6).

Every value with enough answers is compared with all other answers of the window; what passes the false discovery rate
is then held against the baseline, and what another finding explains already is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from monitor.alert.explain.dimensions import Dimension, Rows
from monitor.alert.explain.finding import Finding, Kind, Part, Value
from monitor.core.proportions import Share, adjusted, greater, split_rise, z

FALSE_DISCOVERIES = 0.05  # the rate of them among findings
FEWEST = 10  # answers with a value, and without it, for it to be looked at
FEWEST_SHARE = 0.01  # of the window's answers
MOST_FINDINGS = 5
NEW = 0.1  # of its share in the window: with no more than that in the baseline a value is new
_MORE = 1.25  # times its share before; with less a value has no more traffic worth telling
_CLEAR = 1.645  # standard errors: 5 % one-sided
_COINCIDE = 0.95  # Jaccard index of the rows of two values that are one finding
_RIVALS = 0.8  # of the largest cost: what costs that much is weighed by kind and rate instead
_MATTERS = 0.05  # of the rise; what explains less is no finding
_MOST_CANDIDATES = 60

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A finding with the window's rows that have its value."""

    finding: Finding
    rows: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifts:
    """All that comparing values gives; `looked_at` is how many were compared."""

    found: tuple[Found, ...]
    parts: tuple[Part, ...]
    looked_at: int


def lifts(matches: Bools, before: Bools, dimensions: Sequence[Dimension]) -> Lifts:
    """Findings, most telling first; `matches` and `before` are shape (rows of the window), (rows of the baseline)."""
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
        candidates.append(Found(finding=finding, rows=rows))
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
    """By what changed in share · (rate - elsewhere): the difference (WORSE) or the share (MIX), if either clearly did.

    The change of the product is exactly s̄ Δd + d̄ Δs, with the means over both times.
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
    """Whether so small a share before is none by chance: with the share of now there would have been some answers."""
    return size.rate * total_before >= FEWEST / 2


def _merged(found: Iterable[Found]) -> list[Found]:
    """Values that go with the same rows are one finding, named by all of them."""
    merged: list[Found] = []
    for one in found:
        for place, other in enumerate(merged):
            both = len(np.intersect1d(one.rows, other.rows, assume_unique=True))
            if both >= _COINCIDE * (len(one.rows) + len(other.rows) - both):
                first, second = sorted((other.finding, one.finding), key=lambda f: f.kind is not Kind.NEW)
                values = (*first.values, *second.values)
                merged[place] = replace(other, finding=replace(first, values=values))
                break
        else:
            merged.append(one)
    return merged


def _telling(candidates: Sequence[Found], matches: Bools, rise: float) -> Iterator[Found]:
    """One after the other, each of what those before it do not explain; what is as before comes last."""
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


def _best(rivals: Sequence[Found]) -> Found:
    """Of those that the rate owes most to the new one, and of several the one whose answers are worst."""
    weights = [_weight(c.finding) for c in rivals]
    close = [c for c, weight in zip(rivals, weights, strict=True) if weight >= _RIVALS * max(weights)]
    return max(close, key=lambda c: (c.finding.kind is Kind.NEW, c.finding.rate - c.finding.elsewhere))


def _weight(f: Finding) -> float:
    """What is owed to it, or costs as before; positive."""
    return f.share * (f.rate - f.elsewhere) if f.kind is Kind.AS_BEFORE else f.owed


def _still(candidate: Found, matches: Bools, left: Bools) -> bool:
    """Whether it goes with bad answers also among those that no finding has yet."""
    inside = np.zeros(len(matches), bool)
    inside[candidate.rows] = True
    part, rest = _share(matches[left & inside]), _share(matches[left & ~inside])
    enough = part.total >= FEWEST and rest.total >= FEWEST
    return enough and greater(part, rest) <= FALSE_DISCOVERIES


def _parts(matches: Bools, before: Bools, dimensions: Sequence[Dimension]) -> Iterator[Part]:
    """For each dimension with two groups at least; values with few answers, and none, make up one group together."""
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
