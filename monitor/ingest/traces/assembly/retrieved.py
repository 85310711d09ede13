"""The documents of a turn: what was put before the model, from the step that says it best."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from monitor.core.model import Json
from monitor.ingest.traces.assembly.steps import Steps
from monitor.ingest.traces.conventions.documents import completed, documents_of, merged, squeezed
from monitor.ingest.traces.conventions.kinds import Kind
from monitor.ingest.traces.conventions.messages import messages_of, results_of_turn, text_of
from monitor.ingest.traces.conventions.step import Step
from monitor.ingest.traces.conventions.values import is_plain_text, is_redacted, rescued, understood, walk
from monitor.ingest.traces.turn import TurnDocument

_HANDOFF = re.compile(r"transfer_(?:to|back)|hand_?off|delegate_", re.IGNORECASE)
_CONTEXTS = frozenset({"context", "contexts", "documents", "docs", "passages", "chunks", "snippets"})
_LEAST_CHARS = 20  # of a passage that the prompt repeats: shorter texts are names
_MOST_LOOKED_AT = 20  # lists of one step
_MOST_COMPARED = 200  # passages of one list
_MOST_IN_ALL, _MOST_PROMPT = 2_000, 1_000_000  # passages of all lists, and characters of the prompt that may hold them
_MOST_LOSING = 20  # retrievers that lost documents and get them back: for each, all known documents are gone through


def documents_of_turn(steps: Steps) -> list[TurnDocument] | None:
    """The documents in their order; None if the trace shows no retrieval, or not what it gave."""
    found = _reranked(steps)
    if found is None:
        found = _retrieved(steps)
    if _is_hidden(steps):
        return [d for d in found or () if d.id is not None or d.text is not None] or None
    if found is not None:
        if any(d.id is None or d.text is None or d.score is None for d in found):
            found = completed(found, merged(step.documents or () for step in steps.retrieval_steps))
        if any(d.id is None or d.text is None for d in found):
            found = completed(found, steps.known_documents)
        return found
    known = list(steps.known_documents)
    return _from_tools(steps) or _from_messages(steps) or known or _repeated_in_prompt(steps) or None


def _is_hidden(steps: Steps) -> bool:
    """Whether what was found is redacted where it was found: then it is not read from where it leaks."""
    if steps.hides_documents:
        return True
    silent = not any(step.documents for step in steps.retrieval_steps)
    return silent and any(is_redacted(step.output) for step in (*steps.retrieval_steps, *steps.of(Kind.TOOL)))


def _reranked(steps: Steps) -> list[TurnDocument] | None:
    """What the last reranker gave back, with what those before it gave that did not pass through it."""
    lists: list[Sequence[TurnDocument]] = []
    before: set[str] = set()
    for step in _by_end(steps.topmost(Kind.RERANKER)):
        if step.documents is None or step.failed:
            continue
        keys = {_key(document) for document in step.documents}
        if not keys.isdisjoint(before):
            lists, before = [], set()
        lists.append(step.documents)
        before |= keys
    return merged(lists) if lists else None


def _retrieved(steps: Steps) -> list[TurnDocument] | None:
    """What the outermost retrievers gave back; the inner ones where an outer one does not say."""
    lists: list[Sequence[TurnDocument]] = []
    silent: set[str] = set()
    losing = 0
    for step in steps.topmost(Kind.RETRIEVER, Kind.RERANKER):
        if step.documents is None:
            silent.add(step.span.span_id)
            continue
        losing += step.loses_documents
        lists.append(_with_dropped(step, step.documents, steps) if losing <= _MOST_LOSING else step.documents)
    if silent:
        inner = steps.below(silent)
        found = [s.documents for s in steps.of(Kind.RETRIEVER) if s.span.span_id in inner]
        lists += [documents for documents in found if documents is not None]
    return merged(lists) if lists else None


def _with_dropped(step: Step, documents: Sequence[TurnDocument], steps: Steps) -> Sequence[TurnDocument]:
    """The documents of a retriever that lost some to a limit, with the lost ones where a chain holds them all."""
    if not step.loses_documents:
        return documents
    others = steps.known_documents
    texts = {squeezed(d.text) for d in others if d.text}
    whole = len(others) > len(documents) and all(d.text and squeezed(d.text) in texts for d in documents)
    return completed(others, documents) if whole else documents


def _from_tools(steps: Steps) -> list[TurnDocument]:
    lists = []
    for step in steps.topmost(Kind.TOOL):
        a = step.span.attributes
        name = str(a.get("gen_ai.tool.name") or a.get("tool.name") or a.get("haystack.tool.name") or step.span.name)
        if not step.failed and not _HANDOFF.match(name) and not is_redacted(step.output):
            lists.append(_of_result(step.output, steps))
    return merged(lists)


def _from_messages(steps: Steps) -> list[TurnDocument]:
    given = steps.final.input_messages if steps.final else ()
    results = [m for m in results_of_turn(given) if not _HANDOFF.match(m.name)]
    return merged(_of_result(m.text if m.raw is None else m.raw, steps) for m in results)


def _repeated_in_prompt(steps: Steps) -> list[TurnDocument]:
    """The first list of plain texts that the final prompt repeats whole.

    It is what a step before the call gave back, or what any step was given as context.
    """
    given = steps.final.input_messages if steps.final else ()
    prompt = squeezed(" ".join(m.text for m in given))[:_MOST_PROMPT]
    asked = {m.text for m in given if m.role == "user"}
    compared = 0
    around = {step.span.span_id for step in steps.around}
    for step in steps.of(Kind.CHAIN):
        outputs = [] if step.span.span_id in around else [("", understood(step.output))]
        inputs = ((key, value) for key, value in walk(understood(step.input)) if key in _CONTEXTS)
        for _, value in islice((*outputs, *inputs), _MOST_LOOKED_AT):
            texts = _texts(value)
            compared += len(texts)
            if compared > _MOST_IN_ALL:
                return []
            if texts and all(len(text) >= _LEAST_CHARS and squeezed(text) in prompt for text in texts):
                return [] if asked.issuperset(texts) else [TurnDocument(id=None, text=text) for text in texts]
    return []


def _of_result(value: Json, steps: Steps) -> list[TurnDocument]:
    """The documents in the result of a tool: listed as such, or found in its text, or else the text itself."""
    listed = documents_of(value)
    if listed:
        return listed
    read = rescued(value)
    if isinstance(read, dict) and read.keys() == {"result"}:
        read = understood(read["result"])
    if texts := _texts(read):
        return [TurnDocument(id=None, text=text) for text in texts]
    spoken = messages_of(read, "tool")
    text = "\n".join(m.text for m in spoken if m.text) if spoken else text_of(read)
    if not is_plain_text(text) or is_redacted(text):
        return []
    evened = squeezed(text)
    within = [(evened.find(known), document) for known, document in steps.known_texts]
    found = [d for place, d in sorted(within, key=lambda one: one[0]) if place >= 0]
    return found or [TurnDocument(id=None, text=text)]


def _texts(value: Json) -> list[str]:
    """The passages that a list of plain texts holds; none if it holds anything else."""
    if not isinstance(value, list):
        return []
    texts = [text for text in value if is_plain_text(text)]
    few = len(value) <= _MOST_COMPARED
    return texts if few and len(texts) == len(value) and not any(is_redacted(text) for text in texts) else []


def _by_end(found: Sequence[Step]) -> list[Step]:
    return sorted(found, key=lambda step: (step.span.ended, step.span.span_id))


def _key(document: TurnDocument) -> str:
    return document.id or squeezed(document.text or "")
