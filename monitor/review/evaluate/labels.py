"""Reads labelled answers: native events with a few more fields, one per line (docs/quality/evaluation.md)."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from monitor.core.assessment_json import encode, rejection
from monitor.core.errors import InvalidMessage, WrongSettings
from monitor.core.message import DeadLetter, Message
from monitor.core.model import Interaction, Verdict
from monitor.ingest.decode import Decoded
from monitor.ingest.files import FileSource
from monitor.ingest.parse import JsonObject, kind, parse_object, shown
from monitor.review.export import group_of

SHOWN = 10  # bad lines listed in the error
_MESSAGES, _BYTES, _SECONDS = 1_000, 64 * 2**20, 1.0  # at most, for one poll

DecodeBatch: TypeAlias = Callable[[Iterable[Message]], Decoded]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """An interaction and what people say about its answer.

    Rows of one `group` share a source, so they stay together in every split and resample. `answerable` tells whether
    the documents hold the answer, None if nobody looked. `drawn` is why `monitor review` offered it: `random`, or what
    made it worth a look; None if it comes from elsewhere.
    """

    interaction: Interaction
    label: Verdict
    group: str
    answerable: bool | None
    drawn: str | None


def read_labels(
    paths: Sequence[Path],
    *,
    decode: DecodeBatch,
    now: Callable[[], datetime],
    max_message_bytes: int = 8 * 2**20,
    stdin: io.BufferedIOBase | None = None,
) -> list[Labelled]:
    """Reads every line of `paths` in order; plain, gzip or zstd, `-` is standard input.

    `decode` reads the native event (`Application.decoder(dialect="native").decode_batch`).

    Raises:
        WrongSettings: a file cannot be read, a line is not a labelled event or occurs twice, or there is no line. The
            message counts the bad lines and lists the first ten with file and line.
        Fatal: a file is damaged.
    """
    source = FileSource(paths, now=now, max_message_bytes=max_message_bytes, stdin=stdin)
    rows: list[Labelled] = []
    bad: list[str] = []
    seen: dict[tuple[str, str, str, str], str] = {}
    try:
        while (messages := source.poll(max_messages=_MESSAGES, max_bytes=_BYTES, timeout=_SECONDS)) is not None:
            for message in messages:
                try:
                    row = _labelled(message, decode)
                    _check_new(row.interaction, message, seen)
                except InvalidMessage as error:
                    bad.append(rejection(DeadLetter(message=message, path=error.path, problem=error.problem)))
                else:
                    rows.append(row)
    finally:
        source.close()
    if bad:
        more = f"\n  and {len(bad) - SHOWN:,} more" if len(bad) > SHOWN else ""
        lines = "1 line is not a labelled event" if len(bad) == 1 else f"{len(bad):,} lines are not labelled events"
        named = "\n  ".join(bad[:SHOWN])
        see = "`monitor docs quality/evaluation`"
        raise WrongSettings(f"{lines} ({see} says what one is):\n  {named}{more}")
    if not rows:
        raise WrongSettings(f"{', '.join(map(str, paths))}: there is no line to read")
    return rows


def default_group(interaction: Interaction) -> str:
    """The group that `monitor review export` writes: the same question again is no new evidence.

    Each answer without a question is a group of its own.
    """
    return group_of(interaction.question) if interaction.question.strip() else f"{interaction.app}/{interaction.id}"


def data_hash(labelled: Sequence[Labelled]) -> str:
    """SHA-256 of the labelled rows in 16 hex digits, independent of their order."""
    lines = sorted(
        encode(
            [
                row.interaction.question,
                row.interaction.answer,
                row.label,
                row.group,
                [document.text for document in row.interaction.retrieved_documents],
            ]
        )
        for row in labelled
    )
    return hashlib.sha256("\n".join(lines).encode(errors="surrogatepass")).hexdigest()[:16]


def _labelled(message: Message, decode: DecodeBatch) -> Labelled:
    interactions, dead, _ = decode([message])
    for letter in dead:
        raise InvalidMessage(letter.path, letter.problem)
    event, _ = parse_object(message.value)
    answerable = event.get("answerable")
    if not isinstance(answerable, bool | None):
        raise InvalidMessage("answerable", f"must be true, false or null, got {kind(answerable)}")
    return Labelled(
        interaction=interactions[0],
        label=_label(event),
        group=_text(event, "group") or default_group(interactions[0]),
        answerable=answerable,
        drawn=_text(event, "drawn"),
    )


def _label(event: JsonObject) -> Verdict:
    if "label" not in event:
        raise InvalidMessage("label", "is missing")
    for verdict in Verdict:
        if event["label"] == verdict:
            return verdict
    known = ", ".join(Verdict)
    raise InvalidMessage("label", f"must be one of {known}; got {shown(event['label'])}")


def _text(event: JsonObject, field: str) -> str | None:
    value = event.get(field)
    if not isinstance(value, str | None):
        raise InvalidMessage(field, f"must be a string or null, got {kind(value)}")
    return value or None


def _check_new(interaction: Interaction, message: Message, seen: dict[tuple[str, str, str, str], str]) -> None:
    """Rejects an answer that occurs twice: it would count twice, or with two labels."""
    key = (interaction.app, interaction.id, interaction.question, interaction.answer)
    here = f"{message.position.topic}:{message.position.offset}"
    if (first := seen.get(key)) is not None:
        raise InvalidMessage("id", f"the same answer is in {first} already")
    seen[key] = here
