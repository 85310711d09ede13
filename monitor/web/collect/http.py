"""The paths of the door over HTTP: `/v1/traces`, `/v1/logs` and `/v1/interactions`, as an ASGI application."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from monitor.web.base.guard import bearer, names_this_machine
from monitor.web.base.problem import MEDIA_TYPE as PROBLEM
from monitor.web.collect.admission import Place
from monitor.web.collect.body import check_encoding, too_long
from monitor.web.collect.door import Door, Taken
from monitor.web.collect.events import check_media_type
from monitor.web.collect.otlp import JSON, NO_METRICS, PROTOBUF, Signal, reply, retry_seconds, status
from monitor.web.collect.refusal import Refused
from monitor.web.collect.senders import Sender

PREFIX = "/v1/"
THREADS = 4  # they mostly wait for the database
INTERACTIONS = "/v1/interactions"
_SIGNALS = {f"/v1/{signal.value}": signal for signal in Signal}
_METRICS = "/v1/metrics"
_Found = TypeVar("_Found")
log = logging.getLogger(__name__)


class CollectApp:
    """Answers only after what was sent is kept. Threads of its own run what waits for the database."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="collect")

    def close(self) -> None:
        """Waits for requests under way, and tells others to come again."""
        self._door.admission.close()
        self._threads.shutdown()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        path = scope["path"].rstrip("/")
        try:
            if path == INTERACTIONS:
                response = await self._interactions(request)
            else:
                response = await self._telemetry(request, path)
        except Refused as refused:
            response = _refusal(request, path, refused)
        except ClientDisconnect:
            return
        except Exception:
            log.exception("%s: this is a defect", path)
            problem = "this is a defect, or the installation is broken; the log has the details"
            response = _refusal(request, path, Refused(HTTPStatus.INTERNAL_SERVER_ERROR, problem))
        await response(scope, receive, send)

    async def _telemetry(self, request: Request, path: str) -> Response:
        signal = _SIGNALS.get(path)
        if signal is None:
            raise Refused(HTTPStatus.NOT_FOUND, _not_here(path))
        _require_post(request)
        media_type = _media_type(request)
        if media_type not in {PROTOBUF, JSON}:
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Content-Type must be {PROTOBUF} or {JSON}")
        encoding = check_encoding(request.headers.get("content-encoding", ""))
        sender = await self._sender(request)
        as_json = media_type == JSON
        with self._door.admission.place() as place:
            body = await self._body(request, place)
            receipt = await self._run(lambda: self._door.telemetry(signal, body, encoding, sender, as_json=as_json))
        return Response(reply(signal, receipt, as_json=as_json), media_type=media_type)

    async def _interactions(self, request: Request) -> Response:
        _require_post(request)
        media_type = _media_type(request)
        check_media_type(media_type)
        encoding = check_encoding(request.headers.get("content-encoding", ""))
        sender = await self._sender(request)
        with self._door.admission.place() as place:
            body = await self._body(request, place)
            headers = request.headers.raw
            taken = await self._run(lambda: self._door.interactions(body, encoding, media_type, headers, sender))
        return _taken(taken)

    async def _sender(self, request: Request) -> Sender:
        """The sender; asked in another thread only where the database has to be."""
        secret, from_here = bearer(request), names_this_machine(request)
        if self._door.senders.remembered(secret):
            return self._door.sender(secret, from_here=from_here)
        return await self._run(lambda: self._door.sender(secret, from_here=from_here))

    async def _body(self, request: Request, place: Place) -> bytes:
        limit = self._door.settings.max_body_bytes
        announced = request.headers.get("content-length", "0")
        if announced.isdecimal() and int(announced) > limit:
            raise too_long(limit)
        parts: list[bytes] = []
        async for part in request.stream():
            place.grow(len(part))
            if place.bytes > limit:
                raise too_long(limit)
            parts.append(part)
        return b"".join(parts)

    async def _run(self, work: Callable[[], _Found]) -> _Found:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


class Beside:
    """ASGI: the door under its own paths, which sets its own limits, and another application under all others."""

    def __init__(self, door: ASGIApp, others: ASGIApp) -> None:
        self._door = door
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        to_door = scope["type"] == "http" and scope["path"].startswith(PREFIX)
        await (self._door if to_door else self._others)(scope, receive, send)


def _taken(taken: Taken) -> Response:
    rejected = [
        {"index": letter.message.position.offset, "path": letter.path, "problem": letter.problem}
        for letter in taken.rejected
    ]
    found = {"accepted": taken.accepted, "rejected": rejected}
    if rejected and not taken.accepted:
        return _problem(HTTPStatus.BAD_REQUEST, "none of the events is readable", **found)
    return Response(json.dumps(found), HTTPStatus.ACCEPTED, media_type=JSON)


def _refusal(request: Request, path: str, refused: Refused) -> Response:
    """Why a request was not kept: google.rpc.Status where OTLP is spoken, else a problem as in RFC 9457."""
    if path in _SIGNALS or path == _METRICS:
        as_json = _media_type(request) != PROTOBUF
        body = status(refused, as_json=as_json)
        response = Response(body, refused.status, media_type=JSON if as_json else PROTOBUF)
    else:
        response = _problem(refused.status, refused.problem)
    if refused.retry_after is not None:
        response.headers["retry-after"] = str(retry_seconds(refused.retry_after))
    if refused.status == HTTPStatus.METHOD_NOT_ALLOWED:
        response.headers["allow"] = "POST"
    if refused.status == HTTPStatus.UNAUTHORIZED:
        response.headers["www-authenticate"] = "Bearer"
    return response


def _problem(code: HTTPStatus, detail: str, **more: object) -> Response:
    body = {"type": "about:blank", "title": code.phrase, "status": int(code), "detail": detail, **more}
    return Response(json.dumps(body), code, media_type=PROBLEM)


def _not_here(path: str) -> str:
    if path == _METRICS:
        return NO_METRICS
    return f"there is nothing here; send to {', '.join((*_SIGNALS, INTERACTIONS))}"


def _require_post(request: Request) -> None:
    if request.method != "POST":
        raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "send by POST")


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()
