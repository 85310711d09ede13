"""How often verdicts agree with people, week by week, and people with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations

from monitor.core.model import Verdict
from monitor.core.proportions import wilson
from monitor.review.label import Consensus, Drawn, Opinion

ENOUGH = 30  # labels; a share of fewer is shown, and said to be of too few


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Of `total` interactions two raters say the same of `agreeing`; `kappa` is Cohen's, None where it has no value."""

    agreeing: int
    total: int
    kappa: float | None

    @property
    def share(self) -> float | None:
        """In [0, 1]; None of nothing."""
        return self.agreeing / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float]:
        """The share's Wilson interval at 95 %."""
        return wilson(self.agreeing, self.total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """What people said of the answers of one ISO week, as 2026-W07: of those that were drawn at random.

    `disputed` are those of which people say different things, `unlabelled` those drawn that nobody has labelled yet.
    """

    name: str
    verdict: Agreement
    rule: Agreement
    disputed: int
    unlabelled: int

    @property
    def enough(self) -> bool:
        """Whether there are labels enough for the share to mean much."""
        return self.verdict.total >= ENOUGH


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two people, and the interactions of the random sample that both have labelled."""

    people: tuple[str, str]
    agreement: Agreement


def cohens_kappa(pairs: Sequence[tuple[Verdict, Verdict]]) -> float | None:
    """κ = (pₒ − pₑ) / (1 − pₑ): agreement beyond what the two raters' frequencies alone would give.

    None without any pair, and where both always say the same one thing. Source: J. Cohen, A coefficient of agreement
    for nominal scales, Educational and Psychological Measurement 20 (1960), 37–46.
    """
    n = len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    by_chance = sum(first[verdict] * second[verdict] for verdict in Verdict)  # n² · pₑ
    if by_chance == n * n:
        return None
    observed = sum(a is b for a, b in pairs) * n
    return (observed - by_chance) / (n * n - by_chance)


def agreement(pairs: Sequence[tuple[Verdict, Verdict]]) -> Agreement:
    """Of what two raters say of the same interactions."""
    return Agreement(agreeing=sum(a is b for a, b in pairs), total=len(pairs), kappa=cohens_kappa(pairs))


def week_of(moment: datetime) -> str:
    """The ISO week in UTC."""
    year, week, _ = moment.astimezone(UTC).isocalendar()
    return f"{year:04}-W{week:02}"


def first_day(weeks: int, now: datetime) -> datetime:
    """The Monday, 0:00 UTC, with which the last `weeks` ISO weeks begin; the one of `now` is the last of them."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=today.weekday(), weeks=weeks - 1)


def weekly(decided: Iterable[Consensus], unlabelled: Mapping[str, int]) -> list[Week]:
    """Each week that has any, the oldest first; `unlabelled` counts by week. All interactions must be random ones."""
    by_week: dict[str, list[Consensus]] = {name: [] for name in unlabelled}
    for one in decided:
        by_week.setdefault(week_of(one.newest.occurred_at), []).append(one)
    return [summary(name, found, unlabelled.get(name, 0)) for name, found in sorted(by_week.items())]


def summary(name: str, decided: Sequence[Consensus], unlabelled: int) -> Week:
    """The same of any such interactions, under any name."""
    return Week(
        name=name,
        verdict=agreement([(one.newest.verdict, one.newest.label) for one in decided]),
        rule=agreement([(one.newest.rule_verdict, one.newest.label) for one in decided]),
        disputed=sum(one.disputed for one in decided),
        unlabelled=unlabelled,
    )


def between_people(opinions: Iterable[Opinion]) -> list[Pair]:
    """Every two people who have labelled the same interactions of the random sample, by name."""
    by_interaction: dict[tuple[str, str], dict[str, Verdict]] = {}
    for one in opinions:
        if one.drawn is Drawn.RANDOM:
            by_interaction.setdefault((one.app, one.id), {})[one.by] = one.label
    said: dict[tuple[str, str], list[tuple[Verdict, Verdict]]] = {}
    for labels in by_interaction.values():
        for a, b in combinations(sorted(labels), 2):
            said.setdefault((a, b), []).append((labels[a], labels[b]))
    return [Pair(people=people, agreement=agreement(pairs)) for people, pairs in sorted(said.items())]
