"""Signs in the user of this machine by the link that the start has printed: once, and while there is no token."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from monitor.core.errors import Retriable
from monitor.store.tokens import Session
from monitor.web.base.access import LOCAL, Role
from monitor.web.base.guard import Guard, require_this_machine
from monitor.web.signin.signin import begin_session, count_attempt, sign_in_form

PATH = "/signin/link"
_SPENT = "This link was used before, or is of an earlier start. A restart of monitor serve prints a new one."
router = APIRouter(include_in_schema=False)


def sign_in_link(dashboard: str, guard: Guard) -> str:
    """The link for the dashboard at the address `dashboard`."""
    return f"{dashboard}{PATH}?{urlencode({'secret': guard.link.secret})}"


@router.get(PATH)
def sign_in_by_link(request: Request, secret: str = "") -> Response:
    guard: Guard = request.app.state.guard
    if guard.is_closed():
        return sign_in_form(request, "/", "Access tokens exist now: sign in with one.", status=403)
    require_this_machine(request)
    count_attempt(request)
    if not guard.link.use(secret):
        if guard.identify(request) is not None:  # the browser that has used it
            return RedirectResponse("/", HTTPStatus.SEE_OTHER)
        return sign_in_form(request, "/", _SPENT, status=403)
    try:
        return begin_session(request, Session(subject=LOCAL, role=Role.ADMIN), "/")
    except Retriable:
        guard.link.renew()
        raise
