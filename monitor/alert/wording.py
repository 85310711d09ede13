"""How an alert is put into words, the same for every receiver, and how text from outside is made harmless.

Questions, answers, names and labels come from whoever writes to the chatbot: none of it may steer a terminal, change
the direction of reading, or grow without end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from unicodedata import category

from monitor.alert.duration import format_duration
from monitor.alert.notification import Example, Notification

ELLIPSIS = "…"
NOTHING = "(empty)"
# Control, format (bidi marks and overrides, zero-width space, tags) and surrogate characters.
_UNSEEN = frozenset({"Cc", "Cf", "Cs"})
_JOINERS = frozenset("\u200c\u200d")  # ZWNJ and ZWJ: many scripts and emoji need them
_HTTP_URL = re.compile(r"https?://[^\s<>|\"\\^`{}]+")


def plain(text: str) -> str:
    """`text` on one line: white space folded, control, bidi and other invisible characters removed.

    `NOTHING` where nothing visible is left. Idempotent.
    """
    folded = " ".join(text.split())
    if folded.isascii() and folded.isprintable():
        return folded or NOTHING
    seen = "".join(c for c in folded if c in _JOINERS or category(c) not in _UNSEEN)
    seen = " ".join(seen.split())
    return seen if seen.strip(" \u200c\u200d") else NOTHING


def shortened(text: str, limit: int, escape: Callable[[str], str] = str) -> str:
    """`plain(text)`, escaped character by character and cut to `limit`, with … where something was cut.

    The limit counts UTF-16 units after escaping, the strictest way in which a service may count; no character and no
    escape is ever cut in two.
    """
    pieces: list[str] = []
    used = 0
    kept = 0  # pieces that leave room for the ellipsis
    for character in plain(text):
        piece = escape(character)
        used += units(piece)
        if used > limit:
            return "".join(pieces[:kept]).rstrip() + ELLIPSIS
        pieces.append(piece)
        if used <= limit - len(ELLIPSIS):
            kept = len(pieces)
    return "".join(pieces)


def units(text: str) -> int:
    """Length of `text` in UTF-16 units: two for a character beyond the Basic Multilingual Plane."""
    return len(text) + sum(character > "\uffff" for character in text)


def http_url(text: str | None) -> str | None:
    """`text` if it is an http or https URL that no markup can break out of, else None."""
    return text if text and _HTTP_URL.fullmatch(text) else None


def title(notification: Notification) -> str:
    """`Firing: negative-rate, support-bot`; not yet made harmless."""
    whose = notification.labels.get("app")
    return f"{notification.status.capitalize()}: {notification.rule}" + (f", {whose}" if whose else "")


def facts(notification: Notification) -> list[tuple[str, str]]:
    """What is known in figures, as name and value, in our own words and digits only."""
    said = "unknown" if notification.value is None else percent(notification.value)
    interval = f"{percent(notification.lower)} to {percent(notification.upper)}"
    lines = [
        (f"Rate of {words(notification.signal)}", f"{said} (95 % Wilson interval {interval})"),
        ("Threshold", f"above {percent(notification.threshold)}"),
        ("Window", format_duration(notification.window)),
        ("Answers counted", f"{notification.samples:,}"),
        ("Since", moment(notification.started_at)),
    ]
    if notification.status == "resolved":
        lasted = format_duration(notification.at - notification.started_at)
        lines.append(("Resolved", f"{moment(notification.at)}, after {lasted}"))
    return lines


def labels_of(notification: Notification) -> Mapping[str, str]:
    """The labels worth showing: those that have a value. Not yet made harmless."""
    return {name: value for name, value in notification.labels.items() if value}


def why(example: Example) -> str:
    """`self-generated: answer off support, no documents`; not yet made harmless."""
    reasons = ", ".join(words(reason) for reason in example.reasons)
    return f"{_VERDICTS.get(example.verdict, words(example.verdict))}" + (f": {reasons}" if reasons else "")


def words(identifier: str) -> str:
    """`answer_off_support` → `answer off support`, `negative` → `negative answers`."""
    return _SIGNALS.get(identifier, identifier.replace("_", " "))


def percent(rate: float) -> str:
    """`0.3818` → `38.2 %`, in the sign and spacing of the rest of the message."""
    return f"{rate * 100:.1f} %"


def moment(time: datetime) -> str:
    """UTC to the minute; readers sit in several time zones."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


_VERDICTS = {"self_generated": "self-generated", "refusal": "refusal", "grounded": "grounded"}
_SIGNALS = {
    "negative": "negative answers",
    "grounded": "grounded answers",
    "refusal": "refusals",
    "self_generated": "self-generated answers",
}
