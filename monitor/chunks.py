r"""What of the retrieved documents is worth giving to the generator: ChunkRAG's filter (2024), for a chatbot to use.

    from monitor import chunks

    context = "\n\n".join(chunk.text for chunk in chunks.filter(question, documents))

The monitor applies the same filter to what was retrieved, and diagnoses with it (docs/quality/diagnosis.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.assess.answer import embedded_model, one_at_a_time
from monitor.assess.chunks.examine import Retrieved, examine
from monitor.assess.chunks.relevance import read_question
from monitor.core.assessment_json import storable
from monitor.core.model import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptChunk:
    """Characters `[start, end)` of the document with the index `document`, from 0; `relevance` is in [0, 1]."""

    document: int
    start: int
    end: int
    text: str
    relevance: float


def filter(question: str, documents: Sequence[str]) -> list[KeptChunk]:  # noqa: A001  the method's word for it
    """The chunks of the documents that are relevant and repeat no earlier one, the best by the hybrid rank first.

    `documents` are in the retriever's order. Empty where no chunk looks relevant: it may still be there in other words,
    so to give the generator all documents then is the safe choice. Uses the embedded model and no language model; the
    first call loads it, which takes a second or two. Any thread may call.

    Raises:
        TypeError: `documents` is one text instead of a list of texts.
        WrongSettings: MONITOR_STATE_DIR, which holds the model's graph, cannot be written.
    """
    if isinstance(documents, str):
        raise TypeError("documents is a list of texts, not one text")
    asked, texts = storable(question), [storable(text) for text in documents]
    with one_at_a_time:
        _, encoder = embedded_model()
        tokens = encoder.encode([asked, *texts])
        sentences = encoder.sentences([asked, *texts])
    found = examine(
        read_question(asked, tokens[0], sentences[0]),
        Retrieved(texts=texts, tokens=tokens[1:], sentences=sentences[1:]),
        Verdict.GROUNDED,  # there is no answer yet, and the diagnosis is not used
        (),
    )
    return [
        KeptChunk(
            document=chunk.document,
            start=chunk.start,
            end=chunk.end,
            text=texts[chunk.document][chunk.start : chunk.end],
            relevance=chunk.relevance,
        )
        for chunk in sorted(found.chunks, key=lambda chunk: chunk.rank)
        if found.kept(chunk)
    ]
