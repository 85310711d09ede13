"""Describes a judgement in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MOST = 3  # parts that are shown
_AGAINST = {"statements": ("supported", "statement"), "documents": ("useful", "why"), "questions": ("yes", "question")}


def judgement_text(row: Mapping[str, Any]) -> str:
    """What speaks against a full score, on a few lines, or why there is no score."""
    if row["score"] is None:
        return str(row["reason"]).replace("_", " ")
    parts = row["parts"]
    for name, (verdict, text) in _AGAINST.items():
        if name in parts and all(verdict in part for part in parts[name]):
            against = [_line(part, text) for part in parts[name] if not part[verdict]]
            good = f"{len(parts[name]) - len(against)} of {len(parts[name])} {name}"
            return "\n".join([good, *(f"✗ {line}" for line in against[:_MOST])])
    if "questions" in parts:
        return "\n".join(f"{part['similarity']:.2f} {part['question']}" for part in parts["questions"][:_MOST])
    if "sentences" in parts:
        return f"{len(parts['sentences'])} of {parts['total']} sentences are needed"
    if "missed" in parts:
        return "missed: " + (", ".join(parts["missed"]) or "none")
    return ""


def _line(part: Mapping[str, Any], text: str) -> str:
    document = f"document {part['document'] + 1}: " if "document" in part else ""
    why = f" ({part['why']})" if text != "why" and part.get("why") else ""
    return f"{document}{part[text]}{why}"
