"""Builds the web application: all routers, what they keep in this process, and the responses to errors."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import cast
from urllib.parse import urlencode, urlsplit

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.routing import Match

from monitor.app.metrics.health import Health, Readiness, lives
from monitor.app.wiring.application import Application
from monitor.app.wiring.prices import currency_of
from monitor.core.errors import MonitorError, Retriable, WrongSettings
from monitor.core.text.plain import without_prefix
from monitor.store.database import TakesTooLong
from monitor.store.review.shortage import shortage
from monitor.web import health
from monitor.web.alert.configured_rules import ConfiguredRules
from monitor.web.alert.rules_checks import RulesChecks
from monitor.web.audit.jobs import LastVerification
from monitor.web.base.guard import SAFE_METHODS, Forbidden, Guard, NotSignedIn, bearer
from monitor.web.base.headers import STATIC, SafeHeaders, make_safe
from monitor.web.base.jobs import Jobs
from monitor.web.base.openapi import DashboardApp
from monitor.web.base.page import WEB_FOLDER, bare_page
from monitor.web.base.problem import MEDIA_TYPE
from monitor.web.report.rendered import RenderedReports
from monitor.web.review.candidates import CandidateCache
from monitor.web.review.standing import StandingCache
from monitor.web.routes import PREFIX as API
from monitor.web.routes import api as api_router
from monitor.web.routes import pages as pages_router
from monitor.web.signin import signin, signin_link, signin_oidc

log = logging.getLogger(__name__)
_RETRY_AFTER = 5  # seconds that a script should wait when the database is out of reach
_MAX_BODY = 2**20  # bytes of a request
# All applications of a process have the same routes: what each takes is read once, which lasts a tenth of a second.
_ROUTER = APIRouter(max_body_size=_MAX_BODY)
for _router in (health.router, signin.router, signin_link.router, signin_oidc.router, api_router, pages_router):
    _ROUTER.include_router(_router)


def create_app(application: Application, guard: Guard) -> FastAPI:
    """The dashboard over what `application` has wired; `guard` decides who may use it.

    Raises:
        WrongSettings: OIDC is configured, but MONITOR_PUBLIC_URL is not; or the file of prices is wrong.
    """
    app = DashboardApp(
        title="monitor",
        version="1",
        summary="Verdicts, alerts, reports and the audit trail of RAG chatbots.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # Swagger's page loads scripts from another site
        redoc_url=None,
        max_body_size=_MAX_BODY,
        routes=_ROUTER.routes,
    )
    app.state.application = application
    app.state.guard = guard
    app.state.provider = signin_oidc.provider(application.settings, guard)
    app.state.currency = currency_of(application.settings)
    app.state.metrics_pages = application.metrics_pages
    app.state.health = Health(alive=lives, ready=Readiness(application.queries.ping).check)
    app.state.jobs = Jobs(application.now)
    app.state.rules = ConfiguredRules(application)
    app.state.rules_checks = RulesChecks(application, app.state.jobs, app.state.rules.load)
    app.state.candidates = CandidateCache(application.reviews, application.plans)
    app.state.standing = StandingCache(partial(shortage, application.engine), application.reviews)
    app.state.rendered_reports = RenderedReports(application)
    app.state.verification = LastVerification()
    app.mount(STATIC, StaticFiles(directory=WEB_FOLDER / "static"), name="static")
    app.add_middleware(SafeHeaders, secure=guard.secure)
    for error, handler in _HANDLERS.items():
        app.add_exception_handler(error, handler)
    return app


def _not_signed_in(request: Request, error: Exception) -> Response:
    if _wants_json(request):
        return _problem(HTTPStatus.UNAUTHORIZED, str(error), **{"WWW-Authenticate": "Bearer"})
    destination = _page_of_form(request)
    if request.method in SAFE_METHODS:  # the raw path: a decoded %2F would be another path
        query = f"?{request.url.query}" if request.url.query else ""
        destination = request.scope["raw_path"].decode("latin-1") + query
    return RedirectResponse(f"{signin.PATH}?{urlencode({'next': destination})}", HTTPStatus.SEE_OTHER)


def _page_of_form(request: Request) -> str:
    """The path of the page whose form made the request, so that who signs in again finds it; else the overview."""
    guard: Guard = request.app.state.guard
    try:
        page = urlsplit(request.headers.get("referer", ""))
    except ValueError:  # brackets without an address
        return "/"
    if not page.path or not guard.is_own_origin(f"{page.scheme}://{page.netloc}", request.headers.get("host")):
        return "/"
    return f"{page.path}?{page.query}" if page.query else page.path


def _forbidden(request: Request, error: Exception) -> Response:
    return _answer(request, HTTPStatus.FORBIDDEN, str(error))


def _http(request: Request, error: Exception) -> Response:
    error = cast("HTTPException", error)
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["allow"] = _allowed_methods(request)
    return _answer(request, HTTPStatus(error.status_code), str(error.detail), **headers)


def _allowed_methods(request: Request) -> str:
    """The methods of all routes of an address; the framework names only those of the first route."""
    routes = request.app.router.routes
    methods = [
        method
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    return ", ".join(["HEAD"] * ("GET" in methods) + methods)


def _invalid(request: Request, error: Exception) -> Response:
    faults = cast("RequestValidationError", error).errors()
    message = "; ".join(f"{'.'.join(map(str, fault['loc'][1:]))}: {without_prefix(fault['msg'])}" for fault in faults)
    return _answer(request, HTTPStatus.UNPROCESSABLE_ENTITY, message)


def _bad_request(request: Request, error: Exception) -> Response:
    return _answer(request, HTTPStatus.BAD_REQUEST, str(error))


def _database_away(request: Request, error: Exception) -> Response:
    log.warning("%s: %s", request.url.path, error)
    message = "the database is out of reach or too busy; nothing was changed, try again in a few seconds"
    return _answer(request, HTTPStatus.SERVICE_UNAVAILABLE, message, **{"Retry-After": str(_RETRY_AFTER)})


def _too_long(request: Request, error: Exception) -> Response:
    return _answer(request, HTTPStatus.SERVICE_UNAVAILABLE, str(error))


def _failed(request: Request, error: Exception) -> Response:
    log.error("%s failed", request.url.path, exc_info=error)
    message = "this is a defect, or the installation is broken; the log has the details"
    response = _answer(request, HTTPStatus.INTERNAL_SERVER_ERROR, message)
    make_safe(response.headers, secure=request.app.state.guard.secure)  # this response bypasses all middleware
    return response


_HANDLERS: dict[type[Exception], Callable[[Request, Exception], Response | Awaitable[Response]]] = {
    NotSignedIn: _not_signed_in,
    Forbidden: _forbidden,
    HTTPException: _http,
    RequestValidationError: _invalid,
    WrongSettings: _bad_request,
    TakesTooLong: _too_long,
    Retriable: _database_away,
    MonitorError: _failed,
    Exception: _failed,
}


def _wants_json(request: Request) -> bool:
    return request.url.path.startswith(f"{API}/") or bearer(request) is not None


def _answer(request: Request, status: HTTPStatus, message: str, **headers: str) -> Response:
    if _wants_json(request):
        return _problem(status, message, **headers)
    if message == HTTPStatus.NOT_FOUND.phrase:  # the framework's, for an address without a route
        message = "there is no page at this address"
    sentence = f"{message[:1].upper()}{message[1:].rstrip('.')}."
    response = bare_page("base/error.html", status=status, code=int(status), title=status.phrase, message=sentence)
    response.headers.update(headers)
    return response


def _problem(status: HTTPStatus, message: str, **headers: str) -> Response:
    """A problem as in RFC 9457."""
    body = {"type": "about:blank", "title": status.phrase, "status": int(status), "detail": message}
    return JSONResponse(body, status, headers, media_type=MEDIA_TYPE)
