"""Explains one assessed interaction from its stored row: what to conclude, sentence by sentence, and what moved it.

The row is one of `AssessmentQueries.with_assessments`. A row that an earlier release stored has no evidence: its
sentences are read, but not compared with the documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from monitor.assess.classify.profile import Profile, sigmoid
from monitor.assess.classify.refusal import Role, Sentence, read_answer
from monitor.assess.explain_chunks import diagnosis_advice, diagnosis_named
from monitor.core.evidence import AlignedSentence, MissingFact
from monitor.core.model import Reason, RefusalKind, Verdict

# Measured on the 1,522 single-sentence answers of dev/attribution and dev/dialogue, both sets and both labels weighing
# alike, with the tokens of MiniLM: 11 % of the answers at CARRIED or above are unsupported, 87 % of those below PARTLY
# are, and between the two it is even. They only choose words for people; no verdict rests on them.
CARRIED = 0.8
PARTLY = 0.6
MOST_MOVED = 5  # features shown
LEAST_MOVED = 0.05  # log-odds; less is at most 1.3 % of probability

SURE, FAIRLY_SURE = 0.9, 0.7  # probability of the verdict; they only choose words for people

_CORRECT_WORDS = {
    True: "correct refusal: the documents do not seem to hold the answer",
    False: "over-refusal: the documents seem to hold the answer",
    None: "the documents do not show clearly whether they hold the answer",
}
_REFUSAL_ADVICE = {
    True: "the retriever, then the knowledge base: does it lack what was asked?",
    False: "the generator and its prompt: the documents seem to hold what it needed",
    None: "the retrieved documents: if they hold the answer, check the generator, otherwise the retriever",
}
# In this order: the first reason that is given decides where to look.
_ADVICE = {
    Reason.EMPTY_ANSWER: "the generator: it returned nothing; check its errors and its token limit",
    Reason.NO_DOCUMENTS: "the retriever: check its index and filters, then whether the knowledge base covers this",
    Reason.RETRIEVAL_OFF_QUESTION: "the retriever and the knowledge base; if the documents do answer the question, "
    "look at the generator",
    Reason.CONTRADICTS_DOCUMENTS: "the generator and its prompt; check too that no document is out of date",
    Reason.NO_SUPPORT: "the generator and its prompt: it did not use the retrieved documents",
}
# They say more than a diagnosis of the same part.
_CLOSER_OF_GENERATOR = (Reason.EMPTY_ANSWER, Reason.CONTRADICTS_DOCUMENTS)
_CLOSER_OF_RETRIEVER = (Reason.NO_DOCUMENTS,)
NOTHING_TO_DO = "nothing to do"
_OTHERWISE = "the generator and its prompt: it says more than the documents; if that is true, extend the knowledge base"


COLOURS = {"grounded": "green", "refusal": "yellow", "self_generated": "red"}
METRIC_NAMES = {
    "sdq": "supporting documents – question",
    "sdrd": "supporting – retrieved documents",
    "sda": "supporting documents – answer",
    "qrd": "question – retrieved documents",
    "qa": "question – answer",
}


class Carried(StrEnum):
    """How well the best passage carries a sentence; `by` gives the word for a score."""

    CARRIED = "carried"
    PARTLY = "partly"
    NOT = "not_carried"

    @classmethod
    def by(cls, score: float) -> Carried:
        return cls.CARRIED if score >= CARRIED else cls.PARTLY if score >= PARTLY else cls.NOT


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSentence:
    """A sentence of the answer, with its best passage if it was compared. `start`, `end` and `cue` are in the answer.

    `passage` is the text of that passage, None if the row no longer has the document.
    """

    start: int
    end: int
    role: Role
    cue: tuple[int, int] | None
    pair: AlignedSentence | None
    passage: str | None
    missing: tuple[MissingFact, ...]

    @property
    def contradicted(self) -> bool:
        return self.pair is not None and self.pair.contradicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A feature, its value, and what it added to the log-odds of *self-generated*."""

    name: str
    value: float
    log_odds: float


