"""Headers of every answer: what a browser may do with it, even where a chatbot's text got into a page as HTML."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Nothing but our own files; no inline script or style, no frame, no form or link base of somebody else's.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; manifest-src 'self'"
)
STATIC = "/static"
_FIXED = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
}
_YEAR = 31_536_000


def make_safe(headers: MutableHeaders, *, secure: bool, private: bool = True) -> None:
    """Adds what an answer does not bring along itself; what is `private` is not kept by caches."""
    for name, value in _FIXED.items():
        headers.setdefault(name, value)
    headers.setdefault("cache-control", "no-store" if private else "no-cache")
    if secure:
        headers.setdefault("strict-transport-security", f"max-age={_YEAR}")


class SafeHeaders:
    """ASGI middleware: every answer is made safe, and HEAD is answered as GET is, without the body."""

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self._app = app
        self._secure = secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        bare = scope["method"] == "HEAD"
        private = not scope["path"].startswith(f"{STATIC}/")

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                make_safe(MutableHeaders(scope=message), secure=self._secure, private=private)
            elif bare and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"} if bare else scope, receive, sent)
