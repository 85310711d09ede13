"""The web application: every router, and what an error looks like to a browser and to a script."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from urllib.parse import urlencode

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.routing import Match

from monitor.app.wiring.application import Application
from monitor.core.errors import MonitorError, Retriable, WrongSettings
from monitor.store.database import TakesTooLong
from monitor.web import health
from monitor.web.alert.configured_rules import ConfiguredRules
from monitor.web.audit.jobs import LastVerification
from monitor.web.base.document import Described
from monitor.web.base.guard import SAFE, Forbidden, Guard, NotSignedIn, bearer
from monitor.web.base.headers import STATIC, SafeHeaders, make_safe
from monitor.web.base.jobs import Jobs
from monitor.web.base.page import HERE, bare_page
from monitor.web.base.problem import MEDIA_TYPE
from monitor.web.report.rendered import RenderedReports
from monitor.web.review.candidates import CandidateCache
from monitor.web.routes import PREFIX as API
from monitor.web.routes import api as api_router
from monitor.web.routes import pages as pages_router
from monitor.web.signin import signin, signin_oidc

log = logging.getLogger(__name__)
_AGAIN = 5  # seconds after which a script may ask again when the database was away
_LARGEST_BODY = 2**20  # bytes of a request


def create_app(application: Application, guard: Guard) -> FastAPI:
    """The dashboard over what `application` has wired; `guard` says who may see it.

    Raises:
        WrongSettings: OIDC is configured, and MONITOR_PUBLIC_URL is not.
    """
    app = Described(
        title="monitor",
        version="1",
        summary="Verdicts, alerts, reports and the audit trail of RAG chatbots.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # Swagger's page is fetched from elsewhere
        redoc_url=None,
        max_body_size=_LARGEST_BODY,
    )
    app.state.application = application
    app.state.guard = guard
    app.state.provider = signin_oidc.provider(application.settings, guard)
    app.state.collector = health.collector(application)
    app.state.readiness = health.Readiness(application.queries.answers)
    app.state.jobs = Jobs(application.now)
    app.state.rules = ConfiguredRules(application)
    app.state.candidates = CandidateCache(application.reviews)
    app.state.rendered_reports = RenderedReports(application)
    app.state.verification = LastVerification()
    for router in (health.router, signin.router, signin_oidc.router, api_router, pages_router):
        app.include_router(router)
    app.mount(STATIC, StaticFiles(directory=HERE / "static"), name="static")
    app.add_middleware(SafeHeaders, secure=guard.secure)
    for error, answer in _ANSWERS.items():
        app.add_exception_handler(error, answer)
    return app


def _not_signed_in(request: Request, error: Exception) -> Response:
    if _for_script(request):
        return _problem(HTTPStatus.UNAUTHORIZED, str(error), **{"WWW-Authenticate": "Bearer"})
    at = "/"
    if request.method in SAFE:  # as it was written: a decoded %2F would be another path
        at = request.scope["raw_path"].decode("latin-1") + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"{signin.PATH}?{urlencode({'next': at})}", HTTPStatus.SEE_OTHER)


def _forbidden(request: Request, error: Exception) -> Response:
    return _answer(request, HTTPStatus.FORBIDDEN, str(error))


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  it is what this is registered for
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["allow"] = _allowed(request)
    return _answer(request, HTTPStatus(error.status_code), str(error.detail), **headers)


def _allowed(request: Request) -> str:
    """The methods of all routes of an address; the framework names those of the first."""
    routes = request.app.router.routes
    found = [
        method
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    return ", ".join(["HEAD"] * ("GET" in found) + found)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    said = "; ".join(f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in error.errors())
    return _answer(request, HTTPStatus.UNPROCESSABLE_ENTITY, said)


def _refused(request: Request, error: Exception) -> Response:
    return _answer(request, HTTPStatus.BAD_REQUEST, str(error))


def _away(request: Request, error: Exception) -> Response:
    log.warning("%s: %s", request.url.path, error)
    said = "the database is out of reach, or too busy, for now; nothing was changed"
    return _answer(request, HTTPStatus.SERVICE_UNAVAILABLE, said, **{"Retry-After": str(_AGAIN)})


def _too_long(request: Request, error: Exception) -> Response:
    return _answer(request, HTTPStatus.SERVICE_UNAVAILABLE, str(error))


def _failed(request: Request, error: Exception) -> Response:
    log.error("%s: %s", request.url.path, error, exc_info=error)
    said = "a defect, or a broken installation; the log says more"
    answer = _answer(request, HTTPStatus.INTERNAL_SERVER_ERROR, said)
    make_safe(answer.headers, secure=request.app.state.guard.secure)  # it is made outside of all middleware
    return answer


_ANSWERS: dict[type[Exception], Callable[[Request, Exception], Response | Awaitable[Response]]] = {
    NotSignedIn: _not_signed_in,
    Forbidden: _forbidden,
    HTTPException: _http,
    RequestValidationError: _invalid,
    WrongSettings: _refused,
    TakesTooLong: _too_long,
    Retriable: _away,
    MonitorError: _failed,
    Exception: _failed,
}


def _for_script(request: Request) -> bool:
    return request.url.path.startswith(f"{API}/") or bearer(request) is not None


def _answer(request: Request, status: HTTPStatus, said: str, **headers: str) -> Response:
    if _for_script(request):
        return _problem(status, said, **headers)
    answer = bare_page("base/error.html", status=status, code=int(status), title=status.phrase, said=said)
    answer.headers.update(headers)
    return answer


def _problem(status: HTTPStatus, said: str, **headers: str) -> Response:
    """RFC 9457."""
    body = {"type": "about:blank", "title": status.phrase, "status": int(status), "detail": said}
    return JSONResponse(body, status, headers, media_type=MEDIA_TYPE)
