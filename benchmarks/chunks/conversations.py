"""Conversations for the follow-up benchmark: written by hand, and made by rule from the questions of the shared data.

By rule, a standing question with a named subject becomes two turns: an opening one that names the subject, and the
question with a pronoun in its place. Its document is the one that the question was written for.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from benchmarks.chunks.follow_up_cases import CASES
from benchmarks.labelled import DATA
from monitor.core.model import Document, Interaction

_START = datetime(2025, 11, 21, 12, 0, tzinfo=UTC)
_NAME = r"(?:[A-Z][\w.'-]+(?: (?:of|the|de|von) (?=[A-Z])| (?=[A-Z])|(?=\b)))+"
# A name where a subject stands, after the verb of a question: "When did Martin Luther … ?"
_SUBJECT = re.compile(
    rf"(?<= )(did|does|was|is|were|are|can|has|had) ({_NAME})"
    r"(?= (?!and\b|or\b|of\b)[a-z]+(?:ed|en|e|t|d|n|g|h|y|r|w|k|l|m)?\b)(?! (?:\w+ ){0,1}(?:and|of) [A-Z])"
)
# A product that is not the first part of a longer name: before a mark, a verb or a preposition.
_PRODUCT = re.compile(
    r"\b((?:aws|amazon|ibm|google|azure) (?!account|web|services?|cloud\b)[\w-]+(?: (?:manager|hub|streams|gateway|"
    r"connect|directory|engine|storage|analytics|builder))?)(?=\?| (?:is|are|can|does|do|to|in|on|for|with|from|"
    r"and|work|"
    r"support|use|handle|provide|offer)\b)"
)
_OPENINGS = ("What is known about {}?", "I have a question about {}.", "Can you tell me something about {}?")


class Conversation(NamedTuple):
    """The turns before a question, the question, and a document that is on it; `half` as in the hand-written ones."""

    source: str
    earlier: tuple[str, ...]
    question: str
    document: str
    leans: bool
    half: int
    whole: str | None = None  # the question before it was split in two


def by_hand() -> list[Conversation]:
    return [Conversation("by hand", c.earlier, c.question, c.document, c.leans, c.half) for c in CASES]


def made(most: int) -> list[Conversation]:
    """At most `most` conversations of each source, spread over the file; sources are split in halves by document."""
    rows = [*_spread(_squad(), most), *_spread(_faq(), most)]
    halves = {document: i % 2 for i, document in enumerate(dict.fromkeys(row.document for row in rows))}
    return [row._replace(half=halves[row.document]) for row in rows]


def _spread(rows: Iterator[Conversation], most: int) -> list[Conversation]:
    every = list(rows)
    return every[:: max(1, len(every) // most)][:most]


def _squad() -> Iterator[Conversation]:
    for number, row in enumerate(lines("questions/squad2")):
        if row["answerable"] and (match := _SUBJECT.search(row["question"])):
            name, text = match[2], row["context"]
            said = row["question"]
            follow_up = f"{said[: match.start(2)]}{_pronoun(name, text, match[1])}{said[match.end(2) :]}"
            opening = _OPENINGS[number % len(_OPENINGS)].format(name)
            yield Conversation("squad2", (opening,), follow_up, text, leans=True, half=0, whole=said)


def _faq() -> Iterator[Conversation]:
    for number, row in enumerate(lines("questions/cloud_faq")):
        said = row["question"]
        match = _PRODUCT.search(said)
        if match is None or said.startswith("what is ") or said.count(match[1]) > 1 or len(said) > 120:
            continue
        follow_up = f"{said[: match.start()]}it{said[match.end() :]}"
        opening = _OPENINGS[number % len(_OPENINGS)].format(match[1])
        yield Conversation("cloud_faq", (opening,), follow_up, row["answer"], leans=True, half=0, whole=said)


def _pronoun(name: str, text: str, verb: str) -> str:
    """The pronoun for a name: as the document speaks of it most."""
    if verb in {"were", "are", "do"} or name.endswith("s"):
        return "they"
    words = re.findall(r"\w+", text.lower())
    said = {word: words.count(word) for word in ("he", "she", "it")}
    return max(said, key=lambda word: said[word])


def lines(name: str) -> Iterator[dict[str, Any]]:
    """The rows of a file of the shared data, such as `questions/squad2`."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as rows:
        yield from map(json.loads, rows)


def interactions(conversation: Conversation, number: int, *, document: str | None = None) -> list[Interaction]:
    """The turns as interactions, the question last; `document` instead of its own."""
    said = [*conversation.earlier, conversation.question]
    return [
        Interaction(
            id=f"{number}-{turn}",
            app="benchmark",
            occurred_at=_START + timedelta(minutes=turn),
            conversation_id=str(number),
            turn=turn,
            question=text,
            answer="",
            retrieved_documents=(Document(id="d", text=document or conversation.document),),
        )
        for turn, text in enumerate(said, 1)
    ]


def rotated(found: Sequence[Conversation]) -> list[str]:
    """A document for each conversation that is off its question: that of one half the list away."""
    return [found[(i + len(found) // 2) % len(found)].document for i in range(len(found))]
