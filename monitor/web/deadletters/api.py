"""Dead letters: messages that cannot be interactions, and reading one again."""

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
from monitor.store.deadletters.dead_letters import DeadLetters, LetterFilter
from monitor.store.deadletters.list import PAGE, LetterList, ListedLetter
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiResponse
from monitor.web.base.disclosure import Clear, record_look, require_unmask
from monitor.web.base.escape import decode_escapes
from monitor.web.base.guard import Needs
from monitor.web.base.jobs import Jobs
from monitor.web.base.parameters import Flag, Id, Moment, Text
from monitor.web.base.problem import CONFLICT, NOT_FOUND, problems
from monitor.web.deadletters.page import JOB

router = APIRouter(tags=["dead letters"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Resolver = Annotated[Identity, Depends(Needs(Permission.RESOLVE))]


class Letter(ApiResponse):
    """A dead letter in the list."""

    id: int
    received_at: datetime
    topic: str
    partition: int
    position: int
    path: str = Field(description="the offending field, `$` for the message as a whole")
    problem: str
    size: int
    settled_at: datetime | None = Field(description="when a retry made an interaction of it")
    outcome: str | None


class Letters(ApiResponse):
    """The newest first; `next` is the `before` of the next page."""

    items: list[Letter]
    next: int | None


class Header(ApiResponse):
    """One of the message's."""

    name: str
    value: str


class WholeLetter(Letter):
    """With the message: as text, bytes that are no UTF-8 as U+FFFD; in clear also in base64, as it came."""

    group: str = Field(description="whose ledger counts it")
    key: str | None
    headers: list[Header]
    value: str
    value_base64: str | None
    clear: bool


class Begun(ApiResponse):
    """Work has begun; the letter says what came of it."""

    begun: bool


@router.get(
    "/dead-letters", response_model=Letters, operation_id="listDeadLetters", responses=problems(),
    summary="Messages that cannot be interactions",
)  # fmt: skip
def dead_letters(  # noqa: PLR0917  FastAPI calls it by name
    request: Request,
    _: Viewer,
    topic: Annotated[Text | None, Query(description="Only those of this topic or file.")] = None,
    problem: Annotated[Text | None, Query(description="Only those whose problem contains this.")] = None,
    since: Annotated[Moment | None, Query(description="Received then or later.")] = None,
    until: Annotated[Moment | None, Query(description="Received before.")] = None,
    settled: Annotated[Flag | None, Query(description="Only open ones, or only settled ones.")] = None,
    before: Annotated[Id | None, Query(description="`next` of the page before.")] = None,
) -> Letters:
    """In pages of 50."""
    application: Application = request.app.state.application
    opened = None if settled is None else not settled
    wanted = LetterFilter(topic=topic, problem=problem, since=since, until=until, open=opened)
    rows = LetterList(application.engine).page(wanted, before=before)
    shown = rows[:PAGE]
    return Letters(items=[_letter(row) for row in shown], next=shown[-1].id if len(rows) > PAGE else None)


@router.get(
    "/dead-letters/{id}", response_model=WholeLetter, operation_id="getDeadLetter", responses=problems(NOT_FOUND),
    summary="One dead letter with its message",
)  # fmt: skip
def dead_letter(
    request: Request,
    who: Viewer,
    id: Annotated[Id, Path()],  # noqa: A002  its name in the path
    clear: Clear = False,  # noqa: FBT002
) -> WholeLetter:
    """Personal data is masked unless `clear`."""
    application: Application = request.app.state.application
    if clear:
        require_unmask(request, who)
    row = DeadLetters(application.engine).whole(id)
    if row is None:
        raise HTTPException(NOT_FOUND, "no such dead letter is stored")
    if clear:
        record_look(request, who, app="", subject=f"dead letter {id}", fields=("value", "key", "headers"))
    return _whole(row, clear=clear)


@router.post(
    "/dead-letters/{id}/retry", response_model=Begun, status_code=202, operation_id="retryDeadLetter",
    responses=problems(NOT_FOUND, CONFLICT), summary="Read one once more under the settings of today",
)  # fmt: skip
def retry_dead_letter(request: Request, who: Resolver, id: Annotated[Id, Path()]) -> Begun:  # noqa: A002
    """In the background: what cannot be an interaction today stays a dead letter, with the problem of today."""
    application: Application = request.app.state.application
    row = DeadLetters(application.engine).whole(id)
    if row is None:
        raise HTTPException(NOT_FOUND, "no such dead letter is stored")
    if row["settled_at"] is not None:
        raise HTTPException(CONFLICT, f"a retry has settled it: {row['outcome']}")

    def work(_: Any, stop: Event) -> str:
        done = retry(application, LetterFilter(ids=(id,)), app=None, dialect=None, stop=stop)
        return f"{done.assessed} assessed, {done.duplicate} duplicate, {done.dead} still dead"

    jobs: Jobs = request.app.state.jobs
    if not jobs.start(JOB, work, by=who.name):
        raise HTTPException(CONFLICT, "others are being read once more now; try again in a while")
    return Begun(begun=True)


def _letter(row: ListedLetter) -> Letter:
    return Letter(**_plain({name: getattr(row, name) for name in Letter.model_fields}))


def _whole(row: Mapping[str, Any], *, clear: bool) -> WholeLetter:
    shown = _read if clear else _masked
    return WholeLetter(
        **_plain({name: row[name] for name in Letter.model_fields}),
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


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """What is wrong with a message quotes it."""
    return {**row, "path": redact(row["path"]), "problem": redact(row["problem"])}


def _read(value: bytes) -> str:
    return bytes(value).decode("utf-8", "replace")


def _masked(value: bytes) -> str:
    return redact(decode_escapes(_read(value)))
