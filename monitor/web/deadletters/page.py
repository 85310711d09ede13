"""The pages of dead letters: their list with the most frequent problems, one with its message, and retries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import takewhile
from threading import Event
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, HTTPException, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from monitor.app.deadletters import retry
from monitor.app.wiring.application import Application
from monitor.core.errors import InvalidMessage, problem_at
from monitor.ingest.times import instant
from monitor.privacy.masking import redact, redact_head
from monitor.store.audit_queue import Act, Kind, record_act
from monitor.store.database import TakesTooLong
from monitor.store.deadletters.dead_letters import DeadLetters, LetterFilter
from monitor.store.deadletters.list import COUNTED, PAGE, LetterList
from monitor.web.base.access import Identity, Permission
from monitor.web.base.escape import decode_head, escape_invisible
from monitor.web.base.guard import Needs
from monitor.web.base.jobs import Jobs, Progress
from monitor.web.base.page import page

router = APIRouter()
JOB = "dead letters"
SHOWN = 20_000  # bytes of a message
_LOOKAHEAD = 1_000  # bytes after those, which masking needs to recognize what the end has cut in two
_HEAD = 100  # characters of a message in the list
_MAX_FIELD = 1_000  # characters
_MAX_ID = 2**63 - 1  # of a Postgres bigint
STATES = {"open": True, "settled": False, "all": None}
NOTICES = {
    "begun": "The retry has started in the background.",
    "busy": "Another retry is running. Wait until it has ended.",
}
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Resolver = Annotated[Identity, Depends(Needs(Permission.RESOLVE))]
Unmasker = Annotated[Identity, Depends(Needs(Permission.UNMASK))]
Number = Annotated[int, Path(ge=1, le=_MAX_ID)]
Parameter = Annotated[str, Query(max_length=_MAX_FIELD)]
Field = Annotated[str, Form(max_length=_MAX_FIELD)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterForm:
    """The fields of the filter form as typed; times without a zone are UTC."""

    topic: str = ""
    problem: str = ""
    since: str = ""
    until: str = ""
    state: str = "open"

    def parse(self) -> LetterFilter:
        """The filter for the query.

        Raises:
            InvalidMessage: a time cannot be read.
        """
        return LetterFilter(
            topic=self.topic or None,
            problem=self.problem or None,
            since=_time(self.since, "from"),
            until=_time(self.until, "before"),
            open=STATES.get(self.state, True),
        )

    def path(self, **more: str | int) -> str:
        """The address of the filtered list."""
        query = {name: getattr(self, name) for name in self.__slots__} | more
        return f"/dead-letters?{urlencode({name: value for name, value in query.items() if value}, errors='replace')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePart:
    """A part of a message as text, and how many of its bytes are left out."""

    name: str
    text: str
    more: int = 0


@router.get("/dead-letters")
def dead_letters(
    request: Request,
    who: Viewer,
    *,
    topic: Parameter = "",
    problem: Parameter = "",
    since: Parameter = "",
    until: Parameter = "",
    state: Parameter = "open",
    before: Annotated[int | None, Query(ge=1, le=_MAX_ID)] = None,
    notice: Parameter = "",
) -> HTMLResponse:
    """Lists dead letters with their most frequent problems."""
    application: Application = request.app.state.application
    state = state if state in STATES else "open"
    form = FilterForm(topic=topic, problem=problem, since=since, until=until, state=state)
    error, rows, causes = None, [], []
    try:
        parsed, letters = form.parse(), LetterList(application.engine)
        rows = letters.page(parsed, before=before)
        causes = letters.causes(parsed) if rows and before is None else []
    except (InvalidMessage, TakesTooLong) as failure:
        error = str(failure)
    return page(
        request,
        "deadletters/dead_letters.html",
        who,
        message=NOTICES.get(notice),
        form=form,
        states=STATES,
        error=error,
        letters=rows[:PAGE],
        head=_head,
        older=form.path(before=rows[PAGE - 1].id) if len(rows) > PAGE else None,
        newest=form.path() if before is not None else None,
        causes=causes,
        cause_path=lambda cause: replace(
            form,
            topic=cause.topic if redact(cause.topic) == cause.topic else form.topic,
            problem=findable(problem_at(cause.path, cause.problem)),
        ).path(),
        counted=COUNTED,
        job=request.app.state.jobs.latest(JOB),
        place=place,
    )


@router.get("/dead-letters/{number}")
def dead_letter(request: Request, who: Viewer, number: Number) -> HTMLResponse:
    """Shows a dead letter, masked."""
    return _letter(request, who, _whole(request, number), clear=False)


@router.get("/dead-letters/{number}/clear", dependencies=[Depends(Needs(Permission.VIEW))])
def clear_again(number: Number) -> Response:
    """Where a letter in clear is loaded again: leads to it, masked."""
    return RedirectResponse(f"/dead-letters/{number}", 303)


@router.post("/dead-letters/{number}/clear")
def clear(request: Request, who: Unmasker, number: Number) -> HTMLResponse:
    """Shows a dead letter in clear, after the look is queued for the audit trail."""
    application: Application = request.app.state.application
    row = _whole(request, number)
    look = Act(
        kind=Kind.LOOK,
        by=who.name,
        at=application.now(),
        subject=f"dead letter {number}",
        body={"fields": ["value", "key", "headers"]},
    )
    record_act(application.engine, look)
    return _letter(request, who, row, clear=True)


@router.post("/dead-letters/retry")
def retry_several(
    request: Request,
    who: Resolver,
    *,
    topic: Field = "",
    problem: Field = "",
    since: Field = "",
    until: Field = "",
) -> Response:
    """Retries the open dead letters of a filter in the background."""
    form = FilterForm(topic=topic, problem=problem, since=since, until=until)
    try:
        parsed = form.parse()
    except InvalidMessage as error:
        raise HTTPException(422, str(error)) from None
    return RedirectResponse(form.path(notice=_start_retry(request, who, parsed)), 303)


@router.post("/dead-letters/{number}/retry")
def retry_one(request: Request, who: Resolver, number: Number) -> Response:
    """Retries one dead letter in the background."""
    _whole(request, number)
    notice = _start_retry(request, who, LetterFilter(ids=(number,)))
    return RedirectResponse(FilterForm().path(notice=notice), 303)


def place(topic: str, partition: int, position: int) -> str:
    """Where the message was read: topic, partition and position; for a followed file its path and position."""
    return f"{topic.rpartition('#')[0] or topic}{f'/{partition}' if partition else ''}:{position}"


def message_parts(row: Mapping[str, Any], *, clear: bool) -> Iterator[MessagePart]:
    """Key, headers and value of a message, invisible characters written out; personal data masked unless `clear`."""
    named = [("Key", row["key"])] if row["key"] is not None else []
    named += [
        (f"Header {escape_invisible(name)}", value)
        for name, value in zip(row["header_names"], row["header_values"], strict=True)
    ]
    for name, value in (*named, ("Message", row["value"])):
        text, more = decode_head(bytes(value), SHOWN)
        if not clear:
            longer, _ = decode_head(bytes(value), SHOWN + _LOOKAHEAD)
            text = redact_head(longer, len(text))
        yield MessagePart(name=name, text=escape_invisible(text), more=more)


def findable(problem: str) -> str:
    """The beginning of a problem, up to where masking changes it: a search for it finds its letters."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(problem, redact(problem), strict=False))
    return "".join(character for character, _ in same)[:_MAX_FIELD]


