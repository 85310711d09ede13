"""A scripted Slack on 127.0.0.1: chat.postMessage, chat.update and incoming webhooks over real HTTP.

It refuses what Slack's documentation (https://docs.slack.dev/reference/block-kit) says that Slack refuses: unknown
block types and keys, texts that are empty or too long, too many blocks. Lengths are counted in UTF-16 units, the
strictest reading. It keeps the messages as a channel would show them, with edits and threads. `script` holds what the
next requests meet instead of an orderly answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

TOKEN = "xoxb-7531-2468-TopSecretBotToken"
HOOK_PATH = "/services/T0001/B0001/TopSecretHookPath"
CHANNEL = "C0ALERTS"
CHANNEL_NAME = "#alerts"

# Slack's own formatting that can ping or link: <!here>, <@U1>, <#C1>. Links <https://…|…> are the receiver's own.
PING = re.compile(r"<[!@#]")

_TEXT_LIMIT = 3_000
_FALLBACK_LIMIT = 4_000
_TOTAL_LIMIT = 10_000  # our own; Slack's is higher and undocumented
_BLOCK_KEYS = {
    "header": {"type", "text", "block_id"},
    "section": {"type", "text", "fields", "block_id"},
    "context": {"type", "elements", "block_id"},
    "divider": {"type", "block_id"},
}
_ARGUMENTS = {"channel", "text", "blocks", "parse", "link_names", "unfurl_links", "unfurl_media", "mrkdwn"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What a request meets: an HTTP answer, or no answer at all. With `lost`, it was carried out nevertheless."""

    status: int = 200
    error: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    hang_up: bool = False
    lost: bool = False


RATE_LIMITED = Trouble(status=429, error="ratelimited", headers={"Retry-After": "30"})
BROKEN = Trouble(status=500, body="<html>Internal Server Error</html>")
HANG_UP = Trouble(hang_up=True)
SENT_BUT_LOST = Trouble(hang_up=True, lost=True)


@dataclass(slots=True, kw_only=True)
class Posted:
    """One message as the channel shows it."""

    channel: str
    ts: str
    payload: dict[str, Any]
    thread_ts: str | None = None
    edits: int = 0


class SlackServer:
    """`url` is the API's, `hook` the webhook's. `requests` holds (path, payload) of everything that came in whole."""

    def __init__(self, url: str) -> None:
        self.url = f"{url}/api/"
        self.hook = f"{url}{HOOK_PATH}"
        self.script: list[Trouble] = []
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.messages: dict[str, Posted] = {}
        self._lock = Lock()
        self._clock = 1_700_000_000

    def reset(self) -> None:
        self.script.clear()
        self.requests.clear()
        self.messages.clear()

    def roots(self) -> list[Posted]:
        return [message for message in self.messages.values() if message.thread_ts is None]

    def thread(self, ts: str) -> list[Posted]:
        return [message for message in self.messages.values() if message.thread_ts == ts]

    def delete(self, ts: str) -> None:
        del self.messages[ts]

    def answer(self, path: str, headers: Any, body: bytes) -> Trouble:
        """What to say to a request, after doing what it asks."""
        with self._lock:
            trouble = self.script.pop(0) if self.script else None
            if trouble and not trouble.lost:
                return trouble
            try:
                payload = json.loads(body)
            except ValueError:
                payload = None
            self.requests.append((path, payload))
            done = self._hook(payload) if path == HOOK_PATH else self._api(path, headers, payload)
            return trouble or done

    def _hook(self, payload: Any) -> Trouble:
        if not isinstance(payload, dict):
            return Trouble(status=400, body="invalid_payload")
        if error := self._refused({**payload, "channel": CHANNEL}, extra=set()):
            return Trouble(status=400, body="invalid_blocks" if error == "invalid_blocks" else "invalid_payload")
        self._post({**payload, "channel": CHANNEL})
        return Trouble(body="ok")

    def _api(self, path: str, headers: Any, payload: Any) -> Trouble:
        methods = {
            "/api/chat.postMessage": self._post_message,
            "/api/chat.update": self._update,
        }
        if headers.get("Authorization") != f"Bearer {TOKEN}":
            return Trouble(error="invalid_auth")
        if path == "/api/auth.test":
            return Trouble(body=json.dumps({"ok": True, "team": "Quillmere", "user": "monitor"}))
        if headers.get_content_type() != "application/json" or not isinstance(payload, dict):
            return Trouble(error="invalid_json")
        if path not in methods:
            return Trouble(error="unknown_method")
        return methods[path](payload)

    def _post_message(self, payload: dict[str, Any]) -> Trouble:
        if payload.get("channel") not in (CHANNEL, CHANNEL_NAME):
            return Trouble(error="channel_not_found")
        if error := self._refused(payload, extra={"thread_ts"}):
            return Trouble(error=error)
        return _ok(self._post(payload))

    def _update(self, payload: dict[str, Any]) -> Trouble:
        if payload.get("channel") != CHANNEL:  # unlike posting, this takes no name
            return Trouble(error="channel_not_found")
        if payload.get("ts") not in self.messages:
            return Trouble(error="message_not_found")
        if error := self._refused(payload, extra={"ts"}):
            return Trouble(error=error)
        message = self.messages[payload["ts"]]
        message.payload, message.edits = {**message.payload, **payload}, message.edits + 1
        return _ok(message)

    def _post(self, payload: dict[str, Any]) -> Posted:
        self._clock += 1
        ts = f"{self._clock}.000100"
        self.messages[ts] = Posted(channel=CHANNEL, ts=ts, payload=payload, thread_ts=payload.get("thread_ts"))
        return self.messages[ts]

    def _refused(self, payload: dict[str, Any], extra: set[str]) -> str | None:
        text = payload.get("text")
        said = isinstance(text, str) and bool(text.strip())
        refusals = {
            "invalid_arguments": bool(set(payload) - _ARGUMENTS - extra),
            "no_text": not said,
            "msg_too_long": said and _units(text) > _FALLBACK_LIMIT,
            "thread_not_found": payload.get("thread_ts", "") not in {"", *self.messages},
            "invalid_blocks": bool(problems(payload)),
            "msg_blocks_too_long": sum(map(_units, texts(payload.get("blocks", [])))) > _TOTAL_LIMIT,
        }
        return next((error for error, holds in refusals.items() if holds), None)


