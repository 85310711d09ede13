"""The ledger: what became of every message."""

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
    """One partition that a group read; beside these its counts, by name."""

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
    balanced: bool
    unaccounted: int
    unread: int


class Account(ApiResponse):
    """received = assessed + duplicate + dead + pending, in every row and in total."""

    balanced: bool
    rows: list[LedgerRow]
    total: dict[str, int]


@router.get(
    "/ledger", response_model=Account, operation_id="getLedger", responses=problems(),
    summary="What became of every message",
)  # fmt: skip
def ledger(
    request: Request,
    _: Viewer,
    group: Annotated[Text | None, Query(description="Only this consumer group's.")] = None,
    topic: Annotated[Text | None, Query(description="Only that of this topic or file.")] = None,
) -> Account:
    """By group, topic and partition, as it was counted; `monitor ledger --recount` counts the rows too."""
    application: Application = request.app.state.application
    rows, _recounted = Ledger(application.engine).read(group=group, topic=topic)
    return Account(**ledger_json(rows, None))
