"""The API route of the turns that cannot be scored."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field

from monitor.app.wiring.application import Application
from monitor.core.model import Unscored
from monitor.core.reason_words import UNSCORED_ADVICE, UNSCORED_OF_ONE
from monitor.privacy.masking import redact, redact_head
from monitor.store.interaction.filters import Filters
from monitor.store.interaction.turns.unscored_list import UnscoredTurn, unscored_page
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiResponse, masked
from monitor.web.base.cursor import from_cursor, to_cursor
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import Cursor, Limit, Moment, Text
from monitor.web.base.problem import problems
from monitor.web.interaction.api_filters import DAY, FIRST
from monitor.web.interaction.exact import permitted
from monitor.web.interaction.filters import LACKING

router = APIRouter(tags=["interactions"])
_HEAD = 500  # characters of a text


class UnscoredItem(ApiResponse):
    """A turn without scores, and what to do about it."""

    app: str
    id: str
    occurred_at: datetime
    environment: str
    model: str | None
    question: str = Field(description=f"its first {_HEAD} characters, personal data masked; empty if not known")
    answer: str = Field(description=f"its first {_HEAD} characters, personal data masked; empty if not known")
    unscored: Unscored
    words: str
    advice: str


class UnscoredTurns(ApiResponse):
    """Turns without scores, newest first."""

    items: list[UnscoredItem]
    next: str | None


@router.get(
    "/unscored",
    response_model=UnscoredTurns,
    operation_id="listUnscored",
    responses=problems(),
    summary="List the turns that cannot be scored, newest first",
)
def unscored(
    request: Request,
    who: Annotated[Identity, Depends(Needs(Permission.VIEW))],
    *,
    since: Annotated[Moment | None, Query(description="First time, included; default: a day before `until`.")] = None,
    until: Annotated[Moment | None, Query(description="Last time, excluded; default: now.")] = None,
    app: Annotated[Text | None, Query()] = None,
    environment: Annotated[Text | None, Query()] = None,
    reason: Annotated[Unscored | None, Query(description="Default: all but `probe`.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> UnscoredTurns:
    """Masks personal data for every role."""
    application: Application = request.app.state.application
    end = application.now() if until is None else until
    filters = Filters(
        since=max(end, FIRST + DAY) - DAY if since is None else since,
        until=end,
        app=app,
        environment=environment,
        unscored=LACKING if reason is None else frozenset({reason}),
    )
    place = None if cursor is None else from_cursor(cursor)
    found = unscored_page(application.engine, permitted(request, who, filters), older_than=place, most=limit)
    return UnscoredTurns(
        items=list(map(_item, found.rows)), next=None if found.older is None else to_cursor(found.older)
    )


def _item(turn: UnscoredTurn) -> UnscoredItem:
    return UnscoredItem(
        app=turn.app,
        id=turn.id,
        occurred_at=turn.occurred_at,
        environment=redact(turn.environment),
        model=masked(turn.model),
        question=redact_head(turn.question, _HEAD),
        answer=redact_head(turn.answer, _HEAD),
        unscored=turn.unscored,
        words=UNSCORED_OF_ONE[turn.unscored],
        advice=UNSCORED_ADVICE[turn.unscored],
    )
