"""Labels of interactions by people, and the consensus of several people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from monitor.core.model import Probabilities, Verdict


class Drawn(StrEnum):
    """Why an interaction was offered to people."""

    MARGIN = "margin"  # the answer was rare for its app or, without a reference, the verdict a close call
    RULE = "rule"  # the study's rule disagrees with the profile
    JUDGE = "judge"  # the judge disagrees with the profile
    CLASS = "class"  # by its score it may be of the class that calibration lacks
    PLAN = "plan"  # drawn for the true rate of a period
    RANDOM = "random"  # drawn at random: only these measure how good verdicts are
    CHOSEN = "chosen"  # not offered: a person picked it


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The live assessment of an interaction at the time when a person labels it."""

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
    """A label that a person gives now. `by` names the person."""

    standing: Standing
    label: Verdict
    by: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """The newest label of one person for one interaction, with the verdicts in force when it was given.

    Of two opinions the one with the higher `number` is the newer. `drawn` is `RANDOM` as soon as the random draw has
    reached the interaction, whatever else it was offered for.
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
    """The winning label of an interaction: its newest opinion, the people who share it, and whether others disagree."""

    newest: Opinion
    people: tuple[str, ...]
    disputed: bool


def consensus(opinions: Iterable[Opinion]) -> list[Consensus]:
    """One for each interaction, sorted by time, app and id: the majority's label, or the newest in a tie."""
    by_interaction: dict[tuple[str, str], list[Opinion]] = {}
    for opinion in opinions:
        by_interaction.setdefault((opinion.app, opinion.id), []).append(opinion)
    decided = [_decided(found) for found in by_interaction.values()]
    return sorted(decided, key=lambda c: (c.newest.occurred_at, c.newest.app, c.newest.id))


def _decided(opinions: list[Opinion]) -> Consensus:
    votes = Counter(opinion.label for opinion in opinions)
    newest = max(opinions, key=lambda opinion: (votes[opinion.label], opinion.number))
    people = tuple(sorted(opinion.by for opinion in opinions if opinion.label is newest.label))
    return Consensus(newest=newest, people=people, disputed=len(votes) > 1)
