"""Interactions of one size for `run.py`: 300 words of context, 150 of answer."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from benchmarks.traffic import SEED, interactions
from monitor.core.model import Document, Interaction
from monitor.core.text.sentences import sentences

CONTEXT_WORDS, ANSWER_WORDS = 300, 150
DATA = Path(os.environ.get("MONITOR_DATA_DIR", "../shared/data"))


def cut(texts: Sequence[str], most: int) -> list[str]:
    """The first `most` words of the texts, in order."""
    found = []
    for text in texts:
        words = text.split()[:most]
        most -= len(words)
        if words:
            found.append(" ".join(words))
    return found


def labelled(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield row["question"], row["answer"], row["retrieved_documents"]


def demo() -> Iterator[tuple[str, str, list[str]]]:
    """Questions of the demo with five passages each, one of them not retrieved; the answer uses all five."""
    random = Random(SEED)
    answers = interactions(3_000)
    passages = sorted({d.text for it in answers for d in it.retrieved_documents})
    for question in sorted({it.question for it in answers}):
        drawn = random.sample(passages, 5)
        pieces = [sentence for passage in drawn for sentence in sentences(passage)]
        yield question, " ".join(random.sample(pieces, len(pieces))), drawn[1:]


def long_enough(count: int) -> tuple[str, list[Interaction]]:
    path = DATA / "dev/longform.jsonl.gz"
    name, rows = (str(path), labelled(path)) if path.exists() else ("the demo's knowledge base", demo())
    found: list[Interaction] = []
    for question, answer, documents in rows:
        enough = len(" ".join(documents).split()) >= CONTEXT_WORDS and len(answer.split()) >= ANSWER_WORDS * 0.9
        if enough and len(found) < count:
            texts = cut(documents, CONTEXT_WORDS)
            found.append(
                Interaction(
                    id=str(len(found)),
                    app="bench",
                    occurred_at=datetime.now(UTC),
                    question=question,
                    answer=cut([answer], ANSWER_WORDS)[0],
                    retrieved_documents=tuple(Document(id=str(n), text=text) for n, text in enumerate(texts)),
                )
            )
    return name, found


def turned(answers: Sequence[Interaction], number: int) -> list[Interaction]:
    """Other answers with the same words, and other questions: the sentences of an answer in another order."""
    found = []
    for it in answers:
        pieces = sentences(it.answer)
        shift = number % max(1, len(pieces))
        found.append(
            replace(
                it,
                question=f"{it.question} ({number})",
                answer=" ".join(pieces[shift:] + pieces[:shift]) + f" {number}",
            )
        )
    return found


def unseen(answers: Sequence[Interaction], number: int) -> list[Interaction]:
    """The interactions with documents that no cache knows: white space is added to their texts."""
    return [
        replace(
            it, retrieved_documents=tuple(replace(d, text=d.text + " " * (number + 1)) for d in it.retrieved_documents)
        )
        for it in answers
    ]
