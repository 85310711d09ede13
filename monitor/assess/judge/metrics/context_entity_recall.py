"""Context entity recall: the share of the reference's entities that the documents name (RAGAS; metrics.md §2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from unicodedata import normalize

from monitor.assess.judge.inputs import document_blocks, documents, missing, reference, undefined
from monitor.assess.judge.metric import Asker, Case, Outcome
from monitor.assess.llm.exchange import Block, Form, load_prompt


class Entities(Form):
    """The entities of the reference and of the documents."""

    reference: list[str]
    documents: list[str]


PROMPT: Final = load_prompt("monitor.assess.judge", "context_entity_recall.v1", Entities)


def context_entity_recall(case: Case, asker: Asker) -> Outcome:
    """|E(D) ∩ E(g)| / |E(g)| over the distinct entities E of the documents D and the reference g."""
    if reason := missing(case, documents, reference):
        return undefined(reason)
    blocks = Block(name="reference", text=case.reference or ""), *document_blocks(case)
    entities = asker.ask(PROMPT, *blocks)
    expected = _distinct(entities.reference)
    if not expected:
        return undefined("no_entities")
    named = _distinct(entities.documents)
    found = [entity for key, entity in expected.items() if key in named]
    missed = [entity for key, entity in expected.items() if key not in named]
    return Outcome(score=len(found) / len(expected), parts={"found": [*found], "missed": [*missed]})


def _distinct(entities: Sequence[str]) -> dict[str, str]:
    """The first spelling of each entity, by a key that ignores letter case, white space and encoding."""
    spellings: dict[str, str] = {}
    for entity in entities:
        if key := " ".join(normalize("NFC", normalize("NFC", entity).casefold()).split()):
            spellings.setdefault(key, entity.strip())
    return spellings
