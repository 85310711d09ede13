"""Sends evaluations as scores to Langfuse, in batches of `score-create` events.

Source: https://api.reference.langfuse.com (POST /api/public/ingestion). The id of an event tells repetitions, the id of
a score is the same for all revisions, so that the newest replaces the one before. The answer is 207 with a status for
each event; a batch may have 3.5 MB.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from typing_extensions import override

from monitor.alert.receivers.http import Endpoint
from monitor.app.export.destination import AT_ONCE, Destination, Refusal, address, quoted, taken
from monitor.app.export.evaluations import Evaluation, answer_id, evaluations, revision_id
from monitor.core.assessment_json import encode
from monitor.core.errors import Retriable
from monitor.core.model import Json
from monitor.core.pending import Work
from monitor.core.settings.export import Sent
from monitor.store.pending.verdicts import VerdictToSend

_SETTING = "MONITOR_EXPORT__LANGFUSE__URL"
_INGESTION, _PROJECTS = "/api/public/ingestion", "/api/public/projects"
_FOR_GOOD = {HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}
_FOR_GOOD |= {HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY}


class LangfuseDestination(Destination):
    """Scores the answers in the traces of one Langfuse project, which the keys choose."""

    kind = Work.SEND_LANGFUSE
    at_once = AT_ONCE

    def __init__(self, *, url: str, public_key: str, secret_key: str, scores: Sequence[Sent]) -> None:
        login = b64encode(f"{public_key}:{secret_key}".encode()).decode()
        self._scores = scores
        self._ingestion, self._projects = (
            Endpoint(address(url, path), name="langfuse", setting=_SETTING, headers={"Authorization": f"Basic {login}"})
            for path in (_INGESTION, _PROJECTS)
        )

    @override
    def send(self, verdicts: Sequence[VerdictToSend]) -> Sequence[Refusal]:
        events: list[dict[str, Any]] = []
        sender: dict[str, int] = {}
        for place, verdict in enumerate(verdicts):
            for one in evaluations(verdict, self._scores):
                event = score_event(verdict, one)
                events.append(event)
                sender[event["id"]] = place
        answer = self._ingestion.post(encode({"batch": events}).encode())
        body = taken(self._ingestion, answer, "a score").body
        refusals: dict[int, Refusal] = {}
        for error in _errors(body):
            known = sender.get(str(error.get("id")))
            if known is None:
                continue
            refusal = _refusal(known, error)
            if known not in refusals or refusal.later:  # what may be taken later comes before what never is
                refusals[known] = refusal
        return list(refusals.values())

    @override
    def check(self) -> str:
        taken(self._projects, self._projects.get(), "the question for the project")
        return f"langfuse at {self._projects.host} takes these keys"

    @override
    def close(self) -> None:
        """There is nothing to release."""


def score_event(verdict: VerdictToSend, one: Evaluation) -> dict[str, Any]:
    """One evaluation as a `score-create` event: its label as a category, else its number."""
    value: dict[str, Json] = (
        {"dataType": "NUMERIC", "value": one.value}
        if one.label is None
        else {"dataType": "CATEGORICAL", "value": one.label}
    )
    body: dict[str, Json] = {
        "id": answer_id(verdict, one.name),
        "traceId": verdict.trace_id,
        "observationId": verdict.span_id,
        "name": one.name,
        **value,
        "comment": one.explanation,
        "metadata": {"app": verdict.app, "interaction": verdict.interaction_id, "profile": verdict.profile},
    }
    return {
        "id": revision_id(verdict, one.name),
        "type": "score-create",
        "timestamp": verdict.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "body": {name: value for name, value in body.items() if value is not None},
    }


def _errors(body: bytes) -> list[dict[str, Any]]:
    """The errors of single events.

    Raises:
        Retriable: the answer is not the documented one, so it is not known what was taken.
    """
    try:
        errors = json.loads(body)["errors"]
    except (ValueError, KeyError, TypeError):
        raise Retriable(f"langfuse: this answer is not from the expected service; check {_SETTING}") from None
    return [error for error in errors if isinstance(error, dict)]


def _refusal(place: int, error: dict[str, Any]) -> Refusal:
    status = error.get("status")
    said = quoted(str(error.get("message") or error.get("error") or ""))
    return Refusal(place=place, why=f"langfuse: a score is refused: {status} ({said})", later=status not in _FOR_GOOD)