def _head(value: bytes) -> str:
    """The beginning of a message for the list, masked."""
    text, _ = decode_head(value, len(value))
    return escape_invisible(redact_head(text, _HEAD))


def _start_retry(request: Request, who: Identity, letters: LetterFilter) -> str:
    application: Application = request.app.state.application

    def work(_: Progress, stop: Event) -> str:
        done = retry(application, letters, app=None, dialect=None, stop=stop)
        if not done.asked:
            return "none of them was open"
        result = f"{done.asked} retried: {', '.join(done.outcomes)}"
        return f"{result}, {done.elsewhere} left to another process" if done.elsewhere else result

    jobs: Jobs = request.app.state.jobs
    return "begun" if jobs.start(JOB, work, by=who.name) else "busy"


def _whole(request: Request, number: int) -> Mapping[str, Any]:
    row = DeadLetters(request.app.state.application.engine).whole(number)
    if row is None:
        raise HTTPException(404, "There is no dead letter with this number. It may have been purged.")
    return row


def _letter(request: Request, who: Identity, row: Mapping[str, Any], *, clear: bool) -> HTMLResponse:
    parts = list(message_parts(row, clear=clear))
    return page(
        request,
        "deadletters/dead_letter.html",
        who,
        letter=row,
        parts=parts,
        hides=not clear and parts != list(message_parts(row, clear=True)),
        stored_bytes=len(row["value"]),
        clear=clear,
        place=place(row["topic"], row["partition"], row["position"]),
        job=request.app.state.jobs.latest(JOB),
    )


def _time(text: str, name: str) -> datetime | None:
    return instant(text.strip(), name).astimezone(UTC) if text.strip() else None
