"""The prompts behind the hashes that results are stored with: what was asked, in words, can be read years later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from monitor.assess.llm.exchange import Prompt, prompts_hash
from monitor.core.assessment_json import encode

if TYPE_CHECKING:
    import psycopg

_KEEP = "INSERT INTO prompt (hash, prompts, stored_at) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"


def keep_prompts(connection: psycopg.Connection, asked: Iterable[Sequence[Prompt[Any]]], now: datetime) -> None:
    """Stores each sequence of prompts under its hash, once: names, texts and schemas of the answers."""
    by_hash = {prompts_hash(prompts): prompts for prompts in asked if prompts}
    rows = [
        (hash_, encode([{"name": p.name, "text": p.text, "schema": p.schema} for p in prompts]), now)
        for hash_, prompts in sorted(by_hash.items())
    ]
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_KEEP, rows)
