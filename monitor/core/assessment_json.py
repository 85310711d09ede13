"""Renders an assessment as JSON, in the form that outside scripts rely on, and a rejected message as one line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from pydantic_core import to_json

from monitor.core.diagnosis import Chunk, ChunkDiagnosis, Diagnosis, Repeated
from monitor.core.errors import problem_at
from monitor.core.evidence import Evidence, StandaloneQuestion
from monitor.core.message import DeadLetter
from monitor.core.model import Assessment, Json, Match, Origin, SidecarCall, StandIn, Support, SupportingDocument

_NEARLY = {Match.FOLDED, Match.FUZZY}
_FOLLOWED = re.compile(r"#[0-9]+-[0-9a-f]{16}$")  # inode and hash, which `monitor run FILE` adds to the path
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` with every U+0000 and lone surrogate replaced by one U+FFFD, so that offsets stay valid."""
    return _UNSTORABLE.sub("\ufffd", text)


def storable_json(value: Json) -> Json:
    """`value` with every name and text in it as `storable` makes them: JSON within a text may hold what no text may."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [storable_json(item) for item in value]
    if isinstance(value, dict):
        return {storable(name): storable_json(item) for name, item in value.items()}
    return value


def encode(value: object) -> str:
    """Compact JSON; several times faster than the standard library on long texts."""
    return to_json(value, inf_nan_mode="null").decode()


def assessment_json(a: Assessment) -> dict[str, object]:
    """The assessment as a JSON object; figures are rounded to six decimals."""
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
        "diagnosis": None if a.diagnosis is None else a.diagnosis.diagnosis,
        "retrieval": None if a.diagnosis is None else retrieval_json(a.diagnosis),
        "standalone_question": None
        if a.standalone is None
        else {"text": a.standalone.text, **standalone_json(a.standalone)},
        "profile": {"name": a.profile_name, "hash": a.profile_hash},
        "embedding_model": a.embedding_model,
        "rule_verdict": a.rule_verdict,
        "rank": None if a.rank is None else round(a.rank, 6),
        "reference": a.reference,
    }


def support_json(support: Support) -> dict[str, object]:
    """`{origin, documents: [{document_id, start, end, text}]}`, with `sidecar` and `stands_in` if there are any.

    Documents from a sidecar, and those located by a folded or fuzzy match, also have `match`; those not found in a
    search that was cut short, `cut_short: true`.
    """
    from_sidecar = support.origin is Origin.SIDECAR
    rendered: dict[str, object] = {
        "origin": support.origin,
        "documents": [
            piece_json(d)
            | ({"match": d.match} if from_sidecar or d.match in _NEARLY else {})
            | ({"cut_short": True} if d.cut_short else {})
            for d in support.documents
        ],
    }
    if support.sidecar is not None:
        rendered["sidecar"] = asdict(support.sidecar)
    if support.stands_in is not None:
        rendered["stands_in"] = {"because": support.stands_in.because, "queued": support.stands_in.queued}
    return rendered


def support_of(stored: Mapping[str, Any]) -> Support:
    """The support that `support_json` rendered."""
    sidecar, stands_in = stored.get("sidecar"), stored.get("stands_in")
    return Support(
        origin=Origin(stored["origin"]),
        documents=tuple(SupportingDocument(**{**piece, "match": _match(piece)}) for piece in stored["documents"]),
        sidecar=None if sidecar is None else SidecarCall(**sidecar),
        stands_in=None if stands_in is None else StandIn(**stands_in),
    )


def _match(piece: Mapping[str, Any]) -> Match | None:
    """How the piece was found; a located one that does not say was found as it is."""
    said = piece.get("match", None if piece["start"] is None else Match.EXACT)
    return None if said is None else Match(said)


def evidence_json(evidence: Evidence) -> dict[str, object]:
    """`{features, alignment, missing}`; figures are rounded to six decimals. With `compared` if it is below 1."""
    share = {"compared": round(evidence.compared, 6)} if evidence.compared < 1 else {}
    return share | {
        "features": {name: None if v is None else round(v, 6) for name, v in evidence.features.items()},
        "alignment": [{**asdict(pair), "score": round(pair.score, 6)} for pair in evidence.alignment],
        "missing": [asdict(fact) for fact in evidence.missing],
    }


def stored_evidence(a: Assessment) -> dict[str, object]:
    """What the column `evidence` holds: `evidence_json`, with `retrieval` and `standalone_question` where known."""
    stored = evidence_json(a.evidence)
    if a.diagnosis is not None:
        stored["retrieval"] = retrieval_json(a.diagnosis)
    if a.standalone is not None:
        stored["standalone_question"] = standalone_json(a.standalone)
    return stored


def retrieval_json(d: ChunkDiagnosis) -> dict[str, object]:
    """The chunks of a diagnosis and what it rests on; a chunk says `used` and `repeats` only where it is or does.

    Figures of chunks are rounded to four decimals, since there are many.
    """
    return {
        "by": d.by,
        "threshold": round(d.threshold, 6),
        "relevance": None if d.relevance is None else round(d.relevance, 6),
        "tau": None if d.tau is None else round(d.tau, 6),
        "used_rank": d.used_rank,
        "lost_in_the_middle": d.lost_in_the_middle,
        "examined": round(d.examined, 6),
        "chunks": [_chunk_json(chunk) for chunk in d.chunks],
    }


def _chunk_json(c: Chunk) -> dict[str, object]:
    rendered: dict[str, object] = {
        "document": c.document,
        "start": c.start,
        "end": c.end,
        "relevance": round(c.relevance, 4),
        "bm25": round(c.bm25, 4),
        "semantic": round(c.semantic, 4),
        "rank": c.rank,
    }
    if c.used:
        rendered["used"] = True
    if (r := c.repeats) is not None:
        rendered["repeats"] = {name: round(value, 4) for name, value in asdict(r).items()}
    return rendered


def diagnosis_of(diagnosis: str | None, stored: Mapping[str, Any] | None) -> ChunkDiagnosis | None:
    """The diagnosis that `retrieval_json` rendered; None without one, or in a form that only another release reads."""
    if diagnosis is None or stored is None:
        return None
    try:
        return ChunkDiagnosis(**{**stored, "diagnosis": Diagnosis(diagnosis), "chunks": chunks_of(stored)})
    except (KeyError, TypeError, ValueError):
        return None


def chunks_of(stored: Mapping[str, Any]) -> tuple[Chunk, ...]:
    """The chunks of a diagnosis that `retrieval_json` rendered."""
    return tuple(
        Chunk(**{**chunk, "repeats": Repeated(**chunk["repeats"]) if "repeats" in chunk else None})
        for chunk in stored["chunks"]
    )


def standalone_json(s: StandaloneQuestion) -> dict[str, object]:
    """`{sha256, cue_start, cue_end, borrowed: [{id, start, end}], as_asked: {sdq, qrd, qa}}`, without the text."""
    as_asked = {"sdq": s.sdq, "qrd": s.qrd, "qa": s.qa}
    return {
        "sha256": sha256(s.text.encode()).hexdigest(),
        "cue_start": s.cue_start,
        "cue_end": s.cue_end,
        "borrowed": [asdict(piece) for piece in s.borrowed],
        "as_asked": {name: None if value is None else round(value, 6) for name, value in as_asked.items()},
    }


def piece_json(d: SupportingDocument) -> dict[str, object]:
    """`{document_id, start, end, text}`; start and end are null if the piece was not located in a document."""
    return {"document_id": d.document_id, "start": d.start, "end": d.end, "text": d.text}


def rejection(letter: DeadLetter) -> str:
    """`file:line: path: problem`, `topic/partition:offset: …` without `/0`, or `file, byte 39: …` if it is followed.

    The message itself has no path: `file:line: the message is not JSON`.
    """
    at, problem = letter.message.position, problem_at(letter.path, letter.problem)
    if _FOLLOWED.search(at.topic):
        return f"{_FOLLOWED.sub('', at.topic)}, byte {at.offset}: {problem}"
    return f"{at.topic}{f'/{at.partition}' if at.partition else ''}:{at.offset}: {problem}"
