"""Text from outside made harmless, and numbers in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from unicodedata import category

ELLIPSIS = "…"
NOTHING = "(empty)"
# Control, format (bidi marks and overrides, zero-width space, tags) and surrogate characters.
_UNSEEN = frozenset({"Cc", "Cf", "Cs"})
_JOINERS = frozenset("\u200c\u200d")  # ZWNJ and ZWJ: many scripts and emoji need them


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


def percent(rate: float) -> str:
    """`0.3818` → `38.2 %`, `0.0042` → `0.42 %`, in the sign and spacing of the rest of the message."""
    return f"{rate * 100:.{2 if 0 < rate < _SMALL else 1}f} %"


def moment(time: datetime) -> str:
    """UTC to the minute; readers sit in several time zones."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


_SMALL = 0.01
_VERDICTS = {"self_generated": "self-generated", "refusal": "refusal", "grounded": "grounded"}
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def readable(text: str) -> str:
    """Foreign text for a terminal: control characters, which could steer it, become U+FFFD."""
    return _CONTROL.sub("\ufffd", text)
