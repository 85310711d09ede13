"""Dead letters: messages that could not be interactions, what is wrong with them, and another try."""

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
from monitor.core.errors import InvalidMessage
from monitor.ingest.times import instant
from monitor.privacy.masking import redact, redact_head
from monitor.store.audit_queue import Act, Kind, keep_act
from monitor.store.database import TakesTooLong
from monitor.store.deadletters.dead_letters import DeadLetters, LetterFilter
from monitor.store.deadletters.list import COUNTED, PAGE, LetterList
from monitor.web.base.access import Identity, Permission
from monitor.web.base.escape import decode_escapes, decode_head, escape_invisible
from monitor.web.base.guard import Needs
from monitor.web.base.jobs import Jobs, Progress
from monitor.web.base.page import page

router = APIRouter()
JOB = "dead letters"  # of which one is at work at a time
SHOWN = 20_000  # bytes of a message
_BEHIND = 1_000  # bytes behind those
_BEGINS = 100  # characters of one in the list
_LONGEST = 1_000  # characters of a field
_HIGHEST = 2**63 - 1  # that Postgres takes for an id
STATES = {"open": True, "settled": False, "all": None}
NOTICES = {
    "begun": "They are read once more, in the background.",
    "busy": "Others are being read once more: wait for that to end.",
}
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Resolver = Annotated[Identity, Depends(Needs(Permission.RESOLVE))]
Unmasker = Annotated[Identity, Depends(Needs(Permission.UNMASK))]
Number = Annotated[int, Path(ge=1, le=_HIGHEST)]
Asked = Annotated[str, Query(max_length=_LONGEST)]
Field = Annotated[str, Form(max_length=_LONGEST)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What the form asks for, as it was written; times without a zone are UTC."""

    topic: str = ""
    problem: str = ""
    since: str = ""
    until: str = ""
    state: str = "open"

    def wanted(self) -> LetterFilter:
        """The letters that are meant.

        Raises:
            InvalidMessage: a time is none.
        """
        return LetterFilter(
            topic=self.topic or None,
            problem=self.problem or None,
            since=_time(self.since, "from"),
            until=_time(self.until, "before"),
            open=STATES.get(self.state, True),
        )

    def path(self, **more: str | int) -> str:
        """The list of them."""
        query = {name: getattr(self, name) for name in self.__slots__} | more
        return f"/dead-letters?{urlencode({name: value for name, value in query.items() if value}, errors='replace')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A value of a message as text, and how many of its bytes are left out."""

    name: str
    text: str
    more: int = 0


@router.get("/dead-letters")
def dead_letters(
    request: Request,
    who: Viewer,
    *,
    topic: Asked = "",
    problem: Asked = "",
    since: Asked = "",
    until: Asked = "",
    state: Asked = "open",
    before: Annotated[int | None, Query(ge=1, le=_HIGHEST)] = None,
    said: Asked = "",
) -> HTMLResponse:
    """The list, with what is wrong with most of them."""
    application: Application = request.app.state.application
    asked = Filter(topic=topic, problem=problem, since=since, until=until, state=state if state in STATES else "open")
    wrong, rows, causes = None, [], []
    try:
        wanted, letters = asked.wanted(), LetterList(application.engine)
        rows = letters.page(wanted, before=before)
        causes = letters.causes(wanted) if rows and before is None else []
    except (InvalidMessage, TakesTooLong) as error:
        wrong = str(error)
    return page(
        request,
        "deadletters/dead_letters.html",
        who,
        said=NOTICES.get(said),
        asked=asked,
        states=STATES,
        wrong=wrong,
        letters=rows[:PAGE],
        begins=lambda value: escape_invisible(redact_head(decode_escapes(decode_head(value, len(value))[0]), _BEGINS)),
        older=asked.path(before=rows[PAGE - 1].id) if len(rows) > PAGE else None,
        newest=asked.path() if before is not None else None,
        causes=causes,
        cause_path=lambda its: replace(asked, topic=its.topic, problem=findable(f"{its.path}: {its.problem}")).path(),
        counted=COUNTED,
        job=request.app.state.jobs.latest(JOB),
        place=place,
    )


@router.get("/dead-letters/{number}")
def dead_letter(request: Request, who: Viewer, number: Number) -> HTMLResponse:
    """One, masked."""
    return _letter(request, who, _whole(request, number), clear=False)


@router.post("/dead-letters/{number}/clear")
def clear(request: Request, who: Unmasker, number: Number) -> HTMLResponse:
    """The same in clear, once the trail has it."""
    application: Application = request.app.state.application
    row = _whole(request, number)
    look = Act(
        kind=Kind.LOOK,
        by=who.name,
        at=application.now(),
        subject=f"dead letter {number}",
        body={"fields": ["value", "key", "headers"]},
    )
    keep_act(application.engine, look)
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
    """Reads the open ones among them once more, in the background."""
    asked = Filter(topic=topic, problem=problem, since=since, until=until)
    try:
        wanted = asked.wanted()
    except InvalidMessage as error:
        raise HTTPException(422, str(error)) from None
    return RedirectResponse(asked.path(notice=_begin(request, who, wanted)), 303)


@router.post("/dead-letters/{number}/retry")
def retry_one(request: Request, who: Resolver, number: Number) -> Response:
    """The same of one."""
    _whole(request, number)
    said = _begin(request, who, LetterFilter(ids=(number,)))
    return RedirectResponse(Filter().path(notice=said), 303)


def place(topic: str, partition: int, position: int) -> str:
    """Where the message stood: topic, partition and position; of a followed file its path only."""
    return f"{topic.rpartition('#')[0] or topic}{f'/{partition}' if partition else ''}:{position}"


def parts(row: Mapping[str, Any], *, clear: bool) -> Iterator[Shown]:
    """Key, headers and value of a whole letter with nothing hidden in them; personal data masked unless `clear`."""
    named = [("Key", row["key"])] if row["key"] is not None else []
    named += [
        (f"Header {escape_invisible(name)}", value)
        for name, value in zip(row["header_names"], row["header_values"], strict=True)
    ]
    for name, value in (*named, ("Message", row["value"])):
        text, more = decode_head(bytes(value), SHOWN)
        if not clear:  # with what stands behind it, which tells what the end has cut in two
            whole, _ = decode_head(bytes(value), SHOWN + _BEHIND)
            text = redact_head(decode_escapes(whole), len(decode_escapes(text)))
        yield Shown(name=name, text=escape_invisible(text), more=more)


def findable(problem: str) -> str:
    """As much of the beginning of a problem as masking leaves, by which its letters are found."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(problem, redact(problem), strict=False))
    return "".join(character for character, _ in same)[:_LONGEST]


def _begin(request: Request, who: Identity, wanted: LetterFilter) -> str:
    application: Application = request.app.state.application

    def work(_: Progress, stop: Event) -> str:
        done = retry(application, wanted, app=None, dialect=None, stop=stop)
        if not done.asked:
            return "no open dead letter was among them"
        said = f"{done.asked} tried: {done.assessed} assessed, {done.duplicate} duplicate, {done.dead} still dead"
        return f"{said}, {done.elsewhere} taken by another process" if done.elsewhere else said

    jobs: Jobs = request.app.state.jobs
    return "begun" if jobs.start(JOB, work, by=who.name) else "busy"


def _whole(request: Request, number: int) -> Mapping[str, Any]:
    row = DeadLetters(request.app.state.application.engine).whole(number)
    if row is None:
        raise HTTPException(404, "There is no dead letter of this number; it may have been purged.")
    return row


def _letter(request: Request, who: Identity, row: Mapping[str, Any], *, clear: bool) -> HTMLResponse:
    return page(
        request,
        "deadletters/dead_letter.html",
        who,
        letter=row,
        parts=list(parts(row, clear=clear)),
        kept_bytes=len(row["value"]),
        clear=clear,
        place=place(row["topic"], row["partition"], row["position"]),
        job=request.app.state.jobs.latest(JOB),
    )


def _time(text: str, name: str) -> datetime | None:
    return instant(text.strip(), name).astimezone(UTC) if text.strip() else None
