"""The API route of the ledger, which accounts for every message."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import ConfigDict

from monitor.app.ledger import ledger_json
from monitor.app.wiring.application import Application
from monitor.store.ledger.ledger import Ledger
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiResponse
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import Text
from monitor.web.base.problem import problems

router = APIRouter(tags=["ledger"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]


class LedgerRow(ApiResponse):
    """The counts of one partition that a consumer group has read; further counts appear under their names."""

    model_config = ConfigDict(extra="allow")

    group: str
    topic: str
    partition: int
    live: bool
    next_offset: int
    received: int
    assessed: int
    duplicate: int
    dead: int
    pending: int
    unscored: int
    balanced: bool
    unaccounted: int
    unread: int


class Account(ApiResponse):
    """The ledger; balanced when every row and the total have an outcome for each message.

    received = assessed + duplicate + dead + pending + unscored.
    """

    balanced: bool
    rows: list[LedgerRow]
    total: dict[str, int]


@router.get(
    "/ledger",
    response_model=Account,
    operation_id="getLedger",
    responses=problems(),
    summary="Get the ledger of all messages",
)
def ledger(
    request: Request,
    _: Viewer,
    group: Annotated[Text | None, Query(description="Only this consumer group.")] = None,
    topic: Annotated[Text | None, Query(description="Only this topic or file.")] = None,
) -> Account:
    """Returns the stored counts by group, topic and partition; `monitor ledger --recount` also counts the rows."""
    application: Application = request.app.state.application
    rows, _recounted = Ledger(application.engine).read(group=group, topic=topic)
    return Account(**ledger_json(rows, None))
