"""Documents that support nothing, and those that go together with self-generated answers, as JSON objects."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.core.figures.proportions import Share, adjusted, greater
from monitor.core.model import Json
from monitor.core.text.plain import shortened
from monitor.privacy.masking import redact
from monitor.report.weekly.compare import share, significant
from monitor.report.weekly.facts import DocumentUse, ReadAnswers
from monitor.report.weekly.groups import FALSE_DISCOVERIES, MOST_NAMED
from monitor.report.weekly.operations import name_json

FEWEST_RETRIEVALS = 20  # of a document needed to say anything about it
_FIRST_WORDS = 80  # characters shown


def documents_json(read: ReadAnswers) -> Json:
    """Documents that support nothing, and those that go together with self-generated answers."""
    idle, suspects = _idle(read), _suspects(read)
    return {
        "answers_read": read.answers,
        "answers": read.of,
        "least_retrievals": FEWEST_RETRIEVALS,
        "retrieved_often": len(_often(read)),
        "supporting_nothing": {
            "found": len(idle),
            "documents": [{**_named(d, read), "retrieved": d.compared} for d in idle[:MOST_NAMED]],
        },
        "self_generated": {
            "compared": len(_looked_at(read)),
            "found": len(suspects),
            "documents": [_suspect_json(d, read, q=q) for d, q in suspects[:MOST_NAMED]],
        },
    }


def shown_documents(read: ReadAnswers) -> list[DocumentUse]:
    """Those that `documents_json` names."""
    both = [*_idle(read)[:MOST_NAMED], *(document for document, _ in _suspects(read)[:MOST_NAMED])]
    return list({document.id: document for document in both}.values())


def _often(read: ReadAnswers) -> list[DocumentUse]:
    return [document for document in read.documents if document.compared >= FEWEST_RETRIEVALS]


def _idle(read: ReadAnswers) -> list[DocumentUse]:
    return sorted((d for d in _often(read) if not d.supported), key=lambda d: (-d.compared, d.id))


def _looked_at(read: ReadAnswers) -> list[DocumentUse]:
    return [
        document
        for document in read.documents
        if min(document.answers, read.answers - document.answers) >= FEWEST_RETRIEVALS
    ]


def _suspects(read: ReadAnswers) -> list[tuple[DocumentUse, float]]:
    """Documents whose answers are self-generated more often than the others, with their q, the clearest first."""
    looked_at = _looked_at(read)
    p = [greater(part := _with(document), _whole(read) - part) for document in looked_at]
    q: Sequence[float] = adjusted(p).tolist() if p else ()
    clear = [(d, q[i], p[i]) for i, d in enumerate(looked_at) if q[i] <= FALSE_DISCOVERIES]
    clear.sort(key=lambda entry: (entry[2], -entry[0].answers, entry[0].id))
    return [(document, its_q) for document, its_q, _ in clear]


def _suspect_json(document: DocumentUse, read: ReadAnswers, *, q: float) -> dict[str, Json]:
    part = _with(document)
    rest = _whole(read) - part
    return {
        **_named(document, read),
        "with_it": share(part.matching, part.total),
        "without_it": share(rest.matching, rest.total),
        "lift": round(part.rate / rest.rate, 2) if rest.matching else None,
        "q": significant(q),
    }


def _named(document: DocumentUse, read: ReadAnswers) -> dict[str, Json]:
    """By its id; one without an id of its own with the first words of its text, and the answer they were read from."""
    named: dict[str, Json] = {"document": name_json(document.id)}
    if (beginning := read.beginnings.get(document.id)) is not None:
        named |= {"id": beginning.id, "first_words": shortened(redact(beginning.text), _FIRST_WORDS)}
    return named


def _with(document: DocumentUse) -> Share:
    return Share(matching=document.self_generated, total=document.answers)


def _whole(read: ReadAnswers) -> Share:
    return Share(matching=read.self_generated, total=read.answers)
