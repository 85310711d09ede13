"""Describes a judgement in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_MOST = 3  # parts that are shown
_AGAINST = {"statements": ("supported", "statement"), "documents": ("useful", "why"), "questions": ("yes", "question")}


def judgement_text(row: Mapping[str, Any]) -> str:
    """What speaks against a full score, on a few lines, or why there is no score."""
    if row["score"] is None:
        return _words(str(row["reason"]))
    parts = row["parts"]
    for name, (verdict, text) in _AGAINST.items():
        if name in parts and all(verdict in part for part in parts[name]):
            against = [_line(part, text) for part in parts[name] if not part[verdict]]
            good = f"{len(parts[name]) - len(against)} of {len(parts[name])} {name}"
            return "\n".join([good, *(f"✗ {line}" for line in against[:_MOST])])
    if "questions" in parts:
        return "\n".join(f"{part['similarity']:.2f} {part['question']}" for part in parts["questions"][:_MOST])
    return "\n".join(_chunk_lines(parts)) if "threshold" in parts else _counted(parts)


def _counted(parts: Mapping[str, Any]) -> str:
    if "sentences" in parts:
        return f"{len(parts['sentences'])} of {parts['total']} sentences are needed"
    return "missed: " + (", ".join(parts["missed"]) or "none") if "missed" in parts else ""


def _chunk_lines(parts: Mapping[str, Any]) -> Iterator[str]:
    """How many chunks are relevant, the worst that are not, and the diagnosis by these scores."""
    chunks, threshold = parts["chunks"], parts["threshold"]
    against = sorted((c for c in chunks if c["score"] < threshold), key=lambda c: float(c["score"]))
    yield f"{len(chunks) - len(against)} of {len(chunks)} chunks reach {threshold:.2f}"
    for chunk in against[:_MOST]:
        place = f"document {chunk['document'] + 1}, characters {chunk['start'] + 1}-{chunk['end']}"
        yield f"✗ {place}: {chunk['score']:.2f} ({chunk['why']})"
    if left_out := parts.get("left_out"):
        yield f"{left_out} more chunks were not read"
    if query := parts.get("query"):
        yield f"asked as: {query}"
    if diagnosis := parts.get("diagnosis"):
        without = parts["without_model"]
        differs = "" if without == diagnosis else f" (without a model: {_words(without)})"
        yield f"diagnosis by these scores: {_words(diagnosis)}{differs}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _line(part: Mapping[str, Any], text: str) -> str:
    document = f"document {part['document'] + 1}: " if "document" in part else ""
    why = f" ({part['why']})" if text != "why" and part.get("why") else ""
    return f"{document}{part[text]}{why}"
