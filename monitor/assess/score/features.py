"""Computes the features that a profile weighs. Each is a pure function of the interaction, its scores and its tokens.

A new feature takes a line in FEATURES and a value in `gather_evidence`. Profiles made before it do not weigh it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from math import ceil
from typing import Final, NamedTuple

import numpy as np

from monitor.assess.embed.batch import EncodedInteraction
from monitor.assess.embed.tokens import Tokens
from monitor.assess.score.alignment import SentenceAlignment, Source
from monitor.assess.score.alignment_limit import within_reach
from monitor.assess.score.facts import Fact, FactIndex, FactKind, conflicts, facts, not_held, spelled_out
from monitor.assess.score.facts.negation import LONGEST, contradicts
from monitor.assess.score.grounding import CONTRADICTION, NAME, NUMBER, SentenceSupport, grounding
from monitor.assess.score.overlap import overlap
from monitor.core.evidence import AlignedSentence, Evidence, MissingFact
from monitor.core.model import Interaction, Metrics, Support
from monitor.core.text.cache import cached_by_text
from monitor.core.text.sentences import Span, sentence_spans

# A profile belongs to one version. Raise it when a feature comes to mean something else, also by how answers are read,
# so that weights fitted before mislead: every profile that users have fitted is refused then. Rare forms that are read
# better are no such change, while the AUC of each development family stays within .002 (benchmarks/verdicts/run.py).
FEATURES_VERSION: Final = 1
FEATURES: Final = {
    "grounding": "alignment, missing numbers and the worst sentence in one score",
    "aligned": "mean support of the answer's words by the documents",
    "weakest_sentence": "how far the worst sentence is below that mean",
    "more_sentences": "how many sentences n there are: 1 - 1/n",
    "missing_numbers": "numbers and dates that no document holds",
    "missing_names": "names that no document holds",
    "missing_facts": "numbers, dates and names that no document holds, three at most",
    "contradictions": "sentences whose best passage says the opposite, or another figure",
    "content_overlap": "share of content words that the documents hold",
    "new_content_overlap": "share of content words beyond the question's that the documents hold",
    "bigram_overlap": "share of word pairs that the documents hold",
    "quoted": "share of characters quoted from the documents",
    "longest_copy": "longest quotation, as a share of the answer's length",
    "question_held": "mean support of the question's words by the documents",
    "support_elsewhere": "share of supporting documents found in no retrieved document",
    "sdq": "similarity of supporting documents and question",
    "sdrd": "similarity of supporting and retrieved documents",
    "sda": "similarity of supporting documents and answer",
    "qrd": "similarity of question and retrieved documents",
    "qa": "similarity of question and answer",
    "detector": "the configured detector's probability that something is made up",
}

_METRICS: Final = tuple(field.name for field in fields(Metrics))
LIKE: Final = 0.6  # the score from which on a sentence and its passage are about the same thing
MOST_PAIRS = 500  # sentences of an answer whose alignment is stored
MOST_FACTS = 3  # missing facts that count together: a long answer with a table should not be judged by it alone
# These limits keep the work from growing faster than the texts. No event whose texts people wrote reaches them.
MOST_LOOKED_UP = 64  # texts in which facts are looked up one after the other
MOST_CONFLICTS = 16  # facts of a sentence that are compared with its passage
LONGEST_READ = 4_000  # characters of a passage that are read for them


class AnswerPart(NamedTuple):
    """A sentence or clause of the answer, and whether it states something that the documents should carry."""

    start: int
    end: int
    states: bool


def gather_evidence(
    interaction: Interaction,
    support: Support,
    metrics: Metrics,
    encoded: EncodedInteraction,
    sentences: Sequence[AnswerPart],
    *,
    detected: float | None = None,
) -> Evidence:
    """The evidence for the answer: features, alignment and missing facts.

    Args:
        interaction: the question, the documents and the answer.
        support: the supporting documents, located.
        metrics: the five similarities that the profile compares.
        encoded: the tokens of the interaction's texts.
        sentences: the parts of the answer, which hold all of its text. If none states anything, all are examined.
        detected: the detector's probability, if there is a detector.
    """
    answer = interaction.answer
    texts = [d.text for d in interaction.retrieved_documents]
    passages = [passages_of(text) for text in texts]
    longer = max(len(encoded.answer), len(encoded.question))
    reached, compared = within_reach(f"{answer}\n{interaction.question}", longer, texts, encoded.documents, passages)
    source = Source.of(reached, passages)
    stating = [s for s in sentences if s.states] or list(sentences)
    spans = [(s.start, s.end) for s in stating]
    stated, documents = facts(answer), FactIndex.of(_few(texts))
    tokens = _not_spelled(_tokens_of(stating, sentences, encoded.answer), spelled_out(stated, documents), spans)
    aligned = source.align(tokens, spans)
    carried = [(span, a) for span, a in zip(spans, aligned, strict=True) if a is not None]
    source_sentences = {
        passage: _sentences(texts[passage.document][passage.start : passage.end])
        for passage in {a.passage for _, a in carried}
    }
    pairs = [_pair(interaction, span, a, source_sentences[a.passage]) for span, a in carried]
    lacking: list[Fact] = []
    if any(text.strip() for text in texts):
        held = FactIndex(parts=documents.parts + FactIndex.of([interaction.question]).parts)
        lacking = [f for f in not_held(stated, held) if _span_of(f, spans) is not None]
        pairs = _with_conflicts(pairs, lacking, texts)
    row: dict[str, float | None] = {}
    if carried:
        row |= _carried([a for _, a in carried], pairs, lacking)
        row |= _worded(interaction, "\n".join(answer[start:end] for start, end in spans))
    row |= {
        "question_held": source.support(interaction.question, encoded.question),
        "support_elsewhere": _elsewhere(support),
        **{name: getattr(metrics, name) for name in _METRICS},
        "detector": detected,
    }
    return Evidence(
        features={name: row.get(name) for name in FEATURES},
        alignment=_kept(pairs),
        missing=tuple(MissingFact(kind=f.kind, start=f.start, end=f.end, text=f.text) for f in lacking),
        compared=compared,
    )


def _tokens_of(stating: Sequence[AnswerPart], sentences: Sequence[AnswerPart], answer: Tokens) -> Tokens:
    """The tokens of the stating sentences. Without the other tokens, which must not count as their neighbours."""
    if len(stating) == len(sentences):
        return answer
    owners = np.searchsorted([s.start for s in sentences[1:]], answer["start"], side="right")
    return answer[np.isin(owners, [i for i, s in enumerate(sentences) if s.states])]


def _not_spelled(answer: Tokens, words: Iterable[Span], sentences: Sequence[Span]) -> Tokens:
    """The tokens without those of `words`, in which alignment would see only that the documents write them otherwise.

    A sentence that would lose all of its tokens keeps them.
    """
    kept = np.ones(len(answer), bool)
    for start, end in words:
        first, last = np.searchsorted(answer["start"], [start, end])
        kept[first:last] = False
    if kept.all():
        return answer
    owners = np.searchsorted([start for start, _ in sentences], answer["start"], side="right")
    left = np.bincount(owners, weights=kept, minlength=len(sentences) + 1)
    kept |= left[owners] == 0
    remaining: Tokens = answer[kept]
    return remaining


def _carried(
    aligned: Sequence[SentenceAlignment], pairs: Sequence[AlignedSentence], lacking: Sequence[Fact]
) -> dict[str, float | None]:
    """The features from alignment and facts. `pairs` and `aligned` are for the same sentences."""
    found = grounding(
        [
            SentenceSupport(support=a.support, weight=a.weight, rare=a.rare, fault=fault)
            for a, fault in zip(aligned, _faults(pairs, lacking), strict=True)
        ]
    )
    names = sum(f.kind is FactKind.NAME for f in lacking)
    return {
        "grounding": found.score,
        "aligned": found.mean,
        "weakest_sentence": found.weakest,
        "more_sentences": 1 - 1 / len(aligned),
        "missing_numbers": float(len(lacking) - names),
        "missing_names": float(names),
        "missing_facts": float(min(len(lacking), MOST_FACTS)),
        "contradictions": float(sum(pair.contradicts for pair in pairs)),
    }


def _faults(pairs: Sequence[AlignedSentence], lacking: Sequence[Fact]) -> list[float]:
    """The greatest fault of each sentence."""
    found = [CONTRADICTION if pair.contradicts else 0.0 for pair in pairs]
    spans = [(pair.answer_start, pair.answer_end) for pair in pairs]
    for fact in lacking:
        place = _span_of(fact, spans)
        if place is not None:
            found[place] = max(found[place], NAME if fact.kind is FactKind.NAME else NUMBER)
    return found


def _span_of(fact: Fact, spans: Sequence[Span]) -> int | None:
    """The number of the span that holds the fact. The spans are in order and do not overlap."""
    place = bisect_right(spans, fact.start, key=lambda span: span[0]) - 1
    return place if place >= 0 and fact.start < spans[place][1] else None


def _kept(pairs: Sequence[AlignedSentence]) -> tuple[AlignedSentence, ...]:
    """All pairs in order; for a very long answer, only those with the lowest scores."""
    if len(pairs) <= MOST_PAIRS:
        return tuple(pairs)
    worst = sorted(range(len(pairs)), key=lambda i: pairs[i].score)[:MOST_PAIRS]
    return tuple(pairs[i] for i in sorted(worst))


def _worded(interaction: Interaction, answer: str) -> dict[str, float | None]:
    words = overlap(answer, interaction.question, [d.text for d in interaction.retrieved_documents])
    return {
        "content_overlap": words.content,
        "new_content_overlap": words.new_content,
        "bigram_overlap": words.bigrams,
        "quoted": words.quoted,
        "longest_copy": words.copied,
    }


def _few(texts: Sequence[str]) -> Sequence[str]:
    """The texts, joined to no more than MOST_LOOKED_UP, since each fact of the answer is looked up in each of them."""
    size = ceil(len(texts) / MOST_LOOKED_UP)
    return texts if size <= 1 else ["\n\n".join(texts[at : at + size]) for at in range(0, len(texts), size)]


def _read_sentences(passage: str) -> Sequence[str]:
    """The sentences of a passage, as far as `contradicts` reads them."""
    return tuple(passage[start : min(end, start + LONGEST)] for start, end in sentence_spans(passage))


_sentences = cached_by_text(_read_sentences, texts=4_096, longest=LONGEST)  # a document has many passages


def _pair(
    interaction: Interaction, span: Span, a: SentenceAlignment, source_sentences: Sequence[str]
) -> AlignedSentence:
    sentence = interaction.answer[slice(*span)]
    return AlignedSentence(
        answer_start=span[0],
        answer_end=span[1],
        document=a.passage.document,
        document_id=interaction.retrieved_documents[a.passage.document].id,
        start=a.passage.start,
        end=a.passage.end,
        score=a.score,
        contradicts=any(contradicts(sentence, other) for other in source_sentences),
    )


def _with_conflicts(
    pairs: Sequence[AlignedSentence], lacking: Sequence[Fact], texts: Sequence[str]
) -> list[AlignedSentence]:
    """The pairs, marked as contradicting if the passage gives another figure for one that no document holds.

    Of a sentence, the first MOST_CONFLICTS facts count, and of its passage the first LONGEST_READ characters.
    """
    found = list(pairs)
    spans = [(pair.answer_start, pair.answer_end) for pair in pairs]
    tried: Counter[int] = Counter()
    for fact in lacking:
        place = _span_of(fact, spans)
        if place is None or found[place].score < LIKE or found[place].contradicts or tried[place] == MOST_CONFLICTS:
            continue
        pair = found[place]
        tried[place] += 1
        if conflicts(fact, texts[pair.document][pair.start : min(pair.end, pair.start + LONGEST_READ)]):
            found[place] = replace(pair, contradicts=True)
    return found


def _elsewhere(support: Support) -> float | None:
    pieces = [d for d in support.documents if d.text.strip()]
    return sum(d.start is None for d in pieces) / len(pieces) if pieces else None


@cached_by_text
def passages_of(text: str) -> Sequence[Span]:
    return tuple(sentence_spans(text))
