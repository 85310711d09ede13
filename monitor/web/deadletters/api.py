"""API routes of dead letters: their list, one with its message, and its retry."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime
from threading import Event
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from pydantic import Field

from monitor.app.deadletters import retry
from monitor.app.wiring.application import Application
from monitor.privacy.masking import redact
from monitor.store.deadletters.dead_letters import DeadLetters as DeadLetterStore
from monitor.store.deadletters.dead_letters import LetterFilter
from monitor.store.deadletters.list import PAGE, LetterList, ListedLetter
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiResponse
from monitor.web.base.disclosure import Clear, record_look, require_unmask
from monitor.web.base.guard import Needs
from monitor.web.base.jobs import Jobs
from monitor.web.base.parameters import Flag, Id, Moment, Text
from monitor.web.base.problem import CONFLICT, NOT_FOUND, problems
from monitor.web.deadletters.page import JOB

router = APIRouter(tags=["dead letters"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Resolver = Annotated[Identity, Depends(Needs(Permission.RESOLVE))]


class DeadLetter(ApiResponse):
    """A dead letter in the list: a message that could not be decoded into an interaction."""

    id: int
    received_at: datetime
    topic: str
    partition: int
    position: int
    path: str = Field(description="the field with the problem; `$` for the whole message")
    problem: str
    size: int
    settled_at: datetime | None = Field(description="when a retry turned it into an interaction")
    outcome: str | None


class DeadLetters(ApiResponse):
    """Dead letters, newest first; `next` is the `before` of the next page."""

    items: list[DeadLetter]
    next: int | None


class Header(ApiResponse):
    """A header of the message."""

    name: str
    value: str


class DeadLetterMessage(DeadLetter):
    """A dead letter with its message as text, invalid UTF-8 as U+FFFD; in clear also the raw bytes in base64."""

    group: str = Field(description="the consumer group whose ledger counts it")
    key: str | None
    headers: list[Header]
    value: str
    value_base64: str | None
    clear: bool


class RetryStarted(ApiResponse):
    """The retry has started; the dead letter shows the result."""

    begun: bool


@router.get(
    "/dead-letters",
    response_model=DeadLetters,
    operation_id="listDeadLetters",
    responses=problems(),
    summary="List dead letters",
)
def dead_letters(
    request: Request,
    _: Viewer,
    *,
    topic: Annotated[Text | None, Query(description="Only this topic or file.")] = None,
    problem: Annotated[Text | None, Query(description="Only problems that contain this text.")] = None,
    since: Annotated[Moment | None, Query(description="Received at this time or later.")] = None,
    until: Annotated[Moment | None, Query(description="Received before this time.")] = None,
    settled: Annotated[Flag | None, Query(description="true: only settled ones; false: only open ones.")] = None,
    before: Annotated[Id | None, Query(description="`next` of the page before.")] = None,
) -> DeadLetters:
    """Returns messages that could not be decoded into interactions, in pages of 50."""
    application: Application = request.app.state.application
    opened = None if settled is None else not settled
    letters = LetterFilter(topic=topic, problem=problem, since=since, until=until, open=opened)
    rows = LetterList(application.engine).page(letters, before=before)
    page = rows[:PAGE]
    return DeadLetters(items=[_letter(row) for row in page], next=page[-1].id if len(rows) > PAGE else None)


@router.get(
    "/dead-letters/{id}",
    response_model=DeadLetterMessage,
    operation_id="getDeadLetter",
    responses=problems(NOT_FOUND),
    summary="Get a dead letter with its message",
)
def dead_letter(
    request: Request, who: Viewer, id_: Annotated[Id, Path(alias="id")], *, clear: Clear = False
) -> DeadLetterMessage:
    """Returns the message with personal data masked unless `clear`."""
    application: Application = request.app.state.application
    if clear:
        require_unmask(request, who)
    row = DeadLetterStore(application.engine).whole(id_)
    if row is None:
        raise HTTPException(NOT_FOUND, "no such dead letter is stored")
    if clear:
        record_look(request, who, app="", subject=f"dead letter {id_}", fields=("value", "key", "headers"))
    return _whole(row, clear=clear)


@router.post(
    "/dead-letters/{id}/retry",
    response_model=RetryStarted,
    status_code=202,
    operation_id="retryDeadLetter",
    responses=problems(NOT_FOUND, CONFLICT),
    summary="Retry a dead letter under the present settings",
)
def retry_dead_letter(request: Request, who: Resolver, id_: Annotated[Id, Path(alias="id")]) -> RetryStarted:
    """Retries in the background; a message that still cannot be decoded stays a dead letter with its new problem."""
    application: Application = request.app.state.application
    row = DeadLetterStore(application.engine).whole(id_)
    if row is None:
        raise HTTPException(NOT_FOUND, "no such dead letter is stored")
    if row["settled_at"] is not None:
        raise HTTPException(CONFLICT, f"a retry has already settled it: {row['outcome']}")

    def work(_: Any, stop: Event) -> str:
        done = retry(application, LetterFilter(ids=(id_,)), app=None, dialect=None, stop=stop)
        return ", ".join(done.outcomes)

    jobs: Jobs = request.app.state.jobs
    if not jobs.start(JOB, work, by=who.name):
        raise HTTPException(CONFLICT, "another retry is running; try again when it has ended")
    return RetryStarted(begun=True)


def _letter(row: ListedLetter) -> DeadLetter:
    return DeadLetter(**_masked_problem({name: getattr(row, name) for name in DeadLetter.model_fields}))


def _whole(row: Mapping[str, Any], *, clear: bool) -> DeadLetterMessage:
    shown = _text if clear else _masked_text
    return DeadLetterMessage(
        **_masked_problem({name: row[name] for name in DeadLetter.model_fields}),
        group=row["group_id"],
        key=None if row["key"] is None else shown(row["key"]),
        headers=[
            Header(name=name, value=shown(value))
            for name, value in zip(row["header_names"], row["header_values"], strict=True)
        ],
        value=shown(row["value"]),
        value_base64=base64.b64encode(row["value"]).decode() if clear else None,
        clear=clear,
    )


def _masked_problem(row: dict[str, Any]) -> dict[str, Any]:
    """The row masked: path and problem may quote the message, and the topic may be the name of any file."""
    return {**row, **{name: redact(row[name]) for name in ("path", "problem", "topic")}}


def _text(value: bytes) -> str:
    return bytes(value).decode("utf-8", "replace")


def _masked_text(value: bytes) -> str:
    return redact(_text(value))