def sentences(row: Mapping[str, Any]) -> list[ReadSentence]:
    """Reads the answer sentence by sentence.

    The wording is read again: after a change of the lexicon a sentence may be cut elsewhere than when it was compared,
    and then gets the pair that overlaps it most. If no wording refuses, a stored refusal was recognised by closeness,
    which is not computed again.
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
            passage=None if pair is None else _passage(documents, pair),
            missing=tuple(f for f in facts if s.start <= f.start < s.end),
        )
        for s in read_answer(answer, row["question"], documents=documents, close=close).sentences
    ]


def _passage(documents: Sequence[str], pair: AlignedSentence) -> str | None:
    """The text of the passage; None if the document is gone or emptied."""
    if pair.document >= len(documents):
        return None
    return documents[pair.document][pair.start : pair.end] or None


def _overlapping(s: Sentence, pairs: Sequence[AlignedSentence]) -> AlignedSentence | None:
    shared = [(min(s.end, p.answer_end) - max(s.start, p.answer_start), p) for p in pairs]
    best = max(shared, key=lambda found: found[0], default=None)
    return best[1] if best and best[0] > 0 else None


def compared(row: Mapping[str, Any]) -> bool:
    """Whether the sentences were compared with the documents; rows of earlier releases have no evidence."""
    return bool(row["evidence"])


def certainty(row: Mapping[str, Any]) -> str:
    """How sure the verdict is, in words, from its probability."""
    p = row[f"p_{row['verdict']}"]
    return "quite sure" if p >= SURE else "fairly sure" if p >= FAIRLY_SURE else "a close call"


def carrying_summary(found: Sequence[ReadSentence]) -> list[str]:
    """Which sentences the documents support, contradict or do not support, by number from 1, and which facts they lack.

    Sentences that were not compared are left out, so a row of an earlier release gives nothing.
    """
    numbered = [(number, s) for number, s in enumerate(found, 1) if s.pair is not None and s.role is Role.CONTENT]
    held = [(number, s) for number, s in numbered if not s.contradicted]
    by_word = {word: [n for n, s in held if s.pair and Carried.by(s.pair.score) is word] for word in Carried}
    contradicted = [number for number, s in numbered if s.contradicted]
    facts = dict.fromkeys(fact.text for s in found for fact in s.missing)
    lines = [
        ("the documents support", by_word[Carried.CARRIED]),
        ("the documents partly support", by_word[Carried.PARTLY]),
        ("no document supports", by_word[Carried.NOT]),
        ("the documents contradict", contradicted),
    ]
    summary = [f"{words} {_sentence_numbers(numbers)}" for words, numbers in lines if numbers]
    return summary + ([f"in no document: {', '.join(f'“{fact}”' for fact in facts)}"] if facts else [])


def _sentence_numbers(numbers: Sequence[int]) -> str:
    *most, last = map(str, numbers)
    return f"sentences {', '.join(most)} and {last}" if most else f"sentence {last}"


def advice(row: Mapping[str, Any]) -> str:
    """Where to look next, in one line: the retriever, the generator or the knowledge base.

    The diagnosis decides; of the reasons, only one that says more about the same part speaks before it. Without a
    diagnosis the reasons decide.
    """
    verdict, reasons = Verdict(row["verdict"]), {Reason(reason) for reason in row["reasons"]}
    diagnosis, diagnosed = diagnosis_named(row), diagnosis_advice(row)
    if not verdict.negative:
        usual = _advice_when_grounded(row)
        return usual if diagnosed is None else diagnosed if usual == NOTHING_TO_DO else f"{usual}; {diagnosed}"
    if diagnosis is not None and diagnosed is not None:
        closer = _CLOSER_OF_GENERATOR if diagnosis.of_generator else _CLOSER_OF_RETRIEVER
        return next((f"look at {_ADVICE[reason]}" for reason in closer if reason in reasons), diagnosed)
    if verdict is Verdict.REFUSAL and not reasons & {Reason.EMPTY_ANSWER, Reason.NO_DOCUMENTS}:
        return f"look at {_REFUSAL_ADVICE[row['refusal_correct']]}"
    return f"look at {next((words for reason, words in _ADVICE.items() if reason in reasons), _OTHERWISE)}"


def _advice_when_grounded(row: Mapping[str, Any]) -> str:
    found = [s for s in sentences(row) if s.role is Role.CONTENT]
    if any(s.contradicted or s.missing or (s.pair and Carried.by(s.pair.score) is Carried.NOT) for s in found):
        return "read the marked sentences: the answer is grounded on the whole, but not in all it says"
    return NOTHING_TO_DO


def refusal_words(row: Mapping[str, Any]) -> str | None:
    """What kind of refusal the answer is and whether it was right; None if it does not refuse."""
    kind = RefusalKind(row["refusal_kind"])
    if kind is RefusalKind.NONE:
        return None
    if kind is RefusalKind.PARTIAL:
        return "in part: some sentences refuse, the others were judged"
    correct = row["refusal_correct"]
    if (named := diagnosis_named(row)) is not None and correct is not None and named.of_retriever is not correct:
        correct = None  # the chunks say otherwise
    return _CORRECT_WORDS[correct]


def judge_words(row: Mapping[str, Any]) -> str | None:
    """What the judge's word did to the probability; None where the assessment has no word in it."""
    heard = row["evidence"].get("judge")
    if heard is None:
        return None
    now = row["p_self_generated"] / (1 - row["p_refusal"])
    found = heard["says"] or "neither supported nor unsupported"
    return (
        f"{heard['model']} finds it {found} (faithfulness {heard['score']:.2f}): self-generated "
        f"{heard['before']:.0%} without its word, {now:.0%} with it"
    )


