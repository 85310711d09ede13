"""From the five similarities and the wording to a verdict with its reasons.

The thesis's rule (Wei 2024, metrics.md §1): negative when any primary metric (SDQ, SDRD, SDA) is below its
threshold; a negative is a refusal when QA is below its threshold too, else self-generated. An undefined metric is
not compared. The verdict looks first for what the similarities cannot see: an empty answer, a full refusal by its
wording, nothing retrieved, no support named.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from monitor.classify.profile import Profile
from monitor.classify.refusal import refusal_kind
from monitor.model import (
    Interaction,
    Match,
    Metrics,
    Origin,
    Probabilities,
    Reason,
    Refusal,
    RefusalKind,
    Support,
    Verdict,
)

PRIMARY = ("sdq", "sdrd", "sda")
BELOW = {
    "sdq": Reason.SUPPORT_OFF_QUESTION,
    "sdrd": Reason.SUPPORT_NOT_RETRIEVED,
    "sda": Reason.ANSWER_OFF_SUPPORT,
    "qrd": Reason.RETRIEVAL_OFF_QUESTION,
    "qa": Reason.ANSWER_OFF_QUESTION,
}
CERTAIN = 6.0  # log-odds of what is seen without any similarity: about 0.998


class Classified(NamedTuple):
    """What `classify` says of one interaction."""

    verdict: Verdict
    rule_verdict: Verdict
    reasons: tuple[Reason, ...]
    refusal: Refusal
    probabilities: Probabilities


def thesis_rule(metrics: Metrics, profile: Profile) -> Verdict:
    """The verdict by the thesis's rule alone."""
    return _by_rule(metrics_below(metrics, profile))


def _by_rule(below: list[str]) -> Verdict:
    if not any(name in below for name in PRIMARY):
        return Verdict.GROUNDED
    return Verdict.REFUSAL if "qa" in below else Verdict.SELF_GENERATED


def metrics_below(metrics: Metrics, profile: Profile) -> list[str]:
    """Names of the defined metrics below their thresholds, in the order of BELOW."""
    return [
        name
        for name, threshold in profile.thresholds
        if (value := getattr(metrics, name)) is not None and value < threshold
    ]


def classify(interaction: Interaction, support: Support, metrics: Metrics, profile: Profile) -> Classified:
    """The verdict of one interaction with its reasons and probabilities.

    SDRD is left out where every supporting document was found word for word in the retrieved ones: then it is known,
    not estimated, that they were retrieved. The thesis's rule has it in all the same.
    """
    rule_verdict = thesis_rule(metrics, profile)
    if support.documents and all(d.start is not None and d.match is not Match.FUZZY for d in support.documents):
        metrics = Metrics(sdq=metrics.sdq, sdrd=None, sda=metrics.sda, qrd=metrics.qrd, qa=metrics.qa)
    below = metrics_below(metrics, profile)
    reasons = [BELOW[name] for name in below]
    documents = any(d.text.strip() for d in interaction.retrieved_documents)
    empty = not interaction.answer.strip()
    kind = RefusalKind.NONE if empty else refusal_kind(interaction.answer)
    if not documents:
        reasons.append(Reason.NO_DOCUMENTS)
    elif not any(d.text.strip() for d in support.documents) and not (empty and support.origin is Origin.EXTRACTIVE):
        reasons.append(Reason.NO_SUPPORT)
    if empty:
        reasons.append(Reason.EMPTY_ANSWER)
    if kind is RefusalKind.FULL:
        reasons.append(Reason.REFUSAL_WORDING)

    refuses = empty or kind is RefusalKind.FULL
    unsupported = Reason.NO_DOCUMENTS in reasons or Reason.NO_SUPPORT in reasons
    if refuses:
        verdict = Verdict.REFUSAL
    elif unsupported:
        verdict = Verdict.REFUSAL if "qa" in below else Verdict.SELF_GENERATED
    else:
        verdict = _by_rule(below)
    if verdict is Verdict.REFUSAL:
        kind = RefusalKind.FULL
    refusal_precision = _sigmoid(CERTAIN) if empty else profile.refusal_precision
    return Classified(
        verdict=verdict,
        rule_verdict=rule_verdict,
        reasons=tuple(reasons) if verdict.negative else (),
        refusal=Refusal(kind=kind, correct=_correct(verdict, documents=documents, below=below)),
        probabilities=_probabilities(metrics, profile, refusal_precision if refuses else None, unsupported=unsupported),
    )


def _correct(verdict: Verdict, *, documents: bool, below: list[str]) -> bool | None:
    """Whether a refusal was right to refuse: the documents are none, or off the question.

    Documents that are on the question may still not hold the answer, so there it cannot be told.
    """
    if verdict is not Verdict.REFUSAL:
        return None
    return True if not documents or "qrd" in below else None


def _probabilities(metrics: Metrics, profile: Profile, refusal: float | None, *, unsupported: bool) -> Probabilities:
    """The distance of the worst primary metric from its threshold, read as log-odds of being negative.

    P(negative) = σ(k · max over primary m of w_m (τ_m − x_m)) and P(refusal | negative) = σ(k · w_QA (τ_QA − QA)): each
    is one half where the rule turns. `refusal` is given where the answer itself says that it refuses.
    """
    rules, k = profile.metrics, profile.steepness
    distances = [
        rule.weight * (rule.threshold - value)
        for rule, value in ((rules.sdq, metrics.sdq), (rules.sdrd, metrics.sdrd), (rules.sda, metrics.sda))
        if value is not None
    ]
    negative = _sigmoid(CERTAIN if unsupported or not distances else k * max(distances))
    if refusal is None:
        off_question = 0.0 if metrics.qa is None else rules.qa.weight * (rules.qa.threshold - metrics.qa)
        refusal = negative * _sigmoid(k * off_question)
        return Probabilities(grounded=1 - negative, refusal=refusal, self_generated=negative - refusal)
    rest = 1 - refusal
    return Probabilities(grounded=rest * (1 - negative), refusal=refusal, self_generated=rest * negative)


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
