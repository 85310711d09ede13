"""A person's label of an interaction, and what several people together say of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from monitor.core.model import Probabilities, Verdict


class Drawn(StrEnum):
    """Why an interaction was offered to people."""

    MARGIN = "margin"  # its verdict was nearly another one
    RULE = "rule"  # the thesis's rule says otherwise than the profile
    JUDGE = "judge"  # the judge says otherwise than the profile
    RANDOM = "random"  # by chance: only these say how good verdicts are
    CHOSEN = "chosen"  # it was not offered: somebody picked it


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The live assessment of an interaction as it stands when a person labels it."""

    app: str
    id: str
    occurred_at: datetime
    verdict: Verdict
    rule_verdict: Verdict
    probabilities: Probabilities
    profile_hash: str
    drawn: Drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What a person says now of an interaction. `by` names the person."""

    standing: Standing
    label: Verdict
    by: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """The newest label of one person for one interaction, with the verdicts that stood then.

    Of two opinions the one with the higher `number` is the newer. `drawn` is `RANDOM` as soon as the random draw has
    met the interaction, whatever else it was offered for.
    """

    app: str
    id: str
    occurred_at: datetime
    label: Verdict
    by: str
    at: datetime
    number: int
    drawn: Drawn
    verdict: Verdict
    rule_verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Consensus:
    """What people say of one interaction: the newest opinion for it, who is of that opinion, and whether all are."""

    newest: Opinion
    people: tuple[str, ...]
    disputed: bool


def consensus(opinions: Iterable[Opinion]) -> list[Consensus]:
    """One for each interaction, by time, app and id: the label of the majority, of a tie the newest label."""
    by_interaction: dict[tuple[str, str], list[Opinion]] = {}
    for opinion in opinions:
        by_interaction.setdefault((opinion.app, opinion.id), []).append(opinion)
    decided = [_decided(of_one) for of_one in by_interaction.values()]
    return sorted(decided, key=lambda c: (c.newest.occurred_at, c.newest.app, c.newest.id))


def _decided(opinions: list[Opinion]) -> Consensus:
    votes = Counter(opinion.label for opinion in opinions)
    newest = max(opinions, key=lambda opinion: (votes[opinion.label], opinion.number))
    people = tuple(sorted(opinion.by for opinion in opinions if opinion.label is newest.label))
    return Consensus(newest=newest, people=people, disputed=len(votes) > 1)