def revised_by(row: Mapping[str, Any]) -> str:
    """What happened when the assessment was revised last, such as `the judge answered`."""
    if row.get("replaced_at") is not None and row["replaced_at"] == row["revised_at"]:
        return "more of its trace arrived"
    told = row["evidence"].get("judge")
    judged = told is not None and told != row["earlier"].get("evidence", {}).get("judge")
    return "the judge answered" if judged else "the sidecar answered"


def moved(row: Mapping[str, Any], profile: Profile | None) -> list[Moved]:
    """The features that moved the probability of *self-generated* most, the largest first.

    Empty if no feature was asked (no documents, no support, an answer that is empty or states nothing) or there is no
    profile.
    """
    found = [m for m in all_moved(row, profile) if abs(m.log_odds) >= LEAST_MOVED]
    return sorted(found, key=lambda m: (-abs(m.log_odds), m.name))[:MOST_MOVED]


def all_moved(row: Mapping[str, Any], profile: Profile | None) -> list[Moved]:
    """Every feature that has a value and a weight in the profile; empty as `moved` is."""
    features = row["evidence"].get("features")
    if profile is None or not features or not _asks_features(row, features):
        return []
    contributions = profile.groundedness.contributions(features)
    return [Moved(name=name, value=features[name], log_odds=added) for name, added in contributions.items()]


def _asks_features(row: Mapping[str, Any], features: Mapping[str, float | None]) -> bool:
    """Whether the probability comes from the features; `classify` fixes it for all other answers."""
    if {Reason.NO_DOCUMENTS, Reason.NO_SUPPORT, Reason.EMPTY_ANSWER} & set(row["reasons"]):
        return False
    if features.get("grounding") is None:
        return False
    return row["refusal_kind"] != RefusalKind.NONE or any(s.role is Role.CONTENT for s in sentences(row))


def start_probability(profile: Profile) -> float:
    """The probability of *self-generated* before any feature has moved it."""
    return sigmoid(profile.groundedness.bias)
