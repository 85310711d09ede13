"""Derives the verdict with its reasons from the evidence.

First come the cases that need no feature: an empty answer, a full refusal by its wording (unless the answer goes on to
say something that the documents carry), an answer that states nothing, no retrieved documents, no support. Then comes
groundedness: the profile's probability that something in the answer is self-generated, from the sentences that state
something. The study's rule (Wei 2024, metrics.md §1) is computed as well, for comparison: negative when any primary
metric (SDQ, SDRD, SDA) is below its threshold; a negative is a refusal when QA is also below its threshold, else
self-generated. An undefined metric is not compared.
"""

from __future__ import annotations

from typing import NamedTuple

from monitor.assess.classify.profile import Profile, sigmoid
from monitor.assess.classify.refusal import Reading, Role
from monitor.core.evidence import Evidence
from monitor.core.model import (
    Interaction,
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
LEAST_ANSWER = 6  # words after a refusal that may be an answer
CARRIED = -0.25  # the grounding of such words from which on the documents carry them; the median of good long answers
WELL_CARRIED = 0.8  # the score from which on a passage carries its sentence (see monitor/assess/explain.py)
STATES_NOTHING = -1.0  # log-odds for an answer without a statement to check: not flagged, but not sure (.27)
CERTAIN = 6.0  # log-odds for a case that needs no feature: about 0.998


class Classified(NamedTuple):
    """The result of `classify` for one interaction."""

    verdict: Verdict
    rule_verdict: Verdict
    reasons: tuple[Reason, ...]
    refusal: Refusal
    probabilities: Probabilities


def thesis_rule(metrics: Metrics, profile: Profile) -> Verdict:
    """The verdict of the study's rule alone."""
    below = metrics_below(metrics, profile)
    if not any(name in below for name in PRIMARY):
        return Verdict.GROUNDED
    return Verdict.REFUSAL if "qa" in below else Verdict.SELF_GENERATED


def metrics_below(metrics: Metrics, profile: Profile) -> list[str]:
    """The names of the defined metrics below their thresholds, in the order of BELOW."""
    return [
        name
        for name, threshold in profile.thresholds
        if (value := getattr(metrics, name)) is not None and value < threshold
    ]


def classify(
    interaction: Interaction,
    support: Support,
    metrics: Metrics,
    reading: Reading,
    evidence: Evidence,
    *,
    profile: Profile,
) -> Classified:
    below = metrics_below(metrics, profile)
    silent = reading.kind is RefusalKind.NONE and bool(reading.sentences) and not _states(reading)
    missing = None if silent else _missing(interaction, support)
    empty = not any(map(str.isprintable, interaction.answer.strip()))
    refuses = empty or (reading.kind is RefusalKind.FULL and not _answers_after_all(reading, evidence))
    kind = RefusalKind.PARTIAL if reading.kind is RefusalKind.FULL and not refuses else reading.kind
    made_up = sigmoid(STATES_NOTHING) if silent else _made_up(missing, evidence, profile)

    if refuses or (missing and "qa" in below):
        verdict = Verdict.REFUSAL
    elif missing or (made_up >= profile.groundedness.threshold and not silent):
        verdict = Verdict.SELF_GENERATED
    else:
        verdict = Verdict.GROUNDED
    if empty:
        refusal = sigmoid(CERTAIN)
    elif refuses:
        refusal = profile.refusal_precision
    else:
        refusal = 0.5 if verdict is Verdict.REFUSAL else profile.refusal_missed
    return Classified(
        verdict=verdict,
        rule_verdict=thesis_rule(metrics, profile),
        reasons=tuple(_reasons(verdict, reading, evidence, below, missing, empty=empty)),
        refusal=Refusal(
            kind=RefusalKind.FULL if verdict is Verdict.REFUSAL else kind,
            correct=_correct(verdict, profile, below, missing, evidence),
        ),
        probabilities=Probabilities(
            grounded=(1 - refusal) * (1 - made_up), refusal=refusal, self_generated=(1 - refusal) * made_up
        ),
    )


def _states(reading: Reading) -> bool:
    """Whether the answer states anything: a greeting does not."""
    return any(s.role is Role.CONTENT for s in reading.sentences)


def _made_up(missing: Reason | None, evidence: Evidence, profile: Profile) -> float:
    """P(self-generated) of an answer that states something and does not refuse; ½ if there is nothing to check."""
    if missing:
        return sigmoid(CERTAIN)
    if evidence.features["grounding"] is None:
        return 0.5
    return profile.groundedness.probability(evidence.features)


def _answers_after_all(reading: Reading, evidence: Evidence) -> bool:
    """Whether an answer worded as a refusal goes on to say enough that the documents carry: then it refuses in part."""
    grounding = evidence.features["grounding"]
    return reading.answered >= LEAST_ANSWER and grounding is not None and grounding >= CARRIED


def _missing(interaction: Interaction, support: Support) -> Reason | None:
    """What the interaction lacks that every grounded answer has."""
    if not any(d.text.strip() for d in interaction.retrieved_documents):
        return Reason.NO_DOCUMENTS
    supported = any(d.text.strip() for d in support.documents)
    support_expected = support.origin is not Origin.EXTRACTIVE or interaction.answer.strip()
    return Reason.NO_SUPPORT if support_expected and not supported else None


def _reasons(
    verdict: Verdict, reading: Reading, evidence: Evidence, below: list[str], missing: Reason | None, *, empty: bool
) -> list[Reason]:
    if not verdict.negative:
        return []
    reasons = [BELOW[name] for name in below]
    if missing:
        reasons.append(missing)
    if verdict is Verdict.SELF_GENERATED and not missing:
        if evidence.missing:
            reasons.append(Reason.MISSING_FACT)
        if evidence.features["contradictions"]:
            reasons.append(Reason.CONTRADICTS_DOCUMENTS)
        if (
            not (evidence.missing or evidence.features["contradictions"])
            or min((pair.score for pair in evidence.alignment), default=0.0) < WELL_CARRIED
        ):
            reasons.append(Reason.NOT_IN_DOCUMENTS)
    if empty:
        reasons.append(Reason.EMPTY_ANSWER)
    elif verdict is Verdict.REFUSAL and reading.kind is RefusalKind.FULL:
        reasons.append(Reason.REFUSAL_WORDING)
    return reasons


def _correct(
    verdict: Verdict, profile: Profile, below: list[str], missing: Reason | None, evidence: Evidence
) -> bool | None:
    """Whether a refusal was right; None if that is unclear.

    It was right if there are no documents or they are off the question. It was wrong if they are on the question and
    hold its words.
    """
    if verdict is not Verdict.REFUSAL:
        return None
    if missing is Reason.NO_DOCUMENTS or "qrd" in below:
        return True
    held = evidence.features["question_held"]
    if held is None:
        return None
    if held >= profile.question_held:
        return False
    return True if held < profile.question_not_held else None
