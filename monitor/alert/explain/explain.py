"""Explains what changed, from the rows of an alert's window and of its baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from monitor.alert.explain import clusters
from monitor.alert.explain.answer import AnswerRow
from monitor.alert.explain.cause import Cause
from monitor.alert.explain.conclude import conclude, diagnoses_of
from monitor.alert.explain.dimensions import dimensions
from monitor.alert.explain.examples import telling
from monitor.alert.explain.explanation import Explanation
from monitor.alert.explain.finding import Cluster, Finding, Kind, Value
from monitor.alert.explain.keywords import LONGEST_QUESTION
from monitor.alert.explain.lift import lifts
from monitor.core.errors import Fatal, Retriable
from monitor.privacy.masking import redact

Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]  # texts to unit vectors, shape (n, d)

# Questions that are embedded: 300 in all, which take an embedder on the CPU one second.
MOST_FAILING = 200
MOST_OTHERS = 50
MOST_BEFORE = 50


def explain(
    window: Sequence[AnswerRow], baseline: Sequence[AnswerRow], *, signal: str = "negative", embed: Embed | None = None
) -> Explanation:
    """What the matching answers of `window` have in common, compared with `baseline`.

    The same rows give the same explanation, whatever their order. Names, values, words and texts are masked. Without
    `embed`, or while it is out of reach, there are no clusters. No content of the rows makes it raise.
    """
    window, baseline = sorted(window, key=_place), sorted(baseline, key=_place)
    matches, before = (np.array([row.matches for row in rows], bool) for rows in (window, baseline))
    known = dimensions(window, baseline)
    compared = lifts(matches, before, known)
    concluded = conclude(window, baseline, known, lambda texts: _vectors(texts, embed))
    found = _clusters(window, baseline, embed)
    groups = [
        *(each.rows.tolist() for each in compared.found if each.finding.kind is not Kind.AS_BEFORE),
        *(places for _, places in found),
    ]
    return Explanation(
        signal=signal,
        answers=len(window),
        matching=int(matches.sum()),
        before_answers=len(baseline),
        before_matching=int(before.sum()),
        looked_at=compared.looked_at,
        findings=tuple(_masked(each.finding) for each in compared.found),
        parts=tuple(replace(part, dimension=redact(part.dimension)) for part in compared.parts),
        clusters=tuple(cluster for cluster, _ in found),
        diagnoses=diagnoses_of(window, baseline, lambda _: True),
        telling=tuple(telling(window, groups, concluded.shown_by)),
        cause=_named(concluded.cause),
    )


def _named(cause: Cause) -> Cause:
    """The cause as it is stored, masked."""
    return replace(cause, where=_masked_value(cause.where), missing=_masked_value(cause.missing))


def _masked_value(named: Value | None) -> Value | None:
    return None if named is None else Value(dimension=redact(named.dimension), value=redact(named.value))


def _vectors(texts: Sequence[str], embed: Embed | None) -> NDArray[np.float32] | None:
    """None where no embedder is in reach: an explanation is useful without."""
    if embed is None:
        return None
    try:
        return embed(texts)
    except (Retriable, Fatal):
        return None


def _masked(finding: Finding) -> Finding:
    """The finding as it is stored. It is masked last: values that mask alike are still different values."""
    values = [Value(dimension=redact(each.dimension), value=redact(each.value)) for each in finding.values]
    return replace(finding, values=tuple(values))


def _place(row: AnswerRow) -> tuple[int, str, str]:
    """A pseudo-random order that is the same in every process: every prefix of it is an even sample."""
    return crc32(row.id.encode(errors="surrogatepass")), row.app, row.id


def _clusters(
    window: Sequence[AnswerRow], baseline: Sequence[AnswerRow], embed: Embed | None
) -> list[tuple[Cluster, list[int]]]:
    """The clusters, each with the indexes of its answers in the window."""
    failing = [place for place, row in enumerate(window) if row.matches and _asked(row)]
    if len(failing) < clusters.FEWEST:
        return []
    chosen, rest = failing[:MOST_FAILING], failing[MOST_FAILING:]
    good = [question for row in window if not row.matches and (question := _asked(row))]
    earlier = [question for row in baseline if row.matches and (question := _asked(row))][:MOST_BEFORE]
    asked = [_asked(window[place]) for place in chosen]
    texts = [*asked, *good[:MOST_OTHERS], *earlier]
    vectors = _vectors(texts, embed)
    if vectors is None:
        return []
    others = len(asked) + len(good[:MOST_OTHERS])
    found = clusters.clusters(
        asked,
        vectors[: len(asked)],
        others=vectors[len(asked) : others],
        before=vectors[others:],
        background=[*good, *(_asked(window[place]) for place in rest)],
    )
    return [(each.cluster, [chosen[member] for member in each.members]) for each in found]


def _asked(row: AnswerRow) -> str:
    return (row.question or "").strip()[:LONGEST_QUESTION]
