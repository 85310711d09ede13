"""An assessment as JSON, in the form that scripts outside rely on (design.md §10)."""

from __future__ import annotations

import json
from dataclasses import asdict

from monitor.model import Assessment, Support, SupportingDocument

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def assessment_json(a: Assessment) -> dict[str, object]:
    """One assessment as a JSON object; figures are rounded to six digits."""
    p = a.probabilities
    return {
        "id": a.interaction.id,
        "app": a.interaction.app,
        "occurred_at": a.interaction.occurred_at.isoformat().replace("+00:00", "Z"),
        "verdict": a.verdict,
        "probabilities": {
            "grounded": round(p.grounded, 6),
            "refusal": round(p.refusal, 6),
            "self_generated": round(p.self_generated, 6),
        },
        "uncalibrated": a.uncalibrated,
        "refusal": {"kind": a.refusal.kind, "correct": a.refusal.correct},
        "metrics": {name: None if value is None else round(value, 6) for name, value in asdict(a.metrics).items()},
        "undefined": dict(a.scores.undefined),
        "reasons": list(a.reasons),
        "support": support_json(a.support),
        "alignment": [],
        "profile": {"name": a.profile_name, "hash": a.profile_hash},
        "embedding_model": a.embedding_model,
        "rule_verdict": a.rule_verdict,
    }


def support_json(support: Support) -> dict[str, object]:
    """`{origin, documents: [{document_id, start, end, text}]}`."""
    return {"origin": support.origin, "documents": [piece_json(d) for d in support.documents]}


def piece_json(d: SupportingDocument) -> dict[str, object]:
    """`{document_id, start, end, text}`; the first three are null where the piece was not located."""
    return {"document_id": d.document_id, "start": d.start, "end": d.end, "text": d.text}
