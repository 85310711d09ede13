"""Slack's refusals and what they mean: retry, or change something that the message names.

No text of this module holds a token or the URL of a webhook, which is a secret too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from monitor.core.errors import Fatal, Retriable

_SET_BOT = "set MONITOR_SLACK__BOT_TOKEN to the Bot User OAuth Token of an app that is installed in the workspace"
_CHANNEL = "set MONITOR_SLACK__CHANNEL to the id of a channel (C…) of this workspace"
_INVITE = "invite the app into the channel: /invite @its-name"
_WEBHOOK = "create a new incoming webhook and set MONITOR_SLACK__WEBHOOK_URL to it"
_REDIRECTED = "redirects are not followed; set MONITOR_SLACK__API_URL or __WEBHOOK_URL to the address it redirects to"
DEFECT = "this is a defect in monitor: please report it"
# Slack's error word → what to change. Any other error may be temporary.
_REMEDIES = {
    "invalid_auth": _SET_BOT,
    "not_authed": _SET_BOT,
    "token_revoked": _SET_BOT,
    "token_expired": _SET_BOT,
    "account_inactive": _SET_BOT,
    "not_allowed_token_type": _SET_BOT,
    "no_permission": _SET_BOT,
    "missing_scope": "give the app the bot scope chat:write and install it again",
    "channel_not_found": f"{_CHANNEL}; for a private one, also {_INVITE}",
    "not_in_channel": _INVITE,
    "is_archived": _CHANNEL,
    "channel_is_archived": _CHANNEL,
    "restricted_action": "the workspace does not allow this app to post in the channel: ask its administrator",
    "action_prohibited": "the workspace does not allow this app to post in the channel: ask its administrator",
    "ekm_access_denied": "the workspace's administrators have suspended posting",
    "no_service": _WEBHOOK,
    "no_active_hooks": _WEBHOOK,
    "no_team": _WEBHOOK,
    "team_disabled": _WEBHOOK,
    "invalid_token": _WEBHOOK,
    "invalid_blocks": DEFECT,
    "invalid_blocks_format": DEFECT,
    "msg_blocks_too_long": DEFECT,
    "msg_too_long": DEFECT,
    "invalid_payload": DEFECT,
    "no_text": DEFECT,
}
REFUSED_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "invalid_payload"})
_WORD = re.compile(r"[a-z][a-z0-9_]{0,79}")
_MAX_DIGITS = 9  # of the seconds to wait


class Refused(Exception):
    """Slack refused with one error word, or a proxy refused with a page. Never leaves the Slack modules."""

    def __init__(self, answer: object, *, status: int, headers: Mapping[str, Any]) -> None:
        # Slack's errors are one word; anything longer is the page of a proxy, and left out
        self.word = answer if isinstance(answer, str) and _WORD.fullmatch(answer) else ""
        self.status = status
        self.retry_after = _retry_after(headers)
        super().__init__(f"slack: {self.word or 'refused'} (HTTP {status})")

    @property
    def too_many(self) -> bool:
        """Whether Slack asks for fewer requests."""
        return self.status == HTTPStatus.TOO_MANY_REQUESTS or self.word in ("ratelimited", "rate_limited")

    def named(self) -> Retriable | Fatal:
        """The refusal as `Retriable`, or as `Fatal` with what to change if waiting does not help."""
        remedy = None if self.too_many else _REMEDIES.get(self.word)
        if HTTPStatus.MULTIPLE_CHOICES <= self.status < HTTPStatus.BAD_REQUEST:
            remedy = _REDIRECTED
        return Fatal(f"{self}: {remedy}") if remedy else Retriable(str(self), retry_after=self.retry_after)


def out_of_reach(error: Exception) -> Retriable:
    """Names the system's reason or the kind of error; leaves out the error's own text, which may hold the URL."""
    reason = getattr(error, "reason", error)
    detail = reason.strerror if isinstance(reason, OSError) and reason.strerror else type(reason).__name__
    return Retriable(f"slack: out of reach: {detail}")


def _retry_after(headers: Mapping[str, Any]) -> float | None:
    header = next((value for name, value in headers.items() if name.lower() == "retry-after"), None)
    seconds = header[0] if isinstance(header, list) and header else header
    if not isinstance(seconds, str) or len(seconds) > _MAX_DIGITS:
        return None
    return float(seconds) if seconds.isascii() and seconds.isdigit() else None
