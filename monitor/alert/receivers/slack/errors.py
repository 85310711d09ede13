"""What Slack says no with, and what that means: to be tried again, or to be mended by somebody.

No text made here holds a token or a webhook's URL, which is a secret too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from monitor.core.errors import Fatal, Retriable

_TOKEN = "set MONITOR_SLACK__BOT_TOKEN to the Bot User OAuth Token of an app that is installed in the workspace"  # noqa: S105
_CHANNEL = "set MONITOR_SLACK__CHANNEL to the id of a channel (C…) of this workspace"
_INVITE = "invite the app into the channel: /invite @its-name"
_WEBHOOK = "make a new incoming webhook and set MONITOR_SLACK__WEBHOOK_URL to it"
DEFECT = "this is a defect of monitor: please report it"
# Slack's word → what to change. Any other word may be a passing trouble.
_MEND = {
    "invalid_auth": _TOKEN,
    "not_authed": _TOKEN,
    "token_revoked": _TOKEN,
    "token_expired": _TOKEN,
    "account_inactive": _TOKEN,
    "not_allowed_token_type": _TOKEN,
    "no_permission": _TOKEN,
    "missing_scope": "give the app the bot scope chat:write and install it again",
    "channel_not_found": f"{_CHANNEL}; for a private one, also {_INVITE}",
    "not_in_channel": _INVITE,
    "is_archived": _CHANNEL,
    "channel_is_archived": _CHANNEL,
    "restricted_action": "the workspace does not let this app post in the channel: ask its administrator",
    "action_prohibited": "the workspace does not let this app post in the channel: ask its administrator",
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
_TOO_MANY_REQUESTS = 429


class Refused(Exception):
    """Slack answered, and said no in one word, or in none (a proxy's page). Never leaves Slack's modules."""

    def __init__(self, answer: object, *, status: int, headers: Mapping[str, Any]) -> None:
        # Slack's one-word errors as they are; anything longer is a page of something in between, and left out
        self.word = answer if isinstance(answer, str) and _WORD.fullmatch(answer) else ""
        self.status = status
        self.retry_after = _retry_after(headers)
        super().__init__(f"slack: {self.word or 'refused'} (HTTP {status})")

    @property
    def too_many(self) -> bool:
        """Whether it asks us to be slower."""
        return self.status == _TOO_MANY_REQUESTS or self.word in ("ratelimited", "rate_limited")

    def named(self) -> Retriable | Fatal:
        """The same in the program's own terms, with what to change where waiting does not help."""
        mend = None if self.too_many else _MEND.get(self.word)
        return Fatal(f"{self}: {mend}") if mend else Retriable(str(self), retry_after=self.retry_after)


def out_of_reach(error: Exception) -> Retriable:
    """Names the kind of error and the system's own reason. The error's text is left out: it may hold the URL."""
    reason = getattr(error, "reason", error)
    detail = reason.strerror if isinstance(reason, OSError) and reason.strerror else type(reason).__name__
    return Retriable(f"slack: out of reach: {detail}")


def _retry_after(headers: Mapping[str, Any]) -> float | None:
    said = next((value for name, value in headers.items() if name.lower() == "retry-after"), None)
    said = said[0] if isinstance(said, list) and said else said
    return float(said) if isinstance(said, str) and said.isascii() and said.isdigit() and len(said) < 10 else None  # noqa: PLR2004
