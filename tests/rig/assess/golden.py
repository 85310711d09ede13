"""The golden interactions, and what the shipped profile gives to each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from monitor.assess.classify.profile import load_profile
from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.embed.cache import CachedEmbedder, CachedTokenEncoder
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.pipeline import Pipeline
from monitor.core.message import Message, Position
from monitor.core.model import Assessment, Interaction
from monitor.ingest.decode import Decoder

HERE = Path(__file__).parents[2] / "golden"
RECORD = HERE / "verdicts.json"
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (HERE / "interactions.jsonl").read_text(encoding="utf-8").splitlines()
]
_RECEIVED_AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
_CACHE = 2**26  # bytes


def golden_pipeline(cache_dir: Path) -> Pipeline:
    """The shipped profile for the embedded model, with extractive support."""
    model = MiniLMEmbedder(cache_dir=cache_dir)
    embedder = CachedEmbedder(model, _CACHE)
    return Pipeline(
        completer=ExtractiveCompleter(),
        encoder=CachedTokenEncoder(model, _CACHE, embedder=embedder),
        embedder=embedder,
        profile=load_profile(None, model.model, model.token_model),
    )


def golden_interactions() -> list[Interaction]:
    """As they are decoded from events, without what the reader expects."""
    found = []
    for number, row in enumerate(ROWS, start=1):
        value = json.dumps({key: field for key, field in row.items() if key != "expect"}).encode()
        position = Position(topic="golden", partition=0, offset=number)
        found.append(
            Decoder().decode(Message(value=value, position=position, received_at=_RECEIVED_AT, size=len(value)))
        )
    return found


def recorded(assessment: Assessment) -> dict[str, object]:
    """What the record keeps of one."""
    return {"verdict": assessment.verdict.value, "reasons": [reason.value for reason in assessment.reasons]}


def contradicted(assessments: Mapping[str, Assessment]) -> set[str]:
    """Ids of those whose verdict is not the reader's."""
    return {row["id"] for row in ROWS if assessments[row["id"]].verdict != row["expect"]["verdict"]}