def problems(payload: dict[str, Any]) -> list[str]:
    """What Slack would refuse about the blocks of a message; empty when they are in order."""
    blocks = payload.get("blocks", [])
    if not isinstance(blocks, list) or len(blocks) > 50:
        return ["blocks: not a list of at most 50"]
    return [problem for index, block in enumerate(blocks) for problem in _block(f"blocks[{index}]", block)]


def texts(value: Any) -> Iterator[str]:
    """Every text that a message shows, wherever it stands in it."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value["text"]
        for child in value.values():
            yield from texts(child)
    elif isinstance(value, list):
        for child in value:
            yield from texts(child)


def shown(payload: dict[str, Any]) -> str:
    """A message about as a client shows it: entities read back, formatting left as it is."""
    text = "\n".join(texts(payload.get("blocks", []))) or payload["text"]
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _block(where: str, block: Any) -> Iterator[str]:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in _BLOCK_KEYS:
        yield f"{where}: unknown block type {kind!r}"
        return
    if unknown := set(block) - _BLOCK_KEYS[kind]:
        yield f"{where}: unknown keys {unknown}"
    if kind == "header" or "text" in block:
        header = kind == "header"
        kinds = {"plain_text"} if header else {"plain_text", "mrkdwn"}
        yield from _text(f"{where}.text", block.get("text"), limit=150 if header else _TEXT_LIMIT, kinds=kinds)
    if kind == "section" and not {"text", "fields"} & set(block):
        yield f"{where}: neither text nor fields"
    if kind == "context" or "fields" in block:
        name, limit = ("elements", _TEXT_LIMIT) if kind == "context" else ("fields", 2_000)
        items = block.get(name)
        if not isinstance(items, list) or not 1 <= len(items) <= 10:
            yield f"{where}: not 1 to 10 {name}"
            return
        for index, item in enumerate(items):
            yield from _text(f"{where}.{name}[{index}]", item, limit=limit, kinds={"plain_text", "mrkdwn"})


def _text(where: str, item: Any, *, limit: int, kinds: set[str]) -> Iterator[str]:
    kind = item.get("type") if isinstance(item, dict) else None
    if kind not in kinds:
        yield f"{where}: type {kind!r} is not one of {sorted(kinds)}"
        return
    own = {"plain_text": "emoji", "mrkdwn": "verbatim"}[kind]
    if set(item) - {"type", "text", own} or not isinstance(item.get(own, False), bool):
        yield f"{where}: unknown keys in {sorted(item)}"
    text = item.get("text")
    if not isinstance(text, str) or not 1 <= _units(text) <= limit or not text.strip():
        yield f"{where}: not a text of 1 to {limit} characters"
    elif re.search(r"&(?!(amp|lt|gt);)", text):
        yield f"{where}: an ampersand that begins no entity"


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _ok(message: Posted) -> Trouble:
    return Trouble(body=json.dumps({"ok": True, "channel": message.channel, "ts": message.ts}))


@contextmanager
def slack_server() -> Iterator[SlackServer]:
    """Runs a server on a free port for the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            said = server.answer(self.path, self.headers, body)
            if said.hang_up:
                return  # the connection closes without a word
            text = said.body if said.body is not None else json.dumps({"ok": False, "error": said.error})
            if self.path == HOOK_PATH and said.body is None:
                text = said.error or ""
            self.send_response(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = SlackServer(f"http://127.0.0.1:{http.server_port}")
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
