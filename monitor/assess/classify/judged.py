"""Gives a stored assessment the judge's word: its probabilities, and so its verdict, in the light of what it says.

A refusal stays one, and so does an answer without documents or without support: faithfulness says nothing about them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from monitor.assess.classify.profile import Profile, sigmoid
from monitor.assess.classify.verdict import BELOW, metrics_below
from monitor.assess.judge.word import LabelledWord, Says, WordWeights
from monitor.core.model import Metrics, Reason, Verdict

_UNMOVED = frozenset({Reason.NO_DOCUMENTS, Reason.NO_SUPPORT, Reason.EMPTY_ANSWER})
_LEAST = 1e-6  # a probability of 0 or 1 has no log-odds


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """The faithfulness that a judge gave an answer, and what that says: None for nothing."""

    model: str
    score: float
    says: Says | None


def with_word(row: Mapping[str, Any], word: Word, weights: WordWeights, profile: Profile) -> dict[str, Any] | None:
    """The columns of a row of `assessment` that the word changes; None where it changes nothing.

    A second word replaces the first, since both start from the probability without a judge, which the row's evidence
    keeps; one that says nothing takes the first back, and alone changes nothing. `evidence.judge` is `{model, score,
    says, weight, labels, before, turned}`: `weight` is what the word added to the log-odds, from so many `labels`,
    `before` P(self-generated) without it, given that the answer does not refuse, and `turned` how the verdict differs
    from the one without it: 1 *self-generated* instead of *grounded*, -1 the reverse, 0 not at all.
    """
    if row["verdict"] == Verdict.REFUSAL or _UNMOVED & set(row["reasons"]) or not row["evidence"].get("features"):
        return None
    if word.says is None and "judge" not in row["evidence"]:
        return None
    refusal, given = row["p_refusal"], _without_word(row)
    before = row["evidence"].get("judge", {}).get("before", row["p_self_generated"] / (1 - refusal))
    weight = weights.of(word.says)
    made_up = sigmoid(log_odds(before) + weight)
    if not weight:
        verdict = Verdict(given["verdict"])
    else:
        verdict = Verdict.SELF_GENERATED if made_up >= profile.groundedness.threshold else Verdict.GROUNDED
    heard = {
        "model": word.model,
        "score": word.score,
        "says": word.says,
        "weight": round(weight, 6),
        "labels": weights.labels,
        "before": round(before, 6),
        "turned": (verdict is Verdict.SELF_GENERATED) - (given["verdict"] == Verdict.SELF_GENERATED),
    }
    return {
        "verdict": verdict.value,
        "reasons": given["reasons"] if verdict == given["verdict"] else _reasons(row, verdict, profile),
        "p_grounded": (1 - refusal) * (1 - made_up),
        "p_self_generated": (1 - refusal) * made_up,
        "evidence": {**row["evidence"], "judge": heard},
    }


def labelled_word(evidence: Mapping[str, Any], label: Verdict) -> LabelledWord:
    """A person's label of an answer whose assessment has the judge's word in it."""
    heard = evidence["judge"]
    made_up = label is Verdict.SELF_GENERATED
    return LabelledWord(log_odds=log_odds(heard["before"]), says=Says(heard["says"]), made_up=made_up)


def log_odds(probability: float) -> float:
    kept = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(kept / (1 - kept))


def _without_word(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row, or the one before its first word that it keeps in `earlier`."""
    while "judge" in row["evidence"] and row.get("earlier"):
        row = row["earlier"]
    return row


def _reasons(row: Mapping[str, Any], verdict: Verdict, profile: Profile) -> list[str]:
    """The reasons of a verdict that the word has turned: for *self-generated* always that the documents lack it."""
    if not verdict.negative:
        return []
    found = [BELOW[name] for name in metrics_below(Metrics(**{name: row[name] for name in BELOW}), profile)]
    if row["evidence"].get("missing"):
        found.append(Reason.MISSING_FACT)
    if row["evidence"]["features"].get("contradictions"):
        found.append(Reason.CONTRADICTS_DOCUMENTS)
    return [reason.value for reason in (*found, Reason.NOT_IN_DOCUMENTS)]
