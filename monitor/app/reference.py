"""`monitor reference`: which references are in force, and how later answers rank in one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from statistics import NormalDist

import numpy as np

from monitor.assess.reference import ALPHA, LEAST_SCORES, ranks
from monitor.core.errors import WrongSettings
from monitor.core.figures.proportions import CONFIDENCE
from monitor.core.model import Json
from monitor.store.reference.draw import ReferencePeriod
from monitor.store.reference.frozen import FrozenReference
from monitor.store.reference.references import ReferenceStore

QUANTILES = (0.1, 0.5, 0.9, 0.95, 0.99)
COMPARED_AT = (0.01, 0.05, ALPHA)
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


class State(StrEnum):
    """Whether new answers are ranked in a reference."""

    IN_FORCE = "in force"
    REPLACED = "replaced"  # a newer version was frozen
    OTHER_PROFILE = "other profile"  # answers are assessed under another profile: freeze again
    CHANGED = "changed"  # it is not what was frozen, and is not used


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedReference:
    """A reference under the hash by which it is stored."""

    hash: str
    frozen: FrozenReference
    state: State

    def facts(self) -> dict[str, Json]:
        """What is known of it, without its scores, as JSON."""
        return {"hash": self.hash, **self.frozen.facts(), "sha256": self.frozen.sha256, "state": self.state.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareAtRank:
    """The share of the later answers with a rank of at most `rank`, and the 95 % range if nothing has changed.

    Where answers were left out that people labelled self-generated, the range is wider, to hold whatever their ranks.
    """

    rank: float
    share: float
    low: float
    high: float

    @property
    def words(self) -> str:
        if self.share > self.high:
            return "more than chance explains"
        return "fewer than chance explains" if self.share < self.low else "as expected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The scores of a reference beside later ones; `shares` say how the later ones rank in it."""

    earlier: Sequence[float]
    later: Sequence[float]
    shares: Sequence[ShareAtRank]
    left_out: bool  # whether answers that people labelled self-generated are missing on either side


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterScores:
    """Scores of later answers, and how many more were left out because people labelled them self-generated."""

    scores: Sequence[float]
    left_out: float = 0.0


def listed(
    store: ReferenceStore, app: str | None = None, *, profile: tuple[str, str] | None = None
) -> list[ListedReference]:
    """The references (of `app`), the newest version of each app and model first.

    `profile` is hash and embedding model of the profile in force; by default that of each app's newest answer counts.
    """
    found = store.every(app)
    newest: dict[tuple[str, str], int] = {}
    for _, one in found:
        newest.setdefault((one.app, one.model), one.version)
    profiles = {name: profile or store.newest_profile(name) for name in sorted({one.app for _, one in found})}
    return [
        ListedReference(hash=name, frozen=one, state=_state(name, one, newest, profiles[one.app]))
        for name, one in found
    ]


def _state(
    name: str, one: FrozenReference, newest: Mapping[tuple[str, str], int], profile: tuple[str, str] | None
) -> State:
    if one.version < newest[one.app, one.model]:
        return State.REPLACED
    if one.hash != name:
        return State.CHANGED
    fits = profile in {None, (one.profile_hash, one.embedding_model)}
    return State.IN_FORCE if fits else State.OTHER_PROFILE


def chosen(store: ReferenceStore, hash_: str) -> ListedReference:
    """The reference whose hash begins with `hash_`.

    Raises:
        WrongSettings: there is none, or there are several.
    """
    found = [one for one in listed(store) if hash_ and one.hash.startswith(hash_)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise WrongSettings(f"no reference {hash_!r} is stored; `monitor reference list` shows the hashes")
    raise WrongSettings(f"several references begin with {hash_!r}: {', '.join(one.hash for one in found)}")


def later_scores(store: ReferenceStore, of: FrozenReference, period: ReferencePeriod) -> LaterScores:
    """The scores of a later period, of the model and topic of a reference, with what people labelled self-generated.

    Raises:
        WrongSettings: the period has too few answers under the profile of the reference.
    """
    found = store.scores(period, topic=of.topic, profile=(of.profile_hash, of.embedding_model))
    if len(found) < LEAST_SCORES:
        raise WrongSettings(
            f"a comparison needs {LEAST_SCORES} answers, and from {period.since:%Y-%m-%d %H:%M} to "
            f"{period.until:%Y-%m-%d %H:%M} UTC there are {len(found)} under the reference's profile, each wording "
            "counted once. Choose a longer period with --from and --to"
        )
    return LaterScores(scores=found)


def compare(earlier: FrozenReference, later: LaterScores) -> Comparison:
    """Ranks later scores in a reference."""
    found = ranks(np.asarray(earlier.scores, dtype=np.float32), later.scores)
    left_out = left_out_of(earlier)
    shares = _shares(found.tolist(), len(earlier.scores), left_out, later.left_out)
    return Comparison(
        earlier=earlier.scores,
        later=later.scores,
        shares=list(shares),
        left_out=left_out > 0 or later.left_out > 0,
    )


def left_out_of(of: FrozenReference) -> float:
    """How many answers labelled self-generated are left out for the scores that a reference keeps.

    The scores are those of a random part of the usual answers that were drawn, so the same part of the labels counts.
    """
    usual = of.drawn - of.labelled - of.repeated - of.other_profile
    return of.labelled * len(of.scores) / usual if of.labelled else 0.0


def _shares(found: Sequence[float], size: int, left_out: float, later_left_out: float) -> Iterator[ShareAtRank]:
    """The share at each of `COMPARED_AT`, with what is expected of as many answers like those of the reference.

    With k = ⌊α(n + 1)⌋ the probability of a rank ≤ α, over all references of n answers, is Beta(k, n + 1 - k)
    distributed (Vovk, *Conditional validity of inductive conformal predictors*, 2012), so that the share of m answers
    has the mean a = k / (n + 1) and nearly the variance a(1 - a)(1/(n + 2) + 1/m); the range is a normal one.

    Answers that were left out of either side are as usual as the others, only their scores are not known: the range
    reaches from what holds if none of them had such a rank (of the later ones: if all had) to the opposite.
    """
    total, kept = size + left_out, len(found)
    later_total = kept + later_left_out

    def spread(mean: float) -> float:
        return _Z * sqrt(mean * (1 - mean) * (1 / (total + 2) + 1 / later_total))

    for rank in COMPARED_AT:
        k = int(rank * (size + 1) + 1e-9)
        least, most = k / (total + 1), (k + left_out) / (total + 1)
        low = ((least - spread(least)) * later_total - later_left_out) / kept
        high = (most + spread(most)) * later_total / kept
        share = sum(one <= rank + 1e-9 for one in found) / kept
        yield ShareAtRank(rank=rank, share=share, low=max(low, 0.0), high=min(high, 1.0))


def quantiles(scores: Sequence[float]) -> dict[str, float]:
    """The quantiles of scores by name: `0.1`, `0.5`, …."""
    values = np.quantile(scores, QUANTILES).tolist()
    return {f"{q:g}": round(value, 6) for q, value in zip(QUANTILES, values, strict=True)}
