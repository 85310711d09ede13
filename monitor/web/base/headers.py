"""Security headers of every response: they bind the browser even if a chatbot's text gets into a page as HTML."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Only our own files load; no inline script or style, no foreign frame, form target or link base.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; manifest-src 'self'"
)
STATIC = "/static"
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
}
_YEAR = 31_536_000  # seconds


def make_safe(headers: MutableHeaders, *, secure: bool, private: bool = True) -> None:
    """Adds the headers that a response does not set itself; caches do not store a `private` response."""
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("cache-control", "no-store" if private else "no-cache")
    if secure:
        headers.setdefault("strict-transport-security", f"max-age={_YEAR}")


class SafeHeaders:
    """ASGI middleware: makes every response safe, and answers HEAD as GET without the body."""

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self._app = app
        self._secure = secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        head = scope["method"] == "HEAD"
        private = not scope["path"].startswith(f"{STATIC}/")

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                make_safe(MutableHeaders(scope=message), secure=self._secure, private=private)
            elif head and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"} if head else scope, receive, send_safely)
