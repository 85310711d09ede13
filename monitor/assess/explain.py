"""What explains one assessed interaction, from its stored row: the answer's sentences, the refusal, what moved it.

The row is one of `Queries.explained`. A row of an earlier release has no evidence; its sentences are then read and not
compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from monitor.assess.classify.profile import Profile, sigmoid
from monitor.assess.classify.refusal import Role, Sentence, read_answer
from monitor.assess.score.features import FEATURES
from monitor.core.evidence import AlignedSentence, MissingFact
from monitor.core.model import Reason, RefusalKind

# Of the single-sentence answers of dev/attribution and dev/dialogue (1,522; both sets and both labels weighing alike)
# 11 % of those at CARRIED or above are not supported and 87 % of those below PARTLY; between them it is even. For
# tokens of MiniLM; words for people, no verdict rests on them.
CARRIED = 0.8
PARTLY = 0.6
MOST_MOVED = 5  # features shown
LEAST_MOVED = 0.05  # log-odds; less is at most 1.3 % of probability

REASON_WORDS = {
    Reason.SUPPORT_OFF_QUESTION: "the support is not about the question (SDQ below its threshold)",
    Reason.SUPPORT_NOT_RETRIEVED: "the support is not from the retrieved documents (SDRD below its threshold)",
    Reason.ANSWER_OFF_SUPPORT: "the answer goes away from its support (SDA below its threshold)",
    Reason.RETRIEVAL_OFF_QUESTION: "retrieval is off the question (QRD below its threshold)",
    Reason.ANSWER_OFF_QUESTION: "the answer is off the question (QA below its threshold)",
    Reason.NOT_IN_DOCUMENTS: "something in the answer is carried by no retrieved document",
    Reason.MISSING_FACT: "a number, date or name of the answer stands in no document",
    Reason.CONTRADICTS_DOCUMENTS: "a passage says the opposite of a sentence, or another figure",
    Reason.NO_DOCUMENTS: "nothing was retrieved",
    Reason.NO_SUPPORT: "the generator named no supporting document",
    Reason.EMPTY_ANSWER: "the answer is empty",
    Reason.REFUSAL_WORDING: "the answer is worded as a refusal",
}
_CORRECT_WORDS = {
    True: "correct refusal: the documents do not seem to hold what was asked; look at retrieval, or at "
    "what the knowledge base lacks",
    False: "over-refusal: the documents seem to hold what was asked; look at the generator and its prompt",
    None: "whether the documents hold what was asked cannot be told: read them",
}


class Carried(StrEnum):
    """How well the best passage carries a sentence."""

    CARRIED = "carried"
    PARTLY = "partly"
    NOT = "not_carried"

    @classmethod
    def by(cls, score: float) -> Carried:
        """The word for a sentence's score, see CARRIED and PARTLY."""
        return cls.CARRIED if score >= CARRIED else cls.PARTLY if score >= PARTLY else cls.NOT


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSentence:
    """A sentence of the answer with its best passage, if it was compared; all offsets are the answer's.

    `passage` is that passage's text, None where the document is not in the row.
    """

    start: int
    end: int
    role: Role
    cue: tuple[int, int] | None
    pair: AlignedSentence | None
    passage: str | None
    missing: tuple[MissingFact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A feature with its value and what it added to the log-odds of *self-generated*."""

    name: str
    value: float
    log_odds: float


def sentences(row: Mapping[str, Any]) -> list[ReadSentence]:
    """The answer sentence by sentence.

    The wording is read anew, so after a change of the lexicon a sentence may be cut elsewhere than when it was
    compared; it then has the pair that overlaps it most. Where no wording refuses, a refusal that is stored was told by
    closeness, which is not computed anew.
    """
    answer = row["answer"]
    close = Reason.REFUSAL_WORDING in row["reasons"]
    pairs = [AlignedSentence(**pair) for pair in row["evidence"].get("alignment", ())]
    facts = [MissingFact(**fact) for fact in row["evidence"].get("missing", ())]
    documents = [document["text"] for document in row["retrieved_documents"]]
    return [
        ReadSentence(
            start=s.start,
            end=s.end,
            role=s.role,
            cue=s.cue if s.role is Role.REFUSING else None,
            pair=(pair := _overlapping(s, pairs)),
            passage=None
            if pair is None
            else "".join(documents[pair.document : pair.document + 1])[pair.start : pair.end] or None,
            missing=tuple(f for f in facts if s.start <= f.start < s.end),
        )
        for s in read_answer(answer, row["question"], close=close).sentences
    ]


def _overlapping(s: Sentence, pairs: Sequence[AlignedSentence]) -> AlignedSentence | None:
    shared = [(min(s.end, p.answer_end) - max(s.start, p.answer_start), p) for p in pairs]
    best = max(shared, key=lambda found: found[0], default=None)
    return best[1] if best and best[0] > 0 else None


def compared(row: Mapping[str, Any]) -> bool:
    """Whether the row has evidence; those of earlier releases have none."""
    return bool(row["evidence"])


def refusal_words(row: Mapping[str, Any]) -> str | None:
    """What kind of refusal it is and whether it was right, None where it is none."""
    kind = RefusalKind(row["refusal_kind"])
    if kind is RefusalKind.NONE:
        return None
    if kind is RefusalKind.PARTIAL:
        return "in part: some sentences refuse, the others were judged"
    return _CORRECT_WORDS[row["refusal_correct"]]


def moved(row: Mapping[str, Any], profile: Profile | None) -> list[Moved]:
    """What moved the probability of *self-generated* most, the largest first.

    Nothing where no feature was asked (no documents, no support, an empty answer) or the profile is not at hand.
    """
    features = row["evidence"].get("features")
    unasked = {Reason.NO_DOCUMENTS, Reason.NO_SUPPORT, Reason.EMPTY_ANSWER}
    if profile is None or not features or unasked & set(row["reasons"]):
        return []
    found = [
        Moved(name=name, value=features[name], log_odds=added)
        for name, added in profile.groundedness.contributions(features).items()
        if abs(added) >= LEAST_MOVED
    ]
    return sorted(found, key=lambda m: (-abs(m.log_odds), m.name))[:MOST_MOVED]


def start_probability(profile: Profile) -> float:
    """Of *self-generated* before any feature has moved it."""
    return sigmoid(profile.groundedness.bias)


def findings_json(row: Mapping[str, Any], profile: Profile | None) -> dict[str, Any]:
    """All that the panel says beside the row itself, as JSON; features moved and thresholds need the profile."""
    return {
        "sentences": [_sentence_json(row["answer"], s) for s in sentences(row)],
        "reasons": [REASON_WORDS[Reason(reason)] for reason in row["reasons"]],
        "refusal": refusal_words(row),
        "moved": [{**asdict(m), "says": FEATURES[m.name]} for m in moved(row, profile)],
        "thresholds": None if profile is None else dict(_thresholds(profile)),
    }


def _thresholds(profile: Profile) -> Iterator[tuple[str, float]]:
    yield from profile.thresholds
    yield "self_generated", profile.groundedness.threshold


def _sentence_json(answer: str, s: ReadSentence) -> dict[str, Any]:
    pair = s.pair
    return {
        "start": s.start,
        "end": s.end,
        "text": answer[s.start : s.end],
        "role": s.role,
        "cue": None if s.cue is None else {"start": s.cue[0], "end": s.cue[1], "text": answer[slice(*s.cue)]},
        "carried": None if pair is None else Carried.by(pair.score),
        "score": None if pair is None else pair.score,
        "passage": None
        if pair is None
        else {"document_id": pair.document_id, "start": pair.start, "end": pair.end, "text": s.passage},
        "contradicts": pair is not None and pair.contradicts,
        "missing": [asdict(fact) for fact in s.missing],
    }


COLOURS = {"grounded": "green", "refusal": "yellow", "self_generated": "red"}
METRIC_NAMES = {
    "sdq": "supporting documents – question",
    "sdrd": "supporting – retrieved documents",
    "sda": "supporting documents – answer",
    "qrd": "question – retrieved documents",
    "qa": "question – answer",
}
