"""Context relevance: the share of the retrieved sentences that the question needs (Es et al., 2023; metrics.md §2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Final

from monitor.assess.judge.inputs import documents, missing, numbered_line, question, undefined
from monitor.assess.judge.metric import Asker, Case, Outcome
from monitor.assess.llm.exchange import Block, Form, load_prompt
from monitor.core.text.sentences import sentence_spans


class Choice(Form):
    """The sentences needed to answer the question, or the statement that the documents do not suffice."""

    needed: list[int]
    insufficient: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence, with the index of its document and its character offsets `[start, end)` there."""

    document: int
    start: int
    end: int
    text: str


PROMPT: Final = load_prompt("monitor.assess.judge", "context_relevance.v1", Choice)


def context_relevance(case: Case, asker: Asker) -> Outcome:
    """Sentences of the documents that the question needs / sentences of the documents.

    0 if the documents do not suffice to answer the question.
    """
    if reason := missing(case, question, documents):
        return undefined(reason)
    sentences = sentences_of(case.documents)
    choice = asker.ask(PROMPT, Block(name="question", text=case.question), sentence_block(sentences))
    return needed_share(sentences, choice.needed, insufficient=choice.insufficient)


def sentences_of(texts: Sequence[str]) -> list[Sentence]:
    """The sentences of all documents, in order; at least one if any document holds more than white space."""
    return [
        Sentence(document=index, start=start, end=end, text=text[start:end])
        for index, text in enumerate(texts)
        for start, end in sentence_spans(text)
    ]


def sentence_block(sentences: Sequence[Sentence]) -> Block:
    """The block `documents`: one sentence per line, numbered from 1 across all documents, each with a heading."""
    lines: list[str] = []
    for index, group in groupby(enumerate(sentences, start=1), lambda pair: pair[1].document):
        lines += [f"Document {index + 1}:", *(numbered_line(n, sentence.text) for n, sentence in group)]
    return Block(name="documents", text="\n".join(lines))


def needed_share(sentences: Sequence[Sentence], needed: Sequence[int], *, insufficient: bool) -> Outcome:
    """Distinct needed sentences / sentences. There must be at least one sentence.

    `incomplete` if a number belongs to no sentence, or if the answer chooses sentences and calls them insufficient, or
    does neither.
    """
    numbers = sorted(set(needed))
    known = all(1 <= number <= len(sentences) for number in numbers)
    if not known or insufficient == bool(numbers):
        return Outcome(
            score=None,
            reason="incomplete",
            parts={"needed": [*needed], "insufficient": insufficient, "total": len(sentences)},
        )
    return Outcome(
        # 0 if the sentences do not suffice: that nothing helpful was retrieved is a result, not a gap
        score=len(numbers) / len(sentences),
        parts={"sentences": [asdict(sentences[n - 1]) for n in numbers], "total": len(sentences)},
    )
