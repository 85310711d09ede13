"""An assessment as JSON, in the form that scripts outside rely on (design.md §10), and a rejection as a line."""

from __future__ import annotations

import re
from dataclasses import asdict

from pydantic_core import to_json

from monitor.core.evidence import Evidence
from monitor.core.message import DeadLetter
from monitor.core.model import Assessment, Match, Origin, Support, SupportingDocument

_NEARLY = {Match.FOLDED, Match.FUZZY}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` with every U+0000 and lone surrogate replaced by U+FFFD, one for one, so that offsets stay right."""
    return _UNSTORABLE.sub("\ufffd", text)


def encode(value: object) -> str:
    """Compact JSON in UTF-8; several times as fast as the standard library's on long texts."""
    return to_json(value, inf_nan_mode="null").decode()


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
        "reasons": list(a.reasons),
        "support": support_json(a.support),
        **evidence_json(a.evidence),
        "profile": {"name": a.profile_name, "hash": a.profile_hash},
        "embedding_model": a.embedding_model,
        "rule_verdict": a.rule_verdict,
    }


def support_json(support: Support) -> dict[str, object]:
    """`{origin, documents: [{document_id, start, end, text}]}`; `sidecar` and `stands_in` where they are.

    Pieces that a sidecar named, and others that do not stand word for word where they were found, say how they `match`.
    """
    told = support.origin is Origin.SIDECAR
    found: dict[str, object] = {
        "origin": support.origin,
        "documents": [
            {**piece_json(d), "match": d.match} if told or d.match in _NEARLY else piece_json(d)
            for d in support.documents
        ],
    }
    if support.sidecar is not None:
        found["sidecar"] = asdict(support.sidecar)
    if support.stands_in is not None:
        found["stands_in"] = {"because": support.stands_in.because, "queued": support.stands_in.queued}
    return found


def evidence_json(evidence: Evidence) -> dict[str, object]:
    """`{features, alignment, missing}`; figures keep six digits."""
    return {
        "features": {name: None if v is None else round(v, 6) for name, v in evidence.features.items()},
        "alignment": [{**asdict(pair), "score": round(pair.score, 6)} for pair in evidence.alignment],
        "missing": [asdict(fact) for fact in evidence.missing],
    }


def piece_json(d: SupportingDocument) -> dict[str, object]:
    """`{document_id, start, end, text}`; start and end are null where the piece stands in no document."""
    return {"document_id": d.document_id, "start": d.start, "end": d.end, "text": d.text}


def rejection(letter: DeadLetter) -> str:
    """`file:line: path: problem`, or `topic/partition:offset: …` without `/0`; of a followed file its path only."""
    at = letter.message.position
    name = at.topic.rpartition("#")[0] or at.topic
    return f"{name}{f'/{at.partition}' if at.partition else ''}:{at.offset}: {letter.path}: {letter.problem}"
