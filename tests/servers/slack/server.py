"""The channel of a scripted Slack: what it answers to each method, and what it holds afterwards."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import RLock
from typing import Any
from urllib.parse import parse_qsl

from tests.servers.slack.blocks import MAX_TOTAL, picture, problems, texts, units
from tests.servers.slack.socket import SocketEnd

TOKEN = "xoxb-7531-2468-TopSecretBotToken"
APP_TOKEN = "xapp-1-A1-TopSecretAppToken"
HOOK_PATH = "/services/T0001/B0001/TopSecretHookPath"
REPLY_PATH = "/actions/T0001/1/TopSecretResponse"
UPLOAD_PATH = "/upload/v1/"
CHANNEL = "C0ALERTS"
CHANNEL_NAME = "#alerts"
BOT_ID = "B0MONITOR"
SCOPES = {
    TOKEN: {"chat:write", "files:write", "channels:history", "usergroups:read"},
    APP_TOKEN: {"connections:write"},
}

_FALLBACK_LIMIT = 4_000
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
    bot_id: str | None = BOT_ID

    @property
    def in_channel(self) -> bool:
        return self.thread_ts is None or bool(self.payload.get("reply_broadcast"))

    def as_slack_has_it(self) -> dict[str, Any]:
        known = {"type": "message", "ts": self.ts, "text": self.payload["text"]}
        optional = {"metadata": self.payload.get("metadata"), "thread_ts": self.thread_ts, "bot_id": self.bot_id}
        return known | {name: value for name, value in optional.items() if value}


class SlackServer:
    """`url` is the API's, `hook` the webhook's, `response_url` that of a click.

    `requests` holds (path, payload) of everything that came in whole. `script` holds what the next requests meet
    instead of an orderly answer, and `script_of` the same for one method. `scopes` are those of each token. While
    `unready` is not 0, so many messages that show a file are refused, as Slack does with a file that it looks at still.
    With `paced_by` (a clock in seconds) a channel takes one message a second.
    """

    def __init__(self, url: str, socket: SocketEnd) -> None:
        self.url = f"{url}/api/"
        self.hook = f"{url}{HOOK_PATH}"
        self.response_url = f"{url}{REPLY_PATH}"
        self.socket = socket
        self.page = 200
        self._base = url
        self._lock = RLock()
        self._clock = 0
        self.reset()

    def reset(self) -> None:
        self.script: list[Trouble] = []
        self.script_of: dict[str, list[Trouble]] = {}
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.messages: dict[str, Posted] = {}
        self.ephemeral: list[dict[str, Any]] = []
        self.replies: list[dict[str, Any]] = []
        self.files: dict[str, bytes | None] = {}  # None until uploaded
        self.complete: set[str] = set()
        self.groups: dict[str, list[str]] = {}
        self.scopes = {token: set(scopes) for token, scopes in SCOPES.items()}
        self.unready = 0
        self.paced_by: Callable[[], float] | None = None
        self._last: float | None = None

    def roots(self) -> list[Posted]:
        return [message for message in list(self.messages.values()) if message.thread_ts is None]

    def thread(self, ts: str) -> list[Posted]:
        return [message for message in list(self.messages.values()) if message.thread_ts == ts]

    def delete(self, ts: str) -> None:
        del self.messages[ts]

    def say(self, text: str, *, bot_id: str | None = None, **payload: Any) -> Posted:
        """A message of somebody else's."""
        said = self._post({"text": text, **payload})
        said.bot_id = bot_id
        return said

    def called(self, method: str) -> list[dict[str, Any]]:
        return [payload for path, payload in list(self.requests) if path == f"/api/{method}"]

    def answer(self, path: str, headers: Any, body: bytes) -> Trouble:
        """What to say to a request, after doing what it asks."""
        with self._lock:
            own = self.script_of.get(path.removeprefix("/api/"))
            script = own or self.script
            trouble = script.pop(0) if script else None
            if trouble and not trouble.lost:
                return trouble
            if path.startswith(UPLOAD_PATH):
                return trouble or self._upload(path.removeprefix(UPLOAD_PATH), body)
            payload = _read(headers, body)
            self.requests.append((path, payload))
            if path == HOOK_PATH:
                return trouble or self._hook(payload)
            if path == REPLY_PATH:
                return trouble or self._reply(payload)
            done = self._api(path.removeprefix("/api/"), headers, payload)
            return trouble or done

    def _api(self, method: str, headers: Any, payload: Any) -> Trouble:
        methods = {
            "auth.test": (self._auth_test, "json", None),
            "chat.postMessage": (self._post_message, "json", "chat:write"),
            "chat.update": (self._update, "json", "chat:write"),
            "chat.postEphemeral": (self._post_ephemeral, "json", "chat:write"),
            "conversations.history": (self._history, "form", "channels:history"),
            "conversations.replies": (self._replies, "form", "channels:history"),
            "files.getUploadURLExternal": (self._upload_url, "form", "files:write"),
            "files.completeUploadExternal": (self._complete_upload, "form", "files:write"),
            "usergroups.users.list": (self._group, "form", "usergroups:read"),
            "apps.connections.open": (self._open, "any", "connections:write"),
        }
        if method not in methods:
            return Trouble(error="unknown_method")
        carry_out, form, scope = methods[method]
        scopes = self.scopes.get(str(headers.get("Authorization")).removeprefix("Bearer "))
        if scopes is None:
            return Trouble(error="invalid_auth")
        if form != "any" and (headers.get_content_type() == "application/json") != (form == "json"):
            return Trouble(error=f"invalid_{form}")
        if not isinstance(payload, dict):
            return Trouble(error="invalid_json")
        if scope and scope not in scopes:
            return Trouble(error="missing_scope")
        return carry_out(payload)

    def _auth_test(self, _: dict[str, Any]) -> Trouble:
        return _ok(team="Quillmere", user="monitor", user_id="U0MONITOR", bot_id=BOT_ID)

    def _hook(self, payload: Any) -> Trouble:
        if not isinstance(payload, dict):
            return Trouble(status=400, body="invalid_payload")
        if error := self._refused({**payload, "channel": CHANNEL}, extra=set()):
            return Trouble(status=400, body="invalid_blocks" if error == "invalid_blocks" else "invalid_payload")
        self._post({**payload, "channel": CHANNEL})
        return Trouble(body="ok")

    def _reply(self, payload: Any) -> Trouble:
        if problems(payload) or not str(payload.get("text", "")).strip():
            return Trouble(status=400, body="invalid_payload")
        self.replies.append(payload)
        return Trouble(body='{"ok":true}')

    def _post_message(self, payload: dict[str, Any]) -> Trouble:
        if payload.get("channel") not in (CHANNEL, CHANNEL_NAME):
            return Trouble(error="channel_not_found")
        if self.paced_by is not None:
            now, last = self.paced_by(), self._last
            if last is not None and now - last < 1:
                return Trouble(status=429, error="ratelimited", headers={"Retry-After": "1"})
            self._last = now
        if error := self._refused(payload, extra={"thread_ts", "metadata", "reply_broadcast"}):
            return Trouble(error=error)
        return _told(self._post(payload))

    def _update(self, payload: dict[str, Any]) -> Trouble:
        if payload.get("channel") != CHANNEL:  # unlike posting, this takes no name
            return Trouble(error="channel_not_found")
        if payload.get("ts") not in self.messages:
            return Trouble(error="message_not_found")
        if error := self._refused(payload, extra={"ts"}):
            return Trouble(error=error)
        message = self.messages[payload["ts"]]
        message.payload, message.edits = {**message.payload, **payload}, message.edits + 1
        return _told(message)

    def _post_ephemeral(self, payload: dict[str, Any]) -> Trouble:
        if payload.get("channel") != CHANNEL or not payload.get("user"):
            return Trouble(error="user_not_in_channel")
        if problems(payload) or not payload.get("text"):
            return Trouble(error="invalid_blocks")
        self.ephemeral.append(payload)
        return _ok(message_ts="1.1")

    def _post(self, payload: dict[str, Any]) -> Posted:
        self._clock = max(self._clock + 1, int(time.time()))
        ts = f"{self._clock}.000100"
        self.messages[ts] = Posted(channel=CHANNEL, ts=ts, payload=payload, thread_ts=payload.get("thread_ts"))
        return self.messages[ts]

    def _refused(self, payload: dict[str, Any], extra: set[str]) -> str | None:
        text = payload.get("text")
        said = isinstance(text, str) and bool(text.strip())
        metadata = payload.get("metadata", {"event_type": "", "event_payload": {}})
        refusals = {
            "invalid_arguments": bool(set(payload) - _ARGUMENTS - extra),
            "no_text": not said,
            "msg_too_long": said and units(text) > _FALLBACK_LIMIT,
            "thread_not_found": payload.get("thread_ts", "") not in {"", *self.messages},
            "invalid_metadata_format": set(metadata) != {"event_type", "event_payload"},
            "invalid_blocks": bool(problems(payload)) or not self._can_be_shown(payload),
            "msg_blocks_too_long": sum(map(units, texts(payload.get("blocks", [])))) > MAX_TOTAL,
        }
        return next((error for error, holds in refusals.items() if holds), None)

    def _can_be_shown(self, payload: dict[str, Any]) -> bool:
        file = picture(payload)
        if file is None:
            return True
        if file in self.complete and self.unready:
            self.unready -= 1
            return False
        return file in self.complete

    def _history(self, asked: dict[str, Any]) -> Trouble:
        newest_first = [message for message in reversed(self.messages.values()) if message.in_channel]
        return self._listed(asked, newest_first)

    def _replies(self, asked: dict[str, Any]) -> Trouble:
        if asked.get("ts") not in self.messages:
            return Trouble(error="thread_not_found")
        return self._listed(asked, [self.messages[asked["ts"]], *self.thread(asked["ts"])])

    def _listed(self, asked: dict[str, Any], messages: Iterable[Posted]) -> Trouble:
        if asked.get("channel") != CHANNEL:
            return Trouble(error="channel_not_found")
        known = [m for m in messages if float(m.ts) >= float(asked.get("oldest", 0)) or m.ts == asked.get("ts")]
        start, size = int(asked.get("cursor", 0)), min(int(asked.get("limit", 100)), self.page)
        page = [message.as_slack_has_it() for message in known[start : start + size]]
        if asked.get("include_all_metadata") not in ("1", "true"):
            page = [{name: value for name, value in one.items() if name != "metadata"} for one in page]
        more = len(known) > start + size
        return _ok(messages=page, has_more=more, response_metadata={"next_cursor": str(start + size) if more else ""})

    def _upload_url(self, asked: dict[str, Any]) -> Trouble:
        if not asked.get("filename") or not str(asked.get("length", "")).isdigit():
            return Trouble(error="invalid_arguments")
        file = f"F{len(self.files):08d}"
        self.files[file] = None
        return _ok(upload_url=f"{self._base}{UPLOAD_PATH}{file}", file_id=file)

    def _upload(self, file: str, body: bytes) -> Trouble:
        if file not in self.files or not body:
            return Trouble(status=400, body="")
        self.files[file] = body
        return Trouble(body=f"OK - {len(body)}")

    def _complete_upload(self, asked: dict[str, Any]) -> Trouble:
        files = [one["id"] for one in json.loads(asked.get("files", "[]"))]
        if not files or any(self.files.get(file) is None for file in files):
            return Trouble(error="file_not_found")
        self.complete.update(files)
        return _ok(files=[{"id": file} for file in files])

    def _group(self, asked: dict[str, Any]) -> Trouble:
        members = self.groups.get(asked.get("usergroup", ""))
        return Trouble(error="no_such_subteam") if members is None else _ok(users=members)

    def _open(self, _: dict[str, Any]) -> Trouble:
        return _ok(url=self.socket.url)


def _read(headers: Any, body: bytes) -> Any:
    if headers.get_content_type() == "application/x-www-form-urlencoded":
        return dict(parse_qsl(body.decode()))
    try:
        return json.loads(body or "{}")
    except ValueError:
        return None


def _ok(**answer: Any) -> Trouble:
    return Trouble(body=json.dumps({"ok": True, **answer}))


def _told(message: Posted) -> Trouble:
    return _ok(channel=message.channel, ts=message.ts)
