"""Reads a chat completion that comes in pieces, as server-sent events."""

from __future__ import annotations

import json
from typing import Any, Final

from monitor.probe.targets.json_path import parse_json_path

EVENTS: Final = "text/event-stream"
_PIECE = parse_json_path("$.choices[0].delta.content")
_FINISHED = parse_json_path("$.choices[0].finish_reason")
_MODEL = parse_json_path("$.model")
_ERROR = parse_json_path("$.error")
_END = b"[DONE]"


def whole_completion(content: bytes) -> Any:
    """The completion as it would have come in one piece.

    Raises:
        ValueError: a piece is no JSON or an error, or the stream ends before the answer does.
    """
    pieces: list[str] = []
    model, finished = None, False
    for line in content.splitlines():
        if not line.startswith(b"data:"):
            continue
        data = line.removeprefix(b"data:").strip()
        if data == _END:
            finished = True
            break
        value = json.loads(data)
        if any(_ERROR.find(value)):
            raise ValueError("a piece is an error")
        pieces += [text for text in _PIECE.find(value) if isinstance(text, str)]
        model = next(iter(_MODEL.find(value)), model)
        finished = finished or any(_FINISHED.find(value))
    if not finished:
        raise ValueError("the stream ends before the answer does")
    message = {"content": "".join(pieces) if pieces else None}
    return {"model": model, "choices": [{"message": message}]}
