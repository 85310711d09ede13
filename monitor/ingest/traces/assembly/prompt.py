"""Texts of documents that are known by id, from the prompt, where it holds exactly as many pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, zip_longest

from monitor.ingest.traces.assembly.steps import Steps
from monitor.ingest.traces.conventions.kinds import Kind
from monitor.ingest.traces.conventions.messages import messages_of, results_of_turn
from monitor.ingest.traces.conventions.values import understood
from monitor.ingest.traces.turn import TurnDocument

HEADING = re.compile(
    r"^.{0,80}\b(?:context|documents?|sources?|passages?|snippets?|search results)\b[^\n]{0,60}:\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_TAG = re.compile(r"<(document|doc|context|passage|source|chunk)\b[^<>]{0,300}>", re.IGNORECASE)
_RULES = ("\n\n", "\n---\n", "\n\n---\n\n", "\n-----\n", "\n***\n", "\n")
# what is looked through: longer prompts hold more than documents
_MOST_DOCUMENTS, _MOST_BLOCKS, _MOST_CHARS = 100, 50, 500_000
_FENCE = re.compile(r"^-{3,}$", re.MULTILINE)


def with_prompt_texts(documents: Sequence[TurnDocument], steps: Steps) -> list[TurnDocument]:
    """The documents, those without text with the piece of the prompt that seems to be theirs."""
    missing = [document for document in documents if document.text is None]
    if not missing:
        return list(documents)
    if len(documents) > _MOST_DOCUMENTS:
        return list(documents)
    for block in islice(_blocks(steps), _MOST_BLOCKS):
        if len(block) > _MOST_CHARS:
            continue
        pieces = _by_id(block, documents) or _pieces(block, len(documents))
        if pieces is not None:
            return [
                replace(document, in_prompt=piece) if document.text is None else document
                for document, piece in zip(documents, pieces, strict=True)
            ]
    return list(documents)


def _blocks(steps: Steps) -> Iterator[str]:
    """Texts that may hold the documents: variables of the prompt, results of tools, then parts of the messages."""
    final = steps.final
    if final is None:
        return
    variables = understood(final.span.attributes.get("llm.prompt_template.variables"))
    named = [v for name, v in final.span.attributes.items() if name.startswith("gen_ai.prompt.variable.")]
    named += variables.values() if isinstance(variables, dict) else ()
    yield from (value for value in named if isinstance(value, str))
    tools = [message.text for message in results_of_turn(final.input_messages)]
    for step in steps.topmost(Kind.TOOL):
        tools += [message.text for message in messages_of(understood(step.output), "tool")]
    yield from tools
    if len(tools) > 1:
        yield "\n\n".join(dict.fromkeys(tools))
    for message in final.input_messages:
        if message.role in {"system", "user"}:
            heading = list(HEADING.finditer(message.text))
            if heading:
                yield message.text[heading[0].end() :]
            yield message.text


def _by_id(block: str, documents: Sequence[TurnDocument]) -> list[str] | None:
    """The pieces of a block in which each begins with the id of its document, as `[id] …`."""
    places = []
    for document in documents:
        if not document.id:
            return None
        found = list(re.finditer(r"(?m)^[\[(<#* ]*" + re.escape(document.id) + r"(?![\w-])[\])>:.* ]*", block))
        if len(found) != 1:
            return None
        places.append(found[0])
    ends = sorted([*(place.start() for place in places), len(block)])
    pieces = []
    for place in places:
        end = next(end for end in ends if end > place.start())
        # the last piece ends with its paragraph: what follows is the rest of the prompt
        text = block[place.end() : end]
        pieces.append((text.split("\n\n")[0] if end == len(block) else text).strip())
    return pieces if all(pieces) else None


def _tagged(block: str) -> list[str]:
    """The texts within tags, as `<document>…</document>`."""
    opened = list(_TAG.finditer(block))
    pieces = []
    for match, after in zip_longest(opened, opened[1:]):
        text, closed, _ = block[match.end() : after.start() if after else len(block)].partition(f"</{match[1]}>")
        if closed:
            pieces.append(text.strip())
    return pieces


def _pieces(block: str, wanted: int) -> list[str] | None:
    tagged = _tagged(block)
    if len(tagged) == wanted and all(tagged):
        return tagged
    text = block.strip()
    fenced = [part.strip() for part in _FENCE.split(text) if part.strip()]
    for part in [text, *(fenced if len(fenced) > 1 else [])]:
        for rule in _RULES:
            pieces = [piece.strip() for piece in part.split(rule) if piece.strip()]
            if len(pieces) == wanted and (wanted > 1 or rule == _RULES[0]):
                return pieces
    return None
