"""Measures how often verdicts agree with people, week by week, and people with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations

from monitor.core.figures.proportions import wilson
from monitor.core.model import Verdict
from monitor.review.label import Consensus, Drawn, Opinion

ENOUGH = 30  # labels; a share of fewer is shown with a warning


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Two raters give the same label to `agreeing` of `total` interactions; `kappa` is Cohen's, None if undefined."""

    agreeing: int
    total: int
    kappa: float | None

    @property
    def share(self) -> float | None:
        """In [0, 1]; None without interactions."""
        return self.agreeing / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float]:
        """The share's Wilson interval at 95 %."""
        return wilson(self.agreeing, self.total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """Agreement on the randomly drawn answers of one ISO week, such as 2026-W07.

    `disputed` counts interactions that people label differently, `unlabelled` those drawn that have no label yet.
    """

    name: str
    verdict: Agreement
    rule: Agreement
    disputed: int
    unlabelled: int

    @property
    def enough(self) -> bool:
        """Whether there are enough labels for the share to mean much."""
        return self.verdict.total >= ENOUGH


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two people and their agreement on the interactions of the random sample that both have labelled."""

    people: tuple[str, str]
    agreement: Agreement


def cohens_kappa(pairs: Sequence[tuple[Verdict, Verdict]]) -> float | None:
    """κ = (pₒ − pₑ) / (1 − pₑ): agreement beyond what the two raters' label frequencies alone would give.

    None without pairs, and if both raters always give the same single label. Source: J. Cohen, A coefficient of
    agreement for nominal scales, Educational and Psychological Measurement 20 (1960), 37–46.
    """
    n = len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    by_chance = sum(first[verdict] * second[verdict] for verdict in Verdict)  # n² · pₑ
    if by_chance == n * n:
        return None
    observed = sum(a is b for a, b in pairs) * n
    return (observed - by_chance) / (n * n - by_chance)


def agreement(pairs: Sequence[tuple[Verdict, Verdict]]) -> Agreement:
    """The agreement of two raters; each pair is their labels of one interaction."""
    return Agreement(agreeing=sum(a is b for a, b in pairs), total=len(pairs), kappa=cohens_kappa(pairs))


def week_of(moment: datetime) -> str:
    """The ISO week in UTC, such as 2026-W07."""
    year, week, _ = moment.astimezone(UTC).isocalendar()
    return f"{year:04}-W{week:02}"


def first_day(weeks: int, now: datetime) -> datetime:
    """The Monday, 0:00 UTC, on which the last `weeks` ISO weeks begin; the last of them contains `now`."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=today.weekday(), weeks=weeks - 1)


def weekly(decided: Iterable[Consensus], unlabelled: Mapping[str, int]) -> list[Week]:
    """Each week with interactions of the random sample, the oldest first; `unlabelled` counts by week."""
    by_week: dict[str, list[Consensus]] = {name: [] for name in unlabelled}
    for consensus in decided:
        by_week.setdefault(week_of(consensus.newest.occurred_at), []).append(consensus)
    return [summary(name, found, unlabelled.get(name, 0)) for name, found in sorted(by_week.items())]


def summary(name: str, decided: Sequence[Consensus], unlabelled: int) -> Week:
    """The agreement on any interactions of the random sample, under any name."""
    return Week(
        name=name,
        verdict=agreement([(c.newest.verdict, c.newest.label) for c in decided]),
        rule=agreement([(c.newest.rule_verdict, c.newest.label) for c in decided]),
        disputed=sum(c.disputed for c in decided),
        unlabelled=unlabelled,
    )


def between_people(opinions: Iterable[Opinion]) -> list[Pair]:
    """Each two people who have labelled the same interactions of the random sample, sorted by name."""
    by_interaction: dict[tuple[str, str], dict[str, Verdict]] = {}
    for opinion in opinions:
        if opinion.drawn is Drawn.RANDOM:
            by_interaction.setdefault((opinion.app, opinion.id), {})[opinion.by] = opinion.label
    by_people: dict[tuple[str, str], list[tuple[Verdict, Verdict]]] = {}
    for labels in by_interaction.values():
        for a, b in combinations(sorted(labels), 2):
            by_people.setdefault((a, b), []).append((labels[a], labels[b]))
    return [Pair(people=people, agreement=agreement(pairs)) for people, pairs in sorted(by_people.items())]
