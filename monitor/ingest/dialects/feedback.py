"""What end users say of answers: beside an interaction, or in an event of its own (docs/start/events.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from monitor.core.assessment_json import storable
from monitor.core.errors import InvalidMessage
from monitor.core.model import Feedback, Json
from monitor.core.trace import Collected
from monitor.ingest.dialects.dialect import (
    MAX_ID_CHARS,
    Context,
    Event,
    Id,
    Name,
    bounded,
    identifier,
    timed,
    validated,
)
from monitor.ingest.parse import JsonObject, kind, path_of, shown

MAX_FEEDBACK = 100
MAX_COMMENT_CHARS = 4_000  # of a longer comment, the beginning is kept
THUMBS = ("up", "down")
_TURN = frozenset({"question", "answer", "retrieved_documents"})


class _FeedbackEvent(Event):
    id: Id | None = None
    app: Name | None = None
    occurred_at: Any = None  # times.py reads it


def is_alone(event: JsonObject) -> bool:
    """Whether the event holds feedback and nothing of an interaction."""
    return "feedback" in event and _TURN.isdisjoint(event)


def thumbs_beside(value: object, own: str) -> tuple[Feedback, ...]:
    """`up` or `down` on the event's own answer, or a list of `{id, thumb, comment}` on answers of the same app.

    Anything else under that name belongs to somebody else.
    """
    items: list[Any] = value if isinstance(value, list) else [{"id": own, "thumb": value}]
    return tuple(
        _feedback(item["id"], item, None)
        for item in items[:MAX_FEEDBACK]
        if isinstance(item, dict) and item.get("thumb") in THUMBS and _is_id(item.get("id"))
    )


def _is_id(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_ID_CHARS


def feedback_alone(event: JsonObject, context: Context) -> Collected:
    """The feedback of an event that has nothing else: a list as above, or `up` or `down` with the `id` of the answer.

    Raises:
        InvalidMessage: a part of it is of another form, so that somebody's word would be lost.
    """
    fields = validated(_FeedbackEvent, event)
    given_at, _ = timed(fields.occurred_at, context)
    value = event["feedback"]
    items: list[Json] = value if isinstance(value, list) else [{**event, "thumb": value}]
    if len(items) > MAX_FEEDBACK:
        raise InvalidMessage("feedback", f"has {len(items):,} items; the limit is {MAX_FEEDBACK}")
    return Collected(
        received_at=context.received_at,
        position=context.position,
        app=fields.app or context.app,
        feedback=tuple(
            [_checked(item, given_at, ("feedback", i) if items is value else ()) for i, item in enumerate(items)]
        ),
    )


def _checked(item: Json, given_at: datetime, path: tuple[str | int, ...]) -> Feedback:
    if not isinstance(item, dict):
        raise InvalidMessage(path_of(path), f"must be an object, got {kind(item)}")
    thumb, id_ = item.get("thumb"), item.get("id")
    if thumb not in THUMBS:
        named = (*path, "thumb") if path else ("feedback",)
        raise InvalidMessage(path_of(named), f"must be up or down, got {shown(thumb)}")
    if isinstance(id_, bool) or not isinstance(id_, str | int):
        raise InvalidMessage(path_of((*path, "id")), "must name the interaction that the feedback is on")
    key = bounded(identifier(id_, *path, "id"), MAX_ID_CHARS, *path, "id")
    return _feedback(key, item, given_at)


def _feedback(id_: str, item: dict[str, Any], given_at: datetime | None) -> Feedback:
    comment = item.get("comment")
    said = storable(comment.strip())[:MAX_COMMENT_CHARS] if isinstance(comment, str) else ""
    return Feedback(id=storable(id_), thumb=item["thumb"], comment=said or None, given_at=given_at)
