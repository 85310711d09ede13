"""The feature row: what a profile weighs, each value one pure function of the interaction, its scores and tokens.

Adding one is a line in FEATURES, a line in `_row`, and a higher FEATURES_VERSION.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Final, NamedTuple

from monitor.embed.batch import Encoded
from monitor.model import AlignedSentence, Evidence, Interaction, Metrics, MissingFact, Support
from monitor.score.alignment import SentenceAlignment, align
from monitor.score.facts import Fact, FactIndex, FactKind, missing
from monitor.score.facts.negation import contradicts
from monitor.score.overlap import overlap
from monitor.sentences import Span, sentence_spans

FEATURES_VERSION: Final = 1  # raise it with every change of what a feature means: a profile belongs to one version
FEATURES: Final = {
    "grounding": "alignment, missing numbers and the worst sentence in one score",
    "aligned": "mean support of the answer's words by the documents",
    "weakest_sentence": "how far the worst sentence lies below that mean",
    "missing_numbers": "numbers and dates that no document holds",
    "missing_names": "names that no document holds",
    "contradictions": "sentences that contradict their best passage",
    "content_overlap": "share of content words that the documents hold",
    "new_content_overlap": "the same of words that are not in the question",
    "bigram_overlap": "share of word pairs that the documents hold",
    "quoted": "share of characters quoted from the documents",
    "longest_copy": "longest quotation, of the answer's length",
    "question_held": "mean support of the question's words by the documents",
    "support_elsewhere": "share of supporting documents that stand in no retrieved one",
    "sdq": "similarity of supporting documents and question",
    "sdrd": "similarity of supporting and retrieved documents",
    "sda": "similarity of supporting documents and answer",
    "qrd": "similarity of question and retrieved documents",
    "qa": "similarity of question and answer",
    "detector": "the configured detector's probability that something is made up",
}

# The shipped blend, chosen on ../shared/data/dev (docs/verdicts.md says what each part brings).
WORST_SHARE: Final = 0.75  # of the worst sentence's distance
SHRINKAGE: Final = 5.0  # weight of the whole answer that a sentence's mean is drawn towards
TELLING: Final = 2.0  # rare words from which a sentence counts in full
MISSING_IN_ANSWER: Final = 0.025
MISSING_IN_SENTENCE: Final = 0.05

REMEMBERED = 512  # documents whose sentences are kept, at some 100 bytes a sentence:
LONGEST_REMEMBERED = 10_000  # of these at most so many characters


class Judged(NamedTuple):
    """A sentence or clause of the answer, and whether it states something that has to be carried."""

    start: int
    end: int
    states: bool


def evidence(
    interaction: Interaction,
    support: Support,
    metrics: Metrics,
    encoded: Encoded,
    sentences: Sequence[Judged],
    detected: float | None = None,
) -> Evidence:
    """What carries the answer.

    Args:
        interaction: the question, the documents and the answer.
        support: its supporting documents, located.
        metrics: the five similarities that the profile compares.
        encoded: the tokens of the interaction's texts.
        sentences: those of the answer, which hold all of its text; where none states anything, all are judged.
        detected: the detector's probability, where there is one.
    """
    answer = interaction.answer
    texts = [d.text for d in interaction.retrieved_documents]
    passages = [passages_of(text) for text in texts]
    spans = [(s.start, s.end) for s in sentences]
    aligned = align(encoded.answer, spans, encoded.documents, passages)
    judged = [i for i, s in enumerate(sentences) if s.states] or list(range(len(sentences)))
    pairs = [_pair(interaction, spans[i], a) for i in judged if (a := aligned[i]) is not None]
    lacking: list[Fact] = []
    if any(text.strip() for text in texts):
        held = FactIndex.of([*texts, interaction.question])
        lacking = [f for f in missing(answer, held) if any(spans[i][0] <= f.start < spans[i][1] for i in judged)]
    row = _row(
        interaction,
        "\n".join(answer[slice(*spans[i])] for i in judged),
        [(spans[i], a) for i in judged if (a := aligned[i]) is not None],
        lacking,
    )
    row |= {
        "contradictions": float(sum(p.contradicts for p in pairs)) if pairs else None,
        "question_held": _question_held(interaction, encoded, passages),
        "support_elsewhere": _elsewhere(support),
        **asdict(metrics),
        "detector": detected,
    }
    return Evidence(
        features={name: row.get(name) for name in FEATURES},
        alignment=tuple(pairs),
        missing=tuple(MissingFact(kind=f.kind, start=f.start, end=f.end, text=f.text) for f in lacking),
    )


def _row(
    interaction: Interaction,
    answer: str,
    aligned: Sequence[tuple[Span, SentenceAlignment]],
    lacking: Sequence[Fact],
) -> dict[str, float | None]:
    if not aligned:
        return {}
    whole = sum(a.weight for _, a in aligned)
    mean = sum(a.support * a.weight for _, a in aligned) / whole
    numbers = [f for f in lacking if f.kind is not FactKind.NAME]
    weakest, worst = 0.0, 0.0
    for (start, end), a in aligned:
        shrunk = (a.support * a.weight + SHRINKAGE * mean) / (a.weight + SHRINKAGE)
        distance = min(0.0, shrunk - mean) * min(1.0, a.rare / TELLING)
        wrong = any(start <= f.start < end for f in numbers)
        weakest = min(weakest, distance)
        worst = min(worst, distance - MISSING_IN_SENTENCE * wrong)
    words = overlap(answer, interaction.question, [d.text for d in interaction.retrieved_documents])
    return {
        "grounding": mean + WORST_SHARE * worst - MISSING_IN_ANSWER * bool(numbers),
        "aligned": mean,
        "weakest_sentence": weakest,
        "missing_numbers": float(len(numbers)),
        "missing_names": float(len(lacking) - len(numbers)),
        "content_overlap": words.content,
        "new_content_overlap": words.new_content,
        "bigram_overlap": words.bigrams,
        "quoted": words.quoted,
        "longest_copy": words.copied,
    }


def _pair(interaction: Interaction, span: Span, a: SentenceAlignment) -> AlignedSentence:
    document = interaction.retrieved_documents[a.passage.document]
    start, end = a.passage.start, a.passage.end
    return AlignedSentence(
        answer_start=span[0],
        answer_end=span[1],
        document_id=document.id,
        start=start,
        end=end,
        score=a.score,
        contradicts=contradicts(interaction.answer[slice(*span)], document.text[start:end]),
    )


def _question_held(interaction: Interaction, encoded: Encoded, passages: Sequence[Sequence[Span]]) -> float | None:
    (found,) = align(encoded.question, [(0, len(interaction.question))], encoded.documents, passages)
    return None if found is None else found.support


def _elsewhere(support: Support) -> float | None:
    pieces = [d for d in support.documents if d.text.strip()]
    return sum(d.start is None for d in pieces) / len(pieces) if pieces else None


def passages_of(text: str) -> Sequence[Span]:
    """The sentences of a document; documents come again and again, so the last ones are remembered."""
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _spans(text)


def _spans(text: str) -> tuple[Span, ...]:
    return tuple(sentence_spans(text))


_remembered = lru_cache(maxsize=REMEMBERED)(_spans)
